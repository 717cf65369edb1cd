"""Where newcomers start is fitted again when it is due, by one process, and taken into use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from kaczmatch.app.composing import context_of
from kaczmatch.app.demo.inviting import invite
from kaczmatch.app.demo.population import invent
from kaczmatch.app.refitting import Refitting
from kaczmatch.app.vocabulary import GENERAL
from kaczmatch.service.domain.records import SINGLE_ROW, ActiveVersions
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.operations.verification import verify
from kaczmatch.settings.model import Settings
from kaczmatch.storage import SqlStore


@dataclass
class Clock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


def test_a_prior_is_fitted_once_enough_have_swiped_and_then_not_for_a_week(tmp_path: Path) -> None:
    clock = Clock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    settings = Settings(data=tmp_path, refit_people=20)
    store = SqlStore(f"sqlite:///{tmp_path / 'people.sqlite3'}")
    try:
        context = context_of(settings, store, clock)
        refitting, world = Refitting(context, settings), ServingIndex(context)
        assert refitting.run_if_due() is None
        invite(context, invent(80, 0, GENERAL, date(2026, 3, 1)), 0)
        world.load()
        version = refitting.run_if_due()
        assert version is not None
        world.follow()
        with store.read() as reader:
            current = reader.get(ActiveVersions, SINGLE_ROW)
            assert current is not None
            assert context.catalogue.fold(reader, current.model).prior.version == version
        assert world.current.model == current.model == 2
        assert refitting.run_if_due() is None
        assert verify(context).problems == ()
    finally:
        store.close()
