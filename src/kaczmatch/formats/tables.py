"""Tables as files; the ending of the name says which kind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import polars as pl

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.cells import FORMULA, MARK
from kaczmatch.formats.rows import check_ending
from kaczmatch.formats.text_form import refuse_spreadsheet, text_form

# Marks on texts that a spreadsheet would take for formulas, as in `cells.inert` and `cells.lively`.
_FORMULA, _MARKED = f"^({FORMULA})", f"^{MARK}({FORMULA})"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A table that is in memory already, where a file may be; its name is for messages, in which rows are counted from 0."""

    name: str
    frame: pl.DataFrame


def as_table(value: Any, name: str) -> Path | Frame:
    """A file by its path, or a frame of pandas, polars or Arrow."""
    if isinstance(value, str | Path):
        return Path(value)
    if isinstance(value, pl.DataFrame):
        return Frame(name, value)
    if type(value).__module__.partition(".")[0] == "pandas":  # column by column, which needs no further library
        columns = {str(each): value[each] for each in value.columns}
        plain = {each: column.to_numpy() if column.dtype.kind in "biufM" else column.tolist() for each, column in columns.items()}
        return Frame(name, pl.DataFrame(plain, strict=False))
    if hasattr(value, "__arrow_c_stream__"):
        return Frame(name, pl.DataFrame(value))
    raise InvalidInput(name, f"must be a file or a frame of pandas, polars or Arrow, got {type(value).__name__}")


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """The same frame gives the same bytes."""
    ending = check_ending(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if ending == ".csv":
        frame.with_columns(pl.col(pl.String).str.replace(_FORMULA, f"{MARK}${{1}}")).write_csv(path)
    elif ending == ".jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_parquet(path)


def read_table(path: Path | Frame) -> pl.DataFrame:
    """A table as it was written; what cannot be read is said with the file's name."""
    if isinstance(path, Frame):
        return path.frame
    refuse_spreadsheet(path)
    ending = check_ending(path)
    if not path.is_file():
        raise InvalidInput("path", f"there is no file {path}")
    try:
        if ending == ".csv":
            frame = _read_csv(path)
            return frame.with_columns(pl.col(pl.String).str.replace(_MARKED, "${1}"))
        return pl.read_ndjson(path, infer_schema_length=None) if ending == ".jsonl" else pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InvalidInput("path", f"{path} cannot be read as {ending[1:]}: {error}") from None


def _read_csv(path: Path) -> pl.DataFrame:
    """However it is written; without empty rows. A wrong value in any row is found, and named."""
    form = text_form(path)
    source: Path | bytes = path
    if form.encoding != "utf-8":
        with form.open(path) as text:
            source = text.read().encode()
    frame = pl.read_csv(source, separator=form.delimiter, quote_char=form.quote, infer_schema_length=None)
    named = frame.select(name for name in frame.columns if name.strip() or frame[name].null_count() < len(frame))
    return named.filter(~pl.all_horizontal(pl.all().is_null())) if named.width else named
