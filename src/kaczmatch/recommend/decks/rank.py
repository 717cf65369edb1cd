"""Ranks candidates that the caller brings from its own retrieval, with every filter applied."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput
from kaczmatch.learners.state import State
from kaczmatch.recommend.decks.eligible import COOLDOWN, Answers, in_cooldown
from kaczmatch.recommend.people.filters import FilterColumns, all_filters
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.samplers.contract import descending
from kaczmatch.recommend.scoring import Viewer, default_fusion, fusion


@final
@dataclass(frozen=True, slots=True)
class RankedCandidates:
    """Eligible candidates with mutual scores, the best first; and the others, each with every reason."""

    ranked: tuple[tuple[Hashable, float], ...]
    left_out: tuple[tuple[Hashable, tuple[str, ...]], ...]


def rank(
    viewer: Viewer,
    candidates: Sequence[Profile],
    states: Sequence[State],
    *,
    now: datetime,
    rng: np.random.Generator,
    fused_by: str | None = None,
    others: ArrayLike = (),
    blocked: Collection[Hashable] = (),
    answers: Answers = Answers(),  # noqa: B008
    cooldown: timedelta = COOLDOWN,
) -> RankedCandidates:
    """Score and order `candidates`, whose states come in the same order. Ties are broken at random.

    People whose like is open and people in cooldown are left out. Whoever was passed before the cooldown is ranked.
    """
    if len(states) != len(candidates):
        raise InvalidInput("states", f"there are {len(states)} for {len(candidates)} candidates")
    fuse = fusion(fused_by or default_fusion(viewer.learner))
    if not candidates:
        return RankedCandidates((), ())
    cool = {*in_cooldown(answers.passed, now, cooldown), *in_cooldown(answers.skipped, now, cooldown)}
    liked = set(answers.liked)
    flags = all_filters(
        viewer.profile, FilterColumns.from_profiles(candidates, viewer.profile.schema), now.astimezone(UTC).date(), set(blocked)
    )
    flags["liked"] = np.array([profile.id not in liked for profile in candidates], np.bool_)
    flags["cooldown"] = np.array([profile.id not in cool for profile in candidates], np.bool_)
    ok = np.logical_and.reduce(list(flags.values()))
    left_out = [
        (candidates[row].id, tuple(name for name, passes in flags.items() if not passes[row]))
        for row in np.flatnonzero(~ok).tolist()
    ]
    rows = np.flatnonzero(ok).tolist()
    if not rows:
        return RankedCandidates((), tuple(left_out))
    said = np.asarray(others, np.float64) if np.size(others) else np.empty((len(candidates), 0))
    if len(said) != len(candidates):
        raise InvalidInput("others", f"has {len(said)} rows for {len(candidates)} candidates")
    features = np.array([candidates[row].features for row in rows])
    scores = fuse(viewer.forward(features, said[rows]), viewer.backward([states[row] for row in rows]))
    order = descending(scores, rng).tolist()
    return RankedCandidates(tuple((candidates[rows[i]].id, float(scores[i])) for i in order), tuple(left_out))
