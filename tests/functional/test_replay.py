"""`kaczmatch replay`: a log in parts gives what the log as a whole gives, whatever happens on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner
from upath import UPath

import kaczmatch
from kaczmatch.cli.app import app
from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.columns import ColumnNames
from kaczmatch.jobs.locations import located
from kaczmatch.jobs.replay import ReplayJob, replay_files, swipe_files
from kaczmatch.learners.prior import Prior
from kaczmatch.runner.local import LocalRunner
from worlds.parquet_log import job_on, write_parquet_log


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


@pytest.mark.parametrize("texts", [False, True], ids=["numbers", "texts"])
@pytest.mark.parametrize("slug", ["probit-diag", "block-nk"])
def test_parts_give_what_the_whole_gives_bit_for_bit(tmp_path: Path, texts: bool, slug: str) -> None:
    write_parquet_log(tmp_path, texts=texts)
    job = replace(job_on(tmp_path, "out"), learner=kaczmatch.learner(slug))
    found = replay_files(job)
    whole = pl.read_parquet(tmp_path / "swipes/*.parquet")
    decided, people = whole.filter(pl.col("decision") != "skip").sort("at", maintain_order=True), pl.read_parquet(job.candidates)
    log = kaczmatch.SwipeLog(
        user=decided["user"].to_numpy(),
        candidate=decided["candidate"].to_numpy(),
        candidates=dict(zip(people["id"].to_list(), people.drop("id").to_numpy().astype(float), strict=True)),
        label=(decided["decision"] == "like").to_numpy(),
        at=decided["at"].to_numpy(),
        session=decided["session"].to_numpy(),
    )
    expected = kaczmatch.replay(job.learner, log)
    states = pl.read_parquet(job.out / "states-*.parquet")
    assert found.parts == len(files(job.out)) > 3
    assert (found.users, found.swipes, found.skips) == (len(expected), len(log), len(whole) - len(log))
    assert states["swipes"].sum() == len(log)
    assert dict(zip(states["user"], states["state"], strict=True)) == {user: one.to_bytes() for user, one in expected.items()}


def test_the_bytes_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    write_parquet_log(tmp_path)
    runners = [LocalRunner(1), LocalRunner(4)]
    for number, runner in enumerate(runners):
        replay_files(job_on(tmp_path, f"out{number}"), runner)
    found = [files(tmp_path / f"out{number}") for number in range(len(runners))]
    assert found[0]
    assert found[0] == found[1]


KILLED = """
import sys, time
from pathlib import Path
from kaczmatch.jobs import replay as jobs
from worlds.parquet_log import job_on

write = jobs.write_whole
def slowly(frame, path, **options):
    write(frame, path, **options)
    time.sleep(0.3 if path.name.startswith("states") else 0.0)
jobs.write_whole = slowly
jobs.replay_files(job_on(Path(sys.argv[1]), "killed"), jobs.LocalRunner(1))
"""


def test_a_killed_replay_goes_on_where_it_was(tmp_path: Path) -> None:
    write_parquet_log(tmp_path)
    replay_files(job_on(tmp_path, "whole"))
    there = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    victim = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], env=there)  # noqa: S603
    out, until = tmp_path / "killed", time.monotonic() + 120
    while len(files(out)) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(victim.pid, signal.SIGKILL)
    assert victim.wait() == -signal.SIGKILL
    kept = {path.name: path.stat().st_mtime_ns for path in out.glob("states-*.parquet")}
    assert 2 <= len(kept) < len(files(tmp_path / "whole"))
    found = replay_files(job_on(tmp_path, "killed"))
    assert found.found == len(kept)
    assert kept.items() <= {path.name: path.stat().st_mtime_ns for path in out.glob("states-*.parquet")}.items()
    assert files(out) == files(tmp_path / "whole")
    assert not (out / "sorted").exists()
    assert replay_files(job_on(tmp_path, "killed")).found == found.parts  # and a third run has nothing to do


def test_files_may_lie_wherever_fsspec_reaches(tmp_path: Path) -> None:
    """The same bytes as in a folder of this machine, and a second run goes on from what is there."""
    write_parquet_log(tmp_path)
    replay_files(job_on(tmp_path, "here"))
    there = UPath("memory://replay")
    for file in sorted(tmp_path.glob("**/*.parquet")):
        copy = there / str(file.relative_to(tmp_path))
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    job = job_on(located("memory://replay"), "out")
    try:
        found = replay_files(job, LocalRunner(2))
        assert {file.name: file.read_bytes() for file in job.out.glob("*.parquet")} == files(tmp_path / "here")
        assert sorted(file.name for file in job.out.iterdir()) == ["replay.json", *sorted(files(tmp_path / "here"))]
        job.states_file(1).unlink()
        assert replay_files(job).found == found.parts - 1
        assert {file.name: file.read_bytes() for file in job.out.glob("*.parquet")} == files(tmp_path / "here")
    finally:
        there.fs.rm(there.path, recursive=True)


def test_an_address_that_cannot_be_reached_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"nowhere://log cannot be reached: .*nowhere"):
        located("nowhere://log")


def test_a_folder_of_another_replay_is_not_mixed_with_this_one(tmp_path: Path) -> None:
    write_parquet_log(tmp_path)
    job = job_on(tmp_path, "out")
    replay_files(job)
    with pytest.raises(InvalidInput, match="has a replay with other learner"):
        replay_files(replace(job, learner=kaczmatch.learner("tk")))
    with pytest.raises(InvalidInput, match="has a replay with other prior"):
        replay_files(replace(job, prior=Prior(np.zeros(6), "mine")))


def test_what_is_wrong_is_said_with_the_file_and_the_row(tmp_path: Path) -> None:
    write_parquet_log(tmp_path)
    file = tmp_path / "swipes" / "1.parquet"
    rows = pl.read_parquet(file)

    def refused(changed: pl.DataFrame, words: str, columns: ColumnNames = ColumnNames()) -> None:  # noqa: B008
        changed.write_parquet(file)
        with pytest.raises(InvalidInput, match=words):
            replay_files(replace(job_on(tmp_path, f"out{time.monotonic_ns()}"), columns=columns))

    place = pl.Series(range(len(rows)))
    refused(rows.with_columns(candidate=pl.when(place == 420).then(99).otherwise("candidate")), "row 421 of 1.parquet: 99 is not")
    refused(
        rows.with_columns(decision=pl.when(place == 7).then(pl.lit("hm")).otherwise("decision")), "row 8 of 1.parquet must be"
    )
    refused(rows.with_columns(user=pl.when(place == 300).then(None).otherwise("user")), "user: row 301 of 1.parquet is empty")
    refused(rows.drop("decision"), "decision: this column is missing from 1.parquet")
    refused(rows, "who: this column is missing", ColumnNames(user="who"))
    file.write_bytes(b"nothing")
    with pytest.raises(InvalidInput, match=r"1.parquet cannot be read as Parquet"):
        replay_files(job_on(tmp_path, "out"))
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InvalidInput, match="there is no Parquet file in"):
        swipe_files(tmp_path / "nothing")
    with pytest.raises(InvalidInput, match=r"must end in .parquet"):
        swipe_files(Path(__file__))


def test_the_command_says_what_it_did_and_what_it_found(tmp_path: Path) -> None:
    write_parquet_log(tmp_path)
    (tmp_path / "prior").write_bytes(Prior(np.linspace(-1.0, 1.0, 6), "mine").to_bytes())
    words = ["replay", "--swipes", str(tmp_path / "swipes"), "--candidates", str(tmp_path / "candidates.parquet")]
    words += ["--out", str(tmp_path / "states"), "--prior", str(tmp_path / "prior"), "--workers", "2"]
    told = CliRunner().invoke(app, words)
    assert told.exit_code == 0, told.output
    assert "40 states from" in told.output
    again = CliRunner().invoke(app, words)
    assert "1 of 1 parts were there already" in again.output
    state = kaczmatch.learner("probit-diag").from_bytes(
        pl.read_parquet(tmp_path / "states/states-*.parquet")["state"][0], Prior(np.linspace(-1.0, 1.0, 6), "mine")
    )
    assert state.prior.version == "mine"
    both = CliRunner().invoke(app, [*words, "--learner", "tk", "--config", str(tmp_path / "none.toml")])
    assert both.exit_code == 2
    assert "leave one of the two out" in both.output


def test_a_job_is_what_another_process_can_be_given(tmp_path: Path) -> None:
    """Pickled and back, it is the same: learners, priors and names go to other machines."""
    import pickle

    write_parquet_log(tmp_path)
    job = replace(job_on(tmp_path, "out"), prior=Prior(np.ones(6), "mine"))
    other: ReplayJob = pickle.loads(pickle.dumps(job))  # noqa: S301
    assert (other.learner, other.columns, other.prior and other.prior.fingerprint) == (
        job.learner,
        job.columns,
        job.prior and job.prior.fingerprint,
    )
