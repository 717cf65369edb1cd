"""A process that swipes as fast as it can and writes down every acknowledgement; it is there to be killed.

It reads addresses from standard input, forks a child for each and says its process id: importing happens once.
"""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import Future
from datetime import UTC, datetime
from itertools import count
from threading import Thread

from kaczmatch.service.domain.config import QuotaLimit, ServiceConfig
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.refusals import Refusal
from kaczmatch.service.meeting.swipes import RecordedSwipe, Swipe, Swipes
from kaczmatch.storage import SqlStore

PEOPLE, THREADS = 24, 4


def hash_of(me: str, other: str) -> int:
    return int(me[1:]) + 2 * int(other[1:]) + (me[0] == "w")


def swipe_on(url: str, ledger: str, cycle: int) -> None:
    numbers = count(1)
    rules = ServiceConfig(swipes=QuotaLimit(None, ServiceConfig().swipes.window))
    context = Context(SqlStore(url), rules, lambda: datetime.now(UTC), lambda: f"i{cycle}-{next(numbers)}")
    swiping = Swipes(context)
    out = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def acknowledged(future: Future[RecordedSwipe]) -> None:
        if future.exception() is None:
            event = future.result().event
            os.write(out, f"{event.user} {event.id} {event.candidate} {event.decision}\n".encode())

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
            except Refusal:  # the two have matched
                continue

    threads = [Thread(target=run, args=(thread,)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    for line in sys.stdin:
        url, ledger, cycle = line.split()
        child = os.fork()
        if child == 0:
            swipe_on(url, ledger, int(cycle))
            signal.pause()  # to be killed
        print(child, flush=True)
        os.waitpid(child, 0)
        print("gone", flush=True)
