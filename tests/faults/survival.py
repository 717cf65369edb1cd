"""What must be true of a database after its process was killed, its server crashed or its power was cut."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from kaczmatch.service.domain.records import RECORDS, Change, Event, OutboxMessage, Person
from kaczmatch.service.domain.records.people import ErasedId, PersonNumber
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.operations.verification import verify
from kaczmatch.storage import SqlStore
from kaczmatch.storage.migrating import migrate, pending
from victim import PEOPLE
from worlds.cards import put_deck
from worlds.clock import NOON
from worlds.town import Town, about

TOLD = {OutboxMessage, Change, ErasedId, PersonNumber}  # the app and other processes still have to hear of an erasure


@dataclass(frozen=True)
class Survived:
    """How much was acknowledged, and how much was kept that nobody had been told of."""

    acknowledged: int
    unknown: int


def settle(town: Town) -> None:
    """Everybody who is not there moves in."""
    here = {person.id for person in town.find(Person)}
    people = [f"{kind}{place}" for kind in "wm" for place in range(PEOPLE)]
    for moving in [town.people.put(me, about(me, man=me[0] == "m")) for me in people if me not in here]:
        moving.result()


def deal(town: Town, cycle: int) -> None:
    """Everybody has everybody's card, in a deck of this cycle."""

    def work(transaction: Transaction) -> None:
        for mine, theirs in ("wm", "mw"):
            for place in range(PEOPLE):
                put_deck(transaction, f"{mine}{place}", f"d{cycle}", [f"{theirs}{other}" for other in range(PEOPLE)], NOON)

    town.context.store.write(work).result()


def prepare(url: str, cycle: int) -> None:
    """What the processes to be killed in this cycle need."""
    with closing(SqlStore(url)) as store:
        town = town_of(store, cycle)
        settle(town)
        deal(town, cycle)


def town_of(store: SqlStore, cycle: int) -> Town:
    town = Town(store)
    town.numbers = count((cycle + 1) * 10**6 + secrets.randbelow(10**5))  # ids that were not used before
    return town


def survived(url: str, lines: Iterable[str], cycle: int) -> Survived:
    """Raises where something that was acknowledged is lost, or something is kept by half. Interrupted jobs are finished."""
    told = [line.split() for line in lines if line.endswith("\n")]  # a last line may be cut off
    failed = [" ".join(words) for words in told if words[0] == "failed"]
    assert not failed, failed
    if ["begun", "migrate"] in told:
        return _migrated(url, told)
    erased = {words[1] for words in told if words[0] == "erased"}
    swiped = {tuple(words[1:]) for words in told if words[0] == "swiped"}
    with closing(SqlStore(url)) as store:
        town = town_of(store, cycle)
        town.relearning.resume()
        town.erasing.resume()
        here = {person.id for person in town.find(Person)}
        kept = {(one.user, one.id, one.candidate, one.decision) for one in town.find(Event) if one.id.startswith(f"c{cycle}-")}
        expected = {one for one in swiped if one[0] in here and one[2] in here}  # swipes of and on erased people go with them
        assert expected <= kept, f"lost: {expected - kept}"
        assert not erased & here, f"not erased: {erased & here}"
        if erased:
            named = {f"'{user}'" for user in erased}
            left = [one for kind in RECORDS if kind not in TOLD for one in town.find(kind) if any(n in repr(one) for n in named)]
            assert left == [], f"left of erased people: {left}"
        tags = {words[1] for words in told if words[0] == "added"}
        known = {term.name for term in town.models.vocabulary().terms}
        assert tags <= known, f"lost: {tags - known}"
        for words in told:
            if words[0] == "snapshot":
                _same_from_snapshot(town, Path(words[1]))
        verdict = verify(town.context)
        assert verdict.problems == (), verdict.problems
        assert verdict.close == 0
        jobs = sum(words[0] in ("erased", "added", "relearned") for words in told)
        return Survived(len(expected) + jobs, len(kept - swiped))


def _same_from_snapshot(town: Town, folder: Path) -> None:
    """Whoever starts from the files that a killed process has left has in memory what the store says."""
    damage, found = list[str](), []
    files = SnapshotFiles(folder, least_people=0, on_damage=damage.append)
    for context in (replace(town.context, snapshot=files), town.context):
        index = ServingIndex(context)
        index.load()
        index.follow()
        with index.recommender.index.reading() as view:
            rows = view.candidate_rows(view.all_numbers())
            people = dict(zip(rows.ids(), rows.features.tolist(), strict=True))
        found.append({user: (features, *index.recommender.states([user])) for user, features in people.items()})
        index.close()
    assert damage == []
    assert found[0] == found[1]
    assert found[0]


def _migrated(url: str, told: list[list[str]]) -> Survived:
    done = ["migrated"] in told
    assert not (done and pending(url)), "acknowledged, and not migrated"
    migrate(url)
    assert pending(url) == ()
    prepare(url, 0)
    return Survived(int(done), 0)
