"""The demo: invented people, who answer; a key that is of use on this machine alone."""

from __future__ import annotations

import asyncio
import stat
from datetime import date
from pathlib import Path

import httpx
import numpy as np
import pytest

from kaczmatch.app.composition import open_store
from kaczmatch.app.demo.population import draw_population
from kaczmatch.app.demo.worlds import WORLDS
from kaczmatch.app.first_vocabulary import GENERAL
from kaczmatch.app.system import compose
from kaczmatch.recommend.people.schema import DATING
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.access.credentials import Unauthenticated
from kaczmatch.settings.model import DemoName, Settings
from worlds.served import Service

from .conftest import Opened


@pytest.fixture(scope="module")
def demo(opened: Opened) -> Service:
    return opened("sqlite", demo=True, demo_people=200)


def demo_key(service: Service) -> str:
    return (service.system.settings.data / "demo-key").read_text()


def test_the_same_seed_invents_the_same_people() -> None:
    one, two, other = (draw_population(30, seed, Vocabulary.of(GENERAL), date(2026, 1, 1)) for seed in (1, 1, 2))
    assert one.people == two.people
    np.testing.assert_array_equal(one.tastes, two.tastes)
    assert one.people != other.people


@pytest.mark.parametrize(("people", "world"), [(1_500, "dating"), (300, "mentoring"), (300, "jobs")])
def test_no_two_invented_people_have_one_name(people: int, world: DemoName) -> None:
    about = WORLDS[world]
    vocabulary = about.vocabulary or Vocabulary.of(GENERAL)
    drawn = draw_population(people, 1, vocabulary, date(2026, 1, 1), about.schema or DATING, about).people
    assert len({one.name for one in drawn.values()}) == people
    assert len(drawn) == people


def test_a_visitor_plays_as_an_invented_person(demo: Service) -> None:
    people = demo.ok("GET", "/demo/people")["people"]
    assert len(people) == 12
    one = people[0]["id"]
    refused = demo.client.post(f"/v1/demo/tokens/{one}")
    assert refused.status_code == 403  # a page of another site cannot send the header
    elsewhere = {"X-Kaczmatch-Demo": "1", "Sec-Fetch-Site": "cross-site"}
    assert demo.client.post(f"/v1/demo/tokens/{one}", headers=elsewhere).status_code == 403
    token = demo.client.post(f"/v1/demo/tokens/{one}", headers={"X-Kaczmatch-Demo": "1"}).json()["token"]
    deck = demo.ok("POST", f"/people/{one}/deck", by=token)
    assert deck["cards"]
    assert demo.ok("GET", f"/people/{one}/picks", by=token)["cards"]
    assert demo.ok("GET", f"/demo/people/{one}/taste")["weights"]


def test_invented_people_are_found_by_name_and_tag_page_by_page(demo: Service) -> None:
    everybody = demo.ok("GET", "/demo/people?limit=200")
    assert (len(everybody["people"]), everybody["more"]) == (200, False)
    page = demo.ok("GET", "/demo/people?find=jazz&limit=2&skip=1")
    assert page["more"]
    assert all("jazz" in one["tags"] for one in page["people"])
    name = everybody["people"][5]["name"]
    assert name in {one["name"] for one in demo.ok("GET", f"/demo/people?find={name.upper()}")["people"]}
    assert demo.ok("GET", "/demo/people?find=nothing-of-the-kind")["people"] == []
    assert any(one["swipes"] for one in everybody["people"])
    assert demo.ok("GET", "/demo/people/nobody/taste")["weights"] is None


def test_an_operator_finds_something_to_look_at_from_the_start(demo: Service) -> None:
    overview = demo.ok("GET", "/operator/overview")
    assert len(overview["stability"]) > 20  # people have finished sessions
    assert max(overview["stability"]) > 0.5
    reports = demo.ok("GET", "/operator/reports")["items"]
    assert {report["reason"] for report in reports} == {"spam", "rude", "fake"}
    assert len({report["user"] for report in reports}) == len(reports)


def test_somebody_new_finds_admirers_and_matches(demo: Service) -> None:
    me = {"name": "Newcomer", "born": "1993-01-01", "i_am": ["woman"], "i_look_for": ["man", "woman", "non-binary"]}
    place = {"location": {"latitude": 48.1, "longitude": 11.6}, "tags": ["jazz", "climbing", "cooking", "dogs"]}
    demo.ok("PUT", "/people/newcomer", json=me | place)
    replies = next(job for _, name, job in demo.system.jobs if name == "demo replies")
    for deck in range(3):
        cards = demo.deck("newcomer", json={"size": 20})
        for place_, card in enumerate(cards["cards"]):
            body = {"candidate": card["id"], "decision": "like", "deck": cards["id"]}
            demo.ok("PUT", f"/people/newcomer/swipes/s{deck}-{place_}", json=body)
        replies()
    assert demo.ok("GET", "/people/newcomer/matches")["items"]


def test_about_one_like_in_six_matches_at_first(demo: Service) -> None:
    """Newcomers of several tastes like the first 24 people whom they are shown; those answer by their own taste."""
    replies = next(job for _, name, job in demo.system.jobs if name == "demo replies")
    groups = list(demo.ok("GET", "/demo/people?limit=1")["groups"].values())
    likes = matches = 0
    for number in range(12):
        user, some = f"first-{number}", groups[number % len(groups)]
        me = {"name": "New", "born": "1993-01-01", "i_am": ["woman", "man"], "i_look_for": ["man", "woman", "non-binary"]}
        place = {"location": {"latitude": 48.1, "longitude": 11.6}, "tags": [*some[number % 3 :: 3], groups[number % 5][1]]}
        demo.ok("PUT", f"/people/{user}", json=me | place)
        for _ in range(3):
            deck = demo.deck(user, json={"size": 8})
            for card in deck["cards"]:
                body = {"candidate": card["id"], "decision": "like", "deck": deck["id"]}
                demo.ok("PUT", f"/people/{user}/swipes/{card['id']}", json=body)
                likes += 1
            replies()
        matches += len(demo.ok("GET", f"/people/{user}/matches?limit=100")["items"])
    assert likes > 200
    assert 1 / 9 < matches / likes < 1 / 4


def test_the_demo_key_is_private_and_works_from_this_machine_alone(demo: Service) -> None:
    file = demo.system.settings.data / "demo-key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert demo.call("GET", "/vocabulary", by=demo_key(demo)).status_code == 200
    proxied = demo.call("GET", "/vocabulary", by=demo_key(demo), headers={"X-Forwarded-For": "127.0.0.1"})
    assert proxied.status_code == 401

    async def from_elsewhere(path: str) -> int:
        transport = httpx.ASGITransport(demo.app, client=("192.0.2.7", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return (await client.get(path, headers={"Authorization": f"Bearer {demo_key(demo)}"})).status_code

    assert asyncio.run(from_elsewhere("/v1/vocabulary")) == 401
    assert asyncio.run(from_elsewhere("/v1/demo/people")) == 403


def test_another_host_name_is_refused_so_that_no_site_can_rebind_to_it(demo: Service) -> None:
    assert demo.client.get("/v1/health/live", headers={"Host": "elsewhere.example"}).status_code == 421
    assert demo.client.get("/v1/health/live", headers={"Host": "localhost:8000"}).status_code == 200


def test_without_the_demo_its_key_ends(opened: Opened) -> None:
    service = opened("memory", demo=True, demo_people=10)
    key = demo_key(service)
    data = service.system.settings.data
    system = compose(Settings(data=data), service.system.store)
    with pytest.raises(Unauthenticated):
        system.use_cases.credentials.caller(key)


def test_the_demo_works_again_after_the_service_ran_without_it(opened: Opened, tmp_path: Path) -> None:
    """Every run without it ends the demo's key; none of those that ended signs a visitor's token."""
    chosen = Settings(data=tmp_path, demo_people=10)
    store = open_store(chosen)
    for _ in range(6):
        compose(chosen.model_copy(update={"demo": "dating"}), store)
        compose(chosen, store)
    store.close()
    demo = opened("sqlite", data=tmp_path, demo=True, demo_people=10)
    token = demo.client.post("/v1/demo/tokens/somebody", headers={"X-Kaczmatch-Demo": "1"}).json()["token"]
    assert demo.call("GET", "/vocabulary", by=token).status_code == 200


@pytest.mark.parametrize(("world", "kinds"), [("mentoring", ("mentor", "mentee")), ("jobs", ("job", "candidate"))])
def test_a_demo_beyond_dating_has_kinds_and_terms_of_its_own_and_nobody_has_an_age(
    opened: Opened, world: str, kinds: tuple[str, str]
) -> None:
    demo = opened("memory", demo=world, demo_people=80)
    words = demo.ok("GET", "/vocabulary")
    assert (tuple(words["kinds"]), words["age_required"]) == (kinds, False)
    terms = {term["name"]: term["kinds"] for term in words["terms"]}
    found = demo.ok("GET", "/demo/people?limit=80")
    people = found["people"]
    assert {tuple(one["i_am"]) for one in people} == {(kind,) for kind in kinds}
    for one in people:
        assert one["age"] is None
        assert all(one["i_am"][0] in terms[tag] for tag in one["tags"] if terms[tag])
        liked = [tag for tag, weight in demo.ok("GET", f"/demo/people/{one['id']}/taste")["weights"].items() if weight > 0]
        assert all(terms[tag] == one["i_look_for"] for tag in liked)  # a taste for what the other side can be
    takes = words["capacity"][kinds[0]]
    demo.ok("PUT", "/people/newcomer", json={"name": "New", "i_am": [kinds[0]], "location": found["location"]})
    replies = next(job for _, name, job in demo.system.jobs if name == "demo replies")
    for _ in range(8):
        deck = demo.deck("newcomer", json={"size": 10})
        if not deck["cards"]:
            break
        assert {card["age"] for card in deck["cards"]} == {None}
        for card in deck["cards"]:
            body = {"candidate": card["id"], "decision": "like", "deck": deck["id"]}
            answer = demo.call("PUT", f"/people/newcomer/swipes/s-{card['id']}", json=body)
            assert answer.is_success or answer.json()["code"] == "full"
        replies()
    assert len(demo.ok("GET", "/people/newcomer/matches?limit=100")["items"]) == takes
    assert "as many open matches as you take" in deck["empty"]
