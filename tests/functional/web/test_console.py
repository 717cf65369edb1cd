"""The operators' console: who gets in, and what they can do there."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Literal

import httpx
import pytest
from playwright.sync_api import FloatRect, expect

from kaczmatch.service.domain.records import AuditEntry, LastWebhookError, Model
from kaczmatch.service.domain.store import Transaction
from kaczmatch.settings.model import ArmSettings, Settings

from .conftest import PHONE, Site, Visiting, Visitor, visited
from .test_access_for_all import check

NUMBERS = itertools.count()


def key_with(site: Site, *scopes: str) -> str:
    return site.system.use_cases.credentials.create("test", scopes)[1]


def operating(visitor: Visitor) -> Visitor:
    """Logged in, with everything drawn."""
    page = visitor.page
    page.goto(f"{visitor.site.address}/console")
    page.get_by_label("Service key").fill(key_with(visitor.site, "operator", "data"))
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#fresh")).to_contain_text("As of")
    expect(page.locator("#chart-conditions svg")).to_be_visible(timeout=60_000)
    return visitor


def complain(site: Site, name: str = "Bo", words: str = "words") -> tuple[str, str]:
    one, two = site.couple("Ada", name)
    site.ok("POST", f"/people/{one}/reports", json={"other": two, "reason": f"reason {next(NUMBERS)}", "text": words})
    return one, two


def looks(site: Site, user: str) -> list[str]:
    with site.system.store.read() as reader:
        return [line.action for line in reader.find(AuditEntry, user=user)]


def test_only_a_key_with_the_operators_scope_gets_in(visitor: Visitor, site: Site) -> None:
    page, user = visitor.page, site.person()
    token = site.ok("POST", "/tokens", json={"user": user})["token"]
    for credential in ("nonsense", token, key_with(site, "app", "tokens", "data"), "kz_000000000000_" + "0" * 64):
        page.goto(f"{site.address}/console")
        assert page.locator("#tiles").count() == 0
        page.get_by_label("Service key").fill(credential)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_contain_text("not a valid key")
        assert visitor.context.cookies() == []
    visitor.wrong[:] = [words for words in visitor.wrong if "403" not in words]  # the browser's own line about each refusal


def test_the_session_is_a_strict_cookie_that_leaving_ends(visitor: Visitor, site: Site) -> None:
    page = operating(visitor).page
    (cookie,) = visitor.context.cookies()
    assert cookie["httpOnly"]
    assert (cookie["sameSite"], cookie["path"]) == ("Strict", "/console")
    assert page.evaluate("() => document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)") == "{}{}"
    sent = {"Cookie": f"{cookie['name']}={cookie['value']}"}
    assert httpx.post(f"{site.address}/console/token", headers=sent).status_code == 200
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Service key")).to_be_visible()
    assert visitor.context.cookies() == []
    assert httpx.post(f"{site.address}/console/token", headers=sent).status_code == 401
    assert "tiles" not in httpx.get(f"{site.address}/console", headers=sent).text


def test_other_sites_and_other_machines_get_nothing_by_a_cookie(site: Site) -> None:
    key = key_with(site, "operator")
    demo = (site.system.settings.data / "demo-key").read_text()
    login = f"{site.address}/console/login"
    typed = httpx.get(login)
    assert (typed.status_code, typed.headers["location"]) == (303, "/console")
    cross = httpx.post(login, data={"key": key}, headers={"Sec-Fetch-Site": "cross-site"})
    assert (cross.status_code, cross.headers.get("set-cookie")) == (403, None)
    assert httpx.post(login, data={"key": key}, headers={"Origin": "https://evil.example"}).status_code == 403
    afar = httpx.post(login, data={"key": demo}, headers={"X-Forwarded-For": "10.0.0.1"})
    assert (afar.status_code, afar.headers.get("set-cookie")) == (403, None)
    given = httpx.post(login, data={"key": key}, headers={"X-Forwarded-For": "10.0.0.1"}).headers["set-cookie"]
    assert "Secure" in given  # beyond this machine by HTTPS alone
    cookie = {"Cookie": given.partition(";")[0]}
    assert httpx.get(f"{site.address}/v1/operator/overview", headers=cookie).status_code == 401  # the API knows no cookies
    token = httpx.post(f"{site.address}/console/token", headers=cookie).json()
    assert token["scopes"] == ["operator"]
    bearer = {"Authorization": f"Bearer {token['token']}"}
    assert httpx.get(f"{site.address}/v1/operator/overview", headers=bearer).status_code == 200
    assert httpx.get(f"{site.address}/v1/export/profiles", headers=bearer).status_code == 403
    site.system.use_cases.credentials.revoke(key.split("_")[1]).result()
    assert httpx.post(f"{site.address}/console/token", headers=cookie).status_code == 401  # the session ends with its key
    for path in ("charts.json", "vega.js"):
        assert httpx.get(f"{site.address}/console/{path}").status_code == 401


def test_whoever_is_reported_is_blocked_and_cannot_come_back(visitor: Visitor, site: Site) -> None:
    _one, two = complain(site)
    page = operating(visitor).page
    report = page.locator(".report", has_text=two)
    report.get_by_role("button", name="Block").click()
    expect(report).to_have_count(0)
    expect(page.locator("#reports-title")).to_be_focused()  # the button is gone: the keyboard goes on from here
    assert site.ok("GET", f"/people/{two}")["paused"]
    assert site.api.post(f"/v1/people/{two}/resume").status_code == 409
    assert {"held back"} < set(looks(site, two))
    page.get_by_label("Id of a person").fill(two)
    page.get_by_role("button", name="Show timeline").click()
    expect(page.locator("#person-name")).to_contain_text("blocked by an operator")
    page.get_by_role("button", name="Unblock").click()
    expect(page.get_by_role("button", name="Block", exact=True)).to_be_visible()
    expect(page.locator("#person-name")).to_be_focused()
    assert not site.ok("POST", f"/people/{two}/resume")["paused"]


def test_erasing_asks_for_the_id(visitor: Visitor, site: Site) -> None:
    _, two = complain(site)
    page = operating(visitor).page
    report = page.locator(".report", has_text=two)
    report.get_by_role("button", name="Erase").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Erase for good")).to_be_disabled()
    dialog.get_by_role("button", name="Keep").click()
    site.ok("GET", f"/people/{two}")
    report.get_by_role("button", name="Erase").click()
    dialog.get_by_label("Id").fill(two)
    dialog.get_by_role("button", name="Erase for good").click()
    expect(report).to_have_count(0)
    expect(page.locator("#reports-title")).to_be_focused()
    assert site.api.get(f"/v1/people/{two}").status_code == 404


def test_every_look_at_a_person_leaves_a_line(visitor: Visitor, site: Site) -> None:
    _, two = complain(site)
    page = operating(visitor).page
    assert looks(site, two) == []
    page.locator(".report", has_text=two).get_by_role("button", name="Timeline").click()
    expect(page.locator("#entries")).to_contain_text("was reported by")
    assert looks(site, two) == ["looked at timeline"]
    page.get_by_role("button", name="Show timeline").click()
    expect(page.locator("#entries tr", has_text="looked at timeline")).to_have_count(2)


def test_what_people_wrote_is_text_in_the_console(visitor: Visitor, site: Site) -> None:
    name = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    _, two = complain(site, name, name)
    page = operating(visitor).page
    report = page.locator(".report", has_text=two)
    expect(report.locator(".words")).to_have_text(name)
    report.get_by_role("button", name="Timeline").click()
    expect(page.locator("#person-name bdi")).to_have_text(name)
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("main script").count() == 0


def test_figures_are_shown_drawn_and_said(visitor: Visitor, site: Site) -> None:
    one, two = site.couple()
    site.like(one, two)
    page = operating(visitor).page
    expect(page.locator("#tiles")).to_contain_text("people")
    for chart in ("minutes", "policies", "lorenz", "conditions", "stability"):
        expect(page.locator(f"#chart-{chart} svg")).to_be_visible()
    expect(page.locator("#told-lorenz")).to_contain_text("Gini")
    figures = site.ok("GET", "/operator/overview")
    cards, people = figures["sample"]["cards"], figures["people"]
    least = f"cannot be below {1 - cards / people:.2f}" if cards < people else "cards."
    expect(page.locator("#told-lorenz")).to_contain_text(least)
    expect(page.locator("#told-minutes")).to_contain_text("likes")
    with page.expect_download() as download:
        page.get_by_role("button", name="profiles.csv").click()
    assert download.value.suggested_filename == "profiles.csv"


def test_the_console_is_small_before_charts(visitor: Visitor, site: Site) -> None:
    sizes: dict[str, int] = {}
    visitor.page.on("response", lambda answer: sizes.update({answer.url: int(answer.headers.get("content-length", 0))}))
    operating(visitor)
    assert sum(size for url, size in sizes.items() if not url.endswith("vega.js")) < 150_000


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_serious_in_the_console(visiting: Visiting, site: Site, colours: Literal["light", "dark"]) -> None:
    _, two = complain(site)
    visitor = visiting(color_scheme=colours)
    page = visitor.page
    page.goto(f"{site.address}/console")
    check(page)
    operating(visitor)
    page.locator(".report", has_text=two).get_by_role("button", name="Timeline").click()
    expect(page.locator("#entries tr").first).to_be_visible()
    check(page)
    page.locator("#person-acts").get_by_role("button", name="Erase").click()
    check(page)


def test_an_export_that_fails_is_said(visitor: Visitor) -> None:
    page = operating(visitor).page
    button = page.get_by_role("button", name="swipes.csv")
    page.route("**/v1/export/**", lambda route: route.fulfill(status=503, json={"detail": "the disk is full"}))
    button.click()
    expect(page.locator("#trouble")).to_contain_text("No swipes.csv: the disk is full.")
    page.route("**/v1/export/**", lambda route: route.abort())
    button.click()
    expect(page.locator("#trouble")).to_contain_text("No swipes.csv: the service cannot be reached.")
    page.unroute("**/v1/export/**")
    with page.expect_download():
        button.click()
    visitor.wrong[:] = [words for words in visitor.wrong if "Failed to load" not in words]  # the browser's own lines


def test_on_a_phone_the_console_fits_and_charts_can_be_read(visiting: Visiting, site: Site) -> None:
    _, two = complain(site, "Wolfeschlegelsteinhausenbergerdorff" * 2, "words " * 60)
    visitor = visiting(viewport=PHONE, has_touch=True, is_mobile=True)
    page = visitor.page
    page.goto(f"{site.address}/console")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    operating(visitor)
    page.locator(".report", has_text=two).get_by_role("button", name="Timeline").tap()
    expect(page.locator("#entries tr").first).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    page.locator("#person-acts").get_by_role("button", name="Erase").tap()
    expect(page.get_by_role("dialog")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Keep").tap()
    panel = page.locator("#chart-policies").bounding_box()
    bars = [bar.bounding_box() for bar in page.locator("#chart-policies .mark-rect path").all()]
    words = [text.bounding_box() for text in page.locator("#chart-policies text", has_text=":").all()]
    assert len(bars) == len(words) > 0
    assert panel is not None
    for box in [*bars, *words]:
        assert box is not None
        assert panel["x"] <= box["x"] <= box["x"] + box["width"] <= panel["x"] + panel["width"] + 1
    assert max(bar["width"] for bar in bars if bar) > panel["width"] / 2  # a bar of the whole is not squeezed by its words
    assert not [1 for bar in bars for text in words if bar and text and overlap(bar, text)]


def test_an_experiment_has_a_panel_where_one_runs(visiting: Visiting, tmp_path: Path) -> None:
    arms = {"usual": ArmSettings(), "paper": ArmSettings(policy="paper")}
    settings = Settings(data=tmp_path, demo=True, demo_people=100, log_level="error", experiment="spring", experiment_arms=arms)
    with visited(settings) as site:
        visitor = operating(visiting(site))
        expect(visitor.page.get_by_role("heading", name="Experiment: spring")).to_be_visible()
        expect(visitor.page.locator("#arms tr")).to_have_count(2)
        check(visitor.page)
        visitor.page.set_viewport_size(PHONE)
        assert visitor.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
        visitor.context.close()


def overlap(one: FloatRect, two: FloatRect) -> bool:
    across = one["x"] < two["x"] + two["width"] and two["x"] < one["x"] + one["width"]
    return across and one["y"] < two["y"] + two["height"] and two["y"] < one["y"] + one["height"]


def test_what_went_wrong_with_webhooks_and_a_refit_of_the_prior_are_shown(visitor: Visitor, site: Site) -> None:
    context = site.system.context
    now = context.clock()

    def happen(transaction: Transaction) -> None:
        transaction.put(LastWebhookError(at=now, problem="status 502", topic="match.created", attempts=3))
        model = transaction.get(Model, context.catalogue.current(transaction).model)
        assert model is not None
        transaction.put(replace(model, used_from=now, refit=True))

    context.store.write(happen).result()
    tiles = operating(visitor).page.locator("#tiles")
    expect(tiles).to_contain_text("webhooks to send again")
    expect(tiles).to_contain_text("0 given up; match.created, try 3: status 502")
    expect(tiles).to_contain_text("fitted again")
