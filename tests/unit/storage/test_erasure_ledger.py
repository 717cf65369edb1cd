"""The ledger of erasures: complete whatever a crash leaves, and readable by nobody."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.storage.erasure_ledger import ErasureLedger

NOW = datetime(2026, 1, 2, tzinfo=UTC)
DAY = timedelta(days=1)


def test_it_knows_who_was_erased_after_they_came(tmp_path: Path) -> None:
    ledger = ErasureLedger(tmp_path / "erasures", b"secret")
    assert not ledger.last_erasures().erased_since("ann", NOW)
    ledger.record("ann", NOW)
    ledger.record("bob", NOW - DAY)
    ledger.record("ann", NOW - DAY)
    found = ledger.last_erasures()
    assert found.erased_since("ann", NOW)
    assert not found.erased_since("ann", NOW + DAY)
    assert not found.erased_since("bob", NOW)
    assert not ErasureLedger(ledger.file, b"another").last_erasures().erased_since("ann", NOW)
    assert b"ann" not in ledger.file.read_bytes()
    assert ledger.file.stat().st_mode & 0o777 == 0o600


def test_a_line_that_a_crash_cut_off_harms_no_other(tmp_path: Path) -> None:
    ledger = ErasureLedger(tmp_path / "erasures", b"secret")
    ledger.record("ann", NOW)
    whole = ledger.file.read_bytes()
    for length in range(len(whole)):
        ledger.file.write_bytes(whole + whole[:length])
        ledger.record("bob", NOW)
        found = ledger.last_erasures()
        assert found.erased_since("ann", NOW)
        assert found.erased_since("bob", NOW)


def test_where_it_cannot_be_written_nobody_is_told_that_somebody_is_erased(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be written: No such file"):
        ErasureLedger(tmp_path / "no folder" / "erasures", b"secret").record("ann", NOW)
