"""The project's functions and files that one swipe and one deck pass, printed as an indented list of calls.

    python docs/walk.py [docs/images/walk.svg]        # and drawn, for ARCHITECTURE.md

The service runs in this process on SQLite, behind its own HTTP server. Its clock stands still and its background jobs do not
run, so caches are warm and nothing but the request is seen. A function counts if every one of a few such requests passed it, in
whatever thread; a lambda or comprehension is a part of the function that it stands in.
"""

from __future__ import annotations

import ast
import http.client
import json
import re
import statistics
import sys
import tempfile
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from html import escape
from io import StringIO
from itertools import count
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any, NamedTuple, final
from unittest.mock import patch

import uvicorn

import kaczmatch
from kaczmatch.app.asgi import app_of
from kaczmatch.app.composition import open_store
from kaczmatch.app.logs import set_up_logs
from kaczmatch.app.server import uvicorn_options
from kaczmatch.app.system import compose
from kaczmatch.service.access.credentials import SCOPES
from kaczmatch.settings.model import Settings
from sizes import statements

PACKAGE = Path(kaczmatch.__file__).parent
PEOPLE, REQUESTS = 120, 15
CARDS = REQUESTS + 1
SETTLED_SECONDS = 0.05  # after a response; what follows a commit is done by then
TAGS = ("jazz", "chess", "climbing", "cooking", "theatre", "cycling")


@final
class Function(NamedTuple):
    """One of the project, as it is written."""

    file: str  # under the package
    name: str  # with its class
    line: int


@final
class Call(NamedTuple):
    """The first call of a function in a request, in a thread."""

    function: Function
    callers: tuple[Function, ...]  # the nearest one first
    thread: str


@final
@dataclass(frozen=True, slots=True)
class Walk:
    """What a kind of request passes: each function once, in the order of calls, with how deep it is below its thread."""

    title: str
    threads: Mapping[str, Sequence[tuple[int, Function]]]

    @property
    def functions(self) -> list[Function]:
        return [function for passed in self.threads.values() for _, function in passed]

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(function.file for function in self.functions))

    @property
    def largest(self) -> tuple[int, Function]:
        return max((size(function), function) for function in self.functions)

    def __str__(self) -> str:
        most, largest = self.largest
        lines = [f"{self.title}: {len(self.functions)} functions in {len(self.files)} files"]
        lines += [f"The largest function has {most} statements: {largest.name} in {largest.file}", ""]
        for thread, passed in self.threads.items():
            lines.append(thread)
            named = [("  " * (depth + 1) + function.name, function.file) for depth, function in passed]
            width = max(len(name) for name, _ in named)
            lines += [f"{name:{width}}  {file}" for name, file in named]
        return "\n".join(lines)


@final
class Watch:
    """Sees calls in every thread that starts after it. Threads ask for it at each call, so it stays when it is not looking."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, Function], Call] | None = None
        threading.setprofile(self._profile)

    @contextmanager
    def looking(self) -> Iterator[dict[tuple[str, Function], Call]]:
        self._calls = {}
        try:
            yield self._calls
        finally:
            self._calls = None

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        calls = self._calls
        if event != "call" or calls is None or (function := function_of(frame.f_code)) is None:
            return
        thread = thread_name()
        if (thread, function) not in calls:
            above = (function_of(caller.f_code) for caller in _stack(sys._getframe(1)))
            callers = tuple(caller for caller in above if caller not in (None, function))
            calls[thread, function] = Call(function, callers, thread)


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    """From the frame that runs on, outwards. That of a kernel, which numba makes for profilers, is not among them."""
    while frame is not None:
        yield frame
        frame = frame.f_back


@cache
def function_of(code: CodeType) -> Function | None:
    """None: it is not a function of ours, or none that somebody wrote."""
    if not code.co_filename.startswith(f"{PACKAGE}/") or code.co_name == "<module>":
        return None
    file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
    name = re.sub(r"(\.<locals>)?\.<(lambda|listcomp|dictcomp|setcomp|genexpr)>.*", "", code.co_qualname)
    found = [(line, last) for line, last, named in definitions(file) if named == name and line <= code.co_firstlineno <= last]
    return Function(file, name.replace(".<locals>", ""), found[-1][0]) if found else None


@cache
def definitions(file: str) -> list[tuple[int, int, str]]:
    """First line, last line and qualified name of every function of a file."""
    return [(line, last, name) for name, line, last, _ in _defined(_tree(file), "")]


@cache
def size(function: Function) -> int:
    """Its statements."""
    node = next(node for _, line, _, node in _defined(_tree(function.file), "") if line == function.line)
    return statements(ast.unparse(node)) - 1


@cache
def _tree(file: str) -> ast.Module:
    return ast.parse((PACKAGE / file).read_text(encoding="utf-8"))


def _defined(node: ast.AST, inside: str) -> Iterator[tuple[str, int, int, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            line = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
            yield inside + child.name, line, child.end_lineno or line, child
            yield from _defined(child, f"{inside}{child.name}.<locals>.")
        else:
            yield from _defined(child, f"{inside}{child.name}." if isinstance(child, ast.ClassDef) else inside)


def thread_name() -> str:
    """What a thread is for, without its number."""
    return re.sub(r"[_-]\d+$", "", threading.current_thread().name).removeprefix("kaczmatch ")


def walk_of(title: str, requests: Sequence[Mapping[tuple[str, Function], Call]]) -> Walk:
    """What all requests of a kind have passed. Where threads race, a function stands where most requests called it first."""
    common = set.intersection(*({function for _, function in request} for request in requests))
    placed: dict[Function, Counter[tuple[str, Function | None]]] = {function: Counter() for function in sorted(common)}
    ranks: dict[tuple[str, Function], list[int]] = {}
    for request in requests:
        first: dict[Function, Call] = {}
        for rank, call in enumerate(call for call in request.values() if call.function in common):
            first.setdefault(call.function, call)
            ranks.setdefault((call.thread, call.function), []).append(rank)
        for call in first.values():
            in_thread = (caller for caller in call.callers if caller in first and first[caller].thread == call.thread)
            placed[call.function][call.thread, next(in_thread, None)] += 1
    below: dict[tuple[str, Function | None], list[Function]] = {}
    for function, places in placed.items():
        below.setdefault(max(places, key=lambda place: places[place]), []).append(function)
    for (thread, _), functions in below.items():
        functions.sort(key=lambda function: statistics.median(ranks[thread, function]))
    threads = list(dict.fromkeys(call.thread for call in requests[0].values()))
    listed = {thread: list(_indented(below, thread, None, 0)) for thread in threads}
    return Walk(title, {thread: passed for thread, passed in listed.items() if passed})


def _indented(
    below: Mapping[tuple[str, Function | None], Sequence[Function]], thread: str, above: Function | None, depth: int
) -> Iterator[tuple[int, Function]]:
    for function in below.get((thread, above), ()):
        yield depth, function
        yield from _indented(below, thread, function, depth + 1)


@final
class App:
    """The back end of an app, with one open connection."""

    def __init__(self, port: int, key: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def call(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        self._connection.request(method, f"/v1{path}", json.dumps(body), self._headers)
        response = self._connection.getresponse()
        content = response.read()
        if not 200 <= response.status < 300:
            raise RuntimeError(f"{method} {path}: {response.status} {content.decode()}")
        return json.loads(content)

    def close(self) -> None:
        self._connection.close()


def walks() -> list[Walk]:
    """Of a swipe and of a deck."""
    now, numbers = datetime(2026, 11, 15, 12, tzinfo=UTC), count()
    with tempfile.TemporaryDirectory() as folder, patch("secrets.randbits", Random(0).getrandbits):  # noqa: S311
        settings = Settings(data=Path(folder), port=0)
        with redirect_stderr(StringIO()):
            set_up_logs()
        watch = Watch()  # after the thread that writes log lines, ten times a second
        system = compose(settings, open_store(settings), clock=lambda: now)
        system.background.every = lambda *_: None  # type: ignore[method-assign]
        server = uvicorn.Server(uvicorn.Config(app_of(system), **uvicorn_options(settings)))
        serving = threading.Thread(target=server.run, name="event loop")
        serving.start()
        try:
            system.wait_ready()
            while not server.started:
                time.sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            app = App(port, system.use_cases.credentials.create("walk", tuple(SCOPES))[1])
            for number in range(PEOPLE):
                app.call("PUT", f"/people/p{number}", profile(number))
            system.serving_index.follow()

            def deal(viewer: int) -> Any:
                return app.call("POST", f"/people/p{viewer}/deck", {"size": CARDS})

            def answer(viewer: int, deck: Mapping[str, Any], place: int) -> None:
                decision = "like" if viewer % 2 else "pass"  # men like and women pass, so nobody matches
                body = {"candidate": deck["cards"][place]["id"], "deck": deck["id"], "decision": decision}
                app.call("PUT", f"/people/p{viewer}/swipes/s{next(numbers)}", body)

            for viewer in range(REQUESTS + 1):  # one, and those who are watched, know the service already
                deck = deal(viewer)
                for place in range(CARDS):
                    answer(viewer, deck, place)
            now += timedelta(seconds=10)
            system.serving_index.follow()
            deck = deal(REQUESTS)
            answer(REQUESTS, deck, 0)
            swipes = [_seen(watch, lambda place=place: answer(REQUESTS, deck, place)) for place in range(1, CARDS)]
            system.serving_index.follow()
            decks = [_seen(watch, lambda viewer=viewer: deal(viewer)) for viewer in range(REQUESTS)]
            app.close()
        finally:
            threading.setprofile(None)  # type: ignore[arg-type]
            server.should_exit = True
            serving.join()
    return [walk_of("A swipe", swipes), walk_of("A deck", decks)]


def _seen(watch: Watch, request: Callable[[], object]) -> dict[tuple[str, Function], Call]:
    with watch.looking() as calls:
        request()
        time.sleep(SETTLED_SECONDS)
    return calls


def profile(number: int) -> dict[str, Any]:
    sides = ("man", "woman") if number % 2 else ("woman", "man")
    return {
        "name": f"Person {number}",
        "born": f"19{80 + number % 15}-03-01",
        "i_am": sides[:1],
        "i_look_for": sides[1:],
        "location": {"latitude": 50.0 + number % 7 / 100.0, "longitude": 8.0},
        "within_km": 50,
        "tags": [TAGS[number % 6], TAGS[(number * 5 + 1) % 6]],
    }


WIDTH, MARGIN, GAP, LINE = 920, 16, 12, 16
STYLE = """text { font-family: system-ui, sans-serif; fill: #1d2733; }
.title { font-size: 17px; font-weight: 600; }
.lane { font-size: 13px; font-weight: 600; fill: #51606f; }
.name { font-size: 13px; font-weight: 600; }
.note { font-size: 12px; fill: #51606f; }
.paper { fill: #ffffff; }
.box { fill: #eef3f8; stroke: #b6c4d2; }
.arrow { fill: none; stroke: #7b8b9a; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
text { fill: #e8eef4; } .lane, .note { fill: #a9b7c5; } .paper { fill: #10161d; } .box { fill: #1c2732; stroke: #3b4a59; }
.arrow { stroke: #8b9aa9; }
}"""


def picture(walks: Sequence[Walk]) -> str:
    """The rooms that each walk passes, by thread, in the order of their first call, with their files."""
    shapes, top = list[str](), MARGIN
    for walk in walks:
        drawn, top = _drawn(walk, top)
        shapes += drawn
    title = "What one swipe and one deck pass: rooms and files by thread, in the order of calls."
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img" aria-labelledby="title">'
    paper = f'<rect class="paper" width="{WIDTH}" height="{top}"/>'
    return "\n".join([head, f'<title id="title">{title}</title>', f"<style>\n{STYLE}\n</style>", paper, *shapes, "</svg>\n"])


def _drawn(walk: Walk, top: int) -> tuple[list[str], int]:
    """The shapes of a walk, and where the next one begins."""
    room_for_lanes = WIDTH - 2 * MARGIN - (len(walk.threads) - 1) * 2 * GAP
    equal, of_all = 0.5 / len(walk.threads), 0.5 / len(walk.functions)
    numbers = f"{len(walk.functions)} functions in {len(walk.files)} files"
    shapes = [f'<text class="title" x="{MARGIN}" y="{top + 18}">{walk.title}: {numbers}</text>']
    bottom = top = top + 34
    x = MARGIN
    for thread, passed in walk.threads.items():
        wide, y = int(room_for_lanes * (equal + of_all * len(passed))), top + 26
        shapes.append(f'<text class="lane" x="{x}" y="{top + 13}">{escape(thread)}</text>')
        if thread != list(walk.threads)[-1]:
            start, end, middle = x + 8 * len(thread) + GAP, x + wide + GAP, top + 9
            shapes.append(f'<path class="arrow" d="M{start} {middle}H{end}m-6 -4l6 4l-6 4"/>')
        rooms: dict[str, Counter[str]] = {}
        for _, function in passed:
            room, _, file = function.file.rpartition("/")
            rooms.setdefault(room, Counter())[file.removesuffix(".py")] += 1
        for room, files in rooms.items():
            lines = textwrap.wrap(", ".join(f"{file}\u00a0{number}" for file, number in files.items()), (wide - 20) // 6)
            high = 28 + LINE * len(lines)
            shapes.append(f'<rect class="box" x="{x}" y="{y}" width="{wide}" height="{high}" rx="6"/>')
            shapes.append(f'<text class="name" x="{x + 10}" y="{y + 19}">{escape(room)}</text>')
            shapes += [f'<text class="note" x="{x + 10}" y="{y + 35 + LINE * n}">{line}</text>' for n, line in enumerate(lines)]
            y += high + GAP // 2
        bottom = max(bottom, y)
        x += wide + 2 * GAP
    return shapes, bottom + GAP


def main(arguments: Sequence[str]) -> None:
    found = walks()
    print("\n\n".join(map(str, found)))
    for file in arguments:
        Path(file).write_text(picture(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
