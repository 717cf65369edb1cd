"""A real service with a small demo population, and a real Chromium that looks at it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, expect, sync_playwright

from kaczmatch.app.system import System
from kaczmatch.service.domain.records import Event
from kaczmatch.settings.model import Settings
from worlds.served import NUMBERS, Service, serving

expect.set_options(timeout=30_000)  # a busy machine is not a fault
PHONE = {"width": 360, "height": 740}


@dataclass
class Site:
    """The running service, and how to put people into it."""

    service: Service
    api: httpx.Client

    @property
    def system(self) -> System:
        return self.service.system

    @property
    def address(self) -> str:
        return self.service.address

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
        self.system.serving_index.follow()
        return user

    def couple(self, one: str = "Ada", two: str = "Bo") -> tuple[str, str]:
        """Two people far from everybody else."""
        number = next(NUMBERS)
        place = {"location": {"latitude": -40.0 + number % 60, "longitude": -100.0}, "within_km": 20}
        first = self.person(one, i_look_for=["man"], **place)
        return first, self.person(two, i_am=["man"], i_look_for=["woman"], **place)

    def like(self, user: str, other: str) -> str | None:
        deck = self.ok("POST", f"/people/{user}/deck")["id"]
        body = {"candidate": other, "decision": "like", "deck": deck}
        match: str | None = self.ok("PUT", f"/people/{user}/swipes/liked", json=body)["match"]
        return match


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
            found = self.site.service.events(user)
            if len(found) >= events:
                return found
            self.page.wait_for_timeout(25)
        raise AssertionError(f"{len(found)} events, not {events}")


Visiting = Callable[..., Visitor]


@contextmanager
def visited(settings: Settings) -> Iterator[Site]:
    """A running service, called with the key that the demo's pages have."""
    with serving(settings) as service:
        key = (settings.data / "demo-key").read_text()
        with httpx.Client(base_url=service.address, timeout=30, headers={"Authorization": f"Bearer {key}"}) as api:
            yield Site(service, api)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with visited(Settings(data=tmp_path_factory.mktemp("data"), demo=True, demo_people=150, log_level="error")) as site:
        yield site


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Debian's, never one that is fetched. It holds an event loop of this thread, so it ends with this folder."""
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
        context.set_default_timeout(30_000)
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
