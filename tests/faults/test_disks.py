"""A disk that is full or fails is an outage: it is said, nothing is kept by half, and it passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kaczmatch.storage import SqlStore
from processes import finished, kept, strace, verify


@pytest.mark.parametrize(
    ("call", "error"),
    [("pwrite64", "ENOSPC"), ("pwrite64", "EIO"), ("pwrite64", "EROFS"), ("fdatasync,fsync", "EIO")],
    ids=["full", "cannot write", "only readable", "cannot sync"],
)
def test_a_failing_disk_is_an_outage_that_passes(call: str, error: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    SqlStore(url).close()
    tracing = [strace(), "-f", "-qq", "-o", str(tmp_path / "trace"), "-e", f"trace={call}"]
    lines = finished(url, "0", "300", before=[*tracing, "-e", f"inject={call}:error={error}:when=25..35"])
    assert "(INJECTED)" in (tmp_path / "trace").read_text()
    acknowledged = kept(lines)
    assert any(line.startswith("unavailable") for line in lines), lines
    assert max(acknowledged) > 250, "it did not recover"
    verify(url, acknowledged)
