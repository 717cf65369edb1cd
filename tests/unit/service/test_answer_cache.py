"""Answers that are dear to make: kept until what they were made from changes, within a limit, and gone after an erasure."""

from __future__ import annotations

import json
from datetime import timedelta

from kaczmatch.service.domain.answer_cache import AnswerCache
from kaczmatch.service.domain.config import QuotaLimit
from kaczmatch.service.domain.quotas import EXPORTS, quota_usage
from kaczmatch.service.privacy.personal_data import PersonalData
from kaczmatch.storage import MemoryStore
from worlds.town import Town


def making(calls: list[str], content: bytes) -> bytes:
    calls.append("made")
    return content


def test_an_answer_is_made_once_per_version() -> None:
    cache, calls = AnswerCache(), list[str]()
    for version in (1, 1, 2, 2, 1):
        assert cache.answer("a", version, lambda version=version: making(calls, b"%d" % version)) == b"%d" % version
    assert len(calls) == 3


def test_no_more_bytes_are_kept_than_the_limit_and_the_least_used_go_first() -> None:
    cache, calls = AnswerCache(most_bytes=25), list[str]()
    for name in ("a", "b", "a", "c", "a", "b"):  # "b" was used before "a" when "c" came
        cache.answer(name, 1, lambda: making(calls, bytes(10)))
    assert len(calls) == 4
    cache.answer("large", 1, lambda: making(calls, bytes(26)))
    cache.answer("large", 1, lambda: making(calls, bytes(26)))
    assert len(calls) == 6


def test_an_answer_that_was_being_made_during_an_erasure_is_not_kept() -> None:
    cache, calls = AnswerCache(), list[str]()

    def slowly() -> bytes:
        cache.clear()
        return making(calls, b"x")

    cache.answer("a", 1, slowly)
    cache.answer("a", 1, slowly)
    assert len(calls) == 2


def test_an_export_is_made_again_after_every_thing_that_changes_it() -> None:
    town = Town(MemoryStore(), exports=QuotaLimit(5, timedelta(days=1)))
    town.couples(3)
    data = PersonalData(town.context, AnswerCache())

    def exported() -> tuple[list[str], int]:
        told = json.loads(data.export("w0", by_user=True))
        names = [*(event["id"] for event in told["events"]), *(block["other"] for block in told["blocks"])]
        return names, quota_usage(town.standing("w0")).get(EXPORTS, (None, 0))[1]

    town.swipe("w0", "m0", id="one")
    assert exported() == (["one"], 1)
    assert exported() == (["one"], 1), "what was made before is free"
    town.safety.block("w0", "m2").result()
    assert exported() == (["one", "m2"], 1), "short lists are always read"
    town.swipe("w0", "m1", id="two")
    assert exported() == (["one", "two", "m2"], 2)
    town.undoing.undo("w0", "two").result()
    assert exported() == (["one", "two", "~undo:two", "m2"], 3)
    town.erasing.erase("m0")  # takes an event out of the middle, and adds none
    assert exported() == (["two", "~undo:two", "m2"], 4)
