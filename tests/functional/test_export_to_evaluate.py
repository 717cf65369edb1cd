"""From a running service to an evaluation, by two commands and no program between them."""

from __future__ import annotations

import json
from contextlib import chdir
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kaczmatch.cli.app import app
from kaczmatch.formats.columns import time_text
from kaczmatch.formats.rows import KINDS
from kaczmatch.formats.swipe_table import read_swipes

TAGS = ["jazz", "chess", "dogs", "night owl", "climbing"]
WHOLE = ("users", "candidates", "tags", "features", "user", "candidate", "like", "at")  # a swipe table
COUPLES, ROUNDS, SKIPPED = 24, 16, 5  # every fifth swipe is a skip


def kaczmatch(folder: Path, *words: str) -> str:
    settings = {"KACZMATCH_DATA": "data", "KACZMATCH_VOCABULARY": "words.txt", "COLUMNS": "200"}
    with chdir(folder):
        done = CliRunner().invoke(app, words, env=settings)
    assert done.exit_code == 0, (words, done.output, done.exception)
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


def test_what_a_service_exports_is_what_evaluate_reads(store: Path) -> None:
    tables = []
    for ending in KINDS:
        kaczmatch(store, "export", "swipes", f"log.{ending}")
        kaczmatch(store, "export", "profiles", f"out.{ending}")
        table = read_swipes(store / f"log.{ending}", store / f"out.{ending}")
        tables.append([np.asarray(getattr(table, name)).tolist() for name in WHOLE])
    assert tables[1:] == tables[:-1], "every format holds the same"
    words = ["--learner", "probit-diag", "--at", "0,5", "--both-ways", "--out", "report"]
    said = kaczmatch(store, "evaluate", "--swipes", "log.csv", "--candidates", "out.csv", *words)
    whole = " ".join(said.split())
    swipes = 2 * COUPLES * ROUNDS
    skips = sum((turn + place) % SKIPPED == 0 for turn in range(ROUNDS) for place in range(2 * COUPLES))
    assert f"{swipes - skips} swipes of {2 * COUPLES} users on {2 * COUPLES} candidates, {len(TAGS) + 1} tags" in whole
    assert f"{skips} skips are ignored" in whole
    assert "Does it find matches?" in whole
    rows = {(row["learner"], row["swipes"]): row["auc"] for row in json.loads((store / "report" / "ranking.json").read_text())}
    assert rows["probit-diag + population + appeal", 5] > 0.6
