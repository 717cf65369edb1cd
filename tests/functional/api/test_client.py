"""The client against the service: every route has a method, every answer a type, and a lost answer does no harm."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from types import ModuleType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import httpx
import pytest

from kaczmatch.client import (
    ApiError,
    AsyncClient,
    Client,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    PreconditionFailedError,
    RateLimitError,
    RetryPolicy,
    ServiceUnavailableError,
    ServiceUnreachableError,
    UnauthorizedError,
    service_calls,
    user_calls,
)
from kaczmatch.client.call import Call

QUICK = RetryPolicy(tries=4, first=0.001, longest=0.01)


def calls() -> dict[str, Callable[..., Call[Any]]]:
    def own(module: ModuleType) -> Iterator[tuple[str, Callable[..., Call[Any]]]]:
        for name, one in vars(module).items():
            if inspect.isfunction(one) and one.__module__ == module.__name__:
                yield name, one

    return dict([*own(user_calls), *own(service_calls)])


def made(make: Callable[..., Call[Any]]) -> Call[Any]:
    """A call with values that fit."""
    values: dict[str, Any] = {"born": "1990-01-01", "data": b"", "what": "profiles", "format": "csv", "upto": 1}
    needed = [one for one in inspect.signature(make).parameters.values() if one.default is one.empty]
    return make(**{one.name: values.get(one.name, "x") for one in needed})


def operations(app: Any) -> list[tuple[str, str, dict[str, Any]]]:
    paths = app.openapi()["paths"]
    return [(method.upper(), path.removeprefix("/v1"), one) for path, methods in paths.items() for method, one in methods.items()]


def fits(template: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path) is not None


def test_both_clients_have_every_call() -> None:
    for kind in (Client, AsyncClient):
        methods = {name for name in vars(kind) if not name.startswith("_")} - {"do", "close"}
        assert methods == set(calls())
    with Client("http://127.0.0.1:1", "key") as client:
        assert client.swipe.__doc__ == user_calls.swipe.__doc__


def test_every_operation_has_a_method_and_the_answers_have_the_members_of_the_document(one_service: Any) -> None:
    by_route: dict[tuple[str, str], list[Callable[..., Call[Any]]]] = {}
    routes = operations(one_service.app)
    for make in calls().values():
        call = made(make)
        found = [(m, t) for m, t, _ in routes if m == call.method and fits(t, call.path) and (t.count("{") or t == call.path)]
        exact = min(found, key=lambda one: one[1].count("{"))
        by_route.setdefault(exact, []).append(make)
    schemas = one_service.app.openapi()["components"]["schemas"]
    for method, path, operation in routes:
        assert (method, path) in by_route, f"no method for {method} {path}"
        (make,) = by_route[method, path]
        (answer,) = get_args(get_type_hints(make)["return"])
        for status, response in operation["responses"].items():
            schema = response.get("content", {}).get("application/json", {}).get("schema", {})
            if status.startswith("2") and "$ref" in schema:
                compare(answer, schema, schemas)


def compare(kind: Any, schema: dict[str, Any], schemas: dict[str, Any]) -> None:
    if isinstance(kind, UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
        schema = next((one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"), schema)
    if get_origin(kind) is tuple:
        compare(get_args(kind)[0], schema["items"], schemas)
    elif is_dataclass(kind):
        whole = schemas[schema["$ref"].rpartition("/")[2]]
        assert {one.name for one in fields(kind)} == set(whole["properties"]), kind
        hints = get_type_hints(kind)
        for name, part in whole["properties"].items():
            compare(hints[name], part, schemas)


@pytest.fixture
def client(service: Any) -> Iterator[Client]:
    with Client(str(service.client.base_url), service.key, patience=QUICK) as made:
        yield made


def test_somebody_is_held_back_and_released(service: Any, client: Client) -> None:
    one, _ = service.couple()
    client.hold(one)
    assert client.timeline(one).held
    client.release(one)
    assert not client.timeline(one).held


def test_an_experiment_is_read_by_the_client(opened: Any) -> None:
    """Two arms of a running service: exposure is counted as decks are dealt, and nothing is said of a few."""
    arms = {"usual": {}, "paper": {"policy": "paper", "share": 2.0}}
    service = opened("memory", experiment="spring", experiment_arms=arms, experiment_salt="s")
    with Client(str(service.client.base_url), service.key, patience=QUICK) as client:
        assert [(arm.name, arm.policy, arm.share, arm.decks) for arm in client.experiment().arms] == [
            ("usual", "mutual", 1.0, 0),
            ("paper", "paper", 2.0, 0),
        ]
        for _ in range(8):
            one, two = service.couple()
            service.swipe(one, two)
        found = client.experiment()
    assert (found.name, found.assigned) == ("spring", "user")
    assert sum(arm.waiting for arm in found.arms) == sum(arm.decks for arm in found.arms) == 8
    assert all(outcome.mean is None for arm in found.arms for outcome in arm.outcomes)
    assert found.contrasts[0].difference is None


def test_without_an_experiment_there_is_none_to_read(client: Client) -> None:
    found = client.experiment()
    assert (found.name, found.arms, found.contrasts) == ("", (), ())


def test_a_life_by_the_client(service: Any, client: Client) -> None:
    one, two = service.couple()
    mine = client.profile(one)
    assert (mine.id, mine.born, mine.version) == (one, date(1990, 5, 17), 1)
    service.system.world.follow()
    deck = client.deck(one, size=3)
    assert [card.id for card in deck.cards] == [two]
    assert deck.deck is not None
    assert deck.expires is not None
    assert deck.expires > datetime.now(UTC)
    first = client.swipe(one, two, "like", deck=deck.deck, id="first")
    assert client.swipe(one, two, "like", deck=deck.deck, id="first") == first
    with pytest.raises(InvalidRequestError) as reused:
        client.swipe(one, two, "pass", deck=deck.deck, id="first")
    assert reused.value.code == "id-reused"
    assert [like.other for like in client.likes(one).items] == [two]
    client.undo(one, "first")
    client.swipe(one, two, "like", deck=deck.deck)
    assert client.end_session(one).ended
    theirs = client.deck(two)
    assert theirs.deck is not None
    match = client.swipe(two, one, "like", deck=theirs.deck).match
    assert match is not None
    (kept,) = client.matches(one).items
    assert (kept.id, kept.other.id) == (match, two)
    assert client.outcome(one, match, "message").outcomes == ("message",)
    assert client.preference(one, most=3).swipes == 1
    assert client.growth(one).steps
    assert client.why(one, two).fits is not None
    assert client.history(one).items[0].what == "session-ended"
    assert client.rank(one, [two, "nobody"]).left_out
    page = client.feed(limit=1000)
    assert {message.data["match"] for message in page.items if message.data.get("user") == one} == {match}
    assert client.acknowledge(page.last).deleted >= 2
    client.unmatch(one, match)
    client.block(one, two)
    assert [blocked.other for blocked in client.blocks(one).items] == [two]
    client.unblock(one, two)
    assert client.report(one, two, "rude").report
    (report,) = [report for report in client.open_reports(limit=200).items if report.user == one]
    assert client.close_report(report.id, "talked to them").closed is not None
    assert client.timeline(one).moments
    assert client.figures().people >= 2
    client.reset(one)
    assert client.pause(one).paused
    assert not client.resume(one).paused
    assert client.personal_data(one)["profile"]["id"] == one
    client.erase(two)
    with pytest.raises(NotFoundError):
        client.profile(two)


def test_profiles_versions_and_the_vocabulary(service: Any, client: Client) -> None:
    user = f"{service.couple()[0]}-more"
    about: dict[str, Any] = {"name": "Ada Example", "born": date(1990, 1, 2), "i_am": ["woman"], "i_look_for": ["man"]}
    put = client.put_profile(user, **about, location=(52.5, 13.4), within_km=20, tags=["jazz"], if_version=0)
    assert put.location is not None
    assert abs(put.location.latitude - 52.5) < 0.1
    with pytest.raises(PreconditionFailedError):
        client.put_profile(user, **about, if_version=0)
    assert client.put_profile(user, **about, if_version=1).version == 2
    with pytest.raises(InvalidRequestError) as bad:
        client.put_profile(user, **about | {"tags": ["nonsense"]})
    assert bad.value.errors[0][0] == "tags"
    name = f"tag of {user}"
    assert name in [one.name for one in client.change_vocabulary(add_tags=[name]).names]
    assert client.vocabulary().minimum_age == 18


def test_import_and_export(service: Any, client: Client) -> None:
    user = f"{service.couple()[0]}-imported"
    rows = f"key,name,born,i_am,i_look_for\n{user},Bo Example,1990-01-01,man,woman\n".encode()
    assert client.import_rows("profiles", rows, "csv", columns={"id": "key"}, dry_run=True).written == 0
    assert client.import_rows("profiles", rows, "csv", columns={"id": "key"}).written == 1
    assert client.import_rows("profiles", rows, "csv", columns={"id": "key"}).unchanged == 1
    with pytest.raises(InvalidRequestError) as bad:
        client.import_rows("profiles", rows.replace(b"1990", b"90"), "csv", columns={"id": "key"})
    assert (bad.value.code, bad.value.errors[0][0]) == ("bad-rows", "row 1, born")
    assert user in client.export_rows("profiles", "jsonl").decode()
    assert client.export_rows("swipes", "parquet").startswith(b"PAR1")


def test_an_import_that_meets_a_bad_row_while_it_writes_says_what_was_written(service: Any, client: Client) -> None:
    one, two = service.couple()
    moment = "2026-01-01T12:00:00Z"
    rows = (
        f"user,candidate,decision,at,id\n{one},{two},like,{moment},a\n{one},{two},pass,{moment},a\n{one},{two},pass,{moment},b\n"
    )
    told = client.import_rows("swipes", rows.encode(), "csv")
    assert (told.written, told.bad, told.complete) == (2, 1, True)
    assert told.problems[0].row == 2


def test_tokens_health_and_refusals(service: Any, client: Client) -> None:
    one, two = service.couple()
    url = str(service.client.base_url)
    with Client(url, client.token(one).token, patience=QUICK) as device:
        assert device.profile(one).id == one
        with pytest.raises(NotFoundError):
            device.profile(two)
        with pytest.raises(ForbiddenError):
            device.figures()
    with Client(url, "kz_no_key") as stranger, pytest.raises(UnauthorizedError):
        stranger.profile(one)
    assert client.live().ok
    assert client.ready().ok
    assert "kaczmatch_request_seconds" in client.metrics()
    client.pause(one)
    with pytest.raises(ConflictError):
        client.deck(one)
    with pytest.raises(NotFoundError):
        client.profile("../health/live")


def test_the_async_client_says_the_same(service: Any, client: Client) -> None:
    one, two = service.couple()

    async def both() -> None:
        async with AsyncClient(str(service.client.base_url), service.key) as other:
            mine, theirs = await asyncio.gather(other.profile(one), other.profile(two))
            assert mine == client.profile(one)
            assert theirs == client.profile(two)
            with pytest.raises(NotFoundError):
                await other.profile("nobody")

    asyncio.run(both())


class Flaky:
    """Loses requests or answers, or asks to come back, before it lets one through."""

    def __init__(self, *faults: int | type[Exception]) -> None:
        self.faults = list(faults)
        self.seen: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        if self.faults:
            fault = self.faults.pop(0)
            if isinstance(fault, int):
                return httpx.Response(fault, json={"code": "x", "detail": "y"}, headers={"Retry-After": "0"})
            raise fault("lost")
        return httpx.Response(200, json={"id": "s", "at": "2026-01-01T00:00:00Z", "match": None})


def talking(flaky: Flaky, **options: Any) -> Client:
    return Client("http://test", "key", patience=QUICK, transport=httpx.MockTransport(flaky), **options)


def test_a_swipe_is_sent_again_under_the_same_id() -> None:
    flaky = Flaky(httpx.ConnectError, httpx.ReadTimeout, 503)
    with talking(flaky) as client:
        assert client.swipe("ann", "bob", "like", deck="d").id == "s"
    assert len(flaky.seen) == 4
    assert len({request.url for request in flaky.seen}) == 1
    flaky = Flaky()
    with talking(flaky) as client:
        client.swipe("ann", "bob", "like", deck="d"), client.swipe("ann", "bob", "like", deck="d")
    assert len({request.url for request in flaky.seen}) == 2


def test_the_async_client_tries_again_too() -> None:
    flaky = Flaky(httpx.ConnectError, 429)

    async def swiped() -> str:
        async with AsyncClient("http://test", "key", patience=QUICK, transport=httpx.MockTransport(flaky)) as client:
            return (await client.swipe("ann", "bob", "like", deck="d")).id

    assert asyncio.run(swiped()) == "s"
    assert len({request.url for request in flaky.seen}) == 1


def test_when_it_is_not_tried_again() -> None:
    with talking(Flaky(*[httpx.ConnectError] * 9)) as client, pytest.raises(ServiceUnreachableError):
        client.profile("ann")
    with talking(Flaky(*[503] * 9)) as client, pytest.raises(ServiceUnavailableError):
        client.profile("ann")
    flaky = Flaky(httpx.ReadTimeout)
    with talking(flaky) as client, pytest.raises(ServiceUnreachableError):
        client.report("ann", "bob", "rude")  # it may have arrived, and would be made twice
    assert len(flaky.seen) == 1
    flaky = Flaky(500)
    with talking(flaky) as client, pytest.raises(ApiError):
        client.profile("ann")
    assert len(flaky.seen) == 1


def test_a_quota_is_not_waited_for_all_day() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(429, json={"code": "quota", "detail": "at most 2 in a day"}, headers={"Retry-After": "3600"})

    with Client("http://test", "key", transport=httpx.MockTransport(answer)) as client, pytest.raises(RateLimitError) as refused:
        client.deck("ann")
    assert refused.value.wait == 3600.0


def test_what_may_have_been_done_is_sent_again_only_if_that_does_no_harm() -> None:
    asked: list[str] = []

    def lost(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        told = {"title": "", "status": 503, "code": "uncertain", "detail": "", "request": ""}
        return httpx.Response(503, json=told, headers={"Retry-After": "0"})

    with Client("http://127.0.0.1:1", "key", patience=QUICK, transport=httpx.MockTransport(lost)) as client:
        with pytest.raises(ServiceUnavailableError):
            client.report("ada", "bo", "rude")
        assert len(asked) == 1
        with pytest.raises(ServiceUnavailableError):
            client.swipe("ada", "bo", "like", deck="d")
        assert len(asked) == 1 + QUICK.tries
