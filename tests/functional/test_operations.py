"""The commands of an operator, as they are typed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kaczmatch.app import store_workers
from kaczmatch.cli.app import app
from kaczmatch.recommend.decks.policy import MutualPolicy
from kaczmatch.service.domain.experiment import Arm, Experiment
from kaczmatch.storage import SqlStore
from worlds.simulated import SimulatedTown

Typed = Callable[..., Result]
TRIAL = Experiment(
    name="trial", arms=(Arm("usual", MutualPolicy(uniform_floor=0.25)), Arm("bold", MutualPolicy(uniform_floor=0.5)))
)


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    (tmp_path / "words.txt").write_text("jazz\nchess\ndogs\n~activity\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("KACZMATCH_DATA", "data")
    monkeypatch.setenv("KACZMATCH_VOCABULARY", "words.txt")

    def call(*arguments: str, answer: str = "", **settings: str) -> Result:
        return CliRunner().invoke(app, arguments, input=answer, env=settings)

    return call


def fine(done: Result) -> str:
    assert done.exit_code == 0, (done.stdout, done.stderr, done.exception)
    return done.stdout


def refused(done: Result) -> str:
    """One line that says what is wrong."""
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code in (1, 2)
    assert len(done.stderr.strip().splitlines()) <= 1, done.stderr
    return done.stdout + done.stderr


def test_help_of_every_command_is_light() -> None:
    code = (
        "import sys, typer.testing\nfrom kaczmatch.cli.app import app\n"
        "for command in ([], ['migrate'], ['keys'], ['keys', 'create'], ['import'], ['export'], ['erase'], ['verify'], "
        "['backup'], ['restore'], ['off-policy'], ['experiment']):\n"
        "    result = typer.testing.CliRunner().invoke(app, [*command, '--help'])\n"
        "    assert result.exit_code == 0 and 'Usage' in result.output, result.output\n"
        "print(sorted({'numba', 'polars', 'altair', 'scipy', 'sqlalchemy', 'fastapi'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "[]\n"


PEOPLE = (
    "user_id,name,born,i_am,i_look_for,tags\n"
    "ada,Ada Example,1990-02-03,woman,man,jazz|dogs\nbo,Bo Example,1991-03-04,man,woman,chess\n"
)
SWIPES = (
    '{"user": "ada", "candidate": "bo", "decision": "like", "at": "2026-01-01T12:00:00Z"}\n'
    '{"user": "bo", "candidate": "ada", "decision": "like", "at": "2026-01-01T12:01:00Z"}\n'
)
COLUMN = ("--column", "id=user_id")


def test_migrate_and_keys(typed: Typed) -> None:
    assert "0001" in fine(typed("migrate"))
    assert "up to date" in fine(typed("migrate"))
    key = fine(typed("keys", "create", "my-app", "--scope", "app", "--scope", "data", "--days", "30")).strip()
    identifier = key.split("_")[1]
    listed = fine(typed("keys", "list"))
    assert identifier in listed
    assert "app, data" in listed
    assert key.split("_")[2] not in listed
    assert fine(typed("keys", "rotate", identifier)).startswith("kz_")
    fine(typed("keys", "revoke", identifier))
    assert "revoked" in fine(typed("keys", "list"))
    assert "no key 'nope'" in refused(typed("keys", "revoke", "nope"))
    assert "neither sqlite nor postgresql" in refused(typed("migrate", KACZMATCH_DATABASE="mysql://host/name"))
    assert "cannot be reached" in refused(typed("migrate", KACZMATCH_DATABASE="postgresql://nobody@127.0.0.1:1/none"))


def test_import_and_export(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE + "cy,Cy Example,2024-03-04,man,woman,chess\n")
    (tmp_path / "swipes.jsonl").write_text(SWIPES)
    assert "row 4: born" in refused(typed("import", "profiles", "people.csv", *COLUMN, "--dry-run"))
    assert "nothing was written" in refused(typed("import", "profiles", "people.csv", *COLUMN))
    assert "2 profiles written" in fine(typed("import", "profiles", "people.csv", *COLUMN, "--skip-bad"))
    again = fine(typed("import", "profiles", "people.csv", *COLUMN, "--skip-bad"))
    assert "0 profiles written, 2 were there already" in again
    assert "must end in one of" in refused(typed("import", "profiles", "words.txt"))
    assert "no file" in refused(typed("import", "profiles", "missing.csv"))
    assert "field=column" in refused(typed("import", "profiles", "people.csv", "--column", "id"))
    assert "2 swipes written" in fine(typed("import", "swipes", "swipes.jsonl"))
    assert "2 profiles in out.parquet" in fine(typed("export", "profiles", "out.parquet"))
    assert "2 swipes in out.jsonl" in fine(typed("export", "swipes", "out.jsonl"))
    assert {json.loads(line)["user"] for line in (tmp_path / "out.jsonl").read_text().splitlines()} == {"ada", "bo"}
    assert "there already" in refused(typed("export", "swipes", "out.jsonl"))


def test_verify_backup_erase_restore(typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "swipes.jsonl").write_text(SWIPES)
    fine(typed("import", "profiles", "people.csv", *COLUMN))
    fine(typed("import", "swipes", "swipes.jsonl"))
    assert "2 states equal their replay" in fine(typed("verify"))
    assert "0 swipes written, 2 were there already" in fine(typed("import", "swipes", "swipes.jsonl", "--workers", "2"))
    fine(typed("export", "swipes", "swipes.csv"))
    fine(typed("export", "swipes", "again.csv", "--workers", "2"))
    assert Path("swipes.csv").read_bytes() == Path("again.csv").read_bytes()
    assert "cannot reach a SQLite file" in refused(typed("verify", "--ray", "auto"))
    with monkeypatch.context() as changed:
        changed.setattr(store_workers, "_FEW", 1)  # so that two people are many
        assert "2 people, 2 events; verified" in fine(typed("backup", "backups/one.db"))
    assert "there already" in refused(typed("backup", "backups/one.db"))
    assert typed("erase", "ada", answer="n\n").exit_code == 1
    assert "nothing of ada is left" in fine(typed("erase", "ada", answer="y\n"))
    assert "no person 'ada'" in refused(typed("erase", "ada", "--yes"))
    assert "1 profiles in left.csv" in fine(typed("export", "profiles", "left.csv"))
    assert "--force" in refused(typed("restore", "backups/one.db"))
    restored = fine(typed("restore", "backups/one.db", "--force"))
    assert "1 people" in restored
    assert "erased again, since they were erased after the backup was made: 1" in restored
    assert "1 profiles" in fine(typed("export", "profiles", "left.csv", "--force"))
    assert "damaged" in refused(typed("restore", "people.csv", "--force"))


def test_another_learner_learns_everybodys_swipes_anew(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "swipes.jsonl").write_text(SWIPES)
    fine(typed("import", "profiles", "people.csv", *COLUMN))
    fine(typed("import", "swipes", "swipes.jsonl"))
    assert "model 2 is in use: probit" in fine(typed("relearn", "probit", "--settings", '{"appeal": true}', "--workers", "2"))
    assert "2 states equal their replay" in fine(typed("verify"))
    assert "mutual" in refused(typed("relearn", "tk"))
    assert "did you mean 'probit'" in refused(typed("relearn", "probti"))
    assert "JSON object" in refused(typed("relearn", "probit", "--settings", "[]"))


def test_a_policy_is_judged_and_an_experiment_read_by_command(typed: Typed, tmp_path: Path) -> None:
    """On a store that simulated people have used; what cannot be said is refused in one line."""
    town = SimulatedTown(0, couples=32, store=SqlStore(f"sqlite:///{tmp_path}/town.db"), experiment=TRIAL)
    town.day()
    town.context.store.close()
    chosen = {
        "KACZMATCH_DATABASE": f"sqlite:///{tmp_path}/town.db",
        "KACZMATCH_EXPERIMENT": "trial",
        "KACZMATCH_EXPERIMENT_ARMS": json.dumps({"usual": {}, "bold": {"policy_settings": {"uniform_floor": 0.5}}}),
    }
    told = fine(typed("off-policy", "mutual", "--settings", '{"uniform_floor": 0.25}', **chosen))
    assert "doubly robust" in told
    assert "64 decks and 384 cards of 64 people" in told
    rows = json.loads(fine(typed("off-policy", "paper", "--json", **chosen)))
    assert rows[0]["what"] == "as dealt"
    assert all(row["low"] <= row["likes_per_card"] <= row["high"] for row in rows)
    assert "no deck" in refused(typed("off-policy", "paper", "--since", "2100-01-01", **chosen))
    assert "floor" in refused(typed("off-policy", "mutual", "--settings", '{"uniform_flor": 1}', **chosen))
    told = fine(typed("experiment", **chosen))
    assert "Experiment trial" in told
    assert "no difference shown" in told or "cannot be said yet" in told
    differences = json.loads(fine(typed("experiment", "--json", **chosen)))
    assert [row["outcome"] for row in differences] == ["likes a card", "matches a card"]
    assert "two arms or more" in refused(typed("experiment", **chosen | {"KACZMATCH_EXPERIMENT_ARMS": "{}"}))
    del chosen["KACZMATCH_EXPERIMENT"]
    assert "there is none in the settings" in refused(typed("experiment", **chosen))
