"""A process that writes without end and prints what was acknowledged; tests kill it, break its disk, or cut its power.

python writer.py URL FIRST [MOST [PRAGMA=VALUE ...]]
python writer.py            reads lines "URL FIRST" and does each in a child, which is quicker than starting anew
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime

from sqlalchemy import event

from kaczmatch.service.domain.records import Event, FeatureSnapshot, PersonCounters
from kaczmatch.service.domain.store import StoreUnavailable, Transaction
from kaczmatch.storage import SqlStore

TOGETHER = 5


def say(line: str) -> None:
    print(f"{line}\n", end="", flush=True)  # in one call


def work(transaction: Transaction, number: int) -> int:
    """A line and what is counted of it: one is never there without the other."""
    standing = transaction.get(PersonCounters, "ann") or PersonCounters(user="ann")
    now = datetime.fromtimestamp(number, UTC)
    transaction.append(Event(user="ann", id=str(number), kind="swiped", at=now))
    transaction.put(FeatureSnapshot(user="ann", version=number, features=number.to_bytes(4) * 50))
    transaction.put(PersonCounters(user="ann", swipes=standing.swipes + 1, last_swipe_at=now))
    return number


def main(url: str, first: int, most: int = sys.maxsize, *pragmas: str) -> None:
    store = SqlStore(url)
    for pragma in pragmas:
        event.listen(store.database.writer, "connect", lambda c, _, pragma=pragma: c.execute(f"PRAGMA {pragma}").close())
    store.database.writer.dispose()
    say("ready")
    for start in range(first, first + most, TOGETHER):
        futures = [
            store.write(lambda transaction, n=n: work(transaction, n), locks=["ann"]) for n in range(start, start + TOGETHER)
        ]
        for future in futures:
            try:
                say(f"kept {future.result()}")
            except StoreUnavailable as error:
                say(f"unavailable: {error}")
    store.close()


def nursery() -> None:
    for line in sys.stdin:
        url, first = line.split()
        child = os.fork()
        if child == 0:
            say(f"child {os.getpid()}")
            main(url, int(first))
        os.waitpid(child, 0)
        say("\ngone")


if __name__ == "__main__":
    if sys.argv[1:]:
        main(sys.argv[1], int(sys.argv[2]), *map(int, sys.argv[3:4]), *sys.argv[4:])
    else:
        nursery()
