"""An erasure over HTTP: gone at once, done soon after, and asked for as often as one likes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from kaczmatch.service.domain.records import PendingErasure
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.service.privacy.erasure import Erasure
from kaczmatch.settings.model import Settings
from worlds.served import Service, serving


@contextmanager
def held_back() -> Iterator[Event]:
    """The job does not begin before the event is set."""
    allowed, work = Event(), Erasure.work

    def waiting(self: Erasure, *values: Any) -> int:
        return work(self, *values) if allowed.is_set() else 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Erasure, "work", waiting)
        try:
            yield allowed
        finally:
            allowed.set()


def test_an_erased_person_is_gone_at_once_and_the_job_soon_follows(service: Service) -> None:
    one, two, match = service.matched()
    token = service.token(one)
    with held_back() as allowed:
        answer = service.call("DELETE", f"/people/{one}", by=token)
        assert (answer.status_code, answer.json()) == (202, {"done": False, "people_left": 1})
        where = answer.headers["location"].removeprefix("/v1")
        assert service.deck(two)["cards"] == []
        assert service.ok("GET", f"/people/{two}/matches")["items"] == []
        assert service.call("DELETE", f"/people/{two}/matches/{match}").status_code == 404
        assert all(
            one not in service.call("GET", f"/people/{two}/{what}").text for what in ("export", "likes", "events", "blocks")
        )
        assert one not in service.call("GET", "/feed", params={"limit": 1000}).text
        assert one not in service.call("GET", "/export/swipes").text
        assert service.call("PUT", f"/people/{two}/swipes/late", json={"candidate": one, "decision": "like"}).status_code == 404
        until = time.monotonic() + 30
        while service.call("POST", f"/people/{one}/deck", by=token).status_code != 401 and time.monotonic() < until:
            time.sleep(0.05)
        assert service.call("GET", f"/people/{one}", by=token).status_code == 401
        assert service.call("PUT", f"/people/{one}", json={"name": "A", "born": "1990-05-17", "i_am": ["man"]}).status_code == 409
        assert service.ok("GET", where) == {"done": False, "people_left": 1}
        allowed.set()
    until = time.monotonic() + 30
    while not service.ok("GET", where)["done"] and time.monotonic() < until:
        time.sleep(0.05)
    assert service.ok("GET", where) == service.ok("DELETE", f"/people/{one}") == {"done": True, "people_left": 0}
    service.person(one)


def test_who_may_see_how_far_an_erasure_is(service: Service) -> None:
    one, two = service.couple()
    service.erase(one)
    where = f"/people/{one}/erasure"
    for scope, status in (("app", 200), ("operator", 200), ("data", 403), ("tokens", 403)):
        assert service.call("GET", where, by=service.key_with(scope)).status_code == status
    assert service.call("GET", where, by=service.token(two)).status_code == 403
    assert service.call("GET", f"/people/{two}/erasure").status_code == 404
    assert service.call("GET", "/people/nobody-at-all/erasure").status_code == 404


def test_eight_erasures_by_one_token_at_once_are_one(service: Service) -> None:
    one, two = service.couple()
    service.swipe(two, one)
    token, together = service.token(one), Barrier(8)
    service.call("GET", f"/people/{one}", by=token)

    def erase(_: int) -> int:
        together.wait()
        return service.call("DELETE", f"/people/{one}", by=token).status_code

    with held_back() as allowed:
        with ThreadPoolExecutor(8) as threads:
            assert set(threads.map(erase, range(8))) == {202}
        with service.system.store.read() as reader:
            assert reader.get(PendingErasure, one) is not None
        allowed.set()
    service.erase(one)
    feed = service.ok("GET", "/feed", params={"limit": 1000})["items"]
    assert [message["type"] for message in feed if message["data"].get("user") == one] == ["profile.erased"]


def test_a_service_stops_in_the_middle_of_an_erasure_and_the_next_one_finishes_it(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, log_level="error")
    rested = Event()
    with serving(settings) as service:
        one, _ = service.couple()
        others = [service.couple()[1] for _ in range(5)]
        for other in others:
            service.system.use_cases.swipes.import_swipe(
                Swipe(user=other, id="s", candidate=one, decision="like", deck=""), service.system.context.clock()
            ).result()
        context = service.system.use_cases.erasure.context
        stopping = service.system.background._stopping

        def rest() -> None:
            rested.set()
            stopping.wait(30)

        object.__setattr__(context, "rest", rest)
        service.ok("DELETE", f"/people/{one}")
        assert rested.wait(30)
    with serving(settings) as service:
        until = time.monotonic() + 60
        while not service.ok("GET", f"/people/{one}/erasure")["done"] and time.monotonic() < until:
            time.sleep(0.05)
        assert service.ok("GET", f"/people/{one}/erasure")["done"]
