"""The picture of projections in the lab: each method takes the step its equation says."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from kaczmatch import solver

from .conftest import PHONE, Site, Visiting, Visitor
from .test_access_for_all import check

START = np.array([-1.7, 1.5])
SOLUTION = np.array([0.5, -0.3])
LENGTHS = np.array([1.0, 2.0, 0.6])


def rows(degrees: tuple[float, float, float] = (20.0, 80.0, 140.0)) -> np.ndarray:
    angles = np.radians(degrees)
    return LENGTHS[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])


def opened(visitor: Visitor, site: Site) -> Page:
    visitor.page.goto(f"{site.address}/lab")
    expect(visitor.page.locator("#distance")).to_have_text("0 projections, distance 2.843")
    return visitor.page


def here(page: Page) -> np.ndarray:
    point = page.locator("#plane .here")
    return np.array([float(point.get_attribute(f"data-{side}") or "nan") for side in "xy"])


def project(page: Page, times: int = 1) -> None:
    for _ in range(times):
        page.get_by_role("button", name="Project", exact=True).click()


def test_a_plain_projection_is_a_step_of_the_cyclic_solver(visitor: Visitor, site: Site) -> None:
    page, a = opened(visitor, site), rows()
    assert here(page) == pytest.approx(START)
    for count in range(1, 5):
        project(page)
        assert here(page) == pytest.approx(solver("cyclic").solve(a, a @ SOLUTION, start=START, rows=count, tolerance=0.0).x)
        expect(page.locator("#distance")).to_contain_text(f"{count} projection")
    expect(page.locator("#said")).to_contain_text("4 projections, distance")
    page.get_by_role("button", name="Ten times").click()
    expect(page.locator("#distance")).to_contain_text("14 projections")
    assert page.locator("#plane .stop").count() == 14
    page.get_by_role("button", name="Start over").click()
    expect(page.locator("#distance")).to_have_text("0 projections, distance 2.843")
    assert page.locator("#plane .stop").count() == 0


def test_damped_and_block_take_the_steps_of_tk_and_block_tk(visitor: Visitor, site: Site) -> None:
    page, a = opened(visitor, site), rows()
    page.get_by_role("radio", name="Damped").check()
    page.get_by_label("Damping α").fill("2")
    project(page)
    r = a[0] @ (SOLUTION - START)
    assert here(page) == pytest.approx(START + r / (a[0] @ a[0] + 2.0) * a[0])
    page.get_by_role("radio", name="Block").check()
    project(page)
    pair, rng = a[:2], np.random.default_rng(0)
    step = solver("block", size=2, alpha=2.0).solve(pair, pair @ SOLUTION, rng=rng, start=START, rows=2, tolerance=0.0)
    assert here(page) == pytest.approx(step.x)
    page.get_by_label("Damping α").fill("0")  # starts over, and two lines without damping cross in the solution
    project(page)
    assert here(page) == pytest.approx(SOLUTION)
    expect(page.locator("#plane-words")).to_contain_text("line 1 and 2")


def test_momentum_goes_on_in_the_direction_of_earlier_steps(visitor: Visitor, site: Site) -> None:
    page, a = opened(visitor, site), rows()
    expect(page.get_by_label("Momentum β")).to_be_disabled()
    page.get_by_role("radio", name="Momentum").check()
    expect(page.get_by_label("Damping α")).to_be_disabled()
    page.get_by_label("Momentum β").fill("0.8")
    project(page, 3)
    x, z = START, np.zeros(2)
    for row in a:
        w = row @ (SOLUTION - x) / (row @ row) * row
        z = 0.8 * (z + w)
        x = x + w + 0.5 * z
    assert here(page) == pytest.approx(x)


def test_lines_that_do_not_meet_leave_the_point_in_a_cycle(visitor: Visitor, site: Site) -> None:
    page = opened(visitor, site)
    page.get_by_role("combobox", name="Lines").select_option("do not meet")
    expect(page.locator("#lines-words")).to_contain_text("no solution")
    distances = []
    for _ in range(6):
        page.get_by_role("button", name="Ten times").click()
        distances.append(float(page.locator("#distance").inner_text().rsplit(" ", 1)[1]))
    assert distances[3:] == pytest.approx(distances[:3], abs=0.01)  # a cycle, which is as near as it gets
    assert max(distances) > 0.5
    page.get_by_role("combobox", name="Lines").select_option("meet at small angles")
    for _ in range(3):
        page.get_by_role("button", name="Ten times").click()
    slow = float(page.locator("#distance").inner_text().rsplit(" ", 1)[1])
    page.get_by_role("combobox", name="Lines").select_option("meet in a point")
    for _ in range(3):
        page.get_by_role("button", name="Ten times").click()
    assert float(page.locator("#distance").inner_text().rsplit(" ", 1)[1]) < slow


def test_the_picture_is_for_everybody_and_fits_a_phone(visiting: Visiting, site: Site) -> None:
    visitor = visiting(viewport=PHONE)
    page = opened(visitor, site)
    project(page, 2)
    check(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    panel = page.locator(".kaczmarz").bounding_box()
    assert panel is not None
    for label in page.locator("#projections label").all():
        box = label.bounding_box()
        assert box is not None
        assert panel["x"] < box["x"]
        assert box["x"] + box["width"] < panel["x"] + panel["width"]  # nothing hangs over the edge
    page.get_by_role("radio", name="Plain").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Damped")).to_be_checked()
