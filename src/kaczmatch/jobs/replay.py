"""A log of any size, replayed in parts of users: Parquet in, one state per user out as Parquet.

First every piece of the log is read once, and its rows are written sorted by part: a user's part is a hash of the user. Then
every part takes its rows from all pieces and folds them with the learner's kernel. Pieces and parts depend on the log alone, and
each leaves one file, so a replay that was killed goes on where it was, on any number of workers, with the same bytes.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import polars as pl

import kaczmatch
from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.core.swipes import SwipeLog, appeal_rows
from kaczmatch.core.vectors import Column, Integers
from kaczmatch.formats.columns import LIKE, SKIP, ColumnNames
from kaczmatch.formats.people_table import PeopleTable, read_people
from kaczmatch.formats.swipe_table import known_decisions, known_times
from kaczmatch.jobs.locations import Location, on_disk, remove_folder, scan
from kaczmatch.jobs.whole_files import write_whole, write_whole_text
from kaczmatch.learners.contract import Learner
from kaczmatch.learners.logs.fold import group_by_user
from kaczmatch.learners.logs.replay import replay
from kaczmatch.learners.prior import Prior
from kaczmatch.runner.contract import Runner
from kaczmatch.runner.local import LocalRunner

ROWS: Final = 1 << 20  # of the log in a piece, and about as many in a part
_PLAN, _SORTED = "replay.json", "sorted"
_BYTES_PER_ROW: Final = 400  # that a part takes at its highest
_BYTES_OF_CODE: Final = 512 << 20  # polars, numba and the compiled kernels, in a process that does its first part

Progress = Callable[[str, int, int], None]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayJob:
    """What to replay, and where to. All workers must reach the files under these names."""

    swipes: Sequence[Location]
    candidates: Location
    out: Location
    learner: Learner
    prior: Prior | None = None
    columns: ColumnNames = ColumnNames()
    ignore: Sequence[str] = ()
    rows: int = ROWS

    def states_file(self, part: int) -> Location:
        return self.out / f"states-{part:05}.parquet"

    def sorted_file(self, piece: Piece) -> Location:
        return self.out / _SORTED / f"{piece.number:05}.parquet"


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """So many rows of a file of the log, from `first` on."""

    number: int
    file: Location
    first: int
    rows: int


@final
@dataclass(frozen=True, slots=True)
class ReplayResult:
    users: int
    swipes: int
    skips: int
    parts: int
    found: int  # parts that an earlier run had finished


def swipe_files(path: Location) -> list[Location]:
    """The file, or the Parquet files of a folder by name."""
    files: list[Location] = sorted(path.glob("**/*.parquet"), key=str) if path.is_dir() else [path]
    if not files:
        raise InvalidInput("swipes", f"there is no Parquet file in {path}")
    for file in files:
        if not file.is_file():
            raise InvalidInput("swipes", f"there is no file {file}")
        if file.suffix != ".parquet":
            raise InvalidInput("swipes", f"{file.name!r} must end in .parquet; kaczmatch evaluate reads other tables")
    return files


def replay_files(
    job: ReplayJob,
    runner: Runner = LocalRunner(),  # noqa: B008
    progress: Progress = lambda _what, _done, _total: None,
) -> ReplayResult:
    """Runs what is not finished yet, and says what the whole gave."""
    pieces = list(_pieces(job))
    parts = max(1, -(-sum(piece.rows for piece in pieces) // job.rows))
    _begin(job, parts)
    missing = [part for part in range(parts) if not job.states_file(part).exists()]
    if missing:
        people = _candidates(job.candidates, job.columns, tuple(job.ignore))  # once for all threads; what is wrong is said first
        memory = _BYTES_OF_CODE + 3 * people.features.nbytes + job.rows * _BYTES_PER_ROW
        todo = [piece for piece in pieces if not job.sorted_file(piece).exists()]
        each = functools.partial(_sort_piece, job, parts)
        _run(runner, each, todo, memory, lambda done: progress("sorting swipes", len(pieces) - len(todo) + done, len(pieces)))
        each = functools.partial(_fold_part, job, [job.sorted_file(piece) for piece in pieces])
        _run(runner, each, missing, memory, lambda done: progress("learning", parts - len(missing) + done, parts))
        remove_folder(job.out / _SORTED)
    states = scan([job.states_file(part) for part in range(parts)])
    users, swipes = states.select(pl.len(), pl.col("swipes").sum()).collect().row(0)
    rows = sum(piece.rows for piece in pieces)
    return ReplayResult(users, swipes, rows - swipes, parts, parts - len(missing))


def _run(runner: Runner, work: Callable[[Any], None], parts: Sequence[Any], memory: int, tell: Callable[[int], None]) -> None:
    def count(done: int, _: None) -> int:
        tell(done + 1)
        return done + 1

    runner.fold(work, parts, count, 0, memory=memory)


def _pieces(job: ReplayJob) -> Iterator[Piece]:
    number = 0
    for file in job.swipes:
        try:
            rows = int(scan([file]).select(pl.len()).collect().item())
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InvalidInput("swipes", f"{file.name} cannot be read as Parquet: {str(error)[:200]}") from None
        for first in range(0, rows, job.rows):
            yield Piece(number, file, first, min(job.rows, rows - first))
            number += 1
    if not number:
        raise InvalidInput("swipes", f"{job.swipes[0].name} has no rows")


def _begin(job: ReplayJob, parts: int) -> None:
    """Keeps what the job is about, or compares it with what an earlier run has kept in the same folder."""
    plan = {
        "swipes": [[str(file), file.stat().st_size, file.stat().st_mtime] for file in job.swipes],
        "candidates": [str(job.candidates), job.candidates.stat().st_size, job.candidates.stat().st_mtime],
        "columns": repr((job.columns, tuple(job.ignore))),
        "learner": repr(job.learner),
        "prior": None if job.prior is None else [job.prior.version, job.prior.fingerprint],
        "parts": parts,
        "versions": {"kaczmatch": kaczmatch.__version__, "polars": pl.__version__, "numpy": np.__version__},
    }
    kept = job.out / _PLAN
    if kept.exists():
        before = json.loads(kept.read_text(encoding="utf-8"))
        other = [name for name in plan if before.get(name) != plan[name]]
        if other:
            raise InvalidInput(
                "out", f"{job.out} has a replay with other {', '.join(other)}; choose another folder, or remove that one"
            )
    (job.out / _SORTED).mkdir(parents=True, exist_ok=True)
    write_whole_text(json.dumps(plan, indent=1), kept)


@functools.lru_cache(1)
def _people(path: Location, columns: ColumnNames, ignore: tuple[str, ...]) -> PeopleTable:
    with on_disk(path) as file:
        people = read_people(file, columns, ignore)
    if people.ids.is_duplicated().any():
        twice = people.ids.filter(people.ids.is_duplicated())[0]
        raise InvalidInput(people.ids.name, f"{twice!r} stands more than once in {path.name}")
    return people


@functools.lru_cache(1)
def _candidates(path: Location, columns: ColumnNames, ignore: tuple[str, ...]) -> SwipeLog:
    """The candidates, without swipes."""
    people = _people(path, columns, ignore)
    return SwipeLog(user=[], candidate=np.empty(0, np.int64), candidates=people.features, label=[], tags=people.terms)


def _sort_piece(job: ReplayJob, parts: int, piece: Piece) -> None:
    """One piece of the log: checked, with numbers for what was written in words, and sorted by part."""
    names, file = job.columns, piece.file

    def where(row: int) -> str:
        return f"row {piece.first + row + 1} of {file.name}"

    log = scan([file])
    known = log.collect_schema().names()
    wanted = {"user": names.user, "candidate": names.candidate, "decision": names.decision}
    usual = {"at": names.at, "seq": names.seq, "session": names.session, "appeal": None}
    wanted |= {field: name or field for field, name in usual.items() if name is not None or field in known}
    for name in wanted.values():
        if name not in known:
            raise InvalidInput(
                name,
                f"this column is missing from {file.name}; {did_you_mean(name, known)}; say what it is: --column field=column",
            )
    rows = log.select(pl.col(name).alias(field) for field, name in wanted.items()).slice(piece.first, piece.rows)
    frame = rows.collect().rechunk()
    for field, name in wanted.items():
        if frame[field].null_count():
            raise InvalidInput(name, f"{where(int(frame[field].is_null().arg_max() or 0))} is empty")
    like, skip = _decided(frame["decision"], where)
    user = frame["user"].cast(pl.Int64 if frame["user"].dtype.is_integer() else pl.String)
    part = (user.hash(0) % parts).cast(pl.UInt32).to_numpy()
    columns = {"part": pl.Series(part), "user": user, "candidate": _places(job, frame["candidate"], where), "like": like}
    if "at" in wanted:
        columns["at"] = pl.Series(known_times(frame["at"], where))
    columns |= {field: frame[field] for field in ("seq", "session", "appeal") if field in wanted}
    order = np.argsort(part.astype(np.uint16) if parts < 2**16 else part, kind="stable")
    kept = pl.DataFrame(columns)[order if skip is None else order[~skip.to_numpy()[order]]]
    # A part reads its own rows of each piece, and little more: statistics say in which groups of rows they are.
    write_whole(kept, job.sorted_file(piece), row_group_size=max(1_024, len(kept) // parts))


def _decided(column: pl.Series, where: Callable[[int], str]) -> tuple[pl.Series, pl.Series | None]:
    """Which swipes are likes, and which are skips where there are any. Only the few words that occur are read as words."""
    words = column.unique()
    try:
        meant = known_decisions(words, str)
    except InvalidInput:
        meant = known_decisions(column, where)  # says the row

    def said(kind: str) -> pl.Series:
        found = pl.repeat(False, len(column), eager=True)
        for word in words.filter(meant == kind):
            found = found | (column == word)
        return found

    return said(LIKE), said(SKIP) if (meant == SKIP).any() else None


def _places(job: ReplayJob, wanted: pl.Series, where: Callable[[int], str]) -> pl.Series:
    """The row of each swipe's candidate."""
    ids = _people(job.candidates, job.columns, tuple(job.ignore)).ids
    if wanted.dtype != ids.dtype:
        kind = pl.Int64 if wanted.dtype.is_integer() and ids.dtype.is_integer() else pl.String
        wanted, ids = wanted.cast(kind), ids.cast(kind)
    found = _places_of_numbers(ids, wanted) if ids.dtype.is_integer() else None
    if found is None:
        known = pl.DataFrame({"id": ids, "place": pl.Series(np.arange(len(ids), dtype=np.int32))})
        joined = pl.DataFrame({"id": wanted}).join(known, on="id", how="left", maintain_order="left")
        found = joined["place"].fill_null(-1).to_numpy()
    if (found < 0).any():
        row = int(np.argmax(found < 0))
        raise InvalidInput(wanted.name, f"{where(row)}: {wanted[row]!r} is not in {job.candidates.name}")
    return pl.Series(found)


def _places_of_numbers(ids: pl.Series, wanted: pl.Series) -> Integers | None:
    """The place of each among the ids, or -1: a table says it, unless the ids are so far apart that it would be too long."""
    known, asked = ids.to_numpy(), wanted.to_numpy()
    low, high = int(known.min()), int(known.max())
    if high - low >= 4 * len(known):
        return None
    table = np.full(high - low + 2, -1, np.int32)
    table[known - low] = np.arange(len(known), dtype=np.int32)
    return np.asarray(table[np.where((asked >= low) & (asked <= high), asked - low, high - low + 1)])


def _fold_part(job: ReplayJob, files: Sequence[Location], part: int) -> None:
    """The states of one part's users, ordered by user."""
    rows = scan(files).filter(pl.col("part") == part).collect()
    order = next((name for name in ("seq", "at") if name in rows.columns), None)
    if order is not None and not rows[order].is_sorted():
        rows = rows.sort(order, maintain_order=True)
    numbers = _numbered(rows["user"])
    _, ordered, begin = group_by_user(numbers)
    users = pl.DataFrame({"user": rows["user"].gather(ordered[begin[:-1]]), "swipes": np.diff(begin)})
    log = _candidates(job.candidates, job.columns, tuple(job.ignore)).with_swipes(
        user=numbers,
        candidate=rows["candidate"].to_numpy(),
        label=rows["like"].to_numpy(),
        session=_numbered(rows["session"]) if "session" in rows.columns else None,
        at=rows["at"].to_numpy().astype("datetime64[us]") if "at" in rows.columns else None,
        others=appeal_rows(rows["appeal"].to_numpy()) if "appeal" in rows.columns else None,
    )
    states = replay(job.learner, log, prior=job.prior, runner=LocalRunner(1))  # in the order of their users' numbers
    cells = pl.Series("state", list(states.to_bytes()), dtype=pl.Binary)
    write_whole(users.with_columns(cells), job.states_file(part))


def _numbered(column: pl.Series) -> Column:
    """Numbers that are ordered as the values are."""
    return column.to_numpy() if column.dtype.is_integer() else column.rank("dense").to_numpy()
