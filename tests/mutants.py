"""Does the suite find bugs? Changes one operator, number, condition or statement at a time, and runs the module's own tests.

make mutants                                    200 of them, in equal parts per module; goes on where it was stopped
python tests/mutants.py --mutants 20 fold       fewer, of one module

mutmut leaves functions with a decorator alone, and every kernel has one. cosmic-ray takes no sample, and would still need a copy,
the switches below and a choice of tests. So: `ast`, a copy of the repository, and one pytest after another.

Nothing is compiled (NUMBA_DISABLE_JIT), since a kernel would have to be compiled again for each mutant. The tests run once on the
code as it is. Those that fail without the compiler, or take long, are left out and counted. Of the others, a mutant gets those
that call the function it is in, quickest first.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = "src/kaczmatch"
PARTS = ("src", "tests", "benchmarks")  # tests import from all of them
CLEAN_SECONDS, MUTANT_SECONDS = 6, 30  # for one test; whatever takes longer without a mutant is left out
PLAN = "MUTANTS_PLAN"  # names the file by which a run of pytest learns what to do, and answers


class Module(NamedTuple):
    files: tuple[str, ...]
    tests: tuple[str, ...]
    kernels: bool = False  # compiled functions only


LEARNERS = (
    *(f"tests/contract/test_{name}.py" for name in ("learner", "specification", "progressive")),
    "tests/unit/learners",
    "tests/unit/core",
)
MODULES = {
    "kernels": Module(
        ("core/compiled.py", "learners/*.py", "learners/rules/*.py", "learners/belief/*.py", "learners/population/*.py"),
        LEARNERS,
        kernels=True,
    ),
    "fold": Module(
        tuple(f"learners/logs/{name}.py" for name in ("fold", "replay", "influence")),
        LEARNERS,
    ),
    "measures": Module(
        tuple(f"evaluation/{name}.py" for name in ("predictions", "scores", "matches", "self_test")),
        ("tests/unit/evaluation", "tests/unit/core/test_ranking_metrics.py"),
    ),
    "dealing": Module(
        ("recommend/decks/dealing.py",),
        ("tests/unit/recommend/test_dealing.py", "tests/unit/recommend/test_deck.py", "tests/unit/recommend/test_exposure.py"),
    ),
    "transactions": Module(
        ("storage/batch.py", "storage/group.py"),
        ("tests/unit/storage/test_group_commit.py", "tests/contract/test_store.py", "tests/contract/test_store_works.py"),
    ),
}

OPPOSITE: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Break: ast.Continue,
    ast.Continue: ast.Break,
}
ANNOTATIONS = {"annotation", "returns", "decorator_list"}


class Mutant(NamedTuple):
    file: str
    place: int  # in the order of the file
    function: int  # the line where it begins, decorators and all
    line: int
    change: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} #{self.place} {self.change}"


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What could be at the place of a node, and what that changes in words."""

    def instead(field: str, value: Any, at: int | None = None) -> tuple[str, ast.AST]:
        other = copy.deepcopy(node)
        if at is None:
            setattr(other, field, value)
        else:
            getattr(other, field)[at] = value
        return f"{shown(node)}  →  {shown(other)}", other

    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op) if type(op) in OPPOSITE:
            yield instead("op", OPPOSITE[type(op)]())
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                yield instead("ops", OPPOSITE[type(op)](), at)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield f"{shown(node)}  →  {shown(operand)}", operand
        case ast.Constant(value=bool() as value):
            yield instead("value", not value)
        case ast.Constant(value=int() | float() as value):
            yield instead("value", value + 1)
        case ast.Break() | ast.Continue():
            yield f"{shown(node)}  →  {shown(OPPOSITE[type(node)]())}", OPPOSITE[type(node)]()
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield f"if {shown(test)}  →  if not", instead("test", ast.UnaryOp(ast.Not(), test))[1]
        case ast.AugAssign() | ast.Raise() | ast.Expr(value=ast.Call()):
            yield f"{shown(node)}  →  pass", ast.Pass()


def shown(node: ast.AST) -> str:
    return ast.unparse(node).partition("\n")[0]


Place = tuple[int, ast.AST, str, int | None, ast.AST]  # line of the function, parent, field, position in it, node


def places(tree: ast.AST, kernels: bool) -> Iterator[Place]:
    """What runs in functions; no annotations, decorators and messages."""

    def inside(node: ast.AST, function: int) -> Iterator[Place]:
        for field, value in ast.iter_fields(node):
            if field in ANNOTATIONS or isinstance(node, ast.Raise):
                continue
            for at, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST):
                    if function:
                        yield function, node, field, at, child
                    wanted = isinstance(child, ast.FunctionDef) and (function or not kernels or is_kernel(child))
                    yield from inside(child, first_line(child) if wanted else function)

    return inside(tree, 0)


def first_line(function: Any) -> int:
    return min(one.lineno for one in (function, *function.decorator_list))


def is_kernel(function: ast.FunctionDef) -> bool:
    return any("compiled" in shown(one) or "kernel" in shown(one) or "njit" in shown(one) for one in function.decorator_list)


def mutated(text: str, kernels: bool) -> Iterator[tuple[int, int, str, str]]:
    """(line of the function, line, change, text) of every mutant of a file."""
    tree = ast.parse(text)
    for function, parent, field, at, node in places(tree, kernels):
        line = getattr(node, "lineno", getattr(parent, "lineno", 0))
        for change, other in changes(node):
            put(parent, field, at, other)
            yield function, line, change, ast.unparse(ast.fix_missing_locations(tree))
            put(parent, field, at, node)


def put(parent: ast.AST, field: str, at: int | None, node: ast.AST) -> None:
    if at is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[at] = node


def sample(module: Module, wanted: int, seed: int) -> list[tuple[Mutant, str]]:
    """Mutants with their texts. They depend on the sources and the seed, not on the tests."""
    found = []
    for file in sorted({path for name in module.files for path in (ROOT / PACKAGE).glob(name)}):
        name = str(file.relative_to(ROOT / PACKAGE))
        for place, (function, line, change, text) in enumerate(mutated(file.read_text(), module.kernels)):
            found.append((Mutant(name, place, function, line, change), text))
    random.Random(seed).shuffle(found)  # noqa: S311
    return found[:wanted]  # more of them begin with the same


def run_tests(folder: Path, tests: tuple[str, ...], seconds: float, plan: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Run tests in the copy. Returns pytest's answer, or -1 after `seconds`, and what our plugin noted."""
    note = folder / "plan.json"
    note.write_text(json.dumps(plan))
    environment = os.environ | {
        "PYTHONPATH": f"{folder / 'src'}:{folder / 'tests'}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_DISABLE_JIT": "1",
        "CI": "1",  # Hypothesis tries the same examples every time
        PLAN: str(note),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "mutants", "-p", "no:cacheprovider", "--tb=no", *tests]
    command += ["-k", "not postgres"]  # a server for each mutant would take long
    command += ["-W", "ignore::RuntimeWarning"]  # compiled code overflows without a word
    process = subprocess.Popen(  # noqa: S603
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        answer = process.wait(seconds)
    except subprocess.TimeoutExpired:
        answer = -1
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return answer, json.loads(note.read_text())


def noticed_by(mutant: Mutant, text: str, folder: Path, clean: dict[str, Any]) -> str:
    """The test that noticed, or what else happened; empty if no test noticed."""
    seconds: dict[str, float] = clean["passed"]
    calling = set(clean["calls"].get(f"{mutant.file}:{mutant.function}", ())) & seconds.keys()
    if not calling:
        return ""
    file = folder / PACKAGE / mutant.file
    file.write_text(text)
    plan = {"seconds": MUTANT_SECONDS, "quickest": sorted(calling, key=lambda test: seconds[test]), "failed": ""}
    patience = 120 + 8 * sum(seconds[test] for test in calling)
    answer, found = run_tests(folder, tuple(sorted({test.partition("::")[0] for test in calling})), patience, plan)
    shutil.copy(ROOT / PACKAGE / mutant.file, file)
    return found["failed"] or ("" if answer == 0 else "it took too long" if answer < 0 else "it could not start")


def digest() -> str:
    """Of everything that a result depends on."""
    whole = hashlib.sha256()
    for folder in PARTS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            whole.update(file.read_bytes())
    return whole.hexdigest()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("modules", nargs="*", choices=[[], *MODULES], help="all of them, unless some are named")
    options.add_argument("--mutants", type=int, default=200, help="in all modules together")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--results", type=Path, default=ROOT / "build" / "mutants.json")
    given = options.parse_args()
    results: dict[str, Any] = json.loads(given.results.read_text()) if given.results.exists() else {}
    if results.get("digest") != digest():
        results = {"digest": digest(), "clean": {}, "mutants": {}}
    given.results.parent.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # takes the tests that are running along

    def keep() -> None:
        given.results.write_text(json.dumps(results, indent=1, ensure_ascii=False))

    chosen = {name: sample(MODULES[name], given.mutants // len(MODULES), given.seed) for name in given.modules or MODULES}
    with tempfile.TemporaryDirectory(prefix="kaczmatch-mutants-") as temporary:
        folder = Path(temporary)
        for part in PARTS:
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        for name, mutants in chosen.items():
            module = MODULES[name]
            tests = " ".join(module.tests)
            if tests not in results["clean"]:
                print(f"{name}: its tests as they are …", flush=True)
                _, found = run_tests(folder, module.tests, 1800, {"seconds": CLEAN_SECONDS})
                if not found.get("passed"):
                    raise SystemExit(f"{name}: no test passes without a mutant: {tests}")
                results["clean"][tests] = found
                keep()
            clean = results["clean"][tests]
            print(f"{name}: {len(clean['passed'])} tests, {clean['left out']} left out", flush=True)
            for number, (mutant, text) in enumerate(mutants, 1):
                if str(mutant) not in results["mutants"].setdefault(name, {}):
                    results["mutants"][name][str(mutant)] = noticed_by(mutant, text, folder, clean)
                    keep()
                killed_by = results["mutants"][name][str(mutant)]
                print(f"  {number}/{len(mutants)} {'killed  ' if killed_by else 'SURVIVED'} {mutant}", flush=True)
    print("\n| module | mutants | killed | share |\n| --- | --- | --- | --- |")
    for name, mutants in chosen.items():
        killed = sum(bool(results["mutants"][name][str(mutant)]) for mutant, _ in mutants)
        print(f"| {name} | {len(mutants)} | {killed} | {killed / max(len(mutants), 1):.0%} |")
    print("\nSurvivors:")
    for name, mutants in chosen.items():
        for mutant, _ in mutants:
            if not results["mutants"][name][str(mutant)]:
                print(f"  {name}: {mutant}")


# From here on, what this file does as a plugin of pytest, in a process of its own.


class Plugin:
    """Without a mutant: what passes, in how many seconds, and which functions it calls. With one: the first test that fails."""

    def __init__(self, note: Path) -> None:
        self.note = note
        self.plan: dict[str, Any] = json.loads(note.read_text())
        self.clean = "quickest" not in self.plan
        self.failed: set[str] = set()
        self.passed: dict[str, float] = {}
        self.called: dict[str, set[Any]] = {"": set()}  # code, by the test, or by the file whose fixtures call it
        if self.clean:
            self.note_calls_of("")

    def note_calls_of(self, caller: str) -> None:
        called = self.called.setdefault(caller, set())

        def note(frame: Any, event: str, _: object) -> None:
            if event == "call":
                called.add(frame.f_code)

        sys.setprofile(note)
        threading.setprofile(note)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if not self.clean:
            place = {test: number for number, test in enumerate(self.plan["quickest"])}
            items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        signal.setitimer(signal.ITIMER_REAL, self.plan["seconds"])
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if self.clean:
            self.note_calls_of(item.nodeid.partition("::")[0])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        if self.clean:
            self.note_calls_of(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or report.skipped:
            self.failed.add(report.nodeid)
        if report.failed and not self.clean:
            self.note.write_text(json.dumps(self.plan | {"failed": report.nodeid}))
            os._exit(1)  # one is enough, and threads of a mutant may hang
        self.passed[report.nodeid] = self.passed.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        sys.setprofile(None)
        passed = {test: seconds for test, seconds in self.passed.items() if test not in self.failed}
        calls: dict[str, list[str]] = {}
        for test in passed if self.clean else ():
            codes = self.called[""] | self.called[test.partition("::")[0]] | self.called[test]
            for code in codes:
                _, found, file = code.co_filename.partition(f"/{PACKAGE}/")
                if found:
                    calls.setdefault(f"{file}:{code.co_firstlineno}", []).append(test)
        self.note.write_text(json.dumps(self.plan | {"passed": passed, "left out": len(self.failed), "calls": calls}))


def took_too_long(*_: object) -> None:
    pytest.fail("took too long", pytrace=False)


def without_compiler() -> None:
    """Nothing is compiled: not for a signature at import either, and what is no Python gets a Python twin."""
    from kaczmatch.core import compiled, intrinsics

    def next_turn(turns: Any) -> int:
        turns[0] += 1
        return int(turns[0]) - 1

    compiled.compiled_as = lambda *_, **__: lambda function: function
    intrinsics.popcount = lambda word: int(word).bit_count()
    intrinsics.fetch_and_increment = next_turn


def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGALRM, took_too_long)
    config.pluginmanager.register(Plugin(Path(os.environ[PLAN])))


if PLAN in os.environ:
    without_compiler()  # before conftest.py imports the package
if __name__ == "__main__":
    main()
