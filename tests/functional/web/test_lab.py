"""The learner arena: curves grow, and the paper's condition is one click from the honest one."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import altair as alt
import httpx
import pytest
from playwright.sync_api import Route, expect

from kaczmatch.report.page import ResultsPage
from kaczmatch.report.results import Figure, ReportPart, Table
from kaczmatch.simulation.market.arms import market_policies
from kaczmatch.simulation.market.engine import Pace
from kaczmatch.simulation.market.outcome import outcome
from kaczmatch.simulation.market.town import Census, town
from kaczmatch.web.lab import LEARNERS

from .conftest import PHONE, Site, Visiting, Visitor
from .test_access_for_all import check

MAIN = ("probit", "probit-diag")
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


def said(visitor: Visitor, chart: str) -> str:
    return visitor.page.locator(f"#{chart}").get_attribute("aria-valuetext") or ""


def test_values_are_read_with_the_pointer_and_by_keyboard_and_saved(visitor: Visitor, site: Site) -> None:
    page = visitor.page
    page.goto(f"{site.address}/lab?swipes=100&learner=probit,probit-diag&condition=honest&seed=7")
    expect(page.locator("#count")).to_have_text("100 of 640 swipes", timeout=60_000)
    page.locator("#alignment").hover(position={"x": 120, "y": 80})
    expect(page.locator("#alignment + .chart-tip")).to_contain_text("probit-diag")
    page.locator("#alignment").focus()
    page.keyboard.press("End")
    assert said(visitor, "alignment").startswith("100 swipes, ")
    assert f"probit {aligned(visitor, 'probit'):.2f}" in said(visitor, "alignment")
    page.keyboard.press("ArrowLeft")
    assert said(visitor, "alignment").startswith("99 swipes, ")
    page.keyboard.press("Escape")
    expect(page.locator("#alignment + .chart-tip")).to_be_hidden()
    colours = [page.locator(f"#alignment .curve.{slug}").evaluate("line => getComputedStyle(line).stroke") for slug in MAIN]
    assert colours[0] != colours[1]
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV of alignment").click()
    rows = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert (rows[0], len(rows)) == ("swipes,probit,probit-diag", 102)
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG of alignment").click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


def test_the_address_shows_the_view_again(visiting: Visiting, site: Site) -> None:
    first, second = visiting().page, visiting().page
    first.goto(f"{site.address}/lab?learner=tk,rocchio,all-ones")
    expect(first.locator("#count")).to_have_text("0 of 640 swipes", timeout=60_000)
    first.get_by_label("Paper’s condition").check()
    first.get_by_label("Who", exact=True).select_option("20")
    expect(first.locator("#alignment .band")).to_have_count(3, timeout=60_000)  # a mean of many has an interval
    first.get_by_role("button", name="Step").click()
    expect(first.locator("#count")).to_have_text("32 of 640 swipes", timeout=60_000)
    second.goto(first.url)
    expect(second.locator("#count")).to_have_text("32 of 640 swipes", timeout=60_000)
    assert second.locator("#numbers").inner_text() == first.locator("#numbers").inner_text()
    expect(second.get_by_label("Paper’s condition")).to_be_checked()
    expect(second.locator("#alignment .band")).to_have_count(3)


def test_nothing_is_clipped_and_names_stay_at_their_lines(visitor: Visitor, site: Site) -> None:
    """At most noise, curves fall below what the axis shows at first; and they meet."""
    page = visitor.page
    every = ",".join(LEARNERS)
    page.goto(f"{site.address}/lab?swipes=320&noise=0.5&condition=paper&learner={every}")
    expect(page.locator("#count")).to_have_text("320 of 640 swipes", timeout=60_000)
    for chart in ("alignment", "auc"):
        low, high = page.locator(f"#{chart} .grid").evaluate_all(
            "lines => { const at = lines.map((line) => line.getBBox().y); return [Math.max(...at), Math.min(...at)]; }"
        )
        boxes = page.locator(f"#{chart} .curve").evaluate_all(
            "lines => lines.map((line) => ({ y: line.getBBox().y, height: line.getBBox().height }))"
        )
        assert len(boxes) == len(LEARNERS)
        assert all(box["y"] >= high - 1 and box["y"] + box["height"] <= low + 1 for box in boxes)
        names = page.locator(f"#{chart} .name").evaluate_all(
            "names => names.map((name) => name.getBBox().y).sort((a, b) => a - b)"
        )
        assert all(below - above > 11 for above, below in pairwise(names))
        threads = page.locator(f"#{chart} .thread").evaluate_all("lines => lines.map((line) => line.getAttribute('d'))")
        ends = page.locator(f"#{chart} .end").evaluate_all("dots => dots.map((dot) => Number(dot.getAttribute('cy')))")
        assert sorted(float(d.split("L")[0].split()[1]) for d in threads) == pytest.approx(sorted(ends), abs=0.1)
        ticks = page.locator(f"#{chart} text[text-anchor=middle]").all_text_contents()
        assert all(int(tick.split()[0]) % 50 == 0 for tick in ticks)


def test_the_market_runs_policies_side_by_side(visitor: Visitor, site: Site) -> None:
    page = visitor.page
    page.goto(f"{site.address}/lab?tab=market&side=20&rounds=2&policies=default,uniform")
    expect(page.locator("#market-numbers tr")).to_have_count(2, timeout=60_000)
    for chart in ("matches", "waiting", "gini"):
        expect(page.locator(f"#market-{chart} .curve")).to_have_count(2)
    expect(page.locator("#market-count")).to_have_text("2 policies, 20 people per side")
    asked = {"policy": "uniform", "side": 20, "rounds": 2}
    last = site.api.post("/lab/market", json=asked).json()["points"][-1]
    row = page.locator("[data-policy=uniform] td").all_inner_texts()
    assert row[0] == f"{last['matches']:.1f}"
    assert row[2] == f"{last['gini']:.2f}"
    here = town("archetypes", 7, Census(side=20))
    arm = next(one for one in market_policies() if one.name == "uniform")
    found = outcome(arm.play(here, Pace(rounds=2, deck=5)), here)  # the engine of `kaczmatch market`
    assert (last["matches"], last["gini"]) == pytest.approx((found.matches_per_100, found.gini), abs=1e-3)
    page.get_by_role("tab", name="Learners").click()
    expect(page.locator("#alignment")).to_be_visible()
    for wrong in ({"policy": "no"}, {"side": 500}, {"rounds": 99}):
        assert site.api.post("/lab/market", json=asked | wrong).status_code == 422


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
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/lab/run", hold)
    page.get_by_label("Paper’s condition").check()
    expect(page.locator("#count")).to_have_text("Computing …")  # what is drawn is not what is asked for
    expect(page.locator("#arena")).to_have_attribute("aria-busy", "true")
    held[0].abort()
    expect(page.locator("#trouble")).to_contain_text("the service cannot be reached")
    page.unroute("**/lab/run")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#trouble")).to_be_hidden()
    visitor.wrong[:] = [words for words in visitor.wrong if "Failed to load resource" not in words]


def test_the_report_is_linked_once_it_was_made(visitor: Visitor, site: Site) -> None:
    page = visitor.page
    page.goto(f"{site.address}/lab")
    expect(page.locator(".report-line")).to_contain_text("kaczmatch reproduce all --out")
    table = Table("numbers", "Numbers", [{"name": f"row {place}", "value": place} for place in range(14)])
    points = {"values": [{"x": 1, "y": 2, "kind": "one"}, {"x": 2, "y": 1, "kind": "two"}]}
    chart = alt.Chart(points).mark_point(color="#000000", filled=True).encode(x="x:Q", y="y:Q", shape="kind:N")
    part = ReportPart("part", "Part", ["Words"], [table], [Figure("figure", chart, "A line")])
    made = ResultsPage(title="The paper, reproduced", lead="Lead", scope="Scope", command="kaczmatch", advice=["The answer."])
    file = made.write([part], site.system.settings.data / "report")
    try:
        page.reload()
        page.get_by_role("link", name=re.compile("the report")).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("The paper, reproduced")
        page.goto("about:blank")  # nothing may run in the report, and so neither may what follows
        page.set_content(file.read_text(encoding="utf-8"))
        expect(page.locator("tbody tr:visible")).to_have_count(10)
        page.get_by_label("Show all 14 rows").check()
        expect(page.locator("tbody tr:visible")).to_have_count(14)
        drawn, words = page.locator("figure svg").bounding_box(), page.locator("section#part .scroll").bounding_box()
        assert drawn is not None
        assert words is not None
        assert drawn["width"] == pytest.approx(words["width"], abs=1)  # as wide as the text
        for colours in ("dark", "light"):
            page.emulate_media(color_scheme=colours)
            inks = {
                part.evaluate("part => getComputedStyle(part).fill")
                for part in page.locator("figure svg :is(text, [aria-roledescription=point], .role-legend-symbol path)").all()
            }
            assert inks == {page.locator("body").evaluate("body => getComputedStyle(body).color")}
        check(page)
    finally:
        file.unlink()
        file.parent.rmdir()


def test_axe_finds_nothing_serious_in_the_lab(visitor: Visitor, site: Site) -> None:
    visitor.page.goto(f"{site.address}/lab")
    expect(visitor.page.locator("#count")).to_have_text("0 of 640 swipes", timeout=60_000)
    visitor.page.get_by_role("button", name="Step").click()
    expect(visitor.page.locator("#count")).to_have_text("32 of 640 swipes")
    check(visitor.page)
    visitor.page.goto(f"{site.address}/lab?tab=market&side=20&rounds=1&policies=uniform")
    expect(visitor.page.locator("#market-numbers tr")).to_have_count(1, timeout=60_000)
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
