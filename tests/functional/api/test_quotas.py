"""What one user can do to others and to the service in a day, what blocks and reports give away, and wrong keys."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import httpx
import pytest

from kaczmatch.service.domain.records import AbuseReport
from worlds.postgres import Server
from worlds.served import NUMBERS, Service

from .conftest import Opened

PROFILE = {"name": "Ada", "born": "1990-05-17", "i_am": ["woman"], "i_look_for": ["man"], "tags": ["climbing", "jazz"]}
LIMITS = dict.fromkeys(("changes_a_day", "blocks_a_day", "reports_a_day", "exports_a_day", "histories_a_day"), 3)


@pytest.fixture(scope="module", params=["memory", "sqlite", "postgres"])
def limited(request: pytest.FixtureRequest, opened: Opened) -> Service:
    if request.param != "postgres":
        return opened(request.param, **LIMITS)
    server: Server = request.getfixturevalue("postgres")
    return opened("postgres", database=server.new(), **LIMITS)


def asked(service: Service, what: str, user: str, place: int, by: str) -> httpx.Response:
    """One request of a kind that costs the service or somebody else something. Each can be sent again and again."""
    if what == "put":
        return service.call("PUT", f"/people/{user}", json=PROFILE | {"name": f"Ada {place}"}, by=by)
    if what == "pause":
        return service.call("POST", f"/people/{user}/{'resume' if place % 2 else 'pause'}", by=by)
    if what == "reset":
        return service.call("POST", f"/people/{user}/preference/reset", by=by)
    if what == "block":
        return service.call("PUT", f"/people/{user}/blocks/stranger-{place}", by=by)
    if what == "report":
        return service.call("POST", f"/people/{user}/reports", json={"other": "victim", "reason": "rude"}, by=by)
    service.ok("POST", f"/people/{user}/preference/reset")  # an event: what was made before does not answer this
    return service.call("GET", f"/people/{user}/{what}", by=by)


@pytest.mark.parametrize("what", ["put", "pause", "reset", "block", "report", "export", "preference/history"])
def test_a_users_token_has_a_quota_and_a_back_end_has_none(limited: Service, what: str) -> None:
    me, _ = limited.couple()
    token = limited.token(me)
    answers = [asked(limited, what, me, place, token) for place in range(5)]
    assert [answer.is_success for answer in answers] == [True] * 3 + [False] * 2, [answer.text for answer in answers]
    assert {answer.status_code for answer in answers[3:]} == {429}
    assert answers[3].json()["code"] == "quota"
    assert 0 < int(answers[3].headers["Retry-After"]) <= 86_400
    assert all(asked(limited, what, me, place, limited.key).is_success for place in range(5, 10))


@pytest.mark.parametrize("swipe", ["first", "nothing"])
def test_refused_undos_have_a_quota(opened: Opened, swipe: str) -> None:
    service = opened("memory", swipes_a_day=3)
    me, other = service.couple()
    token = service.token(me)
    service.swipe(me, other, "skip", "first")
    service.call("PUT", f"/people/{me}/swipes/last", json={"candidate": other, "decision": "pass"})
    answers = [service.call("DELETE", f"/people/{me}/swipes/{swipe}", by=token) for _ in range(4)]
    refused = {"first": 409, "nothing": 404}[swipe]
    assert [answer.status_code for answer in answers] == [refused] * 3 + [429]
    assert answers[3].json()["code"] == "quota"
    assert 0 < int(answers[3].headers["Retry-After"]) <= 86_400
    assert service.call("DELETE", f"/people/{me}/swipes/last", by=token).status_code == 429


def test_parallel_reports_at_a_quota_of_three_are_exactly_three(limited: Service) -> None:
    me, _ = limited.couple()
    token, barrier = limited.token(me), Barrier(8)

    def report(place: int) -> int:
        barrier.wait()
        return asked(limited, "report", me, place, token).status_code

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(report, range(8))) == [201] * 3 + [429] * 5
    with limited.system.store.read() as reader:
        assert reader.count(AbuseReport, user=me) == 3


def test_an_export_that_was_made_before_is_free_and_one_with_news_is_not(limited: Service) -> None:
    me, other = limited.couple()
    token = limited.token(me)
    for _ in range(6):
        assert limited.call("GET", f"/people/{me}/export", by=token).status_code == 200
    limited.swipe(me, other, swipe="news")
    assert "news" in [event["id"] for event in limited.ok("GET", f"/people/{me}/export", by=token)["events"]]
    assert "news" in [step["event"]["id"] for step in limited.ok("GET", f"/people/{me}/preference/history", by=token)["steps"]]


def test_nothing_of_somebody_who_was_erased_is_left_in_what_was_made_before(limited: Service) -> None:
    me, other = limited.couple()
    limited.swipe(me, other)
    before = [limited.call("GET", f"/people/{me}/{what}").text for what in ("export", "preference/history")]
    assert all(other in text for text in before)
    answers = limited.system.use_cases.answers
    assert any(other.encode() in content for _, content in answers._kept.values())
    limited.ok("DELETE", f"/people/{other}")
    assert not any(other.encode() in content for _, content in answers._kept.values())
    assert all(other not in limited.call("GET", f"/people/{me}/{what}").text for what in ("export", "preference/history"))


def test_another_process_forgets_what_it_made_when_it_sees_an_erasure(limited: Service) -> None:
    me, other = limited.couple()
    limited.swipe(me, other)
    limited.ok("GET", f"/people/{me}/export")
    limited.system.use_cases.erasure.erase(other)  # as another process, or the command, does it
    limited.system.serving_index.follow()
    assert not any(other.encode() in content for _, content in limited.system.use_cases.answers._kept.values())


def shape(answer: httpx.Response) -> Any:
    """All of an answer but ids and lengths that are those of any request."""
    body = answer.json() if answer.content else {}
    varying = {"date", "x-request-id"}
    return answer.status_code, sorted(body), {name: value for name, value in answer.headers.items() if name not in varying}


def test_somebody_who_does_not_exist_is_blocked_and_reported_like_somebody_who_does(limited: Service) -> None:
    me, known = limited.couple()
    stranger, nobody = f"{known}x", f"nobody-{next(NUMBERS)}"
    limited.person(stranger)
    token, answers = limited.token(me), {}
    for other in (stranger, nobody):
        told = [
            limited.call("PUT", f"/people/{me}/blocks/{other}", by=token),
            limited.call("PUT", f"/people/{me}/blocks/{other}", by=token),
            limited.call("DELETE", f"/people/{me}/blocks/{other}", by=token),
            limited.call("POST", f"/people/{me}/reports", json={"other": other, "reason": "rude"}, by=token),
        ]
        assert all(answer.is_success for answer in told)
        answers[other] = [shape(answer) for answer in told]
    assert answers[stranger] == answers[nobody]
    blocked = limited.ok("GET", f"/people/{me}/blocks", by=token)["items"]
    assert [block["other"] for block in blocked] == [nobody, stranger]
    told = limited.ok("GET", f"/people/{me}/export", by=token)
    assert sorted((report["other"], report["met"]) for report in told["reports"]) == sorted([(stranger, False), (nobody, False)])
    assert limited.call("PUT", f"/people/{me}/blocks/{me}", by=token).status_code == 422


def test_operators_see_which_reports_are_about_strangers(limited: Service) -> None:
    me, shown = limited.couple()
    limited.deck(me)
    never = f"{shown}y"
    limited.person(never)
    for other in (shown, never):
        limited.ok("POST", f"/people/{me}/reports", json={"other": other, "reason": "rude"})
    reports = [one for one in limited.ok("GET", "/operator/reports", params={"limit": 200})["items"] if one["user"] == me]
    assert {one["other"]: one["met"] for one in reports} == {shown: True, never: False}


def test_that_the_other_side_saw_us_is_not_told(limited: Service) -> None:
    """Whether a report is about a stranger is in one's own export, and must not tell what the other person did."""
    me, admirer = limited.couple()
    limited.swipe(admirer, me)
    limited.ok("POST", f"/people/{me}/reports", json={"other": admirer, "reason": "rude"})
    (report,) = limited.ok("GET", f"/people/{me}/export")["reports"]
    assert report["met"] is False


def test_wrong_keys_are_slowed_down_and_right_ones_from_the_same_address_are_not(opened: Opened) -> None:
    service = opened("memory", wrong_keys_a_minute=1)  # so that the next one is due in a minute, which is too long to wait
    me, _ = service.couple()
    token = service.token(me)
    wrong = [f"kz_{'0' * 12}_{place}" for place in range(20)]
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda key: service.call("GET", f"/people/{me}", by=key), wrong))
    assert sorted(answer.status_code for answer in answers) == [401] + [429] * 19
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.json()["code"] == "too-many-wrong"
    assert 50 <= int(refused.headers["Retry-After"]) <= 60
    login = httpx.post(f"{service.address}/console/login", data={"key": wrong[1]})
    assert login.status_code == 429, "the console counts with it"
    assert service.call("GET", f"/people/{me}").status_code == 200
    assert service.call("GET", f"/people/{me}", by=token).status_code == 200
    right = httpx.post(f"{service.address}/console/login", data={"key": service.key})
    assert right.status_code == 303
