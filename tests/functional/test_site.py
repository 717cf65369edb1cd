"""The documentation as a site: links lead somewhere, two builds have the same bytes, search works, no other host is asked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from site_pages import ROOT, gather

BUILD = (
    "import sys, mkdocs.config, mkdocs.commands.build\n"
    "config = mkdocs.config.load_config(sys.argv[1], docs_dir=sys.argv[2], site_dir=sys.argv[3], strict=True)\n"
    "mkdocs.commands.build.build(config)"
)
expect.set_options(timeout=30_000)  # a busy machine is not a fault
DOORS = ("I build an app", "I have a swipe log", "I study preference learning")


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The site, built twice."""
    if find_spec("mkdocs") is None:
        pytest.skip("mkdocs-material is missing; make test installs it")
    folder = tmp_path_factory.mktemp("site")
    gather(folder / "pages")
    known = os.environ | {"SOURCE_DATE_EPOCH": "1750000000", "NO_MKDOCS_2_WARNING": "1"}
    both = [folder / name for name in ("one", "two")]
    for site in both:
        command = [sys.executable, "-c", BUILD, str(ROOT / "mkdocs.yml"), str(folder / "pages"), str(site)]
        done = subprocess.run(command, env=known, capture_output=True, text=True, check=False)  # noqa: S603
        assert done.returncode == 0, done.stderr  # strict: a link or an anchor that leads nowhere is an error
    return both


def test_the_site_is_whole_and_reproducible(sites: list[Path]) -> None:
    files = {path.relative_to(sites[0]) for path in sites[0].rglob("*") if path.is_file()}
    assert len(files) > 80
    assert files == {path.relative_to(sites[1]) for path in sites[1].rglob("*") if path.is_file()}
    assert [str(file) for file in sorted(files) if (sites[0] / file).read_bytes() != (sites[1] / file).read_bytes()] == []
    for page in sites[0].rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert re.findall(r'<(?:script|img|iframe)[^>]*src="?(?:https?:)?//', text) == [], page.name
        assert re.findall(r'<link[^>]*rel="?(?:stylesheet|preconnect)[^>]*href="?(?:https?:)?//', text) == [], page.name


@contextmanager
def served(folder: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def chromium() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip(f"no Chromium: {os.environ.get('NO_CHROMIUM', 'not installed')}")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=program, args=["--no-sandbox"] if os.geteuid() == 0 else [])


def search(page: Page) -> None:
    box = page.get_by_role("textbox", name="Search")
    box.click()
    expect(page.get_by_text("Type to start searching")).to_be_attached()  # the index is loaded
    box.press_sequentially("propensity")  # it listens for keys; fill() presses none
    expect(page.locator(".md-search-result__link").first).to_be_visible()


@pytest.mark.browser
def test_the_doors_the_search_and_the_colours_work_without_another_host(sites: list[Path]) -> None:
    with served(sites[0]) as address, chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme="light")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{address}/index.html")
        for door in DOORS:
            expect(page.get_by_role("heading", name=door)).to_be_visible()
            expect(page.locator(".md-tabs").get_by_role("link", name=door)).to_be_visible()
        body = page.locator("body")
        expect(body).to_have_attribute("data-md-color-scheme", "default")
        page.get_by_title("Dark").click()
        expect(body).to_have_attribute("data-md-color-scheme", "slate")
        search(page)
    assert [url for url in asked if not url.startswith(address) and not url.startswith(("data:", "blob:"))] == []


@pytest.mark.browser
def test_a_site_that_was_opened_as_a_file_can_be_searched(sites: list[Path]) -> None:
    with chromium() as browser:
        page = browser.new_page()
        page.goto((sites[0] / "index.html").as_uri())
        search(page)
        page.locator(".md-search-result__link").first.click()
        expect(page.locator("mark").first).to_be_attached()  # what was searched for, on the page that was found


def test_the_generated_pages_say_what_the_code_says(tmp_path: Path) -> None:
    gather(tmp_path)
    python = (tmp_path / "reference" / "python.md").read_text(encoding="utf-8")
    assert "## kaczmatch.replay" in python
    assert "progress: Progress = …" in python
    assert re.findall(r"at 0x\w+|workers=\d+", python) == []  # they would differ from process to process, or by the machine
    assert "create_deck(user: str, *, size: int or None = None) -> Deck" in python
    assert "## kaczmatch.sklearn.SwipeClassifier" in python
    assert "`swipe(" in python
    commands = (tmp_path / "reference" / "cli.md").read_text(encoding="utf-8")
    assert "## kaczmatch keys rotate" in commands
    assert "| <code>--protocol &lt;strict&#124;mature&#124;forward&gt;</code> | Others' decisions:" in commands
    http = (tmp_path / "reference" / "http.md").read_text(encoding="utf-8")
    assert http.index("## Profiles") < http.index("### putProfile") < http.index("## Decks") < http.index("### createDeck\n")
    assert "Returns [Deck](#schema-Deck)." in http
