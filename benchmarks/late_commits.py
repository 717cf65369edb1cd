"""How soon do processes see a commit that comes late, and others' commits while it hangs? On PostgreSQL.

python benchmarks/late_commits.py [--late 5,15,55] [--every .25] [--out FOLDER]

Two processes follow one store, each with its own connections. A third hangs between its last statement and its commit, for each
time of `--late` once. Meanwhile people pause, one after the other. In the last round, the server is killed while the third hangs,
and what hung is tried again. A row tells what was seen, how often, and the longest time from a commit until both had seen it.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from sqlalchemy import event as hooks

from kaczmatch.app.system import FOLLOW_SECONDS
from kaczmatch.report.results import Table
from kaczmatch.service.domain.catalogue import Catalogue
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.service.meeting.profiles import set_paused
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.storage import SqlStore
from kaczmatch.storage.migrating import migrate
from tables import add_out, tell
from worlds.postgres import TEMPLATE, Server, programs
from worlds.town import Town

DEADLINE = 30.0  # seconds after the last commit, until something that was not seen counts as missed
RESTART = 5.0  # seconds that the third has hung when the server is killed


@dataclass
class Follower:
    """A process that follows, in a thread: when it first saw each person as they are now, and how often each came."""

    index: ServingIndex
    over: threading.Event
    seen: dict[tuple[str, bool], float] = field(default_factory=dict)
    came: Counter[str] = field(default_factory=Counter)

    def run(self) -> None:
        update = self.index._update_people

        def counted(people: list[str]) -> None:
            self.came.update(people)
            update(people)

        self.index._update_people = counted  # type: ignore[method-assign, assignment]
        while not self.over.wait(FOLLOW_SECONDS):
            with suppress(StoreUnavailable):
                self.index.follow()
                for user in list(self.came):
                    self.seen.setdefault((user, user in self.index.recommender.index), time.monotonic())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--late", default="5,15,55", help="seconds, one round each (5,15,55)")
    parser.add_argument("--every", type=float, default=0.25, help="seconds between others' commits (.25)")
    add_out(parser)
    asked = parser.parse_args()
    server = Server(programs())
    try:
        server.ask(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0")
        migrate(server.address(TEMPLATE))
        rows = [one_round(server, float(late), asked.every) for late in asked.late.split(",")]
        rows.append(one_round(server, RESTART, asked.every, kill=True))
    finally:
        server.remove()
    tell(asked.out, Table("late-commits", "seconds from a commit until both processes had seen it", rows))


def one_round(server: Server, late: float, every: float, *, kill: bool = False) -> dict[str, object]:
    url = server.new()
    with ExitStack() as opened:
        stores = [opened.enter_context(closing(SqlStore(url))) for _ in range(4)]
        town = Town(stores[0])
        town.populate(int(late / every) + 60)
        indexes = [ServingIndex(replace(town.context, store=store, catalogue=Catalogue())) for store in stores[1:3]]
        for index in indexes:
            index.load()
        town.people.pause("p0", True).result()
        for index in indexes:
            index.follow()
        over = threading.Event()
        followers = [Follower(index, over) for index in indexes]
        threads = [threading.Thread(target=one.run) for one in followers]
        for thread in threads:
            thread.start()
        try:
            committed = hang(town, stores[3], server if kill else None, late, every)
            until = time.monotonic() + DEADLINE
            while time.monotonic() < until and any(key not in one.seen for key in committed for one in followers):
                time.sleep(0.05)
            time.sleep(2 * FOLLOW_SECONDS)  # for what comes twice
        finally:
            over.set()
            for thread in threads:
                thread.join()
    waited = {key: max(one.seen.get(key, float("inf")) for one in followers) - at for key, at in committed.items()}
    others = [seconds for (user, _), seconds in waited.items() if user != "p0"]
    return {
        "late": f"{late:.0f} s" + (", server killed meanwhile" if kill else ""),
        "others' commits": len(others),
        "of them missed": sum(seconds == float("inf") for seconds in others),
        "others' longest": f"{max(others):.2f} s",
        "the late one's": f"{waited['p0', True]:.2f} s",
        "times it came": "/".join(str(one.came["p0"]) for one in followers),
    }


def hang(town: Town, third: SqlStore, server: Server | None, late: float, every: float) -> dict[tuple[str, bool], float]:
    """When each change was acknowledged: a person, and whether they are shown since."""
    entered, go = threading.Event(), threading.Event()

    def wait(_: object) -> None:
        entered.set()
        go.wait()

    committed: dict[tuple[str, bool], float] = {}
    hooks.listen(third.database.writer, "commit", wait)
    person = town.people.get("p0")
    resuming = third.write(lambda tx: set_paused(tx, town.context, person, paused=False))
    entered.wait()
    began, place = time.monotonic(), 0
    while time.monotonic() - began < late:
        place += 1
        town.people.pause(f"p{place}", True).result()
        committed[f"p{place}", False] = time.monotonic()
        time.sleep(every)
    if server is not None:
        server.crash()
        server.start()
    go.set()
    resuming.result()
    committed["p0", True] = time.monotonic()
    return committed


if __name__ == "__main__":
    main()
