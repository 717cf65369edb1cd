"""Abuse by way of the API: clocks, quotas, ages, exports, erasing in the middle of things."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from threading import Barrier, Event
from typing import Any

import pytest

from kaczmatch.service.domain.records import RECORDS, Change, ErasedId, OutboxMessage, PersonNumber
from kaczmatch.service.meeting.profiles import new_person
from worlds.served import NUMBERS, Service

from .conftest import Opened


@pytest.fixture(scope="module")
def limited(opened: Opened) -> Service:
    return opened("sqlite", swipes_a_day=5, decks_a_day=3)


def crowd(service: Service, men: int, **more: Any) -> tuple[str, list[str]]:
    number = next(NUMBERS)
    me, others = f"ada-{number}", [f"bo-{number}-{place}" for place in range(men)]
    service.person(me, "woman", "man", number, **more)
    for other in others:
        service.person(other, "man", "woman", number, **more)
    return me, others


def test_parallel_swipes_at_a_quota_of_five_are_exactly_five(limited: Service) -> None:
    me, others = crowd(limited, 12)
    deck, barrier = limited.deck(me)["id"], Barrier(12)

    def swipe(place: int) -> int:
        barrier.wait(30)
        body = {"candidate": others[place], "decision": "pass", "deck": deck}
        return limited.call("PUT", f"/people/{me}/swipes/s{place}", json=body).status_code

    with ThreadPoolExecutor(12) as pool:
        assert sorted(pool.map(swipe, range(12))) == [200] * 5 + [429] * 7
    assert len(limited.ok("GET", f"/people/{me}/events")["items"]) == 5


def test_decks_beyond_the_quota_are_refused(limited: Service) -> None:
    me, others = crowd(limited, 4)
    decks = []
    for other in others[:3]:
        deck = limited.deck(me, json={"size": 1})
        decks.append(deck["id"])
        body = {"candidate": deck["cards"][0]["id"], "decision": "pass", "deck": deck["id"]}
        assert limited.call("PUT", f"/people/{me}/swipes/{other}", json=body).status_code == 200
    assert len(set(decks)) == 3
    refused = limited.call("POST", f"/people/{me}/deck")
    assert (refused.status_code, refused.json()["code"]) == (429, "quota")


def test_a_clients_clock_does_not_shorten_the_cooldown(one_service: Service) -> None:
    me, (other, another) = crowd(one_service, 2)
    old = "Wed, 01 Jan 2020 00:00:00 GMT"
    body = {"candidate": other, "decision": "pass", "deck": one_service.deck(me)["id"]}
    for field in ("at", "decided", "timestamp"):
        told = one_service.call("PUT", f"/people/{me}/swipes/s1", json=body | {field: "2020-01-01T00:00:00Z"})
        assert told.status_code == 422, "times are not the client's to tell"
    before = datetime.now(UTC)
    assert one_service.call("PUT", f"/people/{me}/swipes/s1", json=body, headers={"Date": old}).status_code == 200
    (line,) = one_service.ok("GET", f"/people/{me}/events")["items"]
    assert before - timedelta(seconds=1) <= datetime.fromisoformat(line["at"]) <= datetime.now(UTC) + timedelta(seconds=1)
    body = {"candidate": another, "decision": "pass", "deck": one_service.deck(me)["id"]}
    one_service.call("PUT", f"/people/{me}/swipes/s2", json=body, headers={"Date": old})
    again = one_service.deck(me, json={"size": 1}, headers={"Date": "Fri, 01 Jan 2100 00:00:00 GMT"})
    assert (again["cards"], again["empty"]) == ([], "everybody who fits has been answered")


@pytest.mark.parametrize(
    ("today", "born", "status"),
    [
        (date(2026, 11, 15), "2008-11-15", 201),  # on the birthday
        (date(2026, 11, 15), "2008-11-16", 422),  # the day before
        (date(2026, 2, 28), "2008-02-29", 422),  # born on a day that this year does not have
        (date(2026, 3, 1), "2008-02-29", 201),
        (date(2028, 2, 29), "2010-03-01", 422),
        (date(2028, 2, 29), "2010-02-28", 201),
    ],
)
def test_the_minimum_age_counts_birthdays(
    one_service: Service, monkeypatch: pytest.MonkeyPatch, today: date, born: str, status: int
) -> None:
    def made_then(*values: Any, **named: Any) -> Any:
        *before, _, known = values
        return new_person(*before, datetime(today.year, today.month, today.day, 12, tzinfo=UTC), known, **named)

    monkeypatch.setattr("kaczmatch.service.meeting.profiles.new_person", made_then)
    body = {"name": "Ada", "born": born, "i_am": ["woman"], "i_look_for": ["man"]}
    assert one_service.call("PUT", f"/people/age-{next(NUMBERS)}", json=body).status_code == status


def test_an_export_has_nothing_that_others_said_of_themselves_or_of_us(service: Service) -> None:
    me, (other, another) = crowd(service, 2)
    service.swipe(other, me, "like", swipe="their-swipe")
    service.swipe(another, me, "pass", swipe="their-pass")
    service.swipe(me, other, "like", swipe="my-swipe")
    service.swipe(me, another, "like", swipe="my-other-swipe")
    service.ok("PUT", f"/people/{another}/blocks/{me}")
    service.ok("POST", f"/people/{other}/reports", json={"other": me, "reason": "their-reason"})
    told = service.call("GET", f"/people/{me}/export").text
    assert "my-swipe" in told
    for theirs in ("their-", f"Name of {other}", f"Name of {another}", "excess", "propensity", "score", "appeal"):
        assert theirs not in told
    assert service.ok("GET", f"/people/{me}/blocks")["items"] == []


def test_erasing_during_a_session_brings_nothing_back(service: Service) -> None:
    me, others = crowd(service, 12)
    token, deck, gone = service.token(me), service.deck(me), Event()

    def swipe(place: int) -> int:
        if place == 6:
            status = service.call("DELETE", f"/people/{me}").status_code
            gone.set()
            return status
        if place > 6:
            gone.wait(30)
        body = {"candidate": others[place], "decision": "like", "deck": deck["id"]}
        return service.call("PUT", f"/people/{me}/swipes/s{place}", json=body, by=token).status_code

    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(swipe, range(12)))
    assert statuses[6] == 202
    assert set(statuses[:6]) <= {200, 404}
    assert set(statuses[7:]) == {404}
    for method, path in (("POST", "/deck"), ("POST", "/session/end"), ("GET", "/events"), ("POST", "/preference/reset")):
        assert service.call(method, f"/people/{me}{path}", by=token).status_code == 404
    service.erase(me)
    service.system.serving_index.follow()
    assert me not in service.system.serving_index.recommender.index
    with service.system.store.read() as reader:
        left = {kind for kind in RECORDS for record in reader.find(kind) if f"'{me}'" in repr(record)}
    # Until every process has read the change and the app has heard of it; the id goes with the last of both.
    assert left <= {Change, OutboxMessage, ErasedId, PersonNumber}


def test_a_device_that_does_not_know_brings_nobody_back_who_was_erased(service: Service) -> None:
    """At once, not only when all processes have noticed."""
    one, _ = service.couple()
    token = service.token(one)
    profile = {"name": "Ada", "born": "1990-05-17", "i_am": ["woman"], "i_look_for": ["man"]}
    assert service.call("PUT", f"/people/{one}", by=token, json=profile).is_success
    service.ok("DELETE", f"/people/{one}")
    assert service.call("PUT", f"/people/{one}", by=token, json=profile).status_code == 401
    assert service.call("GET", f"/people/{one}").status_code == 404
    service.erase(one)
    service.person(one)
    assert service.call("GET", f"/people/{one}", by=service.token(one)).is_success
