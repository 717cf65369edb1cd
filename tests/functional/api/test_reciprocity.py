"""Before a match, nothing tells somebody whether they were liked or passed: worlds that differ in that alone look the same."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from kaczmatch.recommend.decks.deck import Reason
from kaczmatch.service.domain.answer_cache import AnswerCache
from kaczmatch.service.meeting.card_reasons import disclosed_reason
from kaczmatch.service.privacy.personal_data import PersonalData
from kaczmatch.storage.memory import MemoryStore, MemoryTransaction
from worlds.served import NUMBERS, Service
from worlds.town import Town

from .conftest import Opened

ANSWERS = (
    ("GET", ""),
    ("POST", "/deck"),
    ("GET", "/events"),
    ("GET", "/likes"),
    ("GET", "/matches"),
    ("GET", "/blocks"),
    ("GET", "/preference"),
    ("GET", "/preference/history"),
    ("GET", "/export"),
    ("POST", "/session/end"),
)
VARIES = re.compile(r'"\d{4}-\d\d-\d\dT[^"]*"|"[0-9a-f]{16,}"|"[A-Za-z0-9_-]{20,}"')


@pytest.fixture
def town() -> Town:
    return Town(MemoryStore())


@pytest.fixture(scope="module")
def opened_twice(opened: Opened) -> tuple[Service, Service]:
    return opened("memory"), opened("memory")


def seen_by(service: Service, me: str, other: str, decision: str) -> dict[str, tuple[int, list[str], str]]:
    """Everything that can be asked as `me` after `other` has decided: status, headers, body without times and random ids."""
    assert service.swipe(other, me, decision).status_code == 200
    service.system.serving_index.follow()
    token, told = service.token(me), {}
    for method, path in (*ANSWERS, ("GET", f"/why/{other}"), ("GET", f"/people-of/{other}")):
        answer = service.call(method, f"/people/{me}{path}", by=token)
        told[path] = answer.status_code, sorted(answer.headers), VARIES.sub("…", json.dumps(_settled(answer.json())))
    return told


def _settled(told: dict[str, Any]) -> dict[str, Any]:
    """Without the id of the request and the order of cards, which is random among equals."""
    told.pop("request_id", None)
    told["cards"] = sorted(told.get("cards", ()), key=lambda card: str(card["id"]))
    shown = [card | {"position": 0} for card in told.get("cards_shown", ())]
    return told | {"cards_shown": sorted(shown, key=lambda card: str(card["candidate"]))}


@pytest.mark.parametrize("decision", ["pass", "skip"])
def test_a_like_looks_like_no_like(opened_twice: tuple[Service, Service], decision: str) -> None:
    number = next(NUMBERS)
    me, other, third = f"me-{number}", f"other-{number}", f"third-{number}"
    told = []
    for service, said in zip(opened_twice, ("like", decision), strict=True):
        for user, i_am, look_for in ((me, "woman", "man"), (other, "man", "woman"), (third, "man", "woman")):
            service.person(user, i_am, look_for, number, tags=["chess", "dogs"] if user == third else ["jazz"])
        told.append(seen_by(service, me, other, said))
    assert told[0] == told[1]


def test_a_refused_swipe_back_is_answered_alike(opened_twice: tuple[Service, Service]) -> None:
    """Passing, undoing and asking twice: the answers are the same whatever the other side had said."""
    number, told = next(NUMBERS), []
    for service, said in zip(opened_twice, ("like", "pass"), strict=True):
        me, other = f"me-{number}", f"other-{number}"
        service.person(me, "woman", "man", number)
        service.person(other, "man", "woman", number)
        service.swipe(other, me, said)
        answers: list[Any] = [service.swipe(me, other, "pass", swipe="s1"), service.call("DELETE", f"/people/{me}/swipes/s1")]
        told.append([(one.status_code, sorted(one.headers), VARIES.sub("…", one.text)) for one in answers])
    assert told[0] == told[1]


def test_who_was_drawn_at_random_looks_like_everybody_else(town: Town) -> None:
    """Otherwise such a card would say that its person has not liked the viewer: admirers come first."""
    assert disclosed_reason(Reason.EXPLORED) == disclosed_reason(Reason.SAMPLED) == "sampled"
    assert disclosed_reason(Reason.RELAXED) == "relaxed"
    town.couples(6)
    town.deck("w0")
    assert all(
        {"propensity", "score", "reason"}.isdisjoint(card)
        for card in json.loads(PersonalData(town.context, AnswerCache()).export("w0"))["cards_shown"]
    )


def test_a_like_and_a_pass_cost_the_same_reads_and_writes(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Timing: what is asked of the store when somebody swipes back does not depend on what was thought of them."""
    town.couples(4)
    counts = []
    for place, said in enumerate(("like", "pass")):
        man = f"m{place}"
        town.swipe(man, "w0", said)
        deck = town.shown("w0", man)
        done: list[str] = []
        with monkeypatch.context() as patched:
            for name in ("get", "put", "append", "drop"):
                usual = getattr(MemoryTransaction, name)

                def noted(transaction: Any, *values: Any, name: str = name, usual: Any = usual, done: list[str] = done) -> Any:
                    done.append(f"{name} {values[0].__name__ if isinstance(values[0], type) else type(values[0]).__name__}")
                    return usual(transaction, *values)

                patched.setattr(MemoryTransaction, name, noted)
            town.swipe("w0", man, "pass", deck=deck)
        counts.append(done)
    assert counts[0] == counts[1]
