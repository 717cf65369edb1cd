"""What does looking again and again do to a conclusion? Studies in which two arms do not differ, looked at after every unit.

python benchmarks/peeking.py [--studies 2000] [--units 2000] [--out FOLDER]
"""

from __future__ import annotations

import argparse

import numpy as np
from rich.console import Console
from rich.progress import track

from kaczmatch.inference.sequential import MIN_UNITS, difference_sequence
from kaczmatch.report.results import Table
from tables import add_out, tell


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2_000)
    parser.add_argument("--units", type=int, default=2_000)
    add_out(parser)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    times = [n for n in (100, 200, 500, 1_000, 2_000, 5_000) if n <= options.units]
    ours, usual = np.zeros((2, len(times)))
    for _ in track(range(options.studies), "studies", console=Console(stderr=True)):
        treated = rng.random(options.units) < 0.5
        values = rng.binomial(12, rng.beta(1.0, 3.0, options.units)) / 12.0  # likes a card of people who differ a lot
        course = difference_sequence(values, treated)
        off = np.abs(course.value) / (course.high - course.value)  # in units of our interval
        errors = [_squared_error(values, some) for some in (treated, ~treated)]
        z = np.abs(course.value) / np.sqrt(errors[0] + errors[1])
        for place, n in enumerate(times):
            ours[place] += np.nanmax(off[:n]) > 1.0
            usual[place] += np.nanmax(z[:n]) > 1.96
    rows = [
        {"units": name} | {f"{n:,}": float(share) for n, share in zip(times, found / options.studies, strict=True)}
        for name, found in (("95 % intervals of the usual kind", usual), ("confidence sequences", ours))
    ]
    title = f"{options.studies:,} studies without a difference, a look per unit from {MIN_UNITS} per arm on: share that found one"
    tell(options.out, Table("peeking", title, rows))


def _squared_error(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], some: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    n, total, squares = np.cumsum(some), np.cumsum(values * some), np.cumsum(values**2 * some)
    many = np.maximum(n, 2)
    return (squares - total**2 / many) / (many * (many - 1.0))


if __name__ == "__main__":
    main()
