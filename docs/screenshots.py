"""Pictures of the pages, for the README and the documentation: `python docs/screenshots.py [folder [picture...]]`.

With `--every folder`: each page, on a desk and on a phone, light and dark.

A demo of its own is started on a free port and looked at with Debian's Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import httpx
import uvicorn
from playwright.sync_api import Browser, Page, expect, sync_playwright

from kaczmatch.app.asgi import create_app
from kaczmatch.app.logs import set_up_logs
from kaczmatch.settings.model import Settings

SITE = Path(__file__).parents[1] / "site"
PICTURES = Path(__file__).parent / "pictures"
DESK = {"viewport": {"width": 1280, "height": 800}}
WIDE = {"viewport": {"width": 1280, "height": 820}}  # where a site shows its tabs
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 1.5, "is_mobile": True, "has_touch": True}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SWIPED = 45
_BUSY: set[str] = set()  # demos that were made busy


class Demo(NamedTuple):
    """A running one, a key with which anything may be asked of it, and a way not to wait for the next minute's figures."""

    address: str
    key: str
    note: Callable[[], object]


@contextmanager
def demo(people: int = 1_000) -> Iterator[Demo]:
    with tempfile.TemporaryDirectory() as folder:
        set_up_logs("error")
        app = create_app(Settings(data=Path(folder), demo=True, demo_people=people))
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            app.state.system.wait_ready()
            address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
            note = next(job for _, name, job in app.state.system.jobs if name == "requests")
            yield Demo(address, (Path(folder) / "demo-key").read_text(), note)
        finally:
            server.should_exit = True
            thread.join()


def choosing(page: Page, demo: Demo) -> None:
    page.goto(demo.address)
    expect(page.locator(".face-button")).to_have_count(8)
    expect(page.locator("#start-tags .choice").first).to_be_visible()


def tell_about_oneself(page: Page) -> None:
    start = page.get_by_role("form", name="First: you")
    for tag in ("jazz", "chess", "cooking"):
        start.get_by_text(tag, exact=True).click()
    start.get_by_role("group", name="I am").get_by_text("woman", exact=True).click()
    start.get_by_label("Name").fill("Nova")


def starting(page: Page, demo: Demo) -> None:
    """Oneself, filled in."""
    choosing(page, demo)
    tell_about_oneself(page)


def playing(page: Page, demo: Demo) -> None:
    """Oneself, before the first swipe."""
    starting(page, demo)
    page.get_by_role("button", name="Start swiping").click()
    expect(page.locator(".card[data-depth='0']")).to_be_visible()
    page.wait_for_timeout(500)


def playing_on(page: Page, demo: Demo) -> None:
    """Oneself, after some swipes by a taste for jazz and cooking; the first match was closed."""
    playing(page, demo)
    card, moment = page.locator(".card[data-depth='0']:not(.leaving)"), page.locator("#moment")
    for swipes in range(1, 25):
        told = card.inner_text()
        while f"after {swipes} swipe" not in (moment.text_content() or ""):
            if page.locator("#match[open]").count():  # somebody may answer at any time
                page.keyboard.press("Escape")
            if card.inner_text() == told:
                page.keyboard.press("ArrowRight" if any(tag in told for tag in ("jazz", "cooking", "wine")) else "ArrowLeft")
            page.wait_for_timeout(300)
    page.wait_for_timeout(800)


def opening_the_strip(page: Page, demo: Demo) -> None:
    playing_on(page, demo)
    if page.locator("#strip").is_visible():
        page.locator("#strip").click()
    page.wait_for_timeout(500)


def editing(page: Page, demo: Demo) -> None:
    playing(page, demo)
    page.locator("#me-edit").click()
    expect(page.get_by_role("dialog", name="Your profile")).to_be_visible()
    page.wait_for_timeout(300)


def empty(page: Page, demo: Demo) -> None:
    """Nobody fits: what to widen."""
    editing(page, demo)
    page.get_by_label("From age").fill("98")
    page.get_by_label("to age").fill("99")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".empty")).to_be_visible()
    page.wait_for_timeout(300)


def opening(page: Page, demo: Demo, path: str) -> None:
    page.goto(f"{demo.address}{path}")


def swiping(page: Page, demo: Demo) -> None:
    """Somebody who has been at it for a while, by their own taste."""
    choosing(page, demo)
    page.get_by_role("button", name="has not swiped yet").first.click()
    for swipes in range(15, SWIPED + 1, 15):
        page.get_by_role("button", name="Let them swipe").click()
        expect(page.locator("#moment")).to_have_text(f"Now, after {swipes} swipes", timeout=60_000)
    page.mouse.move(0, 0)
    page.wait_for_timeout(800)


def matching(page: Page, demo: Demo) -> None:
    """Like everybody until somebody likes one back: the first match of somebody new."""
    playing(page, demo)
    while not page.locator("#match[open]").count():
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(700)
    page.wait_for_timeout(1_500)


def asking(page: Page, demo: Demo) -> None:
    """Why somebody is shown, after some swipes."""
    choosing(page, demo)
    page.get_by_role("button", name="has not swiped yet").nth(1).click()
    page.get_by_role("button", name="Let them swipe").click()
    expect(page.locator("#moment")).to_have_text("Now, after 15 swipes", timeout=60_000)
    page.keyboard.press("Escape")  # on a phone, what was learned covers the card
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(800)
    page.locator(".card[data-depth='0']").get_by_role("button", name="Tell me more").click()
    expect(page.locator(".why-more").first).not_to_be_empty()
    page.wait_for_timeout(500)


def racing(page: Page, demo: Demo, condition: str = "Honest") -> None:
    """Learners side by side, near the end of a run."""
    page.goto(f"{demo.address}/lab")
    page.get_by_label(f"{condition} condition").check()
    page.get_by_label("Speed").fill("5")
    expect(page.locator("#count")).to_have_text("640 of 640 swipes", timeout=60_000)


def racing_as_the_paper(page: Page, demo: Demo) -> None:
    racing(page, demo, "Paper’s")


def projecting(page: Page, demo: Demo) -> None:
    """A point between three lines, after some damped projections."""
    page.goto(f"{demo.address}/lab")
    page.get_by_role("radio", name="Damped").check()
    for _ in range(7):
        page.get_by_role("button", name="Project", exact=True).click()
    page.locator(".kaczmarz").scroll_into_view_if_needed()
    page.locator(".kaczmarz").evaluate("panel => scrollTo(0, panel.getBoundingClientRect().top + scrollY - 8)")


def operating(page: Page, demo: Demo, tab: str = "health") -> None:
    """An operator's morning: people swipe, and some have complained."""
    busy(demo)
    page.goto(f"{demo.address}/console?tab={tab}")
    page.get_by_label("Service key").fill(demo.key)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#fresh")).to_contain_text("As of", timeout=60_000)
    page.goto(f"{demo.address}/console?tab={tab}")
    expect(page.locator("#fresh")).to_contain_text("As of", timeout=60_000)
    page.wait_for_timeout(500)


def looking(page: Page, demo: Demo) -> None:
    operating(page, demo, "reports-tab")
    page.get_by_role("button", name="Timeline").first.click()
    expect(page.locator("#entries tr").first).to_be_visible()


def trading(page: Page, demo: Demo) -> None:
    """Policies side by side in one town."""
    page.goto(f"{demo.address}/lab?tab=market")
    expect(page.locator("#market-numbers tr")).to_have_count(4, timeout=120_000)


def door(page: Page, _: Demo, name: str) -> None:
    """A door of the documentation: `make docs` builds the site first."""
    page.goto((SITE / name).as_uri())
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.wait_for_timeout(300)


def busy(demo: Demo) -> None:
    """Some swipes, so that there is something to see."""
    if demo.address in _BUSY:
        return
    _BUSY.add(demo.address)
    with httpx.Client(base_url=f"{demo.address}/v1", headers={"Authorization": f"Bearer {demo.key}"}, timeout=30) as api:
        people = api.get("/demo/people?limit=40").json()["people"]
        for number, person in enumerate(people):
            user = person["id"]
            deck = api.post(f"/people/{user}/deck").json()
            for place, card in enumerate(deck["cards"][:12]):
                decision = "like" if (place + number) % 3 == 0 else "pass"
                body = {"candidate": card["id"], "decision": decision, "deck": deck["id"]}
                api.put(f"/people/{user}/swipes/{deck['id']}-{place}", json=body)
    demo.note()


SCENES: dict[str, tuple[Callable[[Page, Demo], None], dict[str, Any]]] = {
    "choose": (choosing, DESK),
    "swipe": (swiping, DESK),
    "swipe-dark": (swiping, DESK | {"color_scheme": "dark"}),
    "create": (starting, DESK),
    "you": (playing_on, DESK),
    "learned-phone": (opening_the_strip, PHONE),
    "match-phone": (matching, PHONE),
    "why-phone": (asking, PHONE),
    "lab": (racing, {"viewport": {"width": 1180, "height": 1010}}),
    "lab-paper": (racing_as_the_paper, {"viewport": {"width": 1180, "height": 1010}, "color_scheme": "dark"}),
    "lab-market": (trading, {"viewport": {"width": 1180, "height": 1010}, "reduced_motion": "reduce"}),
    "projections": (projecting, {"viewport": {"width": 1180, "height": 680}, "reduced_motion": "reduce"}),
    "console": (operating, {"viewport": {"width": 1180, "height": 1500}}),
    "door-app": (partial(door, name="service.html"), WIDE),
    "door-log": (partial(door, name="evaluate.html"), WIDE | {"color_scheme": "dark"}),
    "door-study": (partial(door, name="paper.html"), WIDE),
    "console-dark": (looking, {"viewport": {"width": 1180, "height": 900}, "color_scheme": "dark"}),
}


EVERY: dict[str, Callable[[Page, Demo], None]] = {
    "choose": choosing,
    "start": starting,
    "first": playing,
    "swiped": playing_on,
    "learned": opening_the_strip,
    "invented": swiping,
    "match": matching,
    "why": asking,
    "profile": editing,
    "empty": empty,
    "lab": racing,
    "lab-market": trading,
    "api": partial(opening, path="/docs"),
    "login": partial(opening, path="/console"),
    "not-found": partial(opening, path="/nowhere"),
    **{f"console-{tab}": partial(operating, tab=tab) for tab in ("health", "reports-tab", "people", "matching", "research")},
}


def take_every(browser: Browser, demo: Demo, folder: Path) -> None:
    """Each page as a whole: on a desk and on a phone, light and dark."""
    sizes = {"desk": {"viewport": {"width": 1280, "height": 800}}, "phone": PHONE | {"device_scale_factor": 1}}
    for (name, scene), (size, options) in product(EVERY.items(), sizes.items()):
        context = browser.new_context(**options)
        page = context.new_page()
        scene(page, demo)
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            page.wait_for_timeout(300)  # until colours have changed
            page.screenshot(path=folder / f"{name}-{size}-{theme}.png", full_page=True)
        context.close()


def take(browser: Browser, demo: Demo, folder: Path, name: str) -> Path:
    scene, options = SCENES[name]
    context = browser.new_context(**{"color_scheme": "light"} | options)
    context.set_default_timeout(60_000)
    page = context.new_page()
    scene(page, demo)
    path = folder / f"{name}.png"
    page.screenshot(path=path)
    context.close()
    return path


def chromium() -> str:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        sys.exit("Chromium is needed: apt-get install chromium")
    return program


def main(folder: Path = PICTURES, *names: str, every: bool = False) -> None:
    """All, or some by name; or `every` page."""
    folder.mkdir(exist_ok=True)
    with demo() as running, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        if every:
            take_every(browser, running, folder)
        for name in () if every else names or SCENES:
            path = take(browser, running, folder, name)
            print(f"{path.name}: {path.stat().st_size / 1024:.0f} KB")
        browser.close()


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if argument != "--every"]
    main(*map(Path, given[:1]), *given[1:], every="--every" in sys.argv)
