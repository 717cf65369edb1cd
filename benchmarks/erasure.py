"""What others notice of an erasure on PostgreSQL, beside a log of many gigabytes.

The log is made by the server itself. A canary is somebody on whom some have swiped. Decks and swipes are asked for at a constant
rate, first while nothing else happens and then while one canary after the other is erased, and the files are scrubbed each time.
Afterwards the canaries' ids and names are searched for in the raw files of the server, its write-ahead log apart. Fails if a p99
more than doubles or if a canary is found.

    python benchmarks/erasure.py [--gigabytes 0.1] [--people 20000] [--seconds 20] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from kaczmatch.app.composition import context_of, credentials_of, scrubbing_of
from kaczmatch.report.results import Table
from kaczmatch.schemas.profiles import ProfileInput
from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import PersonNumber
from kaczmatch.service.meeting.profiles import Profiles
from kaczmatch.service.meeting.swipes import Swipe, Swipes
from kaczmatch.service.messages.feed import Feed
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.privacy.erasure import Erasure
from kaczmatch.settings.reading import read
from kaczmatch.storage import SqlStore
from service import POSTGRESQL, TAGS, Load, deck_requests, drive, free_port, prepare, serving, swipe_requests
from tables import add_out, tell

sys.path.append(str(Path(__file__).parents[1] / "tests"))

CANARY, NAME = "canary-7f3a91", "Canarina Xq9z"
CANARIES, RATERS, CONNECTIONS, FLOOR = 20, 50, 8, 2.0
SWIPES_A_SECOND, DECKS_A_SECOND = 40.0, 20.0
ROWS_AT_ONCE = 500_000


def fill(server: Any, name: str, gigabytes: float, people: int) -> float:
    """Events of everybody about everybody until the log, with its indexes, has this size. Says what it has."""
    first = 0
    while size(server, name) < gigabytes * 1e9:
        server.ask(
            f"""
            WITH who AS MATERIALIZED (SELECT array_agg(number) AS numbers FROM person_numbers WHERE id NOT LIKE '{CANARY}%')
            INSERT INTO events ("user", id, kind, at, candidate, decision, features_version, appeal, vocabulary, model, imported)
            SELECT numbers[1 + i * 7919 % {people}], 'made' || i, 'swiped', 1700000000000000 + i,
                   numbers[1 + (i * 104729 + 1) % {people}], CASE WHEN i % 3 = 0 THEN 'like' ELSE 'pass' END,
                   0, 0, 1, 1, true
            FROM generate_series({first}::bigint, {first + ROWS_AT_ONCE - 1}) AS i CROSS JOIN who
            """,  # noqa: S608, made of numbers
            name,
        )
        first += ROWS_AT_ONCE
    server.ask("CHECKPOINT", name)
    return size(server, name) / 1e9


def size(server: Any, name: str) -> float:
    return float(server.ask("SELECT pg_total_relation_size('events')", name)[0][0])


def enter_canary(context: Context, people: int, canary: str) -> None:
    """Somebody whom some have judged, and who has judged some."""
    about = ProfileInput(name=NAME, born=date(1990, 1, 1), i_am=frozenset({"man"}), i_look_for=frozenset({"woman"}), tags=())
    Profiles(context).put(canary, about).result()
    swipes, now = Swipes(context), datetime.now(UTC) - timedelta(days=2)
    for place in range(RATERS):
        other, decision = f"p{2 * place % people}", "like" if place % 3 else "pass"
        for user, candidate in ((other, canary), (canary, other)):
            swipe = Swipe(user=user, id=context.new_id(), candidate=candidate, decision=decision, deck="")
            swipes.import_swipe(swipe, now + timedelta(seconds=place)).result()


def load(port: int, requests: dict[str, Sequence[bytes]]) -> dict[str, Load]:
    async def both() -> list[Load]:
        rates = {"swipe": SWIPES_A_SECOND, "deck": DECKS_A_SECOND}
        return await asyncio.gather(*(drive(port, made, CONNECTIONS, rates[what]) for what, made in requests.items()))

    return dict(zip(requests, asyncio.run(both()), strict=True))


def erase(context: Context, store: SqlStore, tokens: ErasedTokens, canary: str) -> tuple[float, float]:
    """Seconds until the person was gone, and until the files were clean of all but the id in the last message."""
    began = time.perf_counter()
    scrubbing = scrubbing_of(context, store)
    Erasure(context, scrubbing, tokens).erase(canary)
    gone = time.perf_counter() - began
    while not scrubbing.run(now=True):
        time.sleep(0.1)
    return gone, time.perf_counter() - began


def finish(context: Context, store: SqlStore, tokens: ErasedTokens) -> None:
    """The app has read the messages, and time has passed."""
    feed = Feed(context)
    while page := feed.read(limit=100):
        feed.acknowledge(page[-1].number)
    for hours in (2, 4):
        later = Context(store, context.config, lambda hours=hours: datetime.now(UTC) + timedelta(hours=hours), context.new_id)
        Maintenance(later).run()
        Erasure(later, scrubbing_of(later, store), tokens).resume()


def found(data: Path) -> list[str]:
    files = [path for path in data.rglob("*") if path.is_file() and "pg_wal" not in path.parts]
    return [path.name for path in files if any(holds(path, text.encode()) for text in (CANARY, NAME))]


def holds(path: Path, text: bytes) -> bool:
    kept = b""
    with suppress(FileNotFoundError), path.open("rb") as file:  # the server drops files of its own accord
        while piece := file.read(1 << 24):
            if text in kept + piece:
                return True
            kept = piece[-len(text) :]
    return False


def measure(server: Any, folder: Path, gigabytes: float, people: int, seconds: float) -> tuple[list[dict[str, Any]], list[str]]:
    url, port = server.new("template1"), free_port()
    name = url.rpartition("/")[2]
    environment = {
        "KACZMATCH_DATABASE": url,
        "KACZMATCH_DATA": str(folder),
        "KACZMATCH_PORT": str(port),
        "KACZMATCH_REFIT": "false",
        "OPENBLAS_NUM_THREADS": "1",
        "KACZMATCH_VOCABULARY": str(folder / "words.txt"),
    }
    (folder / "words.txt").write_text("\n".join(f"tag {place}" for place in range(TAGS)))
    swipes, decks = int(SWIPES_A_SECOND * seconds), int(DECKS_A_SECOND * seconds)
    key = prepare(environment, people, 3 * swipes)
    os.environ.update(environment)
    settings = read()
    rows: list[dict[str, Any]] = []
    with closing(SqlStore(url)) as store:
        context = context_of(settings, store)
        tokens = credentials_of(settings, context).erased_tokens
        canaries = [f"{CANARY}-{place}" for place in range(CANARIES)]
        for canary in canaries:
            enter_canary(context, people, canary)
        held = fill(server, name, gigabytes, people)
        print(f"  {held:.2f} GB of events", flush=True)
        service = [str(Path(sys.executable).with_name("kaczmatch")), "serve"]
        with serving(service, port, environment):
            of_decks = deck_requests(3 * decks, people, key)
            loads: list[dict[str, Load]] = []
            took: list[tuple[float, float]] = []
            over = threading.Event()

            def erase_one_by_one() -> None:
                while canaries and not over.is_set():
                    took.append(erase(context, store, tokens, canaries.pop()))

            erasing = threading.Thread(target=erase_one_by_one)
            for turn in range(3):  # the first one warms up
                if turn == 2:
                    erasing.start()
                made = {
                    "swipe": swipe_requests(turn * swipes, swipes, people, key),
                    "deck": of_decks[turn * decks : (turn + 1) * decks],
                }
                loads.append(load(port, made))
            over.set()
            erasing.join()
        gone, clean = np.median(took, axis=0).tolist()
        for what in ("swipe", "deck"):
            quiet, during = loads[1][what], loads[2][what]
            rows.append(
                {
                    "request": what,
                    "quiet p50, ms": quiet.p50_ms,
                    "p50 during erasures, ms": during.p50_ms,
                    "quiet p99, ms": quiet.p99_ms,
                    "p99 during erasures, ms": during.p99_ms,
                    "ratio of the p99": during.p99_ms / quiet.p99_ms,
                    "refused": quiet.failed + during.failed,
                    "GB of events": held,
                    "people erased meanwhile": len(took),
                    "s until a person was gone": gone,
                    "s until the files were clean": clean,
                }
            )
        for canary in canaries:
            erase(context, store, tokens, canary)
        finish(context, store, tokens)
        with store.read() as reader:
            assert not [one for one in reader.find(PersonNumber) if one.id.startswith(CANARY)]
    server.ask("CHECKPOINT", name)
    return rows, found(server.data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=0.1)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    add_out(parser)
    options = parser.parse_args()
    if 3 * SWIPES_A_SECOND * options.seconds > options.people:
        parser.error(f"{options.people:,} people are too few: each swipes once")
    from worlds.postgres import Server, programs

    folder, server = Path(tempfile.mkdtemp(prefix="kaczmatch-bench-")), Server(programs(), POSTGRESQL)
    try:
        rows, kept = measure(server, folder, options.gigabytes, options.people, options.seconds)
    finally:
        server.remove()
        shutil.rmtree(folder, ignore_errors=True)
    title = f"Erasures among {options.people:,} people, {RATERS} of whom had judged each erased one (PostgreSQL)"
    tell(options.out, Table("erasure", title, rows, timed=True))
    if kept:
        raise SystemExit(f"the erased person can be read in {', '.join(kept)}")
    if any(row["refused"] for row in rows):
        raise SystemExit("requests were refused: this measures nothing")
    if any(row["ratio of the p99"] > FLOOR for row in rows):
        raise SystemExit(f"a p99 is more than {FLOOR:g} times the quiet one")


if __name__ == "__main__":
    main()
