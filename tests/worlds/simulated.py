"""Simulated people who use the real service: whom they like is known here, and to nobody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kaczmatch.recommend.decks.policy import MutualPolicy, Policy
from kaczmatch.service.domain.store import Store
from kaczmatch.service.experiments.hindsight import Hindsight
from kaczmatch.storage import MemoryStore
from worlds.town import TAGS, Town, about


class SimulatedTown(Town):
    """A town whose people have tastes of their own, and some that all share: tags that attract or repel them."""

    def __init__(self, seed: int, couples: int, *, store: Store | None = None, **rules: Any) -> None:
        super().__init__(store or MemoryStore(), **{"deck_size": 6} | rules)
        self.chance = np.random.default_rng([seed, 1])
        self.rng = np.random.default_rng([seed, 2])
        self.ids = [f"{side}{place}" for place in range(couples) for side in "wm"]
        tags = self.chance.random((len(self.ids), len(TAGS))) < 0.5
        self.tags = dict(zip(self.ids, tags, strict=True))
        shared = np.repeat([1.5, 0.0], len(TAGS) // 2)
        self.tastes = {user: shared + 1.8 * self.chance.normal(size=len(TAGS)) for user in self.ids}
        self.bias = {user: float(self.chance.normal(-0.3, 0.7)) for user in self.ids}
        for user in self.ids:
            own = [name for name, has in zip(TAGS, self.tags[user], strict=True) if has]
            self.people.put(user, about(user.title(), man=user.startswith("m"), tags=own)).result()
        self.world.follow()

    def likes(self, user: str, other: str) -> float:
        """The probability that a card is liked."""
        return float(1.0 / (1.0 + np.exp(-(self.tastes[user] @ (self.tags[other] - 0.5) + self.bias[user]))))

    def day(self, users: Any = None, likes: Callable[[str, str], float] | None = None) -> None:
        """Everybody looks at one deck and decides on all of it."""
        probability = likes or self.likes
        for user in self.chance.permutation(self.ids if users is None else users).tolist():
            self.wait(seconds=20)
            hand = self.deck(user)
            for card in hand.cards:
                liked = self.chance.random() < probability(user, card.person.id)
                self.swipe(user, card.person.id, "like" if liked else "pass", deck=card.impression.deck)
            self.world.follow()
        self.wait(days=1)

    def truth(self, policy: Policy, deals: int = 4) -> float:
        """Likes a card that a policy would earn with the decks that were dealt: known tastes instead of answers."""
        rng, likes, cards = np.random.default_rng(99), 0.0, 0
        with self.context.store.read() as reader:
            for one in Hindsight(self.context, reader, policy).past_decks():
                same: dict[str, Any] = {"blocked": one.matched_or_blocked, "answers": one.answers}
                same |= {"admirers": one.admirers, "experience": one.experience}
                same |= {"now": one.deck.at, "rng": rng, "exposure": one.exposure}
                for _ in range(deals):
                    shown = one.recommender.simulate(one.viewer, len(one.cards), (), **same).shown
                    likes += sum(self.likes(one.deck.user, str(person)) for person in shown)
                    cards += len(shown)
        return likes / cards


def logged(seed: int, couples: int = 50, days: int = 2, floor: float = 0.3) -> SimulatedTown:
    """A town with a log: everybody has looked at a few decks, dealt with a floor that leaves traces of other policies."""
    town = SimulatedTown(seed, couples, policy=MutualPolicy(uniform_floor=floor))
    for _ in range(days):
        town.day()
    return town
