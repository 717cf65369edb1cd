"""The learner arena: curves grow, and the paper's condition is one click from the honest one."""

from __future__ import annotations

import re
from typing import Any, Literal

import httpx
import pytest
from playwright.sync_api import expect

from .conftest import PHONE, Site, Visiting, Visitor
from .test_access_for_all import check

ASKED: dict[str, Any] = {"learners": ["tk"], "condition": "honest", "noise": 0.2, "seed": 3, "first": 0, "last": 64}


def points(visitor: Visitor, plot: str, learner: str) -> int:
    return int(visitor.page.locator(f"#{plot} .curve.{learner}").get_attribute("data-points") or 0)


def aligned(visitor: Visitor, learner: str) -> float:
    return float(visitor.page.locator(f"[data-learner='{learner}'] td").first.inner_text())


def test_curves_grow_step_by_step_and_by_themselves(visitor: Visitor, site: Site) -> None:
    page = visitor.page
    page.goto(f"{site.address}/lab")
    expect(page.locator("#count")).to_have_text("0 of 640 swipes", timeout=60_000)
    assert points(visitor, "alignment", "probit") == 1
    page.get_by_role("button", name="Step").click()
    expect(page.locator("#count")).to_have_text("32 of 640 swipes")
    assert points(visitor, "alignment", "probit") == 33
    assert points(visitor, "auc", "probit") == 5
    page.get_by_label("Speed").fill("5")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator("#count")).to_have_text("640 of 640 swipes", timeout=60_000)
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect(page.locator("#said")).to_contain_text("The run is over.")
    page.get_by_role("button", name="Reset").click()
    expect(page.locator("#count")).to_have_text("0 of 640 swipes")


def test_paper_and_honest_are_one_click_apart(visitor: Visitor, site: Site) -> None:
    page = visitor.page
    page.goto(f"{site.address}/lab")
    expect(page.locator("#count")).to_have_text("0 of 640 swipes", timeout=60_000)
    for _ in range(6):
        page.get_by_role("button", name="Step").click()
    expect(page.locator("#count")).to_have_text("192 of 640 swipes")
    honest = aligned(visitor, "probit")
    assert honest > aligned(visitor, "all-ones") + 0.03
    likes = page.locator("#swipes-words").inner_text()
    page.get_by_label("Paper’s condition").check()
    expect(page.locator("#swipes-words")).not_to_have_text(likes)
    expect(page.locator("#condition-words")).to_contain_text("As the paper ran it")
    expect(page.locator("#count")).to_have_text("192 of 640 swipes")
    page.get_by_label("Honest condition").check()
    expect(page.locator("#swipes-words")).to_have_text(likes)
    assert aligned(visitor, "probit") == honest  # the same seed is the same run


def test_learners_and_noise_are_chosen_and_keys_suffice(visitor: Visitor, site: Site) -> None:
    page = visitor.page
    page.goto(f"{site.address}/lab")
    expect(page.locator("#count")).to_have_text("0 of 640 swipes", timeout=60_000)
    page.locator("main").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#count")).to_have_text("32 of 640 swipes")
    page.get_by_role("checkbox", name=re.compile("^rocchio")).check()
    expect(page.locator("[data-learner='rocchio']")).to_have_count(1)
    before = page.locator("#numbers").inner_text()
    page.get_by_label("Noise").focus()
    page.keyboard.press("Home")
    expect(page.locator("#noise-now")).to_contain_text("0 %")
    expect(page.locator("#numbers")).not_to_have_text(before)
    page.locator("main").focus()
    page.keyboard.press("r")
    expect(page.locator("#count")).to_have_text("0 of 640 swipes")


def test_the_seed_shown_is_the_seed_used_and_an_absent_service_is_said(visitor: Visitor, site: Site) -> None:
    page = visitor.page
    page.goto(f"{site.address}/lab")
    expect(page.locator("#count")).to_have_text("0 of 640 swipes", timeout=60_000)
    for typed, used in [("-5", "0"), ("", "0"), ("12345", "9999"), ("3.7", "3")]:
        page.get_by_label("Seed").fill(typed)
        page.get_by_label("Seed").blur()
        expect(page.get_by_label("Seed")).to_have_value(used)
    page.route("**/lab/run", lambda route: route.abort())
    page.get_by_label("Paper’s condition").check()
    expect(page.locator("#trouble")).to_contain_text("the service cannot be reached")
    page.unroute("**/lab/run")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#trouble")).to_be_hidden()
    visitor.wrong[:] = [words for words in visitor.wrong if "Failed to load resource" not in words]


def test_the_report_is_linked_once_it_was_made(visitor: Visitor, site: Site) -> None:
    page = visitor.page
    page.goto(f"{site.address}/lab")
    expect(page.locator(".report-line")).to_contain_text("kaczmatch reproduce all --out")
    file = site.system.settings.data / "report" / "report.html"
    file.parent.mkdir()
    file.write_text("<!doctype html><html lang=en><title>Report</title><h1>The paper, reproduced</h1>", encoding="utf-8")
    try:
        page.reload()
        page.get_by_role("link", name=re.compile("the report")).click()
        expect(page.get_by_role("heading")).to_have_text("The paper, reproduced")
    finally:
        file.unlink()
        file.parent.rmdir()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_serious_in_the_lab(visiting: Visiting, site: Site, colours: Literal["light", "dark"]) -> None:
    visitor = visiting(color_scheme=colours)
    visitor.page.goto(f"{site.address}/lab")
    expect(visitor.page.locator("#count")).to_have_text("0 of 640 swipes", timeout=60_000)
    visitor.page.get_by_role("button", name="Step").click()
    expect(visitor.page.locator("#count")).to_have_text("32 of 640 swipes")
    check(visitor.page)


def test_on_a_phone_the_lab_fits_and_can_be_read(visiting: Visiting, site: Site) -> None:
    page = visiting(viewport=PHONE).page
    page.goto(f"{site.address}/lab")
    expect(page.locator("#count")).to_have_text("0 of 640 swipes", timeout=60_000)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.locator("#alignment .name").first.evaluate("text => text.getBoundingClientRect().height") > 11  # readable
    play, plot = page.get_by_role("button", name="Play").bounding_box(), page.locator("#alignment").bounding_box()
    assert play is not None
    assert plot is not None
    assert play["y"] < plot["y"] < PHONE["height"]  # what starts it is not below what it starts


def test_pieces_are_parts_of_one_run_and_bounded(site: Site) -> None:
    whole = site.api.post("/lab/run", json=ASKED).json()
    half = site.api.post("/lab/run", json=ASKED | {"first": 32}).json()
    assert half["curves"]["tk"]["alignment"] == whole["curves"]["tk"]["alignment"][33:]
    assert half["curves"]["tk"]["auc"] == whole["curves"]["tk"]["auc"][5:]
    assert len(site.api.post("/lab/run", json=ASKED | {"last": 640}).json()["liked"]) == 128
    for wrong in ({"learners": ["no"]}, {"noise": 0.9}, {"last": 641}, {"people": 500}, {"learners": []}, {"more": 1}):
        assert site.api.post("/lab/run", json=ASKED | wrong).status_code == 422


def test_every_learner_starts_where_it_starts(site: Site) -> None:
    """All-ones takes no prior: where others begin near the answer, it begins where it stays."""
    answer = site.api.post("/lab/run", json=ASKED | {"learners": ["tk", "all-ones"], "condition": "paper"}).json()
    curves = answer["curves"]
    ones = curves["all-ones"]
    assert len(ones["alignment"]) == ASKED["last"] + 1
    assert len(set(ones["alignment"])) == 1
    assert len({area for _, area in ones["auc"]}) == 1
    assert ones["alignment"][0] != curves["tk"]["alignment"][0]


def test_the_lab_answers_this_machine_and_its_own_pages_alone(site: Site) -> None:
    for headers in ({"X-Forwarded-For": "10.0.0.1"}, {"Sec-Fetch-Site": "cross-site"}):
        assert httpx.get(f"{site.address}/lab", headers=headers).status_code == 403
        assert httpx.post(f"{site.address}/lab/run", json=ASKED, headers=headers).status_code == 403
