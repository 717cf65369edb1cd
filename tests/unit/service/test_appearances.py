"""Packed decks: what one writes, in which decks somebody appears, and how often they were shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kaczmatch.recommend.decks.exposure import Exposure
from kaczmatch.service.domain import appearances
from kaczmatch.service.domain.appearances import decks_with, file_decks
from kaczmatch.service.domain.impressions import shows
from kaczmatch.service.domain.records import (
    DeckAppearances,
    DecksFiled,
    PersonCounters,
    PersonNumber,
    Record,
    StoredDeck,
    StoredExposure,
)
from kaczmatch.service.meeting.decks import Decks
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage.sqlite import Sqlite
from worlds.stores import open_store
from worlds.town import Town


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def town(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Town]:
    monkeypatch.setattr(appearances, "DECKS_AT_LEAST", 5)
    monkeypatch.setattr(appearances, "PEOPLE_PER_DECK", 10**6)
    store = open_store(request.param, request, tmp_path)
    yield Town(store)
    store.close()


def deal(town: Town, days: int) -> None:
    """Four decks per day."""
    for _ in range(days):
        for user in ("w0", "w1", "m0", "m1"):
            assert town.deck(user).cards
            town.wait(minutes=1)
        town.wait(days=1)


def exposure_from_cards(town: Town) -> dict[str, float]:
    exposure = Exposure()
    for card in town.cards():
        exposure.record([card.candidate], card.at)
    return {one.id: exposure.cards_of(one.id, town.now) for one in town.find(PersonNumber)}


def exposure_after_a_restart(town: Town) -> dict[str, float]:
    exposure = Town(town.context.store, before=town).world.exposure
    return {one.id: exposure.cards_of(one.id, town.now) for one in town.find(PersonNumber)}


def packed(town: Town) -> list[tuple[Record, bytes]]:
    found: list[tuple[Record, bytes]] = [(deck, deck.cards) for deck in town.find(StoredDeck)]
    found += [(page, page.entries) for page in town.find(DeckAppearances)]
    return found + [(row, row.cards) for row in town.find(StoredExposure)]


def test_exposure_is_stored_and_the_decks_since_are_added(town: Town) -> None:
    town.couples(6)
    deal(town, 2)
    assert exposure_after_a_restart(town) == pytest.approx(exposure_from_cards(town))
    assert (file_decks(town.context), file_decks(town.context)) == (5, 0)
    assert exposure_after_a_restart(town) == pytest.approx(exposure_from_cards(town))
    deal(town, 3)
    assert Maintenance(town.context).run()["decks filed"] == 5
    town.wait(days=30)
    deal(town, 1)
    assert file_decks(town.context) == 5
    assert exposure_after_a_restart(town) == pytest.approx(exposure_from_cards(town))


def test_decks_that_may_still_be_on_their_way_are_not_filed(town: Town) -> None:
    town.couples(6)
    deal(town, 1)
    town.deck("w2")
    assert file_decks(town.context) == 0
    town.wait(minutes=11)
    assert file_decks(town.context) == 5


def test_a_deck_that_comes_to_the_store_too_late_is_drawn_again(town: Town) -> None:
    town.couples(6)
    store, waits = town.context.store, iter([90.0, 0.0])

    class Slow:
        read = staticmethod(store.read)

        def write(self, *work: Any, **options: Any) -> Any:
            town.wait(seconds=next(waits, 0.0))
            return store.write(*work, **options)

    hand = Decks(replace(town.context, store=Slow()), town.world, lambda: town.rng).deck("w0")
    assert hand.deck is not None
    assert [(deck.id, deck.at) for deck in town.find(StoredDeck)] == [(hand.deck.id, town.now)]


def test_filing_that_is_interrupted_counts_nobody_twice(town: Town) -> None:
    town.couples(6)
    deal(town, 2)
    turns = iter(range(8))

    def fail() -> None:
        if next(turns, None) is None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        file_decks(replace(town.context, rest=fail))
    assert town.find(StoredExposure)
    assert not town.find(DecksFiled)
    assert exposure_after_a_restart(town) == pytest.approx(exposure_from_cards(town))
    deal(town, 1)
    assert file_decks(town.context) == 5
    assert exposure_after_a_restart(town) == pytest.approx(exposure_from_cards(town))


def test_erasure_takes_the_person_out_of_the_decks_of_others_and_out_of_what_is_filed(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appearances, "_SEARCHED", 2)  # so that there are several pages
    town.couples(6)
    deal(town, 2)
    file_decks(town.context)
    deal(town, 1)
    shown_to = {card.deck for card in town.cards() if card.candidate == "m0"}
    assert {deck for _, deck in decks_with(town.context, "m0", town.context.rest)} == shown_to
    [number] = [one.number for one in town.find(PersonNumber) if one.id == "m0"]
    canary = number.to_bytes(8, "little")
    assert {type(record) for record, content in packed(town) if canary in content} == {
        StoredDeck,
        DeckAppearances,
        StoredExposure,
    }
    before = [card for card in town.cards() if card.candidate != "m0" and card.user != "m0"]
    town.erasing.erase("m0")
    assert not [record for record, content in packed(town) if canary in content]
    assert town.cards() == before
    assert verify(town.context).problems == ()


def test_what_is_filed_is_kept_as_long_as_decks_are(town: Town) -> None:
    town.couples(6)
    deal(town, 2)
    file_decks(town.context)
    town.wait(days=181)
    done = Maintenance(town.context).run()
    assert done["filed decks dropped"] > 0
    assert (town.find(StoredDeck), town.find(DeckAppearances)) == ([], [])


def test_a_deck_of_32_writes_three_rows_at_most_and_less_than_1500_bytes(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = Town(open_store("sqlite", request, tmp_path), deck_size=32)
    town.couples(40)
    town.deck("w1")
    written: list[tuple[type[Record], int]] = []
    upsert = Sqlite.upsert

    def watched(self: Sqlite, connection: Any, kind: type[Record], rows: Any, **options: Any) -> None:
        written.extend((kind, sum(map(_size, row))) for row in rows)
        upsert(self, connection, kind, rows, **options)

    monkeypatch.setattr(Sqlite, "upsert", watched)
    hand = town.deck("w0")
    town.context.store.close()
    assert len(hand.cards) == 32
    assert {kind for kind, _ in written} == {StoredDeck, PersonCounters}
    assert len(written) <= 3
    assert sum(size for _, size in written) < 1_500


def _size(value: object) -> int:
    """Bytes that a value takes in a database."""
    if isinstance(value, (bytes, str)):
        return len(value)
    return 0 if value is None or isinstance(value, bool) else 8


def test_a_card_is_found_where_it_is_and_nowhere_else(town: Town) -> None:
    """A number may be in the bytes of a deck by chance, between two cards."""
    town.couples(2)
    town.deck("w0")
    [deck] = town.find(StoredDeck)
    for place in range(len(deck.cards) - 8):
        number = int.from_bytes(deck.cards[place : place + 8], "little", signed=True)
        with town.context.store.read() as reader:
            known = number in reader.people_with([number]) and number > 0
        assert shows(deck, number) == known
