"""No request waits for work that grows with somebody's history: whatever reads a long log, or many decks, is held up here.

Others' requests are answered while it is, and what one person asks for again and again is done once. What counts is the order of
things, not how long they take.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kaczmatch.service.domain.records import Event, StoredDeck
from kaczmatch.storage.people import PeopleByNumber
from worlds.served import NUMBERS, Service

from .conftest import Opened

EVENTS, MANY, CONNECTIONS, CHANGES, PATIENCE = 60, 40, 8, 3, 60.0
TIMES_OTHERS = 12  # more than there are threads for reading


@pytest.fixture(scope="module")
def service(opened: Opened) -> Service:
    arms = {"usual": {}, "paper": {"policy": "paper"}}
    return opened("sqlite", changes_a_day=CHANGES, experiment="spring", experiment_arms=arms)


class Gate:
    """Holds up each thread that reads many lines of a watched log, or many decks, at once, until it is opened; counts lines."""

    def __init__(self) -> None:
        self.watched = frozenset[str]()
        self.lines = Counter[str]()  # that were read of each watched log
        self._lock, self._open, self._held = threading.Lock(), threading.Event(), Future[None]()
        self._open.set()

    def close(self) -> Future[None]:
        """Done when a thread is held up."""
        self._held = Future()
        self._open.clear()
        return self._held

    def open(self) -> None:
        self._open.set()

    def pass_through(self, found: Sequence[Any]) -> None:
        logs = Counter(one.user for one in found if isinstance(one, Event) and one.user in self.watched)
        decks = sum(isinstance(one, StoredDeck) for one in found)
        with self._lock:
            self.lines += logs
            held = max([decks, *logs.values()]) >= MANY and not self._open.is_set()
            if held and not self._held.done():
                self._held.set_result(None)
        if held:
            self._open.wait(PATIENCE)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate, records = Gate(), PeopleByNumber.records

    def held_up(people: PeopleByNumber, *values: Any) -> Any:
        found = records(people, *values)
        gate.pass_through(found)
        return found

    monkeypatch.setattr(PeopleByNumber, "records", held_up)
    yield gate
    gate.open()


class Others:
    """A couple whose requests have nothing to do with all this."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._one, self._two = service.couple()
        service.deck(self._one)

    def go_on(self) -> None:
        for _ in range(TIMES_OTHERS):
            assert self._service.call("GET", "/health/ready").status_code == 200
            self._service.deck(self._one)
            swipe = f"/people/{self._one}/swipes/s{next(NUMBERS)}"
            body = {"candidate": self._two, "decision": "skip"}
            assert self._service.call("PUT", swipe, json=body).status_code == 200
            assert self._service.call("GET", f"/people/{self._two}").status_code == 200


def experienced(service: Service, raters: int, *, rating: Sequence[str] = ()) -> list[str]:
    """People with a long log, in which each has said something of each of those whom they are `rating`."""
    number, begun = next(NUMBERS), datetime.now(UTC) - timedelta(hours=1)
    users, others = [f"rater-{number}-{place}" for place in range(raters)], [*rating, f"rated-{number}"]
    for user in users:
        service.person(user, "woman", "man")
    for other in others:
        service.person(other, "man", "woman")
    lines = ["user,candidate,decision,at,id"]
    for user in users:
        for place in range(EVENTS):
            at = begun + timedelta(seconds=place)
            lines.append(f"{user},{others[place % len(others)]},{'like' if place % 3 else 'pass'},{at.isoformat()},h{place}")
    read = service.ok("POST", "/import/swipes", content="\n".join(lines), headers={"Content-Type": "text/csv"})
    assert read["written"] == raters * EVENTS
    service.system.serving_index.follow()
    return users


def at_once(pool: ThreadPoolExecutor, requests: Sequence[Callable[[], Any]]) -> list[Future[Any]]:
    return [pool.submit(request) for request in requests]


def statuses(asked: Sequence[Future[Any]]) -> list[int]:
    return sorted(one.result(PATIENCE).status_code for one in asked)


def test_refused_undos_read_no_history(service: Service, gate: Gate) -> None:
    (user,) = experienced(service, 1)
    token, others = service.token(user), Others(service)
    gate.watched = frozenset({user})
    held = gate.close()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        asked = at_once(pool, [lambda: service.call("DELETE", f"/people/{user}/swipes/h1", by=token)] * CONNECTIONS)
        try:
            others.go_on()
            assert statuses(asked) == [409] * CONNECTIONS
        finally:
            gate.open()
    assert not held.done()


def test_resets_read_no_history(service: Service, gate: Gate) -> None:
    """Neither those that are refused nor the others."""
    (user,) = experienced(service, 1)
    token, others = service.token(user), Others(service)
    gate.watched = frozenset({user})
    held = gate.close()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        asked = at_once(pool, [lambda: service.call("POST", f"/people/{user}/preference/reset", by=token)] * CONNECTIONS)
        try:
            others.go_on()
            assert statuses(asked) == [204] * CHANGES + [429] * (CONNECTIONS - CHANGES)
        finally:
            gate.open()
    assert not held.done()


def test_others_go_on_while_undos_fold_long_logs(service: Service, gate: Gate) -> None:
    """As many people as there are threads for reading, each of whom takes their last swipe back."""
    users, others = experienced(service, CONNECTIONS), Others(service)
    gate.watched = frozenset(users)
    held = gate.close()
    last = f"h{EVENTS - 1}"
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        asked = at_once(pool, [lambda user=user: service.call("DELETE", f"/people/{user}/swipes/{last}") for user in users])
        try:
            held.result(PATIENCE)
            others.go_on()
        finally:
            gate.open()
        assert statuses(asked) == [204] * CONNECTIONS
    for user in users:
        assert [event.undoes for event in service.events(user)][EVENTS:] == [last]


def test_others_go_on_while_erasures_clean_long_logs(service: Service, gate: Gate) -> None:
    """Twice as many as there are threads. Each is answered before a rater's log has been read, and is over some time later."""
    erased = [f"erased-{next(NUMBERS)}" for _ in range(2 * CONNECTIONS)]
    raters, others = experienced(service, 3, rating=erased), Others(service)
    gate.watched = frozenset(raters)
    held = gate.close()
    with ThreadPoolExecutor(len(erased)) as pool:
        asked = at_once(pool, [lambda user=user: service.call("DELETE", f"/people/{user}") for user in erased])
        try:
            held.result(PATIENCE)
            others.go_on()
            assert all(status < 300 for status in statuses(asked))
            assert {service.call("GET", f"/people/{user}").status_code for user in erased} == {404}
        finally:
            gate.open()
    wait_until_erased(service, erased)
    for rater in raters:
        assert {event.candidate for event in service.events(rater)}.isdisjoint(erased)


def test_one_erasure_asked_for_eight_times_is_done_once(service: Service, gate: Gate) -> None:
    """A twin whose erasure is asked for once says how often the raters' logs have to be read."""
    read = list[int]()
    for times in (1, CONNECTIONS):
        user = f"erased-{next(NUMBERS)}"
        gate.watched, gate.lines = frozenset(experienced(service, 2 * CONNECTIONS, rating=[user])), Counter()
        token = service.token(user)
        with ThreadPoolExecutor(times) as pool:
            asked = at_once(pool, [lambda user=user, token=token: service.call("DELETE", f"/people/{user}", by=token)] * times)
            answers = Counter(statuses(asked))
        assert set(answers) <= {202, 204, 401, 404}, answers  # the token ends with its user
        assert answers[202] + answers[204] >= 1
        wait_until_erased(service, [user])
        read.append(gate.lines.total())
    assert read[1] < 2 * read[0], read


def test_readiness_and_others_are_answered_while_reports_run(service: Service, gate: Gate) -> None:
    others, number = Others(service), next(NUMBERS)
    for place in range(MANY):
        service.person(f"viewer-{number}-{place}", *(("man", "woman") if place % 2 else ("woman", "man")))
    for place in range(MANY):
        assert service.deck(f"viewer-{number}-{place}")["cards"]
    held = gate.close()
    with ThreadPoolExecutor(2 * CONNECTIONS) as pool:
        asked = at_once(pool, [lambda: service.call("GET", "/operator/experiment")] * 2 * CONNECTIONS)
        try:
            wait([held, *asked], PATIENCE, FIRST_COMPLETED)
            others.go_on()
        finally:
            gate.open()
        assert all(status < 300 for status in statuses(asked))


def wait_until_erased(service: Service, users: Sequence[str]) -> None:
    """The app is told of each when no trace is left."""
    told, after = set[str](), 0
    for _ in range(int(PATIENCE / 0.1)):
        page = service.ok("GET", "/feed", params={"after": after, "limit": 100})
        told |= {message["data"]["user"] for message in page["items"] if message["type"] == "profile.erased"}
        after = page["last"] if page["items"] else after
        if told >= set(users):
            return
        threading.Event().wait(0.1)
    pytest.fail(f"not erased: {sorted(set(users) - told)}")
