"""Processes that are there to be killed: they swipe, and meanwhile migrate, erase, relearn, add tags or write snapshots.

Everything that was acknowledged is written to a ledger, one line per write. Without arguments this reads lines of arguments from
standard input, forks a child for each and says its process id: importing happens once.

python victim.py JOB URL LEDGER CYCLE
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import Thread
from zlib import crc32

from kaczmatch.app.composition import scrubbing_of
from kaczmatch.service.access.erased_tokens import ErasedTokens
from kaczmatch.service.domain.catalogue import model_learner, neutral_prior
from kaczmatch.service.domain.config import QuotaLimit, ServiceConfig
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Person
from kaczmatch.service.domain.refusals import Conflict, Refusal
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.meeting.swipes import RecordedSwipe, Swipe, Swipes
from kaczmatch.service.operations.models import Models
from kaczmatch.service.operations.relearning import Relearning
from kaczmatch.service.privacy.erasure import Erasure
from kaczmatch.storage import SqlStore
from kaczmatch.storage.migrating import migrate

PEOPLE, THREADS = 24, 4
LEARNERS = ("probit-diag", "probit")
SNAPSHOT = "SNAPSHOT_OF_VICTIM"  # the folder, beside the ledger

Note = Callable[[str], None]


def context_on(url: str, name: str) -> Context:
    numbers = count(1)
    rules = ServiceConfig(swipes=QuotaLimit(None, ServiceConfig().swipes.window))
    return Context(SqlStore(url), rules, lambda: datetime.now(UTC), lambda: f"{name}-{next(numbers)}")


def swipe(url: str, note: Note, cycle: int) -> None:
    swiping = Swipes(context_on(url, f"i{cycle}"))

    def acknowledged(future: Future[RecordedSwipe]) -> None:
        if future.exception() is None:
            event = future.result().event
            note(f"swiped {event.user} {event.id} {event.candidate} {event.decision}")

    def run(thread: int) -> None:
        # Each thread has its own people as swipers; all meet the same others, so matches happen between threads.
        for place in range(thread, PEOPLE * PEOPLE * 2, THREADS):
            woman, man = f"w{place // 2 % PEOPLE}", f"m{(place // 2 // PEOPLE + cycle) % PEOPLE}"
            me, other = (woman, man) if place % 2 else (man, woman)
            said = Swipe(
                user=me, id=f"c{cycle}-{place}", candidate=other, decision="like" if place % 3 else "pass", deck=f"d{cycle}"
            )
            try:
                swiping.swipe(said).add_done_callback(acknowledged)
                if place % 32 < THREADS:
                    swiping.swipe(said).result()
            except (Refusal, StoreUnavailable):  # the two have matched, one was erased, or the server is away
                continue

    threads = [Thread(target=run, args=(thread,), daemon=True) for thread in range(THREADS)]
    for thread in threads:
        thread.start()


def erase(url: str, note: Note, cycle: int) -> None:
    context = context_on(url, f"e{cycle}")
    store = context.store
    assert isinstance(store, SqlStore)
    erasing = Erasure(context, scrubbing_of(context, store), ErasedTokens(context, b"secret"))
    with store.read() as reader:
        people = [person.id for person in reader.find(Person)]
    note("begun erase")
    for user in people[cycle % 7 :: 7]:
        erasing.erase(user)
        note(f"erased {user}")


def relearn(url: str, note: Note, cycle: int) -> None:
    context = context_on(url, f"r{cycle}")
    dimensions = Models(context).vocabulary().dimensions
    note("begun relearn")
    while True:
        slug = LEARNERS[cycle % len(LEARNERS)]
        try:
            number = Relearning(context).relearn(slug, {}, neutral_prior(model_learner(slug, {}), dimensions))
        except Conflict:  # who was killed before holds the lease for a minute
            time.sleep(0.05)
            continue
        note(f"relearned {number}")
        cycle += 1


def rebuild(url: str, note: Note, cycle: int) -> None:
    """Tags are added, and what is kept in memory for decks is built anew after each."""
    context = context_on(url, f"b{cycle}")
    models, index = Models(context), ServingIndex(context)
    index.load()
    note("begun rebuild")
    for number in count():
        tag = f"tag-{cycle}-{number}"
        models.change_vocabulary(lambda words, tag=tag: words.add([tag]))
        note(f"added {tag}")
        index.follow()


def keep_snapshot(url: str, note: Note, cycle: int) -> None:
    """A process writes snapshots of what it deals decks from, one after the other, and meanwhile people are erased."""
    folder = Path(os.environ[SNAPSHOT])
    context = replace(context_on(url, f"s{cycle}"), snapshot=SnapshotFiles(folder, least_people=0))
    models, index, store = Models(context), ServingIndex(context), context.store
    assert isinstance(store, SqlStore)
    erasing = Erasure(context, scrubbing_of(context, store), ErasedTokens(context, b"secret"))
    index.load()
    with store.read() as reader:
        people = [person.id for person in reader.find(Person)]
    note(f"snapshot {folder}")
    note("begun snapshot")
    for number in count():
        tag = f"tag-{cycle}-{number}"
        models.change_vocabulary(lambda words, tag=tag: words.add([tag]))  # then the snapshot has to be renewed
        note(f"added {tag}")
        index.follow()
        index.renew_snapshot(ServingIndex(context).write_snapshot)
        if number % 4 == 0 and people:
            user = people.pop()
            erasing.erase(user)
            note(f"erased {user}")


def bring_up_to_date(url: str, note: Note, cycle: int) -> None:
    del cycle
    note("begun migrate")
    migrate(url)
    note("migrated")


JOBS = {"erase": erase, "relearn": relearn, "rebuild": rebuild, "snapshot": keep_snapshot, "migrate": bring_up_to_date}


def work(job: str, url: str, ledger: str, cycle: int) -> None:
    os.environ[SNAPSHOT] = f"{ledger}-snapshots/{crc32(url.encode())}"
    out = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(line: str) -> None:
        os.write(out, f"{line}\n".encode())

    if job != "migrate":
        swipe(url, note, cycle)
    if job in JOBS:
        try:
            JOBS[job](url, note, cycle)
        except Exception as error:
            note(f"failed {job}: {error!r}")
            raise


def nursery() -> None:
    for line in sys.stdin:
        job, url, ledger, cycle = line.split()
        child = os.fork()
        if child == 0:
            work(job, url, ledger, int(cycle))
            signal.pause()  # to be killed
        print(child, flush=True)
        os.waitpid(child, 0)
        print("gone", flush=True)


if __name__ == "__main__":
    if sys.argv[1:]:
        work(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
        signal.pause()
    else:
        nursery()
