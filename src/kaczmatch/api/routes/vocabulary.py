"""The names of tags and features, and what people can be."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from kaczmatch.api.guards import Asker, Use, scoped
from kaczmatch.api.shapes import Shape, Word
from kaczmatch.api.words import current_words
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.access.credentials import OPERATOR, Caller
from kaczmatch.service.domain.context import Context

router = APIRouter(prefix="/vocabulary", tags=["vocabulary"])


class NameOut(BaseModel):
    name: str
    is_tag: bool
    retired: bool


class VocabularyOut(BaseModel):
    version: int
    names: list[NameOut]
    kinds: list[str]
    minimum_age: int


class Rename(Shape):
    old: Word
    new: Word


class ChangeIn(Shape):
    """All of it, or nothing: names are renamed, then retired, then added."""

    rename: list[Rename] = Field([], max_length=1_000)
    retire: list[Word] = Field([], max_length=1_000)
    add_tags: list[Word] = Field([], max_length=1_000)
    add_features: list[Word] = Field([], max_length=1_000)

    def apply(self, words: Vocabulary) -> Vocabulary:
        for one in self.rename:
            words = words.rename(one.old, one.new)
        for name in self.retire:
            words = words.retire(name)
        return words.add(self.add_tags, self.add_features)


@router.get("", response_model=VocabularyOut)
def vocabulary(use: Use, caller: Asker) -> VocabularyOut:
    del caller
    return _told(current_words(use.context), use.context)


@router.patch("", response_model=VocabularyOut)
def change(body: ChangeIn, use: Use, caller: Annotated[Caller, Depends(scoped(OPERATOR))]) -> VocabularyOut:
    """Add, rename or retire names; what was learned stays."""
    del caller
    return _told(use.models.change_words(body.apply), use.context)


def _told(words: Vocabulary, context: Context) -> VocabularyOut:
    names = [NameOut(name=one.name, is_tag=one.is_tag, retired=one.retired) for one in words.terms]
    schema = context.config.schema
    return VocabularyOut(version=words.version, names=names, kinds=list(schema.kinds), minimum_age=schema.minimum_age)
