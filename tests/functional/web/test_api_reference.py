"""The HTTP API as a page of the running service: whole, readable, and from nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
from playwright.sync_api import expect

from .conftest import PHONE, Site, Visiting
from .test_access_for_all import check

DOCUMENT = Path(__file__).parents[3] / "docs" / "openapi.json"
NOWHERE = """() => [...document.querySelectorAll("a[href^='#']")]
    .map(link => decodeURIComponent(link.hash.slice(1))).filter(id => id && !document.getElementById(id))"""


def test_the_reference_has_every_operation_and_asks_no_other_host(visiting: Visiting, site: Site) -> None:
    page = visiting().page  # which fails if another host is asked, or if anything is said in its console
    page.goto(f"{site.address}/docs")
    expect(page.get_by_role("heading", name="createDeck", exact=True)).to_be_visible()
    ways = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"].values()
    ids = {operation["operationId"] for way in ways for operation in way.values()}
    shown = set(page.locator("h2").all_text_contents())
    assert ids - shown == set()
    assert page.evaluate(NOWHERE) == []
    page.locator("#createDeck").get_by_role("link", name="Deck", exact=True).click()
    expect(page.locator("#schema-Deck")).to_be_in_viewport()
    check(page, "main > section:nth-of-type(-n+20)")  # they all look alike


def test_the_reference_fits_a_phone(visiting: Visiting, site: Site) -> None:
    page = visiting(viewport=PHONE).page
    page.goto(f"{site.address}/docs")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_reference_is_served_like_every_page(site: Site) -> None:
    answer = httpx.get(f"{site.address}/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert httpx.get(f"{site.address}/v1/openapi.json").json()["info"]["version"] in answer.text
