"""The page on a phone."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from .conftest import PHONE, Site, Visiting


def test_somebody_of_many_tags_has_a_card_to_scroll(visiting: Visiting, site: Site) -> None:
    visitor = visiting(viewport={"width": 320, "height": 640})
    place = {"location": {"latitude": 73.0, "longitude": 20.0}, "within_km": 20}
    names = [term["name"] for term in site.ok("GET", "/vocabulary")["terms"]]
    one = site.person("Ada", i_look_for=["man"], **place)
    two = site.person("Bo", i_am=["man"], i_look_for=["woman"], tags=names, **place)
    page = visitor.be(one).page
    assert visitor.first() == two
    last = visitor.card.locator(".tag").last
    expect(last).not_to_be_in_viewport()
    visitor.card.locator(".tag").first.hover()
    page.mouse.wheel(0, 3_000)
    expect(last).to_be_in_viewport()


def test_on_a_phone_nothing_is_cut_off(visiting: Visiting, site: Site) -> None:
    visitor = visiting(viewport=PHONE, has_touch=True, is_mobile=True)
    page = visitor.be(site.person("Wolfeschlegelsteinhausenbergerdorff" * 2)).page
    first = visitor.first()
    for name in ("Undo", "Pass", "Like", "Skip"):
        box = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= PHONE["height"]
        assert min(box["width"], box["height"]) >= 44
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("button", name="Pass").tap()
    expect(visitor.card).not_to_have_attribute("data-id", first)
    assert page.evaluate("() => document.documentElement.scrollHeight") <= PHONE["height"] + 1  # nothing is below the fold
    page.locator("#me-edit").tap()
    expect(page.get_by_role("dialog", name="Your profile")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


def test_on_its_side_a_phone_has_all_buttons_in_sight(visiting: Visiting, site: Site) -> None:
    visitor = visiting(viewport={"width": 667, "height": 375}, has_touch=True, is_mobile=True)
    page = visitor.be(site.person()).page
    assert visitor.first()
    for name in ("Undo", "Pass", "Like", "Skip", "Matches"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)
    expect(visitor.card.get_by_role("button", name="Tell me more")).to_be_in_viewport(ratio=1)
    assert page.evaluate("() => document.documentElement.scrollHeight") <= 376
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 667


def test_on_a_phone_one_line_tells_what_was_learned_and_opens_the_rest(visiting: Visiting, site: Site) -> None:
    visitor = visiting(viewport=PHONE, has_touch=True, is_mobile=True)
    page = visitor.be(site.person()).page
    assert visitor.first()
    strip, panel = page.locator("#strip"), page.locator("#learned")
    expect(strip).to_contain_text("Here you see what it learns")
    expect(panel).to_be_hidden()
    said = set()
    for swipes in (1, 2, 3):
        page.get_by_role("button", name="Pass", exact=True).tap()
        expect(page.locator("#moment")).to_contain_text(f"after {swipes} swipe")
        expect(strip).to_have_text(re.compile(r"(More|Less): .+ of 48 clear"))
        assert strip.locator("#strip-words").evaluate("words => words.scrollWidth <= words.clientWidth")  # nothing is cut off
        said.add(strip.locator("#strip-bar").evaluate("bar => bar.style.getPropertyValue('--share')"))
    assert len(said) == 3  # it moves with every swipe
    strip.tap()
    expect(panel).to_be_in_viewport()
    expect(panel.locator("#sentences")).to_contain_text("It ")
    page.go_back()  # the back button closes it
    expect(panel).to_be_hidden()
    assert visitor.first()
    matches = page.get_by_role("button", name="Matches")
    box = matches.bounding_box()
    assert box is not None
    assert box["y"] > PHONE["height"] / 2  # in reach of a thumb
    matches.tap()
    expect(page.locator("#people")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator("#people")).to_be_hidden()
    expect(matches).to_be_focused()


def test_on_a_phone_an_invented_person_begins_with_the_goal(visiting: Visiting, site: Site) -> None:
    visitor = visiting(viewport=PHONE, has_touch=True, is_mobile=True)
    page = visitor.page
    page.goto(site.address)
    page.locator(".face-button").first.tap()
    expect(page.get_by_role("button", name="Let them swipe 15 cards")).to_be_in_viewport()
    expect(page.locator("#secret-likes")).not_to_be_empty()
    page.go_back()  # closes it
    expect(page.locator("#learned")).to_be_hidden()
    assert visitor.first()
