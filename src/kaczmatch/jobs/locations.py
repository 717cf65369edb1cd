"""Where the files of a job lie: in a folder that all workers reach, or at an address that fsspec knows, such as s3://bucket/log."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import polars as pl
from upath import UPath

from kaczmatch.core.errors import InvalidInput

Location = Path | UPath

_READ_BY_POLARS: Final = frozenset({"s3", "gs", "gcs", "az", "abfs", "abfss"})  # which takes what it needs of a file, and no more


def located(address: str) -> Location:
    """A local path becomes absolute, since workers may be elsewhere."""
    if "://" not in address:
        return Path(address).absolute()
    try:
        found = UPath(address)
        found.fs  # noqa: B018, which says what is missing
    except (ImportError, ValueError) as problem:
        raise InvalidInput(
            "address",
            f"{address} cannot be reached: {problem}; name a folder, or an address that fsspec knows, such as s3://bucket/log",
        ) from None
    return found


def scan(files: Sequence[Location]) -> pl.LazyFrame:
    """The rows of Parquet files."""
    sources: Any = [_source(file) for file in files]  # all of one kind
    return pl.scan_parquet(sources, glob=False)


@contextmanager
def on_disk(file: Location) -> Iterator[Path]:
    """A file as one of this machine, under its own name."""
    if isinstance(file, Path):
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="kaczmatch-") as folder:
        copy = Path(folder, file.name)
        copy.write_bytes(file.read_bytes())
        yield copy


def rename(file: Location, name: str) -> None:
    """Give a file another name in its folder, in place of one that may have it."""
    if isinstance(file, Path):
        file.replace(file.with_name(name))
    else:
        file.fs.mv(file.path, file.with_name(name).path)


def remove_folder(folder: Location) -> None:
    """With all that is in it. Another worker may have begun to."""
    if folder.exists():
        UPath(folder).fs.rm(UPath(folder).path, recursive=True)


def _source(file: Location) -> Path | str | bytes:
    if isinstance(file, Path):
        return file
    return str(file) if file.protocol in _READ_BY_POLARS else file.read_bytes()
