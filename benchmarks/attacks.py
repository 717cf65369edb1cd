"""What others notice while one user, or one operator, asks for what is most work: swipes and decks under attack, over HTTP.

A service on SQLite is filled by import: users with 30,000 events, people whom 1,000 have rated, a few thousand decks of an
experiment. Then it is attacked, in one way after the other, while four users swipe, four ask for decks, and readiness is asked
for ten times a second. Each attack comes after a quiet time and after a harmless control, in which as many connections ask for
profiles as fast as they are answered. Those who attack do so in a process of their own, and from another loopback address.

Floors: others' median swipe takes at most 1.3 times what it takes beside the control, their slowest request less than a second,
readiness at most a tenth, and none of theirs is refused.

`--code` runs a service of another checkout beside this one, with a store of its own: each attack is made on both in turn. Floors
are those of this checkout. Its kernels are compiled at the first start, which takes a minute.

    python benchmarks/attacks.py [--quick] [--only NAME]... [--code FOLDER]... [--out FOLDER]
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import itertools
import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import importing
import service
from kaczmatch.report.results import Table
from million import end_sessions
from stalled_sockets import ATTACKER, OTHER
from steady_client import answer_from, request_of
from tables import add_out, tell

ROOT = Path(__file__).parents[1]
START = datetime(2026, 1, 1, tzinfo=UTC)
SPAWN = multiprocessing.get_context("spawn")
TIMES_CONTROL, SLOWEST_MS, READY_MS = 1.3, 1_000.0, 100.0
OTHERS, PAUSE, READY_PAUSE = 4, 0.02, 0.1
LOGS, CROWD, FEW_RATERS = 8, 16, 10  # users with a long log; people erased at once; a tenth of the raters rate the one
TURNS = 400  # requests of one user before another takes the turn, well below every quota
CHANGES_A_DAY, PAIRS_A_DAY, PATIENCE = 10, 2_000, 240.0
EXPERIMENT = {
    "KACZMATCH_EXPERIMENT": "attacked",
    "KACZMATCH_EXPERIMENT_ARMS": json.dumps({"plain": {}, "paper": {"policy": "paper"}}),
}


class Size(NamedTuple):
    """How much there is to do, and for how many seconds."""

    people: int
    events: int
    raters: int
    decks: int
    quiet: float
    control: float
    attack: float
    most: float  # an attack that ends by itself is waited for no longer
    reader: float
    after_reader: float


FULL = Size(6_000, 30_000, 1_000, 3_000, 5.0, 10.0, 20.0, 120.0, 60.0, 15.0)
QUICK = Size(2_400, 5_000, 100, 600, 1.5, 2.0, 4.0, 20.0, 10.0, 3.0)


@dataclass(frozen=True)
class Attack:
    """Connections, each with its requests: one after the other, again and again or once."""

    name: str
    requests: Sequence[Sequence[bytes]]
    once: bool = False
    reader: float = 0.0  # seconds for which another process has a transaction open meanwhile

    @property
    def connections(self) -> int:
        return len(self.requests)


@dataclass
class Noticed:
    """Seconds that each request of others took, also of those that were waiting in the end; and their refusals."""

    swipes: list[float] = field(default_factory=list)
    decks: list[float] = field(default_factory=list)
    ready: list[float] = field(default_factory=list)
    refused: Counter[int] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)  # to those who attack
    seconds: float = 0.0  # until they had them, and what they had asked for was done


# Who is who: women have even numbers, men odd ones


def woman(place: int) -> str:
    return f"p{2 * place}"


def man(place: int) -> str:
    return f"p{2 * place + 1}"


RATED = [man(place) for place in range(CROWD)]
RATED_ALONE, RATED_BY_FEW = man(CROWD), man(CROWD + 1)
RATED_BY_LOGS = [man(place) for place in range(CROWD + 2, CROWD + 2 + LOGS)]
ASKED = CROWD + 2 + LOGS  # men from here on are those on whom others swipe


def log_user(size: Size, place: int) -> str:
    return woman(size.raters + place)


def swipes_file(path: Path, size: Size) -> None:
    """Each user's swipes in the order of time."""
    rng, at = np.random.default_rng(0), itertools.count()
    men = size.people // 2 - ASKED
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["user", "candidate", "decision", "at", "id"])

        def swipe(user: str, other: str, place: int) -> None:
            decision = "like" if rng.random() < 0.4 else "pass"
            out.writerow([user, other, decision, (START + timedelta(seconds=next(at))).isoformat(), f"h{place}"])

        for rater in range(size.raters):
            few = [RATED_BY_FEW] if rater < size.raters // FEW_RATERS else []
            for place, other in enumerate([*RATED, RATED_ALONE, *few]):
                swipe(woman(rater), other, place)
        for log in range(LOGS):
            for place in range(size.events):
                other = RATED_BY_LOGS[place] if place < LOGS else man(ASKED + place % men)
                swipe(log_user(size, log), other, place)


# The service


@dataclass
class Served:
    """A running service of some checkout, filled with people."""

    code: str
    port: int
    key: str
    data: Path
    size: Size
    users: Iterator[str]
    turns: Iterator[int] = field(default_factory=itertools.count)
    unfinished: list[str] = field(default_factory=list)  # places of work that an attack has left behind

    def token(self, user: str) -> str:
        _, _, content = self.call("POST", "/v1/tokens", {"user": user, "seconds": 7_200})
        return str(json.loads(content)["token"])

    def call(self, method: str, path: str, body: Any = None, seconds: float = 60.0) -> tuple[int, dict[str, str], bytes]:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", content, headers, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=seconds) as answer:  # noqa: S310, our own address
                return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, {}, error.read()

    def swipes(self) -> Iterator[bytes]:
        """On one man after the other, by one woman after the other."""
        for user in self.users:
            for _ in range(TURNS):
                turn = next(self.turns)
                body = {"candidate": man(ASKED + turn % TURNS), "decision": "pass" if turn % 3 else "like"}
                yield request_of("PUT", f"/v1/people/{user}/swipes/s{turn}", self.key, body)

    def decks(self) -> Iterator[bytes]:
        for user in self.users:
            yield from [request_of("POST", f"/v1/people/{user}/deck", self.key, {})] * TURNS


@contextmanager
def served(code: Path, folder: Path, size: Size) -> Iterator[Served]:
    """Filled by the commands of the same code."""
    folder.mkdir()
    data, port = folder / "data", service.free_port()
    environment = {
        "PYTHONPATH": str(code / "src"),
        "KACZMATCH_DATA": str(data),
        "KACZMATCH_PORT": str(port),
        "KACZMATCH_REFIT": "false",
        "KACZMATCH_LOG_LEVEL": "error",
        "KACZMATCH_CHANGES_A_DAY": str(CHANGES_A_DAY),
        "OPENBLAS_NUM_THREADS": "1",
    } | EXPERIMENT

    def command(*arguments: str) -> str:
        asked = [*importing.COMMAND, *arguments]
        ran = subprocess.run(asked, env=os.environ | environment, capture_output=True, text=True, check=False)  # noqa: S603
        if ran.returncode:
            raise SystemExit(f"kaczmatch {' '.join(arguments)} failed: {ran.stderr}")
        return ran.stdout

    importing.people_file(folder / "people.csv", size.people, np.random.default_rng(0))
    swipes_file(folder / "swipes.csv", size)
    command("import", "profiles", str(folder / "people.csv"))
    command("import", "swipes", str(folder / "swipes.csv"))
    scopes = [word for scope in ("app", "tokens", "operator") for word in ("--scope", scope)]
    key = max(command("keys", "create", "attacks", *scopes).split(), key=len)
    users = map(woman, range(size.raters + LOGS, size.people // 2))
    with service.serving([*importing.COMMAND, "serve"], port, environment) as process:
        load = service.loaded(port, process, service.deck_requests(size.decks, size.people, key), connections=4)
        if load.failed:
            raise SystemExit(f"{load.failed} of the first decks were refused")
        end_sessions(data, process)
        yield Served(commit_of(code), port, key, data, size, users)


def commit_of(code: Path) -> str:
    command = ["git", "-C", str(code), "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or code.name  # noqa: S603


# Those who attack, and a reader: in processes of their own


def send_all(port: int, requests: Sequence[Sequence[bytes]], once: bool, seconds: float) -> tuple[Counter[str], list[str]]:
    """Answers by status, and where those that accepted work say to look how far it is."""
    answers, places = Counter[str](), list[str]()

    async def send(some: Sequence[bytes]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(ATTACKER, 0))
        try:
            for request in some if once else itertools.cycle(some):
                said = "no answer in time" if once else ""
                try:
                    writer.write(request)
                    status, headers, _ = await answer_from(reader)
                    said = str(status)
                    places.extend([headers["location"]] if status < 300 and "location" in headers else [])
                except (OSError, EOFError):
                    said = "closed"
                    return
                finally:
                    answers.update([said] if said else [])  # what comes again and again has to end sometime
        finally:
            writer.close()

    async def send_together() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.gather(*map(send, requests))

    asyncio.run(send_together())
    return answers, places


def read(file: Path, seconds: float, begun: Any) -> None:
    """A SELECT in a transaction that stays open, as an export, a check or a backup tool makes it."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, isolation_level=None)) as database:
        database.execute("BEGIN")
        database.execute("SELECT count(*) FROM people").fetchone()
        begun.set()
        time.sleep(seconds)


@contextmanager
def reading(file: Path, seconds: float) -> Iterator[None]:
    begun = SPAWN.Event()
    process = SPAWN.Process(target=read, args=(file, seconds, begun))
    process.start()
    try:
        if not begun.wait(60.0):
            raise SystemExit("the reader could not begin")
        yield
    finally:
        process.terminate()
        process.join()


# Others


async def ask(port: int, requests: Iterator[bytes], pause: float, taken: list[float], seen: Noticed) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(OTHER, 0))
    try:
        for request in requests:
            began = time.perf_counter()
            try:
                writer.write(request)
                status, _, _ = await answer_from(reader)
            finally:
                taken.append(time.perf_counter() - began)
            if status not in (200, 201):
                seen.refused[status] += 1
            await asyncio.sleep(pause)
        raise SystemExit("there are not enough people for so long a run")
    finally:
        writer.close()


async def noticed(
    served: Served, attackers: ProcessPoolExecutor, seconds: float, attack: Attack | None = None, most: float = 0.0
) -> Noticed:
    """What others notice for so long, or until an attack that ends by itself is over; but no longer than `most`."""
    seen, began = Noticed(), time.perf_counter()
    ready = itertools.repeat(request_of("GET", "/v1/health/ready", ""))
    asked = [
        (make(), PAUSE, taken)
        for make, taken in ((served.swipes, seen.swipes), (served.decks, seen.decks))
        for _ in range(OTHERS)
    ]
    asking = [asyncio.create_task(ask(served.port, *one, seen)) for one in [*asked, (ready, READY_PAUSE, seen.ready)]]
    if attack is not None:
        lasting = most if attack.once else seconds
        sending = attackers.submit(send_all, served.port, attack.requests, attack.once, lasting)
        seen.answers, places = await asyncio.wrap_future(sending)
        for place in places:
            left = most - (time.perf_counter() - began)
            if not await asyncio.to_thread(wait_until, lambda place=place: finished(served, place), left):
                seen.answers["unfinished"] += 1
                served.unfinished.append(place)
        seen.seconds = time.perf_counter() - began
    await asyncio.sleep(max(0.0, began + seconds - time.perf_counter()))
    for one in asking:
        one.cancel()
    for ended in await asyncio.gather(*asking, return_exceptions=True):
        if not isinstance(ended, asyncio.CancelledError):
            raise SystemExit(f"others could not go on: {ended!r}")
    return seen


def finished(served: Served, place: str) -> bool:
    """Whether work that was accepted is over, as the place says where to look; it may be gone together with the work."""
    try:
        status, _, content = served.call("GET", place)
    except OSError:
        return False
    return status in (404, 410) or (status == 200 and bool(json.loads(content).get("done")))


def wait_until(true: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not (said := true()) and time.monotonic() < until:
        time.sleep(0.2)
    return said


def settle(served: Served) -> None:
    """Until what an attack has left behind is over, and requests that need a thread are answered again."""

    def at_rest() -> bool:
        served.unfinished = [place for place in served.unfinished if not finished(served, place)]
        began = time.monotonic()
        try:
            for _ in range(CROWD):
                served.call("GET", f"/v1/people/{man(ASKED)}", seconds=5.0)
        except OSError:
            return False
        return not served.unfinished and time.monotonic() - began < 1.0

    if not wait_until(at_rest, PATIENCE):
        print("  it has not come to rest: what follows is disturbed", flush=True)


# The attacks


def controls(served: Served, connections: int) -> Attack:
    users = [man(ASKED + place) for place in range(connections)]
    return Attack("own profile", [[request_of("GET", f"/v1/people/{user}", served.token(user))] for user in users])


def refused_undos(served: Served, log: int, connections: int) -> Attack:
    user = log_user(served.size, log)
    request = request_of("DELETE", f"/v1/people/{user}/swipes/h{LOGS}", served.token(user))
    return Attack("refused undos", [[request]] * connections)


def refused_resets(served: Served, log: int, connections: int) -> Attack:
    user = log_user(served.size, log)
    request = request_of("POST", f"/v1/people/{user}/preference/reset", served.token(user))
    send_all(served.port, [[request] * CHANGES_A_DAY], True, served.size.most)
    return Attack("refused resets", [[request]] * connections)


def erasures(served: Served) -> Attack:
    return Attack("erasures", [[request_of("DELETE", f"/v1/people/{user}", served.key)] for user in RATED], once=True)


def one_erasure(served: Served) -> Attack:
    request = request_of("DELETE", f"/v1/people/{RATED_ALONE}", served.token(RATED_ALONE))
    return Attack("the same erasure by one token", [[request]] * 8, once=True)


def reports(served: Served) -> Attack:
    return Attack("experiment reports", [[request_of("GET", "/v1/operator/experiment", served.key)]] * 16)


def erasure_beside_reader(served: Served) -> Attack:
    request = request_of("DELETE", f"/v1/people/{RATED_BY_FEW}", served.key)
    return Attack("an erasure beside a reader", [[request]], once=True, reader=served.size.reader)


def accepted_pairs(served: Served) -> Attack:
    """By users whose quota of undos is unused, on people on whom no other user swipes."""
    requests = []
    for log in range(LOGS // 2, LOGS):
        user = log_user(served.size, log)
        body = {"candidate": man(served.size.people // 2 - 1 - log), "decision": "pass"}
        pairs = [f"/v1/people/{user}/swipes/a{place}" for place in range(PAIRS_A_DAY)]
        requests.append(
            [one for path in pairs for one in (request_of("PUT", path, served.key, body), request_of("DELETE", path, served.key))]
        )
    return Attack("swipes and their undos", requests, once=True)


def erasures_from_logs(served: Served) -> Attack:
    users = [request_of("DELETE", f"/v1/people/{user}", served.key) for user in RATED_BY_LOGS]
    return Attack("erasures from long logs", [[one] for one in users], once=True)


ATTACKS: dict[str, Sequence[Callable[[Served], Attack]]] = {
    "undos": [lambda served: refused_undos(served, 0, 8), lambda served: refused_undos(served, 1, 16)],
    "resets": [lambda served: refused_resets(served, 2, 8), lambda served: refused_resets(served, 3, 16)],
    "reports": [reports],
    "reader": [erasure_beside_reader],
    "token": [one_erasure],
    "pairs": [accepted_pairs],
    "logs": [erasures_from_logs],
    "erasures": [erasures],
}


def measured(served: Served, attackers: ProcessPoolExecutor, make: Callable[[Served], Attack]) -> dict[str, Any]:
    settle(served)
    size, attack = served.size, make(served)
    seconds = attack.reader + size.after_reader if attack.reader else size.attack
    quiet = asyncio.run(noticed(served, attackers, size.quiet))
    control = asyncio.run(noticed(served, attackers, size.control, controls(served, attack.connections)))
    with reading(served.data / "kaczmatch.sqlite3", attack.reader) if attack.reader else nullcontext():
        seen = asyncio.run(noticed(served, attackers, seconds, attack, max(seconds, size.most)))
    swipes, decks, beside = np.array(seen.swipes) * 1e3, np.array(seen.decks) * 1e3, 1e3 * float(np.median(control.swipes))
    row = {
        "code": served.code,
        "attack": attack.name,
        "connections": attack.connections,
        "quiet swipe, ms": 1e3 * float(np.median(quiet.swipes)),
        "swipe beside the control, ms": beside,
        "swipe, ms": float(np.median(swipes)),
        "times the control": float(np.median(swipes)) / beside,
        "p99, ms": float(np.quantile(swipes, 0.99)),
        "slowest swipe, ms": float(swipes.max()),
        "slowest deck, ms": float(decks.max()),
        "slowest readiness, ms": 1e3 * max(seen.ready),
        "refused of others": sum(seen.refused.values()),
        "seconds of the attack": seen.seconds,
        "answers to the attack": ", ".join(f"{number:,} × {said}" for said, number in sorted(seen.answers.items())),
    }
    print(f"  {json.dumps(row, ensure_ascii=False)}", flush=True)
    return row


def below_floor(rows: Sequence[dict[str, Any]]) -> list[str]:
    return [
        f"{row['attack']} ({row['connections']}): {what}"
        for row in rows
        for what, bad in (
            (
                f"others' median swipe is {row['times the control']:.1f} times the control's",
                row["times the control"] > TIMES_CONTROL,
            ),
            (f"a swipe took {row['slowest swipe, ms']:,.0f} ms", row["slowest swipe, ms"] >= SLOWEST_MS),
            (f"a deck took {row['slowest deck, ms']:,.0f} ms", row["slowest deck, ms"] >= SLOWEST_MS),
            (f"readiness took {row['slowest readiness, ms']:,.0f} ms", row["slowest readiness, ms"] > READY_MS),
            (f"{row['refused of others']} requests of others were refused", row["refused of others"] > 0),
        )
        if bad
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two minutes with less of everything")
    parser.add_argument("--only", action="append", choices=list(ATTACKS), help="this attack alone; repeatable")
    parser.add_argument("--code", type=Path, action="append", default=[], help="another checkout to attack, too; repeatable")
    add_out(parser)
    options = parser.parse_args()
    size, rows, ours = QUICK if options.quick else FULL, list[dict[str, Any]](), None
    chosen = [make for name in options.only or ATTACKS for make in ATTACKS[name]]
    with (
        tempfile.TemporaryDirectory(prefix="kaczmatch-attacks-") as folder,
        ProcessPoolExecutor(1, mp_context=SPAWN) as attackers,
        ExitStack() as services,
    ):
        attackers.submit(os.getpid).result()
        attacked = list[Served]()
        for place, code in enumerate([*options.code, ROOT]):
            attacked.append(services.enter_context(served(code.resolve(), Path(folder, str(place)), size)))
            print(f"  {attacked[-1].code} is filled", flush=True)
        for make in chosen:
            rows += [measured(one, attackers, make) for one in attacked]
        ours = attacked[-1].code
    title = (
        f"Others under attack: {size.people:,} people, users with {size.events:,} events, {size.raters:,} raters each, "
        f"{size.decks:,} decks, SQLite, one process"
    )
    tell(options.out, Table("attacks", title, rows, timed=True))
    if problems := below_floor([row for row in rows if row["code"] == ours]):
        sys.exit("below the floor: " + "; ".join(problems))


if __name__ == "__main__":
    main()
