"""The swipe page in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from kaczmatch.service.domain.records import EventKind
from kaczmatch.service.operations.picks_job import PicksJob

from .conftest import PHONE, Site, Visiting, Visitor


def decisions(visitor: Visitor, user: str, events: int) -> list[tuple[str, str | None, str | None]]:
    return [(one.kind, one.candidate, one.decision) for one in visitor.settled(user, events)]


def test_a_face_is_chosen_and_found_by_a_search(visitor: Visitor) -> None:
    page = visitor.page
    page.goto(visitor.site.address)
    expect(page.locator(".face-button")).to_have_count(9)
    before = page.locator(".face-button").first.get_attribute("data-id")
    page.get_by_role("button", name="Others").click()
    expect(page.locator(".face-button").first).not_to_have_attribute("data-id", before or "")
    page.get_by_label("Search by name or tag").fill("zzz")
    expect(page.locator("#nobody-found")).to_be_visible()
    page.get_by_label("Search by name or tag").fill("jazz")
    page.locator(".face-button").first.click()
    expect(visitor.card).to_be_visible()
    expect(page.locator("#me-name")).not_to_be_empty()
    page.reload()
    expect(visitor.card).to_be_visible()
    page.get_by_role("button", name="Switch").click()
    expect(page.locator("#choose-title")).to_be_focused()


def test_todays_picks_are_a_row_and_whoever_is_chosen_is_the_next_card(visitor: Visitor, site: Site) -> None:
    user = site.person()
    cards = site.ok("POST", f"/people/{user}/deck")["cards"]
    picked = [card["id"] for card in cards[2:4]]
    PicksJob(site.system.context).publish([(user, [(one, 0.5) for one in picked])], "top")
    page = visitor.be(user).page
    row = page.locator("#picks")
    expect(row.get_by_role("heading", name="Picked for you today")).to_be_visible()
    expect(row.locator(".pick")).to_have_count(2)
    page.locator(f"[data-pick='{picked[1]}']").click()
    expect(visitor.card).to_have_attribute("data-id", picked[1])
    page.keyboard.press("ArrowRight")
    expect(row.locator(".pick")).to_have_count(1)
    assert decisions(visitor, user, 1) == [(EventKind.SWIPED, picked[1], "like")]


def test_keys_decide_take_back_and_skip(visitor: Visitor, site: Site) -> None:
    user = site.person()
    page = visitor.be(user).page
    expected = []
    for key, decision in [("ArrowRight", "like"), ("ArrowLeft", "pass"), ("ArrowDown", "skip"), ("Space", "skip")]:
        card = visitor.first()
        page.keyboard.press(key)
        expect(page.locator(f".card[data-id='{card}'][data-depth='0']:not(.leaving)")).to_have_count(0)
        expected.append((EventKind.SWIPED, card, decision))
        if page.locator("#match[open]").count():
            page.keyboard.press("Escape")
    page.keyboard.press("z")
    expect(visitor.card).to_have_attribute("data-id", expected[3][1])
    assert decisions(visitor, user, 5) == [*expected, (EventKind.UNDONE, None, None)]
    expect(page.locator("#said")).to_contain_text("Taken back")


def test_buttons_decide_take_back_and_skip(visitor: Visitor, site: Site) -> None:
    user = site.person()
    page = visitor.be(user).page
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    first = visitor.first()
    page.get_by_role("button", name="Pass").click()
    expect(page.locator("#said")).to_contain_text("Passed on")
    second = visitor.first()
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("button", name="Undo").click()
    expect(visitor.card).to_have_attribute("data-id", second)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    assert decisions(visitor, user, 3) == [
        (EventKind.SWIPED, first, "pass"),
        (EventKind.SWIPED, second, "skip"),
        (EventKind.UNDONE, None, None),
    ]
    page.get_by_role("button", name="Like").click()  # the card is of use again
    assert decisions(visitor, user, 4)[-1] == (EventKind.SWIPED, second, "like")


def test_a_card_is_dragged_far_or_springs_back(visitor: Visitor, site: Site) -> None:
    user = site.person()
    page = visitor.be(user).page
    decided = []
    for across, decision in [(30, None), (-220, "pass"), (220, "like")]:
        card = visitor.first()
        box = visitor.card.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + 120
        page.mouse.move(x, y)
        page.mouse.down()
        for part in range(1, 9):
            page.mouse.move(x + across * part / 8, y)
            page.wait_for_timeout(25)
        page.mouse.up()
        if decision is None:
            expect(visitor.card).to_have_attribute("data-id", card)
        else:
            decided.append((EventKind.SWIPED, card, decision))
            expect(visitor.card).not_to_have_attribute("data-id", card)
    assert decisions(visitor, user, 2) == decided


def test_a_match_is_a_moment_with_the_focus_in_it(visitor: Visitor, site: Site) -> None:
    one, two = site.couple()
    site.like(two, one)
    page = visitor.be(one).page
    assert visitor.first() == two
    page.keyboard.press("ArrowRight")
    moment = page.get_by_role("dialog", name="It’s a match")
    expect(moment).to_contain_text("You and Bo like each other.")
    expect(moment.get_by_role("button", name="Keep swiping")).to_be_focused()
    page.keyboard.press("Escape")
    expect(moment).to_be_hidden()
    expect(page.locator("#stack")).to_be_focused()
    expect(page.locator("#matched")).to_contain_text("Bo")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()


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


def test_where_nobody_is_left_a_filter_can_be_widened(visitor: Visitor, site: Site) -> None:
    user = site.person(youngest=100, oldest=110)
    page = visitor.be(user).page
    expect(page.locator(".empty")).to_contain_text("Nobody passes the filters")
    expect(page.get_by_role("button", name="Like")).to_be_disabled()
    page.get_by_role("button", name="Widen your ages").click()
    form = page.get_by_role("dialog", name="Your profile")
    expect(form.get_by_label("to age")).to_be_focused()
    form.get_by_label("From age").fill("120")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_contain_text("must not be below the youngest")
    form.get_by_label("From age").fill("18")
    form.get_by_role("button", name="Save").click()
    expect(form).to_be_hidden()
    expect(page.locator(".empty")).to_have_count(0)
    assert visitor.first()


def test_why_somebody_is_shown_is_told_at_length(visitor: Visitor, site: Site) -> None:
    """In one's own swipes."""
    place = {"location": {"latitude": 71.0, "longitude": 20.0}, "within_km": 20}
    user = site.person("Ada", i_look_for=["man"], **place)
    for name in ("Bo", "Cy", "Dan"):
        site.person(name, i_am=["man"], i_look_for=["woman"], tags=["jazz"], **place)
    page = visitor.be(user).page
    ask, told = visitor.card.get_by_role("button", name="Tell me more"), visitor.card.locator(".why-more")
    ask.click()
    expect(told).to_contain_text("so that it can learn")
    visitor.card.get_by_role("button", name="Less").click()
    expect(told).to_be_empty()
    liked = visitor.card.locator("h2 bdi").inner_text()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#moment")).to_have_text("Now, after 1 swipe")
    ask.focus()
    page.keyboard.press("Enter")
    expect(told).to_have_text(f"Mostly because you liked {liked}.")
    page.reload()  # who was met before is not known by name here
    ask.click()
    expect(told).to_have_text("Mostly because you liked 1 person.")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#moment")).to_have_text("Now, after 2 swipes")
    page.reload()
    page.get_by_label("How it grew, swipe by swipe").fill("1")
    expect(page.locator("#moment")).to_have_text("After 1 swipe: you liked somebody")


def test_somebody_new_is_created(visitor: Visitor, site: Site) -> None:
    page = visitor.page
    page.goto(site.address)
    page.get_by_role("button", name="Create somebody new").click()
    form = page.get_by_role("dialog", name="Somebody new")
    expect(form.get_by_label("Name")).to_be_focused()
    form.get_by_label("Name").fill("Nova")
    form.get_by_label("Born").fill("1994-02-03")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_have_text("I am: choose at least one; I look for: choose at least one")
    expect(form.get_by_role("alert")).to_be_in_viewport()  # however far down the form goes
    form.get_by_label("Name").fill("  ")
    form.get_by_role("group", name="I am").get_by_text("woman", exact=True).click()
    form.get_by_role("group", name="I look for").get_by_text("man", exact=True).click()
    for tag in ("jazz", "opera", "poetry"):
        form.get_by_text(tag, exact=True).click()
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_have_text("Name: write one")
    form.get_by_label("Name").fill("Nova")
    form.get_by_role("button", name="Save").click()
    expect(page.locator("#me-name")).to_have_text("Nova")
    expect(visitor.card).to_be_visible()
    user = page.evaluate("() => sessionStorage.getItem('kaczmatch.me')")
    kept = site.ok("GET", f"/people/{user}")
    assert (kept["born"], kept["i_am"], kept["i_look_for"]) == ("1994-02-03", ["woman"], ["man"])
    assert sorted(kept["tags"]) == ["jazz", "opera", "poetry"]
    page.get_by_role("button", name="Switch").click()  # and is not lost
    page.get_by_role("button", name="Nova").click()
    expect(page.locator("#me-name")).to_have_text("Nova")
    expect(visitor.card).to_be_visible()
    page.get_by_role("button", name="Switch").click()
    expect(page.locator(".face-button")).to_have_count(10)
    page.get_by_role("button", name="Others").click()
    expect(page.get_by_role("button", name="Nova")).to_have_count(0)


def test_keys_scroll_what_scrolls(visitor: Visitor, site: Site) -> None:
    """Who goes through their matches by the arrow keys decides on nobody."""
    place = {"location": {"latitude": 72.0, "longitude": 20.0}, "within_km": 20}
    one = site.person("Ada", i_look_for=["man"], **place)
    two = site.person("Bo", i_am=["man"], i_look_for=["woman"], **place)
    site.like(two, one)
    site.like(one, two)
    site.person("Cy", i_am=["man"], i_look_for=["woman"], **place)
    page = visitor.be(one).page
    assert visitor.first()
    page.get_by_role("list", name="People you matched with").focus()
    page.keyboard.press("ArrowRight")
    page.locator("#stack").focus()
    page.keyboard.press("ArrowLeft")
    assert [decision for _, _, decision in decisions(visitor, one, 2)] == ["like", "pass"]


def test_two_windows_of_one_person_agree(visitor: Visitor, site: Site) -> None:
    """A card that was decided on in the other one is not asked about again."""
    user = site.person()
    one, other = visitor.be(user), visitor.context.new_page()
    other.goto(site.address)
    other.evaluate("user => sessionStorage.setItem('kaczmatch.me', user)", user)
    other.reload()
    card = other.locator(".card[data-depth='0']:not(.leaving)")
    expect(card).to_have_attribute("data-id", one.first())
    for swipes in (1, 2, 3):
        one.page.keyboard.press("ArrowLeft")
        expect(one.page.locator("#moment")).to_have_text(f"Now, after {swipes} swipe{'s' * (swipes > 1)}")
    other.keyboard.press("ArrowLeft")
    expect(other.locator("#trouble")).to_contain_text("changed elsewhere")
    expect(card).to_have_attribute("data-id", one.first())
    expect(other.locator("#moment")).to_have_text("Now, after 3 swipes")
    other.get_by_role("button", name="All right").click()
    other.keyboard.press("ArrowLeft")
    expect(other.locator("#moment")).to_have_text("Now, after 4 swipes")
    expect(other.locator("#trouble")).to_be_hidden()


def test_a_name_is_text_wherever_it_is_shown(visitor: Visitor, site: Site) -> None:
    name = "<img src=x onerror=alert(1)><script>alert(2)</script>'\"&amp;"
    one, two = site.couple(name, name)
    site.like(two, one)
    page = visitor.be(one).page
    expect(visitor.card.locator("h2 bdi")).to_have_text(name)
    expect(page.locator("#me-name")).to_have_text(name)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#match-words bdi")).to_have_text(name)
    expect(page.locator("#matched bdi")).to_have_text(name)
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("body script").count() == 0


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
    page.locator("#me-edit").tap()
    expect(page.get_by_role("dialog", name="Your profile")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


def test_learning_shows_within_fifteen_swipes_and_can_be_gone_through(visitor: Visitor, site: Site) -> None:
    fresh = next(one for one in site.ok("GET", "/demo/people?limit=100")["people"] if one["swipes"] == 0)
    page = visitor.be(fresh["id"]).page
    assert visitor.first()
    expect(page.locator("#moment")).to_have_text("Before the first swipe")
    expect(page.locator("#aligned-now")).to_have_text("0.00")
    page.get_by_role("button", name="Let them swipe 15 cards").click()
    expect(page.get_by_role("button", name=re.compile("Stop"))).to_be_visible()
    expect(page.locator("#moment")).to_have_text("Now, after 15 swipes", timeout=30_000)
    assert len([one for one in site.service.events(fresh["id"]) if one.kind == EventKind.SWIPED]) == 15
    assert float(page.locator("#aligned-now").inner_text()) > 0.1
    assert page.locator("#for .weight").count() + page.locator("#against .weight").count() >= 8
    slider = page.get_by_label("How it grew, swipe by swipe")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#moment")).to_contain_text("After 14 swipes: you ")
    page.keyboard.press("Home")
    expect(page.locator("#moment")).to_have_text("Before the first swipe")
    expect(page.locator("#for .weight")).to_have_count(0)
    assert len(site.service.events(fresh["id"])) == 15  # the keys were the slider's
