"""The swipe screen of the documentation, as it stands there: a browser swipes with it, to a match."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from .conftest import Site, Visiting

PAGE = Path(__file__).parents[3] / "docs" / "swipe-screen.md"


def test_the_swipe_screen_of_the_page_makes_a_match(visiting: Visiting, site: Site) -> None:
    html = re.findall(r"^```html\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[0]
    one, two = site.couple("<b>Ada</b>", "<b>Bo</b>")
    site.like(two, one)
    token = site.ok("POST", "/tokens", json={"user": one})["token"]
    page = visiting().page
    page.route("**/my-app", lambda route: route.fulfill(body=html, content_type="text/html"))
    handed = {"url": site.address, "user": one, "token": token}
    page.route("**/my-back-end/kaczmatch-token", lambda route: route.fulfill(json=handed))
    page.goto(f"{site.address}/my-app")
    expect(page.get_by_role("heading")).to_have_text("<b>Bo</b>")
    page.get_by_role("button", name="Like").click()
    expect(page.get_by_role("status")).to_have_text("You and <b>Bo</b> like each other!")
