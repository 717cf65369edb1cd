"""What another policy would have earned with the decks that were dealt: off-policy evaluation on the service's own log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, final

import numpy as np

from kaczmatch.inference.off_policy import LoggedCards as DealtDecks
from kaczmatch.inference.off_policy import OffPolicyEstimate, estimate_off_policy
from kaczmatch.learners.contract import BeliefLearner, Learner
from kaczmatch.recommend.decks.policy import Policy
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Decision
from kaczmatch.service.experiments.hindsight import Hindsight, PastDeck

DEALS = 4  # of the policy for each deck; chances are known in each, so a few do


@final
@dataclass(frozen=True, slots=True)
class TargetPolicy:
    """What to judge: a policy, by the learner in use at the time or by another one."""

    policy: Policy
    learner: Learner | None = None


@final
@dataclass(frozen=True, slots=True)
class OffPolicyEvaluation:
    """The use case of judging a policy that was not in use. A like is a like; a pass, a skip and no answer are none."""

    context: Context

    def evaluate(
        self,
        target: TargetPolicy,
        rng: np.random.Generator,
        *,
        since: datetime | None = None,
        watch: Callable[[int, int], None] | None = None,
    ) -> OffPolicyEstimate:
        """The likes a card that `target` would have earned, from decks that were dealt since and are over."""
        return estimate_off_policy(self.logged_cards(target, rng, since=since, watch=watch))

    def logged_cards(
        self,
        target: TargetPolicy,
        rng: np.random.Generator,
        *,
        since: datetime | None = None,
        watch: Callable[[int, int], None] | None = None,
    ) -> DealtDecks:
        """The cards that were dealt, with what `evaluate` needs to know about each."""
        now, rows = self.context.clock(), _Rows()
        with self.context.store.read() as reader:
            hindsight = Hindsight(self.context, reader, target.policy, target.learner)
            for past in hindsight.past_decks(watch, since=since):
                open_still = past.deck.expires > now and len(past.decisions) < len(past.cards)
                if not open_still and (since is None or past.deck.at >= since):
                    rows.add(past, rng)
            rows.not_drawn += hindsight.swipes_outside_decks
        return rows.logged_cards()


@final
class _Rows:
    """Collects decks and their cards."""

    def __init__(self) -> None:
        self._decks: list[tuple[str, int, float, float]] = []
        self._cards: list[tuple[int, bool, float, float]] = []
        self.not_drawn = 0

    def add(self, past: PastDeck, rng: np.random.Generator) -> None:
        deck, picked = past.deck, {card.candidate for card in past.cards if card.propensity is None}
        cards = [card for card in past.cards if card.propensity is not None]
        propensities = [card.propensity for card in cards if card.propensity is not None]
        self.not_drawn += len(picked)
        asked = [card.candidate for card in cards]
        if deck.min_propensity is None or not cards:
            return
        knows = isinstance(past.viewer.learner, BeliefLearner)
        chances, foreseen = np.zeros(len(cards)), 0.0
        for _ in range(DEALS):
            seen = past.recommender.simulate(
                past.viewer,
                len(cards),
                asked,
                now=deck.at,
                rng=rng,
                blocked=past.matched_or_blocked | picked,  # the others were drawn without them
                answers=past.answers,
                admirers=past.admirers,
                experience=past.experience,
                exposure=past.exposure,
            )
            chances += seen.propensities / DEALS
            # What a belief expects of a card is known before its answer; other learners have no probabilities.
            foreseen += float(seen.shown_forward.sum()) / DEALS if knows else 0.0
        guesses = seen.forward if knows else np.zeros(len(cards))
        number = len(self._decks)
        self._decks.append((deck.user, len(cards), deck.min_propensity, foreseen))
        for card, propensity, chance, guess in zip(cards, propensities, chances.tolist(), guesses.tolist(), strict=True):
            self._cards.append((number, past.decisions.get(card.candidate) == Decision.LIKE, chance / propensity, guess))

    def logged_cards(self) -> DealtDecks:
        decks, cards = _columns(self._decks, 4), _columns(self._cards, 4)
        return DealtDecks(
            user=decks[0],
            size=decks[1].astype(np.float64),
            min_propensity=decks[2].astype(np.float64),
            expected_likes=decks[3].astype(np.float64),
            deck=cards[0].astype(np.int64),
            like=cards[1].astype(np.float64),
            weight=cards[2].astype(np.float64),
            predicted=cards[3].astype(np.float64),
            not_drawn=self.not_drawn,
        )


def _columns(rows: list[Any], number: int) -> list[np.ndarray[Any, Any]]:
    return [np.array([row[place] for row in rows]) for place in range(number)]
