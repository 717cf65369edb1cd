"""Deferred acceptance (Gale and Shapley 1962), many to many with quotas, on lists that may leave people out.

Proposers go down their lists as long as they have room. A receiver keeps the best proposals so far and lets go of the worst. The
result is pairwise stable: no two people who are not together would both rather be. Of all stable results it is the best for every
proposer and the worst for every receiver.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kaczmatch.core.compiled import compiled
from kaczmatch.core.vectors import Integers

Rows = NDArray[np.int32]
Worths = NDArray[np.float32]


class ProposalLists(NamedTuple):
    """Whom each proposer would take, the best first, from `begin[p]` to `begin[p + 1]`; whoever is not on a list is unacceptable.

    `worth` is what the receiver thinks of the proposer. Of equal worth the proposer with the lower row is preferred.
    """

    begin: Integers
    receiver: Rows
    worth: Worths


@compiled
def deferred_acceptance(lists: ProposalLists, proposer_quota: Rows, receiver_quota: Rows) -> NDArray[np.bool_]:
    """Which entries of the lists are together."""
    proposers = len(lists.begin) - 1
    together = np.zeros(len(lists.receiver), np.bool_)
    heaps, start = np.empty(max(receiver_quota.sum(), 1), np.int64), np.zeros(len(receiver_quota) + 1, np.int64)
    for r in range(len(receiver_quota)):
        start[r + 1] = start[r] + receiver_quota[r]
    held, has = np.zeros(len(receiver_quota), np.int32), np.zeros(proposers, np.int32)
    owner = np.empty(len(lists.receiver), np.int32)
    for p in range(proposers):
        owner[lists.begin[p] : lists.begin[p + 1]] = p
    following = lists.begin[:-1].copy()
    waiting, n = np.arange(proposers - 1, -1, -1).astype(np.int32), proposers
    queued = np.ones(proposers, np.bool_)
    while n > 0:
        p = waiting[n - 1]
        if has[p] == proposer_quota[p] or following[p] == lists.begin[p + 1]:
            n -= 1
            queued[p] = False
            continue
        entry = following[p]
        following[p] += 1
        r = lists.receiver[entry]
        heap = heaps[start[r] : start[r + 1]]
        if len(heap) == 0:
            continue
        if held[r] < len(heap):
            _push(heap, held[r], entry, lists.worth, owner)
            held[r] += 1
        elif _worse(heap[0], entry, lists.worth, owner):
            refused = heap[0]
            together[refused] = False
            has[owner[refused]] -= 1
            _replace_worst(heap, entry, lists.worth, owner)
            if not queued[owner[refused]]:
                queued[owner[refused]] = True
                waiting[n] = owner[refused]
                n += 1
        else:
            continue
        together[entry] = True
        has[p] += 1
    return together


@compiled
def _worse(one: int, other: int, worth: Worths, owner: Rows) -> bool:
    return bool(worth[one] < worth[other] or (worth[one] == worth[other] and owner[one] > owner[other]))


@compiled
def _push(heap: Integers, size: int, entry: int, worth: Worths, owner: Rows) -> None:
    at = size
    while at > 0 and _worse(entry, heap[(at - 1) // 2], worth, owner):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = entry


@compiled
def _replace_worst(heap: Integers, entry: int, worth: Worths, owner: Rows) -> None:
    at, size = 0, len(heap)
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _worse(heap[child + 1], heap[child], worth, owner):
            child += 1
        if not _worse(heap[child], entry, worth, owner):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = entry
