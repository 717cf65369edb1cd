"""What the learning half answers to fixed inputs, kept as files, so that a change of its insides shows what it changed.

Everything goes through public doors, `kaczmatch` and the command line, and everybody in it is invented. `test_corpus.py`
compares. `python tests/corpus/frozen.py` writes the files anew: only where what is right has changed, in a commit that says why.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from typer.testing import CliRunner

import kaczmatch
from kaczmatch.cli.app import app

HERE = Path(__file__).parent
TAGS, USERS, SWIPES = 7, 3, 45

# Under a name each: a learner's slug and settings.
LEARNERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "tk": ("tk", {}),
    "tk, alpha 3, theta 0": ("tk", {"alpha": 3.0, "hinge": kaczmatch.Hinge(theta=0.0)}),
    "k-nonorm": ("k-nonorm", {}),
    "ogd": ("ogd", {}),
    "nk": ("nk", {}),
    "nk, unit": ("nk", {"direction": "unit"}),
    "block-tk": ("block-tk", {}),
    "block-nk, k 8": ("block-nk", {"k": 8}),
    "block-adaptive": ("block-adaptive", {}),
    "probit": ("probit", {}),
    "probit, appeal": ("probit", {"appeal": True}),
    "probit-diag, appeal, half-life": ("probit-diag", {"appeal": True, "half_life_days": 30.0}),
    "probit-traits": ("probit-traits", {}),
    "probit-traits, full": ("probit-traits", {"full": True}),
    "all-ones": ("all-ones", {}),
    "rocchio": ("rocchio", {}),
    "pa-ii": ("pa-ii", {}),
    "pegasos": ("pegasos", {}),
    "logistic": ("logistic", {}),
}


def swipe_log(seed: int) -> dict[str, Any]:
    """Three users, interleaved, in sessions with pauses between them; some profiles are empty."""
    rng = np.random.default_rng(seed)
    rows = USERS * SWIPES
    features = (rng.random((rows, TAGS)) < 0.4).astype(float)
    user = rng.permutation(np.repeat(np.arange(USERS), SWIPES))
    taste = rng.normal(size=(USERS, TAGS))
    appeal = rng.normal(size=rows)
    felt = (taste[user] * (features - 0.4)).sum(axis=1) + 0.5 * appeal
    return {
        "user": user,
        "features": features,
        "label": np.where(felt + rng.logistic(size=rows) > 0.0, 1, -1),
        "session": np.cumsum(rng.random(rows) < 0.1),
        "at": np.datetime64("2026-01-01T00:00:00", "us") + np.cumsum(rng.integers(0, 4 * 10**10, rows)),
        "others": kaczmatch.appeal_rows(appeal),
    }


def states() -> dict[str, Any]:
    """Where users stand after a log, and what would be made of other candidates then."""
    log, unseen = swipe_log(1), swipe_log(2)["features"][:12]
    return {name: _of_learner(kaczmatch.learner(slug, **settings), log, unseen) for name, (slug, settings) in LEARNERS.items()}


def _of_learner(learner: Any, log: Mapping[str, Any], unseen: Any) -> dict[str, Any]:
    weighs = getattr(learner, "appeal", False)
    columns = dict(log) if weighs else {name: column for name, column in log.items() if name != "others"}
    found = kaczmatch.replay(learner, kaczmatch.SwipeLog(**columns), prior=np.full(TAGS, TAGS**-0.5))
    return {
        "bytes": [len(data) for data in found.to_bytes()],
        "users": [_of_state(learner, learner.advance(found[user], timedelta(days=2)), unseen) for user in range(USERS)],
    }


def _of_state(learner: Any, state: Any, unseen: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"direction": learner.direction(state), "scores": learner.score(state, unseen)}
    if isinstance(learner, kaczmatch.ProbabilisticLearner):
        said["probabilities"] = learner.probability(state, unseen)
    if isinstance(learner, kaczmatch.BeliefLearner):
        said |= {
            "mean": learner.mean(state),
            "deviations": np.sqrt(np.diag(learner.covariance(state))),
            "label noise": learner.estimated_label_noise(state),
            "draw": learner.draw(state, np.random.default_rng(0)),
        }
    return said


def crowd(seed: int, *, both_ways: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Swipes and candidates, with tastes, charm, and one thing beyond tags that some like and others do not."""
    rng = np.random.default_rng(seed)
    people, items, turns, tags = 48, 48 if both_ways else 40, 34, 6
    features = (rng.random((items, tags)) < 0.4).astype(int)
    taste = 0.8 * rng.normal(size=tags) + rng.normal(size=(people, tags))
    charm, beyond, liking = rng.normal(size=items), rng.normal(size=items), rng.normal(size=people)
    rows = []
    for one in range(people):
        others = [(turn - one) % items for turn in range(turns)] if both_ways else rng.permutation(items)[:turns].tolist()
        for turn, other in enumerate(others):
            if not both_ways or one != other:
                felt = taste[one] @ (features[other] - 0.4) + charm[other] + liking[one] * beyond[other] - 0.3
                decision = "like" if felt + rng.logistic() > 0.0 else "pass"
                name = f"p{other}" if both_ways else f"c{other}"
                rows.append({"user": f"p{one}", "candidate": name, "at": 60 * turn + one % 7, "decision": decision})
    letter = "p" if both_ways else "c"
    named = [{"id": f"{letter}{place}"} | {f"tag_{i}": int(row[i]) for i in range(tags)} for place, row in enumerate(features)]
    return rows, named


def population() -> dict[str, Any]:
    """What is fitted to people with and without anything in common, and the traits that follow from it."""
    return {name: _of_population(seed, both_ways=both) for name, seed, both in (("one way", 3, False), ("both ways", 4, True))}


def _of_population(seed: int, *, both_ways: bool) -> dict[str, Any]:
    rows, named = crowd(seed, both_ways=both_ways)
    log = kaczmatch.SwipeLog(
        user=[row["user"] for row in rows],
        candidate=[row["candidate"] for row in rows],
        candidates={row["id"]: [row[f"tag_{i}"] for i in range(6)] for row in named},
        label=[row["decision"] == "like" for row in rows],
        at=np.array([row["at"] for row in rows], np.float64),
    )
    found = kaczmatch.fit_population(log)
    plain = kaczmatch.fit_prior(kaczmatch.learner("probit"), log, neutral=np.zeros(6))
    return {
        "learner": found.learner.slug,
        "weights": found.prior.weights,
        "threshold": found.prior.effective_threshold,
        "bytes of a start": len(found.learner.start(found.prior).to_bytes()),
        "appeal": kaczmatch.AppealModel().before_swipes(log)[::97],
        "prior of tags": [*plain.weights, plain.effective_threshold],
    }


def evaluations() -> dict[str, Any]:
    """The table that `evaluate` prints: of candidates who do not swipe, with every kind of learner; and of people who do."""
    few = ["tk", "probit-diag", "probit-traits"]
    return {
        "one way": _evaluated(crowd(3, both_ways=False), few, "--one-way"),
        "both ways": _evaluated(crowd(4, both_ways=True), few[1:], "--both-ways"),
        "mature": _evaluated(crowd(3, both_ways=False), few[2:], "--one-way", "--protocol", "mature"),
    }


def _evaluated(log: tuple[Sequence[Any], Sequence[Any]], learners: Sequence[str], *options: str) -> Any:
    with TemporaryDirectory() as folder:
        files = [Path(folder) / "swipes.jsonl", Path(folder) / "candidates.jsonl"]
        for file, rows in zip(files, log, strict=True):
            file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        chosen = [word for slug in learners for word in ("--learner", slug)]
        paths = ["--swipes", str(files[0]), "--candidates", str(files[1])]
        return _printed("evaluate", *paths, *chosen, "--at", "0,5,20", *options)


def paper() -> dict[str, Any]:
    """The paper's tables, as small as they get."""
    small = ("--quick", "--seeds", "1", "--users", "2")
    return {
        "table-alpha": _printed("reproduce", "table-alpha", *small),
        "table-metrics, paper": _printed("reproduce", "table-metrics", "--condition", "paper", *small),
        "table-metrics, honest": _printed("reproduce", "table-metrics", "--condition", "honest", *small),
        "noise": _printed("reproduce", "noise", *small),
    }


def market() -> dict[str, Any]:
    """One seed of a market, with the decks of the service and of the paper."""
    policies = ("--policy", "default", "--policy", "paper", "--policy", "greedy + quota + cap")
    small = ("--seeds", "1", "--side", "40", "--rounds", "3", "--deck", "5")
    return {"archetypes": _printed("market", "--population", "archetypes", *policies, *small)}


def _printed(*arguments: str) -> Any:
    """The table that a command prints, as columns, which are shorter than rows."""
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 0, f"{arguments}: {done.output}"
    rows = json.loads(done.stdout)
    return {name: [row[name] for row in rows] for name in rows[0]}


PARTS: Mapping[str, Callable[[], dict[str, Any]]] = {
    each.__name__: each for each in (states, population, evaluations, paper, market)
}


def file_of(part: str) -> Path:
    return HERE / f"{part}.json"


def plain(found: Any) -> Any:
    """As JSON would have it."""
    return json.loads(json.dumps(found, default=lambda numbers: np.asarray(numbers).tolist()))


def differences(found: Any, kept: Any, tolerance: float, where: str = "") -> list[str]:
    """Places at which something else was found than is kept; numbers may differ by so much, relative to 1 or to their size."""
    if isinstance(kept, dict) and isinstance(found, dict) and found.keys() == kept.keys():
        return [each for name in kept for each in differences(found[name], kept[name], tolerance, f"{where}/{name}")]
    if isinstance(kept, list) and isinstance(found, list) and len(found) == len(kept):
        pairs = enumerate(zip(found, kept, strict=True))
        return [each for place, (one, other) in pairs for each in differences(one, other, tolerance, f"{where}/{place}")]
    if isinstance(kept, float) and isinstance(found, float | int):
        same = abs(found - kept) <= tolerance * max(1.0, abs(kept))
    else:
        same = found == kept
    return [] if same else [f"{where}: {found!r}, kept is {kept!r}"]


if __name__ == "__main__":
    for part, make in PARTS.items():
        text = json.dumps(make(), default=lambda numbers: np.asarray(numbers).tolist(), separators=(",", ":"))
        file_of(part).write_text(text.replace('"users":', '\n"users":').replace('},"', '},\n"') + "\n", encoding="utf-8")
