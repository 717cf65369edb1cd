"""People whom the app found itself, over HTTP: for back ends alone."""

from __future__ import annotations

import pytest

from worlds.served import NUMBERS, Service

from .conftest import Opened


@pytest.fixture(scope="module")
def telling(opened: Opened) -> Service:
    """A service that tells back ends about likes."""
    return opened("memory", admirers_listed=True)


def outside(service: Service, user: str, other: str, **options: str) -> int:
    body = {"candidate": other, "decision": "like"}
    return service.call("PUT", f"/people/{user}/swipes/s{next(NUMBERS)}", json=body, **options).status_code


def test_back_ends_swipe_without_a_deck_and_users_do_not(one_service: Service) -> None:
    one, two = one_service.couple()
    assert outside(one_service, one, two, by=one_service.token(one)) == 403
    assert outside(one_service, one, "nobody-at-all") == 404
    assert outside(one_service, one, two) == 200
    (event,) = one_service.ok("GET", f"/people/{one}/events")["items"]
    assert (event["deck"], event["imported"]) == (None, False)


def test_rank_opens_a_deck_that_users_answer(one_service: Service) -> None:
    one, two = one_service.couple()
    assert one_service.ok("POST", f"/people/{one}/rank", json={"candidates": [two]})["deck"] is None
    deck = one_service.ok("POST", f"/people/{one}/rank", json={"candidates": [two, "nobody"], "open_deck": True})["deck"]
    assert [(card["id"], card["reason"]) for card in deck["cards"]] == [(two, "ranked")]
    body = {"candidate": two, "decision": "like", "deck": deck["id"]}
    answer = one_service.call("PUT", f"/people/{one}/swipes/s{next(NUMBERS)}", json=body, by=one_service.token(one))
    assert answer.status_code == 200


def test_admirers_are_told_to_back_ends_where_the_setting_is_on(one_service: Service, telling: Service) -> None:
    one, two = one_service.couple()
    outside(one_service, two, one)
    refused = one_service.call("GET", f"/people/{one}/admirers")
    assert (refused.status_code, "admirers_listed is off" in refused.json()["detail"]) == (404, True)
    one, two = telling.couple()
    assert telling.ok("GET", f"/people/{one}/admirers")["items"] == []
    outside(telling, two, one)
    assert [found["user"] for found in telling.ok("GET", f"/people/{one}/admirers")["items"]] == [two]
    assert telling.call("GET", f"/people/{one}/admirers", by=telling.token(one)).status_code == 403
    assert telling.call("GET", "/people/nobody-at-all/admirers").status_code == 404
    outside(telling, one, two)
    assert telling.ok("GET", f"/people/{one}/admirers") == {"items": [], "next": None}


def test_a_reported_person_stays_blocked(one_service: Service) -> None:
    one, two = one_service.couple()
    one_service.ok("POST", f"/people/{one}/reports", json={"other": two, "reason": "rude"})
    refused = one_service.call("DELETE", f"/people/{one}/blocks/{two}")
    assert (refused.status_code, "stays blocked" in refused.json()["detail"]) == (409, True)
