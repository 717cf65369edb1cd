"""Preference trilateration: what somebody with many accounts can learn of one person's taste from decks alone.

The attacker's accounts do nothing but edit their tags and look at decks, through the use cases that the API calls, under the
usual quotas. Decks are drawn and ordered by what both sides make of each other, so where the victim stands says a little about
what the victim makes of an account's tags, and a regression over many decks adds that up. Two attackers who see what no user
gets to see stand beside it: one reads the victim's probability itself, one only whether it is high or low.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from unittest.mock import patch

import numpy as np
from scipy.special import ndtri

from kaczmatch.core.vectors import Matrix, Vector, unit
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.recommend.assignments.picks import picks
from kaczmatch.recommend.assignments.registry import assignment
from kaczmatch.runner.local import LocalRunner
from kaczmatch.service.domain.config import QuotaLimit
from kaczmatch.service.meeting.daily_picks import DailyPicks
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.service.meeting.viewer_context import load_viewer_context, load_viewer_state
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.picks_job import GivenPicks, PicksJob
from kaczmatch.storage.memory import MemoryStore
from worlds.town import Town, about

VICTIM = "victim"
PENALTIES = (0.001, 0.1, 1.0, 10.0)
EDITS = 20  # of tags, an account and day: the default of the service


@dataclass(frozen=True)
class ShownCandidate:
    """A row a look: the account's tags, the victim's place in the deck (1: first, 0: not in it), and what nobody is told."""

    tags: Matrix
    place: Vector
    probability: Vector


class AttackedTown(Town):
    """Women with tastes, one of them the victim; men whom they judged; and the attacker's accounts, alike but for their tags."""

    def __init__(
        self,
        seed: int,
        *,
        tags: int = 60,
        women: int = 32,
        swipes: int = 150,
        accounts: int = 20,
        cap: float = 2.0,
        traits: int = 0,
    ) -> None:
        self.names = [f"tag {place}" for place in range(tags)]
        hour = timedelta(hours=1)
        super().__init__(
            MemoryStore(),
            learner="probit-traits" if traits else "probit-diag",
            settings={"traits": traits} if traits else None,
            tags=self.names,
            deck_life=hour,
            keep_impressions=hour,
            edits=QuotaLimit(EDITS, timedelta(days=1)),
            exposure_cap=cap,
        )
        self.chance, self.rng = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        self.accounts, self.looks = [f"attacker{place}" for place in range(accounts)], 0
        self.women = [VICTIM, *(f"woman{place}" for place in range(women - 1))]
        men = {f"man{place}": self.some_tags() for place in range(60)}
        for man, has in men.items():
            self.people.put(man, about(man, man=True, tags=self.called(has))).result()
        for woman in self.women:
            self.people.put(woman, about(woman, tags=self.called(self.some_tags()))).result()
            self.teach(woman, men, swipes if woman == VICTIM else swipes // 5)
        if traits:
            with patch("kaczmatch.learners.population.population_fit.traits_pay", return_value=True):
                fitted = self.models.fit("probit-traits", {"traits": traits})
            assert fitted is not None, "there are enough people"
            self.relearning.relearn(fitted.learner, fitted.settings, fitted.prior, sites=fitted.sites)
        for account in self.accounts:
            self.people.put(account, about(account, man=True, tags=())).result()
        self.world.follow()

    def some_tags(self) -> Vector:
        return np.asarray(self.chance.random(len(self.names)) < 0.4, float)

    def called(self, tags: Vector) -> list[str]:
        return [self.names[place] for place in np.flatnonzero(tags).tolist()]

    def teach(self, woman: str, men: dict[str, Vector], swipes: int) -> None:
        """She likes the half of men who have what she is after."""
        after = self.chance.normal(size=len(self.names))
        judged = {man: float(after @ unit(has)) for man, has in men.items()}
        middle = float(np.median(list(judged.values())))
        for place, man in enumerate(self.chance.choice(list(men), swipes).tolist()):
            self.wait(seconds=1)
            decision = "like" if judged[man] > middle else "pass"
            self.swiping.import_swipe(
                Swipe(user=woman, id=f"s{place}", candidate=man, decision=decision, deck=""), self.now
            ).result()

    def taste(self) -> Vector:
        """What the attacker is after: what each tag counts with the victim, by itself and by the traits it leads to expect."""
        with self.context.store.read() as reader:
            known = load_viewer_state(reader, self.context, VICTIM)
        learner, d = known.fold.learner, len(self.names)
        weights = np.asarray(learner.weights(known.state.cells, d))
        if not isinstance(learner, ProbitTraits) or known.fold.prior.trait_map is None:
            return weights
        return np.asarray(weights + known.fold.prior.trait_map[:d] @ learner.mean(known.state)[d + 1 :])

    def watch(self, looks: int, size: int) -> ShownCandidate:
        """Edit the tags of one account after the other, and look at a deck of this size."""
        tags, places, probabilities = [], [], []
        for _ in range(looks):
            if self.looks % len(self.accounts) == 0:
                self.wait(hours=24.0 / EDITS)  # the quota of a day, spread over it
                Maintenance(self.context).run()
            account = self.accounts[self.looks % len(self.accounts)]
            self.looks += 1
            has = self.some_tags()
            self.people.put(account, about(account, man=True, tags=self.called(has))).result()
            self.world.follow()
            shown = [card.person.id for card in self.deck(account, size).cards]
            tags.append(has)
            places.append(1.0 - shown.index(VICTIM) / size if VICTIM in shown else 0.0)
            probabilities.append(self._likes(account))
        return ShownCandidate(np.array(tags), np.array(places), np.array(probabilities))

    def watch_picks(self, looks: int, size: int, rule: str = "top") -> ShownCandidate:
        """Edit the tags of all accounts, wait for the next edition of picks, and look at everybody's. There is one per day."""
        tags, places, probabilities = [], [], []
        job, daily = PicksJob(self.context), DailyPicks(self.context, self.decks)
        while len(tags) < looks:
            self.wait(days=1)
            Maintenance(self.context).run()
            edition = [self.some_tags() for _ in self.accounts]
            for account, has in zip(self.accounts, edition, strict=True):
                self.people.put(account, about(account, man=True, tags=self.called(has))).result()
            self.world.follow()
            job.publish(GivenPicks(*picks(job.columns(), size, assignment(rule), runner=LocalRunner(1))), rule)
            for account, has in zip(self.accounts, edition, strict=True):
                shown = [card.person.id for card in daily.of(account).cards]
                tags.append(has)
                places.append(1.0 - shown.index(VICTIM) / size if VICTIM in shown else 0.0)
                probabilities.append(self._likes(account))
        return ShownCandidate(np.array(tags), np.array(places), np.array(probabilities))

    def _likes(self, account: str) -> float:
        """The probability that the victim likes an account, which is told to nobody."""
        with self.context.store.read() as reader:
            known = load_viewer_state(reader, self.context, account)
            viewer = load_viewer_context(reader, self.context, known, self.now).viewer
        return float(viewer.backward(self.world.recommender.states([VICTIM]))[0])


def estimated(tags: Matrix, told: Vector, penalty: float) -> Vector:
    """The direction that explains best what was told: ridge regression on profiles of unit length."""
    rows = np.array([unit(row) for row in tags])
    rows, told = rows - rows.mean(axis=0), told - told.mean()
    return np.asarray(np.linalg.solve(rows.T @ rows + penalty * np.eye(rows.shape[1]), rows.T @ told))


def attacks(seen: ShownCandidate) -> dict[str, Vector]:
    """What each attacker is told, look by look."""
    z = ndtri(np.clip(seen.probability, 1e-9, 1.0 - 1e-9))
    return {"sees decks": seen.place, "sees high or low": np.sign(z - np.median(z)), "sees the probability": z}


def cosines(seen: ShownCandidate, taste: Vector, looks: int) -> dict[str, float]:
    """How near each attacker has come after so many looks, with the luckiest choice of the penalty."""
    wanted, tags = unit(taste), seen.tags[:looks]
    return {
        name: max(float(unit(estimated(tags, told[:looks], penalty)) @ wanted) for penalty in PENALTIES)
        for name, told in attacks(seen).items()
    }
