"""An erasure is a commit of a few rows, after which no answer names the person, and a job of bounded steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.population.traits import unfitted_prior
from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.answer_cache import AnswerCache
from kaczmatch.service.domain.records import (
    AbuseReport,
    AuditEntry,
    Block,
    Event,
    EventKind,
    LatestDecision,
    MatchSide,
    OutboxMessage,
    PendingErasure,
    Person,
    PersonCounters,
    SeenTraits,
    StoredLease,
    StoredTraits,
)
from kaczmatch.service.domain.refusals import NotFound
from kaczmatch.service.domain.scrubbing import Scrubbing
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.service.messages.feed import Feed
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.timeline import OperatorActions
from kaczmatch.service.operations.verification import verify
from kaczmatch.service.privacy import removal
from kaczmatch.service.privacy.erasure import Erasure, ErasureProgress
from kaczmatch.service.privacy.personal_data import PersonalData
from kaczmatch.service.privacy.traces import TRACES
from kaczmatch.service.transfer.file_export import export_batches
from kaczmatch.storage import MemoryStore, SqlStore
from worlds.town import TAGS, Town


class CountedTransaction:
    """How many rows a work has read and written."""

    def __init__(self, transaction: Any) -> None:
        self.transaction, self.rows = transaction, 0

    def __getattr__(self, name: str) -> Any:
        act = getattr(self.transaction, name)

        def counted(*values: Any, **named: Any) -> Any:
            found = act(*values, **named)
            several = isinstance(found, Sequence | dict) and not isinstance(found, str)
            self.rows += len(found) if several else 1
            if name == "of_people":
                self.rows += sum(map(len, found.values()))
            return found

        return counted


@contextmanager
def counted_commits(town: Town) -> Iterator[list[int]]:
    """How many rows each commit has read and written."""
    write, rows = town.context.store.write, list[int]()

    def counting(work: Callable[[Any], Any], **options: Any) -> Any:
        def counted(transaction: Any) -> Any:
            counter = CountedTransaction(transaction)
            outcome = work(counter)
            rows.append(counter.rows)
            return outcome

        return write(counted, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(town.context.store, "write", counting)
        yield rows


def relearn_with_traits(town: Town) -> int:
    return town.relearning.relearn("probit-traits", {}, unfitted_prior(ProbitTraits(), len(TAGS)))


def town_with_traits() -> Town:
    town = Town(MemoryStore(), learner="probit-traits", settings={})
    relearn_with_traits(town)
    town.world.follow()
    town.relearning.resume()  # no process deals by the model without traits any more
    return town


def with_history(events: int) -> Town:
    """m0 has so many events, and w0, who swiped on m0 in between; both have decks."""
    town = Town(MemoryStore())
    town.couples(2)
    for user, other in (("m0", "w1"), ("w0", "m1")):
        town.swipe(user, other)
        for place in range(events // 2):
            town.swipe_outside(user, other, "pass", id=f"{user}-{place}")
            town.undoing.undo(user, f"{user}-{place}").result()
        town.swipe("m0" if user == "m0" else "w0", "w0" if user == "m0" else "m0")
    return town


def test_no_commit_of_an_erasure_grows_with_a_history(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "_AT_A_TIME", 25)
    most: dict[int, tuple[int, int]] = {}
    for events in (50, 300):
        town = with_history(events)
        with counted_commits(town) as rows:
            town.erasing.begin("m0")
            [gone] = rows
            town.erasing.work()
        assert not town.find(Event, user="m0")
        assert not town.find(PendingErasure)
        assert verify(town.context).problems == ()
        most[events] = gone, max(rows)
    assert most[50][0] == most[300][0] < 30
    assert most[300][1] <= 8 * removal._AT_A_TIME


def busy(town: Town) -> None:
    """A canary has done everything, and everything was done to it."""
    town.couples(5)
    town.move_in("canary", man=True, tags=["chess"])
    for woman in range(4):
        town.swipe(f"w{woman}", "canary", "like" if woman < 3 else "pass")
        town.swipe(f"w{woman}", "m0", "pass" if woman % 2 else "like")
    for woman in ("w0", "w1", "w2", "w3"):
        town.swipe("canary", woman)
    town.safety.block("w1", "canary").result()
    town.safety.report("w2", "canary", "rude").result()
    town.safety.report("canary", "w3", "rude").result()
    town.swipe("m0", "w0")


def answers_of(town: Town) -> dict[str, Any]:
    """All that is told, but for decks: they have tests of their own."""
    operators, data = OperatorActions(town.context), PersonalData(town.context, AnswerCache())
    found: dict[str, Any] = {
        "feed": Feed(town.context).read(),
        "reports": town.safety.open_reports(),
        "swipes": [*export_batches(town.context, "swipes")],
        "profiles": [*export_batches(town.context, "profiles")],
    }
    for user in ("w0", "w1", "w2", "w3"):
        found |= {
            f"matches of {user}": town.matching.matches(user),
            f"likes of {user}": town.preferences.likes(user),
            f"events of {user}": town.preferences.history(user),
            f"history of {user}": [event for event, _ in town.preferences.growth(user)],
            f"blocks of {user}": town.safety.blocks(user),
            f"export of {user}": json.loads(data.export(user)),
            f"timeline of {user}": operators.timeline(user, "key"),
        }
    found["why"] = town.ranking.why("w0", "m0").swipes
    return found


def naming(answers: dict[str, Any]) -> set[str]:
    return {name for name, answer in answers.items() if "canary" in repr(answer)}


def test_once_a_person_is_gone_no_answer_names_them() -> None:
    town = Town(MemoryStore())
    busy(town)
    named = naming(answers_of(town))
    kinds = {name.partition(" of ")[0] for name in named}
    assert kinds >= {"feed", "reports", "swipes", "matches", "likes", "events", "history", "blocks", "export", "timeline"}
    [match] = [one for one in town.matching.matches("w0") if one.other == "canary"]
    [report, *_] = [one for one in town.safety.open_reports() if one.other == "canary"]
    town.erasing.begin("canary")
    assert {kind for kind in (Event, MatchSide, Block, AbuseReport, OutboxMessage, LatestDecision) if town.find(kind)}
    assert naming(answers_of(town)) == set()
    for refused in (
        lambda: town.matching.unmatch("w0", match.id),
        lambda: town.matching.record_outcome("w0", match.id, "met"),
        lambda: town.safety.close(report.id, "no action", "key"),
    ):
        with pytest.raises(NotFound):
            refused().result()
    before = len(town.find(Block)), len(town.find(AbuseReport)), len(town.find(AuditEntry, user="canary"))
    town.wait(days=2)  # longer than the id is known to be one of an erased person
    town.safety.block("w0", "canary").result()
    town.safety.report("w0", "canary", "rude").result()
    assert (len(town.find(Block)), len(town.find(AbuseReport)), len(town.find(AuditEntry, user="canary"))) == before


def test_nothing_is_told_of_the_person_who_is_gone_either() -> None:
    town = Town(MemoryStore())
    busy(town)
    swipe = town.swipe("m0", "w1", id="again").event
    again = Swipe(user="m0", id="again", candidate="w1", decision="like", deck=swipe.deck or "")
    town.safety.block("m0", "w3").result()
    assert town.matching.matches("m0")
    assert town.safety.blocks("m0")
    town.erasing.begin("m0")
    assert town.find(MatchSide, user="m0")
    assert town.matching.matches("m0") == town.safety.blocks("m0") == []
    with pytest.raises(NotFound):
        town.swiping.swipe(again).result()
    with pytest.raises(NotFound):
        town.swiping.import_swipe(again, town.now).result()


def test_a_list_goes_on_after_people_who_are_gone() -> None:
    town = Town(MemoryStore())
    town.couples(6)
    for place in range(6):
        town.swipe("w0", f"m{place}")
    for place in (1, 2, 4):
        town.erasing.begin(f"m{place}")
    assert [like.candidate for like in town.preferences.likes("w0", limit=2)] == ["m5", "m3"]
    [last] = town.preferences.likes("w0", after=(town.preferences.likes("w0", limit=2)[1].at,), limit=2)
    assert last.candidate == "m0"


def test_asking_again_does_no_work() -> None:
    town = Town(MemoryStore())
    town.couples(2)
    town.swipe("w0", "m0")
    noted: list[str] = []
    erasing = Erasure(
        town.context, Scrubbing(town.context), ErasedTokens(town.context, b"secret"), lambda user, _: noted.append(user)
    )
    together = Barrier(8)

    def begin(_: int) -> bool:
        together.wait()
        return erasing.begin("m0").done

    with ThreadPoolExecutor(8) as threads:
        assert not any(threads.map(begin, range(8)))
    assert noted == ["m0"]
    with counted_commits(town) as rows:
        assert erasing.begin("m0").people_left == 1
        assert rows == []
        assert erasing.work() == 1
        worked = len(rows)
        assert erasing.begin("m0") == erasing.progress("m0") == ErasureProgress(done=True, people_left=0)
        assert erasing.work() == 0
        assert len(rows) == worked
    town.wait(days=2)
    Maintenance(town.context).run()
    with pytest.raises(NotFound):
        erasing.begin("m0")


class Killed(BaseException):
    pass


@pytest.mark.parametrize("traits", [False, True])
def test_wherever_the_job_is_killed_everybody_is_consistent_and_the_next_one_finishes_it(traits: bool) -> None:
    town = town_with_traits() if traits else Town(MemoryStore())
    busy(town)
    town.erasing.begin("canary")
    assert verify(town.context).problems == ()
    write, commits = town.context.store.write, 0
    for killed in range(1_000):
        left = iter(range(1 + killed % 3))

        def killing(work: Any, *, left: Iterator[int] = left, **options: Any) -> Any:
            if next(left, None) is None:
                raise Killed
            return write(work, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(town.context.store, "write", killing)
            try:
                finished = Erasure(town.context, Scrubbing(town.context), ErasedTokens(town.context, b"secret")).work()
            except Killed:
                finished = 0
        assert verify(town.context).problems == ()
        commits += 1
        if finished or not town.find(PendingErasure):
            break
        town.wait(minutes=5)  # until the lease of the one that was killed has run out
    assert commits > 5
    assert not town.find(PendingErasure)
    for kind, field in TRACES:
        left = [one for one in town.find(kind) if getattr(one, field) == "canary"]
        assert {getattr(one, "topic", kind.__name__) for one in left} <= {"profile.erased", "Change", "ErasedId"}, kind


def test_an_erasure_that_fails_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    town = Town(MemoryStore())
    town.couples(3)
    people, run = ["w0", "m1", "w2"], removal.Removal.run

    def fails(one: removal.Removal) -> None:
        if one.user == "w0":
            raise ValueError("what is stored cannot be read")
        run(one)

    monkeypatch.setattr(removal.Removal, "run", fails)
    for user in people:
        town.erasing.begin(user)
    with pytest.raises(ValueError, match="cannot be read"):
        town.erasing.work()
    assert [one.user for one in town.find(PendingErasure)] == ["w0"]
    assert not town.find(StoredLease)


def test_a_model_with_traits_that_comes_to_swipes_on_a_person_who_is_gone() -> None:
    """It learns nothing from them, now and whenever a log is folded again."""
    town = town_with_traits()
    town.couples(4)
    for user, other, decision in (("w0", "m0", "like"), ("w0", "m1", "like"), ("w0", "m3", "skip"), ("w1", "m0", "pass")):
        town.swipe(user, other, decision)
    town.swipe_outside("w0", "m1", "pass")
    town.swipe("w0", "m2", id="last")
    for user in ("m1", "m3"):
        town.erasing.begin(user)
    assert relearn_with_traits(town) == 3
    assert {one.user for one in town.find(StoredTraits, model=3)} == {"m0", "m2"}
    assert verify(town.context).problems == ()
    assert [event.candidate for event, _ in town.preferences.growth("w0")] == ["m0", "m2"]
    assert {swipe.candidate for swipe, _ in town.ranking.why("w0", "m0").swipes} == {"m0", "m2"}
    town.undoing.undo("w0", "last").result()
    assert verify(town.context).problems == ()
    town.erasing.begin("m0")
    assert town.erasing.work() == 3
    assert verify(town.context).problems == ()


def test_one_process_at_a_time_works_on_erasures() -> None:
    town = Town(MemoryStore())
    town.couples(4)
    for place in range(3):
        town.swipe(f"w{place}", "m0")
    tokens = ErasedTokens(town.context, b"secret")
    mine, other = (Erasure(town.context, Scrubbing(town.context), tokens) for _ in range(2))
    mine.begin("m0")
    told: list[tuple[int, int, int]] = []
    assert mine.work(watch=lambda done, people: told.append((done, people, other.work()))) == 1
    assert told == [(1, 3, 0), (2, 3, 0), (3, 3, 0)]
    assert not town.find(StoredLease)
    assert other.work() == 0


def test_a_service_leaves_an_erasure_to_a_command_for_as_long_as_that_takes() -> None:
    town = Town(MemoryStore())
    town.couples(6)
    for place in range(6):
        town.swipe(f"w{place}", "m0")
    tokens, others = ErasedTokens(town.context, b"secret"), list[int]()
    service = Erasure(town.context, Scrubbing(town.context), tokens)

    def rest() -> None:
        town.wait(seconds=20)
        others.append(service.work())

    Erasure(replace(town.context, rest=rest), Scrubbing(town.context), tokens).erase("m0")
    assert len(others) > 6
    assert set(others) == {0}
    assert not town.find(PendingErasure)
    assert not town.find(StoredLease)


def test_a_job_that_is_told_to_stop_stops_and_lets_go() -> None:
    town = Town(MemoryStore())
    town.couples(4)
    for place in range(4):
        town.swipe(f"w{place}", "m0")
    town.erasing.begin("m0")
    told: list[int] = []
    assert town.erasing.work(lambda: len(told) == 2, lambda done, _: told.append(done)) == 0
    assert told == [1, 2]
    assert not town.find(StoredLease)
    assert len(town.find(Event, candidate="m0")) == 2
    assert town.erasing.work() == 1
    assert not town.find(Event, candidate="m0")


def test_a_rater_with_more_swipes_on_the_person_than_one_commit_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "_AT_A_TIME", 5)
    town = town_with_traits()
    town.couples(2)
    town.swipe_outside("w0", "m1", "pass")
    for place in range(12):
        town.swipe_outside("w0", "m0", "pass", id=f"s-{place}")
        if place % 3 == 2:
            town.undoing.undo("w0", f"s-{place}").result()
    before = town.standing("m1")
    with counted_commits(town) as rows:
        town.erasing.begin("m0")
        town.erasing.work()
    assert max(rows) < 80
    assert [event.candidate for event in town.events("w0") if event.kind == EventKind.SWIPED] == ["m1"]
    assert not [event for event in town.events("w0") if event.kind == EventKind.UNDONE]
    assert town.standing("m1") == before
    assert {one.candidate for one in town.find(SeenTraits)} == {"m1"}
    assert verify(town.context).problems == ()


def test_people_who_rated_each_other_are_erased_together() -> None:
    town = town_with_traits()
    town.couples(3)
    for one, other in (("w0", "m0"), ("m0", "w0"), ("w0", "m1"), ("w1", "m0"), ("w1", "m1")):
        town.swipe(one, other)
    for user in ("m0", "w0"):
        town.erasing.begin(user)
    assert verify(town.context).problems == ()
    assert town.erasing.work() == 2
    assert verify(town.context).problems == ()
    assert {(event.user, event.candidate) for event in town.find(Event)} == {("w1", "m1")}
    assert {one.user for one in town.find(PersonCounters)} == {one.id for one in town.find(Person)} == {"w1", "m1", "w2", "m2"}


def test_a_rater_whose_log_changes_all_the_time_is_left_for_later(tmp_path: Path) -> None:
    """The others are not held up."""
    with closing(SqlStore(f"sqlite:///{tmp_path}/store.db")) as store:
        town = Town(store)
        town.couples(4)
        for woman in ("w0", "w1", "w2"):
            town.swipe(woman, "m0")
        town.erasing.begin("m0")
        write = store.write

        def overtaken(work: Any, *, locks: Sequence[str] = (), **options: Any) -> Any:
            if list(locks) == ["w0", "m0"]:
                town.swipe_outside("w0", "m1", "pass")
            return write(work, locks=locks, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "write", overtaken)
            with pytest.raises(StoreUnavailable, match="changes all the time"):
                town.erasing.work()
        assert {event.user for event in town.find(Event, candidate="m0")} == {"w0"}
        assert town.erasing.work() == 1
        assert not town.find(Event, candidate="m0")
        assert verify(town.context).problems == ()


def test_who_comes_back_keeps_what_others_say_of_them_although_a_late_process_still_folds_the_logs_of_before() -> None:
    town = Town(MemoryStore())
    town.couples(2)
    town.swipe("w0", "m0")
    tokens, begun = ErasedTokens(town.context, b"secret"), list[bool]()
    late, other = (Erasure(town.context, Scrubbing(town.context), tokens) for _ in range(2))
    late.begin("m0")
    write = town.context.store.write

    def overtaken(work: Any, *, locks: Sequence[str] = (), **options: Any) -> Any:
        if list(locks) == ["w0", "m0"] and not begun:
            begun.append(True)
            other.erase("m0")
            town.move_in("m0", man=True)
            town.swipe_outside("w0", "m0")
        return write(work, locks=locks, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(town.context.store, "write", overtaken)
        late.work()
    assert begun
    assert [event.candidate for event in town.events("w0")] == ["m0"]
    assert verify(town.context).problems == ()
