"""From a running service to an evaluation, by two commands and no program between them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from kaczmatch.formats.columns import time_text
from kaczmatch.formats.rows import KINDS

KACZMATCH = [sys.executable, "-c", "from kaczmatch.cli.main import main; main()"]
TAGS = ["jazz", "chess", "dogs", "night owl", "climbing"]
COUPLES, ROUNDS, SKIPPED = 24, 16, 5  # every fifth swipe is a skip


def kaczmatch(folder: Path, *words: str) -> str:
    settings = {"KACZMATCH_DATA": "data", "KACZMATCH_VOCABULARY": "words.txt", "COLUMNS": "200"}
    done = subprocess.run(  # noqa: S603
        [*KACZMATCH, *words], cwd=folder, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database of women and men who have swiped on each other."""
    folder = tmp_path_factory.mktemp("service")
    (folder / "words.txt").write_text("\n".join([*TAGS, "~activity"]) + "\n")
    rng = np.random.default_rng(0)
    people = [f"{'w' if i % 2 else 'm'}{i // 2}" for i in range(2 * COUPLES)]
    tags = rng.random((len(people), len(TAGS))) < 0.5
    taste = 2.0 * rng.normal(size=len(TAGS)) + rng.normal(size=(len(people), len(TAGS)))
    with (folder / "people.jsonl").open("w") as file:
        for place, name in enumerate(people):
            kinds = ["man", "woman"] if place % 2 == 0 else ["woman", "man"]
            has = [tag for tag, there in zip(TAGS, tags[place], strict=True) if there]
            profile = {"id": name, "name": name, "born": "1990-02-03", "i_am": kinds[:1], "i_look_for": kinds[1:], "tags": has}
            file.write(json.dumps(profile | {"features": {"activity": round(float(rng.normal()), 2)}}) + "\n")
    start = datetime(2026, 1, 1, 12, tzinfo=UTC)
    with (folder / "swipes.jsonl").open("w") as file:
        for turn in range(ROUNDS):
            for place, name in enumerate(people):
                other = 2 * ((turn - place // 2) % COUPLES) + 1 - place % 2  # both of a pair in one round
                felt = taste[place] @ tags[other] - taste[place].sum() / 2.0 + rng.logistic()
                decision = "skip" if (turn + place) % SKIPPED == 0 else "like" if felt > 0.0 else "pass"
                row = {"user": name, "candidate": people[other], "decision": decision}
                file.write(json.dumps(row | {"at": time_text(start + timedelta(minutes=turn))}) + "\n")
    assert f"{len(people)} profiles written" in kaczmatch(folder, "import", "profiles", "people.jsonl")
    assert f"{len(people) * ROUNDS} swipes written" in kaczmatch(folder, "import", "swipes", "swipes.jsonl")
    return folder


@pytest.mark.parametrize("ending", KINDS)
def test_what_a_service_exports_is_what_evaluate_reads(store: Path, ending: str) -> None:
    log, people = f"log.{ending}", f"people-out.{ending}"
    kaczmatch(store, "export", "swipes", log)
    kaczmatch(store, "export", "profiles", people)
    said = kaczmatch(
        store, "evaluate", "--swipes", log, "--candidates", people, "--learner", "probit-diag", "--at", "0,5", "--out", ending
    )
    whole = " ".join(said.split())
    swipes = 2 * COUPLES * ROUNDS
    skips = sum((turn + place) % SKIPPED == 0 for turn in range(ROUNDS) for place in range(2 * COUPLES))
    assert f"{swipes - skips} swipes of {2 * COUPLES} users on {2 * COUPLES} candidates, {len(TAGS) + 1} tags" in whole
    assert f"{skips} skips are ignored" in whole
    assert "Does it find matches?" in whole  # candidates swipe too, and the log says so
    assert (store / ending / "ranking.json").read_text() == (store / "csv" / "ranking.json").read_text()
    rows = {(row["learner"], row["swipes"]): row["auc"] for row in json.loads((store / ending / "ranking.json").read_text())}
    assert rows["probit-diag + population + appeal", 5] > 0.6
