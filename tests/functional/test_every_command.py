"""Every command runs, with its smallest input and every option it documents. The click tree says what there is: a command, an
option or an experiment without a case fails a test here.

All run in this process. What needs more than that is named in `ELSEWHERE`, with where it is tested.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from kaczmatch import Prior
from kaczmatch.app import server
from kaczmatch.cli.app import app
from kaczmatch.cli.research.commands import ExperimentName
from kaczmatch.recommend.decks.policy import MutualPolicy
from kaczmatch.service.domain.experiment import Arm, Experiment
from kaczmatch.settings.model import FILE
from kaczmatch.storage import SqlStore
from worlds.simulated import SimulatedTown

Path_ = tuple[str, ...]

LOG = "--swipes log.csv --candidates candidates.csv --column candidate=shown --ignore age --split wave --seed 1 --workers 1"
LEARN = f"{LOG} --out out"

# Lines of a command are typed one after the other, in a folder of their own; {key} is the id of the key that was made last.
CASES: dict[Path_, list[str]] = {
    ("evaluate",): [
        f"evaluate {LEARN} --folds 2 --at 0,3 --rest 4 --at-least 5 --protocol strict --learner tk --one-way",
        f"evaluate {LOG} --at 0,3 --config learner.toml --both-ways --side wave --json",
        f"evaluate {LOG} --at 3 --learner probit-diag --one-way --peers",
        f"evaluate {LOG} --at 3 --learner probit-diag --column decision=stars --like-from 4",
    ],
    ("reproduce",): [
        "reproduce thresholds --quick --seeds 1 --users 2",
        "reproduce curves --condition honest --quick --seeds 1 --users 2 --workers 1 --json",
        "reproduce noise --quick --seeds 1 --users 2 --out out",
    ],
    ("simulate",): [
        "simulate --learner tk --population uniform --labels cosine --prior ones --sampling row-norm --label-noise "
        "0.1 --like-rate 0.4 "
        "--drift-at 5 --fatigue 0.1 --people 60 --tags 10 --users 3 --sessions 2 --deck 8 --seeds 1 --out out --log "
        "made.csv --json"
    ],
    ("market",): [
        "market --population archetypes --policy uniform --seeds 1 --side 8 --rounds 2 --deck 3 --like-rate 0.3 "
        "--label-noise 0.1 "
        "--refit --group 'tag 1' --workers 1 --out out --json",
        "market --population okcupid --people real.csv --policy default --seeds 1 --side 8 --rounds 2 --deck 3 "
        "--no-traits --full",
    ],
    ("replay",): [
        "replay --swipes log.parquet --candidates candidates.csv --out states --learner probit-diag --prior "
        "start.prior --column "
        "candidate=shown --ignore age --workers 1",
        "replay --swipes log.parquet --candidates candidates.csv --out more --config learner.toml --column "
        "candidate=shown --ignore age",
    ],
    ("serve",): [
        "serve --config kaczmatch.toml --host 127.0.0.1 --port 0 --workers 1 --no-demo --data here --log json",
        "serve --demo mentoring",
    ],
    ("import",): [
        "import profiles people.txt --column id=user_id --map i_am=f:woman,m:man --date-format DD.MM.YYYY --new-tags "
        "add --delimiter ; "
        "--encoding utf-8 --format csv --skip-bad --workers 1 --config kaczmatch.toml",
        "import profiles people.csv --new-tags add --dry-run",
        "import swipes swipes.jsonl",
    ],
    ("export",): [
        "export swipes swipes.out --format jsonl --workers 1 --config town.toml",
        "export profiles people.csv --force --config town.toml",
    ],
    ("migrate",): ["migrate --config kaczmatch.toml"],
    ("backup",): ["backup one.backup --config town.toml", "backup one.backup --force --config town.toml"],
    ("restore",): ["backup one.backup --config town.toml", "restore one.backup --force --config town.toml"],
    ("verify",): ["verify --workers 1 --config town.toml"],
    ("erase",): ["erase w0 --yes --config town.toml"],
    ("relearn",): ["relearn probit-diag --settings '{\"appeal\": true}' --workers 1 --config town.toml"],
    ("refit",): ["refit --workers 1 --config town.toml"],
    ("experiment",): ["experiment --config town.toml", "experiment --json --config town.toml"],
    ("off-policy",): [
        "off-policy mutual --settings '{\"uniform_floor\": 0.25}' --learner probit-diag --learner-settings {} --since "
        "2020-01-01 "
        "--seed 1 --config town.toml",
        "off-policy paper --json --config town.toml",
    ],
    ("picks",): [
        "picks picks.csv --size 2 --assignment fair --settings {} --longest 5 --device cpu --workers 1 --publish "
        "--force --config town.toml",
        "picks of-files.csv --profiles people.csv --swipes swipes.jsonl",
    ],
    ("openapi",): ["openapi"],
    ("config", "check"): ["config check --config kaczmatch.toml"],
    ("keys", "create"): ["keys create app --scope app --scope tokens --days 30 --config kaczmatch.toml"],
    ("keys", "list"): ["keys list --config kaczmatch.toml"],
    ("keys", "revoke"): ["keys create app --scope app", "keys revoke {key} --config kaczmatch.toml"],
    ("keys", "rotate"): ["keys create app --scope app", "keys rotate {key} --grace-hours 1 --config kaczmatch.toml"],
    ("models", "rollback"): ["relearn probit-diag --config town.toml", "models rollback --config town.toml"],
}
ELSEWHERE = {
    "ray": "needs a Ray cluster: tests/unit/runner, tests/functional/test_replay.py",
}
EXPERIMENTS_ELSEWHERE = {
    "all": "tests/functional/test_commands.py",
    **dict.fromkeys(
        ("table-alpha", "table-metrics", "cold-start", "blocks", "convergence", "drift", "claims"), "as parts of all"
    ),
}


def commands(group: Any, path: Path_ = ()) -> Iterator[tuple[Path_, click.Command]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands(typer.main.get_command(app)))


def given(path: Path_) -> dict[str, set[str]]:
    """The parameters that the cases of a command set, and to what."""
    found: dict[str, set[str]] = {}
    for line in CASES[path]:
        words = shlex.split(line)
        if tuple(words[: len(path)]) == path:
            context = COMMANDS[path].make_context(path[-1], words[len(path) :])
            for name, value in context.params.items():
                if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE":  # typer may bring a click of its own
                    found.setdefault(name, set()).add(str(value))
    return found


def test_every_command_has_a_case() -> None:
    assert set(CASES) == set(COMMANDS)


@pytest.mark.parametrize("path", CASES, ids=" ".join)
def test_every_option_is_in_a_case(path: Path_) -> None:
    documented = {str(one.name) for one in COMMANDS[path].params if one.name != "help"}
    assert documented - set(given(path)) <= set(ELSEWHERE), f"{' '.join(path)} has options without a case"


def test_every_experiment_is_in_a_case() -> None:
    assert {str(each) for each in ExperimentName} == given(("reproduce",))["experiment"] | set(EXPERIMENTS_ELSEWHERE)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log, people in files and a store that simulated people have used."""
    folder = tmp_path_factory.mktemp("template")
    rng = np.random.default_rng(0)
    people = 24
    for name, users, turns in (("log", people, 14), ("longer", 100, 8)):
        user, turn = (each.ravel() for each in np.mgrid[0:users, 0:turns])
        shown, like = (user + turn + 1) % people, rng.integers(0, 2, len(user))
        log = pl.DataFrame({"user": user, "shown": shown, "decision": like, "at": 60 * turn, "wave": user % 4, "stars": 3 + like})
        log.write_csv(folder / f"{name}.csv")
        log.drop("wave", "stars").write_parquet(folder / f"{name}.parquet")
    tags = {f"tag_{place}": rng.integers(0, 2, people) for place in range(4)}
    pl.DataFrame({"id": range(people), "age": rng.integers(18, 60, people)} | tags).write_csv(folder / "candidates.csv")
    (folder / "start.prior").write_bytes(Prior(np.zeros(4)).to_bytes())
    (folder / "learner.toml").write_text('learner = "probit-diag"\n')
    (folder / "real.csv").write_text(
        "sex,orientation,age,a,b,c\n"
        + "".join(f"{'mf'[i % 2]},straight,{25 + i % 5},{i % 2},{i // 2 % 2},1\n" for i in range(40))
    )
    (folder / "people.txt").write_text(
        "user_id;name;born;i_am;i_look_for;tags\nada;Ada;03.02.1990;f;man;jazz|dogs\nbo;Bo;04.03.1991;m;woman;chess\n"
        "cy;Cy;04.03.2024;m;woman;chess\n"
    )
    (folder / "people.csv").write_text(
        "id,name,born,i_am,i_look_for,tags\nada,Ada,1990-02-03,woman,man,jazz|dogs\nbo,Bo,1991-03-04,man,woman,chess\n"
    )
    (folder / "swipes.jsonl").write_text(
        '{"user": "ada", "candidate": "bo", "decision": "like", "at": "2026-01-01T12:00:00Z"}\n'
        '{"user": "bo", "candidate": "ada", "decision": "like", "at": "2026-01-01T12:01:00Z"}\n'
    )
    (folder / "words.txt").write_text("jazz\nchess\n")
    (folder / "kaczmatch.toml").write_text('data = "data"\nvocabulary = "words.txt"\n')
    (folder / "town.toml").write_text(
        'data = "town"\nexperiment = "trial"\n[experiment_arms.usual]\n'
        "[experiment_arms.bold.policy_settings]\nuniform_floor = 0.5\n"
    )
    (folder / "town").mkdir()
    arms = (Arm("usual", MutualPolicy(uniform_floor=0.4)), Arm("bold", MutualPolicy(uniform_floor=0.5)))
    store = SqlStore(f"sqlite:///{folder}/town/kaczmatch.sqlite3")
    SimulatedTown(0, couples=18, store=store, experiment=Experiment(name="trial", arms=arms)).day()
    store.close()
    return folder


@pytest.mark.parametrize("path", CASES, ids=" ".join)
def test_every_command_runs(path: Path_, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "here"
    shutil.copytree(template, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv(FILE, "kaczmatch.toml")
    monkeypatch.setattr(server, "serve", lambda settings, _: server.check(settings))  # others serve: worlds/served.py
    key = ""
    for line in CASES[path]:
        monkeypatch.setenv(FILE, "kaczmatch.toml")
        done = CliRunner().invoke(app, shlex.split(line.replace("{key}", key)))
        assert done.exit_code == 0, (line, done.output, done.stderr, done.exception)
        if line.startswith("keys create"):
            key = done.stdout.split("_")[1]
