"""If each process served some regions only (docs/regions.md): how many people it would hold, and how many pairs a border costs.

    python benchmarks/regions.py [--profiles FILE] [--sample 100000] [--out FOLDER]

Who looks for whom comes from the OkCupid profiles: sex, orientation and age. Their file names no places, so places are made up:
cities whose sizes follow a Zipf law, strewn over a square country, each as wide as its people need. A sample of the people stands
for all. Two people are a pair if each is of the kind, of an age and within the distance that the other looks for.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kaczmatch.report.results import Table
from tables import add_out, tell

PROFILES = Path(__file__).parents[2] / "shared" / "data" / "okcupid" / "people.csv.gz"
SEED = 0
PER_KM2 = 100.0  # people of the service per km² of a city
LAND_KM2 = 0.05  # people of the service per km² of the country
CITIES_PER_MILLION = 100
YEARS = 6  # that people look younger or older
REACH_KM = (10.0, 25.0, 50.0, 100.0)
REACH_SHARES = (0.15, 0.4, 0.35, 0.1)
ASKED = 2_000  # people whose pairs are counted
WAYS = ("half the people on each side", "where fewest live")
Array = NDArray[Any]


@dataclass(frozen=True)
class People:
    """A sample: kinds as bits (1 man, 2 woman), ages in years, places in km."""

    is_a: Array
    looks_for: Array
    age: Array
    place: Array
    reach: Array
    stands_for: float  # people per person of the sample

    def pairs(self, one: Array, other: Array) -> Array:
        """Which of these pairs look for each other. Distances were looked at before."""
        kinds = (self.looks_for[one] & self.is_a[other] != 0) & (self.looks_for[other] & self.is_a[one] != 0)
        return kinds & (np.abs(self.age[one] - self.age[other]) <= YEARS)


def profiles(file: Path) -> tuple[Array, Array, Array]:
    """Kind, whom it looks for, and age of every profile."""
    with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
        rows = [(row["sex"], row["orientation"], row["age"]) for row in csv.DictReader(lines)]
    sex = np.array([1 if sex == "m" else 2 for sex, _, _ in rows])
    towards = {"straight": 3 - sex, "gay": sex, "bisexual": np.full_like(sex, 3)}
    orientation = np.array([orientation for _, orientation, _ in rows])
    looks_for = np.select([orientation == name for name in towards], list(towards.values()))
    return sex, looks_for, np.array([float(age) for _, _, age in rows])


def sampled(known: tuple[Array, Array, Array], people: int, sample: int, rng: np.random.Generator) -> People:
    cities = max(1, people * CITIES_PER_MILLION // 1_000_000)
    share = 1.0 / np.arange(1, cities + 1)
    share /= share.sum()
    side = np.sqrt(people / LAND_KM2)
    centre, radius = rng.random((cities, 2)) * side, np.sqrt(people * share / PER_KM2 / np.pi)
    home, who = rng.choice(cities, sample, p=share), rng.integers(0, len(known[0]), sample)
    angle, far = rng.random(sample) * 2 * np.pi, np.sqrt(rng.random(sample))
    place = centre[home] + (far * radius[home])[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    reach = rng.choice(REACH_KM, sample, p=REACH_SHARES)
    return People(known[0][who], known[1][who], known[2][who], place, reach, people / sample)


def regions(place: Array, most: int, *, sparse: bool) -> Iterator[tuple[Array, Array]]:
    """Boxes with at most so many of the sample: the corners of each, and who lives there. Cut along the longer side."""
    everything = np.array([place.min(axis=0), place.max(axis=0)])
    waiting = [(everything, np.arange(len(place)))]
    while waiting:
        box, here = waiting.pop()
        if len(here) <= most:
            yield box, here
            continue
        axis = int(np.argmax(box[1] - box[0]))
        at = cut(np.sort(place[here, axis]), sparse=sparse)
        for upper in (False, True):
            part = box.copy()
            part[int(not upper), axis] = at
            waiting.append((part, here[(place[here, axis] > at) == upper]))


def cut(sorted_places: Array, *, sparse: bool) -> float:
    """In the middle, or between a quarter and three quarters of the people, where fewest live within 25 km."""
    if not sparse:
        return float(np.median(sorted_places))
    low, high = np.quantile(sorted_places, [0.25, 0.75])
    tried = np.linspace(low, high, 200)
    near = np.searchsorted(sorted_places, tried + 25.0) - np.searchsorted(sorted_places, tried - 25.0)
    return float(tried[np.argmin(near)])


def cost(people: People, most: int, *, sparse: bool) -> dict[str, Any]:
    """What dividing the country costs. A guest lives elsewhere, and reaches into the region."""
    boxes, region = [], np.empty(len(people.place), np.int64)
    for number, (box, here) in enumerate(regions(people.place, most, sparse=sparse)):
        boxes.append(box)
        region[here] = number
    held = np.zeros(len(boxes))
    homes = np.zeros(len(people.place), np.int64)
    for number, box in enumerate(boxes):
        gap = np.maximum(0.0, np.maximum(box[0] - people.place, people.place - box[1]))
        reaches = (np.hypot(gap[:, 0], gap[:, 1]) <= people.reach) | (region == number)
        held[number] = reaches.sum()
        homes += reaches
    across, pairs = crossing(people, region)
    return {
        "regions": len(boxes),
        "people of the fullest process": int(held.max() * people.stands_for),
        "held in all, per person": float(held.sum() / len(people.place)),
        "people in two or more": float(np.mean(homes > 1)),
        "pairs across a border": across / pairs,
    }


def crossing(people: People, region: Array) -> tuple[int, int]:
    """Of the pairs that some of the people are in: how many live in two regions, and how many there are."""
    tree, across, pairs = cKDTree(people.place), 0, 0
    for one in range(0, len(people.place), max(1, len(people.place) // ASKED)):
        near = np.array(tree.query_ball_point(people.place[one], people.reach[one]))
        gap = people.place[near] - people.place[one]
        fits = near[(np.hypot(gap[:, 0], gap[:, 1]) <= people.reach[near]) & people.pairs(one, near) & (near != one)]
        pairs += len(fits)
        across += int((region[fits] != region[one]).sum())
    return across, pairs


def by_kind(known: tuple[Array, Array, Array]) -> list[dict[str, Any]]:
    """If processes were divided by whom people look for. Whoever looks for both is in every part where they can be found."""
    is_a, looks_for, _ = known
    rows = []
    for name, one, other in (("men and women", 1, 2), ("men and men", 1, 1), ("women and women", 2, 2)):
        in_it = ((is_a == one) & (looks_for & other != 0)) | ((is_a == other) & (looks_for & one != 0))
        rows.append({"who meets": name, "share of people": float(in_it.mean())})
    rows.append({"who meets": "in all, per person", "share of people": sum(float(row["share of people"]) for row in rows)})
    return rows


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profiles", type=Path, default=PROFILES, help="the OkCupid profiles, people.csv.gz")
    parser.add_argument("--sample", type=int, default=100_000)
    add_out(parser)
    options = parser.parse_args(words)
    if not options.profiles.exists():
        sys.exit(f"{options.profiles} is missing: name the OkCupid profiles (people.csv.gz) with --profiles")
    known, rows = profiles(options.profiles), []
    for people in (10_000_000, 100_000_000):
        sample = sampled(known, people, options.sample, np.random.default_rng(SEED))
        for most in (500_000, 1_000_000, 2_000_000):
            for way in WAYS:
                found = cost(sample, int(most / sample.stands_for), sparse=way == WAYS[1])
                rows.append({"people": people, "residents of a region, at most": most, "borders": way} | found)
                print(rows[-1], flush=True)
    title = f"A sample of {options.sample:,} people; cities by Zipf, {LAND_KM2:g} people per km² of land; reach {REACH_KM} km"
    tell(options.out, Table("regions", title, rows), Table("kinds", "Divided by whom people look for", by_kind(known)))


if __name__ == "__main__":
    main()
