"""Does the suite find bugs? Takes one safeguard away at a time, in a copy, and shows which test notices.

python tests/planted.py            all of them, and the table of docs/guarantees.md
python tests/planted.py fsync      only those whose name has this in it
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from safeguards import FAULTS
from safeguards.fault import Fault

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guarantees.md"


def planted(fault: Fault, folder: Path) -> Path:
    """A copy of the sources without the safeguard."""
    source = folder / "src"
    shutil.copytree(ROOT / "src", source)
    file = source / "kaczmatch" / fault.file
    text = file.read_text()
    if text.count(fault.safeguard) != 1:
        raise SystemExit(f"{fault.name}: {fault.file} has its text {text.count(fault.safeguard)} times, not once")
    file.write_text(text.replace(fault.safeguard, fault.without))
    return source


def caught_by(fault: Fault) -> str:
    """The first test that fails without the safeguard; empty if none does."""
    with tempfile.TemporaryDirectory(prefix="kaczmatch-planted-") as folder:
        environment = os.environ | {"PYTHONPATH": str(planted(fault, Path(folder)))}
        command = f"{sys.executable} -m pytest -q -x -p no:cacheprovider --tb=no {fault.tests}"
        done = subprocess.run(command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S602
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{fault.name}: pytest could not run\n{done.stdout}{done.stderr}")
    return failed.group(1) if failed else ""


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    rows = []
    for fault in FAULTS:
        if wanted in fault.name:
            test = caught_by(fault)
            rows.append(f"| {fault.name} | `{test.replace('tests/', '', 1)}` |" if test else f"| {fault.name} | **none** |")
            print(rows[-1], flush=True)
    if not wanted:
        about = PAGE.read_text().partition("| safeguard")[0]
        PAGE.write_text("\n".join([about + "| safeguard taken away | first test that failed |", "| --- | --- |", *rows, ""]))
    if any("**none**" in row for row in rows):
        raise SystemExit("a safeguard could be taken away without any test noticing")


if __name__ == "__main__":
    main()
