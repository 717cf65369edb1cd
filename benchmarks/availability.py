"""Decks and swipes while work that grows with the population goes on in the same process, beside a quiet service, in one run.

A service deals decks at a steady rate, and each deck's first card is answered. Meanwhile a tag is added, the prior is fitted
again, everybody is relearned, without traits and with them, old changes are dropped, a backup is made, people are erased, and a
stranger holds thousands of sockets open, one after the other, with a quiet time before each. The service has a snapshot to start
from, and `/v1/health/ready` is asked throughout. Floors: the slowest deck takes at most 250 ms, the 99th percentile is at most
twice that of all quiet times together, and the service is ready throughout. The two seconds in which the sockets are opened are a
row of their own, with too few decks for a percentile. And relearning takes at most twice the processor time of the kernels.

    python benchmarks/availability.py [--people 100000] [--seconds 40] [--rate 20] [--filled FILE] [--out FOLDER]

More than 100,000 people are copies of 100,000.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import service
import stalled_sockets
from copied_people import copy_people
from kaczmatch.app import server
from kaczmatch.app.composition import context_of
from kaczmatch.app.system import System
from kaczmatch.app.warm_up import freeze_garbage
from kaczmatch.client import Client as ApiClient
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.population.traits import unfitted_prior
from kaczmatch.report.results import Table
from kaczmatch.service.domain.catalogue import neutral_prior
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.feature_snapshots import with_features
from kaczmatch.service.domain.records import Change, Event, StoredState
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting.swipes import Swipe, Swipes
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.models import Models
from kaczmatch.service.operations.refit import Refit
from kaczmatch.service.operations.relearning import Relearning
from kaczmatch.settings.reading import read
from kaczmatch.storage import SqlStore
from steady_client import Client, Seen
from tables import add_out, tell

HERE = Path(__file__)
SWIPES, ERASED, ALONE, STALLED, ENTERED = 50, 20, 1_200, 5_000, 100_000
SLOWEST_MS, TIMES_QUIET, TIMES_KERNEL = 250.0, 2.0, 2.0
QUIET, BACKUP = "quiet", "a backup"
OPENED, HELD_BACK = f"{STALLED:,} sockets are opened", f"{STALLED:,} sockets hold back their bodies"
ROUNDS = 3  # of relearning, of which the quickest counts: others may have been disturbed


# The service, which does on command what it otherwise does when it is due


def serve() -> None:
    create = server.create_app

    def with_commands(settings: Any) -> Any:
        app = create(settings)
        threading.Thread(target=obey, args=(app.state.system,), daemon=True).start()
        return app

    server.create_app = with_commands
    server.serve(read(), lambda _: None)


def obey(system: System) -> None:
    """One command per line of the input; a line of the output when it is done."""
    for line in sys.stdin:
        began = time.perf_counter()
        COMMANDS[line.strip()](system)
        print(f"done {time.perf_counter() - began:.1f}", flush=True)


def add_tag(system: System) -> None:
    changed = Models(system.context).change_vocabulary(lambda words: words.add(tags=[f"tag {words.dimensions}"]))
    while system.serving_index.current.vocabulary != changed.version:
        time.sleep(0.05)
    Relearning(system.context).resume()


def relearn(system: System) -> None:
    words = Models(system.context).vocabulary()
    rule = system.serving_index.recommender.index.learner
    settings = {"appeal": True, "alpha": 0.021}
    Relearning(system.context).relearn(rule.slug, settings, neutral_prior(rule, words.dimensions))
    wait_for_model(system)


def learn_traits(system: System) -> None:
    """As a refit does that finds that they pay: one pass through everybody's events, in their order."""
    words, rule = Models(system.context).vocabulary(), ProbitTraits()
    Relearning(system.context).relearn(rule.slug, {}, unfitted_prior(rule, words.dimensions))
    wait_for_model(system)


def refit(system: System) -> None:
    Refit(system.context).run()
    wait_for_model(system)


def wait_for_model(system: System) -> None:
    """Until decks are dealt by the model in use, and the states of the one before are gone."""
    with system.context.store.read() as reader:
        model = system.context.catalogue.current(reader).model
    while system.serving_index.current.model != model:
        time.sleep(0.05)
    time.sleep(1.0)
    Relearning(system.context).resume()


def tidy(system: System) -> None:
    Maintenance(system.context).run()


COMMANDS: dict[str, Callable[[System], None]] = {
    "tag": add_tag,
    "relearn": relearn,
    "traits": learn_traits,
    "refit": refit,
    "tidy": tidy,
}


# The run


def fill(context: Context, people: int) -> None:
    """The first people have swiped fifty times each, as an import would bring it."""
    swiping, rng, at = Swipes(context), np.random.default_rng(1), datetime.now(UTC) - timedelta(hours=2)
    for user in range(people // SWIPES):
        others = (user + 1 + 2 * rng.choice(people // 2 - 1, SWIPES, replace=False)) % people
        waiting = [
            swiping.import_swipe(
                Swipe(user=f"p{user}", id=f"h{place}", candidate=f"p{other}", decision="like" if place % 3 else "pass", deck=""),
                at + timedelta(seconds=int(place)),
            )
            for place, other in enumerate(others.tolist())
        ]
        for one in waiting:
            one.result()


def old_changes(url: str, number: int) -> None:
    """Changes that all processes have read long ago."""
    at = datetime.now(UTC) - timedelta(hours=3)
    with closing(SqlStore(url)) as store:
        for first in range(0, number, 2_000):

            def work(transaction: Transaction, first: int = first) -> None:
                for place in range(first, min(first + 2_000, number)):
                    transaction.append(Change(id=f"old{place}", user="p0", at=at))

            store.write(work).result()
            time.sleep(0.02)


@contextmanager
def running(environment: dict[str, str], port: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(HERE), "--serve"]
    process = subprocess.Popen(  # noqa: S603
        command, env=os.environ | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        service.wait_ready(process, port, command)
        yield process
    finally:
        process.terminate()
        process.wait(60)


def command(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{word}\n")
    process.stdin.flush()
    if not process.stdout.readline().startswith("done"):
        raise SystemExit(f"the service failed to {word}")


def erase(port: int, key: str) -> None:
    """It is over when nothing of them is left."""
    with ApiClient(f"http://127.0.0.1:{port}", key) as client:
        for user in range(ERASED):
            client.erase_person(f"p{user}")
        while not all(client.get_erasure(f"p{user}").done for user in range(ERASED)):
            time.sleep(0.5)


def measured(name: str, seen: Seen, times: Sequence[tuple[float, float]], memory: float) -> dict[str, Any]:
    def within(at: float) -> bool:
        return any(since <= at < until for since, until in times)

    decks = np.array([taken for at, taken in seen.decks if within(at)]) * 1e3
    swipes = np.array([taken for at, taken in seen.swipes if within(at)]) * 1e3
    ready = [status == 200 for at, status in seen.ready if within(at)]
    return {
        "while": name,
        "seconds": round(sum(until - since for since, until in times), 1),
        "decks": len(decks),
        "p50 of a deck, ms": float(np.quantile(decks, 0.5)),
        "p99 of a deck, ms": float(np.quantile(decks, 0.99)),
        "slowest deck, ms": float(decks.max()),
        "p50 of a swipe, ms": float(np.quantile(swipes, 0.5)),
        "p99 of a swipe, ms": float(np.quantile(swipes, 0.99)),
        "slowest swipe, ms": float(swipes.max()),
        "ready": float(np.mean(ready)),
        "memory, MB": memory,
    }


def memory_of(process: int) -> float:
    """The most that a process has had since the last look, in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    Path(f"/proc/{process}/clear_refs").write_text("5")
    return round(peak)


def filled(folder: Path, people: int, environment: dict[str, str], file: Path | None) -> str:
    """A store with everybody in it, made now or in an earlier run; answers with a key."""
    store_file, began = folder / "service.db", time.perf_counter()
    if file is not None and file.exists():
        shutil.copyfile(file, store_file)
        key = service.prepare(environment, 0, 0)
    else:
        entered = min(people, ENTERED)
        key = service.prepare(environment, entered, 0)
        with closing(SqlStore(environment["KACZMATCH_DATABASE"])) as store:
            fill(context_of(read(), store), entered)
        copy_people(store_file, people // entered)
        if file is not None:
            shutil.copyfile(store_file, file)
    print(f"  {people:,} people, filled in {time.perf_counter() - began:.0f} s", flush=True)
    return key


def run(folder: Path, people: int, seconds: float, rate: float, file: Path | None) -> list[dict[str, Any]]:
    url = f"sqlite:///{folder}/service.db"
    environment = {
        "KACZMATCH_DATABASE": url,
        "KACZMATCH_DATA": str(folder),
        "KACZMATCH_REFIT": "false",
        "KACZMATCH_LOG_LEVEL": "error",
        "OPENBLAS_NUM_THREADS": "1",
        "KACZMATCH_VOCABULARY": str(folder / "words.txt"),
    }
    (folder / "words.txt").write_text("\n".join(f"tag {place}" for place in range(service.TAGS)))
    key = filled(folder, people, environment, file)
    program, port, rows = str(Path(sys.executable).with_name("kaczmatch")), service.free_port(), []
    environment["KACZMATCH_PORT"] = str(port)
    with running(environment, port):
        pass  # it writes the snapshot, from which a service usually starts
    with running(environment, port) as process:
        command(process, "tidy")
        client = Client(port, key, people, people // SWIPES, rate)
        thread = threading.Thread(target=client.run)
        thread.start()
        stack, stalled = ExitStack(), stalled_sockets.held("127.0.0.1", port, STALLED, stalled_sockets.OTHER)
        backup = ["nice", program, "backup", str(folder / "backup.db")]
        phases: Sequence[tuple[str, Callable[[], object]]] = (
            ("a tag is added", partial(command, process, "tag")),
            ("the prior is fitted again", partial(command, process, "refit")),
            ("everybody is relearned", partial(command, process, "relearn")),
            ("everybody is relearned with traits", partial(command, process, "traits")),
            (f"{people:,} changes are dropped", partial(command, process, "tidy")),
            (BACKUP, lambda: subprocess.run(backup, env=os.environ | environment, check=True, stdout=subprocess.DEVNULL)),  # noqa: S603
            (f"{ERASED} people are erased", partial(erase, port, key)),
            (OPENED, lambda: stack.enter_context(stalled)),
            (HELD_BACK, lambda: None),
        )
        quiet = list[tuple[float, float]]()
        try:
            time.sleep(5.0)  # the first decks are slower
            for name, act in phases:
                if "dropped" in name:
                    old_changes(url, people)
                    time.sleep(35.0)  # until the process has said that it has read them
                since = time.perf_counter()
                time.sleep(0.0 if name == HELD_BACK else seconds / 2)
                quiet.append((since, time.perf_counter()))
                memory_of(process.pid)
                since = time.perf_counter()
                act()
                time.sleep(max(0.0, since + (2.0 if name == OPENED else seconds) - time.perf_counter()))
                rows.append(measured(name, client.seen, [(since, time.perf_counter())], memory_of(process.pid)))
                print(f"  {json.dumps(rows[-1])}", flush=True)
            rows.insert(0, measured(QUIET, client.seen, quiet, memory_of(process.pid)))
        finally:
            client.stopping = True
            thread.join()
            stack.close()
    if client.seen.refused:
        raise SystemExit(f"{len(client.seen.refused)} requests were refused, such as {client.seen.refused[0]}")
    return rows


def relearning_alone() -> dict[str, Any]:
    """The processor time of relearning people with fifty swipes each, beside that of folding the same events in memory."""
    with tempfile.TemporaryDirectory(prefix="kaczmatch-relearn-") as name:
        environment = {"KACZMATCH_DATABASE": f"sqlite:///{name}/store.db", "KACZMATCH_DATA": name}
        environment["KACZMATCH_VOCABULARY"] = f"{name}/words.txt"
        Path(name, "words.txt").write_text("\n".join(f"tag {place}" for place in range(service.TAGS)))
        service.prepare(environment, ALONE, 0)
        with closing(SqlStore(environment["KACZMATCH_DATABASE"])) as store:
            context = context_of(read(), store)
            quick = Context(store, context.config, context.clock, context.new_id)  # which never rests
            fill_everybody(quick)
            with store.read() as reader:
                fold = quick.catalogue.fold(reader, quick.catalogue.current(reader).model)
                people = [one.user for one in reader.find(StoredState)]
                logs = [with_features(reader, reader.find(Event, user=user)) for user in people]
            fold.replay(logs[0])
            freeze_garbage()  # as the service does
            prior, settings = neutral_prior(fold.learner, service.TAGS), {"appeal": True, "alpha": 0.021}
            kernels, whole = math.inf, math.inf
            for _ in range(ROUNDS):
                began = time.process_time()
                for log in logs:
                    fold.replay(log)
                kernels = min(kernels, time.process_time() - began)
                began = time.process_time()
                Relearning(quick).relearn("probit-diag", settings, prior)
                whole = min(whole, time.process_time() - began)
    return {
        "people": len(people),
        "swipes each": SWIPES,
        "kernels, µs per person": 1e6 * kernels / len(people),
        "relearning, µs per person": 1e6 * whole / len(people),
        "times the kernels": whole / kernels,
    }


def fill_everybody(context: Context) -> None:
    swiping, at = Swipes(context), datetime.now(UTC) - timedelta(hours=2)
    for user in range(ALONE):
        waiting = [
            swiping.import_swipe(
                Swipe(
                    user=f"p{user}",
                    id=f"h{place}",
                    candidate=f"p{(user + 1 + 2 * place) % ALONE}",
                    decision="like" if (user + place) % 3 else "pass",
                    deck="",
                ),
                at + timedelta(seconds=place),
            )
            for place in range(SWIPES)
        ]
        for one in waiting:
            one.result()


def below_floor(rows: Sequence[dict[str, Any]], alone: dict[str, Any]) -> list[str]:
    """What is worse than it may be."""
    quiet = next(row for row in rows if row["while"] == QUIET)["p99 of a deck, ms"]
    problems = [
        f"{row['while']}: {what}"
        for row in rows
        for what, bad in (
            (f"a deck took {row['slowest deck, ms']:.0f} ms", row["while"] != QUIET and row["slowest deck, ms"] > SLOWEST_MS),
            (
                f"p99 is {row['p99 of a deck, ms'] / quiet:.1f} times that of a quiet service",
                row["while"] != OPENED and row["p99 of a deck, ms"] > TIMES_QUIET * quiet,
            ),
            ("it was not ready throughout", row["ready"] < 1.0),
        )
        if bad
    ]
    if alone["times the kernels"] > TIMES_KERNEL:
        problems.append(f"relearning takes {alone['times the kernels']:.1f} times the processor time of the kernels")
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=40.0, help="at least, of each part")
    parser.add_argument("--rate", type=float, default=20.0, help="decks per second")
    parser.add_argument("--filled", type=Path, help="file for the store with its people, made where it is missing")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    add_out(parser)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    if options.people > ENTERED and options.people % ENTERED:
        parser.error(f"more than {ENTERED:,} people have to be a multiple of it")
    alone = relearning_alone()
    print(f"  {json.dumps(alone)}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="kaczmatch-bench-"))
    try:
        rows = run(folder, options.people, options.seconds, options.rate, options.filled)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    title = f"{options.people:,} people, {service.TAGS} tags, {options.rate:g} decks per second, SQLite, one process"
    tell(
        options.out,
        Table("availability", title, rows, timed=True),
        Table("relearning", "Processor time of relearning, beside the kernels alone", [alone], timed=True),
    )
    if problems := below_floor(rows, alone):
        raise SystemExit("below the floor: " + "; ".join(problems))


if __name__ == "__main__":
    main()
