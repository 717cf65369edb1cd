"""What an experiment is run under, by name. Every result says which condition it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final, get_args

from kaczmatch.core.errors import InvalidInput, check_number, did_you_mean
from kaczmatch.simulation.population import POPULATIONS

Labels = Literal["raw-dot", "cosine", "calibrated"]
PriorKind = Literal["informed", "ones", "own-tags"]
Sampling = Literal["row-norm", "cosine"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Defaults are the paper's sizes.

    ``labels``: ``raw-dot`` likes where g·a ≥ θ (the paper as run), ``cosine`` where cos(g, a) ≥ θ (the paper as written),
    ``calibrated`` where the cosine is in the upper `like_rate` of the population's. ``prior``: ``informed`` is the taste with a
    share `prior_noise` of its bits turned over. ``sampling``: ``row-norm`` shows candidates in proportion to their number of
    tags, ``cosine`` draws a pool and shows half of it in proportion to max(0, cos(v, a)), in twice as many sessions.
    """

    labels: Labels = "cosine"
    prior: PriorKind = "ones"
    sampling: Sampling = "row-norm"
    population: str = "uniform"
    label_noise: float = 0.2  # share of swipes that say the opposite
    theta: float = 0.52
    like_rate: float = 0.4
    prior_noise: float = 0.3
    drift_at: int = 0  # swipe from which everybody has another taste; 0 for never
    fatigue: float = 0.0  # chance that the last like of a session becomes a pass; it grows over the session
    people: int = 2_000
    tags: int = 60
    users: int = 100
    sessions: int = 200
    deck: int = 32

    def __post_init__(self) -> None:
        for name, kinds in (("labels", Labels), ("prior", PriorKind), ("sampling", Sampling)):
            if getattr(self, name) not in get_args(kinds):
                raise InvalidInput(
                    name, f"there is no {getattr(self, name)!r}; {did_you_mean(getattr(self, name), get_args(kinds))}"
                )
        if self.population not in POPULATIONS:
            raise InvalidInput("population", f"there is no {self.population!r}; {did_you_mean(self.population, POPULATIONS)}")
        for name in ("label_noise", "like_rate", "prior_noise", "fatigue"):
            check_number(name, getattr(self, name), low=0.0, high=1.0)
        for name, low in (("people", 2), ("tags", 2), ("users", 1), ("sessions", 1), ("deck", 2)):
            check_number(name, getattr(self, name), low=low)
        if self.deck >= self.people:
            raise InvalidInput("deck", f"must be below the number of people, {self.people}, got {self.deck}")
        if self.users > self.people:
            raise InvalidInput("users", f"must be at most the number of people, {self.people}, got {self.users}")

    @property
    def cards(self) -> int:
        """Candidates shown a session."""
        return self.deck if self.sampling == "row-norm" else self.deck // 2

    @property
    def rounds(self) -> int:
        """Sessions, doubled where each shows half as many."""
        return self.sessions if self.sampling == "row-norm" else 2 * self.sessions

    @property
    def swipes(self) -> int:
        return self.cards * self.rounds


PAPER = Condition(labels="raw-dot", prior="informed")
PAPER_ADAPTIVE = Condition(labels="cosine", prior="informed", sampling="cosine")
HONEST = Condition(labels="cosine", prior="ones")
HONEST_ADAPTIVE = Condition(labels="cosine", prior="ones", sampling="cosine")
