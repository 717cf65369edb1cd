"""What import-linter cannot say: mathematics imports numpy, scipy and numba, a GPU torch and triton."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import kaczmatch

PACKAGE = Path(kaczmatch.__file__).parent
LAYERS = ("core", "inference", "learners", "recommend", "solvers")
MATHEMATICS = sorted(path for layer in LAYERS for path in (PACKAGE / layer).rglob("*.py"))


def modules(path: Path) -> set[str]:
    """The modules that a file imports from."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def imports(path: Path) -> set[str]:
    """The packages that a file imports from."""
    return {name.split(".")[0] for name in modules(path)}


def test_mathematics_imports_numpy_scipy_and_numba_only() -> None:
    allowed = sys.stdlib_module_names | {"numpy", "scipy", "numba", "kaczmatch"}
    assert len(MATHEMATICS) > 50
    assert {str(path.relative_to(PACKAGE)): others for path in MATHEMATICS if (others := imports(path) - allowed)} == {}


def test_what_runs_on_a_gpu_imports_torch_triton_and_numpy_only() -> None:
    files = sorted((PACKAGE / "cuda").glob("*.py"))
    allowed = sys.stdlib_module_names | {"numpy", "torch", "triton"}
    assert len(files) > 3
    for path in files:
        ours = {name for name in modules(path) if name.split(".")[0] == "kaczmatch"}
        assert all(name.startswith("kaczmatch.cuda") for name in ours)
        assert imports(path) - allowed - {"kaczmatch"} == set()


def test_names_of_files_say_what_they_hold() -> None:
    assert [path for path in PACKAGE.rglob("*.py") if path.stem in {"utils", "helpers", "common", "manager"}] == []
