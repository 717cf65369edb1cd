"""A log replayed past one machine's memory: `kaczmatch replay` on threads and on Ray, beside the same fold in dask and in polars.

20 million swipes of 200,000 users on as many candidates with 60 tags, in the order of time, in four Parquet files. Every
contender reads them, folds everybody's swipes with the same kernel, and writes the same states. Each runs in a process of its
own, after a small log to warm up. On Ray there are three nodes on this machine with one core each; in the second run one of them
is killed midway. Floors: half of the kernel's own rate on two threads, and the same bytes everywhere. dask is no part of
the project's own dependencies: pip install 'dask[dataframe]'.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import kaczmatch
from kaczmatch.core.swipes import SwipeLog
from kaczmatch.jobs.replay import ReplayJob, replay_files, swipe_files
from kaczmatch.learners.logs.fold import GroupedSwipes, group_by_user
from kaczmatch.learners.prior import Prior
from kaczmatch.report.results import Table
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner
from tables import add_out, tell

LEARNER, D, FILES = "probit-diag", 60, 4
FLOOR = 0.5  # of the kernel's own rate
TIMES = 2  # that the kernel and each contender run here, of which the quicker counts
sys.path.append(str(Path(__file__).parents[1] / "tests"))


def write_log(folder: Path, users: int, swipes: int) -> None:
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    tags = (rng.random((users, D)) < 0.2).astype(np.int8)
    tags[:, 0] = 1
    people = pl.DataFrame(tags, schema=[f"tag_{i:02}" for i in range(D)])
    people.insert_column(0, pl.Series("id", np.arange(users))).write_parquet(folder / "candidates.parquet")
    (folder / "swipes").mkdir()
    each = swipes // FILES
    for number in range(FILES):
        at = np.int64(1_700_000_000_000_000) + (np.arange(each, dtype=np.int64) + number * each) * 5_000
        columns = {
            "user": rng.integers(0, users, each),
            "candidate": rng.integers(0, users, each),
            "decision": np.where(rng.random(each) < 0.4, "like", "pass"),
            "at": pl.Series(at).cast(pl.Datetime("us")),
        }
        pl.DataFrame(columns).write_parquet(folder / "swipes" / f"{number}.parquet")


def candidates(folder: Path) -> np.ndarray[Any, np.dtype[np.float64]]:
    return pl.read_parquet(folder / "candidates.parquet").drop("id").to_numpy().astype(np.float64)


def whole_log(folder: Path) -> SwipeLog:
    """Everything in memory."""
    rows = pl.read_parquet(folder / "swipes/*.parquet", columns=["user", "candidate", "decision", "at"])
    return SwipeLog(
        user=rows["user"].to_numpy(),
        candidate=rows["candidate"].to_numpy(),
        candidates=candidates(folder),
        label=(rows["decision"] == "like").to_numpy(),
        at=rows["at"].to_numpy(),
    )


def kernel(folder: Path) -> tuple[float, float]:
    """Seconds, and processor seconds, of the compiled loop alone on two threads, everything in memory and sorted."""
    learner, prior = kaczmatch.learner(LEARNER), Prior.ones(D)
    log = whole_log(folder)
    users, order, begin = group_by_user(log.user)
    start = learner.expand(learner.start(prior).cells, D)
    batches = []
    for first in range(0, len(users), 1_000):
        limits = begin[first : first + 1_001]
        chosen, limits = order[limits[0] : limits[-1]], limits - limits[0]
        batches.append((GroupedSwipes.of(log, chosen, limits, [None] * (len(limits) - 1)), limits))

    def fold(batch: tuple[GroupedSwipes, Any]) -> None:
        swipes, limits = batch
        work = np.tile(start, (len(limits) - 1, 1))
        swipes.fold(learner, work, start, limits[:-1], limits[1:])

    begun, used = time.perf_counter(), time.process_time()
    LocalRunner().fold(fold, batches, lambda _, done: done, None)
    return time.perf_counter() - begun, time.process_time() - used


def job(folder: Path, out: Path) -> ReplayJob:
    files = swipe_files(folder / "swipes")
    return ReplayJob(swipes=files, candidates=folder / "candidates.parquet", out=out, learner=kaczmatch.learner(LEARNER))


def on_threads(folder: Path, out: Path) -> None:
    replay_files(job(folder, out))


def states_of(frame: Any, features: Any) -> dict[str, Any]:
    """The same fold for those who hold whole columns: sorted by user and time."""
    log = SwipeLog(
        user=np.asarray(frame["user"]),
        candidate=np.asarray(frame["candidate"]),
        candidates=features,
        label=np.asarray(frame["decision"] == "like"),
        at=np.asarray(frame["at"]).astype("datetime64[us]"),
    )
    states = kaczmatch.replay(kaczmatch.learner(LEARNER), log)
    return {"user": list(states), "state": [state.to_bytes() for state in states.values()]}


def in_polars(folder: Path, out: Path) -> None:
    """What one writes without thinking of memory."""
    rows = pl.read_parquet(folder / "swipes/*.parquet").sort("user", "at")
    out.mkdir()
    pl.DataFrame(states_of(rows, candidates(folder))).write_parquet(out / "states.parquet")


def in_dask(folder: Path, out: Path) -> None:
    """The textbook's way: shuffle by user, then a function for each partition."""
    import dask
    import dask.dataframe as dd
    import pandas as pd

    features = candidates(folder)
    out.mkdir()

    def fold(part: Any) -> Any:
        states = pd.DataFrame(states_of(part.sort_values(["user", "at"]), features))
        states.to_parquet(out / f"{uuid.uuid4().hex}.parquet")
        return pd.DataFrame({"users": [len(states)]})

    dask.config.set(scheduler="threads")
    rows = dd.read_parquet(folder / "swipes").shuffle("user", npartitions=20)
    rows.map_partitions(fold, meta={"users": "int64"}).compute()


def on_ray(folder: Path, out: Path, *, kill: bool = False) -> dict[str, Any]:
    from kaczmatch.runner.cluster import RayRunner
    from worlds.ray_cluster import ray_cluster

    with ray_cluster(nodes=3) as cluster:
        runner: Runner = RayRunner(cluster.address)
        replay_files(job(folder.with_name("small"), out.with_name("warm")), runner)
        killed = threading.Event()

        def tell_and_kill(what: str, done: int, total: int) -> None:
            if kill and what == "learning" and done > total // 4 and not killed.is_set():
                killed.set()
                cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)

        begun = time.perf_counter()
        replay_files(job(folder, out), runner, tell_and_kill)
        return {"seconds": time.perf_counter() - begun, "killed": killed.is_set()}


CONTENDERS: dict[str, Callable[[Path, Path], Any]] = {
    "kaczmatch replay, two threads": on_threads,
    "a polars program, all in memory": in_polars,
    "a dask program": in_dask,
    "kaczmatch replay, Ray on three nodes": on_ray,
    "the same, one node killed midway": lambda folder, out: on_ray(folder, out, kill=True),
}


def fitted(folder: Path, workers: int) -> dict[str, Any]:
    """A population fitted to the log: what it takes beside the columns of the log, which are in memory."""
    log = whole_log(folder)
    before, begun, used = _peak_mb(), time.perf_counter(), time.process_time()
    found = kaczmatch.fit_population(log, runner=LocalRunner(workers))
    columns = (log.user, log.candidate_row, log.label, log.at, log.features)
    sites = b"" if found.sites is None else found.sites.sites.tobytes()
    return {
        "workers": workers,
        "people": len(found.fitted),
        "seconds": time.perf_counter() - begun,
        "processor_seconds": time.process_time() - used,
        "log_mb": sum(each.nbytes for each in columns if each is not None) / 2**20,
        "peak_before_mb": before,
        "peak_mb": _peak_mb(),
        "digest": hashlib.sha256(found.prior.to_bytes() + sites).hexdigest(),
    }


def _peak_mb() -> float:
    """Of this process since it began; `ru_maxrss` would know of its parent, too."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def digest(out: Path) -> str:
    """Of everybody's state, whatever the files are."""
    states = pl.scan_parquet(out / "*.parquet").select("user", "state").sort("user").collect()
    return hashlib.sha256(states["user"].to_numpy().tobytes() + b"".join(states["state"].to_list())).hexdigest()


def measured(name: str, folder: Path) -> dict[str, Any]:
    """One contender, in this process."""
    out = folder.with_name("out")
    for each in (out, out.with_name("warm")):
        shutil.rmtree(each, ignore_errors=True)
    contender = CONTENDERS[name]
    if "node" not in name:
        contender(folder.with_name("small"), out.with_name("warm"))
    before = resource.getrusage(resource.RUSAGE_SELF)
    begun = time.perf_counter()
    found = contender(folder, out) or {}
    seconds = found.get("seconds", time.perf_counter() - begun)
    after = resource.getrusage(resource.RUSAGE_SELF)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "processor": spent, "peak_mb": _peak_mb(), "digest": digest(out), **found}


def alone_in_a_process(name: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--only", name, "--folder", str(folder)]
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # workers are threads already
    said = subprocess.run(command, env=alone, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    print(name, found, file=sys.stderr)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_out(parser)
    parser.add_argument("--swipes", type=int, default=20_000_000)
    parser.add_argument("--users", type=int, default=200_000)
    parser.add_argument("--fit", type=int, default=10_000_000, help="swipes that a population is fitted to")
    parser.add_argument("--only", help="one contender, in this process")
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    if asked.only:
        workers = asked.only.removeprefix("fit ")
        print(json.dumps(measured(asked.only, asked.folder) if workers == asked.only else fitted(asked.folder, int(workers))))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "log"
        write_log(folder, asked.users, asked.swipes)
        write_log(folder.with_name("small"), 2_000, 40_000)
        kernel(folder.with_name("small"))
        alone, used = min(kernel(folder) for _ in range(TIMES))
        unknown = {"peak_mb": None, "same_states": None, "killed": None}
        rows: list[dict[str, Any]] = [
            {"what": "the kernel alone", "seconds": alone, "of_kernel": 1.0, "processor_seconds": used, **unknown}
        ]
        digests: list[str] = []
        for each in CONTENDERS:
            if ("dask" in each and not find_spec("dask")) or ("node" in each and not find_spec("ray")):
                print(f"{each}: not installed here", file=sys.stderr)
                continue
            here = "node" not in each
            found = min((alone_in_a_process(each, folder) for _ in range(TIMES if here else 1)), key=lambda one: one["seconds"])
            digests.append(found["digest"])
            rows.append(
                {
                    "what": each,
                    "seconds": found["seconds"],
                    "of_kernel": alone / found["seconds"],
                    "processor_seconds": found["processor"] if here else None,
                    "peak_mb": found["peak_mb"] if here else None,
                    "same_states": found["digest"] == digests[0],
                    "killed": found.get("killed"),
                }
            )
        fits: list[dict[str, Any]] = []
        if asked.fit:
            shutil.rmtree(folder)
            write_log(folder, asked.users, asked.fit)
            fits = [alone_in_a_process(f"fit {workers}", folder) for workers in (1, 4)]
            for fit in fits:
                fit["same"] = fit["digest"] == fits[0]["digest"]
    for row in rows:
        row["million_per_second"] = asked.swipes / row["seconds"] / 1e6
    about = f"{asked.swipes:,} swipes of {asked.users:,} users, {D} tags, {LEARNER}; reading and writing included."
    tables = [Table("replay", "A log replayed from Parquet", rows, about, timed=True)]
    if fits:
        note = f"{asked.fit:,} swipes; 0 and 4 traits compared."
        fits = [{**fit, "digest": fit["digest"][:12]} for fit in fits]
        tables.append(Table("fit", "A population fitted", fits, note, timed=True))
    tell(asked.out, *tables)
    if alone / rows[1]["seconds"] < FLOOR:
        raise SystemExit(f"below the floor: replay has {alone / rows[1]['seconds']:.2f} of the kernel's rate")
    if not all(row["same_states"] for row in rows[1:]) or not all(fit["same"] for fit in fits):
        raise SystemExit("below the floor: not everybody has the same bytes")


if __name__ == "__main__":
    main()
