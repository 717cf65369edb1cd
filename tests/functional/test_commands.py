"""The command line, as a user meets it."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from kaczmatch import LEARNERS, __version__
from kaczmatch.cli.app import app
from kaczmatch.cli.terminal import choices
from kaczmatch.recommend.samplers.registry import SAMPLERS
from kaczmatch.settings.model import DemoName
from kaczmatch.simulation.world import POPULATIONS, Labels, PriorKind, Sampling
from worlds.reports import size_before_charts

KACZMATCH = [sys.executable, "-c", "from kaczmatch.cli.main import main; main()"]


def kaczmatch(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*KACZMATCH, *arguments], cwd=cwd, capture_output=True, text=True, check=False)  # noqa: S603


def command(*arguments: str, cwd: Path) -> Result:
    """The same without a process of its own, which takes seconds to start."""
    with chdir(cwd):
        return CliRunner().invoke(app, arguments)


def test_help_is_light(tmp_path: Path) -> None:
    code = (
        "import sys, typer.testing\nfrom kaczmatch.cli.app import app\n"
        "commands = 'evaluate reproduce simulate market serve import keys relearn'.split()\n"
        "for command in ([], *([one] for one in commands)):\n"
        "    result = typer.testing.CliRunner().invoke(app, [*command, '--help'])\n"
        "    assert result.exit_code == 0 and 'Usage' in result.output, result.output\n"
        "print(sorted({'numba', 'numpy', 'polars', 'altair', 'scipy', 'sqlalchemy', 'fastapi'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "[]\n"


def test_help_draws_nothing(tmp_path: Path) -> None:
    """Libraries that draw frames and colours would take as long as all the rest."""
    code = (
        "import sys; from kaczmatch.cli.main import main; sys.argv = ['kaczmatch', *sys.argv[1:]]\n"
        "try: main()\n"
        "finally: print(sorted({name.partition('.')[0] for name in sys.modules} & {'rich', 'pygments', 'markdown_it'}))"
    )
    for words in (["--help"], ["keys", "--help"], ["market", "--help"]):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)  # noqa: S603
        assert done.stdout.splitlines()[-1] == "[]"


def test_help_shows_the_two_groups_of_commands(tmp_path: Path) -> None:
    said = kaczmatch("--help", cwd=tmp_path).stdout
    research, operate = said.partition("To find out what learns best:")[2].split("To run the service:")
    for command in ("evaluate", "reproduce", "simulate", "market"):
        assert f"\n  {command} " in research, command
    for command in ("serve", "config", "keys", "import", "export", "backup", "restore", "verify", "relearn", "refit", "openapi"):
        assert f"\n  {command} " in operate, command


def test_a_table_as_json_has_the_documented_columns(tmp_path: Path) -> None:
    done = command("reproduce", "table-metrics", "--quick", "--seeds", "1", "--users", "5", "--json", cwd=tmp_path)
    assert done.exit_code == 0, done.output
    rows = {row["learner"]: row for row in json.loads(done.stdout)}
    for key in ("like_rate", "align_at_20", "delta_s", "final_alignment"):
        assert isinstance(rows["tk"][key], float)
    assert rows["random"]["like_rate"] is None
    assert list(tmp_path.iterdir()) == []


def test_everything_is_written_and_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    words = ("--quick", "--seeds", "1", "--users", "3", "--out")
    assert command("reproduce", "all", *words, "one", cwd=tmp_path).exit_code == 0
    other = kaczmatch("reproduce", "claims", *words, "two", cwd=tmp_path)  # another process, where sets have another order
    assert other.returncode == 0, other.stderr
    one, two = tmp_path / "one", tmp_path / "two"
    names = {path.name for path in one.iterdir()}
    for stem in ("curves-paper", "noise-paper", "curves-honest", "cold-start", "convergence", "drift"):
        assert {f"{stem}.csv", f"{stem}.json", f"{stem}.svg", f"{stem}.png"} <= names
    assert {"table-alpha.csv", "table-metrics-against-paper.csv", "claims.csv", "desiderata.csv", "report.html"} <= names
    assert len(list(one.glob("*.csv"))) > 12
    again = sorted(two.glob("*.csv"))
    assert again
    for table in again:  # the claims are told from what most other parts measure
        assert table.read_bytes() == (one / table.name).read_bytes(), table.name
    assert size_before_charts(one) < 150_000
    assert not list(one.glob("desiderata-cost.csv"))  # seconds differ from run to run


def test_the_report_is_one_file_that_asks_nobody_for_anything(tmp_path: Path) -> None:
    command("reproduce", "curves", "--quick", "--seeds", "1", "--users", "5", "--out", "r", cwd=tmp_path)
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    for outside in ("src=", 'href="http', "@import", "<script", "<link"):
        assert outside not in page


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    process = subprocess.Popen(  # noqa: S603
        [*KACZMATCH, "reproduce", "all", "--quick", "--seeds", "2", "--out", "r"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    finished = tmp_path / "r" / "table-metrics-paper.csv"
    until = time.monotonic() + 600.0  # a busy machine is not a fault
    while not finished.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "parts are finished and kept" in said
    assert "paper" in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert finished.read_text().startswith("learner,")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_simulated_log_can_be_read_back(tmp_path: Path, ending: str) -> None:
    from kaczmatch.formats.swipe_table import read_swipes

    options = [
        "--users",
        "5",
        "--sessions",
        "3",
        "--people",
        "100",
        "--learner",
        "tk",
        "--sampling",
        "cosine",
        "--drift-at",
        "20",
    ]
    done = command("simulate", *options, "--log", f"s.{ending}", "--out", "r", cwd=tmp_path)
    assert done.exit_code == 0, done.output
    table = read_swipes(tmp_path / f"s.{ending}", tmp_path / f"s-candidates.{ending}")
    assert len(table) + table.repeats == 5 * 96
    names = {path.name for path in (tmp_path / "r").iterdir()}
    assert {"simulated.svg", "simulated.png", "table-metrics-simulated.csv", "report.html"} <= names


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["simulate", "--learner", "blok-nk"], "did you mean 'block-nk'"),
        (["simulate", "--population", "flat"], "population: there is no 'flat'"),
        (["simulate", "--label-noise", "7"], "label_noise: must be at least 0 and at most 1, got 7.0"),
        (["simulate", "--log", "swipes.xls"], "log: 'swipes.xls' must end in one of"),
        (["simulate", "--drift-at", "99999"], "drift_at: there are only 6400 swipes"),
        (["reproduce", "all", "--json"], "json: prints one table"),
        (["reproduce", "drift", "--condition", "paper"], "condition: 'drift' has its own"),
        (["reproduce", "everything"], "'everything' is not one of"),
        (["reproduce", "noise", "--seeds", "0"], "greater than or equal to 1"),
        (["serve", "mentoring"], "'mentoring' is what a demo can be about: kaczmatch serve --demo mentoring"),
        (["serve", "--demo", "flats"], "demo: Input should be 'dating', 'mentoring' or 'jobs'"),
    ],
)
def test_wrong_words_are_answered_in_one_line(tmp_path: Path, arguments: list[str], says: str) -> None:
    done = command(*arguments, cwd=tmp_path)
    assert done.exit_code == 2, done.output
    assert isinstance(done.exception, SystemExit)
    assert says in " ".join(done.stderr.replace("│", " ").split())


def test_a_process_ends_with_the_same_words(tmp_path: Path) -> None:
    done = kaczmatch("simulate", "--population", "flat", cwd=tmp_path)
    assert (done.returncode, "population: there is no 'flat'" in done.stderr, "Traceback" in done.stderr) == (2, True, False)


def test_without_its_extra_the_command_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['typer'] = None; from kaczmatch.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 1
    assert "typer is missing; install it with: pip install -e '" in done.stderr
    assert "[lab]'" in done.stderr


def test_the_version_is_said(tmp_path: Path) -> None:
    assert kaczmatch("--version", cwd=tmp_path).stdout == f"kaczmatch {__version__}\n"


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def test_every_command_shows_an_example_that_it_understands() -> None:
    found = dict(commands(typer.main.get_command(app)))
    assert len(found) >= 22
    for path, command in found.items():
        words = shlex.split(command.epilog.removeprefix("Example: ").partition(" > ")[0])
        assert words[: len(path) + 1] == ["kaczmatch", *path]
        command.make_context(path[-1], words[len(path) + 1 :])


def test_choices_are_those_that_there_are() -> None:
    assert choices.LEARNERS.split(", ") == list(LEARNERS)
    assert choices.SAMPLERS.split(", ") == list(SAMPLERS)
    for shown, there in (
        (choices.POPULATIONS, POPULATIONS),
        (choices.LABELS, get_args(Labels)),
        (choices.PRIORS, get_args(PriorKind)),
        (choices.SAMPLING, get_args(Sampling)),
        (choices.DEMOS, get_args(DemoName)),
    ):
        assert set(shown.strip("<>").split("|")) == set(there)


@pytest.mark.parametrize("command", ["openapi", "--help", "market --help"])
def test_whoever_stops_reading_is_told_nothing(command: str, tmp_path: Path) -> None:
    script = f"{shlex.join(KACZMATCH)} {command} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603, S607
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
