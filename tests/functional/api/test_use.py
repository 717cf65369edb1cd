"""The API as an app's back end and its users use it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from worlds.served import NUMBERS, Service


def test_a_profile_is_put_and_got(service: Service) -> None:
    one, _ = service.couple()
    got = service.call("GET", f"/people/{one}")
    assert got.headers["ETag"] == '"1"'
    assert got.json()["name"] == f"Name of {one}"
    assert got.json()["tags"] == ["climbing", "jazz"]
    assert service.call("GET", f"/people/{one}", headers={"If-None-Match": '"1"'}).status_code == 304


def test_where_somebody_is_is_kept_coarsely(service: Service) -> None:
    user = f"place-{next(NUMBERS)}"
    told = service.person(user, location={"latitude": 48.13743, "longitude": 11.57549})
    assert told["location"] == {"latitude": 48.15, "longitude": 11.55}


def test_a_change_is_made_to_the_version_that_was_seen_only(service: Service) -> None:
    one, _ = service.couple()
    body = {"name": "Ada", "born": "1990-05-17", "i_am": ["woman"], "i_look_for": ["man"]}
    path = f"/people/{one}"
    assert service.call("PUT", path, json=body, headers={"If-None-Match": "*"}).status_code == 412
    assert service.call("PUT", path, json=body, headers={"If-Match": '"7"'}).status_code == 412
    changed = service.call("PUT", path, json=body, headers={"If-Match": '"1"'})
    assert (changed.status_code, changed.headers["ETag"]) == (200, '"2"')
    assert service.call("PUT", path, json=body, headers={"If-Match": "*"}).status_code == 200
    new = f"/people/new-{next(NUMBERS)}"
    assert service.call("PUT", new, json=body, headers={"If-Match": "*"}).status_code == 412
    assert service.call("PUT", new, json=body, headers={"If-None-Match": "*"}).status_code == 201


def test_a_card_says_why_and_gives_no_score_away(service: Service) -> None:
    one, two = service.couple()
    (card,) = service.deck(one)["cards"]
    assert set(card) == {"id", "name", "age", "tags", "reason", "why", "why_code", "fits", "data"}
    assert (card["id"], card["fits"]) == (two, [])


def test_a_reload_returns_the_open_deck(service: Service) -> None:
    one, _ = service.couple()
    assert service.deck(one) == service.deck(one)


def test_parallel_requests_for_a_deck_get_one_deck(service: Service) -> None:
    one, _ = service.couple()
    service.system.serving_index.follow()
    barrier = Barrier(8)

    def ask(_: int) -> str:
        barrier.wait()
        return str(service.ok("POST", f"/people/{one}/deck", json={"size": 5})["id"])

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1


def test_an_empty_deck_says_what_would_help(service: Service) -> None:
    one, _ = service.couple()
    known = service.ok("GET", f"/people/{one}")
    kept = ("name", "born", "i_am", "i_look_for", "location", "within_km", "tags")
    service.ok("PUT", f"/people/{one}", json={name: known[name] for name in kept} | {"youngest": 100, "oldest": 120})
    told = service.deck(one)
    assert (told["id"], told["cards"]) == (None, [])
    assert told["empty"]
    assert told["hints"][0]["filter"] == "age"


def test_a_swipe_sent_twice_has_one_effect_and_one_answer(service: Service) -> None:
    one, two = service.couple()
    deck = service.deck(one)["id"]
    path, body = f"/people/{one}/swipes/mine", {"candidate": two, "decision": "like", "deck": deck}
    first, again = (service.call("PUT", path, json=body) for _ in range(2))
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert service.call("PUT", path, json=body | {"decision": "pass"}).json()["code"] == "id-reused"
    assert len(service.ok("GET", f"/people/{one}/events")["items"]) == 1


def test_two_likes_make_a_match_and_unmatching_ends_it_for_both(service: Service) -> None:
    one, two, match = service.matched()
    for me, other in ((one, two), (two, one)):
        (told,) = service.ok("GET", f"/people/{me}/matches")["items"]
        assert (told["id"], told["other"]["id"]) == (match, other)
    assert service.ok("POST", f"/people/{one}/matches/{match}/outcomes", json={"outcome": "met"}) == {"outcomes": ["met"]}
    assert service.ok("GET", f"/people/{two}/matches")["items"][0]["outcomes"] == []
    service.ok("DELETE", f"/people/{one}/matches/{match}")
    assert service.ok("GET", f"/people/{two}/matches")["items"] == []
    assert service.deck(two)["cards"] == []


def test_undo_takes_the_last_swipe_back(service: Service) -> None:
    one, two = service.couple()
    before = service.ok("GET", f"/people/{one}/preference")
    assert service.swipe(one, two, swipe="oops").status_code == 200
    assert service.ok("GET", f"/people/{one}/preference")["swipes"] == 1
    service.ok("DELETE", f"/people/{one}/swipes/oops")
    service.ok("DELETE", f"/people/{one}/swipes/oops")
    assert service.ok("GET", f"/people/{one}/preference") == before
    assert service.deck(one)["cards"][0]["id"] == two


def test_undo_after_a_match_is_refused(service: Service) -> None:
    one, two = service.couple()
    service.swipe(one, two)
    service.swipe(two, one, swipe="yes")
    assert service.call("DELETE", f"/people/{two}/swipes/yes").status_code == 409


def test_what_was_learned_is_told_step_by_step_and_forgotten_on_demand(service: Service) -> None:
    one, two = service.couple()
    service.swipe(one, two, swipe="s1")
    told = service.ok("GET", f"/people/{one}/preference")
    assert {weight["term"] for weight in told["liked"]} == {"climbing", "jazz"}
    (step,) = service.ok("GET", f"/people/{one}/preference/history")["steps"]
    assert (step["event"]["id"], step["preference"]) == ("s1", told)
    why = service.ok("GET", f"/people/{one}/why/{two}")
    assert [part["term"] for part in why["fits"]] == ["climbing", "jazz"]
    assert service.ok("POST", f"/people/{one}/session/end") == {"ended": True}
    assert service.ok("POST", f"/people/{one}/session/end") == {"ended": False}
    service.ok("POST", f"/people/{one}/preference/reset")
    assert service.ok("GET", f"/people/{one}/preference")["swipes"] == 0
    assert [like["candidate"] for like in service.ok("GET", f"/people/{one}/likes")["items"]] == [two]


def test_a_block_looks_like_nobody_to_the_other_side(service: Service) -> None:
    one, two = service.couple()
    deck = service.deck(two)["id"]
    service.ok("PUT", f"/people/{one}/blocks/{two}")
    assert [block["other"] for block in service.ok("GET", f"/people/{one}/blocks")["items"]] == [two]
    assert service.ok("GET", f"/people/{two}/blocks")["items"] == []
    swipe = {"candidate": one, "decision": "like", "deck": deck}
    blocked = service.call("PUT", f"/people/{two}/swipes/s1", json=swipe)
    never_was = service.call("PUT", f"/people/{two}/swipes/s1", json=swipe | {"candidate": "nobody-at-all"})
    assert blocked.status_code == never_was.status_code == 404
    assert blocked.json()["detail"].replace(one, "X") == never_was.json()["detail"].replace("nobody-at-all", "X")
    assert service.ok("POST", f"/people/{two}/deck")["cards"] == []
    service.ok("DELETE", f"/people/{one}/blocks/{two}")
    assert service.deck(two)["cards"] != []


def test_a_report_reaches_operators_and_is_closed(service: Service) -> None:
    one, two = service.couple()
    report = service.ok("POST", f"/people/{one}/reports", json={"other": two, "reason": "spam", "text": "sells things"})["id"]
    queue = service.ok("GET", "/operator/reports", params={"limit": 200})["items"]
    assert [found["other"] for found in queue if found["id"] == report] == [two]
    service.ok("POST", f"/operator/reports/{report}/close", json={"resolution": "warned"})
    assert report not in [found["id"] for found in service.ok("GET", "/operator/reports", params={"limit": 200})["items"]]


def test_every_look_at_a_timeline_is_written_down(service: Service) -> None:
    one, two = service.couple()
    service.swipe(one, two)
    for looks in (1, 2):
        entries = service.ok("GET", f"/operator/people/{one}/timeline")["entries"]
        assert sum(entry["kind"] == "looked at timeline" for entry in entries) == looks
    assert any(entry["kind"] == "like" and entry["other"] == two for entry in entries)


def test_pages_follow_each_other_without_gap_or_repetition(service: Service) -> None:
    one, two = service.couple()
    for number in range(5):
        service.swipe(one, two, "skip", swipe=f"s{number}")
        service.ok("DELETE", f"/people/{one}/swipes/s{number}")
    whole = [line["id"] for line in service.ok("GET", f"/people/{one}/events")["items"]]
    pages: list[str] = []
    cursor = ""
    while cursor is not None:
        page = service.ok("GET", f"/people/{one}/events", params={"limit": 3, "cursor": cursor})
        pages += [line["id"] for line in page["items"]]
        cursor = page["next"]
    assert pages == whole
    assert len(whole) == 10
    for bad in ("x", "WzFd", "W10", "bnVsbA"):
        assert service.call("GET", f"/people/{one}/events", params={"cursor": bad}).status_code == 422
        assert service.call("GET", f"/people/{one}/likes", params={"cursor": bad}).status_code == 422


def test_a_paused_person_is_shown_to_nobody(service: Service) -> None:
    one, two = service.couple()
    assert service.ok("POST", f"/people/{one}/pause")["paused"]
    assert service.deck(two)["cards"] == []
    assert service.call("POST", f"/people/{one}/deck").status_code == 409
    service.ok("POST", f"/people/{one}/resume")
    assert service.deck(two)["cards"][0]["id"] == one


def test_erasing_leaves_nobody(service: Service) -> None:
    one, two, _ = service.matched()
    token = service.token(one)
    assert service.ok("GET", f"/people/{one}/export")["profile"]["name"] == f"Name of {one}"
    service.ok("DELETE", f"/people/{one}", by=token)
    assert service.call("GET", f"/people/{one}").status_code == 404
    assert service.call("GET", f"/people/{one}", by=token).status_code == 404
    assert service.ok("GET", f"/people/{two}/matches")["items"] == []
    assert one not in service.call("GET", f"/people/{two}/export").text


def test_rank_orders_the_apps_own_candidates(service: Service) -> None:
    one, two = service.couple()
    three, _ = service.couple()
    told = service.ok("POST", f"/people/{one}/rank", json={"candidates": [two, three, "nobody-at-all"]})
    assert [found["candidate"] for found in told["ranked"]] == [two]
    assert {found["candidate"]: found["reasons"][-1] for found in told["excluded"]}["nobody-at-all"] == "not found"


def test_the_vocabulary_grows_under_everybody(service: Service) -> None:
    before = service.ok("GET", "/vocabulary")
    new = f"tag-{next(NUMBERS)}"
    after = service.ok("PATCH", "/vocabulary", json={"add_tags": [new]})
    assert (after["version"], after["terms"][-1]["name"]) == (before["version"] + 1, new)
    one, two = service.couple()
    service.swipe(one, two)
    renamed = service.ok("PATCH", "/vocabulary", json={"rename": [{"old": new, "new": f"{new}-2"}], "retire": [f"{new}-2"]})
    assert renamed["terms"][-1] == {"name": f"{new}-2", "is_tag": True, "retired": True, "kinds": []}
    assert service.call("PATCH", "/vocabulary", json={"retire": ["no such tag"]}).status_code == 422
    of_men = service.ok("PATCH", "/vocabulary", json={"add_tags": [f"{new}-men"], "kinds": ["man"]})
    assert of_men["terms"][-1]["kinds"] == ["man"]
    assert (
        service.call(
            "PUT",
            f"/people/{one}",
            json={"name": "A", "born": "1990-01-01", "i_am": ["woman"], "i_look_for": ["man"]} | {"tags": [f"{new}-men"]},
        ).json()["errors"][0]["field"]
        == "tags"
    )
    assert service.call("PATCH", "/vocabulary", json={"add_tags": ["x"], "kinds": ["mentor"]}).status_code == 422
    assert service.swipe(two, one).json()["match"]


def test_the_overview_counts_what_happened(service: Service) -> None:
    service.matched()
    told = service.ok("GET", "/operator/overview")
    assert told["people"] >= 2
    assert told["matches"] >= 1
    assert sum(minute["swipes"] for minute in told["minutes"]) >= 2
