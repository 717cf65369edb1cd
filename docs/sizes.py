"""How large the code is: lines, and statements, which denser lines do not save.

    python docs/sizes.py [FOLDER_OR_FILE ...]        # usually every package of src/kaczmatch, and the tests

A statement is one of the syntax tree. Imports and docstrings do not count.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def statements(text: str) -> int:
    """Of one file."""
    nodes = list(ast.walk(ast.parse(text)))
    documented = sum(ast.get_docstring(node, clean=False) is not None for node in nodes if isinstance(node, _DOCUMENTED))
    imports = sum(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes)
    return sum(isinstance(node, ast.stmt) for node in nodes) - documented - imports


def size(path: Path) -> tuple[int, int, int]:
    """Files, lines and statements of a file, or of all files of a folder."""
    texts = [one.read_text(encoding="utf-8") for one in ([path] if path.is_file() else sorted(path.rglob("*.py")))]
    return len(texts), sum(text.count("\n") for text in texts), sum(map(statements, texts))


def usual() -> Iterator[Path]:
    for one in sorted((ROOT / "src" / "kaczmatch").iterdir()):
        if one.suffix == ".py" or (one / "__init__.py").exists():
            yield one
    yield ROOT / "tests"


def main(names: Sequence[str]) -> None:
    found = {path: size(path) for path in (map(Path, names) if names else usual())}
    rows = [(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path, *counts) for path, counts in found.items()]
    rows.append(("all", *(sum(column) for column in zip(*found.values(), strict=True))))
    print("| | files | lines | statements |\n| --- | --- | --- | --- |")
    for name, *counts in rows:
        print(f"| {name} | " + " | ".join(f"{count:,}" for count in counts) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
