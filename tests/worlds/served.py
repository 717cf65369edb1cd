"""A service to talk to over HTTP, composed as in production and served on a free port; each test brings its own people."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from httpx import Response

from kaczmatch.app.asgi import app_of
from kaczmatch.app.composition import now, open_store
from kaczmatch.app.demo.setup import add_demo
from kaczmatch.app.server import uvicorn_options
from kaczmatch.app.system import System, compose
from kaczmatch.service.access.credentials import SCOPES
from kaczmatch.service.domain.records import Event
from kaczmatch.settings.model import Settings
from kaczmatch.storage import MemoryStore

NUMBERS = itertools.count()


@dataclass
class Service:
    """One running service, a client that holds a key with every scope, and how to make people."""

    system: System
    app: FastAPI
    address: str
    client: httpx.Client
    key: str

    def call(self, method: str, path: str, *, by: str | None = None, **options: Any) -> Response:
        headers = {"Authorization": f"Bearer {by or self.key}", **options.pop("headers", {})}
        return self.client.request(method, f"/v1{path}", headers=headers, **options)

    def ok(self, method: str, path: str, **options: Any) -> Any:
        answer = self.call(method, path, **options)
        assert answer.is_success, (answer.status_code, answer.text)
        return answer.json() if answer.content else None

    def key_with(self, *scopes: str) -> str:
        return self.system.use_cases.credentials.create("test", scopes)[1]

    def token(self, user: str, seconds: int = 900) -> str:
        return str(self.ok("POST", "/tokens", json={"user": user, "seconds": seconds})["token"])

    def couple(self) -> tuple[str, str]:
        """Two people who can meet nobody else: they look for each other's kind in an age that is theirs alone."""
        number = next(NUMBERS)
        one, two = f"ada-{number}", f"bo-{number}"
        self.person(one, "woman", "man", number)
        self.person(two, "man", "woman", number)
        return one, two

    def person(
        self, user: str, i_am: str = "woman", look_for: str = "man", number: int | None = None, **more: Any
    ) -> dict[str, Any]:
        latitude = 0.0 if number is None else -80.0 + 0.5 * (number % 300)  # everybody lives half a degree from the next couple
        longitude = 0.0 if number is None else 2.0 * (number // 300)
        body = {
            "name": f"Name of {user}",
            "born": "1990-05-17",
            "i_am": [i_am],
            "i_look_for": [look_for],
            "location": {"latitude": latitude, "longitude": longitude},
            "within_km": 20,
            "tags": ["climbing", "jazz"],
        }
        return dict(self.ok("PUT", f"/people/{user}", json=body | more))

    def deck(self, user: str, **options: Any) -> dict[str, Any]:
        self.system.serving_index.follow()
        return dict(self.ok("POST", f"/people/{user}/deck", **options))

    def swipe(self, user: str, other: str, decision: str = "like", swipe: str | None = None, **options: Any) -> Response:
        deck = self.deck(user)["id"]
        body = {"candidate": other, "decision": decision, "deck": deck}
        return self.call("PUT", f"/people/{user}/swipes/{swipe or f's{next(NUMBERS)}'}", json=body, **options)

    def matched(self) -> tuple[str, str, str]:
        one, two = self.couple()
        assert self.swipe(one, two).json()["match"] is None
        return one, two, self.swipe(two, one).json()["match"]

    def erase(self, user: str) -> None:
        """And wait until nothing of them is left."""
        told = self.ok("DELETE", f"/people/{user}")
        while not told["done"]:
            time.sleep(0.02)
            told = self.ok("GET", f"/people/{user}/erasure")

    def events(self, user: str) -> list[Event]:
        """What the store has of somebody."""
        with self.system.store.read() as reader:
            return reader.find(Event, user=user)


@contextmanager
def serving(settings: Settings, *, store: str = "sqlite", clock: Callable[[], datetime] = now) -> Iterator[Service]:
    """From ready until it has stopped. `store` is "memory", or anything else for what the settings say."""
    system = compose(settings, MemoryStore() if store == "memory" else open_store(settings), clock=clock)
    app = app_of(system, routers=add_demo(system) if settings.demo else ())
    server = uvicorn.Server(uvicorn.Config(app, **uvicorn_options(settings.model_copy(update={"port": 0}))))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    system.wait_ready()
    try:
        with httpx.Client(base_url=address, timeout=30, limits=httpx.Limits(max_connections=None)) as client:
            yield Service(system, app, address, client, system.use_cases.credentials.create("test", tuple(SCOPES))[1])
    finally:
        server.should_exit = True
        thread.join()
