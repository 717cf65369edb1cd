"""The TypeScript client: generated from the OpenAPI document, compiled, and run by node against the service."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from worlds.served import Service

CLIENT = Path(__file__).parents[3] / "clients" / "typescript"


def run(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=CLIENT, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def test_the_client_is_generated_compiled_and_talks_to_the_service(one_service: Service) -> None:
    tools = CLIENT / "node_modules" / ".bin"
    if shutil.which("node") is None or not (tools / "openapi-typescript").exists() or not (tools / "tsc").exists():
        pytest.skip("needs node with openapi-typescript and typescript: npm install in clients/typescript, or make typescript")
    run("python3", "generate.py")
    run("node", tools / "openapi-typescript", "../../docs/openapi.json", "--output", "generated/schema.ts")
    run("node", tools / "tsc", "--project", ".")
    one, two = one_service.couple()
    one_service.system.serving_index.follow()
    said = run("node", "build/walk.js", one_service.address, one_service.key, one)
    assert f"swiped Name of {two} at 20" in said
    assert "problem 404 not-found" in said  # whoever is not you does not exist for you


def test_what_the_page_shows_is_what_is_compiled_and_run() -> None:
    page = (CLIENT.parents[1] / "docs" / "swipe-screen.md").read_text(encoding="utf-8")
    shown = page.partition("```ts\n")[2].partition("```")[0].replace('"kaczmatch-client"', '"./generated/client.js"')
    name = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))["name"]
    assert f'from "{name}"' in page
    walk = (CLIENT / "walk.ts").read_text(encoding="utf-8").splitlines()
    assert [line for line in shown.splitlines() if line not in walk] == []


def test_versions_agree() -> None:
    document = json.loads((CLIENT.parents[1] / "docs" / "openapi.json").read_text(encoding="utf-8"))
    assert json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))["version"] == document["info"]["version"]
