"""A network that fails: the page says so, and nothing is doubled or lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from kaczmatch.service.domain.records import EventKind

from .conftest import Site, Visitor


class Weather:
    """Between the page and the service: swipes are lost until it clears."""

    def __init__(self, page: Page, lose: Callable[[Route], None]) -> None:
        self._lose: Callable[[Route], None] | None = lose
        page.route("**/swipes/**", self._meet)

    def clear(self) -> None:
        self._lose = None

    def _meet(self, route: Route) -> None:
        if self._lose is None:
            route.continue_()
        else:
            self._lose(route)


def only_network_errors(visitor: Visitor) -> None:
    """The browser itself writes a line about every request that failed."""
    visitor.wrong[:] = [words for words in visitor.wrong if "Failed to load resource" not in words]


def lose_the_request(route: Route) -> None:
    route.abort()


def lose_the_answer(route: Route) -> None:
    route.fetch()
    route.abort()


@pytest.mark.parametrize("fail", [lose_the_request, lose_the_answer], ids=lambda fail: fail.__name__.replace("_", " "))
def test_decisions_wait_and_are_sent_once(visitor: Visitor, site: Site, fail: Callable[[Route], None]) -> None:
    user = site.person()
    page = visitor.be(user).page
    ids: list[str] = []
    page.on("request", lambda request: ids.append(request.url.rpartition("/")[2]) if "/swipes/" in request.url else None)
    weather = Weather(page, fail)
    first = visitor.first()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#trouble")).to_contain_text("1 decision waits here")
    second = visitor.first()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#trouble")).to_contain_text("2 decisions wait here and are sent again by themselves")
    weather.clear()
    page.get_by_role("button", name="Try now").click()
    expect(page.locator("#trouble")).to_be_hidden()
    found = visitor.settled(user, 2)
    assert [(one.kind, one.candidate, one.decision) for one in found] == [
        (EventKind.SWIPED, first, "pass"),
        (EventKind.SWIPED, second, "pass"),
    ]
    assert ids.count(found[0].id) >= 2  # sent again under the same id
    assert set(ids) == {one.id for one in found}
    only_network_errors(visitor)


def test_decisions_survive_a_reload(visitor: Visitor, site: Site) -> None:
    user = site.person()
    page = visitor.be(user).page
    weather = Weather(page, lose_the_request)
    first = visitor.first()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#trouble")).to_be_visible()
    page.reload()
    expect(page.locator("#trouble")).to_contain_text("1 decision waits here")
    weather.clear()
    page.get_by_role("button", name="Try now").click()
    expect(page.locator("#trouble")).to_be_hidden()
    assert [(one.candidate, one.decision) for one in visitor.settled(user, 1)] == [(first, "like")]
    assert visitor.first() != first
    only_network_errors(visitor)


def test_what_is_taken_back_meanwhile_is_taken_back(visitor: Visitor, site: Site) -> None:
    user = site.person()
    page = visitor.be(user).page
    weather = Weather(page, lose_the_answer)
    first = visitor.first()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("z")
    expect(page.locator("#trouble")).to_contain_text("2 decisions wait here")
    weather.clear()
    page.get_by_role("button", name="Try now").click()
    expect(page.locator("#trouble")).to_be_hidden()
    assert [one.kind for one in visitor.settled(user, 2)] == ["swiped", "undone"]
    assert visitor.first() == first
    only_network_errors(visitor)


def test_who_one_is_survives_a_reload_while_the_network_fails(visitor: Visitor, site: Site) -> None:
    """Somebody new would otherwise be lost: nobody else knows their id."""
    user = site.person()
    page = visitor.be(user).page
    assert visitor.first()
    page.route("**/v1/**/matches*", lose_the_request)
    page.reload()
    expect(page.locator("#trouble")).to_contain_text("goes on by itself")
    page.unroute("**/v1/**/matches*")
    assert visitor.first()
    expect(page.locator("#trouble")).to_be_hidden()
    only_network_errors(visitor)


def test_a_token_that_has_expired_is_replaced(visitor: Visitor, site: Site) -> None:
    user = site.person()
    page = visitor.be(user).page
    stale: list[str] = []

    def expire(route: Route) -> None:
        token = route.request.headers["authorization"]
        if token in stale or not stale:
            stale.append(token)
            route.continue_(headers=route.request.headers | {"authorization": "Bearer kmu_gone"})
        else:
            route.continue_()

    page.route("**/swipes/**", expire)
    first = visitor.first()
    page.keyboard.press("ArrowLeft")
    assert [one.candidate for one in visitor.settled(user, 1)] == [first]
    expect(page.locator("#trouble")).to_be_hidden()
    only_network_errors(visitor)
