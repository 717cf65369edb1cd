"""Where newcomers start is fitted again when it is due, by one process, and taken into use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

from kaczmatch.app.composition import context_of
from kaczmatch.app.demo.population import draw_population
from kaczmatch.app.demo.setup import fill_store
from kaczmatch.app.first_vocabulary import GENERAL
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.records import SINGLE_ROW, ActiveVersions, Event, PersonCounters, Record
from kaczmatch.service.meeting.safety import Safety
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.operations.refit import Refit, have_swiped
from kaczmatch.service.operations.timeline import OperatorActions
from kaczmatch.service.operations.verification import verify
from kaczmatch.settings.model import Settings
from kaczmatch.storage import MemoryStore, SqlStore
from worlds.town import Town

R = TypeVar("R", bound=Record)


@dataclass
class Clock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


def reader_of(store: SqlStore, kind: type[R]) -> list[R]:
    with store.read() as reader:
        return list(reader.find(kind))


def test_a_prior_is_fitted_once_enough_have_swiped_and_then_not_for_a_week(tmp_path: Path) -> None:
    clock = Clock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    settings = Settings(data=tmp_path)
    store = SqlStore(f"sqlite:///{tmp_path / 'people.sqlite3'}")
    try:
        context = context_of(settings, store, clock)
        refit, world = Refit(context), ServingIndex(context)
        rules: dict[str, Any] = {"every": timedelta(days=7), "min_people": 20}
        assert refit.run_if_due(**rules) is None
        safety, people = (
            Safety(context, ErasedTokens(context, b"secret")),
            draw_population(160, 0, Vocabulary.of(GENERAL), date(2026, 3, 1)),
        )
        fill_store(context, safety, people, 0)
        world.load()
        version = refit.run_if_due(**rules)
        assert version is not None
        world.follow()
        with store.read() as reader:
            current = reader.get(ActiveVersions, SINGLE_ROW)
            assert current is not None
            assert context.catalogue.fold(reader, current.model).prior.version == version
        assert world.current.model == current.model == 2
        told = OperatorActions(context).overview()
        assert (told.model_from, told.refit, told.prior) == (clock.now, True, version)
        swiper = next(one.user for one in reader_of(store, PersonCounters) if one.swipes > 10)
        (entry,) = [one for one in OperatorActions(context).timeline(swiper, "me").entries if one.kind == "prior fitted again"]
        assert entry.at == clock.now
        assert re.fullmatch(rf"model 2: probit-traits from {version}, how sure: \d+% before, \d+% after", entry.detail)
        assert refit.run_if_due(**rules) is None
        clock.now += timedelta(days=6)
        assert refit.run_if_due(**rules) is None
        assert verify(context).problems == ()
    finally:
        store.close()


def test_that_enough_have_swiped_is_found_without_loading_them() -> None:
    town = Town(MemoryStore())
    town.couples(3)
    town.swipe("w0", "m0", "pass")
    town.swipe("w1", "m0", "like")
    store, loaded = town.context.store, list[Record]()

    class Watched:
        write = staticmethod(store.write)

        @contextmanager
        def read(self) -> Iterator[Any]:
            with store.read() as reader:

                def find(kind: type[Record], **equal: Any) -> list[Record]:
                    loaded.extend(found := reader.find(kind, **equal))
                    return found

                yield SimpleNamespace(get=reader.get, find=find, committed=True)

    with store.read() as reader:
        assert [have_swiped(reader, 1, people) for people in (0, 1, 2, 3)] == [True, True, True, False]
    refit = Refit(replace(town.context, store=Watched()))
    assert refit.run_if_due(every=timedelta(days=7), min_people=3) is None
    assert {type(one) for one in loaded} == {Event}  # the newest says how many there are
    assert len(loaded) == 1
