"""Decks for every member of a real population: does everybody get one, is a filter ever violated, who is shown how often.

    python benchmarks/population.py ../shared/data/okcupid/people.csv.gz [--every N] [--out FOLDER]

The file has a row a person: sex, orientation, age and 0/1 tags. What it does not say is made up from a seed: the birthday, the
ages sought, and a taste that each person's first 20 swipes were made by.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
from rich.progress import track

import kaczmatch
from kaczmatch.recommend.decks.exposure import Exposure, gini, top_share
from kaczmatch.recommend.decks.policy import Always, DeckPlan, MutualPolicy, PaperPolicy, Policy
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.people.filters import FilterColumns, passes_all_filters
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import DATING
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.samplers.greedy import Greedy
from kaczmatch.recommend.scoring import Viewer
from kaczmatch.report.results import Table
from tables import add_out, tell

NOW = datetime(2026, 11, 15, tzinfo=UTC)
DECK, SWIPES = 20, 20
POLICIES: dict[str, Policy] = {
    "mutual, the default": MutualPolicy(),
    "the paper's": PaperPolicy(),
    "greedy on mutual": Always(deck_plan=DeckPlan(sampler=Greedy(), reason="the best")),
}


@dataclass(frozen=True)
class Population:
    """Profiles and what was learned of each person."""

    profiles: list[Profile]
    states: list[kaczmatch.State]
    index: CandidateIndex
    candidates: FilterColumns


def population(path: Path, seed: int = 0) -> Population:
    """Everybody in the file."""
    table = pl.read_csv(path)
    tags = [name for name in table.columns if name not in {"person_id", "sex", "orientation", "age", "status"}]
    features = table.select(tags).to_numpy().astype(np.float64)
    rng, n = np.random.default_rng(seed), len(table)
    days = rng.integers(0, 365, n)
    wider = rng.integers(3, 13, (2, n))
    profiles = []
    for i, (sex, orientation, age) in enumerate(table.select("sex", "orientation", "age").iter_rows()):
        own, other = ("man", "woman") if sex == "m" else ("woman", "man")
        profiles.append(
            Profile(
                id=i,
                i_am={own},
                i_look_for={"straight": {other}, "gay": {own}}.get(orientation, {"man", "woman"}),
                born=NOW.date().replace(year=NOW.year - age) - timedelta(days=int(days[i])),
                features=features[i],
                ages=(max(18, int(age - wider[0, i])), int(age + wider[1, i])),
            )
        )
    rule = kaczmatch.learner("probit-diag")
    log = _swipes(features, rng)
    states = kaczmatch.replay(rule, log)
    index = CandidateIndex(Vocabulary.of(tags), rule)
    index.upsert(*profiles)
    everybody = [states[i] for i in range(n)]
    index.set_states(dict(enumerate(everybody)))
    return Population(profiles, everybody, index, FilterColumns.from_profiles(profiles, DATING))


def _swipes(features: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Everybody's first swipes, on random people, by a taste of their own: the better half of them is liked."""
    n, d = features.shape
    unit = features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1.0)
    shown = rng.integers(0, n, (n, SWIPES))
    taste = rng.normal(size=(n, d))
    score = np.einsum("nsd,nd->ns", unit[shown], taste)
    label = np.where(score > np.median(score, axis=1, keepdims=True), 1, -1)
    return {"user": np.repeat(np.arange(n), SWIPES), "candidate": shown.ravel(), "candidates": features, "label": label.ravel()}


@dataclass(frozen=True)
class Outcome:
    """What a policy dealt."""

    pools: np.ndarray
    cards: np.ndarray  # by person
    seconds: np.ndarray
    work: np.ndarray  # seconds of processor time, which other work on the machine does not add to
    empty: Counter[str]
    unfounded: int  # empty decks of people who could be shown somebody
    violations: int


def dealt(people: Population, policy: Policy, every: int = 1, progress: bool = False) -> Outcome:
    """A deck for every so-many-th person, in random order, each checked against the readable filters."""
    rng = np.random.default_rng(1)

    def states(ids: Sequence[Hashable]) -> list[kaczmatch.State]:
        return [people.states[i] for i in ids]  # type: ignore[call-overload]

    recommender = Recommender(index=people.index, states=states, policy=policy)
    exposure = Exposure()
    order = rng.permutation(len(people.profiles))[::every].tolist()
    pools, cards, seconds, work = [], np.zeros(len(people.profiles)), [], []
    empty: Counter[str] = Counter()
    violations = unfounded = 0
    for i in track(order, "decks", disable=not progress, transient=True):
        viewer = Viewer(people.profiles[i], people.index.learner, people.states[i])
        start, started = time.perf_counter(), time.process_time()
        deck = recommender.deck(viewer, DECK, now=NOW, rng=rng, exposure=exposure)
        seconds.append(time.perf_counter() - start)
        work.append(time.process_time() - started)
        shown = [card.id for card in deck.cards]
        exposure.record(shown, NOW)
        cards[shown] += 1
        pools.append(deck.eligible)
        if deck.cards:
            some = _rows(people.candidates, shown)
            violations += int(np.count_nonzero(~passes_all_filters(viewer.profile, some, NOW.date())))
        else:
            empty[deck.empty] += 1
            unfounded += not _alone(people, i)
    return Outcome(np.array(pools), cards, np.array(seconds), np.array(work), empty, unfounded, violations)


def _rows(candidates: FilterColumns, rows: list[int]) -> FilterColumns:
    names = ("i_am", "i_look_for", "born", "youngest", "oldest", "x", "y", "z", "max_squared_chord")
    return FilterColumns(candidates.schema, rows, *(getattr(candidates, name)[rows] for name in names))


def _alone(people: Population, i: int) -> bool:
    """Whether really nobody passes, by the readable filters."""
    return not passes_all_filters(people.profiles[i], people.candidates, NOW.date()).any()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("people", type=Path)
    parser.add_argument("--every", type=int, default=1, help="a deck only for every so-many-th person")
    parser.add_argument("--policy", choices=POLICIES, help="only this one")
    add_out(parser)
    arguments = parser.parse_args()
    people = population(arguments.people)
    rows = []
    for name, policy in POLICIES.items():
        if arguments.policy not in (None, name):
            continue
        found = dealt(people, policy, arguments.every, progress=True)
        low, middle, high = np.percentile(found.pools, [5, 50, 95])
        p50, p95, p99 = 1e3 * np.percentile(found.work, [50, 95, 99])
        for reason, count in found.empty.most_common():
            print(f"{name}: {count} empty decks: {reason}")
        rows.append(
            {
                "policy": name,
                "decks": len(found.pools),
                "violations": found.violations,
                "empty": sum(found.empty.values()),
                "of these without need": found.unfounded,
                "pool, 5 % / median / 95 %": f"{low:,.0f} / {middle:,.0f} / {high:,.0f}",
                "Gini of exposure": float(gini(found.cards)),
                "cards of the top 1 %": float(top_share(found.cards)),
                "processor ms per deck, p50 / p95 / p99": f"{p50:.1f} / {p95:.1f} / {p99:.1f}",
            }
        )
    title = f"{len(people.profiles):,} people, {people.index.vocabulary.dimensions} tags; decks of {DECK}"
    tell(arguments.out, Table("population", title, rows, timed=True))


if __name__ == "__main__":
    main()
