"""Pages as they are served: where, with which headers, and nothing inline."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

import kaczmatch
from kaczmatch.app.asgi import app_of
from kaczmatch.app.system import compose
from kaczmatch.settings.model import Settings
from kaczmatch.storage import MemoryStore
from kaczmatch.web.assets import Assets
from kaczmatch.web.pages import Site as Pages
from kaczmatch.web.pages import SitePage

from .conftest import Site

WEB = Path(kaczmatch.__file__).parent / "web"
SOURCES = sorted(path for folder in ("static", "templates") for path in (WEB / folder).rglob("*") if path.is_file())


def test_a_page_has_a_strict_policy_and_is_asked_for_again(site: Site) -> None:
    answer = httpx.get(site.address)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-cache"
    assert httpx.get(site.address, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304


def test_nothing_is_inline(site: Site) -> None:
    page = httpx.get(site.address).text
    assert not re.search(r"\sstyle=|\son[a-z]+=|<style|javascript:", page)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))


def test_files_have_their_type_and_are_kept_for_good(site: Site) -> None:
    names = re.findall(r"/static/[^\"]+", httpx.get(site.address).text)
    types = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"} | {
        ".woff2": "font/woff2",
        ".webmanifest": "application/manifest+json",
    }
    assert {Path(name).suffix for name in names} == set(types)
    for name in names:
        answer = httpx.get(site.address + name)
        assert answer.headers["content-type"] == types[Path(name).suffix]
        assert "immutable" in answer.headers["cache-control"]


def unstarted(folder: Path, *paths: str, demo: bool) -> list[int]:
    """What a service that has not begun to get ready answers."""

    async def ask() -> list[int]:
        transport = httpx.ASGITransport(app_of(compose(Settings(data=folder, demo=demo), MemoryStore())))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return [(await client.get(path)).status_code for path in paths]

    with ThreadPoolExecutor(1) as beside:  # a browser holds the loop of this thread
        return beside.submit(asyncio.run, ask()).result()


def test_without_the_demo_there_is_the_console_alone(tmp_path: Path) -> None:
    assert unstarted(tmp_path, "/", "/lab", "/console", demo=False) == [404, 404, 200]


def test_a_page_is_there_before_the_service_is_ready(tmp_path: Path) -> None:
    assert unstarted(tmp_path, "/", "/v1/vocabulary", demo=True) == [200, 503]


def test_an_address_that_is_none_is_a_page_for_browsers_and_a_problem_for_programs(site: Site) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    page = httpx.get(f"{site.address}/nowhere", headers=browser)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no such page" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for answer in (httpx.get(f"{site.address}/nowhere"), httpx.get(f"{site.address}/v1/nowhere", headers=browser)):
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_the_demo_can_be_installed(site: Site) -> None:
    (address,) = re.findall(r'<link rel="manifest" href="([^"]+)"', httpx.get(site.address).text)
    manifest = httpx.get(site.address + address)
    assert manifest.headers["content-type"] == "application/manifest+json"
    told = manifest.json()
    assert (told["start_url"], told["display"]) == ("/", "standalone")
    for icon in told["icons"]:
        found = httpx.get(str(httpx.URL(site.address + address).join(icon["src"])))
        assert (found.status_code, found.headers["content-type"]) == (200, icon["type"])


@pytest.mark.parametrize("path", ["/static/old/js/api.js", "/static/../pages.py", "/static/%2e%2e/pages.py"])
def test_no_other_file_is_served(site: Site, path: str) -> None:
    assert httpx.get(site.address + path).status_code == 404


def test_a_changed_file_has_another_address() -> None:
    one, two = (Assets.of({"a.js": content, "b.js": b""}) for content in (b"1", b"2"))
    assert one.address("b.js") != two.address("b.js")


def test_text_in_a_template_is_escaped() -> None:
    assert "<b>" not in Pages([]).render(SitePage("/x", "swipe.html.j2", "<b>"))


@pytest.mark.parametrize(
    ("path", "title", "logged_in"),
    [
        ("/", "Swipe", False),
        ("/lab", "Lab", False),  # with its market
        ("/console", "Console: log in", False),
        ("/console", "Console", True),  # with all of its tabs
        ("/docs", "HTTP API", False),
        ("/nowhere", "Not found", False),
    ],
)
def test_a_page_is_small_with_all_that_it_loads(site: Site, path: str, title: str, logged_in: bool) -> None:
    """Before the figures that its charts show."""
    with httpx.Client(base_url=site.address) as client:
        if logged_in:
            client.post("/console/login", data={"key": (site.system.settings.data / "demo-key").read_text()})
        page = client.get(path, headers={"Accept": "text/html"})
        assert f"<title>{title} · kaczmatch</title>" in page.text
        waiting = {httpx.URL(name) for name in re.findall(r"/static/[^\"]+", page.text)}
        loaded: dict[httpx.URL, int] = {}
        while waiting:
            answer = client.get(address := waiting.pop()).raise_for_status()
            loaded[address] = len(answer.content)
            imported = re.findall(r'(?:from |import\()"(\.[^"]+)"', answer.text) if address.path.endswith(".js") else []
            waiting |= {address.join(name) for name in imported} - set(loaded)
    assert len(loaded) > 5
    assert len(page.content) + sum(loaded.values()) < 150_000


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_source_is_short_and_makes_no_markup_of_text(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 300
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|https?://(?!www\.w3\.org)", text)
