"""The terms and kinds that profiles are made of."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from kaczmatch.api.authentication import AnyCaller, Cases, scoped
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.schemas.vocabulary import ProfileVocabulary, VocabularyChangeRequest, VocabularyTerm
from kaczmatch.service.access.credentials import OPERATOR, Caller
from kaczmatch.service.domain.context import Context

router = APIRouter(prefix="/vocabulary", tags=["vocabulary"])


@router.get("")
def get_vocabulary(cases: Cases, caller: AnyCaller) -> ProfileVocabulary:
    """What a profile may contain."""
    del caller
    return _response(cases.models.vocabulary(), cases.context)


@router.patch("")
def change_vocabulary(
    body: VocabularyChangeRequest, cases: Cases, caller: Annotated[Caller, Depends(scoped(OPERATOR))]
) -> ProfileVocabulary:
    """Add, rename or retire terms. What was learned stays."""
    del caller
    schema = cases.context.config.schema
    if body.kinds:
        schema.mask(body.kinds, "kinds")

    def changed(vocabulary: Vocabulary) -> Vocabulary:
        for rename in body.rename:
            vocabulary = vocabulary.rename(rename.old, rename.new)
        for name in body.retire:
            vocabulary = vocabulary.retire(name)
        return vocabulary.add(body.add_tags, body.add_features, body.kinds)

    return _response(cases.models.change_vocabulary(changed), cases.context)


def _response(vocabulary: Vocabulary, context: Context) -> ProfileVocabulary:
    schema = context.config.schema
    return ProfileVocabulary(
        version=vocabulary.version,
        terms=tuple(
            VocabularyTerm(name=term.name, is_tag=term.is_tag, retired=term.retired, kinds=term.kinds)
            for term in vocabulary.terms
        ),
        kinds=tuple(schema.kinds),
        looks_for={kind: tuple(sorted(others)) for kind, others in schema.looks_for.items()},
        capacity=dict(schema.capacity),
        age_required=schema.age_required,
        minimum_age=schema.minimum_age,
    )
