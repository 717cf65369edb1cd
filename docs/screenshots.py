"""Pictures of the pages, for the README and the documentation: `python docs/screenshots.py [folder]`.

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
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Browser, Page, expect, sync_playwright

from kaczmatch.app.asgi import create_app
from kaczmatch.app.logs import set_up_logs
from kaczmatch.settings.model import Settings

PICTURES = Path(__file__).parent / "pictures"
DESK = {"viewport": {"width": 1180, "height": 820}}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 1.5, "is_mobile": True, "has_touch": True}
SWIPED = 45


@contextmanager
def demo() -> Iterator[str]:
    """The address of a running one."""
    with tempfile.TemporaryDirectory() as folder:
        set_up_logs("error")
        app = create_app(Settings(data=Path(folder), demo=True, demo_people=1_000))
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        app.state.system.wait_ready()
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        server.should_exit = True
        thread.join()


def choosing(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator(".face-button")).to_have_count(9)


def swiping(page: Page, address: str) -> None:
    """Somebody who has been at it for a while, by their own taste."""
    choosing(page, address)
    page.get_by_role("button", name="has not swiped yet").first.click()
    for swipes in range(15, SWIPED + 1, 15):
        page.get_by_role("button", name="Let them swipe").click()
        expect(page.locator("#moment")).to_have_text(f"Now, after {swipes} swipes", timeout=60_000)
    page.get_by_role("heading", name="What it has learned").click()
    page.wait_for_timeout(800)


def matching(page: Page, address: str) -> None:
    """Like everybody until somebody likes one back."""
    choosing(page, address)
    page.locator(".face-button").nth(3).click()
    expect(page.locator(".card[data-depth='0']")).to_be_visible()
    while not page.locator("#match[open]").count():
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(700)
    page.wait_for_timeout(1_500)


def creating(page: Page, address: str) -> None:
    choosing(page, address)
    page.get_by_role("button", name="Create somebody new").click()
    form = page.get_by_role("dialog", name="Somebody new")
    form.get_by_label("Name").fill("Nova")
    form.get_by_label("Born").fill("1994-02-03")
    form.get_by_role("group", name="I am").get_by_text("woman", exact=True).click()
    for kind in ("man", "woman"):
        form.get_by_role("group", name="I look for").get_by_text(kind, exact=True).click()
    for tag in ("jazz", "cooking", "cinema", "hiking"):
        form.get_by_text(tag, exact=True).click()


SCENES: dict[str, tuple[Callable[[Page, str], None], dict[str, Any]]] = {
    "choose": (choosing, DESK),
    "swipe": (swiping, DESK),
    "swipe-dark": (swiping, DESK | {"color_scheme": "dark"}),
    "create": (creating, {"viewport": {"width": 760, "height": 800}}),
    "match-phone": (matching, PHONE),
}


def take(browser: Browser, address: str, folder: Path, name: str) -> Path:
    scene, options = SCENES[name]
    context = browser.new_context(**{"color_scheme": "light"} | options)
    page = context.new_page()
    scene(page, address)
    path = folder / f"{name}.png"
    page.screenshot(path=path)
    context.close()
    return path


def main(folder: Path = PICTURES) -> None:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        sys.exit("Chromium is needed: apt-get install chromium")
    folder.mkdir(exist_ok=True)
    with demo() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name in SCENES:
            path = take(browser, address, folder, name)
            print(f"{path.name}: {path.stat().st_size / 1024:.0f} KB")
        browser.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
