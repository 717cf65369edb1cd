"""A real service with a small demo population, and a real Chromium that looks at it."""

from __future__ import annotations

import itertools
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, expect, sync_playwright

from kaczmatch.app.asgi import app_of
from kaczmatch.app.composing import open_store
from kaczmatch.app.demo.inviting import with_demo
from kaczmatch.app.system import System, compose
from kaczmatch.service.domain.records import Event
from kaczmatch.settings.model import Settings

NUMBERS = itertools.count()
PHONE = {"width": 360, "height": 740}


@dataclass
class Site:
    """The running service, and how to put people into it."""

    system: System
    address: str
    api: httpx.Client

    def ok(self, method: str, path: str, **options: Any) -> Any:
        answer = self.api.request(method, f"/v1{path}", **options)
        assert answer.is_success, (answer.status_code, answer.text)
        return answer.json() if answer.content else None

    def person(self, name: str = "Ada", **more: Any) -> str:
        """Somebody in the demo's town who fits many."""
        user = f"visitor-{next(NUMBERS)}"
        body = {
            "name": name,
            "born": "1992-05-17",
            "i_am": ["woman"],
            "i_look_for": ["man", "woman", "non-binary"],
            "location": {"latitude": 48.1, "longitude": 11.6},
            "within_km": 200,
            "tags": ["jazz", "chess"],
        }
        self.ok("PUT", f"/people/{user}", json=body | more)
        self.system.world.follow()
        return user

    def couple(self, one: str = "Ada", two: str = "Bo") -> tuple[str, str]:
        """Two people far from everybody else."""
        number = next(NUMBERS)
        place = {"location": {"latitude": -40.0 + number % 60, "longitude": -100.0}, "within_km": 20}
        first = self.person(one, i_look_for=["man"], **place)
        return first, self.person(two, i_am=["man"], i_look_for=["woman"], **place)

    def like(self, user: str, other: str) -> str | None:
        deck = self.ok("POST", f"/people/{user}/deck")["deck"]
        body = {"candidate": other, "decision": "like", "deck": deck}
        match: str | None = self.ok("PUT", f"/people/{user}/swipes/liked", json=body)["match"]
        return match

    def events(self, user: str) -> list[Event]:
        with self.system.store.read() as reader:
            return reader.find(Event, user=user)


@dataclass
class Visitor:
    """Somebody with a browser. What went wrong in it is noted."""

    site: Site
    context: BrowserContext
    page: Page
    wrong: list[str] = field(default_factory=list)

    def be(self, user: str) -> Visitor:
        """As if one had chosen this person before."""
        self.page.add_init_script(f"sessionStorage.getItem('kaczmatch.me') ?? sessionStorage.setItem('kaczmatch.me', '{user}')")
        self.page.goto(self.site.address)
        expect(self.page.locator("#play")).to_be_visible()
        return self

    @property
    def card(self) -> Locator:
        return self.page.locator(".card[data-depth='0']:not(.leaving)")

    def first(self) -> str:
        """Who is on the first card."""
        expect(self.card).to_have_count(1)
        return self.card.get_attribute("data-id") or ""

    def settled(self, user: str, events: int) -> list[Event]:
        """What the store has of somebody, as soon as it is so much."""
        for _ in range(200):
            found = self.site.events(user)
            if len(found) >= events:
                return found
            self.page.wait_for_timeout(25)
        raise AssertionError(f"{len(found)} events, not {events}")


Visiting = Callable[..., Visitor]


@contextmanager
def serving(settings: Settings) -> Iterator[Site]:
    system = compose(settings, open_store(settings))
    app = app_of(system, routers=with_demo(system))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False, proxy_headers=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    key = (settings.data / "demo-key").read_text()
    system.wait_ready()
    with httpx.Client(base_url=address, timeout=30, headers={"Authorization": f"Bearer {key}"}) as api:
        yield Site(system, address, api)
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving(Settings(data=tmp_path_factory.mktemp("data"), demo=True, demo_people=150, log_level="error")) as site:
        yield site


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's, never one that is fetched; a module at a time, because it holds an event loop of this thread."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip(f"no Chromium: {os.environ.get('NO_CHROMIUM', 'not installed')}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield browser
        browser.close()


@pytest.fixture
def visiting(site: Site, browser: Browser) -> Iterator[Visiting]:
    """Open a browser window. At the end, nothing may have gone wrong in it, and no other host may have been asked."""
    opened: list[Visitor] = []

    def visit(site: Site = site, **options: Any) -> Visitor:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce"} | options)
        context.set_default_timeout(10_000)
        visitor = Visitor(site, context, context.new_page())
        opened.append(visitor)

        def heard(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                visitor.wrong.append(f"console: {message.text}")

        def asked(request: Request) -> None:
            if not request.url.startswith(site.address):
                visitor.wrong.append(f"off the host: {request.url}")

        visitor.page.on("console", heard)
        visitor.page.on("pageerror", lambda error: visitor.wrong.append(f"error: {error}"))
        visitor.page.on("dialog", lambda dialog: visitor.wrong.append(f"dialog: {dialog.message}"))
        visitor.page.on("request", asked)
        return visitor

    yield visit
    wrong = [words for visitor in opened for words in visitor.wrong]
    for visitor in opened:
        visitor.context.close()
    assert wrong == []


@pytest.fixture
def visitor(visiting: Visiting) -> Visitor:
    return visiting()
