"""What was acknowledged survives a power cut: at a hundred and more moments of a recorded run, no row is lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from kaczmatch.service.domain.records import Event, PersonCounters
from kaczmatch.storage import SqlStore
from power import CALLS, Disk, File, recorded
from processes import finished, strace

CUTS = 120


def lost_in_cuts(tmp_path: Path, synchronous: str = "", number: int = CUTS, seed: int = 6) -> tuple[int, int]:
    """How many acknowledged rows were lost in all cuts, and how many there were to lose; the store syncs as it does, or less."""
    database, trace = tmp_path / "store.db", tmp_path / "trace"
    SqlStore(f"sqlite:///{database}").close()
    before = database.read_bytes()
    tracing = [strace(), "-f", "-qq", "-y", "-xx", "-s", "70000", "-o", str(trace), "-e", CALLS]
    other = [f"synchronous={synchronous}"] if synchronous else []
    finished(f"sqlite:///{database}", "0", "500", *other, "wal_autocheckpoint=100", before=tracing)
    steps = list(recorded(trace))
    calls = [step.call for step in steps if step.file == str(database)]
    assert calls.count("pwrite64") > 50, "the log was never moved into the database"
    rng = Random(seed)  # noqa: S311
    cuts = set(rng.sample(range(len(steps)), number))
    disk = Disk({str(database): File(bytearray(before))})
    lost = at_stake = 0
    for moment, step in enumerate(steps):
        disk.take(step)
        if moment in cuts:
            folder = tmp_path / f"cut {moment}"
            folder.mkdir()
            disk.write_after_a_cut(folder, rng)
            there = surviving(folder / "store.db", sound=synchronous != "OFF")
            lost += len(disk.acknowledged - there)
            at_stake += len(disk.acknowledged)
    assert surviving(database, sound=True) >= disk.acknowledged, "rows are lost without any cut"
    return lost, at_stake


def surviving(database: Path, sound: bool) -> set[int]:
    connection = sqlite3.connect(database)
    try:
        if sound:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = connection.execute(f"SELECT id FROM {Event.table} ORDER BY number").fetchall()  # noqa: S608
        counted = connection.execute(f"SELECT swipes FROM {PersonCounters.table}").fetchall()  # noqa: S608
        assert not sound or (counted or [(0,)]) == [(len(rows),)], "a work is kept by half"
        return {int(row[0]) for row in rows}
    except (sqlite3.DatabaseError, TypeError, ValueError):
        if sound:
            raise
        return set()
    finally:
        connection.close()


def test_no_acknowledged_row_is_lost_in_a_power_cut(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    lost, at_stake = lost_in_cuts(tmp_path)
    record_property("found", f"{CUTS} power cuts, {at_stake:,} acknowledged rows at stake, {lost} lost")
    assert at_stake > 10_000
    assert lost == 0


@pytest.mark.parametrize("synchronous", ["NORMAL", "OFF"])
def test_with_less_syncing_the_same_cuts_do_lose_rows(
    tmp_path: Path, synchronous: str, record_property: Callable[[str, object], None]
) -> None:
    lost, at_stake = lost_in_cuts(tmp_path, synchronous)
    record_property("found", f"{CUTS} power cuts, {at_stake:,} acknowledged rows at stake, {lost:,} lost")
    assert lost > 0
