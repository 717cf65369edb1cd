"""What import-linter cannot say: the mathematics uses numpy, scipy and numba, and nothing else."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import kaczmatch

PACKAGE = Path(kaczmatch.__file__).parent
LAYERS = ("core", "inference", "learners", "recommend", "solvers")
MATHEMATICS = sorted(path for layer in LAYERS for path in (PACKAGE / layer).rglob("*.py"))


@pytest.mark.parametrize("path", MATHEMATICS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_mathematics_imports_numpy_scipy_and_numba_only(path: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
    assert imported - set(sys.stdlib_module_names) <= {"numpy", "scipy", "numba", "kaczmatch"}


# A migration is one step, however many tables it makes.
WRITTEN = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent.name != "versions"]


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_file_holds_one_idea(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 300
    assert path.stem not in {"utils", "helpers", "common", "manager"}
