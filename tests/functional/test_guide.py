"""The guide, mentoring and jobs work as they stand: their commands and programs are run in order, against a real service."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from worlds.ports import free_port

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def script(page: str) -> str:
    """All blocks as one script, so that what one exports the next can use."""
    parts = ["set -euo pipefail", "trap 'test -z \"${SERVER:-}\" || { kill $SERVER; wait $SERVER || true; }' EXIT"]
    for number, (kind, block) in enumerate(BLOCK.findall(page)):
        if kind == "python":
            parts.append(f"python3 - <<'PROGRAM{number}'\n{block}PROGRAM{number}")
        elif block.startswith("kaczmatch serve"):
            parts.append(f"{block.rstrip().removesuffix('&')} 2>server.log &\nSERVER=$!")
        else:
            parts.append(block + "echo")
    return "\n".join(parts)


@pytest.mark.parametrize(
    ("page", "blocks", "said"),
    [
        ("service.md", 10, ('"written":4', "match.created", '"match"')),
        ("mentoring.md", 8, ('"written":6', "match: ", "full 'mara' has as many open matches", "you have as many open matches")),
        (
            "jobs.md",
            6,
            ("Data analyst Example Ltd like", "match: Data analyst https://jobs.example/1 no age", "['Data analyst']"),
        ),
    ],
)
def test_the_page_works_as_it_stands_from_an_empty_folder(tmp_path: Path, page: str, blocks: int, said: tuple[str, ...]) -> None:
    if shutil.which("curl") is None or shutil.which("bash") is None:
        pytest.skip("needs bash and curl")
    text = (DOCS / page).read_text(encoding="utf-8").replace("8000", str(free_port()))
    assert len(BLOCK.findall(text)) >= blocks
    (bin := tmp_path / "bin").mkdir()
    for name, options in (("python3", ""), ("kaczmatch", '-c "from kaczmatch.cli.main import main; main()"')):
        (bin / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {options} "$@"\n')
        (bin / name).chmod(0o755)
    (work := tmp_path / "work").mkdir()
    known = {name: value for name, value in os.environ.items() if not name.startswith("KACZMATCH_")}
    done = subprocess.run(  # noqa: S603
        ["bash", "-c", script(text)],  # noqa: S607
        cwd=work,
        env=known | {"PATH": f"{bin}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    log = (work / "server.log").read_text() if (work / "server.log").exists() else ""
    assert done.returncode == 0, (done.stdout[-2_000:], done.stderr[-2_000:], log[-2_000:])
    assert [words for words in said if words not in done.stdout] == []


def test_the_map_of_the_api_names_every_route_and_no_other() -> None:
    document = json.loads((DOCS / "openapi.json").read_text(encoding="utf-8"))
    routes = {f"{method.upper()} {path.removeprefix('/v1')}" for path, ways in document["paths"].items() for method in ways}
    told = set(re.findall(r"`((?:GET|PUT|POST|PATCH|DELETE) /[^`?]*)`", (DOCS / "http-api.md").read_text(encoding="utf-8")))
    assert told == routes
    ids = {operation["operationId"] for ways in document["paths"].values() for operation in ways.values()}
    assert set(re.findall(r"^\| `(\w+)` \| `[A-Z]+ /", (DOCS / "http-api.md").read_text(encoding="utf-8"), re.MULTILINE)) == ids
