"""The operators' console: who gets in, and what they can do there."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect

from kaczmatch.service.domain.records import LastWebhookError, Model, RequestMinute, ServiceStart
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
    return visitor


def opened(visitor: Visitor, tab: str) -> Page:
    """Logged in, with a tab open."""
    page = operating(visitor).page
    page.get_by_role("tab", name=tab).click()
    return page


def complain(site: Site, name: str = "Bo", words: str = "words") -> tuple[str, str]:
    one, two = site.couple("Ada", name)
    site.ok("POST", f"/people/{one}/reports", json={"other": two, "reason": f"reason {next(NUMBERS)}", "text": words})
    return one, two


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


def test_health_tells_latency_errors_queues_and_marks_over_a_range(visitor: Visitor, site: Site) -> None:
    context, now = site.system.context, site.system.context.clock()
    counts = json.dumps({"200 POST /v1/people/{user}/deck": [0, 0, 0, 0, 0, 90, 0, 9, 0, 0, 0, 0, 0]})
    failed = json.dumps({"500 POST /v1/people/{user}/deck": [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]})
    rows = [
        RequestMinute(at=now - timedelta(minutes=90), process="test", counts=counts),
        RequestMinute(at=now - timedelta(minutes=89), process="test", counts=failed),
        ServiceStart(at=now - timedelta(minutes=95), version="9.9"),
    ]
    context.store.write(lambda transaction: [transaction.put(row) for row in rows]).result()
    page = operating(visitor).page
    expect(page.get_by_role("tab", name="Health")).to_have_attribute("aria-selected", "true")
    tiles = page.locator("#health-tiles")
    for what in ("p50", "p95", "p99", "errors", "turned away", "writes in the queue", "webhooks", "messages kept", "store"):
        expect(tiles).to_contain_text(what)
    expect(page.locator("#marks")).not_to_contain_text("9.9")
    page.get_by_role("radio", name="6 hours").check()
    expect(page.locator("#marks")).to_contain_text("version 9.9 started")
    expect(page.locator("#verdict")).to_contain_text("requests failed, most in POST /v1/people/{user}/deck")
    expect(page.locator("#routes tr.alarm").first).to_contain_text("POST /v1/people/{user}/deck")
    expect(page.locator("#chart-latency .mark-head.start").first).to_be_attached()
    page.locator("#chart-latency").focus()
    page.keyboard.press("Home")
    for _ in range(70):
        if "p99" in (page.locator("#chart-latency").get_attribute("aria-valuetext") or ""):
            break
        page.keyboard.press("ArrowRight")
    expect(page.locator("#chart-latency")).to_have_attribute("aria-valuetext", re.compile(r"p99 1\d\d ms"))
    page.reload()
    expect(page.get_by_role("radio", name="6 hours")).to_be_checked()  # the address keeps the range
    context.store.write(lambda transaction: [transaction.drop(type(row), *row.identity()) for row in rows]).result()


def test_figures_are_shown_drawn_and_said(visitor: Visitor, site: Site) -> None:
    one, two = site.couple()
    site.like(one, two)
    page = opened(visitor, "Matching")
    expect(page.locator("#tiles")).to_contain_text("people")
    for chart in ("minutes", "lorenz"):
        expect(page.locator(f"#chart-{chart} .curve").first).to_be_visible()
    expect(page.locator("#policies tr").first).to_be_visible()
    figures = site.ok("GET", "/operator/overview")
    expect(page.locator("#told-lorenz")).to_contain_text("Gini")
    expect(page.locator("#tiles")).to_contain_text(f"the lowest it could be: {figures['exposure_gini_lowest']:.2f}")
    expect(page.locator("#told-minutes")).to_contain_text("likes")
    assert "Δs" not in page.locator("#matching").inner_text()
    page.get_by_role("tab", name="Research").click()  # the researchers' instruments have a tab of their own
    expect(page.locator("#chart-stability")).to_be_visible()
    expect(page.locator("#told-conditions")).not_to_be_empty()
    for chart in page.locator("#research svg").all():  # no bar hangs over the edge
        edge = "svg => Math.max(...[...svg.querySelectorAll('.bar')].map(bar => bar.getBBox().x + bar.getBBox().width))"
        assert chart.evaluate(edge) <= chart.evaluate("svg => svg.viewBox.baseVal.width")
    page.get_by_role("tab", name="People").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="profiles.csv").click()
    assert download.value.suggested_filename == "profiles.csv"


def test_axe_finds_nothing_serious_in_the_console(visitor: Visitor, site: Site) -> None:
    _, two = complain(site)
    page = visitor.page
    page.goto(f"{site.address}/console")
    check(page)
    opened(visitor, "Reports")
    check(page)
    page.locator(".report", has_text=two).get_by_role("button", name="Timeline").click()
    expect(page.locator("#entries tr").first).to_be_visible()
    check(page)
    for tab in ("Health", "Matching", "Research", "People"):
        page.get_by_role("tab", name=tab).click()
        check(page)
    page.locator("#person-acts").get_by_role("button", name="Erase").click()
    check(page)


def test_an_export_that_fails_is_said(visitor: Visitor) -> None:
    page = opened(visitor, "People")
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
    for tab in ("Health", "Matching", "Research", "Reports"):
        page.get_by_role("tab", name=tab).tap()
        assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    page.locator(".report", has_text=two).get_by_role("button", name="Timeline").tap()
    expect(page.locator("#entries tr").first).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    page.locator("#person-acts").get_by_role("button", name="Erase").tap()
    expect(page.get_by_role("dialog")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Keep").tap()
    page.get_by_role("tab", name="Health").tap()
    head = page.locator("#routes").locator("xpath=..").locator("thead").bounding_box()
    assert head is not None
    assert head["height"] < 60  # no heading is broken letter by letter
    height = page.locator("#chart-latency text").first.evaluate("text => text.getBoundingClientRect().height")
    assert height > 11  # letters keep their size


def test_an_experiment_has_a_panel_where_one_runs(visiting: Visiting, tmp_path: Path) -> None:
    arms = {"usual": ArmSettings(), "paper": ArmSettings(policy="paper")}
    settings = Settings(data=tmp_path, demo=True, demo_people=100, log_level="error", experiment="spring", experiment_arms=arms)
    with visited(settings) as site:
        visitor = operating(visiting(site))
        visitor.page.get_by_role("tab", name="Experiment").click()
        expect(visitor.page.get_by_role("heading", name="Experiment: spring")).to_be_visible()
        expect(visitor.page.locator("#arms tr")).to_have_count(2)
        check(visitor.page)
        visitor.page.set_viewport_size(PHONE)
        assert visitor.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
        visitor.context.close()


def test_what_went_wrong_with_webhooks_and_a_refit_of_the_prior_are_shown(visitor: Visitor, site: Site) -> None:
    context = site.system.context
    now = context.clock()

    def happen(transaction: Transaction) -> None:
        transaction.put(LastWebhookError(at=now, problem="status 502", topic="match.created", attempts=3))
        model = transaction.get(Model, context.catalogue.current(transaction).model)
        assert model is not None
        transaction.put(replace(model, used_from=now, refit=True))

    context.store.write(happen).result()
    page = operating(visitor).page
    expect(page.locator("#health-tiles")).to_contain_text("webhooks to send again")
    expect(page.locator("#last-webhook-error")).to_contain_text("match.created, try 3: status 502")
    expect(page.locator("#marks")).to_contain_text("refit, model")
    page.get_by_role("tab", name="Matching").click()
    expect(page.locator("#tiles")).to_contain_text("fitted again")
