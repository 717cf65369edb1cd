"""Pages for everybody: axe finds nothing serious, in light and dark."""

from __future__ import annotations

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from .conftest import Site, Visiting, Visitor

COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}  # the rules of axe that are about colours


def check(page: Page, again: str = "html") -> None:
    """All rules in light. In dark the page is the same but for its colours, so only they are looked at `again`."""
    found = Axe().run(page).response["violations"]
    page.emulate_media(color_scheme="dark")
    found += Axe().run(page, again, COLOURS).response["violations"]
    page.emulate_media(color_scheme="light")
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    told = [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in serious]
    assert not serious, json.dumps(told, indent=1)


def test_axe_finds_nothing_serious(visitor: Visitor, site: Site) -> None:
    page = visitor.page
    page.goto(site.address)
    expect(page.locator(".face-button")).to_have_count(8)
    expect(page.locator("#start-tags .choice").first).to_be_visible()
    check(page)
    one, two = site.couple()
    site.like(two, one)
    page.evaluate("user => sessionStorage.setItem('kaczmatch.me', user)", one)
    page.reload()
    assert visitor.first() == two
    check(page)
    page.locator("#me-edit").click()
    expect(page.get_by_role("dialog", name="Your profile")).to_be_visible()
    check(page)
    page.get_by_role("button", name="Cancel").click()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("dialog", name="It’s a match")).to_be_visible()
    check(page)
    page.keyboard.press("Escape")
    expect(page.locator("#moment")).to_have_text("Now, after 1 swipe")
    check(page)
    page.set_viewport_size({"width": 390, "height": 844})
    for button in ("#strip", "#people-open"):
        page.locator(button).click()
        check(page)
        page.keyboard.press("Escape")
    page.goto(f"{site.address}/nowhere")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    check(page)
    visitor.wrong[:] = [words for words in visitor.wrong if "404" not in words]


def test_colours_can_be_chosen_and_are_kept(visiting: Visiting, site: Site) -> None:
    visitor = visiting(color_scheme="light")
    page = visitor.page
    page.goto(site.address)
    body, light = page.locator("body"), "rgb(250, 246, 240)"
    expect(body).to_have_css("background-color", light)
    page.get_by_role("button", name="Colours").click()
    page.get_by_role("button", name="Colours: light").click()
    expect(body).not_to_have_css("background-color", light)
    page.reload()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    moves = "button => getComputedStyle(button).transitionDuration"
    assert page.locator("#theme").evaluate(moves) == "0s"  # the system asks for less motion
    page.emulate_media(reduced_motion="no-preference")
    assert page.locator("#theme").evaluate(moves) != "0s"
    expect(body).not_to_have_css("background-color", light)


@pytest.mark.parametrize("width", [320, 590])
def test_a_narrow_or_enlarged_page_hides_nothing(visiting: Visiting, site: Site, width: int) -> None:
    """590 pixels are a window of 1,180 at twice the size."""
    visitor = visiting(viewport={"width": width, "height": 640})
    page = visitor.be(site.person()).page
    assert visitor.first()
    name, ask = page.locator("#me-name").bounding_box(), visitor.card.get_by_role("button", name="Tell me more").bounding_box()
    title = visitor.card.locator(".why-title").bounding_box()
    assert name
    assert ask
    assert title
    assert name["width"] > 20  # not squeezed to nothing, nor cut short
    assert page.locator("#me-name").evaluate("one => one.scrollWidth <= one.clientWidth")
    assert ask["y"] < title["y"] + title["height"]  # beside it, not below
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_the_keyboard_goes_through_a_profile_in_sight(visiting: Visiting, site: Site) -> None:
    """What has the focus is neither above the dialog's edge nor behind its buttons."""
    visitor = visiting(viewport={"width": 390, "height": 640})
    page = visitor.be(site.person()).page
    assert visitor.first()
    page.locator("#me-edit").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Your profile")).to_be_visible()
    hidden, passed = [], set()
    for _ in range(80):
        told = page.evaluate(
            """() => {
              const one = document.activeElement, seen = (one.closest(".choice") ?? one).getBoundingClientRect();
              const edge = document.getElementById("profile").getBoundingClientRect();
              const ends = document.querySelector(".profile-ends");
              const free = ends.contains(one) || (seen.top >= edge.top && seen.bottom <= ends.getBoundingClientRect().top + 1);
              return [`${one.name}${one.value}${one.id}`, free];
            }"""
        )
        passed.add(told[0])
        if not told[1]:
            hidden.append(told[0])
        if "profile-save" in told[0]:
            break
        page.keyboard.press("Tab")
    assert {"profile-cancel", "profile-save"} <= passed
    assert len(passed) > 50
    assert hidden == []
