"""Appeal counted anew from what raters said, after a change of its half-life."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from kaczmatch.service.domain.appeal import summed_evidence
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import LatestDecision, Person, PersonCounters
from kaczmatch.service.domain.store import Transaction

_AT_ONCE = 500
_ROUNDED = 1e-9  # sums in another order differ by less


def recount_appeal(context: Context, on_progress: Callable[[int, int], None]) -> None:
    """Sum up everybody's raters under the half-life of the settings. Who is counted so already is not written."""
    last: tuple[str, ...] = ()
    done = 0
    with context.store.read() as reader:
        total = reader.count(Person)
    while True:
        with context.store.read() as reader:
            page = [person.id for person in reader.find(Person, after=last, limit=_AT_ONCE)]
        if not page:
            return
        for user in page:
            context.store.write(partial(_recount, context, user), locks=[user]).result()
        last, done = (page[-1],), done + len(page)
        on_progress(done, total)
        context.rest()


def _recount(context: Context, user: str, transaction: Transaction) -> None:
    counters = transaction.get(PersonCounters, user)
    if counters is None or counters.appeal_as_of is None:
        return
    raters = transaction.find(LatestDecision, candidate=user)
    sums = summed_evidence(raters, counters, context.config.appeal)
    if not np.allclose(sums, (counters.excess, counters.information), _ROUNDED, _ROUNDED):
        transaction.put(counters.with_appeal(*sums, counters.appeal_as_of))
