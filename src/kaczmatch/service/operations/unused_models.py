"""What models leave behind that nobody deals by any more: states, and what was seen and said of traits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Final

from kaczmatch.service.domain.catalogue import REJECTED, RETIRED
from kaczmatch.service.domain.changes import live_processes
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.leases import Lease
from kaczmatch.service.domain.locks import CHANGES, MODELS
from kaczmatch.service.domain.records import Model, Record, SeenTraits, StoredState, StoredTraits
from kaczmatch.service.domain.store import Reader, Transaction

_AT_ONCE: Final = 100  # records that are dropped together
_LEARNED: tuple[type[StoredState] | type[SeenTraits] | type[StoredTraits], ...] = (StoredState, SeenTraits, StoredTraits)


def models_left_over(reader: Reader, context: Context) -> tuple[list[int], list[int]]:
    """Models of which something is left: retired ones that no live process deals by, nor by an earlier one; rejected ones."""
    used = [process.model for process in live_processes(reader, context.clock())]
    models = [
        model
        for model in reader.find(Model)
        if model.status == REJECTED or (model.status == RETIRED and model.id < min(used, default=model.id + 1))
    ]
    left = [model for model in models if any(reader.find(kind, model=model.id, limit=1) for kind in _LEARNED)]
    return [one.id for one in left if one.status == RETIRED], [one.id for one in left if one.status == REJECTED]


def drop_unused(context: Context, lease: Lease) -> None:
    """Drop what they left, some records per commit. A model that nobody deals by any more stops learning."""

    def stop_learning(transaction: Transaction) -> None:
        used = {process.model for process in live_processes(transaction, context.clock())}
        current = context.catalogue.current(transaction)
        if current.previous and current.previous not in used:
            transaction.put(replace(current, previous=0))

    context.store.write(stop_learning, locks=[MODELS, CHANGES]).result()
    with context.store.read() as reader:
        retired, rejected = models_left_over(reader, context)
    for model, kind in product(retired, _LEARNED):
        while lease.take():
            with context.store.read() as reader:
                edge = reader.find(kind, model=model, skip=_AT_ONCE - 1, limit=1)
                last = edge or reader.find(kind, model=model, newest=True, limit=1)
            if not last:
                break
            context.store.write(partial(_drop_through, last[0])).result()
            context.rest()
    for model, kind in product(rejected, _LEARNED):
        while lease.take():
            with context.store.read() as reader:
                page = reader.find(kind, model=model, limit=_AT_ONCE)
            if not page:
                break
            context.store.write(partial(_drop, page)).result()
            context.rest()


def _drop_through(last: Record, transaction: Transaction) -> None:
    """All up to here are of retired models."""
    transaction.drop_through(type(last), *last.identity())


def _drop(records: Sequence[Record], transaction: Transaction) -> None:
    for record in records:
        transaction.drop(type(record), *record.identity())
