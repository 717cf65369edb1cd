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
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, Generic, TypeVar, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.rows import Row, open_table
from kaczmatch.schemas.transfer import ImportResult, NewTags, RowProblem, SuggestedOptions
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import ImportProgress
from kaczmatch.service.domain.refusals import Refusal
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.service.transfer.cell_rules import CellRules
from kaczmatch.service.transfer.import_request import ImportKind, ImportRequest
from kaczmatch.service.transfer.rows import BadRow
from kaczmatch.service.transfer.suggestions import nearest_column, suggested_columns, suggested_date_format, suggested_maps

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
class FileImport(Generic[T]):
    """One kind of import."""

    context: Context
    target: ImportKind[T]

    def run(self, request: ImportRequest, on_progress: ProgressListener = _no_progress) -> ImportResult:
        self._check_names(request)
        table = open_table(request.path, request.kind, request.encoding, request.delimiter)
        missing = self._missing(request, table.columns)
        if missing and (table.columns or request.kind != "jsonl"):  # lines that are no objects are problems of their own
            problem = RowProblem(row=1, field="columns", problem=self._missing_words(request, missing, table.columns))
            suggestion = self._suggestion(request, table.columns)
            return ImportResult(problems=(problem,), read_as=table.words, suggestion=suggestion)
        checking = self._checked(request, on_progress)
        unread = tuple(sorted(one for one in checking.columns if not self._read(request, one)))
        result = ImportResult(rows=checking.rows, unread=unread, read_as=table.words, new_tags=tuple(self.target.new_tags))
        if request.dry_run or (checking.bad and not request.skip_bad):
            suggestion = self._suggestion(request, table.columns) if checking.bad else None
            told = {"bad": checking.bad, "problems": checking.first(), "suggestion": suggestion}
            return result.model_copy(update=told)
        digest = self._digest(request)
        done, writing = self._progress(digest), _Tally()
        self.target.before_writing()
        self._write(request, writing, digest, on_progress, done, checking)
        self.context.store.write(lambda tx: tx.drop(ImportProgress, digest)).result()
        told = {
            "written": writing.written,
            "unchanged": writing.unchanged,
            "bad": checking.bad + writing.bad,
            "problems": (*checking.first(), *writing.first())[:MOST_PROBLEMS],
            "resumed": writing.resumed,
            "complete": True,
        }
        return result.model_copy(update=told)

    def _check_names(self, request: ImportRequest) -> None:
        for option, names in (("columns", request.columns), ("map", request.maps)):
            unknown = sorted(set(names) - set(self.target.fields))
            if unknown:
                raise InvalidInput(option, f"there is no field {unknown[0]!r}; known: {', '.join(self.target.fields)}")

    def _checked(self, request: ImportRequest, on_progress: ProgressListener = _no_progress) -> _Tally:
        """A pass over the file in which nothing is written."""
        tally = _Tally()
        for batch in self._batches(request, tally, on_progress):
            del batch  # only what is wrong matters in this pass
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
                    tally.wrong(row, [InvalidInput(getattr(error, "field", "row"), error.problem)])
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
        rules = CellRules(request.date_format, request.maps)
        with self.context.store.read() as reader:
            self.target.begin(reader, rules, request.new_tags)
        rows = open_table(request.path, request.kind, request.encoding, request.delimiter).rows
        while page := list(islice(rows, _AT_ONCE)):
            tally.rows += len(page)
            tally.resumed += sum(row.number <= start for row in page)
            wrong: dict[int, Sequence[InvalidInput]] = {}
            parsed = self._parsed(request, [row for row in page if row.number > start and row.number not in bad], tally, wrong)
            good: list[tuple[int, T]] = []
            if parsed:
                with self.context.store.read() as reader:
                    verdicts = self.target.check(reader, [item for _, item in parsed])
                for (row, item), verdict in zip(parsed, verdicts, strict=True):
                    if isinstance(verdict, list):
                        wrong[row] = verdict
                    elif verdict:
                        good.append((row, item))
                    else:
                        tally.unchanged += 1
            for row in sorted(wrong):
                tally.wrong(row, wrong[row])
            yield good
            on_progress("importing" if total else "checking", tally.rows, total)

    def _parsed(
        self, request: ImportRequest, rows: Sequence[Row], tally: _Tally, wrong: dict[int, Sequence[InvalidInput]]
    ) -> list[tuple[int, T]]:
        """Rows that can be read; of the others, what is wrong."""
        found: list[tuple[int, T]] = []
        for row in rows:
            if row.problem:
                wrong[row.number] = [InvalidInput("row", row.problem)]
                continue
            tally.columns |= dict.fromkeys(row.values)
            try:
                item = self.target.parse(row.number, self._renamed(request, row.values))
            except BadRow as bad:
                wrong[row.number] = bad.problems
                continue
            if item is None:
                tally.unchanged += 1
            else:
                found.append((row.number, item))
        return found

    def _renamed(self, request: ImportRequest, values: Mapping[str, Any]) -> dict[str, Any]:
        if not request.columns:
            return dict(values)
        back = {column: ours for ours, column in request.columns.items()}
        # If another column is mapped to one of our fields, a column with that field's own name is not read.
        return {
            back.get(column, column): value for column, value in values.items() if column in back or column not in request.columns
        }

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
