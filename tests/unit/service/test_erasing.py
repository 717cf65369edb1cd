"""Nothing of an erased person remains, in any record, under any name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.population.traits import unfitted_prior
from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.answer_cache import AnswerCache
from kaczmatch.service.domain.records import (
    RECORDS,
    AbuseReport,
    AuditEntry,
    Block,
    ErasedId,
    Event,
    HeldPerson,
    LatestDecision,
    OutboxMessage,
    PendingErasure,
    PersonCounters,
    PersonNumber,
    Pick,
    Record,
    columns,
)
from kaczmatch.service.domain.refusals import Conflict, NotFound
from kaczmatch.service.domain.scrubbing import Scrubbing
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.meeting.swipes import Swipe
from kaczmatch.service.messages.feed import Feed
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.verification import verify
from kaczmatch.service.privacy.erasure import Erasure
from kaczmatch.service.privacy.personal_data import HIDDEN_FIELDS, PersonalData
from kaczmatch.service.privacy.traces import TRACES
from kaczmatch.storage import MemoryStore
from kaczmatch.storage.codec import codec
from worlds.town import TAGS, Town


def everywhere(town: Town, text: str) -> list[Record]:
    return [record for kind in RECORDS for record in town.find(kind) if text in repr(record)]


def busy(town: Town) -> None:
    """Somebody called canary who has done everything one can do, and to whom everything was done."""
    town.couples(5)
    town.move_in("canary", man=True, tags=["chess"])
    for woman in range(4):
        town.swipe(f"w{woman}", "canary", "like" if woman < 3 else "pass")
        town.swipe(f"w{woman}", "m0", "pass" if woman % 2 else "like")
    town.swipe("canary", "w0")
    town.swipe("canary", "w1")
    town.swipe("canary", "w3", "like")
    town.safety.report("canary", "w1", "rude").result()
    town.safety.report("w2", "canary", "rude").result()
    town.safety.unblock("w3", "canary", actor="k").result()
    audit = AuditEntry(id="a", at=town.now, actor="k", action="looked", user="canary")
    held, erased_before = HeldPerson(user="canary", actor="k"), ErasedId(user="canary")
    picks = [Pick(edition=1, user=a, place=0, candidate=b, score=0.5) for a, b in (("canary", "w0"), ("w0", "canary"))]
    town.context.store.write(lambda tx: (tx.append(audit), tx.put(held), tx.put(erased_before), *map(tx.put, picks))).result()


def test_every_field_that_can_name_a_person_is_known_to_the_eraser() -> None:
    known = {(kind, column.name) for kind in RECORDS for column in codec(kind).columns if column.person}
    assert known - {(PendingErasure, "user")} == set(TRACES)


@pytest.mark.parametrize(("kind", "field"), TRACES, ids=lambda one: one if isinstance(one, str) else one.table)
def test_an_erasure_scans_no_table(kind: type[Record], field: str) -> None:
    assert field in {names[0] for names in (kind.key, *kind.indexes)}


def test_erasure_leaves_no_record_that_names_the_person() -> None:
    town = Town(MemoryStore(), learner="probit-traits", settings={})
    town.relearning.relearn("probit-traits", {}, unfitted_prior(ProbitTraits(), len(TAGS)))
    town.world.follow()
    busy(town)
    found = {type(record) for record in everywhere(town, "canary")}
    assert found >= {kind for kind, _ in TRACES}, "the canary is not in every table, so its absence would prove little"
    town.erasing.erase("canary")
    [told] = [record for record in everywhere(town, "canary") if isinstance(record, OutboxMessage)]
    assert told.topic == "profile.erased"
    for _ in range(2):  # changes are kept until all processes say that they have read them
        town.wait(minutes=3)
        town.world.follow()
    Maintenance(town.context).run()
    town.erasing.resume()
    assert {type(record) for record in everywhere(town, "canary")} == {OutboxMessage, ErasedId, PersonNumber}
    feed = Feed(town.context)
    feed.acknowledge(feed.read()[-1].number)
    town.erasing.resume()
    assert everywhere(town, "canary") == []


def test_what_tells_of_an_erasure_has_a_number_that_no_other_table_ever_had(town: Town) -> None:
    busy(town)
    [before] = [one.number for one in town.find(PersonNumber) if one.id == "canary"]
    town.erasing.erase("canary")
    [after] = [one.number for one in town.find(PersonNumber) if one.id == "canary"]
    assert after > before


def test_who_comes_back_before_the_message_is_read_keeps_their_number(town: Town) -> None:
    busy(town)
    town.erasing.erase("canary")
    town.move_in("canary", man=True)
    town.erasing.resume()
    assert town.find(ErasedId) == []
    assert "canary" in {one.id for one in town.find(PersonNumber)}
    assert verify(town.context).problems == ()


def test_states_are_what_they_would_be_if_the_person_had_never_been(town: Town) -> None:
    busy(town)
    town.erasing.erase("canary")
    assert verify(town.context).problems == ()
    for woman in range(4):
        events = town.events(f"w{woman}")
        assert [event.candidate for event in events] == ["m0"]
        learned = town.learned(f"w{woman}")
        assert learned is not None
        assert learned.swipes == 1
    assert [pair.candidate for pair in town.find(LatestDecision)] == ["m0"] * 4


def test_nobodys_appeal_keeps_what_the_person_thought(town: Town) -> None:
    town.couples(2)
    town.swipe("m0", "w0", "like")
    before = town.standing("w0")
    town.wait(days=100)
    town.swipe("m1", "w0", "like")
    town.erasing.erase("m1")
    after = town.standing("w0")
    aged = 0.5 ** (timedelta(days=100, seconds=1) / timedelta(days=1825))
    assert after.excess == pytest.approx(aged * before.excess)
    assert after.information == pytest.approx(aged * before.information)


@contextmanager
def stopping(
    town: Town, monkeypatch: pytest.MonkeyPatch, *, after: int, error: BaseException
) -> Iterator[list[tuple[Any, Sequence[str]]]]:
    """The store writes so often, and then no more; what it wrote, and for whom."""
    write, written = town.context.store.write, []

    def limited(work: Any, locks: Sequence[str] = (), **options: Any) -> Any:
        if len(written) == after:
            raise error
        written.append((work, locks))
        return write(work, locks=locks, **options)

    with monkeypatch.context() as patched:
        patched.setattr(town.context.store, "write", limited)
        yield written


def test_an_interrupted_erasure_is_finished_at_the_next_start(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    busy(town)
    with stopping(town, monkeypatch, after=1, error=KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        town.erasing.erase("canary")
    assert town.find(Event, candidate="canary")
    assert town.erasing.resume() == 1
    assert not town.find(Event, candidate="canary")
    assert not town.find(PendingErasure)
    assert town.erasing.resume() == 0


def test_nobody_comes_back_before_their_erasure_is_finished(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the newcomer did would be taken for traces of who was before."""
    busy(town)
    with stopping(town, monkeypatch, after=1, error=KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        town.erasing.erase("canary")
    with pytest.raises(Conflict, match="is being erased"):
        town.move_in("canary", man=True)
    with stopping(town, monkeypatch, after=1_000, error=KeyboardInterrupt()) as written:
        town.erasing.resume()
    late, people = next(one for one in written if one[1][0] == "canary")
    town.move_in("canary", man=True)
    town.swipe("canary", people[1])
    town.context.store.write(late, locks=people).result()  # by another process that was at it, too
    assert town.find(Event, user="canary", candidate=people[1])
    assert verify(town.context).problems == ()


def test_an_id_of_a_swipe_that_names_the_person_goes_with_it(town: Town) -> None:
    """A client chooses ids, and a session is called by that of its first swipe."""
    town.couples(2)
    town.swipe("w0", "m0", id="first")
    town.wait(hours=1)
    town.swipe("w0", "m1", id="w0-and-canary")
    town.erasing.erase("m1")
    assert everywhere(town, "canary") == []
    assert town.standing("w0").session == "first"
    assert verify(town.context).problems == ()


def test_nothing_can_be_said_of_somebody_who_is_gone(town: Town) -> None:
    town.couples(2)
    deck = town.shown("w0", "m0")
    town.erasing.erase("m0")
    with pytest.raises(NotFound):
        town.swipe("w0", "m0", deck=deck)
    with pytest.raises(NotFound):
        town.erasing.erase("m0")
    town.safety.block("w0", "m0").result()  # looks as if it were done, as for somebody who never was
    town.safety.report("w0", "m0", "rude").result()
    assert town.find(Block) == town.find(AbuseReport) == []
    assert [one.user for one in town.find(PersonCounters)].count("m0") == 0


def test_an_export_is_complete_and_holds_nobody_elses_data(town: Town) -> None:
    busy(town)
    told = json.loads(PersonalData(town.context, AnswerCache()).export("canary"))
    mine = {
        "profile",
        "counters",
        "learned",
        "events",
        "decisions",
        "decks",
        "cards_shown",
        "matches",
        "reports",
        "messages",
        "picks",
    }
    assert all(told[name] for name in mine)
    text = repr(told)
    for theirs in ("W0", "W1", "jazz", "propensity", "score", "excess"):
        if theirs == "jazz":
            assert "jazz" not in repr(told["profile"])
        else:
            assert theirs not in text
    assert told["profile"]["tags"] == ["chess"]
    assert {one["what"]: one["used"] for one in told["quotas"]} == {
        "swipes": len(town.events("canary")),
        "decks": len(told["decks"]),
    }
    with pytest.raises(NotFound):
        PersonalData(town.context, AnswerCache()).export("nobody")


def test_nobodys_appeal_keeps_what_came_late(town: Town) -> None:
    town.couples(2)
    bring(town, "w0", "m0", days=10)
    before = town.standing("m0")
    bring(town, "w1", "m0", days=2_000)
    town.erasing.erase("w1")
    after = town.standing("m0")
    assert (after.excess, after.information) == pytest.approx((before.excess, before.information))


def bring(town: Town, user: str, candidate: str, *, days: float) -> None:
    swipe = Swipe(user=user, id=f"{user}.{candidate}", candidate=candidate, decision="like", deck="")
    town.swiping.import_swipe(swipe, town.now - timedelta(days=days)).result()


def test_memory_forgets_what_the_person_taught_and_thought(town: Town) -> None:
    town.couples(3)
    for user, candidate in (("w0", "m0"), ("w0", "m1"), ("m0", "w1")):
        town.swipe(user, candidate, "pass")
    town.world.follow()
    town.erasing.erase("m0")
    town.world.follow()
    fresh = ServingIndex(town.context)
    fresh.load()
    assert remembered(town.world) == remembered(fresh)


def remembered(world: ServingIndex) -> dict[str, Any]:
    people = ("w0", "w1", "m1")
    return {user: world.recommender.states([user])[0].cells.tolist() for user in people}


def test_an_erasure_that_failed_is_finished_when_it_is_asked_for_again(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town.couples(2)
    town.swipe("w0", "m0")
    with stopping(town, monkeypatch, after=1, error=StoreUnavailable("no disk")), pytest.raises(StoreUnavailable):
        town.erasing.erase("m0")
    assert town.find(Event, candidate="m0")
    town.erasing.erase("m0")
    assert not town.find(Event, candidate="m0")
    assert [message.topic for message in town.find(OutboxMessage)] == ["profile.erased"]
    with pytest.raises(NotFound):
        town.erasing.erase("m0")


def test_where_the_store_cannot_scrub_now_it_does_later(town: Town) -> None:
    town.couples(1)
    scrubbed: list[bool] = []

    def scrub(_: Any) -> None:
        scrubbed.append(bool(scrubbed))
        if scrubbed == [False]:
            raise StoreUnavailable("somebody reads")

    erasing = Erasure(town.context, Scrubbing(town.context, scrub), ErasedTokens(town.context, b"secret"))
    erasing.erase("m0")
    erasing.resume()
    erasing.resume()
    assert scrubbed == [False, True]


def test_where_scrubbing_is_costly_many_erasures_share_one_that_comes_in_time(town: Town) -> None:
    town.couples(3)
    scrubbed: list[Any] = []
    erasing = Erasure(
        town.context,
        Scrubbing(town.context, lambda _: scrubbed.append(town.now), timedelta(minutes=10)),
        ErasedTokens(town.context, b"secret"),
    )
    first = town.now
    for user in ("m0", "m1", "m2"):
        erasing.erase(user)
        town.wait(minutes=3)
        erasing.resume()
    assert scrubbed == []
    town.wait(minutes=1)
    erasing.resume()
    assert scrubbed == [first + timedelta(minutes=10)]
    town.wait(minutes=30)
    erasing.resume()
    assert len(scrubbed) == 1


def test_who_is_erased_while_it_scrubs_is_scrubbed_next(town: Town) -> None:
    town.couples(2)
    scrubbed: list[Any] = []

    def scrub(_: Any) -> None:
        scrubbed.append(town.now)
        if len(scrubbed) == 1:
            erasing.erase("m1")

    erasing = Erasure(town.context, Scrubbing(town.context, scrub, timedelta(minutes=10)), ErasedTokens(town.context, b"secret"))
    erasing.erase("m0")
    for _ in range(5):
        town.wait(minutes=10)
        erasing.resume()
    assert [later - scrubbed[0] for later in scrubbed] == [timedelta(0), timedelta(minutes=10)]


def test_one_process_scrubs_at_a_time(town: Town) -> None:
    town.couples(1)
    scrubbed: list[bool] = []
    other = Scrubbing(town.context, lambda _: scrubbed.append(True))

    def scrub(_: Any) -> None:
        scrubbed.append(other.run(now=True))

    Erasure(town.context, Scrubbing(town.context, scrub), ErasedTokens(town.context, b"secret")).erase("m0")
    assert scrubbed == [False]


def test_what_an_export_leaves_out_are_fields_that_exist() -> None:
    """A renamed field would otherwise be told to people whom it does not concern."""
    for kind, hidden in HIDDEN_FIELDS.items():
        assert set(hidden) <= set(columns(kind)), kind
