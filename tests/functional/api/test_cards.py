"""What apps get without a second look-up: data on cards, people listed and searched, decks for many, the size of a deck."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kaczmatch.schemas.decks import Deck
from kaczmatch.service.domain.records import Person
from worlds.served import NUMBERS, Service

DATA = {
    "photos": ["https://img.example/1.jpg"],
    "bio": "Zoë \U0001f9d7",
    "verified": True,
    "height": None,
    "n": 2.5,
    "deep": {"a": [1]},
}


def test_data_comes_back_on_cards_and_matches_and_teaches_nothing(service: Service) -> None:
    one, two = service.couple()
    place = service.ok("GET", f"/people/{two}")
    kept = ("name", "born", "i_am", "i_look_for", "location", "within_km", "tags")
    put = service.ok("PUT", f"/people/{two}", json={name: place[name] for name in kept} | {"data": DATA})
    assert put["data"] == service.ok("GET", f"/people/{two}")["data"] == DATA
    assert service.deck(one)["cards"][0]["data"] == DATA
    assert service.deck(two)["cards"][0]["data"] == {}
    service.swipe(one, two)
    service.swipe(two, one)
    assert service.ok("GET", f"/people/{one}/matches")["items"][0]["other"]["data"] == DATA
    assert service.ok("GET", f"/people/{two}/export")["profile"]["data"] == DATA
    assert "img.example" not in service.call("GET", f"/people/{one}/export").text
    assert all(b"img.example" not in (event.features or b"") for event in service.events(one))
    service.erase(two)
    with service.system.store.read() as reader:
        assert all("img.example" not in person.data for person in reader.find(Person))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('{"a": "' + "x" * 8_192 + '"}', "8,192 bytes"),
        ('{"a": "' + "é" * 4_100 + '"}', "8,192 bytes"),
        ('{"a": "\\ud800"}', "Unicode"),
        ('{"a": 1e999}', "finite"),
        ("[1, 2]", "dictionary"),
        ('"text"', "dictionary"),
    ],
)
def test_data_that_is_no_small_object_is_refused(one_service: Service, body: str, problem: str) -> None:
    said = f'{{"name": "Ann", "born": "1990-01-01", "i_am": ["woman"], "i_look_for": ["man"], "data": {body}}}'
    headers = {"Content-Type": "application/json"}
    answer = one_service.call("PUT", "/people/ann-data", content=said.encode(), headers=headers)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "body.data"
    assert problem in answer.json()["detail"]


def listed(service: Service, **query: Any) -> list[str]:
    """Over all pages."""
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = service.ok("GET", "/people", params={"limit": 2, "cursor": cursor, **query})
        assert len(page["items"]) <= 2
        found += [one["id"] for one in page["items"]]
        cursor = page["next"]
    return found


def test_people_are_listed_in_the_order_in_which_they_came(service: Service) -> None:
    ids = [service.person(f"list{next(NUMBERS)}")["id"] for _ in range(5)]
    found = listed(service)
    assert [one for one in found if one in ids] == ids
    assert len(set(found)) == len(found)
    assert service.ok("GET", "/people", params={"limit": 1})["items"][0].keys() >= {"id", "name", "tags", "data"}


def test_people_are_found_by_how_a_word_of_their_name_begins(service: Service) -> None:
    mark = f"zq{next(NUMBERS)}x"  # a word that nobody else has
    names = {
        "a": f"Maria {mark}",
        "b": f"{mark} Anne-Marie {mark}son",  # three of its words begin so, and it is found once
        "c": f"Ánna Márquez {mark.upper()}",
        "d": f"Zoë {mark}",
    }
    ids = {key: service.person(f"{mark}-{key}", name=name)["id"] for key, name in names.items()}

    def found(name: str) -> set[str]:
        return {key for key, user in ids.items() if user in listed(service, name=name)}

    assert listed(service, name=mark) == [ids[key] for key in ("a", "c", "d", "b")]  # in the order of the alphabet
    assert listed(service, name=f"{mark} anne") == [ids["b"]]
    assert (found("mar"), found("MÁR"), found("zoe"), found("anna m")) == ({"a", "b", "c"}, {"a", "b", "c"}, {"d"}, {"c"})
    assert listed(service, name=mark[1:]) == listed(service, name=f"{mark}z") == listed(service, name="?!") == []
    service.person(ids["a"], name=f"Berta {mark}")
    assert listed(service, name=f"maria {mark}") == []
    assert listed(service, name=f"berta {mark}") == [ids["a"]]
    page = service.ok("GET", "/people", params={"name": mark, "limit": 1})
    service.ok("DELETE", f"/people/{ids['a']}")  # with whom the page ended
    rest = service.ok("GET", "/people", params={"name": mark, "cursor": page["next"]})
    assert [one["id"] for one in rest["items"]] == [ids[key] for key in ("c", "d", "b")]
    assert service.call("GET", "/people", params={"cursor": page["next"]}).status_code == 422


def test_people_are_listed_for_back_ends_alone(service: Service) -> None:
    one, _ = service.couple()
    for by in (service.token(one), service.key_with("tokens", "data", "operator")):
        assert service.call("GET", "/people", by=by).status_code == 403
        assert service.call("POST", "/decks", by=by, json={"users": [one]}).status_code == 403


def test_decks_for_many_each_with_a_deck_or_a_problem(service: Service) -> None:
    one, two = service.couple()
    paused, other = service.couple()
    service.ok("POST", f"/people/{paused}/pause")
    service.system.serving_index.follow()
    items = service.ok("POST", "/decks", json={"users": [one, "nobody-there", paused, other, two], "size": 5})["results"]
    assert [item["user"] for item in items] == [one, "nobody-there", paused, other, two]
    assert [item["problem"] and item["problem"]["code"] for item in items] == [None, "not-found", "conflict", None, None]
    assert [item["deck"] and len(item["deck"]["cards"]) for item in items] == [1, None, None, 0, 1]
    assert items[0]["deck"]["cards"][0]["id"] == two
    assert items[0]["deck"]["id"] == service.deck(one)["id"]
    assert service.call("POST", "/decks", json={"users": [one] * 51}).status_code == 422


@pytest.mark.parametrize("days", [1, 2_000], ids=["of yesterday", "who are away and in no deck"])
def test_a_back_end_that_asks_for_many_is_no_sign_of_the_people(service: Service, days: int) -> None:
    one, two = service.couple()
    store, long_ago = service.system.context.store, datetime.now(UTC).date() - timedelta(days=days)
    for user in (one, two):
        store.write(lambda tx, user=user: tx.put(replace(tx.get(Person, user), seen=long_ago))).result()  # type: ignore[misc]
    service.ok("POST", "/decks", json={"users": [one, two]})
    seen = service.system.use_cases.profiles.get
    assert {seen(one).seen, seen(two).seen} == {long_ago}
    service.deck(one)
    assert seen(one).seen > long_ago == seen(two).seen


def test_a_deck_of_another_size_says_so(service: Service) -> None:
    one, two = service.couple()
    first = service.deck(one, json={"size": 5})
    assert (first["size"], first["size_ignored"]) == (5, False)
    again = service.deck(one, json={"size": 7})
    assert (again["id"], again["size"], again["size_ignored"]) == (first["id"], 5, True)
    assert service.deck(one)["size_ignored"] is False  # no size was asked for
    service.swipe(one, two, "pass")
    service.ok("POST", f"/people/{two}/pause")
    empty = service.deck(one, json={"size": 9})
    assert (empty["cards"], empty["size"], empty["size_ignored"]) == ([], None, False)


def test_a_deck_is_written_as_its_model_would_write_it(service: Service) -> None:
    """Decks become JSON without the model that the reference documents."""
    number, lonely = next(NUMBERS), next(NUMBERS)
    service.person(f"ada-{number}", "woman", "man", number)
    service.person(f"bo-{number}", "man", "woman", number, tags=["jazz", "yoga"], data={"photo": "1.jpg"})
    service.person(f"cy-{lonely}", "woman", "man", lonely)
    full, empty = (service.call("POST", f"/people/{one}/deck") for one in (f"ada-{number}", f"cy-{lonely}"))
    for answer in (full, empty):
        assert answer.text == Deck.model_validate_json(answer.text).model_dump_json()
    assert full.json()["cards"][0]["data"] == {"photo": "1.jpg"}
    assert empty.json()["empty"]
