"""Matches on the page: the first is a moment, later ones are a toast, and none covers a form."""

from __future__ import annotations

from playwright.sync_api import Route, expect

from .conftest import Site, Visitor


def test_the_first_match_is_a_moment_with_what_both_share_and_the_next_step(visitor: Visitor, site: Site) -> None:
    one, two = site.couple()
    site.like(two, one)
    page = visitor.be(one).page
    assert visitor.first() == two
    page.keyboard.press("ArrowRight")
    moment = page.get_by_role("dialog", name="It’s a match")
    expect(moment).to_contain_text("You and Bo like each other.")
    expect(moment).to_contain_text("You share jazz and chess.")
    expect(moment.get_by_role("button", name="Keep swiping")).to_be_focused()
    moment.get_by_role("button", name="Say hello").click()
    expect(moment).to_contain_text("You said hello.")
    expect(moment.get_by_role("button", name="Say hello")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(moment).to_be_hidden()
    expect(page.locator("#stack")).to_be_focused()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    assert site.ok("GET", f"/people/{one}/matches")["items"][0]["outcomes"] == ["message"]
    page.locator("#matched").get_by_role("button", name="Bo").click()  # and can be looked at again
    expect(page.get_by_role("dialog", name="Your match")).to_contain_text("You said hello.")


def test_no_match_covers_a_form_and_later_ones_are_a_toast(visitor: Visitor, site: Site) -> None:
    place = {"location": {"latitude": 74.0, "longitude": 20.0}, "within_km": 20}
    one = site.person("Ada", i_look_for=["man"], **place)
    for name in ("Bo", "Cy"):
        site.like(site.person(name, i_am=["man"], i_look_for=["woman"], **place), one)
    page = visitor.be(one).page
    held: list[Route] = []

    def hold(route: Route) -> None:
        """The first; later ones pass."""
        held.append(route)
        if len(held) > 1:
            route.continue_()

    page.route("**/swipes/**", hold)
    assert visitor.first()
    page.keyboard.press("ArrowRight")
    page.locator("#me-edit").click()
    form = page.get_by_role("dialog", name="Your profile")
    form.get_by_label("Name").fill("Ada L")
    held[0].continue_()
    expect(page.locator("#matches-count")).to_have_text("1")
    expect(page.locator("#match")).to_be_hidden()  # it waits for the form
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="It’s a match")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("#me-edit").click()
    expect(form.get_by_label("Name")).to_have_value("Ada L")  # as it was left
    form.get_by_role("button", name="Cancel").click()
    page.locator("#me-edit").click()
    expect(form.get_by_label("Name")).to_have_value("Ada")
    form.get_by_role("button", name="Cancel").click()
    assert visitor.first()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#toast")).to_contain_text("like each other.")
    expect(page.locator("#match")).to_be_hidden()
    page.locator("#toast").get_by_role("button", name="Look").click()
    expect(page.get_by_role("dialog", name="Your match")).to_contain_text("You share jazz and chess.")


def test_a_match_that_is_told_after_leaving_covers_no_form(visitor: Visitor, site: Site) -> None:
    one, two = site.couple()
    site.like(two, one)
    page = visitor.be(one).page
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/swipes/**", hold)
    assert visitor.first() == two
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Switch").click()
    expect(page.locator("#start-tags .choice").first).to_be_visible()
    with page.expect_response("**/swipes/**"):
        held[0].continue_()
    page.wait_for_timeout(300)
    expect(page.locator("#match")).to_be_hidden()
    page.go_back()
    expect(page.locator("#matched bdi")).to_have_text("Bo")  # it is not lost


def test_somebody_who_answers_later_is_a_match_too(visitor: Visitor, site: Site) -> None:
    one, two = site.couple()
    page = visitor.be(one).page
    assert visitor.first() == two
    page.keyboard.press("ArrowRight")
    visitor.settled(one, 1)
    assert site.like(two, one)
    expect(page.get_by_role("dialog", name="It’s a match")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
