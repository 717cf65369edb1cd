"""Profiles, matches, blocks, reports and upkeep."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from kaczmatch import InvalidInput
from kaczmatch.app.composition import service_config_of
from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.records import (
    AbuseReport,
    AuditEntry,
    Block,
    Event,
    FeatureSnapshot,
    MatchSide,
    OutboxMessage,
    Record,
    StoredDeck,
)
from kaczmatch.service.domain.refusals import Conflict, NotFound, Stale, TooMany
from kaczmatch.service.domain.scrubbing import Scrubbing
from kaczmatch.service.meeting.profile_features import tags_of
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.verification import verify
from kaczmatch.service.privacy.erasure import Erasure
from kaczmatch.settings.model import Settings
from kaczmatch.storage.memory import MemoryStore
from worlds.town import Town, about


def test_a_place_is_forgotten_but_for_its_grid_cell(town: Town) -> None:
    town.move_in("ann", latitude=48.137154, longitude=11.576124)
    person = town.people.get("ann")
    assert (person.row, person.column) == (1381, 1915)
    assert "48.137" not in repr(person)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": " "}, "characters"),
        ({"name": "x" * 81}, "characters"),
        ({"name": "bell\x07"}, "control"),
        ({"name": "evil\u202egnp.exe"}, "direction"),
        ({"name": "A\u200dda"}, "invisible"),
        ({"name": "\u3164"}, "invisible"),
        ({"name": "علی\u200c\u200cرضا"}, "invisible"),
        ({"name": "علی\u200c"}, "invisible"),
        ({"born": date(2008, 11, 16)}, "18"),
        ({"tags": frozenset({"jaz"})}, "did you mean 'jazz'"),
        ({"i_am": frozenset({"womann"})}, "woman"),
        ({"youngest": 40, "oldest": 30}, "younger"),
        ({"within_km": 10.0}, "location"),
    ],
)
def test_profiles_that_cannot_be_are_refused(town: Town, wrong: dict[str, Any], words: str) -> None:
    said = {"name": "Ann", "tags": ("jazz",)} | wrong
    with pytest.raises(InvalidInput, match=words):
        town.people.put("ann", about(**said)).result()


@pytest.mark.parametrize("name", ["علی\u200cرضا", "ශ්\u200dරී", "👩\u200d🚀 Ada", "❤\ufe0f\u200d🔥"])
def test_names_that_are_written_with_joiners_are_names(town: Town, name: str) -> None:
    town.move_in("ann", name=name)
    assert town.people.get("ann").name == name


def test_somebody_may_take_part_on_the_eighteenth_birthday(town: Town) -> None:
    town.people.put("ann", about(born=date(2008, 11, 15))).result()
    with pytest.raises(InvalidInput):
        town.people.put("bob", about(born=date(2008, 11, 16))).result()


@pytest.mark.parametrize("identifier", ["", "a b", "é", "-a", "a" * 65, "~end:x", "a/b", "a\x00"])
def test_ids_are_plain(town: Town, identifier: str) -> None:
    with pytest.raises(InvalidInput):
        town.people.put(identifier, about())


def test_a_change_made_on_an_old_version_is_refused(town: Town) -> None:
    first = town.people.put("ann", about(), if_version=0).result()
    second = town.people.put("ann", about("Anna"), if_version=first.version).result()
    assert second.version == 2
    for stale in (0, 1):
        with pytest.raises(Stale):
            town.people.put("ann", about("Anne"), if_version=stale).result()


def test_edits_of_tags_have_a_quota_and_other_changes_none(town: Town) -> None:
    town.move_in("ann")
    for place in range(20):
        town.people.put("ann", about(tags=["chess"] if place % 2 else ["climbing"])).result()
    for _ in range(3):
        town.people.put("ann", about("Another name", tags=["chess"])).result()
    with pytest.raises(TooMany):
        town.people.put("ann", about(tags=["jazz"])).result()


def test_tags_come_back_by_name(town: Town) -> None:
    town.move_in("ann", tags=["jazz", "cycling"])
    with town.context.store.read() as reader:
        words = town.context.catalogue.vocabulary(reader, 1)
    assert tags_of(town.people.get("ann"), words) == (["jazz", "cycling"], {})


def test_an_unmatch_ends_it_for_both_and_tells_both(town: Town) -> None:
    town.couples(2)
    town.swipe("w0", "m0")
    match = town.swipe("m0", "w0").match
    assert match is not None
    assert town.matching.record_outcome("w0", match, "message").result().outcomes == ("message",)
    with pytest.raises(NotFound):
        town.matching.unmatch("w1", match).result()
    town.matching.unmatch("w0", match).result()
    town.matching.unmatch("w0", match).result()
    assert town.matching.matches("w0") == town.matching.matches("m0") == []
    assert all(one.ended is not None for one in town.find(MatchSide))
    assert [one.topic for one in town.find(OutboxMessage)].count("match.ended") == 2
    with pytest.raises(Conflict):
        town.matching.record_outcome("w0", match, "met").result()


def test_a_block_ends_a_match_and_an_unblock_does_not_bring_it_back(town: Town) -> None:
    town.couples(1)
    town.swipe("w0", "m0")
    town.swipe("m0", "w0")
    town.safety.block("m0", "w0").result()
    assert town.matching.matches("w0") == []
    town.safety.unblock("m0", "w0").result()
    assert town.find(Block) == []
    assert town.matching.matches("w0") == []
    with pytest.raises(InvalidInput):
        town.safety.block("m0", "m0").result()


def test_a_report_blocks_and_waits_for_an_operator(town: Town) -> None:
    town.couples(1)
    report = town.safety.report("w0", "m0", "rude", "He was.").result()
    assert [(one.user, one.other) for one in town.find(Block)] == [("w0", "m0")]
    assert town.safety.open_reports() == [report]
    town.safety.close(report.id, "warned", "operator-key").result()
    assert town.safety.open_reports() == []
    assert [one.action for one in town.find(AuditEntry)] == [f"closed report {report.id}"]
    assert town.find(AbuseReport)[0].resolution == "warned"


def test_upkeep_ends_silent_sessions_and_drops_what_is_old(town: Town) -> None:
    town.couples(3)
    town.swipe("w0", "m0")
    town.swipe("w1", "m1")
    town.wait(minutes=20)
    town.swipe("w1", "m2")
    town.wait(minutes=15)
    assert Maintenance(town.context).end_silent_sessions() == 1
    assert [event.kind for event in town.events("w0")] == ["swiped", "session-ended"]
    town.wait(days=181)
    done = Maintenance(town.context).run()
    assert done["decks dropped"] > 0
    assert town.find(StoredDeck) == []
    assert Maintenance(town.context).run() == dict.fromkeys(done, 0)


@pytest.mark.parametrize(
    ("setting", "kinds"),
    [
        ("keep_impressions_days", (StoredDeck,)),
        ("keep_audit_days", (AuditEntry,)),
        ("keep_messages_days", (OutboxMessage,)),
    ],
)
def test_how_long_things_are_kept_are_settings(setting: str, kinds: tuple[type[Record], ...]) -> None:
    rules = service_config_of(Settings(**{setting: 3}))
    kept = {name: getattr(rules, name) for name in ("keep_impressions", "keep_audit", "keep_messages")}
    town = Town(MemoryStore(), **kept)
    town.couples(1)
    town.deck("w0")
    audit = AuditEntry(id="a", at=town.now, actor="k", action="looked", user="w0")
    town.context.store.write(lambda tx: tx.append(audit)).result()
    town.safety.report("w0", "m0", "rude").result()
    town.wait(days=2.9)
    Maintenance(town.context).run()
    assert all(town.find(kind) for kind in (StoredDeck, AuditEntry, OutboxMessage))
    town.wait(days=0.2)
    Maintenance(town.context).run()
    gone = {kind for kind in (StoredDeck, AuditEntry, OutboxMessage) if not town.find(kind)}
    assert gone == set(kinds)


def test_a_message_about_somebody_who_was_erased_is_scrubbed_when_it_has_been_kept_long_enough(town: Town) -> None:
    town.couples(1)
    scrubbed: list[bool] = []
    scrubbing = Scrubbing(town.context, lambda _: scrubbed.append(True))
    erasure = Erasure(town.context, scrubbing, ErasedTokens(town.context, b"secret"))
    erasure.erase("m0")
    for _ in range(2):  # changes are kept until all processes say that they have read them
        town.wait(minutes=5)
        town.world.follow()
    Maintenance(town.context).run()
    erasure.resume()
    assert scrubbed == [True]
    town.wait(days=40)
    assert Maintenance(town.context).run()["messages dropped"] == 1
    erasure.resume()
    assert scrubbed == [True, True]  # of the person, and of the id


def test_sessions_that_end_by_upkeep_and_by_the_next_swipe_are_the_same() -> None:
    ends = []
    for by_upkeep in (True, False):
        town = Town(MemoryStore())
        town.couples(3)
        town.swipe("w0", "m0")
        town.wait(hours=2)
        if by_upkeep:
            Maintenance(town.context).run()
        town.swipe("w0", "m1")
        ends.append([(event.kind, event.at) for event in town.events("w0")])
    assert ends[0] == ends[1]


def test_likes_and_history_by_pages(town: Town) -> None:
    town.couples(6)
    deck = town.shown("w0", "m0")
    for place in range(5):
        town.swipe("w0", f"m{place}", "like" if place % 2 else "pass", deck=deck)
    page = town.preferences.history("w0", limit=2)
    rest = town.preferences.history("w0", after=(page[-1].number,), limit=10)
    assert [event.candidate for event in (*page, *rest)] == ["m4", "m3", "m2", "m1", "m0"]
    assert [pair.candidate for pair in town.preferences.likes("w0")] == ["m3", "m1"]
    with pytest.raises(NotFound):
        town.preferences.history("nobody")


def test_columns_of_stored_profiles_are_those_of_profiles(town: Town) -> None:
    from kaczmatch.recommend.people.filters import FilterColumns
    from kaczmatch.service.meeting.profiles import columns_of, profile_of

    town.move_in("ann", latitude=48.1, longitude=11.5, within_km=30.0)
    town.move_in("bob", man=True, youngest=20, oldest=44)
    people = [town.people.get(user) for user in ("ann", "bob")]
    words, schema = town.world.recommender.index.vocabulary, town.context.config.schema
    quick, readable = (
        columns_of(people, schema),
        FilterColumns.from_profiles([profile_of(one, words, schema) for one in people], schema),
    )
    for name in ("i_am", "i_look_for", "born", "youngest", "oldest", "x", "y", "z", "max_squared_chord"):
        assert getattr(quick, name).tolist() == getattr(readable, name).tolist()
        assert getattr(quick, name).dtype == getattr(readable, name).dtype


def test_what_was_seen_stays_as_it_was_seen_and_is_kept_once(town: Town) -> None:
    town.couples(3)
    town.move_in("canary", man=True, tags=["chess"])
    town.swipe("w0", "canary"), town.swipe("w1", "canary", "pass")
    before = [event.features for woman in ("w0", "w1") for event in town.events(woman)]
    assert len({one.version for one in town.find(FeatureSnapshot, user="canary")}) == 1
    town.people.put("canary", about(man=True, tags=["jazz"]), limited=False).result()
    town.swipe("w2", "canary")
    assert [event.features for woman in ("w0", "w1") for event in town.events(woman)] == before
    assert town.events("w2")[-1].features not in before
    assert [one.version for one in town.find(FeatureSnapshot, user="canary")] == [1, 2]
    assert verify(town.context).problems == ()


def test_what_nobody_saw_is_not_kept(town: Town) -> None:
    town.couples(1)
    for tags in (["chess"], ["jazz"], []):
        town.people.put("m0", about(man=True, tags=tags), limited=False).result()
    [only] = town.find(FeatureSnapshot, user="m0")
    assert (only.version, only.features) == (1, town.people.get("m0").features)


def test_an_event_that_does_not_know_what_was_seen_is_not_folded(town: Town) -> None:
    town.couples(1)
    town.swipe("w0", "m0")
    [event] = town.find(Event, user="w0")
    with town.context.store.read() as reader:
        current = town.context.catalogue.current(reader)
        fold = town.context.catalogue.fold(reader, current.model)
    with pytest.raises(LookupError, match="version 1 of what swipe"):
        fold.replay([replace(event, features=None)])
