"""Runs a command that measures something, and keeps its tables in docs/results: `python docs/record.py NAME -- COMMAND`.

    python docs/record.py peeking -- python benchmarks/peeking.py
    python docs/record.py market --table market-archetypes -- kaczmatch market --seeds 10 --policy default --policy paper
    python docs/record.py faults -- pytest tests/faults/test_kills.py
    python docs/record.py picks-cuda --measured FOLDER --machine "NVIDIA H200" -- python benchmarks/picks_cuda.py

Benchmarks and `kaczmatch` commands write their tables into the folder that `--out` names. Tests give what they found to
pytest's `record_property` under the name `found`. Settings of the environment may stand before the command
(`OPENBLAS_NUM_THREADS=1 kaczmatch …`). Code that is not committed is refused, because the file names the commit. Where the
command has to run on another machine, run it there at the same commit with `--out FOLDER`, and name the folder and the machine.
`make results` then writes the tables into the pages.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from render import RESULTS, ROOT

CODE = ("src", "tests", "benchmarks", "research", "pyproject.toml", "constraints.txt")
Tables = dict[str, dict[str, Any]]


def measured(words: Sequence[str], wanted: Sequence[str]) -> Tables:
    """The tables that a command writes."""
    settings = [word for word in words if re.match(r"[A-Z_]+=", word)]
    program, *rest = words[len(settings) :]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if program == "pytest":
            rest += ["-o", "junit_family=xunit1", f"--junitxml={folder / 'tests.xml'}"]
        else:
            rest += ["--out", str(folder)]
        there = {"PYTHONPATH": str(ROOT / "src")} | dict(word.split("=", 1) for word in settings)
        subprocess.run([_program(program), *rest], cwd=ROOT, env=os.environ | there, check=True)  # noqa: S603
        return chosen(_of_tests(folder / "tests.xml") if program == "pytest" else _of_files(folder), wanted)


def chosen(found: Tables, wanted: Sequence[str]) -> Tables:
    if missing := [one for one in wanted if one not in found]:
        raise SystemExit(f"the command wrote no {', '.join(missing)}; it wrote {', '.join(found)}")
    if not found:
        raise SystemExit("the command wrote no table; it has to take --out FOLDER and write TABLE.json there")
    return {name: found[name] for name in wanted} if wanted else found


def _program(name: str) -> str:
    """The interpreter, and commands of the same environment."""
    beside = Path(sys.executable).with_name(name)
    return sys.executable if name == "python" else str(beside) if beside.exists() else name


def _of_files(folder: Path) -> Tables:
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    return {name: _table(rows) for name, rows in found.items() if rows}


def _of_tests(report: Path) -> Tables:
    rows = [
        {"test": case.attrib["name"], "found": one.attrib["value"]}
        for case in ElementTree.parse(report).iter("testcase")  # noqa: S314 - pytest has just written it
        for one in case.iter("property")
        if one.attrib["name"] == "found"
    ]
    return {"tests": _table(rows)} if rows else {}


def _table(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    columns = list(rows[0])
    return {"columns": columns, "rows": [[row[column] for column in columns] for row in rows]}


def commit() -> str:
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", *CODE)
    if changed:
        raise SystemExit(f"commit your code first; the result names the commit that it was measured at:\n{changed}")
    return _git("rev-parse", "HEAD")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603, S607


def machine() -> str:
    processors = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.+)$", processors.read_text(), re.MULTILINE) if processors.exists() else []
    model = names[0].strip() if names else platform.processor() or platform.machine()
    return f"{model}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}"


def text_of(result: Mapping[str, Any]) -> str:
    """JSON with a line for each row of a table, so that a difference can be read."""
    head = json.dumps({field: result[field] for field in result if field != "tables"}, indent=2, ensure_ascii=False)
    tables = []
    for name, table in result["tables"].items():
        rows = ",\n".join(f"        {json.dumps(row, ensure_ascii=False)}" for row in table["rows"])
        columns = json.dumps(table["columns"], ensure_ascii=False)
        tables.append(f'    {json.dumps(name)}: {{\n      "columns": {columns},\n      "rows": [\n{rows}\n      ]\n    }}')
    return head.removesuffix("\n}") + ',\n  "tables": {\n' + ",\n".join(tables) + "\n  }\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="of the file in docs/results")
    parser.add_argument("--table", action="append", default=[], help="keep only this one; repeatable")
    parser.add_argument("--measured", type=Path, help="a folder that the command has filled on another machine")
    parser.add_argument("--machine", help="that other machine, in words")
    parser.add_argument("command", nargs="+", help="after --: what to run")
    asked = parser.parse_args()
    if (asked.measured is None) != (asked.machine is None):
        parser.error("--measured and --machine go together")
    at = commit()
    if asked.measured is None:
        load, tables = round(os.getloadavg()[0], 1), measured(asked.command, asked.table)
    else:
        load, tables = None, chosen(_of_files(asked.measured), asked.table)
    result = {
        "name": asked.name,
        "command": shlex.join(asked.command),
        "commit": at,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": asked.machine or machine(),
        "load": load,  # of the minute before; figures of speed want a quiet machine
        "tables": tables,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{asked.name}.json").write_text(text_of(result), encoding="utf-8")


if __name__ == "__main__":
    main()
