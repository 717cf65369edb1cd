"""What a peer is: somebody else's learner, under the protocol that ours are tested under."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.evaluation.trial import Places, Trial

Clock = Callable[[], float]  # seconds
Advance = Callable[[int], None]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Showing:
    """What a peer did: each user's AUC after each number of swipes, what it said before each swipe, how long it took.

    ``auc`` is NaN where a user cannot be tested. ``said`` are log-odds of a like for `trial.rows(users, 0, times[-1])`, each said before
    the swipe was learned from; None where the peer says no probabilities.
    """

    auc: Matrix  # times x users
    said: Vector | None
    seconds_a_swipe: float


class Peer(Protocol):
    """Learns on each user's first t swipes, freezes, ranks the rest."""

    @property
    def name(self) -> str: ...

    @property
    def individual(self) -> bool:
        """Whether it learns from a user's own swipes alone."""
        ...

    def show(self, trial: Trial, times: Sequence[int], users: Places, *, clock: Clock, advance: Advance) -> Showing: ...


class PeerModel(Protocol):
    """One person's model in somebody else's library."""

    @property
    def says_probabilities(self) -> bool:
        """Whether its scores are log-odds of a like."""
        ...

    def form(self, features: Vector) -> Any:
        """A candidate as the library likes it best; making it is not timed."""
        ...

    def learn(self, candidate: Any, like: bool) -> None: ...

    def scores(self, features: Matrix) -> Vector:
        """Higher for whom the person would rather like."""
        ...
