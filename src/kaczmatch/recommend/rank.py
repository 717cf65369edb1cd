"""Order people the caller brings, from its own retrieval, with every filter applied."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import as_vector
from kaczmatch.learners.state import State
from kaczmatch.recommend.cooldown import COOLDOWN, cooling
from kaczmatch.recommend.filters import CandidateColumns, passing
from kaczmatch.recommend.profile import Profile
from kaczmatch.recommend.samplers.contract import in_order
from kaczmatch.recommend.scoring import fusion
from kaczmatch.recommend.viewer import Viewer, usual_fusion


@final
@dataclass(frozen=True, slots=True)
class Ranking:
    """Who may be shown, with both-way scores, the best first; and who may not, with every reason."""

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
    appeal: ArrayLike | None = None,
    blocked: Collection[Hashable] = (),
    recent: Mapping[Hashable, datetime] | None = None,
    cooldown: timedelta = COOLDOWN,
) -> Ranking:
    """Score and order `candidates`, whose states come in the same order. Equal scores come in random order."""
    if len(states) != len(candidates):
        raise InvalidInput("states", f"there are {len(states)} for {len(candidates)} candidates")
    fuse = fusion(fused_by or usual_fusion(viewer.learner))
    if not candidates:
        return Ranking((), ())
    cool = set(cooling(recent or {}, now, cooldown))
    flags = passing(
        viewer.profile, CandidateColumns.of(candidates, viewer.profile.schema), now.astimezone(UTC).date(), set(blocked)
    )
    flags["cooldown"] = np.array([profile.id not in cool for profile in candidates], np.bool_)
    ok = np.logical_and.reduce(list(flags.values()))
    left_out = [
        (candidates[row].id, tuple(name for name, passes in flags.items() if not passes[row]))
        for row in np.flatnonzero(~ok).tolist()
    ]
    rows = np.flatnonzero(ok).tolist()
    if not rows:
        return Ranking((), tuple(left_out))
    appeals = np.zeros(len(candidates)) if appeal is None else as_vector(appeal, "appeal")
    if len(appeals) != len(candidates):
        raise InvalidInput("appeal", f"has {len(appeals)} values for {len(candidates)} candidates")
    features = np.array([candidates[row].features for row in rows])
    scores = fuse(viewer.forward(features, appeals[rows]), viewer.backward([states[row] for row in rows]))
    order = in_order(scores, rng).tolist()
    return Ranking(tuple((candidates[rows[i]].id, float(scores[i])) for i in order), tuple(left_out))
