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
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.rows import Row, read_rows
from kaczmatch.schemas.transfer import ImportResult, RowProblem
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import ImportProgress
from kaczmatch.service.domain.refusals import Refusal
from kaczmatch.service.domain.store import Reader, StoreUnavailable

T = TypeVar("T")
ProgressListener = Callable[[str, int, int], None]  # a stage, rows done, rows in all (0: not known yet)

MOST_PROBLEMS: Final = 100
_AT_ONCE = 500
_IN_FLIGHT = 1_024
_SAVED_EVERY = 5_000
_PATIENCE = 30.0  # seconds, while the store is too busy


def _no_progress(stage: str, done: int, total: int) -> None:
    del stage, done, total


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

    def is_read(self, column: str) -> bool:
        """Whether a column beyond the fields is read, too."""

    def parse(self, row: int, values: Mapping[str, Any]) -> T:
        """One row on its own; raises InvalidInput."""

    def check(self, reader: Reader, items: Sequence[T]) -> list[InvalidInput | bool]:
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
            self.problems.append(RowProblem(row=row, field=name, problem=problem))

    def first(self) -> tuple[RowProblem, ...]:
        return tuple(sorted(self.problems, key=lambda one: one.row))


@final
@dataclass(frozen=True, slots=True)
class FileImport(Generic[T]):
    """One kind of import."""

    context: Context
    target: ImportKind[T]

    def run(self, request: ImportRequest, on_progress: ProgressListener = _no_progress) -> ImportResult:
        unknown = sorted(set(request.columns) - set(self.target.fields))
        if unknown:
            raise InvalidInput("columns", f"there is no field {unknown[0]!r}; known: {', '.join(self.target.fields)}")
        checking = _Tally()
        for batch in self._batches(request, checking, on_progress):
            del batch  # only what is wrong matters in this pass
        unread = tuple(sorted(one for one in checking.columns if not self._read(request, one)))
        if request.dry_run or (checking.bad and not request.skip_bad):
            return ImportResult(rows=checking.rows, bad=checking.bad, problems=checking.first(), unread=unread)
        digest = self._digest(request)
        done, writing = self._progress(digest), _Tally()
        self._write(request, writing, digest, on_progress, done, checking)
        self.context.store.write(lambda tx: tx.drop(ImportProgress, digest)).result()
        return ImportResult(
            rows=checking.rows,
            written=writing.written,
            unchanged=writing.unchanged,
            bad=checking.bad + writing.bad,
            problems=(*checking.first(), *writing.first())[:MOST_PROBLEMS],
            unread=unread,
            resumed=done,
            complete=True,
        )

    def _write(
        self, request: ImportRequest, tally: _Tally, name: str, on_progress: ProgressListener, start: int, checking: _Tally
    ) -> None:
        """Write rows in order. Waits for the oldest before it starts a new one, so all before a saved number are written."""
        waiting: deque[tuple[int, Future[bool]]] = deque()
        saved = start

        def finish(most: int) -> None:
            nonlocal saved
            while len(waiting) > most:
                row, future = waiting.popleft()
                try:
                    changed = future.result()
                    tally.written, tally.unchanged = tally.written + changed, tally.unchanged + (not changed)
                except (InvalidInput, Refusal) as error:
                    tally.wrong(row, getattr(error, "field", "row"), error.problem)
                if row - saved >= _SAVED_EVERY:
                    saved = row
                    self._save(name, row)

        try:
            for batch in self._batches(request, tally, on_progress, start, checking):
                for row, item in batch:
                    finish(_IN_FLIGHT - 1)
                    waiting.append((row, self._submit(item, finish)))
        finally:
            finish(0)

    def _submit(self, item: T, finish: Callable[[int], None]) -> Future[bool]:
        """Hand a row to the store. If the store is too busy, wait and try again."""
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return self.target.write(item)
            except StoreUnavailable:
                if time.monotonic() > until:
                    raise
                finish(0)
                time.sleep(0.05)

    def _batches(
        self, request: ImportRequest, tally: _Tally, on_progress: ProgressListener, start: int = 0, checking: _Tally | None = None
    ) -> Iterator[list[tuple[int, T]]]:
        """Rows beyond `start` that can be written and are not there yet; what is wrong with others goes into the tally.

        `checking` is the tally of the first pass: rows that were wrong then are not looked at again.
        """
        bad, total = (checking.wrong_rows, checking.rows) if checking is not None else (set[int](), 0)
        with self.context.store.read() as reader:
            self.target.begin(reader)
        rows = iter(read_rows(request.path, request.kind))
        while page := list(islice(rows, _AT_ONCE)):
            here = [row for row in page if row.number > start and row.number not in bad]
            parsed = [one for row in here if (one := self._parsed(request, row, tally)) is not None]
            good: list[tuple[int, T]] = []
            if parsed:
                with self.context.store.read() as reader:
                    verdicts = self.target.check(reader, [item for _, item in parsed])
                for (row, item), verdict in zip(parsed, verdicts, strict=True):
                    if isinstance(verdict, InvalidInput):
                        tally.wrong(row, verdict.field, verdict.problem)
                    elif verdict:
                        good.append((row, item))
                    else:
                        tally.unchanged += 1
            tally.rows = page[-1].number
            yield good
            on_progress("importing" if total else "checking", page[-1].number, total)

    def _parsed(self, request: ImportRequest, row: Row, tally: _Tally) -> tuple[int, T] | None:
        if row.problem:
            tally.wrong(row.number, "row", row.problem)
            return None
        tally.columns.update(row.values)
        try:
            return row.number, self.target.parse(row.number, self._renamed(request, row.values))
        except InvalidInput as error:
            tally.wrong(row.number, error.field, error.problem)
            return None

    def _renamed(self, request: ImportRequest, values: Mapping[str, Any]) -> dict[str, Any]:
        if not request.columns:
            return dict(values)
        back = {column: ours for ours, column in request.columns.items()}
        missing = next((column for column in back if column not in values), None)
        if missing is not None:
            raise InvalidInput(back[missing], f"there is no column {missing!r}")
        # If another column is mapped to one of our fields, a column with that field's own name is not read.
        return {
            back.get(column, column): value for column, value in values.items() if column in back or column not in request.columns
        }

    def _read(self, request: ImportRequest, column: str) -> bool:
        ours = column in self.target.fields and column not in request.columns
        return ours or column in request.columns.values() or self.target.is_read(column)

    def _digest(self, request: ImportRequest) -> str:
        options = json.dumps([self.target.name, request.kind, sorted(request.columns.items())])
        with request.path.open("rb") as file:
            return hashlib.sha256(options.encode() + hashlib.file_digest(file, "sha256").digest()).hexdigest()

    def _progress(self, digest: str) -> int:
        with self.context.store.read() as reader:
            progress = reader.get(ImportProgress, digest)
        return 0 if progress is None else progress.rows

    def _save(self, digest: str, rows: int) -> None:
        self.context.store.write(lambda tx: tx.put(ImportProgress(digest=digest, rows=rows)))
