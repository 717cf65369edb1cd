"""The code of an earlier commit, to run beside ours."""

from __future__ import annotations

import filecmp
import shutil
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def code_of(commit: str, folder: Path) -> Path:
    """Its `src`, in a folder. Files that are ours come with what was compiled of them, which takes a minute otherwise."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("the code of an earlier commit needs git and its history")
    made = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=False)  # noqa: S603, S607
    if made.returncode:
        pytest.skip(f"commit {commit} is not here: {made.stderr.decode().strip()}")
    with tarfile.open(fileobj=BytesIO(made.stdout)) as archive:
        archive.extractall(folder, filter="data")
    for path in (folder / "src").rglob("*.py"):
        ours = ROOT / path.relative_to(folder)
        if ours.exists() and filecmp.cmp(path, ours, shallow=False):
            shutil.copy2(ours, path)
            compiled = path.parent / "__pycache__"
            for kernel in (ours.parent / "__pycache__").glob(f"{ours.stem}.*.nb[ci]"):
                compiled.mkdir(exist_ok=True)
                shutil.copy2(kernel, compiled / kernel.name)
    return folder / "src"
