"""What operators do about people in the console: found, held, reported, blocked, erased; and how it is undone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from kaczmatch.service.domain.records import AuditEntry

from .conftest import Site, Visitor
from .test_console import complain, opened


def looks(site: Site, user: str) -> list[str]:
    with site.system.store.read() as reader:
        return [line.action for line in reader.find(AuditEntry, user=user)]


def test_whoever_is_reported_is_held_and_cannot_come_back(visitor: Visitor, site: Site) -> None:
    _one, two = complain(site)
    page = opened(visitor, "Reports")
    report = page.locator(".report", has_text=two)
    report.get_by_role("button", name="Hold").click()
    expect(report).to_contain_text("is held. Report closed.")
    assert site.ok("GET", f"/people/{two}")["paused"]
    assert site.api.post(f"/v1/people/{two}/resume").status_code == 409
    assert {"held back"} < set(looks(site, two))
    page.get_by_role("tab", name="People").click()
    page.get_by_label("Name or id").fill(two)
    page.get_by_role("button", name="Show timeline").click()
    expect(page.locator("#person-name")).to_contain_text("held by an operator")
    page.locator("#person-acts").get_by_role("button", name="Release").click()
    expect(page.locator("#person-acts").get_by_role("button", name="Hold")).to_be_visible()
    expect(page.locator("#person-name")).to_be_focused()
    assert not site.ok("POST", f"/people/{two}/resume")["paused"]


def test_a_decided_report_stays_in_its_place_and_can_be_undone(visitor: Visitor, site: Site) -> None:
    """What slides under the cursor gets the second half of a double click."""
    (_, two), (_, three) = complain(site), complain(site)
    page = opened(visitor, "Reports")
    row, after = page.locator(".report", has_text=two), page.locator(".report", has_text=three)
    place = "row => row.getBoundingClientRect().top + scrollY"
    before = after.evaluate(place)
    row.get_by_role("button", name="Hold").dblclick()
    expect(row).to_contain_text("is held")
    assert after.evaluate(place) == pytest.approx(before, abs=0.5)
    assert not site.ok("GET", f"/people/{three}")["paused"]
    row.get_by_role("button", name="Undo").click()
    expect(row.get_by_role("button", name="Hold")).to_be_visible()
    assert site.system.use_cases.operators.held_people((), 200) == []
    assert {two, three} <= {one.other for one in site.system.use_cases.safety.open_reports(limit=200)}
    row.get_by_role("button", name="Close").click()
    expect(row).to_contain_text("no action")
    page.get_by_role("button", name="Refresh").click()
    expect(row).to_have_count(0)


def test_people_are_found_by_name_or_id_and_the_held_are_listed(visitor: Visitor, site: Site) -> None:
    one, two = site.couple("Zora Quill", "Zane Quill")
    site.ok("PUT", f"/operator/people/{two}/hold")
    page = opened(visitor, "People")
    held = page.locator("#held .report", has_text="Zane Quill")
    page.get_by_label("Name or id").press_sequentially("quil")
    expect(page.locator("#found li")).to_have_count(2)
    expect(page.locator("#found")).to_contain_text("held by an operator")
    page.get_by_label("Name or id").fill(one)
    expect(page.locator("#found li")).to_have_count(1)
    expect(page.locator("#found")).to_contain_text("Zora Quill")
    held.get_by_role("button", name="Release").click()
    expect(held).to_contain_text("is released")
    held.get_by_role("button", name="Undo").click()
    expect(held.get_by_role("button", name="Release")).to_be_visible()
    assert site.api.post(f"/v1/people/{two}/resume").status_code == 409
    site.ok("DELETE", f"/operator/people/{two}/hold")
    page.get_by_label("Name or id").fill("nobody-at-all")
    page.get_by_role("button", name="Show timeline").click()
    expect(page.locator("#trouble")).to_contain_text("nobody has this id")


def test_a_block_is_taken_back_only_after_a_question(visitor: Visitor, site: Site) -> None:
    one, two = site.couple()
    site.ok("PUT", f"/people/{one}/blocks/{two}")
    page = opened(visitor, "People")
    page.get_by_label("Name or id").fill(two)
    page.get_by_role("button", name="Show timeline").click()
    block = page.locator("#blocks .report")
    expect(block).to_contain_text(f"was blocked by {one}")
    for answer, left in (("Keep", [two]), ("Take it back", [])):
        block.get_by_role("button", name="Take back").click()
        page.get_by_role("dialog").get_by_role("button", name=answer).click()
        expect(page.get_by_role("dialog")).to_be_hidden()
        if not left:
            expect(block).to_contain_text("The block is taken back.")
        assert [item["other"] for item in site.ok("GET", f"/people/{one}/blocks")["items"]] == left


def test_erasing_asks_for_the_id(visitor: Visitor, site: Site) -> None:
    _, two = complain(site)
    page = opened(visitor, "Reports")
    report = page.locator(".report", has_text=two)
    report.get_by_role("button", name="Erase").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Erase for good")).to_be_disabled()
    dialog.get_by_role("button", name="Keep").click()
    site.ok("GET", f"/people/{two}")
    report.get_by_role("button", name="Erase").click()
    dialog.get_by_label("Type the id").fill(two)
    dialog.get_by_role("button", name="Erase for good").click()
    expect(report).to_contain_text("is erased")
    assert site.api.get(f"/v1/people/{two}").status_code == 404


def test_every_look_at_a_person_leaves_a_line(visitor: Visitor, site: Site) -> None:
    _, two = complain(site)
    page = opened(visitor, "Reports")
    assert looks(site, two) == []
    page.locator(".report", has_text=two).get_by_role("button", name="Timeline").click()
    expect(page.locator("#entries")).to_contain_text("was reported by")
    assert looks(site, two) == ["looked at timeline"]
    page.get_by_label("Name or id").fill(two)
    page.get_by_role("button", name="Show timeline").click()
    expect(page.locator("#entries tr", has_text="looked at timeline")).to_have_count(2)


def test_what_people_wrote_is_text_in_the_console(visitor: Visitor, site: Site) -> None:
    name = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    _, two = complain(site, name, name)
    page = opened(visitor, "Reports")
    report = page.locator(".report", has_text=two)
    expect(report.locator(".words")).to_have_text(name)
    report.get_by_role("button", name="Timeline").click()
    expect(page.locator("#person-name bdi")).to_have_text(name)
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("main script").count() == 0
