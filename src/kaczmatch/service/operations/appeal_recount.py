"""Appeal counted anew from what raters said, after a change of its half-life."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from kaczmatch.service.domain.appeal import summed_evidence
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import LatestDecision, Person, PersonCounters
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.domain.store_parts import StoreParts

_AT_ONCE = 100  # people, whose sums are committed together
_ROUNDED = 1e-9  # sums in another order differ by less


def recount_appeal(
    context: Context,
    on_progress: Callable[[int, int], None],
    parts: StoreParts = StoreParts(),  # noqa: B008
) -> None:
    """Sum up everybody's raters under the half-life of the settings. Who is counted so already is not written."""
    done = 0
    with context.store.read() as reader:
        total = reader.count(Person)
    for people in parts.of_people(context, _recount_people, _AT_ONCE):
        done += people
        on_progress(done, max(done, total))


def _recount_people(context: Context, people: Sequence[str]) -> int:
    for written in [context.store.write(partial(_recount, context, user), locks=[user]) for user in people]:
        written.result()
    context.rest()
    return len(people)


def _recount(context: Context, user: str, transaction: Transaction) -> None:
    counters = transaction.get(PersonCounters, user)
    if counters is None or counters.appeal_as_of is None:
        return
    raters = transaction.find(LatestDecision, candidate=user)
    sums = summed_evidence(raters, counters, context.config.appeal)
    if not np.allclose(sums, (counters.excess, counters.information), _ROUNDED, _ROUNDED):
        transaction.put(counters.with_appeal(*sums, counters.appeal_as_of))
