"""Quotas, sizes, odd input, back-pressure: refused in one shape, never a failure."""

from __future__ import annotations

import asyncio
import re
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from threading import Barrier, Event, Semaphore
from typing import Any

import pytest

from kaczmatch.api import concurrency_limit
from kaczmatch.api.concurrency_limit import TRANSFER_THREADS
from kaczmatch.api.routes import transfer
from kaczmatch.schemas.problems import PROBLEM_MEDIA_TYPE
from kaczmatch.schemas.transfer import ImportResult
from kaczmatch.service.domain.store import OutcomeUnknown, StoreUnavailable
from kaczmatch.service.meeting.serving_index import ServingIndex
from worlds.served import NUMBERS, Service

from .conftest import Opened

PROFILE = {"name": "Ada", "born": "1990-05-17", "i_am": ["woman"], "i_look_for": ["man"]}


def test_a_quota_is_exact_under_parallel_requests(service: Service) -> None:
    one, _ = service.couple()
    tags, barrier = ["chess", "cooking", "poetry", "dogs", "cats", "wine", "yoga", "opera"], Barrier(8)

    def edit(tag: str) -> Any:
        barrier.wait()
        return service.call("PUT", f"/people/{one}", json=PROFILE | {"tags": [tag]})

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(edit, tags))
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [429] * 5
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert 0 < int(refused.headers["Retry-After"]) <= 86_400
    assert refused.json()["code"] == "quota"


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("PUT", "/people/x", b'{"name": "' + b"a" * 2_000_000 + b'"}', 413),
        ("PUT", "/people/x", b"[" * 50_000 + b"]" * 50_000, 422),
        ("PUT", "/people/x", b'{"a":' * 5_000 + b"1" + b"}" * 5_000, 422),
        ("PUT", "/people/x/swipes/s", b"[" * 50_000, 422),
        ("PUT", "/people/x", b"\xff\xfe{", 400),
        ("PUT", "/people/x", b"{", 422),
        ("PUT", "/people/x/swipes/s", b"\xff\xfe{", 422),
        ("PUT", "/people/x", b"", 422),
        ("PUT", "/people/%00", b"{}", 422),
        ("PUT", "/people/" + "x" * 65, b"{}", 422),
        ("PUT", "/people/%F0%9F%98%80", b"{}", 422),
        ("GET", "/people/..%2f..%2fetc%2fpasswd", b"", 404),
        ("GET", "/nothing", b"", 404),
        ("PATCH", "/tokens", b"", 405),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_shape(
    one_service: Service, method: str, path: str, body: bytes, status: int
) -> None:
    answer = one_service.call(method, path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == PROBLEM_MEDIA_TYPE
    told = answer.json()
    assert (told["status"], told["request_id"]) == (status, answer.headers["X-Request-ID"])
    assert told["code"]
    assert told["detail"]


def test_a_body_without_a_length_is_cut_off_at_the_limit(one_service: Service) -> None:
    parts = (b" " * 65_536 for _ in range(64))
    answer = one_service.call("PUT", "/people/x", content=parts, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "change",
    [
        {"name": "A\0da"},
        {"name": "Ada\u202egnp.exe"},
        {"name": "A\u200bda"},
        {"name": ""},
        {"name": "a" * 81},
        {"born": "2025-01-01"},
        {"born": "1990-02-30"},
        {"born": "0001-01-01T00:00:00"},
        {"i_am": ["martian"]},
        {"i_am": []},
        {"tags": ["no such tag"]},
        {"tags": [f"tag {number}" for number in range(501)]},
        {"tags": ["ja\0zz"]},
        {"features": {"height": 1e300}},
        {"features": {"no such feature": 1.0}},
        {"youngest": 40, "oldest": 30},
        {"youngest": -1},
        {"oldest": 10**30},
        {"within_km": 10.0},
        {"within_km": -1.0, "location": {"latitude": 0, "longitude": 0}},
        {"location": {"latitude": 91, "longitude": 0}},
        {"surprise": 1},
    ],
    ids=str,
)
def test_a_profile_that_cannot_be_is_refused(service: Service, change: dict[str, Any]) -> None:
    answer = service.call("PUT", f"/people/odd-{next(NUMBERS)}", json=PROFILE | change)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"]
    assert "Value error" not in answer.text  # a library's words, not ours


def test_a_store_that_cannot_be_reached_asks_to_come_back(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    service = opened("memory")
    one, two = service.couple()
    deck = service.deck(one)["id"]

    def unavailable(*_: object, **__: object) -> None:
        raise StoreUnavailable("disk full at /secret/place")

    monkeypatch.setattr(service.system.store, "write", unavailable)
    body = {"candidate": two, "decision": "like", "deck": deck}
    for answer in (
        service.call("PUT", f"/people/{one}/swipes/s1", json=body),
        service.call("PUT", f"/people/{one}", json=PROFILE),
    ):
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
        assert "secret" not in answer.text


def test_what_may_have_been_written_is_not_told_as_nothing(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    service = opened("memory")
    one, two = service.couple()
    body = {"candidate": two, "decision": "like", "deck": service.deck(one)["id"]}

    def lost(*_: object, **__: object) -> None:
        raise OutcomeUnknown("the connection to /secret/place was lost while committing")

    with monkeypatch.context() as broken:
        broken.setattr(service.system.store, "write", lost)
        answer = service.call("PUT", f"/people/{one}/swipes/s1", json=body)
    assert (answer.status_code, answer.headers["Retry-After"], answer.json()["code"]) == (503, "1", "outcome-unknown")
    assert "same id" in answer.json()["detail"]
    assert "secret" not in answer.text
    assert service.call("PUT", f"/people/{one}/swipes/s1", json=body).is_success


@pytest.mark.parametrize("held", ["dealing", "storing"])
def test_too_many_decks_at_once_are_turned_away(held: str, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    service, free = opened("memory", deck_limit=2), Event()
    people = [service.couple()[0] for _ in range(6)]
    assert service.deck(service.couple()[0])["cards"]  # so the index has everybody, and nobody's deck is tried twice
    deal, wait = type(service.system.use_cases.decks).begin, concurrency_limit.result_once_written

    def slow(*values: Any, **named: Any) -> Any:
        free.wait(30)
        return deal(*values, **named)

    async def slow_store(stored: Any) -> Any:
        while not free.is_set():
            await asyncio.sleep(0.01)
        return await wait(stored)

    if held == "dealing":
        monkeypatch.setattr(type(service.system.use_cases.decks), "begin", slow)
    else:
        monkeypatch.setattr(concurrency_limit, "result_once_written", slow_store)
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(service.call, "POST", f"/people/{person}/deck") for person in people]
        turned_away = list(islice(as_completed(asked, timeout=25), 4))
        free.set()
    assert [answer.result().status_code for answer in turned_away] == [503] * 4
    assert [answer.result().status_code for answer in asked if answer not in turned_away] == [200] * 2


def test_slow_transfers_keep_nobody_else_waiting(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    service, under_way, free = opened("memory", threads=2), Semaphore(0), Event()
    service.couple()

    def slow(*_: object) -> Any:
        under_way.release()
        free.wait(30)
        return ImportResult(complete=True)

    def slow_rows(*_: object) -> Any:
        under_way.release()
        free.wait(30)
        yield []

    monkeypatch.setattr(transfer, "_imported", slow)
    monkeypatch.setattr(transfer, "export_batches", slow_rows)
    csv = {"content": b"id\n", "headers": {"Content-Type": "text/csv"}}
    with ThreadPoolExecutor(8) as pool:
        imports = [pool.submit(service.call, "POST", "/import/profiles", **csv) for _ in range(4)]
        exports = [pool.submit(service.call, "GET", "/export/profiles") for _ in range(4)]
        try:
            assert all(under_way.acquire(timeout=25) for _ in range(TRANSFER_THREADS))
            fresh = service.key_with("app")  # which has to be looked up
            assert service.call("GET", "/vocabulary", by=fresh, timeout=5).is_success
            assert service.call("PUT", "/people/eve", by=fresh, json=PROFILE, timeout=5).is_success
        finally:
            free.set()
        assert all(one.result().is_success for one in (*imports, *exports))


def test_a_failure_tells_nothing_but_the_id_of_its_request(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    service = opened("memory")

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a secret of ada-1")

    monkeypatch.setattr(type(service.system.use_cases.profiles), "get", fail)
    answer = service.call("GET", "/people/ada-1")
    assert (answer.status_code, answer.headers["Content-Type"]) == (500, PROBLEM_MEDIA_TYPE)
    assert "secret" not in answer.text
    assert answer.json()["request_id"] == answer.headers["X-Request-ID"]


def test_headers_keep_browsers_out_of_trouble(one_service: Service) -> None:
    answer = one_service.client.get("/v1/health/live", headers={"Origin": "https://elsewhere.example"})
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_other_origins_may_call_only_where_a_setting_says_so(opened: Opened) -> None:
    service = opened("memory", cors_origins=("https://app.example",))
    asked = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    mine, theirs = (
        service.client.options("/v1/vocabulary", headers={"Origin": origin, **asked})
        for origin in ("https://app.example", "https://elsewhere.example")
    )
    assert mine.headers["Access-Control-Allow-Origin"] == "https://app.example"
    assert "Access-Control-Allow-Origin" not in theirs.headers
    swipe = service.client.put("/v1/people/ada/swipes/one", json={}, headers={"Origin": "https://app.example"})
    assert swipe.headers["Access-Control-Allow-Origin"] == "https://app.example"


def test_a_process_that_does_not_keep_up_with_the_store_says_so_and_recovers(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = opened("memory")

    def told(status: int) -> dict[str, Any]:
        for _ in range(500):
            answer = service.client.get("/v1/health/ready")
            if answer.status_code == status:
                return dict(answer.json())
            time.sleep(0.02)
        pytest.fail(f"it never answered {status}")

    monkeypatch.setattr("kaczmatch.app.health.LATE_SECONDS", 1.0)
    assert told(200)["ok"]
    with monkeypatch.context() as broken:
        broken.setattr(ServingIndex, "follow", lambda _: 1 / 0)
        assert "has not kept up with the store" in told(503)["detail"]
        assert service.call("GET", "/vocabulary").is_success  # what can be served is
    assert told(200)["ok"]


def test_an_upload_is_cut_off_at_its_own_limit(opened: Opened) -> None:
    service = opened("memory", upload_limit=100_000)
    for content in (b"x" * 100_001, (b"x" * 50_000 for _ in range(3))):
        answer = service.call("POST", "/import/profiles", content=content, headers={"Content-Type": "text/csv"})
        assert (answer.status_code, answer.headers["Content-Type"]) == (413, PROBLEM_MEDIA_TYPE)


def test_ids_cannot_be_guessed(one_service: Service) -> None:
    """96 random bits: those of decks, matches and reports tell nothing of each other."""
    one, two, match = one_service.matched()
    ids = [match, *(one_service.deck(user)["id"] for user in one_service.couple())]
    ids.append(one_service.ok("POST", f"/people/{one}/reports", json={"other": two, "reason": "rude"})["id"])
    assert all(re.fullmatch(r"[0-9a-f]{24}", one) for one in ids)
    bits = [int(one, 16) for one in ids]
    assert min(abs(a - b) for a in bits for b in bits if a != b) > 2**64
    assert len(set(ids)) == len(ids)
