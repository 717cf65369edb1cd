"""The peer of `million.py`: swipes kept by a program of raw `sqlite3`, behind the service's own HTTP or behind uvicorn alone.

It has the service's write-ahead log, its sync at every commit, its group commit, and its threads on one core. A thread moves
the log into the database as often as the service does, and a commit empties it where it is longer than the service lets it be.
It begins with as many people as the service, of whom as many have swiped. Per swipe it looks for the swipe, the deck, both
people and both decisions, and writes the swipe, the decision, a state and two counters, each by one statement for all swipes of
a commit. It checks no key, learns nothing, and has no erasure, quota, match or message. Behind the service's own HTTP a request
passes what it passes there: limits, credentials, a log line, a count.

    python benchmarks/raw_swipes.py FILE PORT PEOPLE service|bare
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI

from kaczmatch.api.application import RequestLimits, application
from kaczmatch.api.dependencies import ProcessState
from kaczmatch.api.store_futures import result_of
from kaczmatch.app.asgi import TURN_SECONDS
from kaczmatch.app.logs import set_up_logs
from kaczmatch.app.request_core import LOOK_SECONDS, RequestCore
from kaczmatch.app.server import uvicorn_options
from kaczmatch.service.access.credentials import APP, Caller
from kaczmatch.service.meeting import swipes as service_swipes
from kaczmatch.settings.model import Settings
from kaczmatch.storage.group import LARGE_COMMIT, LINGER
from kaczmatch.storage.sqlite_log import LONG_LOG, MOVE_EVERY

TOGETHER, REST = 256, {"state": bytes(1_024), "none": 0, "one": 1}
TABLES = """
PRAGMA journal_mode = WAL;
CREATE TABLE people (id TEXT PRIMARY KEY, profile BLOB) WITHOUT ROWID;
CREATE TABLE decks (user TEXT, id TEXT, cards BLOB, PRIMARY KEY (user, id)) WITHOUT ROWID;
CREATE TABLE events (number INTEGER PRIMARY KEY, user TEXT, id TEXT, at TEXT, candidate TEXT, decision TEXT, deck TEXT);
CREATE UNIQUE INDEX of_user ON events (user, id);
CREATE INDEX of_candidate ON events (candidate, number);
CREATE TABLE decisions (user TEXT, candidate TEXT, decision TEXT, at TEXT, PRIMARY KEY (user, candidate)) WITHOUT ROWID;
CREATE TABLE states (user TEXT PRIMARY KEY, cells BLOB) WITHOUT ROWID;
CREATE TABLE counters (user TEXT PRIMARY KEY, swipes INTEGER, likes INTEGER) WITHOUT ROWID;
"""
BOTH, SWIPE = ("user", "candidate"), ("user", "id", "at", "candidate", "decision", "deck")
# One statement for all swipes of a commit, and what it takes of each swipe. Reads join their keys, a and b.
STATEMENTS = {
    "WITH k(a, b) AS (VALUES {rows}) SELECT at FROM k CROSS JOIN events ON user = a AND id = b": ("user", "id"),
    "WITH k(a, b) AS (VALUES {rows}) SELECT cards FROM k CROSS JOIN decks ON user = a AND id = b": ("user", "deck"),
    "WITH k(a, b) AS (VALUES {rows}) SELECT profile FROM k CROSS JOIN people ON id IN (a, b)": BOTH,
    "WITH k(a, b) AS (VALUES {rows}) SELECT decision FROM k CROSS JOIN decisions ON user = a AND candidate = b": BOTH,
    "WITH k(a, b) AS (VALUES {rows}) SELECT decision FROM k CROSS JOIN decisions ON user = b AND candidate = a": BOTH,
    "WITH k(a) AS (VALUES {rows}) SELECT cells FROM k CROSS JOIN states ON user = a": ("user",),
    "INSERT INTO events (user, id, at, candidate, decision, deck) VALUES {rows}": SWIPE,
    "INSERT OR REPLACE INTO decisions VALUES {rows}": ("user", "candidate", "decision", "at"),
    "INSERT OR REPLACE INTO states VALUES {rows}": ("user", "state"),
    "INSERT INTO counters VALUES {rows} ON CONFLICT DO UPDATE SET swipes = swipes + 1": ("user", "one", "none"),
    "INSERT INTO counters VALUES {rows} ON CONFLICT DO UPDATE SET likes = likes + 1": ("candidate", "none", "one"),
}

Swipe = dict[str, Any]


@cache
def for_rows(statement: str, width: int, rows: int) -> str:
    return statement.format(rows=", ".join([f"({', '.join('?' * width)})"] * rows))


def fill(file: str, people: int) -> None:
    """People as the service has them in `million.py`: every tenth has swiped ten times."""
    at, active = datetime.now(UTC).isoformat(), range(0, people, 10)
    swipes = [(f"p{user}", f"i{n}", f"p{(user + 1 + 7919 * (n + 1)) % people}") for user in active for n in range(10)]
    rows = {
        "people VALUES (?, ?)": ((f"p{one}", bytes(150)) for one in range(people)),
        "counters VALUES (?, 0, 0)": ((f"p{one}",) for one in range(people)),
        "states VALUES (?, ?)": ((f"p{one}", REST["state"]) for one in active),
        "events (user, id, at, candidate, decision, deck) VALUES (?, ?, ?, ?, 'pass', '')": (
            (user, name, at, other) for user, name, other in swipes
        ),
        "decisions VALUES (?, ?, 'pass', ?)": ((user, other, at) for user, _, other in swipes),
    }
    with closing(sqlite3.connect(file)) as database:
        database.executescript(TABLES)
        for what, values in rows.items():
            database.executemany(f"INSERT OR REPLACE INTO {what}", values)
            database.commit()


class Swipes:
    """A queue, and a thread that commits what waits in it."""

    def __init__(self, file: str, people: int) -> None:
        fill(file, people)
        self.log = Path(f"{file}-wal")
        self.file, self.waiting, self.changed, self.expected = file, deque[tuple[Swipe, Future[str]]](), threading.Condition(), 0
        threading.Thread(target=self._run, name="kaczmatch group commit", daemon=True).start()
        threading.Thread(target=self._beside, daemon=True).start()

    def add(self, swipe: Swipe) -> Future[Any]:
        future: Future[Any] = Future()
        with self.changed:
            self.waiting.append((swipe, future))
            if len(self.waiting) in (1, self.expected):
                self.changed.notify()
        return future

    def _run(self) -> None:
        database = sqlite3.connect(self.file, isolation_level=None, cached_statements=len(STATEMENTS) * TOGETHER)
        for setting in ("synchronous = FULL", "cache_size = -65536", "wal_autocheckpoint = 0", "temp_store = MEMORY"):
            database.execute(f"PRAGMA {setting}")
        while True:
            with self.changed:
                while not self.waiting:
                    self.changed.wait()
                self.changed.wait_for(lambda: len(self.waiting) >= self.expected, LINGER)
                some = [self.waiting.popleft() for _ in range(min(len(self.waiting), TOGETHER))]
                self.expected = len(some) if len(some) >= LARGE_COMMIT else 0
            database.execute("BEGIN IMMEDIATE")
            for statement, names in STATEMENTS.items():
                values = [swipe[name] for swipe, _ in some for name in names]
                database.execute(for_rows(statement, len(names), len(some)), values).fetchall()
            database.execute("COMMIT")
            if self.log.stat().st_size > LONG_LOG:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            for swipe, future in some:
                future.set_result(swipe.get("answer", swipe["at"]))

    def _beside(self) -> None:
        core, moved = RequestCore(threading.main_thread(), np.random.default_rng()), time.monotonic()
        while True:
            time.sleep(min(LOOK_SECONDS, MOVE_EVERY))
            core.look()
            if time.monotonic() - moved >= MOVE_EVERY:
                moved = time.monotonic()
                with closing(sqlite3.connect(self.file)) as database:
                    database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()


def service_app(swipes: Swipes) -> FastAPI:
    """All of the service's HTTP, over use cases that only write."""
    set_up_logs()

    def swipe(sent: service_swipes.Swipe) -> Future[Any]:
        at = datetime.now(UTC)
        about = {name: getattr(sent, name) for name in sent.__slots__} | {"at": at.isoformat()} | REST
        return swipes.add(about | {"answer": SimpleNamespace(event=SimpleNamespace(id=sent.id, at=at, match=None))})

    credentials = SimpleNamespace(
        caller=lambda _: Caller("bench", frozenset({APP})), context=SimpleNamespace(clock=lambda: datetime.now(UTC))
    )
    cases: Any = SimpleNamespace(credentials=credentials, swipes=SimpleNamespace(swipe=swipe))
    return application(cases, ProcessState(lambda: "", lambda: "", frozenset()), RequestLimits())


def bare_app(swipes: Swipes) -> Any:
    """Behind uvicorn alone, as the service runs it."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body, (*_, user, _, swipe) = (await receive())["body"], scope["path"].split("/")
        answer = b"{}"
        if scope["method"] == "PUT":
            about = json.loads(body) | {"user": user, "id": swipe, "at": datetime.now(UTC).isoformat()} | REST
            answer = json.dumps({"id": swipe, "at": await result_of(swipes.add(about)), "match": None}).encode()
        headers = [(b"content-length", b"%d" % len(answer)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    return app


FRONTS = {"service": service_app, "bare": bare_app}


def main() -> None:
    file, port, people, front = sys.argv[1:]
    sys.setswitchinterval(TURN_SECONDS)
    options, swipes = uvicorn_options(Settings(port=int(port))), Swipes(file, int(people))
    app = FRONTS[front](swipes)
    asyncio.run(uvicorn.Server(uvicorn.Config(app, **options | {"lifespan": "off"})).serve())


if __name__ == "__main__":
    main()
