"""Bulk import: the whole file is checked first, then written with many rows on their way at once.

How far it has got is kept under the digest of the file until it is done: an import that was interrupted goes on where it stopped.
One that is repeated writes what is not, or no longer, there.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.rows import Row, read_rows
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import ImportProgress
from kaczmatch.service.domain.refusals import Refusal
from kaczmatch.service.domain.store import Reader, StoreUnavailable

T = TypeVar("T")
Told = Callable[[str, int, int], None]  # a stage, rows done, rows in all (0: not known yet)

MOST_PROBLEMS: Final = 100
_AT_ONCE = 500
_IN_FLIGHT = 1_024
_SAVED_EVERY = 5_000
_PATIENCE = 30.0  # seconds, while the store is too busy


def _silent(stage: str, done: int, total: int) -> None:
    del stage, done, total


@final
@dataclass(frozen=True, slots=True)
class RowProblem:
    """What is wrong with one row."""

    row: int
    field: str
    problem: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """What came of it. Where there are `bad` rows and they were not to be left out, nothing was written."""

    rows: int = 0
    written: int = 0
    unchanged: int = 0  # they were there already
    bad: int = 0
    problems: tuple[RowProblem, ...] = ()  # the first ones
    unread: tuple[str, ...] = ()  # columns that mean nothing
    resumed: int = 0  # rows that an earlier try had done
    complete: bool = False  # every good row is in the store


@final
@dataclass(frozen=True, slots=True)
class ImportRequest:
    """How a file is to be imported. `columns` says what our fields are called in it."""

    path: Path
    kind: str  # csv, jsonl, parquet
    columns: Mapping[str, str] = field(default_factory=dict)
    dry_run: bool = False
    skip_bad: bool = False


class ImportKind(Protocol[T]):
    """What rows become."""

    name: str
    fields: Sequence[str]

    def begin(self, reader: Reader) -> None:
        """Before a pass over the file."""

    def means(self, column: str) -> bool:
        """Whether a column beyond the fields is read, too."""

    def parsed(self, row: int, values: Mapping[str, Any]) -> T:
        """One row on its own; raises InvalidInput."""

    def checked(self, reader: Reader, items: Sequence[T]) -> list[InvalidInput | bool]:
        """Rows against the store: what is wrong, or whether there is anything to write."""

    def write(self, item: T) -> Future[bool]:
        """Write it; whether that changed anything."""


@final
@dataclass(slots=True)
class _Tally:
    rows: int = 0
    written: int = 0
    unchanged: int = 0
    bad: int = 0
    problems: list[RowProblem] = field(default_factory=list)
    wrong_rows: set[int] = field(default_factory=set)
    columns: set[str] = field(default_factory=set)

    def wrong(self, row: int, name: str, problem: str) -> None:
        self.bad += 1
        self.wrong_rows.add(row)
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(RowProblem(row, name, problem))

    def first(self) -> tuple[RowProblem, ...]:
        return tuple(sorted(self.problems, key=lambda one: one.row))


@final
@dataclass(frozen=True, slots=True)
class Importing(Generic[T]):
    """One kind of import."""

    context: Context
    target: ImportKind[T]

    def run(self, asked: ImportRequest, told: Told = _silent) -> ImportResult:
        unknown = sorted(set(asked.columns) - set(self.target.fields))
        if unknown:
            raise InvalidInput("columns", f"there is no field {unknown[0]!r}; known: {', '.join(self.target.fields)}")
        found = _Tally()
        for batch in self._batches(asked, found, told):
            del batch  # only what is wrong matters in this pass
        unread = tuple(sorted(one for one in found.columns if not self._read(asked, one)))
        result = ImportResult(rows=found.rows, bad=found.bad, problems=found.first(), unread=unread)
        if asked.dry_run or (found.bad and not asked.skip_bad):
            return result
        digest = self._digest(asked)
        done, wrote = self._progress(digest), _Tally()
        self._write(asked, wrote, digest, told, done, found)
        self.context.store.write(lambda tx: tx.drop(ImportProgress, digest)).result()
        return replace(
            result,
            written=wrote.written,
            unchanged=wrote.unchanged,
            bad=found.bad + wrote.bad,
            problems=(*found.first(), *wrote.first())[:MOST_PROBLEMS],
            resumed=done,
            complete=True,
        )

    def _write(self, asked: ImportRequest, tally: _Tally, name: str, told: Told, start: int, found: _Tally) -> None:
        """Rows in order; the oldest is waited for before a new one starts, so a saved row number stands for all before it."""
        flying: deque[tuple[int, Future[bool]]] = deque()
        saved = start

        def land(most: int) -> None:
            nonlocal saved
            while len(flying) > most:
                row, future = flying.popleft()
                try:
                    changed = future.result()
                    tally.written, tally.unchanged = tally.written + changed, tally.unchanged + (not changed)
                except (InvalidInput, Refusal) as error:
                    tally.wrong(row, getattr(error, "field", "row"), error.problem)
                if row - saved >= _SAVED_EVERY:
                    saved = row
                    self._save(name, row)

        try:
            for batch in self._batches(asked, tally, told, start, found):
                for row, item in batch:
                    land(_IN_FLIGHT - 1)
                    flying.append((row, self._submit(item, land)))
        finally:
            land(0)

    def _submit(self, item: T, land: Callable[[int], None]) -> Future[bool]:
        """Give it to the store, which may have its hands full for a while."""
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return self.target.write(item)
            except StoreUnavailable:
                if time.monotonic() > until:
                    raise
                land(0)
                time.sleep(0.05)

    def _batches(
        self, asked: ImportRequest, tally: _Tally, told: Told, start: int = 0, found: _Tally | None = None
    ) -> Iterator[list[tuple[int, T]]]:
        """Rows beyond `start` that can be written and are not there yet; what is wrong with others goes into the tally.

        `found` is the tally of the first pass: rows that were wrong then are not looked at again.
        """
        bad, total = (found.wrong_rows, found.rows) if found is not None else (set[int](), 0)
        with self.context.store.read() as reader:
            self.target.begin(reader)
        rows = iter(read_rows(asked.path, asked.kind))
        while page := list(islice(rows, _AT_ONCE)):
            here = [row for row in page if row.number > start and row.number not in bad]
            parsed = [one for row in here if (one := self._parsed(asked, row, tally)) is not None]
            good: list[tuple[int, T]] = []
            if parsed:
                with self.context.store.read() as reader:
                    verdicts = self.target.checked(reader, [item for _, item in parsed])
                for (row, item), verdict in zip(parsed, verdicts, strict=True):
                    if isinstance(verdict, InvalidInput):
                        tally.wrong(row, verdict.field, verdict.problem)
                    elif verdict:
                        good.append((row, item))
                    else:
                        tally.unchanged += 1
            tally.rows = page[-1].number
            yield good
            told("importing" if total else "checking", page[-1].number, total)

    def _parsed(self, asked: ImportRequest, row: Row, tally: _Tally) -> tuple[int, T] | None:
        if row.problem:
            tally.wrong(row.number, "row", row.problem)
            return None
        tally.columns.update(row.values)
        try:
            return row.number, self.target.parsed(row.number, self._renamed(asked, row.values))
        except InvalidInput as error:
            tally.wrong(row.number, error.field, error.problem)
            return None

    def _renamed(self, asked: ImportRequest, values: Mapping[str, Any]) -> dict[str, Any]:
        if not asked.columns:
            return dict(values)
        back = {column: ours for ours, column in asked.columns.items()}
        missing = next((column for column in back if column not in values), None)
        if missing is not None:
            raise InvalidInput(back[missing], f"there is no column {missing!r}")
        # A column of ours by name that another one stands for is not meant.
        return {
            back.get(column, column): value for column, value in values.items() if column in back or column not in asked.columns
        }

    def _read(self, asked: ImportRequest, column: str) -> bool:
        ours = column in self.target.fields and column not in asked.columns
        return ours or column in asked.columns.values() or self.target.means(column)

    def _digest(self, asked: ImportRequest) -> str:
        options = json.dumps([self.target.name, asked.kind, sorted(asked.columns.items())])
        with asked.path.open("rb") as file:
            return hashlib.sha256(options.encode() + hashlib.file_digest(file, "sha256").digest()).hexdigest()

    def _progress(self, digest: str) -> int:
        with self.context.store.read() as reader:
            progress = reader.get(ImportProgress, digest)
        return 0 if progress is None else progress.rows

    def _save(self, digest: str, rows: int) -> None:
        self.context.store.write(lambda tx: tx.put(ImportProgress(digest=digest, rows=rows)))


def shown(result: ImportResult) -> dict[str, Any]:
    """As plain values, for JSON."""
    return asdict(result) | {"problems": [asdict(one) for one in result.problems]}
