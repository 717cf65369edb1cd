"""Every script of `research` runs with its smallest input, and says in its first line what it shows."""

from __future__ import annotations

import importlib
import json
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "research"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("[!_]*.py"))
SMALLEST = {
    "accelerated_blocks": "--seeds 1 --users 2 --sessions 3",
    "align_at_20": "--seeds 2 --users 2 --sessions 2",
    "block_nk_noise": "--quick --seeds 1 --users 2",
    "calibration": "--seeds 1 --users 2 --sessions 2",
    "ceiling": "--seeds 1 --users 2",
    "lineage": "--seeds 1 --rows 60",
    "nk_at_low_noise": "--users 2 --sessions 2",
    "row_norms": "--seeds 1 --rows 60",
    "simulated_traits": "--seeds 1 --users 4 --candidates 12 --raters 8",
    "stability": "--seeds 1 --users 10 --swipes 20",
    "trait_ablations": "speed-dating --data {folder} --guarded",
    "trait_rings": "--users 40 --candidates 60",
}


@pytest.fixture
def dates(tmp_path: Path) -> Path:
    """A folder with a log in the shape of the speed-dating data."""
    folder = tmp_path / "speed_dating"
    folder.mkdir()
    rng = np.random.default_rng(0)
    people, each = 60, 16
    user, order = (part.ravel() for part in np.mgrid[0:people, 0:each])
    shown, like = (user + order + 1) % people, rng.integers(0, 2, people * each)
    log = pl.DataFrame({"user_id": user, "candidate_id": shown, "like": like, "order": order, "wave": user % 4})
    log.write_csv(folder / "swipes.csv")
    tags = {f"tag_{place}": rng.integers(0, 2, people) for place in range(4)}
    pl.DataFrame({"candidate_id": range(people)} | tags).write_csv(folder / "candidates.csv")
    return tmp_path


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_runs_with_its_smallest_input(script: str, dates: Path, tmp_path: Path) -> None:
    module = importlib.import_module(script)
    assert Path(module.__file__ or "").parent == FOLDER
    assert (module.__doc__ or "").splitlines()[0].endswith(".")
    module.main([*shlex.split(SMALLEST[script].format(folder=dates)), "--out", str(tmp_path / "out")])
    tables = [json.loads(path.read_text()) for path in (tmp_path / "out").glob("*.json")]
    assert tables
    assert all(tables)
