"""Who may do what: every route of the OpenAPI document, with every kind of credential."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest

from kaczmatch.app.openapi_document import openapi_of_fresh_service
from kaczmatch.service.access.credentials import Caller
from worlds.clock import Clock
from worlds.served import NUMBERS, Service

from .conftest import Opened

OPEN = {"/v1/health/live", "/v1/health/ready"}
OF_DATA = {
    "/v1/feed",
    "/v1/feed/ack",
    *(f"/v1/{way}/{table}" for way in ("import", "export") for table in ("profiles", "swipes")),
}
OF_BACK_ENDS = {
    "/v1/tokens",
    "/v1/people",
    "/v1/decks",
    "/v1/people/{user}/rank",
    "/v1/people/{user}/admirers",
    "/v1/people/{user}/erasure",
    *OF_DATA,
}
OPERATORS_TOO = {("POST", "/v1/people/{user}/pause"), ("DELETE", "/v1/people/{user}"), ("GET", "/v1/people/{user}/erasure")}
ANYBODY = {("GET", "/v1/vocabulary")}

BODIES: dict[tuple[str, str], Any] = {
    ("PUT", "/v1/people/{user}"): {"name": "Ada", "born": "1990-05-17", "i_am": ["woman"], "i_look_for": ["man"]},
    ("POST", "/v1/people/{user}/rank"): {"candidates": ["x"]},
    ("POST", "/v1/decks"): {"users": ["x"]},
    ("PUT", "/v1/people/{user}/swipes/{swipe}"): {"candidate": "x", "decision": "like", "deck": "d"},
    ("POST", "/v1/people/{user}/matches/{match}/outcomes"): {"outcome": "met"},
    ("POST", "/v1/people/{user}/reports"): {"other": "x", "reason": "spam"},
    ("PATCH", "/v1/vocabulary"): {},
    ("POST", "/v1/tokens"): {"user": "x"},
    ("POST", "/v1/feed/ack"): {"up_to": 0},
    ("POST", "/v1/operator/reports/{report}/close"): {"resolution": ""},
}


class Route(NamedTuple):
    method: str
    path: str

    def of(self, user: str) -> str:
        return re.sub(r"\{\w+\}", "x1", self.path.replace("{user}", user)).removeprefix("/v1")

    @property
    def body(self) -> dict[str, Any]:
        return {"json": BODIES[self]} if self in BODIES else {}


ROUTES = [Route(method.upper(), path) for path, methods in openapi_of_fresh_service()["paths"].items() for method in methods]
GUARDED = [route for route in ROUTES if route.path not in OPEN]
OF_USERS = [
    route for route in GUARDED if "{user}" in route.path and route.path not in OF_BACK_ENDS and "operator" not in route.path
]
OF_OPERATORS = [
    route for route in GUARDED if "/operator/" in route.path or route.path == "/v1/metrics" or route.method == "PATCH"
]


def named(route: Route) -> str:
    return f"{route.method} {route.path}"


def test_the_document_knows_the_routes() -> None:
    assert len(GUARDED) >= 30
    assert set(GUARDED) == {*OF_USERS, *OF_OPERATORS, *(route for route in GUARDED if route.path in OF_BACK_ENDS), *ANYBODY}


@pytest.mark.parametrize("route", GUARDED, ids=named)
def test_without_a_valid_credential_nothing_is_answered(one_service: Service, route: Route) -> None:
    access = one_service.system.use_cases.credentials
    key, revoked = access.create("test", ["app", "tokens", "operator", "data"])
    token, _ = access.create_user_token(Caller(key.id, frozenset()), "x1")
    access.revoke(key.id).result()
    user, _ = one_service.key.rsplit("_", 1)
    unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4MSIsImtpZCI6IngiLCJleHAiOjk5OTk5OTk5OTl9."
    headers: list[dict[str, str | bytes]] = [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": f"Basic {one_service.key}"},
        {"Authorization": "Bearer é".encode("latin-1")},
        *({"Authorization": f"Bearer {bad}"} for bad in ("x", f"{user}_00", "kz__", "kz_", revoked, token, unsigned)),
    ]
    for header in headers:
        answer = one_service.client.request(route.method, f"/v1{route.of('x1')}", headers=header, **route.body)
        assert answer.status_code == 401, (header, answer.text)
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def timed(opened: Opened, clock: Clock) -> Service:
    """A service with a clock that a test sets."""
    return opened("memory", clock=clock)


def test_an_expired_token_is_refused(timed: Service, clock: Clock) -> None:
    one, _ = timed.couple()
    token = timed.token(one, seconds=1)
    assert timed.call("GET", f"/people/{one}", by=token).status_code == 200
    clock.wait(seconds=2)
    assert timed.call("GET", f"/people/{one}", by=token).status_code == 401


@pytest.mark.parametrize("route", OF_USERS, ids=named)
def test_another_users_object_looks_like_one_that_does_not_exist(one_service: Service, route: Route) -> None:
    mine, theirs = one_service.couple()
    token = one_service.token(mine)
    there, nowhere = (
        one_service.call(route.method, route.of(user), by=token, **route.body) for user in (theirs, f"nobody-{next(NUMBERS)}")
    )
    assert there.status_code == nowhere.status_code == 404
    assert _anonymous(there.json()) == _anonymous(nowhere.json())
    assert set(there.headers) == set(nowhere.headers)
    assert one_service.call("GET", f"/people/{theirs}").json()["version"] == 1


@pytest.mark.parametrize("route", [*OF_OPERATORS, *(route for route in GUARDED if route.path in OF_BACK_ENDS)], ids=named)
def test_a_user_may_not_do_what_back_ends_and_operators_do(one_service: Service, route: Route) -> None:
    mine, _ = one_service.couple()
    answer = one_service.call(route.method, route.of(mine), by=one_service.token(mine), **route.body)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize("route", GUARDED, ids=named)
def test_a_key_reaches_as_far_as_its_scopes(one_service: Service, route: Route, keys: dict[str, str]) -> None:
    if route in OPERATORS_TOO:
        wanted = {"app", "operator"}
    elif route in ANYBODY:
        wanted = {"app", "tokens", "data", "operator"}
    elif route in OF_OPERATORS:
        wanted = {"operator"}
    elif route.path in OF_DATA:
        wanted = {"data"}
    else:
        wanted = {"tokens"} if route.path == "/v1/tokens" else {"app"}
    for scope, key in keys.items():
        status = one_service.call(route.method, route.of(f"nobody-{next(NUMBERS)}"), by=key, **route.body).status_code
        assert (status != 403) == (scope in wanted), (scope, status)


@pytest.fixture(scope="session")
def keys(one_service: Service) -> dict[str, str]:
    return {scope: one_service.key_with(scope) for scope in ("app", "tokens", "data", "operator")}


def test_a_token_serves_its_own_user(one_service: Service) -> None:
    one, two = one_service.couple()
    token = one_service.token(one)
    assert one_service.call("GET", f"/people/{one}", by=token).status_code == 200
    assert one_service.swipe(one, two, by=token).status_code == 200


def test_revoking_a_key_ends_it_and_its_tokens_within_two_seconds(timed: Service, clock: Clock) -> None:
    access = timed.system.use_cases.credentials
    key, text = access.create("test", ["app", "tokens"])
    one, _ = timed.couple()
    token, _ = access.create_user_token(Caller(key.id, frozenset()), one)
    for credential in (text, token):
        assert timed.call("GET", f"/people/{one}", by=credential).status_code == 200
    access.revoke(key.id).result()
    clock.wait(seconds=2)
    for credential in (text, token):
        assert timed.call("GET", f"/people/{one}", by=credential).status_code == 401


def test_a_clock_that_was_set_back_makes_no_revoked_key_last(timed: Service, clock: Clock) -> None:
    access = timed.system.use_cases.credentials
    key, text = access.create("test", ["app"])
    assert timed.call("GET", "/vocabulary", by=text).status_code == 200
    access.revoke(key.id).result()
    clock.wait(hours=-1)
    assert timed.call("GET", "/vocabulary", by=text).status_code == 401


def _anonymous(problem: dict[str, Any]) -> dict[str, Any]:
    detail = re.sub(r"'[^']*'", "'…'", problem["detail"])
    return problem | {"detail": detail, "request_id": ""}
