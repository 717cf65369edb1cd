"""On a full disk nothing that was not kept is served; 50 runs of it are part of `make endure`."""

from __future__ import annotations

from pathlib import Path
from random import Random

from filling import full_disk


def test_memory_equals_the_store_after_changes_on_a_full_disk(tmp_path: Path) -> None:
    assert full_disk(tmp_path, Random(5), 0).unknown == 0  # noqa: S311
