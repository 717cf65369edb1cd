"""What it costs to import and to start."""

from __future__ import annotations

import json
import subprocess
import sys


def run(code: str) -> dict[str, list[str]]:
    """`code` in a fresh interpreter, which prints its answer as JSON."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603
    answer: dict[str, list[str]] = json.loads(done.stdout)
    return answer


def test_importing_kaczmatch_loads_nothing_heavier_than_numpy() -> None:
    loaded = run("import kaczmatch, json, sys; dir(kaczmatch); print(json.dumps({'modules': sorted(sys.modules)}))")["modules"]
    assert "kaczmatch" in loaded
    heavy = {"numba", "llvmlite", "scipy", "altair", "polars", "pandas", "pyarrow"}
    assert not heavy.intersection(name.split(".")[0] for name in loaded)


def test_kernels_come_from_the_cache_on_disk() -> None:
    code = """
import json, numpy as np, kaczmatch
from numba.core.event import install_recorder
with install_recorder("numba:compile") as compilations:
    for slug in kaczmatch.LEARNERS:
        learner = kaczmatch.learner(slug)
        log = {"user": [1, 1], "features": np.eye(2), "label": [1, -1]}
        kaczmatch.replay(learner, log, end_last_session=True)
        learner.advance(learner.swipe(learner.start(np.ones(2)), np.ones(2), "like"), __import__("datetime").timedelta(1))
print(json.dumps({"compiled": [str(event.data["dispatcher"]) for _, event in compilations.buffer if event.is_start]}))
"""
    run(code)  # warms the cache where this machine has none yet
    # Another worker may save to the cache at the same moment, and the later of two saves wins: then it is compiled once more.
    assert any(run(code)["compiled"] == [] for _ in range(3))


def test_every_public_name_can_be_had_and_others_cannot() -> None:
    code = """
import json, kaczmatch
missing = [name for name in kaczmatch.__all__ if getattr(kaczmatch, name, None) is None]
try:
    kaczmatch.nonsense
except AttributeError as error:
    print(json.dumps({"missing": missing, "error": [str(error)]}))
"""
    answer = run(code)
    assert answer["missing"] == []
    assert answer["error"] == ["No kaczmatch attribute nonsense"]
