"""Random towns under random settings, on every store: new people first, open likes never again, and no empty deck too early."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kaczmatch.recommend.decks.policy import MutualPolicy, PaperPolicy
from kaczmatch.service.domain.refusals import Conflict
from kaczmatch.service.domain.store import Store
from kaczmatch.service.meeting.open_deck import OpenDeck
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage import MemoryStore, SqlStore
from worlds.town import Town

STEPS = st.lists(
    st.tuples(
        st.integers(0, 99),  # who
        st.lists(st.sampled_from(["like", "pass", "pass", "skip", "leave"]), min_size=1, max_size=6),
        st.sampled_from([0.0, 0.0, 0.1, 5.0, 14.0, 20.0]),  # days until the next
        st.sampled_from(["", "", "", "undo", "report", "reset"]),
    ),
    min_size=4,
    max_size=16,
)


class Expected:
    """What must come of it, in plain dictionaries."""

    def __init__(self, town: Town, pairs: int, repeats: bool, relaxed: bool) -> None:
        self.town, self.repeats, self.relaxed = town, repeats, relaxed
        self.sides = {
            f"{side}{place}": [f"{other}{one}" for one in range(pairs)] for side, other in ("wm", "mw") for place in range(pairs)
        }
        self.said: dict[tuple[str, str], list[tuple[str, datetime]]] = {}
        self.apart: set[frozenset[str]] = set()

    def check(self, user: str, hand: OpenDeck, *, new_deck: bool) -> None:
        now, cooldown = self.town.now, self.town.context.config.cooldown
        fits = {other for other in self.sides[user] if frozenset({user, other}) not in self.apart}
        last = {other: self.said[user, other][-1] for other in fits if self.said.get((user, other))}
        new = {other for other in fits if other not in last or (last[other][0] == "skip" and now - last[other][1] >= cooldown)}
        old = {other: at for other, (decision, at) in last.items() if decision == "pass" and now - at >= cooldown}
        cooling = {other: at for other, (decision, at) in last.items() if decision != "like" and now - at < cooldown}
        shown = {card.person.id: card.how_dealt for card in hand.cards}
        assert {other for other, (decision, _) in last.items() if decision == "like"}.isdisjoint(shown)
        assert set(shown) <= fits
        if not new_deck:
            return  # what is left of an open deck
        if not hand.cards:
            assert not new
            assert not (self.relaxed and (old or cooling))
            assert not (self.repeats and old)
            ends = [at + cooldown for other, at in cooling.items() if last[other][0] == "skip" or self.repeats]
            assert hand.next_at == min(ends, default=None)
            return
        assert new or self.repeats or self.relaxed
        if new and not self.relaxed:
            assert set(shown) <= new
            assert len(shown) == min(len(new), self.town.context.config.deck_size)
        for other, reason in shown.items():
            assert reason == ("sampled" if other in new else "repeat" if other in old else "relaxed")
        again = {other: last[other][1] for other in shown if other not in new}
        left = {**old, **(cooling if self.relaxed else {})}
        assert sorted(again.values()) == sorted(left.values())[: len(again)]


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_decks_end_as_they_should(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    numbers = iter(range(1_000_000))
    server, url = (request.getfixturevalue(name) if kind == "postgres" else None for name in ("postgres", "postgres_url"))

    def store() -> Store:
        if kind == "memory":
            return MemoryStore()
        if server is not None:
            server.clear(url)
        return SqlStore(url or f"sqlite:///{tmp_path}/{next(numbers)}.db")

    @settings(
        max_examples={"memory": 25, "sqlite": 5, "postgres": 3}[kind],
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(steps=STEPS, pairs=st.integers(1, 6), size=st.integers(1, 5), repeats=st.booleans(), relaxed=st.booleans())
    def lives(steps: list[tuple[int, list[str], float, str]], pairs: int, size: int, repeats: bool, relaxed: bool) -> None:
        town = Town(store(), deck_size=size, repeats=repeats, policy=PaperPolicy() if relaxed else MutualPolicy())
        town.couples(pairs)
        expected = Expected(town, pairs, repeats, relaxed)
        people, decks = sorted(expected.sides), set[str]()
        for who, answers, days, then in steps:
            user = people[who % len(people)]
            hand = town.deck(user)
            expected.check(user, hand, new_deck=hand.deck is None or hand.deck.id not in decks)
            decks |= {hand.deck.id} if hand.deck else set()
            for card, decision in zip(hand.cards, answers, strict=False):
                if decision == "leave":
                    break
                other = card.person.id
                swiped = town.swipe(user, other, decision, deck=card.impression.deck)
                expected.said.setdefault((user, other), []).append((decision, town.now))
                if swiped.match is not None:
                    expected.apart.add(frozenset({user, other}))
                elif then == "undo":
                    town.undoing.undo(user, swiped.event.id).result()
                    expected.said[user, other].pop()
                    break
                elif then == "report":
                    town.safety.report(user, other, "spam").result()
                    expected.apart.add(frozenset({user, other}))
                    with pytest.raises(Conflict):
                        town.safety.unblock(user, other).result()
                    break
            if then == "reset":
                town.undoing.reset(user).result()
            town.wait(days=days)
        found = verify(town.context)
        assert (found.problems, found.identical) == ((), found.people)
        town.context.store.close()

    lives()
