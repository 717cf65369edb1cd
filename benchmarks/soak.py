"""A long run at half the peak rate: does memory, p99 or the write-ahead log grow?

The peak is measured first. Then swipes come at half of it, and a deck every half second, for some minutes in thirty intervals.
It fails if, in the second half of the run,
- memory is more than a tenth above what it was in the middle,
- the middle p99 of swipes is more than twice that of the first half, and 10 ms above it,
- the log of SQLite is larger than one and a half times the largest of the first half, and 8 MiB above it,
- or if more than one request in a thousand was refused.

    python benchmarks/soak.py [--minutes 10] [--people 20000] [--picture docs/images/soak] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from kaczmatch.report.results import Table
from kaczmatch.service.domain.store import Transaction
from kaczmatch.storage import SqlStore
from service import CONNECTIONS, TAGS, deck_requests, drive, free_port, prepare, put_cards, serving
from tables import add_out, tell

INTERVALS, PEAK_SWIPES, MIB = 30, 4_000, 2**20


class Sample(NamedTuple):
    """One interval."""

    minutes: float
    swipes_a_second: float
    p99_ms: float
    deck_p99_ms: float
    memory_mib: float
    log_mib: float
    refused: int


def pair(card: int, people: int) -> tuple[str, str]:
    """Who swipes on whom: everybody in turn, and on somebody else in every lap."""
    lap, user = card // people, card * 7919 % people
    return f"p{user}", f"p{(user + 1 + 2 * ((card * 31 + 7 * lap) % (people // 2))) % people}"


def deal(url: str, first: int, cards: int, people: int) -> None:
    """Cards to be answered, put into the store before anything is measured."""
    now = datetime.now(UTC) - timedelta(seconds=1)
    with closing(SqlStore(url)) as store:
        for start in range(first, first + cards, 20_000):

            def work(transaction: Transaction, start: int = start) -> None:
                for card in range(start, min(start + 20_000, first + cards)):
                    put_cards(transaction, f"soak{card // people}", [pair(card, people)], now)

            store.write(work).result()


def swipes(first: int, number: int, people: int, key: str) -> list[bytes]:
    requests = []
    for card in range(first, first + number):
        user, other = pair(card, people)
        body = json.dumps({"candidate": other, "decision": "like" if card % 5 < 2 else "pass", "deck": f"soak{card // people}"})
        requests.append(
            f"PUT /v1/people/{user}/swipes/s{card} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
    return requests


def memory_mib(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def soak(folder: Path, people: int, minutes: float) -> tuple[float, list[Sample]]:
    """The peak rate, and what was seen at half of it."""
    port, url = free_port(), f"sqlite:///{folder}/service.db"
    environment = {
        "KACZMATCH_DATABASE": url,
        "KACZMATCH_DATA": str(folder),
        "KACZMATCH_PORT": str(port),
        "KACZMATCH_REFIT": "false",
        "OPENBLAS_NUM_THREADS": "1",
        "KACZMATCH_VOCABULARY": str(folder / "words.txt"),
        "KACZMATCH_DECKS_A_DAY": "none",
    }
    (folder / "words.txt").write_text("\n".join(f"tag {place}" for place in range(TAGS)))
    key = prepare(environment, people, 0)
    deal(url, 0, 3 * PEAK_SWIPES, people)
    command = [str(Path(sys.executable).with_name("kaczmatch")), "serve"]
    with serving(command, port, environment) as process:
        rounds = [asyncio.run(drive(port, swipes(turn * PEAK_SWIPES, PEAK_SWIPES, people, key))).a_second for turn in range(3)]
        peak = max(rounds[1:])
    rate, seconds = peak / 2, 60 * minutes / INTERVALS
    each, first = max(round(rate * seconds), CONNECTIONS), 3 * PEAK_SWIPES
    deal(url, first, each * INTERVALS, people)
    log, samples = folder / "service.db-wal", []
    with serving(command, port, environment) as process:
        began = time.perf_counter()
        for interval in range(INTERVALS):
            batch = swipes(first + interval * each, each, people, key)
            decks = deck_requests(2 * max(1, round(seconds)), people, key)

            async def both(batch: Sequence[bytes] = batch, decks: Sequence[bytes] = decks) -> Sample:
                swiped, dealt = await asyncio.gather(drive(port, batch, rate=rate), drive(port, decks, connections=2, rate=2.0))
                size = log.stat().st_size / MIB if log.exists() else 0.0
                spent = (time.perf_counter() - began) / 60
                refused = swiped.failed + dealt.failed
                return Sample(spent, swiped.a_second, swiped.p99_ms, dealt.p99_ms, memory_mib(process), size, refused)

            samples.append(asyncio.run(both()))
            one = samples[-1]
            print(
                f"| {one.minutes:5.2f} | {one.swipes_a_second:6.0f} | {one.p99_ms:6.1f} | {one.deck_p99_ms:6.1f} "
                f"| {one.memory_mib:6.0f} | {one.log_mib:6.1f} | {one.refused} |",
                flush=True,
            )
    return peak, samples


def verdicts(samples: Sequence[Sample]) -> list[str]:
    """What grew that should not."""
    half = len(samples) // 2
    early, late = samples[:half], samples[half:]
    middle, end = (float(np.median([one.memory_mib for one in some])) for some in (late[:3], late[-3:]))
    p99 = [float(np.median([one.p99_ms for one in some])) for some in (early, late)]
    logs = [max(one.log_mib for one in some) for some in (early, late)]
    sent = sum(one.swipes_a_second for one in samples) / len(samples) * samples[-1].minutes * 60
    found = []
    if end > 1.1 * middle:
        found.append(f"memory grew from {middle:.0f} to {end:.0f} MiB in the second half")
    if p99[1] > max(2.0 * p99[0], p99[0] + 10.0):
        found.append(f"p99 grew from {p99[0]:.1f} to {p99[1]:.1f} ms")
    if logs[1] > max(1.5 * logs[0], logs[0] + 8.0):
        found.append(f"the log grew from {logs[0]:.1f} to {logs[1]:.1f} MiB")
    if sum(one.refused for one in samples) > sent / 1_000:
        found.append(f"{sum(one.refused for one in samples)} requests were refused")
    return found


def parts_of(samples: Sequence[Sample]) -> list[dict[str, Any]]:
    """The run in three parts: what grows shows between them."""
    third = len(samples) // 3
    rows = []
    for name, some in (("first third", samples[:third]), ("second", samples[third:-third]), ("last", samples[-third:])):
        rows.append(
            {
                "part": name,
                "swipes per second": float(np.mean([one.swipes_a_second for one in some])),
                "median p99 of swipes, ms": float(np.median([one.p99_ms for one in some])),
                "median p99 of decks, ms": float(np.median([one.deck_p99_ms for one in some])),
                "most memory, MiB": max(one.memory_mib for one in some),
                "largest log, MiB": max(one.log_mib for one in some),
                "refused": sum(one.refused for one in some),
            }
        )
    return rows


def drawn(samples: Sequence[Sample], title: str) -> alt.VConcatChart:
    rows = [one._asdict() for one in samples]
    panels = [
        alt.Chart({"values": rows}, width=560, height=90)
        .mark_line(point=True)
        .encode(x=alt.X("minutes:Q", title="minutes"), y=alt.Y(f"{field}:Q", title=words, scale=alt.Scale(domainMin=0)))
        for field, words in (
            ("swipes_a_second", "swipes/s"),
            ("p99_ms", "p99, ms"),
            ("memory_mib", "memory, MiB"),
            ("log_mib", "WAL, MiB"),
        )
    ]
    return alt.vconcat(*panels, title=title)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--picture", type=Path)
    add_out(parser)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kaczmatch-soak-"))
    print("| minutes | swipes/s | p99 ms | decks p99 ms | memory MiB | WAL MiB | refused |\n" + "| --- " * 7 + "|")
    try:
        peak, samples = soak(folder, options.people, options.minutes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    rate = peak / 2
    title = f"{options.minutes:g} minutes at half the peak of {peak:.0f} swipes per second, {options.people:,} people, SQLite"
    tell(options.out, Table("soak", title, parts_of(samples), timed=True))
    if options.picture:
        for suffix in ("svg", "png"):
            title = f"{options.minutes:g} minutes at half the peak rate ({rate:.0f} swipes/s, {options.people:,} people, SQLite)"
            drawn(samples, title).save(options.picture.with_suffix(f".{suffix}"), ppi=110)
    found = verdicts(samples)
    print("\n".join(found) or "nothing grew")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
