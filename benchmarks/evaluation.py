"""How long `kaczmatch evaluate` takes on a million swipes. `make bench` runs it.

10,000 users with hidden tastes make 100 swipes each on 20,000 candidates of 60 tags, in the order of a common clock.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from typer.testing import CliRunner

from kaczmatch.cli.app import app
from kaczmatch.report.results import Table
from tables import add_out, tell

USERS, SWIPES, CANDIDATES, D = 10_000, 100, 20_000, 60


def write_log(folder: Path) -> list[str]:
    rng = np.random.default_rng(0)
    tags = (rng.random((CANDIDATES, D)) < rng.uniform(0.02, 0.4, D)).astype(np.int8)
    taste = 0.7 * rng.normal(size=D) + rng.normal(size=(USERS, D))  # what all have in common, and what each has alone
    charm = 0.5 * rng.normal(size=CANDIDATES)
    user = np.repeat(np.arange(USERS), SWIPES)
    candidate = rng.integers(0, CANDIDATES, len(user))
    length = np.maximum(np.sqrt(tags.sum(axis=1)), 1.0)
    felt = np.einsum("ij,ij->i", taste[user], tags[candidate].astype(float)) / length[candidate] + charm[candidate]
    like = felt + rng.logistic(size=len(user)) > 0.5
    at = rng.integers(0, 10**8, (USERS, SWIPES))
    at.sort(axis=1)
    swipes = pl.DataFrame({"user": user, "candidate": candidate, "decision": np.where(like, "like", "pass"), "at": at.ravel()})
    swipes.write_parquet(folder / "swipes.parquet")
    people = pl.DataFrame(tags, schema=[f"tag_{i:02d}" for i in range(D)])
    people.insert_column(0, pl.Series("id", np.arange(CANDIDATES))).write_parquet(folder / "candidates.parquet")
    return ["--swipes", str(folder / "swipes.parquet"), "--candidates", str(folder / "candidates.parquet")]


def timed(*arguments: str) -> tuple[float, str]:
    start = time.perf_counter()
    with contextlib.redirect_stderr(io.StringIO()):
        result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return time.perf_counter() - start, result.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_out(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = write_log(folder)
        evaluated, said = timed("evaluate", *log, "--out", str(folder / "report"))
    print(said.splitlines()[0])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rows = [{"command": "kaczmatch evaluate, every learner", "seconds": evaluated}]
    title = f"{USERS * SWIPES:,} swipes of {USERS:,} users, {CANDIDATES:,} candidates, {D} tags; most memory {memory:.1f} GiB"
    tell(options.out, Table("evaluation", title, rows, timed=True))


if __name__ == "__main__":
    main()
