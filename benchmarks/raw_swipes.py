"""The peer of `million.py`: swipes kept by a program of raw `sqlite3`, behind the HTTP server of the service.

It has the service's write-ahead log, its sync at every commit and its group commit. Per swipe it looks for the swipe, the deck,
both people and both decisions, and writes the swipe, the decision, a state and two counters. It checks no key, learns nothing,
and has no erasure, quota, match or message.

    python benchmarks/raw_swipes.py FILE PORT
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import threading
from collections import deque
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Any

import uvicorn

from kaczmatch.api.store_futures import result_of
from kaczmatch.app.server import TURN_SECONDS, uvicorn_options
from kaczmatch.settings.model import Settings
from kaczmatch.storage.group import LARGE_COMMIT, LINGER

TOGETHER, STATE = 256, bytes(1_024)
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
READS = (
    "SELECT at FROM events WHERE user = :user AND id = :id",
    "SELECT cards FROM decks WHERE user = :user AND id = :deck",
    "SELECT profile FROM people WHERE id IN (:user, :candidate)",
    "SELECT decision FROM decisions WHERE (user, candidate) IN (VALUES (:user, :candidate), (:candidate, :user))",
    "SELECT cells FROM states WHERE user = :user",
)
WRITES = (
    "INSERT INTO events (user, id, at, candidate, decision, deck) VALUES (:user, :id, :at, :candidate, :decision, :deck)",
    "INSERT OR REPLACE INTO decisions VALUES (:user, :candidate, :decision, :at)",
    "INSERT OR REPLACE INTO states VALUES (:user, :state)",
    "INSERT INTO counters VALUES (:user, 1, 0) ON CONFLICT DO UPDATE SET swipes = swipes + 1",
    "INSERT INTO counters VALUES (:candidate, 0, 1) ON CONFLICT DO UPDATE SET likes = likes + 1",
)

Swipe = dict[str, Any]


class Swipes:
    """A queue, and a thread that commits what waits in it."""

    def __init__(self, file: str) -> None:
        self.file, self.waiting, self.changed, self.expected = file, deque[tuple[Swipe, Future[str]]](), threading.Condition(), 0
        threading.Thread(target=self._run, daemon=True).start()

    def add(self, swipe: Swipe) -> Future[str]:
        future: Future[str] = Future()
        with self.changed:
            self.waiting.append((swipe, future))
            if len(self.waiting) in (1, self.expected):
                self.changed.notify()
        return future

    def _run(self) -> None:
        database = sqlite3.connect(self.file, isolation_level=None, cached_statements=256)
        database.executescript(TABLES)
        database.execute("PRAGMA synchronous = FULL")
        while True:
            with self.changed:
                while not self.waiting:
                    self.changed.wait()
                self.changed.wait_for(lambda: len(self.waiting) >= self.expected, LINGER)
                some = [self.waiting.popleft() for _ in range(min(len(self.waiting), TOGETHER))]
                self.expected = len(some) if len(some) >= LARGE_COMMIT else 0
            database.execute("BEGIN IMMEDIATE")
            for swipe, _ in some:
                for statement in READS:
                    database.execute(statement, swipe).fetchall()
                for statement in WRITES:
                    database.execute(statement, swipe)
            database.execute("COMMIT")
            for swipe, future in some:
                future.set_result(swipe["at"])


def app_of(swipes: Swipes) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body, (*_, user, _, swipe) = (await receive())["body"], scope["path"].split("/")
        answer = b"{}"
        if scope["method"] == "PUT":
            about = json.loads(body) | {"user": user, "id": swipe, "at": datetime.now(UTC).isoformat(), "state": STATE}
            answer = json.dumps({"id": swipe, "at": await result_of(swipes.add(about)), "match": None}).encode()
        headers = [(b"content-length", b"%d" % len(answer)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    return app


def main() -> None:
    file, port = sys.argv[1:]
    sys.setswitchinterval(TURN_SECONDS)
    options = uvicorn_options(Settings(port=int(port)))
    asyncio.run(uvicorn.Server(uvicorn.Config(app_of(Swipes(file)), **options | {"lifespan": "off"})).serve())


if __name__ == "__main__":
    main()
