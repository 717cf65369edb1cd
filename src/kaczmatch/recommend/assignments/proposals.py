"""Deferred acceptance on candidate lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kaczmatch.recommend.assignments.candidate_lists import CandidateLists
from kaczmatch.recommend.assignments.deferred_acceptance import ProposalLists, Rows, Worths, deferred_acceptance


def propose(lists: CandidateLists, liking: Worths, worth: Worths, proposer_room: Rows, receiver_room: Rows) -> NDArray[np.bool_]:
    """Which entries are together if owners propose by `liking` and receivers judge by `worth`, each as often as there is room.

    Of equal liking the lower row is preferred.
    """
    order = np.lexsort((lists.other, -liking, lists.owner))
    chosen = np.zeros(len(order), np.bool_)
    chosen[order] = deferred_acceptance(
        ProposalLists(lists.begin, lists.other[order], np.ascontiguousarray(worth[order])), proposer_room, receiver_room
    )
    return chosen
