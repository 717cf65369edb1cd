"""Batches of rows as a file, piece by piece: nothing is held but one batch."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kaczmatch.formats.cells import inert, joined
from kaczmatch.formats.rows import check_kind

Batches = Iterable[Sequence[Mapping[str, Any]]]

_PIECE = 1 << 18


def pieces(batches: Batches, columns: Sequence[str], kind: str) -> Iterator[bytes]:
    """The bytes of a CSV, JSON Lines or Parquet file."""
    check_kind(kind)
    return {"csv": _csv, "jsonl": _lines, "parquet": _parquet}[kind](batches, columns)


def write_rows(batches: Batches, columns: Sequence[str], kind: str, path: Path) -> int:
    """A whole file, or none: it takes its name when it is complete and on disk. Says how many rows it has."""
    written = 0

    def counted() -> Iterator[Sequence[Mapping[str, Any]]]:
        nonlocal written
        for batch in batches:
            written += len(batch)
            yield batch

    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces(counted(), columns, kind):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return written


def _csv(batches: Batches, columns: Sequence[str]) -> Iterator[bytes]:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    for batch in batches:
        writer.writerows([_cell(row[name]) for name in columns] for row in batch)
        if text.tell() >= _PIECE:
            yield text.getvalue().encode()
            text.seek(0), text.truncate()
    yield text.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return inert(joined(value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False) if value else ""
    return inert(value) if isinstance(value, str) else value


def _lines(batches: Batches, columns: Sequence[str]) -> Iterator[bytes]:
    for batch in batches:
        yield "".join(json.dumps({name: row[name] for name in columns}, ensure_ascii=False) + "\n" for row in batch).encode()


def _parquet(batches: Batches, columns: Sequence[str]) -> Iterator[bytes]:
    """By way of a JSON Lines file, translated in a stream. Mappings become JSON texts: their names differ from row to row."""
    import polars as pl

    kinds = {list: pl.List(pl.String), int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
    with tempfile.TemporaryDirectory() as folder:
        lines, table = Path(folder) / "rows.jsonl", Path(folder) / "rows.parquet"
        rows = 0
        types: dict[str, Any] = dict.fromkeys(columns, pl.String)
        with lines.open("wb") as file:
            for batch in batches:
                rows += len(batch)
                for row in batch:
                    types |= {name: kind for name in columns if (kind := kinds.get(type(row[name]))) is not None}
                flat = [{name: _flat(row[name]) for name in columns} for row in batch]
                file.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in flat).encode())
        if rows:
            pl.scan_ndjson(lines, schema=types).sink_parquet(table)
        else:
            pl.DataFrame(schema=types).write_parquet(table)
        with table.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece


def _flat(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
