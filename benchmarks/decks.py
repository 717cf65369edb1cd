"""A deck of 32 with all filters beside what people use today, in one run. Prints ratios; `make bench` runs it.

Every party answers the same question: of everybody whom both sides' filters allow, the 32 with the highest geometric mean of
both cosines. The others do it from float32 matrices; ours finds a shortlist and scores it exactly from float64 states. A whole
deck, with cooldown, policy, probabilities, reasons and cards, is another row: its viewers have met 50 people in the last
days, the best eight of all among them, who must not come again. Parties take turns, so that whatever else the machine does
meets them alike.

    python benchmarks/decks.py [people ...] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import faiss
import numpy as np

import kaczmatch
from kaczmatch.core.vectors import unit_rows
from kaczmatch.recommend.decks.eligible import Answers
from kaczmatch.recommend.decks.policy import Always, DeckPlan
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.recommend.index.candidate_index import CandidateIndex
from kaczmatch.recommend.people.filters import FilterColumns
from kaczmatch.recommend.people.location import NO_LIMIT, Location, max_squared_chord
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.schema import DATING
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.samplers.greedy import Greedy
from kaczmatch.recommend.scoring import Viewer, geometric
from kaczmatch.report.results import Table
from tables import add_out, tell

D, DECK, VIEWERS, MET = 60, 32, 24, 50
NOW = datetime(2026, 11, 15, tzinfo=UTC)
TODAY = 20261115
BLOCK = 50_000
FILTER_COLUMNS = ("i_am", "i_look_for", "born", "youngest", "oldest", "x", "y", "z", "max_squared_chord")
VOCABULARY = Vocabulary.of([f"tag {i}" for i in range(D)])
RULE = kaczmatch.learner("tk")
PRIOR = kaczmatch.Prior.ones(D)


class People:
    """A population in one country: genders, ages, ranges sought, places, tags and tastes."""

    def __init__(self, people: int) -> None:
        rng = np.random.default_rng(0)
        self.n = people
        self.met: dict[Any, dict[int, datetime]] = {}
        am = rng.choice(np.array([1, 2, 4, 5], np.uint32), people, p=[0.48, 0.48, 0.03, 0.01])
        looks = np.where(rng.random(people) < 0.9, 3 - np.minimum(am & 3, 2), rng.integers(1, 8, people)).astype(np.uint32)
        looks[looks == 0] = 7
        age = np.clip(18 + rng.gamma(2.2, 7.0, people), 18, 90).astype(np.int64)
        day = rng.integers(1, 29, people) + 100 * rng.integers(1, 13, people)
        born = ((TODAY // 10_000 - age - (day > TODAY % 10_000)) * 10_000 + day).astype(np.int32)
        youngest, oldest = (
            np.clip(age + w, 18, 150).astype(np.uint8) for w in (-rng.integers(2, 16, people), rng.integers(2, 16, people))
        )
        row, column = rng.integers(1380, 1400, people), rng.integers(1850, 1880, people)
        points = np.array([[Location(r, c).point for c in range(1850, 1880)] for r in range(1380, 1400)])[
            row - 1380, column - 1850
        ]
        limited = rng.random(people) < 0.3
        limits = np.where(limited, rng.choice([float(max_squared_chord(km)) for km in (100.0, 150.0, 250.0)], people), NO_LIMIT)
        self.candidates = FilterColumns(
            DATING, range(people), am, looks, born, youngest, oldest, *points.T.copy(), limits.astype(np.float32)
        )
        self.tags = rng.random((people, D)) < 0.5
        self.tastes = rng.standard_normal((people, D), np.float32)
        cells = self.tastes.astype(np.float64)
        self.state = [RULE.state(row, D, PRIOR) for row in cells]
        self.viewers = [
            Profile(
                id=int(i),
                i_am={"woman"},
                i_look_for={"man"},
                born=date(int(born[i]) // 10_000, int(born[i]) // 100 % 100, int(born[i]) % 100),
                features=self.tags[i].astype(float),
                ages=(int(age[i]) - 4, int(age[i]) + 5),
                location=Location(int(row[i]), int(column[i])),
                within_km=250.0,
            )
            for i in rng.permutation(np.flatnonzero((am == 1) & (age >= 25) & (age <= 40)))[:VIEWERS]
        ]

    def meet(self, best: dict[Any, list[int]]) -> None:
        """Everybody who looks has met some of the best for them, and others, within the last days."""
        rng = np.random.default_rng(1)
        for viewer, ids in best.items():
            met = [*ids[:8], *rng.choice(self.n, MET - 8, replace=False).tolist()]
            self.met[viewer] = {i: NOW - timedelta(days=int(days)) for i, days in zip(met, rng.integers(0, 14, MET), strict=True)}

    def states(self, ids: Any) -> list[kaczmatch.State]:
        return [self.state[i] for i in ids]

    def index(self) -> CandidateIndex:
        index = CandidateIndex(VOCABULARY, RULE)
        c = self.candidates
        for first in range(0, self.n, BLOCK):
            part = slice(first, min(first + BLOCK, self.n))
            index.upsert_columns(
                FilterColumns(
                    DATING,
                    list(range(part.start, part.stop)),
                    *(getattr(c, name)[part] for name in ("i_am", "i_look_for", "born", "youngest", "oldest")),
                    *(getattr(c, name)[part] for name in ("x", "y", "z", "max_squared_chord")),
                ),
                self.tags[part].astype(np.float64),
            )
            index.set_states(dict(zip(range(part.start, part.stop), self.states(range(part.start, part.stop)), strict=True)))
        return index


Party = Callable[[Profile], list[int]]
SEARCH, WHOLE = "kaczmatch", "kaczmatch, a whole deck with cooldown, policy, probabilities and reasons"


def ours(people: People) -> tuple[dict[str, Party], CandidateIndex]:
    index = people.index()
    recommender = Recommender(
        index=index,
        states=people.states,
        policy=Always(deck_plan=DeckPlan(sampler=Greedy(), reason="best")),
        private_order=False,  # like the others, by both sides
    )
    rng = np.random.default_rng(0)

    def deck(viewer: Profile) -> list[int]:
        me = Viewer(viewer, RULE, people.states([viewer.id])[0])
        cards = recommender.deck(me, DECK, now=NOW, rng=rng, answers=Answers(passed=people.met[viewer.id])).cards
        return [int(card.id) for card in cards]  # type: ignore[call-overload]

    def search(viewer: Profile) -> list[int]:
        me = Viewer(viewer, RULE, people.states([viewer.id])[0])
        with index.reading() as view:
            found = view.search(
                view.search_filter(viewer, NOW.date()), index.viewer_weights(me, "geometric"), Greedy.shortlist + 1, rng
            )
            shortlist = view.candidate_rows(found.best)
        scores = geometric(me.forward(shortlist.features, shortlist.others), me.backward(people.states(shortlist.ids())))
        ids = np.array(shortlist.ids())
        scores[ids == viewer.id] = -1.0
        return best(ids, scores)

    return {SEARCH: search, WHOLE: deck}, index


class Plain:
    """The filters and scores in numpy, as the other parties use them."""

    def __init__(self, people: People) -> None:
        self.c = people.candidates
        self.tags = unit_rows(people.tags.astype(np.float64)).astype(np.float32)
        self.tastes = unit_rows(people.tastes.astype(np.float64)).astype(np.float32)

    def passing(self, viewer: Profile) -> np.ndarray:
        """Rows that pass, the cheap filters first, the distance only for who is left."""
        c = self.c
        own = (TODAY - (viewer.born.year * 10_000 + viewer.born.month * 100 + viewer.born.day)) // 10_000
        first, last = TODAY - (viewer.ages[1] + 1) * 10_000 + 1, TODAY - viewer.ages[0] * 10_000
        rows = np.flatnonzero(
            (c.born >= first)
            & (c.born <= last)
            & (c.i_am & 2 != 0)
            & (c.i_look_for & 1 != 0)
            & (c.youngest <= own)
            & (c.oldest >= own)
        )
        assert viewer.location is not None
        x, y, z = viewer.location.point
        apart = (c.x[rows] - x) ** 2 + (c.y[rows] - y) ** 2 + (c.z[rows] - z) ** 2
        rows = rows[apart <= np.minimum(c.max_squared_chord[rows], max_squared_chord(viewer.within_km))]
        return rows[rows != viewer.id]

    def fused(self, viewer: Profile, rows: np.ndarray) -> np.ndarray:
        return self._fuse(self.tags[rows] @ self.tastes[viewer.id], self.tastes[rows] @ self.tags[viewer.id])

    def fused_everybody(self, viewer: Profile, rows: np.ndarray) -> np.ndarray:
        return self._fuse((self.tags @ self.tastes[viewer.id])[rows], (self.tastes @ self.tags[viewer.id])[rows])

    @staticmethod
    def _fuse(forward: np.ndarray, backward: np.ndarray) -> np.ndarray:
        return np.sqrt(np.maximum(forward, 0.0) * np.maximum(backward, 0.0))


def best(rows: np.ndarray, scores: np.ndarray) -> list[int]:
    top = np.argpartition(-scores, DECK - 1)[:DECK] if len(rows) > DECK else np.arange(len(rows))
    return rows[top[np.argsort(-scores[top])]].tolist()


def numpy_parties(plain: Plain) -> dict[str, Party]:
    """Score whom the filters leave, or everybody at once with BLAS."""

    def filtered(viewer: Profile) -> list[int]:
        rows = plain.passing(viewer)
        return best(rows, plain.fused(viewer, rows))

    def everybody(viewer: Profile) -> list[int]:
        rows = plain.passing(viewer)
        return best(rows, plain.fused_everybody(viewer, rows))

    return {"numpy, filter then score": filtered, "numpy, score everybody": everybody}


def faiss_party(plain: Plain) -> Party:
    """A flat inner-product index of (tags, taste) with a selector, which ranks by the sum; the best 1,000 are fused exactly."""
    index = faiss.IndexFlatIP(2 * D)
    for first in range(0, len(plain.tags), BLOCK):
        index.add(np.hstack([plain.tags[first : first + BLOCK], plain.tastes[first : first + BLOCK]]))

    def deck(viewer: Profile) -> list[int]:
        rows = plain.passing(viewer)
        flags = np.zeros(len(plain.tags), np.bool_)
        flags[rows] = True
        selector = faiss.IDSelectorBitmap(np.packbits(flags, bitorder="little"))
        query = np.concatenate([plain.tastes[viewer.id], plain.tags[viewer.id]])[None]
        found = index.search(query, 1000, params=faiss.SearchParameters(sel=selector))[1][0]
        found = found[found >= 0]
        return best(found, plain.fused(viewer, found))

    return deck


def duckdb_party(plain: Plain) -> Party:
    """One table of columns, one statement."""
    base = duckdb.connect()
    c = plain.c
    columns: dict[str, np.ndarray] = {"id": np.arange(len(plain.tags), dtype=np.int32)}
    columns |= {
        name: getattr(c, name)
        for name in ("i_am", "i_look_for", "born", "youngest", "oldest", "x", "y", "z", "max_squared_chord")
    }
    columns |= {f"a{i}": plain.tags[:, i].copy() for i in range(D)} | {f"w{i}": plain.tastes[:, i].copy() for i in range(D)}
    base.execute("CREATE TABLE people AS SELECT * FROM columns")

    def deck(viewer: Profile) -> list[int]:
        own = (TODAY - (viewer.born.year * 10_000 + viewer.born.month * 100 + viewer.born.day)) // 10_000
        i, limit = int(viewer.id), float(max_squared_chord(viewer.within_km))  # type: ignore[call-overload]
        x, y, z = (float(columns[name][i]) for name in "xyz")
        forward = " + ".join(f"a{k} * {plain.tastes[i, k]:.9g}::FLOAT" for k in range(D))
        backward = " + ".join(f"w{k} * {plain.tags[i, k]:.9g}::FLOAT" for k in range(D) if plain.tags[i, k])
        statement = f"""
            SELECT id FROM (SELECT id, {forward} AS f, {backward} AS b FROM people WHERE
              born BETWEEN {TODAY - (viewer.ages[1] + 1) * 10_000 + 1} AND {TODAY - viewer.ages[0] * 10_000}
              AND i_am & 2 != 0 AND i_look_for & 1 != 0 AND youngest <= {own} AND oldest >= {own} AND id != {i}
              AND (x - {x})**2 + (y - {y})**2 + (z - {z})**2 <= least(max_squared_chord, {limit}))
            ORDER BY sqrt(greatest(f, 0) * greatest(b, 0)) DESC LIMIT {DECK}"""  # noqa: S608
        return [row[0] for row in base.execute(statement).fetchall()]

    return deck


def exact(people: People, plain: Plain, viewer: Profile, but: Iterable[int] = ()) -> list[int]:
    """The answer in float64, without some people."""
    rows = np.setdiff1d(plain.passing(viewer), list(but))
    me = Viewer(viewer, RULE, people.states([viewer.id])[0])
    scores = np.sqrt(
        np.maximum(me.forward(people.tags[rows].astype(np.float64), np.zeros(len(rows))), 0.0)
        * np.maximum(me.backward(people.states(rows.tolist())), 0.0)
    )
    return best(rows, scores)


def milliseconds(parties: dict[str, Party], viewers: list[Profile], rounds: int) -> dict[str, float]:
    """Of a deck, averaged over viewers, the best round after one to warm up; the parties take turns."""
    best = dict.fromkeys(parties, math.inf)
    for number in range(rounds + 1):
        for name, deck in parties.items():
            deck(viewers[-1])  # what another party left in the caches is not this one's to clear away
            start = time.perf_counter()
            for viewer in viewers:
                deck(viewer)
            if number:
                best[name] = min(best[name], 1e3 * (time.perf_counter() - start) / len(viewers))
    return best


def bandwidth() -> float:
    """GB/s that this machine reads from memory in one thread."""
    block = np.ones(1 << 25)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        block.sum()
        times.append(time.perf_counter() - start)
    return block.nbytes / min(times) / 1e9


def bytes_read(index: CandidateIndex, viewer: Profile) -> float:
    """Of the columns in the chunks that a deck visits: filters, tags and their norm, likes and their unit."""
    with index.reading() as view:
        rows = int(index._table.used[view.search_filter(viewer, NOW.date()).chunks].sum())
    return float(rows * (4 + 2 + 16 + 8 + 4 + np.count_nonzero(viewer.features) + 4))


def report(n: int, out: Path | None) -> None:
    people = People(n)
    plain = Plain(people)
    own, index = ours(people)
    parties: dict[str, Party] = {**own, **numpy_parties(plain), "FAISS flat with a selector": faiss_party(plain)}
    parties["DuckDB"] = duckdb_party(plain)
    share = float(np.mean([len(plain.passing(viewer)) for viewer in people.viewers])) / n
    truth = {viewer.id: exact(people, plain, viewer) for viewer in people.viewers}
    people.meet(truth)
    anew = {viewer.id: exact(people, plain, viewer, people.met[viewer.id]) for viewer in people.viewers}
    gc.collect()
    gc.freeze()  # a million states are not to be looked through again and again while others are timed
    times = milliseconds(parties, people.viewers, 8)
    rows = []
    for name, deck in parties.items():
        right = anew if name == WHOLE else truth
        same = float(np.mean([len(set(deck(v)) & set(right[v.id])) / len(right[v.id]) for v in people.viewers]))
        ratio = times[name] / times[WHOLE]
        rows.append({"deck of": name, "milliseconds": times[name], "times as long": ratio, "share of the exact deck": same})
    title = f"{n:,} people, {100 * share:.0f} % pass all filters; a deck of {DECK}, mean of {VIEWERS} viewers"
    tell(out, Table(f"decks-{n}", title, rows, timed=True))
    peers = {name: ms for name, ms in times.items() if name not in own}
    fastest = min(peers, key=lambda name: peers[name])
    for name in own:
        ratio = peers[fastest] / times[name]
        floor = "" if n < 10**6 else f"   floor 10{'' if ratio >= 10 else '   BELOW ITS FLOOR'}"
        print(f"{'times as fast as the fastest':>28}{ratio:>10.1f}   ({name} : {fastest}){floor}")
    read = float(np.mean([bytes_read(index, viewer) for viewer in people.viewers]))
    print(f"{'read':>28}{read / times[SEARCH] / 1e6:>10.1f} GB/s in a search as a whole; this machine's memory {bandwidth():.0f}")


def memory(n: int, out: Path | None) -> None:
    """MiB that an index of so many people adds to a process."""
    tags = np.random.default_rng(0)
    people = People(min(n, BLOCK))
    small, index = people.candidates, CandidateIndex(VOCABULARY, RULE)
    gc.collect()
    before = _resident()
    for first in range(0, n, BLOCK):
        ids = list(range(first, min(first + BLOCK, n)))
        part = FilterColumns(DATING, ids, *(getattr(small, name)[: len(ids)] for name in FILTER_COLUMNS))
        index.upsert_columns(part, (tags.random((len(ids), D)) < 0.5).astype(np.float64))
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what is free is not taken
    mib = _resident() - before
    tell(out, Table("index-memory", "Memory that an index adds to a process", [{"people": n, "MiB": mib}], timed=True))
    if mib >= 400:
        print("OVER ITS LIMIT of 400 MiB")


def _resident() -> float:
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def main() -> None:
    """Each size in a process of its own, so that none leaves memory in a state that the next one has to live with."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("people", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--part", choices=("report", "memory"), help=argparse.SUPPRESS)
    add_out(parser)
    options = parser.parse_args()
    if options.part:
        {"report": report, "memory": memory}[options.part](options.people[0], options.out)
        return
    for n in options.people:
        _in_a_process("report", n, options.out)
    _in_a_process("memory", max(options.people), options.out)


def _in_a_process(part: str, n: int, out: Path | None) -> None:
    words = [sys.executable, __file__, str(n), "--part", part, *(["--out", str(out)] if out else [])]
    # What DuckDB says of itself while Python ends does not belong here.
    subprocess.run(words, check=True, stderr=subprocess.DEVNULL)  # noqa: S603


if __name__ == "__main__":
    main()
