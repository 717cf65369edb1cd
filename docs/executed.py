"""Runs a page as it stands, from an empty folder: its shell and Python blocks in order, each Python block as a program.

    python docs/executed.py          docs/tutorial.md, with what each block prints now; `make docs` runs it

A block of text right after one that was run holds what that printed. Times and ids differ from run to run, so such a page prints
none. `kaczmatch serve …` is started in the background and stopped at the end.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "tutorial.md"
PORT = "8000"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
_END = "\x1e"


def script(page: str) -> str:
    """All blocks as one script, so that what one exports the next can use."""
    parts = ["set -euo pipefail", "trap 'test -z \"${SERVER:-}\" || { kill $SERVER; wait $SERVER || true; }' EXIT"]
    for number, (kind, block, _) in enumerate(BLOCK.findall(page)):
        if kind == "python":
            parts.append(f"python3 - <<'PROGRAM{number}'\n{block}PROGRAM{number}")
        elif block.startswith("kaczmatch serve"):
            parts.append(f"{block.rstrip().removesuffix('&')} 2>server.log &\nSERVER=$!")
        else:
            parts.append(block)
        parts.append(f"printf '\\n{_END}'")
    return "\n".join(parts)


def run(page: str, folder: Path, seconds: float = 600.0) -> list[str]:
    """What each block printed."""
    (bin := folder / "bin").mkdir()
    for name, options in (("python3", ""), ("kaczmatch", '-c "from kaczmatch.cli.main import main; main()"')):
        (bin / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {options} "$@"\n')
        (bin / name).chmod(0o755)
    (work := folder / "work").mkdir()
    known = {name: value for name, value in os.environ.items() if not name.startswith("KACZMATCH_")}
    known |= {"PATH": f"{bin}:{os.environ['PATH']}", "COLUMNS": "100"}
    done = subprocess.run(  # noqa: S603
        ["bash", "-c", script(page)],  # noqa: S607
        cwd=work, env=known, capture_output=True, text=True, check=False, timeout=seconds,
    )  # fmt: skip
    if done.returncode:
        log = (work / "server.log").read_text() if (work / "server.log").exists() else ""
        raise RuntimeError("\n".join((done.stdout[-2_000:], done.stderr[-2_000:], log[-2_000:])))
    return [part.strip("\n") for part in done.stdout.split(_END)[:-1]]


def executed(page: str, printed: list[str]) -> str:
    """The page with what its blocks print now."""
    answers = iter(printed)

    def change(found: re.Match[str]) -> str:
        now, shown = next(answers), found[3]
        return found[0] if shown is None else found[0].removesuffix(f"{shown}```") + f"{now}\n```"

    return BLOCK.sub(change, page)


def main() -> None:
    import socket

    page = TUTORIAL.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
        probe.close()
        printed = run(page.replace(PORT, port), Path(folder))
    TUTORIAL.write_text(executed(page, printed).replace(port, PORT), encoding="utf-8")


if __name__ == "__main__":
    main()
