"""Bulk import: the whole file is checked first, then what is new is written, with many rows on their way at once.

Rows are read once: those that are to be written wait in a temporary file.

How far it has got is kept under the digest of the file until it is done: an import that was interrupted goes on where it stopped.
One that is repeated writes what is not, or no longer, there.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, Generic, TypeVar, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.rows import MOST_COLUMNS, Row, TableFile, open_table
from kaczmatch.schemas.transfer import ImportResult, NewTags, RowProblem, SuggestedOptions
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import ImportProgress
from kaczmatch.service.domain.refusals import Refusal
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.service.domain.store_parts import StoreParts
from kaczmatch.service.transfer.cell_rules import CellRules
from kaczmatch.service.transfer.import_request import ImportKind, ImportRequest
from kaczmatch.service.transfer.row_reading import RowReading, Verdict
from kaczmatch.service.transfer.rows import BadRow
from kaczmatch.service.transfer.suggestions import nearest_column, suggested_columns, suggested_date_format, suggested_maps
from kaczmatch.service.transfer.waiting_rows import WaitingRows

P = TypeVar("P")
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
@dataclass(slots=True)
class _Tally:
    rows: int = 0
    written: int = 0
    unchanged: int = 0
    resumed: int = 0
    problems: list[RowProblem] = field(default_factory=list)
    wrong_rows: set[int] = field(default_factory=set)
    columns: dict[str, None] = field(default_factory=dict)

    @property
    def bad(self) -> int:
        return len(self.wrong_rows)

    def wrong(self, row: int, problems: Sequence[InvalidInput]) -> None:
        self.wrong_rows.add(row)
        if len(self.problems) < MOST_PROBLEMS:
            self.problems += [RowProblem(row=row, field=one.field, problem=one.problem) for one in problems]

    def first(self) -> tuple[RowProblem, ...]:
        return tuple(sorted(self.problems, key=lambda one: one.row))[:MOST_PROBLEMS]


@final
@dataclass(frozen=True, slots=True)
class FileImport(Generic[P, T]):
    """One kind of import. Its rows are read and checked in `parts`, and written here."""

    context: Context
    target: ImportKind[P, T]
    parts: StoreParts = field(default_factory=StoreParts)

    def run(self, request: ImportRequest, on_progress: ProgressListener = _no_progress) -> ImportResult:
        self._check_names(request)
        table = open_table(request.path, request.kind, request.encoding, request.delimiter)
        missing = self._missing(request, table.columns)
        if missing and (table.columns or request.kind != "jsonl"):  # lines that are no objects are problems of their own
            problem = RowProblem(row=1, field="columns", problem=self._missing_words(request, missing, table.columns))
            suggestion = self._suggestion(request, table.columns)
            return ImportResult(problems=(problem,), read_as=table.words, suggestion=suggestion)
        digest = self._digest(request)
        start = self._progress(digest)
        with WaitingRows[T]() as waiting:
            checking = self._checked(request, on_progress, start, None if request.dry_run else waiting)
            return self._written(request, on_progress, table, digest, checking, waiting)

    def _written(
        self,
        request: ImportRequest,
        on_progress: ProgressListener,
        table: TableFile,
        digest: str,
        checking: _Tally,
        waiting: WaitingRows[T],
    ) -> ImportResult:
        unread = tuple(sorted(one for one in checking.columns if not self._read(request, one)))
        result = ImportResult(rows=checking.rows, unread=unread, read_as=table.words, new_tags=tuple(self.target.new_tags))
        if request.dry_run or (checking.bad and not request.skip_bad):
            suggestion = self._suggestion(request, table.columns) if checking.bad else None
            told = {"bad": checking.bad, "problems": checking.first(), "suggestion": suggestion}
            return result.model_copy(update=told)
        writing = _Tally()
        self.target.before_writing()
        self._write(waiting, writing, digest, lambda done: on_progress("importing", done, checking.rows))
        self.context.store.write(lambda tx: tx.drop(ImportProgress, digest)).result()
        told = {
            "written": writing.written,
            "unchanged": checking.unchanged + writing.unchanged,
            "bad": checking.bad + writing.bad,
            "problems": (*checking.first(), *writing.first())[:MOST_PROBLEMS],
            "resumed": checking.resumed,
            "complete": True,
        }
        return result.model_copy(update=told)

    def _check_names(self, request: ImportRequest) -> None:
        for option, names in (("columns", request.columns), ("map", request.maps)):
            unknown = sorted(set(names) - set(self.target.fields))
            if unknown:
                raise InvalidInput(option, f"there is no field {unknown[0]!r}; known: {', '.join(self.target.fields)}")

    def _checked(
        self,
        request: ImportRequest,
        on_progress: ProgressListener = _no_progress,
        start: int = 0,
        waiting: WaitingRows[T] | None = None,
    ) -> _Tally:
        """A pass over the file in which nothing is written. What is to be written begins to wait."""
        tally = _Tally()
        for batch in self._batches(request, tally, start):
            if waiting is not None and batch:
                waiting.add(tally.rows, batch)
            on_progress("checking", tally.rows, 0)
        return tally

    def _missing(self, request: ImportRequest, columns: Sequence[str]) -> list[str]:
        """Fields that must be there, or that were said to be there, and have no column."""
        wanted = [name for name in self.target.fields if name in self.target.required or name in request.columns]
        return [name for name in wanted if request.columns.get(name, name) not in columns]

    def _missing_words(self, request: ImportRequest, missing: Sequence[str], columns: Sequence[str]) -> str:
        used = {request.columns.get(name, name) for name in self.target.fields if name not in missing}
        free = [column for column in columns if column not in used]
        near = [f"{name}={column}" for name in missing if (column := nearest_column(name, free)) is not None]
        named = [f"{name} (said to be {request.columns[name]!r})" if name in request.columns else name for name in missing]
        words = f"there is no column for {', '.join(named)}; the file has {', '.join(columns) or 'no columns'}"
        return f"{words}; nearest: {', '.join(near)}" if near else words

    def _suggestion(self, request: ImportRequest, columns: Sequence[str]) -> SuggestedOptions | None:
        """Options that would help. They are tried on the whole file, without writing."""
        target, given = self.target, {name: column for name, column in request.columns.items() if column in columns}
        better = replace(request, columns=suggested_columns(target.fields, target.required, columns, given), skip_bad=True)
        if self._missing(better, columns):
            return None
        if better.columns != request.columns:
            self._checked(better)
        unread = target.unread
        date_format = request.date_format or suggested_date_format(unread, times="at" in target.required)
        maps = {name: dict(words) for name, words in request.maps.items()}
        for name, words in suggested_maps(unread, target.values()).items():
            maps[name] = maps.get(name, {}) | words
        new_tags: NewTags = "add" if unread.tags and request.new_tags == "refuse" else request.new_tags
        better = replace(better, date_format=date_format, maps=maps, new_tags=new_tags)
        tally = self._checked(better)
        if better == replace(request, skip_bad=True) or tally.bad == tally.rows:
            return None
        return SuggestedOptions(
            columns=dict(better.columns),
            maps=maps,
            date_format=date_format,
            new_tags=new_tags,
            skip_bad=tally.bad > 0,
            written=tally.rows - tally.bad,
            left_out=tally.bad,
        )

    def _write(self, rows: WaitingRows[T], tally: _Tally, name: str, on_progress: Callable[[int], None]) -> None:
        """Write rows in order. Waits for the oldest before it starts a new one, so all before a saved number are written."""
        under_way: deque[tuple[int, Future[Any]]] = deque()
        saved = 0

        def finish(most: int) -> None:
            nonlocal saved
            while len(under_way) > most:
                row, future = under_way.popleft()
                try:
                    changed = self.target.is_new(future.result())
                    tally.written, tally.unchanged = tally.written + changed, tally.unchanged + (not changed)
                except (InvalidInput, Refusal) as error:
                    tally.wrong(row, [InvalidInput(getattr(error, "field", "row"), error.problem)])
                if row - saved >= _SAVED_EVERY:
                    saved = row
                    self._save(name, row)

        try:
            for done, batch in rows:
                for row, item in batch:
                    finish(_IN_FLIGHT - 1)
                    under_way.append((row, self._submit(item, finish)))
                on_progress(done)
        finally:
            finish(0)

    def _submit(self, item: T, finish: Callable[[int], None]) -> Future[Any]:
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

    def _batches(self, request: ImportRequest, tally: _Tally, start: int) -> Iterator[list[tuple[int, T]]]:
        """Rows beyond `start` that can be written and are not there yet; what is wrong with any goes into the tally."""
        with self.context.store.read() as reader:
            self.target.begin(reader, CellRules(request.date_format, request.maps), request.new_tags)
        # New tags get one spelling for all rows, and so all rows must be read in one place.
        parts = self.parts if request.new_tags != "add" else StoreParts()
        here = self.target if parts.elsewhere is None else None
        rows = open_table(request.path, request.kind, request.encoding, request.delimiter).rows
        pages = deque[list[Row]]()  # that are being read
        reading = RowReading(request, type(self.target), here)
        for read, unread in parts.results(self.context, reading, _kept(rows, pages)):
            if here is None:
                self.target.unread.add(unread)
            yield self._accepted(pages.popleft(), read, tally, start)

    def _accepted(
        self, page: Sequence[Row], read: Sequence[tuple[T | None, Verdict]], tally: _Tally, start: int
    ) -> list[tuple[int, T]]:
        good: list[tuple[int, T]] = []
        tally.rows += len(page)
        tally.resumed += sum(row.number <= start for row in page)
        for row, (one, verdict) in zip(page, read, strict=True):
            if not row.problem and len(tally.columns) < MOST_COLUMNS:  # lines of JSON may each have others
                tally.columns |= dict.fromkeys(row.values)
            item: T | None = None
            try:
                item = None if one is None else self.target.accept(row.number, row.values, one)
            except BadRow as bad:
                verdict = bad.problems
            if isinstance(verdict, list):
                tally.wrong(row.number, verdict)
            elif row.number > start:
                if item is not None and verdict:
                    good.append((row.number, item))
                else:
                    tally.unchanged += 1
        return good

    def _read(self, request: ImportRequest, column: str) -> bool:
        ours = column in self.target.fields and column not in request.columns
        return ours or column in request.columns.values() or self.target.is_read(column)

    def _digest(self, request: ImportRequest) -> str:
        said = [request.columns, request.maps, request.date_format, request.new_tags, request.encoding, request.delimiter]
        options = json.dumps([self.target.name, request.kind, *said], sort_keys=True)
        with request.path.open("rb") as file:
            return hashlib.sha256(options.encode() + hashlib.file_digest(file, "sha256").digest()).hexdigest()

    def _progress(self, digest: str) -> int:
        with self.context.store.read() as reader:
            progress = reader.get(ImportProgress, digest)
        return 0 if progress is None else progress.rows

    def _save(self, digest: str, rows: int) -> None:
        self.context.store.write(lambda tx: tx.put(ImportProgress(digest=digest, rows=rows)))


def _kept(rows: Iterator[Row], pages: deque[list[Row]]) -> Iterator[list[Row]]:
    while page := list(islice(rows, _AT_ONCE)):
        pages.append(page)
        yield page
