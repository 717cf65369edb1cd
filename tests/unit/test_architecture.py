"""What import-linter cannot say: the mathematics uses numpy, scipy and numba, and nothing else; files are short and named."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import kaczmatch

PACKAGE = Path(kaczmatch.__file__).parent
LAYERS = ("core", "inference", "learners", "recommend", "solvers")
MATHEMATICS = sorted(path for layer in LAYERS for path in (PACKAGE / layer).rglob("*.py"))
WRITTEN = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent.name != "versions"]  # a migration is one step
LONGEST = 300  # lines
NAMELESS = {"utils", "helpers", "common", "manager"}


def imports(path: Path) -> set[str]:
    """The packages that a file imports from."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found


def test_mathematics_imports_numpy_scipy_and_numba_only() -> None:
    allowed = sys.stdlib_module_names | {"numpy", "scipy", "numba", "kaczmatch"}
    assert len(MATHEMATICS) > 50
    assert {str(path.relative_to(PACKAGE)): others for path in MATHEMATICS if (others := imports(path) - allowed)} == {}


def test_files_are_short_and_their_names_say_what_they_hold() -> None:
    lengths = {str(path.relative_to(PACKAGE)): len(path.read_text().splitlines()) for path in WRITTEN}
    assert len(lengths) > 200
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}
    assert [path for path in WRITTEN if path.stem in NAMELESS] == []
