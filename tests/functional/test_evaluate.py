"""`kaczmatch evaluate` and `kaczmatch tune`, as a user meets them."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import Result
from typer.testing import CliRunner

import kaczmatch
from kaczmatch.cli.app import app
from kaczmatch.evaluation.tune import TuningResult
from kaczmatch.formats.configuration import Configuration, read_configuration
from kaczmatch.formats.rows import ENDINGS
from kaczmatch.formats.tables import write_table
from worlds.reports import size_before_charts

FEW = ["--learner", "tk", "--learner", "probit-diag"]


def command(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People with tastes and charm who swipe on each other, everybody once a round."""
    folder = tmp_path_factory.mktemp("log")
    rng = np.random.default_rng(0)
    people, tags = 90, 8
    features = (rng.random((people, tags)) < 0.4).astype(int)
    taste, charm = 1.2 * rng.normal(size=tags) + rng.normal(size=(people, tags)), rng.normal(size=people)
    rows = [
        {"user": one, "candidate": (turn - one) % people, "at": 60 * turn, "side": one % 3}
        for turn in range(40)
        for one in range(people)
        if one != (turn - one) % people
    ]
    for row in rows:
        felt = taste[row["user"]] @ features[row["candidate"]] + charm[row["candidate"]]
        row["decision"] = "like" if felt + rng.logistic() > 0.0 else "pass"
    for ending in ENDINGS:
        write_table(pl.DataFrame(rows), folder / f"swipes{ending}")
        named = pl.DataFrame(features, schema=[f"tag_{i}" for i in range(tags)])
        write_table(named.insert_column(0, pl.Series("id", np.arange(people))), folder / f"candidates{ending}")
    return folder


def files(log: Path, ending: str = ".csv") -> list[object]:
    return ["--swipes", log / f"swipes{ending}", "--candidates", log / f"candidates{ending}"]


def test_every_format_gives_the_same_answer(log: Path) -> None:
    answers = [command("evaluate", *files(log, ending), *FEW, "--json", "--one-way") for ending in ENDINGS]
    assert {done.exit_code for done in answers} == {0}, [done.output for done in answers]
    assert len({done.stdout for done in answers}) == 1
    rows = json.loads(answers[0].stdout)
    assert {row["learner"] for row in rows} >= {"tk", "probit-diag + population + appeal", "all-ones", "appeal alone", "random"}
    best = next(row for row in rows if row["learner"] == "probit-diag + population + appeal" and row["swipes"] == 20)
    assert best["auc"] > 0.6
    assert best["over_all_ones_low"] > 0.0


def test_everything_is_written_and_the_same_seed_gives_the_same_bytes(log: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        done = command("evaluate", *files(log), *FEW, "--side", "side", "--out", tmp_path / name)
        assert done.exit_code == 0, done.output
    one, two = tmp_path / "one", tmp_path / "two"
    names = {path.name for path in one.iterdir()}
    for stem in ("auc", "ndcg", "auc-everyone", "ranking", "probabilities", "reliability", "matches", "fusions", "shuffled"):
        assert {f"{stem}.csv", f"{stem}.json"} <= names
    assert {"auc.svg", "auc.png", "over-appeal.svg", "reliability.svg", "report.html"} <= names
    for name in names:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name
    page = (one / "report.html").read_text(encoding="utf-8")
    for outside in ("src=", 'href="http', "@import", "<script", "<link"):
        assert outside not in page
    assert page.index('<section class="answer"') < page.index("<figure>")  # the recommendation comes first
    assert size_before_charts(one) < 150_000
    fusions = {row["fusion"] for row in json.loads((one / "matches.json").read_text())}
    assert fusions == {"own side only", "geometric", "harmonic", "minimum", "product"}
    sides = {row["side"] for row in json.loads((one / "matches.json").read_text())}
    assert sides == {"everybody", "0", "1", "2"}


@pytest.mark.usefixtures("whole_self_test")
def test_the_terminal_says_what_to_use_first_and_that_the_test_is_fair(log: Path) -> None:
    done = command("evaluate", *files(log), *FEW, "--at", "0,10", "--one-way")
    assert done.exit_code == 0, done.output
    assert re.match(r"Use probit-diag \+ population", done.stdout)
    assert "As it must be, to within 0.00" in " ".join(done.stdout.split())
    assert "after" in done.stdout


def test_with_folds_everybody_is_tested_once(log: Path) -> None:
    done = command("evaluate", *files(log), "--learner", "probit-diag", "--at", "0,10", "--one-way", "--folds", "3")
    assert done.exit_code == 0, done.output
    assert "In 3 folds everybody with swipes enough is tested once: 90 users (30 + 30 + 30)" in done.stdout
    assert "the same 90 users" in done.stdout


def test_peers_and_ours_are_in_one_table(log: Path, tmp_path: Path) -> None:
    pytest.importorskip("vowpalwabbit", reason="peers need: pip install -e '.[bench]'")
    done = command("evaluate", *files(log), "--learner", "tk", "--at", "0,5", "--one-way", "--peers", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert "Compared with other libraries" in said
    assert "implicit BPR is ahead of every individual learner:" in said
    rows = {row["learner"]: row for row in json.loads((tmp_path / "peers.json").read_text())}
    for library in ("River", "Vowpal Wabbit", "scikit-learn", "MABWiser", "implicit"):
        assert any(name.startswith(library) for name in rows)
    for name, row in rows.items():
        assert 0.3 < row["after_5"] < 1.0, name
        assert (row["microseconds_per_swipe"] is None) == (name == "appeal alone"), name
    ours, logistic = rows["probit-diag + population + appeal"], rows["River logistic"]
    assert ours["after_0"] > logistic["after_0"] == 0.5
    assert ours["log_loss"] < logistic["log_loss"]
    assert not (tmp_path / "peers.csv").exists()  # it holds seconds, which no two runs share
    leads = json.loads((tmp_path / "peers-leads.json").read_text())
    assert {row["peer"] for row in leads} == set(rows) - {"appeal alone", *(name for name in rows if name.startswith("probit"))}
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Quality and time per swipe" in page


def test_without_the_libraries_peers_are_refused_in_one_line(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "kaczmatch.evaluation.peers.river", raising=False)
    monkeypatch.setitem(sys.modules, "river", None)
    done = command("evaluate", *files(log), *FEW, "--peers")
    assert done.exit_code == 2
    assert "[bench]'" in done.stderr


def test_tuning_leaves_a_file_that_learner_and_evaluate_take(log: Path, tmp_path: Path) -> None:
    done = command("tune", *files(log), "--learner", "probit-diag", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert re.match(r"(Keep the defaults of|Change) probit-diag", done.stdout)
    assert {"kaczmatch.toml", "tuning.csv", "tuning.json", "tuning.svg", "report.html"} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert size_before_charts(tmp_path) < 150_000
    found = read_configuration(tmp_path / "kaczmatch.toml")
    assert isinstance(kaczmatch.learner(found.slug, **found.settings), kaczmatch.BeliefLearner)
    done = command("evaluate", *files(log), "--config", tmp_path / "kaczmatch.toml", "--one-way", "--json", "--at", "5")
    assert done.exit_code == 0, done.output
    assert "probit-diag + population + appeal" in done.stdout


def relearned(said: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    """The commands that a recommendation ends with, on a store with people."""
    monkeypatch.setenv("KACZMATCH_DATA", str(folder / "data"))
    monkeypatch.setenv("KACZMATCH_CONFIG", "")  # which the commands set, and which other tests must not see
    (start,) = re.findall(r"kaczmatch serve --config (\S+)", said)
    checked = command("config", "check", "--config", start)
    assert checked.exit_code == 0, checked.output
    (folder / "people.csv").write_text(
        "id,name,born,i_am,i_look_for,tags\na,Ann,1990-01-01,woman,man,jazz\nb,Bo,1990-01-01,man,woman,jazz\n"
    )
    (folder / "swipes.csv").write_text("user,candidate,decision,at\na,b,like,2026-01-01T00:00:00Z\n")
    for what, file in (("profiles", "people.csv"), ("swipes", "swipes.csv")):
        imported = command("import", what, folder / file, "--config", start)
        assert imported.exit_code == 0, imported.output
    (line,) = re.findall(r"kaczmatch (relearn .*)", said)
    done = command(*shlex.split(line))
    assert done.exit_code == 0, done.output
    assert command("verify", "--config", start).exit_code == 0
    return done


def test_what_evaluate_recommends_a_service_takes(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = command("evaluate", *files(log), "--learner", "probit-diag", "--at", "5", "--one-way", "--out", tmp_path / "report")
    assert done.exit_code == 0, done.output
    assert "Matches are not tested, because --one-way says so, although" in done.stdout
    # More than appeal alone, and among so few people traits do not pay.
    assert "kaczmatch relearn probit-diag" in (tmp_path / "report" / "report.html").read_text()
    assert "model 2 is in use: probit-diag" in relearned(done.stdout, tmp_path, monkeypatch).stdout


def test_what_tune_recommends_a_service_takes_appeal_and_all(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kaczmatch.evaluation.tune.GRID", {"appeal_half_life_days": (1825.0, 9.0), "alpha": (0.02, 0.05)})
    monkeypatch.setattr("kaczmatch.evaluation.reporting.tuning.GRID", {"appeal_half_life_days": (), "alpha": ()})
    monkeypatch.setattr(TuningResult, "configuration", Configuration("probit", {"alpha": 0.05, "appeal": True}, 9.0))
    done = command("tune", *files(log), "--out", tmp_path / "tuned")
    assert done.exit_code == 0, done.output
    assert "appeal_half_life_days = 9.0" in (tmp_path / "tuned" / "kaczmatch.toml").read_text()
    assert "model 2 is in use: probit" in relearned(done.stdout, tmp_path, monkeypatch).stdout


def test_columns_that_are_no_tags_are_ignored_when_told_to_and_the_report_says_so(log: Path, tmp_path: Path) -> None:
    table = pl.read_csv(log / "candidates.csv").with_columns(city=pl.lit("Köln"), bio=pl.lit("hello"), name=pl.lit("Ann"))
    table.write_csv(tmp_path / "people.csv", separator=";")
    usual = ["evaluate", "--swipes", log / "swipes.csv", "--candidates", tmp_path / "people.csv", "--learner", "tk", "--at", "5"]
    refused = command(*usual)
    assert refused.exit_code == 2
    assert "city: must be numbers in people.csv, got String; if it is no tag: --ignore city --ignore bio" in refused.stderr
    done = command(*usual, "--ignore", "city", "--ignore", "bio", "--one-way")
    assert done.exit_code == 0, done.output
    assert "Columns of a profile that are neither tags nor features are left out: name." in done.stdout
    assert "Left out because --ignore says so: city, bio." in done.stdout
    assert "did you mean 'city'" in command(*usual, "--ignore", "citty").stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--column", "decision=liked"], "liked: this column is missing from swipes.csv"),
        (["--column", "like=liked"], "column: there is no field 'like'"),
        (["--column", "liked"], "column: must be field=column"),
        (["--column", "seq=candidate"], "is earlier than the same user's swipe before it by 'candidate'"),
        (["--split", "at"], "user 0 has more than one 'at'"),
        (["--split", "wave"], "wave: this column is missing"),
        (["--folds", "1"], "folds: must be 2 or more, got 1; without it, one half is fitted on and the other tested"),
        (["--folds", "2", "--protocol", "forward"], "folds: forward tests only those who began after the fit"),
        (["--folds", "7", "--split", "side"], "folds: by 'side' one of 7 has no users; name fewer"),
        (["--at", "0,five"], "at: must be whole numbers with commas between them"),
        (["--at", "900"], "lower --at, --rest or --at-least"),
        (["--learner", "probt"], "did you mean 'probit'"),
        (["--config", "nowhere.toml"], "config: there is no file nowhere.toml"),
    ],
)
def test_wrong_words_are_answered_in_one_line(log: Path, arguments: list[str], says: str) -> None:
    done = command("evaluate", *files(log), *arguments)
    assert done.exit_code == 2
    assert says in " ".join(done.stderr.split())


def test_both_ways_cannot_be_wished_for(tmp_path: Path, log: Path) -> None:
    swipes = pl.read_csv(log / "swipes.csv").with_columns(pl.col("user") + 1_000)
    write_table(swipes, tmp_path / "swipes.csv")
    done = command("evaluate", "--swipes", tmp_path / "swipes.csv", "--candidates", log / "candidates.csv", "--both-ways", *FEW)
    assert done.exit_code == 2
    assert "no candidate of the log swipes on who swiped on them" in " ".join(done.stderr.split())
