"""What a peer is: a learner of another library, under the protocol that ours are tested under."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.protocol.trial import Places, Trial

Clock = Callable[[], float]  # seconds
Advance = Callable[[int], None]


@final
@dataclass(frozen=True, slots=True, eq=False)
class PeerResult:
    """How a peer did.

    ``auc`` is each user's AUC after each number of swipes, NaN where a user cannot be tested. ``log_odds`` are those of a like for
    `trial.rows(users, 0, times[-1])`, each predicted before the swipe was learned from; None where the peer predicts no probabilities.
    """

    auc: Matrix  # times x users
    log_odds: Vector | None
    seconds_per_swipe: float

    @classmethod
    def joined(cls, parts: Sequence[PeerResult]) -> PeerResult:
        """On all users of the parts, one part after the other."""
        said = [one.log_odds for one in parts if one.log_odds is not None]
        areas, seconds = np.concatenate([one.auc for one in parts], axis=1), [one.seconds_per_swipe for one in parts]
        return cls(areas, np.concatenate(said) if said else None, float(np.mean(seconds)))


class Peer(Protocol):
    """Learns on each user's first t swipes, freezes, ranks the rest."""

    @property
    def name(self) -> str: ...

    @property
    def individual(self) -> bool:
        """Whether it learns from a user's own swipes alone."""
        ...

    def run(self, trial: Trial, times: Sequence[int], users: Places, *, clock: Clock, advance: Advance) -> PeerResult: ...


class PeerModel(Protocol):
    """One user's model in another library."""

    @property
    def predicts_probabilities(self) -> bool:
        """Whether its scores are log-odds of a like."""
        ...

    def encode(self, features: Vector) -> Any:
        """A candidate in the form that the library takes fastest; encoding is not timed."""
        ...

    def learn(self, candidate: Any, like: bool) -> None: ...

    def scores(self, features: Matrix) -> Vector:
        """Higher for candidates that the user is likelier to like."""
        ...
