"""Not only dating: people without an age, kinds with terms of their own, whom kinds look for, and how many they take."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from kaczmatch import InvalidInput
from kaczmatch.recommend.people.schema import Schema
from kaczmatch.schemas.profiles import ProfileInput
from kaczmatch.service.domain.refusals import Full
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage.memory import MemoryStore
from worlds.town import Town

MENTORS = Schema(
    ("mentor", "mentee"),
    minimum_age=16,
    age_required=False,
    looks_for={"mentor": frozenset({"mentee"}), "mentee": frozenset({"mentor"})},
)


@pytest.fixture
def school() -> Town:
    """Mentors and mentees; python is what mentors teach, curious what mentees are, german what anybody may speak."""
    town = Town(MemoryStore(), tags=["german"], schema=MENTORS)
    town.models.change_vocabulary(
        lambda words: words.add(["python", "law"], ["years"], ["mentor"]).add(["curious"], kinds=["mentee"])
    )
    town.world.follow()
    return town


def enrol(town: Town, user: str, kind: str, tags: tuple[str, ...] = (), **more: Any) -> None:
    said: dict[str, Any] = {"name": user.title(), "i_am": {kind}, "tags": tags} | more
    town.people.put(user, ProfileInput(**said)).result()
    town.world.follow()


def cards(town: Town, user: str) -> list[str]:
    return sorted(card.person.id for card in town.deck(user, 100).cards)


def test_without_an_age_no_limit_of_age_applies(school: Town) -> None:
    enrol(school, "ann", "mentee")
    enrol(school, "ben", "mentee", born=date(2009, 1, 1))  # 17
    enrol(school, "mia", "mentor", youngest=30, oldest=40)
    enrol(school, "max", "mentor", born=date(1980, 1, 1), youngest=16, oldest=18)
    assert cards(school, "ann") == ["max", "mia"]
    assert cards(school, "ben") == ["max"]  # mia's limits are for those whose age is known
    assert cards(school, "mia") == ["ann"]
    assert cards(school, "max") == ["ann", "ben"]
    person = school.people.get("ann")
    assert (person.born, person.youngest, person.oldest) == (None, None, None)


def test_the_minimum_age_applies_to_those_who_say_theirs(school: Town) -> None:
    with pytest.raises(InvalidInput, match="16"):
        enrol(school, "kid", "mentee", born=date(2012, 1, 1))


def test_an_age_is_required_by_default(town: Town) -> None:
    said: dict[str, Any] = {"name": "Ann", "i_am": {"woman"}, "i_look_for": {"man"}}
    with pytest.raises(InvalidInput, match="born: is missing"):
        town.people.put("ann", ProfileInput(**said)).result()


def test_who_gave_no_age_is_hidden_once_one_is_required() -> None:
    store = MemoryStore()
    before = Town(store, schema=MENTORS)
    enrol(before, "ann", "mentee")
    enrol(before, "old", "mentee", born=date(1990, 1, 1))
    enrol(before, "max", "mentor", born=date(1980, 1, 1))
    assert cards(before, "max") == ["ann", "old"]
    before.wait(hours=2)
    after = Town(store, before=before, schema=Schema(MENTORS.kinds, minimum_age=16))
    assert cards(after, "max") == ["old"]
    assert (after.deck("ann").empty_code, after.deck("ann").empty) == ("no-age", "one must say when one was born")


def test_whom_a_kind_looks_for_need_not_be_said(school: Town, town: Town) -> None:
    enrol(school, "ann", "mentee")
    assert school.people.get("ann").i_look_for == ("mentor",)
    enrol(school, "ann", "mentee", i_look_for={"mentee"})
    assert school.people.get("ann").i_look_for == ("mentee",)
    said: dict[str, Any] = {"name": "Ann", "born": date(1990, 1, 1), "i_am": {"woman"}}
    with pytest.raises(InvalidInput, match="i_look_for: is missing, and the settings"):
        town.people.put("ann", ProfileInput(**said)).result()


def test_a_kind_has_terms_of_its_own(school: Town) -> None:
    enrol(school, "mia", "mentor", ("python", "german"), features={"years": 3.0})
    enrol(school, "ann", "mentee", ("curious", "german"))
    for kind, tags, features, field, words in (
        ("mentee", ("python",), {}, "tags", "'python' is for mentor, not for mentee"),
        ("mentor", ("curious",), {}, "tags", "'curious' is for mentee, not for mentor"),
        ("mentee", (), {"years": 1.0}, "features", "'years' is for mentor"),
        ("mentee", ("curius",), {}, "tags", "did you mean 'curious'"),
    ):
        with pytest.raises(InvalidInput, match=words) as caught:
            enrol(school, "new", kind, tags, features=features)
        assert caught.value.field == field
    enrol(school, "both", "mentor", ("python", "curious"), i_am={"mentor", "mentee"})


def test_one_learns_about_the_terms_that_the_other_side_can_have(school: Town) -> None:
    """The state is one vector over all terms, but nobody is told about terms that nobody they look for can have."""
    enrol(school, "ann", "mentee", ("curious",))
    for place in range(8):
        enrol(school, f"m{place}", "mentor", ("python", "german") if place % 2 else ("law",))
    for place in range(8):
        school.swipe("ann", f"m{place}", "like" if place % 2 else "pass")
    preference = school.preferences.of("ann")
    assert [one.term for one in preference.liked][:2] in (["python", "german"], ["german", "python"])
    assert {one.term for one in (*preference.liked, *preference.disliked)} <= {"german", "python", "law", "years"}
    learned = school.learned("ann")
    assert learned is not None
    assert preference.certainty is not None
    assert preference.certainty > 0.1
    history = school.preferences.growth("ann")[-1][1]
    assert history == preference


@pytest.fixture
def busy() -> Town:
    """A mentor who takes one mentee, and three mentees whom she likes."""
    town = Town(MemoryStore(), schema=replace(MENTORS, capacity={"mentor": 1}))
    for user in ("ann", "ben", "cem"):
        enrol(town, user, "mentee")
    enrol(town, "mia", "mentor")
    for user in ("ann", "ben", "cem"):
        town.swipe("mia", user)
    return town


def test_who_is_full_leaves_decks_and_returns_when_a_match_ends(busy: Town) -> None:
    enrol(busy, "max", "mentor")
    assert cards(busy, "ben") == cards(busy, "cem") == ["max", "mia"]
    match = busy.swipe("ann", "mia").match
    assert match is not None
    busy.world.follow()
    assert cards(busy, "ben") == ["max"]  # of the open deck, too
    enrol(busy, "dan", "mentee")
    assert cards(busy, "dan") == ["max"]
    assert "mia" not in busy.world.recommender.index
    assert dict(busy.ranking.rank("dan", ["mia", "max"]).left_out) == {"mia": ("capacity",)}
    assert busy.deck("mia").cards == ()
    assert busy.deck("mia").empty_code == "full"
    busy.matching.unmatch("ann", match).result()
    busy.world.follow()
    busy.wait(hours=2)
    assert cards(busy, "dan") == cards(busy, "ben") == ["max", "mia"]
    assert cards(busy, "mia") == ["dan"]  # she likes the others already, and ann never returns
    assert busy.swipe("ben", "mia").match is not None


def test_a_like_of_or_for_somebody_full_is_refused_and_nothing_is_kept_of_it(busy: Town) -> None:
    enrol(busy, "dan", "mentee")
    decks = {user: busy.shown(user, "mia") for user in ("ben", "dan")}
    hers = busy.shown("mia", "dan")
    busy.swipe("ann", "mia")
    for user in ("ben", "dan"):  # one whom she likes, and one whom she does not know: both are told the same
        with pytest.raises(Full, match="'mia' has as many open matches as they take, and returns to decks when one ends"):
            busy.swipe(user, "mia", deck=decks[user])
        assert busy.events(user) == []
    with pytest.raises(Full, match="end one first"):
        busy.swipe("mia", "dan", deck=hers)
    assert busy.swipe("ben", "mia", "pass", deck=decks["ben"]).match is None  # a pass harms nobody
    assert busy.swipe("mia", "dan", "pass", deck=hers).match is None
    assert verify(busy.context).problems == ()


@pytest.mark.parametrize("how", ["block", "report", "erase", "unmatch"])
def test_every_end_of_a_match_makes_room(busy: Town, how: str) -> None:
    match = busy.swipe("ann", "mia").match or ""
    assert busy.standing("mia").open_matches == busy.standing("ann").open_matches == 1
    if how == "block":
        busy.safety.block("mia", "ann").result()
    elif how == "report":
        busy.safety.report("ann", "mia", "rude").result()
    elif how == "erase":
        busy.erasing.erase("ann")
    else:
        busy.matching.unmatch("mia", match).result()
        busy.matching.unmatch("ann", match).result()  # once more changes nothing
        busy.safety.block("mia", "ann").result()
    assert busy.standing("mia").open_matches == 0
    busy.world.follow()
    assert cards(busy, "ben") == ["mia"]
    assert verify(busy.context).problems == ()


def test_a_profile_has_a_capacity_of_its_own(busy: Town) -> None:
    assert busy.swipe("ann", "mia").match
    enrol(busy, "mia", "mentor", capacity=2)
    assert cards(busy, "ben") == ["mia"]
    assert busy.swipe("ben", "mia").match
    busy.world.follow()
    assert cards(busy, "cem") == []
    again = Town(busy.context.store, before=busy, schema=busy.context.config.schema)  # a process that loads everybody anew
    assert "mia" not in again.world.recommender.index
    more = Town(busy.context.store, before=busy, schema=replace(MENTORS, capacity={"mentor": 1, "mentee": 1}))
    assert {user for user in ("ann", "ben", "cem", "mia") if user in more.world.recommender.index} == {"cem"}


def test_imported_history_matches_beyond_a_capacity(busy: Town) -> None:
    """Whoever brings its history knows its matches; nobody new comes until there is room."""
    for user in ("ann", "ben"):
        assert busy.import_swipe(user, "mia").match
    assert busy.standing("mia").open_matches == 2
    busy.world.follow()
    assert cards(busy, "cem") == []
    assert verify(busy.context).problems == ()


def test_verify_counts_open_matches(busy: Town) -> None:
    busy.swipe("ann", "mia")
    wrong = replace(busy.standing("mia"), open_matches=0)
    busy.context.store.write(lambda tx: tx.put(wrong)).result()
    assert verify(busy.context).problems == ("'mia' has 1 open matches, and 0 are counted",)
