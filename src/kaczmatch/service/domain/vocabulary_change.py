"""A new version of the vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.catalogue import terms_json
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.locks import MODELS
from kaczmatch.service.domain.records import StoredVocabulary
from kaczmatch.service.domain.sparse_features import MOST_NAMES
from kaczmatch.service.domain.store import Transaction


def change_vocabulary(context: Context, change: Callable[[Vocabulary], Vocabulary]) -> Vocabulary:
    """Names added, renamed, retired."""

    def work(transaction: Transaction) -> Vocabulary:
        current = context.catalogue.current(transaction)
        changed = change(context.catalogue.vocabulary(transaction, current.vocabulary))
        if changed.dimensions > MOST_NAMES:
            raise InvalidInput("names", f"at most {MOST_NAMES:,} names")
        vocabulary = Vocabulary(changed.terms, current.vocabulary + 1)
        transaction.put(StoredVocabulary(version=vocabulary.version, terms=terms_json(vocabulary), at=context.clock()))
        transaction.put(replace(current, vocabulary=vocabulary.version))
        return vocabulary

    return context.store.write(work, locks=[MODELS]).result()
