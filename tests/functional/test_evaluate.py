"""`kaczmatch evaluate` and `kaczmatch.evaluate`, as a user meets them."""

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
        done = command("evaluate", *files(log), *FEW, "--both-ways", "--side", "side", "--out", tmp_path / name)
        assert done.exit_code == 0, done.output
    one, two = tmp_path / "one", tmp_path / "two"
    names = {path.name for path in one.iterdir()}
    for stem in ("own-swipes", "simple", "simple-leads", "auc", "ranking", "probabilities", "reliability", "matches", "shuffled"):
        assert {f"{stem}.csv", f"{stem}.json"} <= names
    assert {"own-swipes.svg", "simple-leads.svg", "auc.png", "reliability.svg", "report.html", "kaczmatch.toml"} <= names
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
    said = " ".join(done.stdout.split())
    assert (
        said.index("What a user's own swipes buy")
        < said.index("Its lead: over appeal alone")
        < said.index("pooled gradient boosting")
    )


def test_a_narrow_terminal_leaves_out_no_column(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    done = command("evaluate", *files(log), "--learner", "tk", "--at", "0,5,10,20", "--one-way")
    assert done.exit_code == 0, done.output
    tables = done.stdout[done.stdout.index("AUC on the swipes that follow") :]
    assert all(f"{t} " in tables[: tables.index("Can its probabilities")] for t in (0, 5, 10, 20))
    assert "error after 20" in " ".join(tables.replace("│", " ").replace("┃", " ").split()) or "continued" in tables


def test_settings_are_compared_by_what_was_typed(log: Path) -> None:
    done = command(
        "evaluate",
        *files(log),
        "--learner",
        "probit-diag",
        "--learner",
        "probit-diag(alpha=2)",
        "--at",
        "5",
        "--one-way",
        "--json",
    )
    assert done.exit_code == 0, done.output
    rows = {row["learner"]: row["auc"] for row in json.loads(done.stdout)}
    assert rows["probit-diag(alpha=2) + population + appeal"] != rows["probit-diag + population + appeal"]


class Arrow:
    """What an Arrow table shows of itself."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def test_a_file_and_a_frame_of_any_library_are_one_log(log: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    swipes, people = (pl.read_csv(log / f"{name}.csv") for name in ("swipes", "candidates"))
    told = {"learners": ["probit-diag"], "at": [0, 5]}
    asked = [(log / "swipes.csv", str(log / "candidates.csv")), (swipes, people), (Arrow(swipes), Arrow(people))]
    asked.append((pandas.read_csv(log / "swipes.csv"), pandas.read_csv(log / "candidates.csv")))
    found = [kaczmatch.evaluate(*each, **told) for each in asked]
    assert all(each.tables == found[0].tables for each in found)
    assert re.match(r"(Use|On this log)", found[0].advice[0])
    assert found[0].write(tmp_path) == tmp_path / "report.html"
    with pytest.raises(kaczmatch.InvalidInput, match="liked: this column is missing from swipes, which has user"):
        kaczmatch.evaluate(swipes, people, columns={"decision": "liked"})
    with pytest.raises(kaczmatch.InvalidInput, match=r"decision: row 3 of swipes must be like, pass or skip"):
        kaczmatch.evaluate(swipes.with_columns(decision=pl.Series(["like"] * 3 + ["maybe"] * (len(swipes) - 3))), people)
    with pytest.raises(kaczmatch.InvalidInput, match="candidates: must be a file or a frame of pandas, polars or Arrow, got int"):
        kaczmatch.evaluate(swipes, 7)


def test_with_folds_everybody_is_tested_once(log: Path) -> None:
    done = command("evaluate", *files(log), "--learner", "probit-diag", "--at", "0,10", "--one-way", "--folds", "3")
    assert done.exit_code == 0, done.output
    assert "In 3 folds everybody with swipes enough is tested once: 90 users (30 + 30 + 30)" in done.stdout
    assert "after 0 (90 users)" in done.stdout


def test_peers_and_ours_are_in_one_table(log: Path, tmp_path: Path) -> None:
    pytest.importorskip("vowpalwabbit", reason="peers need: pip install -e '.[bench]'")
    done = command("evaluate", *files(log), "--learner", "tk", "--at", "0,5", "--one-way", "--peers", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "Compared with other libraries" in done.stdout
    rows = {row["learner"]: row for row in json.loads((tmp_path / "peers.json").read_text())}
    for library in ("River", "Vowpal Wabbit", "scikit-learn", "MABWiser", "implicit", "EASE"):
        assert any(name.startswith(library) for name in rows)
    assert all(0.3 < row["after_5"] < 1.0 for row in rows.values())
    ours, logistic = rows["probit-diag + population + appeal"], rows["River logistic"]
    assert ours["after_0"] > logistic["after_0"] == 0.5
    assert ours["log_loss"] < logistic["log_loss"]
    leads = json.loads((tmp_path / "peers-leads.json").read_text())
    assert {row["peer"] for row in leads} == set(rows) - {
        "appeal alone",
        *(name for name in rows if name.startswith(("probit", "tk"))),
    }


def test_without_the_libraries_peers_are_refused_in_one_line(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "river", None)
    done = command("evaluate", *files(log), *FEW, "--peers")
    assert done.exit_code == 2
    assert "[bench]'" in done.stderr


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
    assert "Matches are not tested, because candidates are not taken for users." in done.stdout
    # More than appeal alone, and among so few people traits do not pay.
    assert "kaczmatch relearn probit-diag" in (tmp_path / "report" / "report.html").read_text()
    assert "model 2 is in use: probit-diag" in relearned(done.stdout, tmp_path, monkeypatch).stdout
    again = command(
        "evaluate", *files(log), "--config", tmp_path / "report" / "kaczmatch.toml", "--one-way", "--json", "--at", "5"
    )
    assert again.exit_code == 0, again.output


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
        (["--learner", "probit(alfa=2)"], "alfa: is not a setting of 'probit'; did you mean 'alpha'"),
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


def test_items_whose_numbers_are_also_those_of_users_are_no_people(tmp_path: Path) -> None:
    """A dense log: nine tenths of the swipes have one that looks like an answer."""
    rng = np.random.default_rng(0)
    user, item = (each.ravel() for each in np.mgrid[0:20, 0:18])
    swipes = {"user": user, "candidate": item, "decision": rng.integers(0, 2, len(user)), "at": rng.permutation(len(user))}
    write_table(pl.DataFrame(swipes), tmp_path / "swipes.csv")
    write_table(pl.DataFrame({"id": np.arange(18), "new": rng.integers(0, 2, 18)}), tmp_path / "candidates.csv")
    done = command("evaluate", *files(tmp_path), "--learner", "probit-diag", "--at", "5")
    assert done.exit_code == 0, done.output
    assert "Does it find matches?" not in done.stdout
    assert "say --both-ways: then 90% of" in done.stdout
    wished = command("evaluate", *files(tmp_path), "--learner", "probit-diag", "--at", "5", "--both-ways")
    assert wished.exit_code == 2
    assert "user 0 swipes on candidate 0, so candidates are not the users" in " ".join(wished.stderr.split())


def test_whatever_was_read_in_another_way_than_it_stands_is_said(log: Path, tmp_path: Path) -> None:
    swipes = pl.read_csv(log / "swipes.csv").with_columns(pl.col("at") * 1_000 + 1_700_000_000_000, stars=pl.lit(2))
    swipes = swipes.with_columns(stars=pl.when(pl.col("decision") == "like").then(5).otherwise(3))
    again = swipes.head(200).with_columns(pl.col("at") + 10_000_000, stars=pl.lit(5))
    write_table(pl.concat([swipes, swipes.head(30), again]), tmp_path / "swipes.csv")
    people = pl.read_csv(log / "candidates.csv").with_columns(price=100 * pl.col("id"))
    write_table(people, tmp_path / "candidates.csv")
    options = ["--column", "decision=stars", "--like-from", "4", "--at", "5", "--learner", "tk"]
    done = command("evaluate", *files(tmp_path), *options)
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert f"{len(swipes):,} swipes of 90 users" in said
    assert "30 rows are copies of an earlier row and 200 decide again, and are left out" in said
    assert f"(the first of them is row {len(swipes) + 2:,})" in said
    assert "Times are read as milliseconds since 1970" in said
    assert "price by 8900" in said


@pytest.mark.parametrize("column", ["none", "one moment"])
def test_without_times_appeal_knows_what_others_decided(log: Path, tmp_path: Path, column: str) -> None:
    swipes = pl.read_csv(log / "swipes.csv").drop("at")
    write_table(swipes if column == "none" else swipes.with_columns(at=pl.lit("2026-01-31")), tmp_path / "swipes.csv")
    words = ["--swipes", tmp_path / "swipes.csv", "--candidates", log / "candidates.csv", *FEW, "--at", "0,5"]
    done = command("evaluate", *words, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "so nothing says who decided earlier: of other people all decisions are known" in " ".join(done.stdout.split())
    rows = json.loads((tmp_path / "out" / "ranking.json").read_text())
    (alone,) = [row["auc"] for row in rows if (row["learner"], row["swipes"]) == ("appeal alone", 0)]
    assert alone > 0.6
    mature = command("evaluate", *words, "--protocol", "mature", "--json")
    assert json.loads(mature.stdout) == rows
