"""A service to test: stores of every kind, a clock that is set by hand, people who have met."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kaczmatch import Vocabulary
from kaczmatch.service.domain.config import ServiceConfig
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.outbox import announce
from kaczmatch.service.domain.records import Impression
from kaczmatch.service.domain.store import Store
from kaczmatch.service.meeting.profiles import ProfileInput, Profiles
from kaczmatch.service.meeting.swipes import Swipe, Swiping
from kaczmatch.service.operations.models import Models
from kaczmatch.storage import MemoryStore, SqlStore

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
TAGS = [f"tag {number}" for number in range(6)]


class Clock:
    """Stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def wait(self, **time: float) -> None:
        self.now += timedelta(**time)


def open_store(kind: str, request: pytest.FixtureRequest, folder: Path) -> Store:
    if kind == "memory":
        return MemoryStore()
    return SqlStore(request.getfixturevalue("postgres_url") if kind == "postgres" else f"sqlite:///{folder}/store.db")


def in_context(store: Store, clock: Callable[[], datetime] | None = None, rules: ServiceConfig | None = None) -> Context:
    """A service with a vocabulary and a model, ready to be used."""
    context = Context(store, rules or ServiceConfig(deck_size=8), clock or Clock(), lambda: secrets.token_hex(8))
    Models(context).set_up(Vocabulary.of(tags=TAGS, features=["activity"]), "probit-diag", {"appeal": True})
    return context


def about(place: int, **fields: Any) -> ProfileInput:
    """A woman who looks for men, or the other way round, in turn."""
    me, them = ("woman", "man") if place % 2 == 0 else ("man", "woman")
    person = ProfileInput(
        name=f"Person {place}",
        born=date(1990, 1, 1 + place % 28),
        i_am=frozenset([me]),
        i_look_for=frozenset([them]),
        tags=frozenset({TAGS[place % 6], TAGS[(place * 5 + 1) % 6]}),
    )
    return replace(person, **fields)


def populate(context: Context, people: int) -> list[str]:
    done = [Profiles(context).put(f"p{place}", about(place)) for place in range(people)]
    return [person.result().id for person in done]


def swiped(context: Context, user: str, candidate: str, decision: str = "like", id: str = "") -> str | None:
    swipe = Swipe(user=user, id=id or secrets.token_hex(8), candidate=candidate, decision=decision, deck="")
    return Swiping(context).imported(swipe, context.clock()).result().match


def dealt(context: Context, user: str, candidate: str, decision: str = "like") -> str | None:
    """A swipe on a card: what comes of it is told, which it is not for imported ones."""
    card = Impression(
        user=user, deck="deck", candidate=candidate, at=context.clock(), position=0, propensity=1.0, score=0.0, reason="sampled"
    )
    context.store.write(lambda tx: tx.put(card)).result()
    swipe = Swipe(user=user, id=secrets.token_hex(8), candidate=candidate, decision=decision, deck="deck")
    return Swiping(context).swipe(swipe).result().match


def tell(context: Context, user: str, number: int, topic: str = "match.created") -> None:
    context.store.write(lambda tx: announce(tx, context, topic, user, {"user": user, "n": number}), locks=[user]).result()


class Receiver:
    """An app that gets webhooks: `answer` says which status a call gets."""

    def __init__(self) -> None:
        self.calls: list[tuple[dict[str, str], bytes]] = []
        self.answer: Callable[[bytes], int] = lambda _: 204
        self.headers: dict[str, str] = {}
        self.busy = self.most_at_once = 0
        self._lock = threading.Lock()


@contextmanager
def receiver() -> Iterator[tuple[str, Receiver]]:
    """On a free port of this machine."""
    app = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            with app._lock:
                app.busy += 1
                app.most_at_once = max(app.most_at_once, app.busy)
            status = app.answer(body)
            with app._lock:
                app.busy -= 1
                app.calls.append((headers, body))
            self.send_response(status)
            for name, value in app.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/hook", app
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
