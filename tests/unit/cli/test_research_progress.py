"""Long commands in the terminal: their bars only ever grow, and Ctrl-C says what was kept."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, NoReturn

import pytest
from rich.progress import Progress

import kaczmatch.cli.research.evaluate as evaluate_command
from kaczmatch.cli.research.evaluate import LogRequest
from kaczmatch.cli.research.market import run as run_market
from kaczmatch.cli.terminal.progress import StageProgress
from kaczmatch.evaluation.self_test import Progress as Told
from kaczmatch.simulation.market import arms

SMALL: dict[str, Any] = {
    "population": "archetypes",
    "policies": ["uniform", "greedy"],
    "census": {"side": 8},
    "pace": {"rounds": 1, "deck": 3},
    "seeds": 2,
    "refits": None,
    "group": "",
}


def test_a_finished_bar_stays_full_while_the_next_one_grows() -> None:
    progress, seen = StageProgress(), list[list[float]]()
    for what, steps in (("one", 4), ("two", 2), ("three", 3)):
        progress.stage(what, steps)
        for _ in range(steps - (what == "two")):  # a stage may end before its last step
            progress.advance()
            seen.append([task.percentage for task in progress.bars.tasks])
    for before, after in itertools.pairwise(seen):
        assert all(now >= then for then, now in zip(before, after, strict=False))  # nothing shown ever shrinks
    assert seen[-1] == [100.0, 100.0, 100.0]


def test_the_market_counts_from_nothing_to_all(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown: list[float] = []
    kept = Progress.update

    def update(self: Progress, *args: Any, **options: Any) -> None:
        kept(self, *args, **options)
        shown.append(self.tasks[0].completed)

    monkeypatch.setattr(Progress, "update", update)
    run_market(**SMALL, out=None, as_json=True)
    assert shown == [1, 2, 3, 4]
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("finished", "told"),
    [(0, "nothing is kept"), (1, "1 of 2 seeds kept, with 1 of 2 policies"), (3, "1 of 2 seeds kept, with 2 of 2 policies")],
)
def test_an_interrupted_market_says_what_it_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, finished: int, told: str
) -> None:
    played, real = [], arms.outcome

    def outcome(*args: Any) -> Any:
        if len(played) == finished:
            raise KeyboardInterrupt
        played.append(args)
        return real(*args)

    monkeypatch.setattr(arms, "outcome", outcome)
    with pytest.raises(SystemExit) as ended:
        run_market(**SMALL, out=tmp_path, as_json=True)
    assert ended.value.code == 130
    assert told in " ".join(capsys.readouterr().err.split())
    assert (tmp_path / "report.html").exists() == (finished > 0)
    if finished:
        assert told in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_an_interrupted_evaluation_says_that_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def interrupted(_trial: object, _choices: object, progress: Told, *_: object, **__: object) -> NoReturn:
        progress.stage("learn, freeze, rank", 3)
        raise KeyboardInterrupt

    monkeypatch.setattr(LogRequest, "trial", lambda *_: None)
    monkeypatch.setattr(evaluate_command, "measure", interrupted)
    request = LogRequest(Path("swipes.csv"), Path("candidates.csv"), [], {})
    with pytest.raises(SystemExit) as ended:
        evaluate_command.run(request, [], None, both_ways=False, side=None, peers=False, out=tmp_path / "out", as_json=False)
    assert ended.value.code == 130
    said = " ".join(capsys.readouterr().err.split())
    assert "Interrupted: nothing is kept. It was at “learn, freeze, rank”" in said
    assert not (tmp_path / "out").exists()
