"""What requests read: no more in a commit with a long history than with a short one, and elsewhere what the table says."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import pytest
from fastapi import FastAPI

from kaczmatch.app.asgi import app_of
from kaczmatch.app.composition import open_store
from kaczmatch.app.openapi_document import openapi_of_fresh_service
from kaczmatch.app.system import System, compose
from kaczmatch.service.access.credentials import SCOPES
from kaczmatch.service.domain import impressions
from kaczmatch.service.domain.quotas import BLOCKS, CHANGES, DECKS, EDITS, EXPORTS, HISTORIES, REPORTS, SWIPES, UNDOS
from kaczmatch.service.domain.records import PersonCounters
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting import ranking
from kaczmatch.service.meeting.people_search import suffixes_of
from kaczmatch.service.meeting.profiles import new_person, snapshot_of
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.service.messages import feed
from kaczmatch.settings.model import Settings
from worlds.cards import put_deck
from worlds.clock import Clock
from worlds.rows import COMMITS, RowsRead, rows_read
from worlds.town import about

ROOT: Final = Path(__file__).parents[3]
EVENTS: Final = (50, 5_000)
ME: Final = "me"
KINDS: Final = {SWIPES, DECKS, EDITS, UNDOS, CHANGES, BLOCKS, REPORTS, EXPORTS, HISTORIES}
CONSTANT: Final = "a constant"
THREADS: Final = {
    "folding thread": "kaczmatch folding",
    "transfer threads": "AnyIO worker thread",
    "request threads": "AnyIO worker thread",
}


class Promise(NamedTuple):
    """A line of the table."""

    commits: bool
    reads: str
    uses_up: str

    @property
    def thread(self) -> str:
        """The beginning of the names of the threads that may read more for a longer history."""
        return next((name for words, name in THREADS.items() if words in self.reads), "kaczmatch requests")


def table() -> dict[str, Promise]:
    """The table in the documentation, by method and path."""
    lines = (ROOT / "docs" / "guarantees.md").read_text().splitlines()
    found = [re.fullmatch(r"\| `([A-Z]+ /\S+)` \| (yes|no) \| (.*?) \| (.*?) \|", line) for line in lines]
    return {one[1]: Promise(one[2] == "yes", one[3], one[4]) for one in found if one is not None}


TABLE: Final = table()
PATHS: Final = openapi_of_fresh_service()["paths"]
ROUTES: Final = [f"{method.upper()} {path.removeprefix('/v1')}" for path in PATHS for method in PATHS[path]]

# In the order in which they are sent: a swipe before its undo, and the person goes last. `{...}` are in `World.names`.
REQUESTS: Final[dict[str, dict[str, Any]]] = {
    "GET /health/live": {},
    "GET /health/ready": {},
    "GET /metrics": {},
    "GET /vocabulary": {},
    "POST /tokens": {"json": {"user": ME}},
    "GET /people": {"params": {"limit": 5}},
    "GET /people/{user}": {},
    "PUT /people/{user}": {
        "json": {"name": "Me", "born": "1990-05-17", "i_am": ["woman"], "i_look_for": ["man"], "tags": ["climbing"]}
    },
    "POST /people/{user}/pause": {},
    "POST /people/{user}/resume": {},
    "GET /people/{user}/likes": {"params": {"limit": 5}},
    "GET /people/{user}/admirers": {"params": {"limit": 5}},
    "GET /people/{user}/events": {"params": {"limit": 5}},
    "GET /people/{user}/blocks": {"params": {"limit": 1}},
    "PUT /people/{user}/blocks/{other}": {"other": "n1"},
    "DELETE /people/{user}/blocks/{other}": {"other": "n1"},
    "POST /people/{user}/reports": {"json": {"other": "n2", "reason": "rude"}},
    "GET /people/{user}/matches": {"params": {"limit": 1}},
    "POST /people/{user}/matches/{match}/outcomes": {"json": {"outcome": "met"}},
    "DELETE /people/{user}/matches/{match}": {},
    "GET /people/{user}/preference": {},
    "GET /people/{user}/preference/history": {},
    "GET /people/{user}/export": {},
    "GET /people/{user}/why/{candidate}": {"candidate": "n3"},
    "POST /people/{user}/rank": {"json": {"candidates": ["n4", "n5"]}},
    "GET /people/{user}/picks": {},
    "PUT /people/{user}/swipes/{swipe}": {"json": {"candidate": "n6", "decision": "like"}},
    "DELETE /people/{user}/swipes/{swipe}": {},
    "POST /people/{user}/deck": {"json": {"size": 2}},
    "POST /decks": {"json": {"users": [ME], "size": 2}},
    "POST /people/{user}/session/end": {},
    "POST /people/{user}/preference/reset": {},
    "GET /operator/people": {"params": {"limit": 5, "name": "n"}},
    "GET /operator/people/{user}/timeline": {"params": {"limit": 1}},
    "PUT /operator/people/{user}/hold": {},
    "DELETE /operator/people/{user}/hold": {},
    "GET /operator/reports": {"params": {"limit": 1}},
    "POST /operator/reports/{report}/close": {"json": {"resolution": ""}},
    "POST /operator/reports/{report}/reopen": {},
    "DELETE /operator/people/{user}/blocks/{other}": {"other": "p1"},
    "GET /operator/overview": {},
    "GET /operator/health": {},
    "GET /operator/group": {"params": {"name": "woman"}},
    "GET /operator/experiment": {},
    "PATCH /vocabulary": {"json": {"add_tags": ["tea"]}},
    "GET /feed": {"params": {"limit": 10}},
    "POST /feed/ack": {"json": {"up_to": 1}},
    "POST /import/profiles": {
        "content": "id,name,born,i_am,i_look_for\nnew,New,1990-01-01,man,woman\n",
        "headers": {"Content-Type": "text/csv"},
    },
    "POST /import/swipes": {
        "content": "user,candidate,decision,at\nme,n7,like,2026-11-14T00:00:00Z\n",
        "headers": {"Content-Type": "text/csv"},
    },
    "GET /export/profiles": {},
    "GET /export/swipes": {},
    "DELETE /people/{user}": {},
    "GET /people/{user}/erasure": {},
}

# What is refused, as a user's token could send it again and again.
REFUSED: Final[dict[str, tuple[str, str, dict[str, Any]]]] = {
    "an undo of what is not the last": ("DELETE", "/people/me/swipes/s1", {}),
    "an undo after a match": ("DELETE", "/people/me/swipes/s0", {}),
    "an undo of nothing": ("DELETE", "/people/me/swipes/none", {}),
    "a swipe on no card": ("PUT", "/people/me/swipes/x", {"json": {"candidate": "n1", "decision": "like", "deck": "d0"}}),
    "a swipe under a used id": ("PUT", "/people/me/swipes/s1", {"json": {"candidate": "n1", "decision": "like"}}),
    "a report of oneself": ("POST", "/people/me/reports", {"json": {"other": ME, "reason": "rude"}}),
    "why of somebody who was not shown": ("GET", "/people/me/why/n9", {}),
    "a match that is not there": ("DELETE", "/people/me/matches/none", {}),
    "a profile that was changed meanwhile": (
        "PUT",
        "/people/me",
        {"json": REQUESTS["PUT /people/{user}"]["json"], "headers": {"If-Match": '"99"'}},
    ),
}


@dataclass
class World:
    """A service in which somebody has a history of so many events; nothing but requests runs in it."""

    system: System
    app: FastAPI
    key: str
    names: dict[str, str]

    async def _sent(self, *requests: tuple[str, str, dict[str, Any]]) -> list[tuple[int, RowsRead]]:
        answers = []
        self.system.health.set_followed()
        transport, headers = httpx.ASGITransport(self.app), {"Authorization": f"Bearer {self.key}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost/v1", headers=headers) as client:
            for method, path, options in requests:
                await client.get("/vocabulary")  # the key is known then
                with rows_read(self.system.settings.data / "kaczmatch.sqlite3") as rows:
                    answer = await client.request(method, path, **options)
                answers.append((answer.status_code, rows))
        return answers

    def send(self, *requests: tuple[str, str, dict[str, Any]]) -> list[tuple[int, RowsRead]]:
        return asyncio.run(self._sent(*requests))

    def send_all(self) -> dict[str, tuple[int, RowsRead]]:
        requests = []
        for route, options in REQUESTS.items():
            method, path = route.split()
            named = self.names | {
                name: value for name, value in options.items() if isinstance(value, str) and f"{{{name}}}" in path
            }
            requests.append((method, path.format_map(named), {k: v for k, v in options.items() if f"{{{k}}}" not in path}))
        return dict(zip(REQUESTS, self.send(*requests), strict=True))


def world(events: int, folder: Path) -> World:
    settings = Settings(data=folder, log_level="error", admirers_listed=True)
    clock = Clock()
    system = compose(settings, open_store(settings), clock=clock)
    cases, context = system.use_cases, system.context
    vocabulary, schema = cases.models.vocabulary(), context.config.schema

    def move_in(users: list[str]) -> None:
        def work(transaction: Transaction) -> None:
            for user in users:
                person = new_person(user, about(user, man=user != ME), vocabulary, schema, clock(), None)
                for record in (person, *suffixes_of(person), snapshot_of(person), PersonCounters(user=user)):
                    transaction.put(record)

        context.store.write(work).result()

    def deal(transaction: Transaction) -> None:
        for place in range(events // 5):
            shown = [f"p{(5 * place + card) % events}" for card in range(4)]
            put_deck(transaction, ME, f"d{place}", [*shown, "n3"], clock() - timedelta(minutes=1 + place))

    people = [ME, *(f"n{place}" for place in range(20)), *(f"p{place}" for place in range(events))]
    for first in range(0, len(people), 250):
        move_in(people[first : first + 250])
    context.store.write(deal, locks=[ME]).result()
    swipes, safety, at = cases.swipes, cases.safety, clock() - timedelta(days=1)
    last: list[Future[Any]] = []
    for place in range(events):  # after one another by the lock on the person
        other = f"p{place}"
        swipe = Swipe(user=ME, id=f"s{place}", candidate=other, decision=("like", "pass", "skip")[place % 3], deck="")
        last.append(swipes.import_swipe(swipe, at))
        if place % 3 == 0:
            back = Swipe(user=other, id="back", candidate=ME, decision=("like", "pass")[place % 2], deck="")
            last.append(swipes.import_swipe(back, at))
        if place % 10 == 4:
            last += [safety.block(ME, other), safety.block(other, ME)]
        if place % 10 == 5:
            last += [safety.report(ME, other, "rude"), safety.report(other, ME, "rude")]
        if place % 10 == 7:
            last += [swipes.end_session(ME), cases.operators.hold(ME, "test", held=place % 20 == 7)]
        if place % 30 == 6:
            last.append(safety.block(ME, other))  # ends a match
        if len(last) > 1_000 or place == events - 1:
            for one in last:
                one.result()
            last.clear()
    cases.operators.hold(ME, "test", False).result()
    cases.profiles.pause(ME, False).result()
    system.serving_index.load()
    system.health.set_ready()
    system.health.set_followed()
    key = cases.credentials.create("test", tuple(SCOPES))[1]
    match = cases.matches.matches(ME, limit=1)[0].id
    report = cases.safety.open_reports(limit=1)[0].id
    return World(system, app_of(system), key, {"user": ME, "match": match, "report": report, "swipe": "new"})


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[World]]:
    """With a short history and a long one. Both are longer than what is looked at where that has a limit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(impressions, "DECKS_LOOKED_AT", 3)
        patch.setattr(ranking, "_EVENTS_LOOKED_AT", 10)
        patch.setattr(feed, "_AT_ONCE", 10)
        found = [world(events, tmp_path_factory.mktemp("data")) for events in EVENTS]
        yield found
        for one in found:
            one.system.store.close()


@pytest.fixture(scope="module")
def refused(worlds: list[World]) -> list[dict[str, tuple[int, RowsRead]]]:
    return [dict(zip(REFUSED, one.send(*REFUSED.values()), strict=True)) for one in worlds]


@pytest.fixture(scope="module")
def sent(worlds: list[World], refused: object) -> list[dict[str, tuple[int, RowsRead]]]:
    del refused  # the person is erased in the end
    return [one.send_all() for one in worlds]


def test_the_table_has_every_route() -> None:
    assert set(TABLE) == set(ROUTES) == set(REQUESTS)
    assert {what for one in TABLE.values() for what in re.findall("`(.*?)`", one.uses_up)} == KINDS


@pytest.mark.parametrize("route", ROUTES)
def test_a_long_history_is_not_read_where_others_wait(sent: list[dict[str, tuple[int, RowsRead]]], route: str) -> None:
    (short_status, short), (long_status, long) = (answers[route] for answers in sent)
    assert route == "GET /health/ready" or short_status == long_status < 400
    promise = TABLE[route]
    assert bool(short.rows[COMMITS] or long.rows[COMMITS]) <= promise.commits
    assert short.in_commits == long.in_commits
    assert long.steps <= 2 * short.steps + 500  # nor does the database look at them
    grown = {thread for thread in long.rows if long.rows[thread] > short.rows[thread]}
    if promise.reads.startswith(CONSTANT):
        assert short.in_all == long.in_all, (short.rows, long.rows)
    else:
        assert all(thread.startswith(promise.thread) for thread in grown), (promise.reads, short.rows, long.rows)


@pytest.mark.parametrize("what", REFUSED)
def test_a_refusal_reads_the_same_of_a_short_and_a_long_history(
    refused: list[dict[str, tuple[int, RowsRead]]], what: str
) -> None:
    (short_status, short), (long_status, long) = (answers[what] for answers in refused)
    assert short_status == long_status >= 400
    assert (short.in_commits, short.in_all) == (long.in_commits, long.in_all)
    assert long.steps <= 2 * short.steps + 500
