"""The client against the service: every route has a method, every answer a type, and a lost answer does no harm."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from types import ModuleType
from typing import Any, get_args, get_type_hints

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

PROBLEM: dict[str, Any] = {"title": "", "status": 503, "code": "x", "detail": "y", "request_id": "r"}
QUICK = RetryPolicy(attempts=4, first=0.001, longest=0.01)


def calls() -> dict[str, Callable[..., Call[Any]]]:
    def own(module: ModuleType) -> Iterator[tuple[str, Callable[..., Call[Any]]]]:
        for name, one in vars(module).items():
            if inspect.isfunction(one) and one.__module__ == module.__name__ and not name.startswith("_"):
                yield name, one

    return dict([*own(user_calls), *own(service_calls)])


def made(make: Callable[..., Call[Any]]) -> Call[Any]:
    """A call with values that fit."""
    values: dict[str, Any] = {"born": "1990-01-01", "data": b"", "format": "csv", "up_to": 1}
    needed = [one for one in inspect.signature(make).parameters.values() if one.default is one.empty]
    return make(**{one.name: values.get(one.name, "x") for one in needed})


def operations(app: Any) -> list[tuple[str, str, dict[str, Any]]]:
    paths = app.openapi()["paths"]
    return [(method.upper(), path.removeprefix("/v1"), one) for path, methods in paths.items() for method, one in methods.items()]


def fits(template: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path) is not None


def test_both_clients_have_every_call() -> None:
    for kind in (Client, AsyncClient):
        methods = {name for name in vars(kind) if not name.startswith("_")} - {"send", "close"}
        assert methods == set(calls())
    with Client("http://127.0.0.1:1", "key") as client:
        assert client.record_swipe.__doc__ == user_calls.record_swipe.__doc__


def test_every_operation_is_a_method_that_returns_its_model(one_service: Any) -> None:
    methods = calls()
    for method, template, operation in operations(one_service.app):
        make = methods.pop(re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", operation["operationId"]))
        call = made(make)
        assert (call.method, fits(template, call.path)) == (method, True), operation["operationId"]
        (returned,) = get_args(get_type_hints(make)["return"])
        for status, response in operation["responses"].items():
            schema = response.get("content", {}).get("application/json", {}).get("schema", {})
            if status.startswith("2") and "$ref" in schema:
                assert schema["$ref"] == f"#/components/schemas/{returned.__name__}"
    assert not methods


@pytest.fixture
def client(service: Any) -> Iterator[Client]:
    with Client(str(service.client.base_url), service.key, retries=QUICK) as made:
        yield made


def test_somebody_is_held_back_and_released(service: Any, client: Client) -> None:
    one, _ = service.couple()
    client.hold_person(one)
    assert client.get_timeline(one).held
    client.release_person(one)
    assert not client.get_timeline(one).held


def test_an_experiment_is_read_by_the_client(opened: Any) -> None:
    """Two arms of a running service: exposure is counted as decks are dealt, and nothing is said of a few."""
    arms = {"usual": {}, "paper": {"policy": "paper", "share": 2.0}}
    service = opened("memory", experiment="spring", experiment_arms=arms, experiment_salt="s")
    with Client(str(service.client.base_url), service.key, retries=QUICK) as client:
        assert [(arm.name, arm.policy, arm.share, arm.decks) for arm in client.get_experiment().arms] == [
            ("usual", "mutual", 1.0, 0),
            ("paper", "paper", 2.0, 0),
        ]
        for _ in range(8):
            one, two = service.couple()
            service.swipe(one, two)
        service.system.use_cases.answers.clear()  # a report is kept for a minute
        found = client.get_experiment()
    assert (found.name, found.assigned) == ("spring", "user")
    assert sum(arm.waiting for arm in found.arms) == sum(arm.decks for arm in found.arms) == 8
    assert all(outcome.mean is None for arm in found.arms for outcome in arm.outcomes)
    assert found.contrasts[0].difference is None


def test_without_an_experiment_there_is_none_to_read(client: Client) -> None:
    found = client.get_experiment()
    assert (found.name, found.arms, found.contrasts) == ("", (), ())


def test_a_life_by_the_client(service: Any, client: Client) -> None:
    one, two = service.couple()
    mine = client.get_profile(one)
    assert (mine.id, mine.born, mine.version) == (one, date(1990, 5, 17), 1)
    service.system.serving_index.follow()
    deck = client.create_deck(one, size=3)
    assert [card.id for card in deck.cards] == [two]
    assert deck.id is not None
    assert deck.expires is not None
    assert deck.expires > datetime.now(UTC)
    first = client.record_swipe(one, two, "like", deck=deck.id, id="first")
    assert client.record_swipe(one, two, "like", deck=deck.id, id="first") == first
    with pytest.raises(InvalidRequestError) as reused:
        client.record_swipe(one, two, "pass", deck=deck.id, id="first")
    assert reused.value.code == "id-reused"
    assert [like.candidate for like in client.list_likes(one).items] == [two]
    client.undo_swipe(one, "first")
    client.record_swipe(one, two, "like", deck=deck.id)
    assert client.end_session(one).ended
    theirs = client.create_deck(two)
    assert theirs.id is not None
    match = client.record_swipe(two, one, "like", deck=theirs.id).match
    assert match is not None
    (kept,) = client.list_matches(one).items
    assert (kept.id, kept.other.id) == (match, two)
    assert client.record_outcome(one, match, "message").outcomes == ("message",)
    assert client.get_preference(one, most=3).swipes == 1
    assert client.get_preference_history(one).steps
    assert client.explain_candidate(one, two).fits is not None
    assert client.list_events(one).items[0].kind == "session-ended"
    assert client.rank_candidates(one, [two, "nobody"]).excluded
    page = client.list_messages(limit=1000)
    assert {message.data["match"] for message in page.items if message.data.get("user") == one} == {match}
    assert client.acknowledge_messages(page.last).deleted >= 2
    client.end_match(one, match)
    client.block_person(one, two)
    assert [blocked.other for blocked in client.list_blocks(one).items] == [two]
    client.unblock_person(one, two)
    assert client.create_report(one, two, "rude").id
    (report,) = [report for report in client.list_reports(limit=200).items if report.user == one]
    assert client.close_report(report.id, "talked to them").closed is not None
    assert client.get_timeline(one).blocks[0].reported
    assert client.get_overview().people >= 2 <= client.get_group("woman").members.people + client.get_group("man").members.people
    client.reset_preference(one)
    assert client.pause_profile(one).paused
    assert not client.resume_profile(one).paused
    assert client.export_personal_data(one)["profile"]["id"] == one
    client.erase_person(two)
    assert client.get_erasure(two).people_left in range(1_001)
    with pytest.raises(NotFoundError):
        client.get_profile(two)


def test_an_operator_by_the_client(service: Any, client: Client) -> None:
    one, two = service.couple()
    client.create_report(one, two, "rude")
    (report,) = [report for report in client.list_reports(limit=200).items if report.user == one]
    client.close_report(report.id)
    assert client.reopen_report(report.id).closed is None
    client.block_person(two, one)
    client.remove_block(two, one)
    client.hold_person(two)
    assert two in [person.id for person in client.find_people(limit=200).items if person.held_by]
    client.release_person(two)
    assert client.find_people(two).items[0].id == two
    assert client.find_people(client.get_profile(one).name, limit=200).items
    assert client.get_service_health(24).hours == 24


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
    assert bad.value.errors[0].field == "tags"
    name = f"tag of {user}"
    assert name in [term.name for term in client.change_vocabulary(add_tags=[name]).terms]
    assert client.get_vocabulary().minimum_age == 18


def test_import_and_export(service: Any, client: Client) -> None:
    user = f"{service.couple()[0]}-imported"
    rows = f"key,name,born,i_am,i_look_for\n{user},Bo Example,1990-01-01,man,woman\n".encode()
    assert client.import_profiles(rows, "csv", columns={"id": "key"}, dry_run=True).written == 0
    assert client.import_profiles(rows, "csv", columns={"id": "key"}).written == 1
    assert client.import_profiles(rows, "csv", columns={"id": "key"}).unchanged == 1
    with pytest.raises(InvalidRequestError) as bad:
        client.import_profiles(rows.replace(b"1990", b"90"), "csv", columns={"id": "key"})
    dry = client.import_profiles(rows.replace(b"1990", b"90"), "csv", columns={"id": "key"}, dry_run=True)
    told = [(one.row, one.field, one.problem) for one in bad.value.errors]
    assert (bad.value.code, told[0][:2]) == ("bad-rows", (2, "born"))
    assert told == [(one.row, one.field, one.problem) for one in dry.problems]  # the same shape in both
    german = f"uid;name;born;i_am;i_look_for\n{user};Bo;31.12.1990;male;woman\n".encode("cp1252")
    with pytest.raises(
        InvalidRequestError, match=r"this would import 1 rows: .column=id%3Duid&map=i_am%3Dmale%3Aman&date_format="
    ):
        client.import_profiles(german, "csv")
    how: Any = {"columns": {"id": "uid"}, "maps": {"i_am": {"male": "man"}}, "date_format": "DD.MM.YYYY"}
    mended = client.import_profiles(german, "csv", **how)
    assert (mended.written, mended.read_as) == (1, "CSV, semicolons, UTF-8")
    assert user in client.export_profiles("jsonl").decode()
    assert client.export_swipes("parquet").startswith(b"PAR1")


def test_an_import_that_meets_a_bad_row_while_it_writes_says_what_was_written(service: Any, client: Client) -> None:
    one, two = service.couple()
    moment = "2026-01-01T12:00:00Z"
    rows = (
        f"user,candidate,decision,at,id\n{one},{two},like,{moment},a\n{one},{two},pass,{moment},a\n{one},{two},pass,{moment},b\n"
    )
    told = client.import_swipes(rows.encode(), "csv")
    assert (told.written, told.bad, told.complete) == (2, 1, True)
    assert told.problems[0].row == 3


def test_tokens_health_and_refusals(service: Any, client: Client) -> None:
    one, two = service.couple()
    url = str(service.client.base_url)
    with Client(url, client.create_token(one).token, retries=QUICK) as device:
        assert device.get_profile(one).id == one
        with pytest.raises(NotFoundError):
            device.get_profile(two)
        with pytest.raises(ForbiddenError):
            device.get_overview()
    with Client(url, "kz_no_key") as stranger, pytest.raises(UnauthorizedError):
        stranger.get_profile(one)
    assert client.get_liveness().ok
    assert client.get_readiness().ok
    assert "kaczmatch_request_seconds" in client.get_metrics()
    client.pause_profile(one)
    with pytest.raises(ConflictError):
        client.create_deck(one)
    with pytest.raises(NotFoundError):
        client.get_profile("../health/live")


def test_the_async_client_says_the_same(service: Any, client: Client) -> None:
    one, two = service.couple()

    async def both() -> None:
        async with AsyncClient(str(service.client.base_url), service.key) as other:
            mine, theirs = await asyncio.gather(other.get_profile(one), other.get_profile(two))
            assert mine == client.get_profile(one)
            assert theirs == client.get_profile(two)
            with pytest.raises(NotFoundError):
                await other.get_profile("nobody")

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
                return httpx.Response(fault, json=PROBLEM | {"status": fault}, headers={"Retry-After": "0"})
            raise fault("lost")
        return httpx.Response(200, json={"id": "s", "at": "2026-01-01T00:00:00Z", "match": None})


def talking(flaky: Callable[[httpx.Request], httpx.Response], **options: Any) -> Client:
    return Client("http://test", "key", retries=QUICK, transport=httpx.MockTransport(flaky), **options)


def test_a_swipe_is_sent_again_under_the_same_id() -> None:
    flaky = Flaky(httpx.ConnectError, httpx.ReadTimeout, 503)
    with talking(flaky) as client:
        assert client.record_swipe("ann", "bob", "like", deck="d").id == "s"
    assert len(flaky.seen) == 4
    assert len({request.url for request in flaky.seen}) == 1
    flaky = Flaky()
    with talking(flaky) as client:
        client.record_swipe("ann", "bob", "like", deck="d"), client.record_swipe("ann", "bob", "like", deck="d")
    assert len({request.url for request in flaky.seen}) == 2


def test_the_async_client_tries_again_too() -> None:
    flaky = Flaky(httpx.ConnectError, 429)

    async def swiped() -> str:
        async with AsyncClient("http://test", "key", retries=QUICK, transport=httpx.MockTransport(flaky)) as client:
            return (await client.record_swipe("ann", "bob", "like", deck="d")).id

    assert asyncio.run(swiped()) == "s"
    assert len({request.url for request in flaky.seen}) == 1


def test_when_it_is_not_tried_again() -> None:
    with talking(Flaky(*[httpx.ConnectError] * 9)) as client, pytest.raises(ServiceUnreachableError):
        client.get_profile("ann")
    with talking(Flaky(*[503] * 9)) as client, pytest.raises(ServiceUnavailableError):
        client.get_profile("ann")
    flaky = Flaky(httpx.ReadTimeout)
    with talking(flaky) as client, pytest.raises(ServiceUnreachableError):
        client.create_report("ann", "bob", "rude")  # it may have arrived, and would be made twice
    assert len(flaky.seen) == 1
    flaky = Flaky(500)
    with talking(flaky) as client, pytest.raises(ApiError):
        client.get_profile("ann")
    assert len(flaky.seen) == 1


def test_a_quota_is_not_waited_for_all_day() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(429, json=PROBLEM | {"status": 429, "code": "quota"}, headers={"Retry-After": "3600"})

    with Client("http://test", "key", transport=httpx.MockTransport(answer)) as client, pytest.raises(RateLimitError) as refused:
        client.create_deck("ann")
    assert refused.value.retry_after == 3600.0


def test_what_may_have_been_done_is_sent_again_only_if_that_does_no_harm() -> None:
    asked: list[str] = []

    def lost(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        told = PROBLEM | {"code": "outcome-unknown"}
        return httpx.Response(503, json=told, headers={"Retry-After": "0"})

    with Client("http://127.0.0.1:1", "key", retries=QUICK, transport=httpx.MockTransport(lost)) as client:
        with pytest.raises(ServiceUnavailableError):
            client.create_report("ada", "bo", "rude")
        assert len(asked) == 1
        with pytest.raises(ServiceUnavailableError):
            client.record_swipe("ada", "bo", "like", deck="d")
        assert len(asked) == 1 + QUICK.attempts


def test_a_later_service_may_say_more() -> None:
    said = {"id": "s", "at": "2026-01-01T00:00:00Z", "match": None, "more": {"than": "is known"}}
    with talking(lambda _: httpx.Response(200, json=said)) as client:
        assert client.record_swipe("ann", "bob", "like", deck="d").model_dump(exclude={"at"}) == {"id": "s", "match": None}
    refused = httpx.Response(404, json=PROBLEM | {"status": 404, "more": 1})
    with talking(lambda _: refused) as client, pytest.raises(NotFoundError) as found:
        client.get_profile("ann")
    assert (found.value.status, found.value.code, found.value.detail, found.value.request_id) == (404, "x", "y", "r")


def test_what_a_proxy_says_is_an_error_too() -> None:
    with (
        talking(lambda _: httpx.Response(404, text="<html>nothing here</html>")) as client,
        pytest.raises(NotFoundError) as found,
    ):
        client.get_profile("ann")
    assert (found.value.status, found.value.detail) == (404, "Not Found")
