"""What fails beside commits is logged once per outage, and is in the metrics."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from kaczmatch.api.metrics import Metrics
from kaczmatch.app.composition import open_store
from kaczmatch.app.system import compose
from kaczmatch.app.system_metrics import watch_system
from kaczmatch.settings.model import Settings
from kaczmatch.storage import SqlStore


def test_an_outage_is_said_once_and_its_end_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, metrics = Settings(data=tmp_path), Metrics()
    with closing(open_store(settings)) as store:
        system = compose(settings, store)
        watch_system(metrics, system)
        said, gauge = [], []
        for problem in ("", "no room", "no room", "", "", "long reader"):
            monkeypatch.setattr(SqlStore, "problem", lambda _, problem=problem: problem)
            with capture_logs() as lines:
                system._look_at_store()
            said.append([(line["event"], line.get("problem", "")) for line in lines])
            gauge.append(metrics.gauge("upkeep_failing"))
    assert said == [
        [],
        [("store upkeep fails", "no room")],
        [],
        [("store upkeep works again", "")],
        [],
        [("store upkeep fails", "long reader")],
    ]
    assert gauge == [0, 1, 1, 0, 0, 1]
