"""How a text table is written: its encoding, what separates cells, what quotes them. Found by fixed rules, said in words.

- Encoding: a byte order mark decides. Without one it is UTF-8, unless more bytes are wrong in UTF-8 than characters beyond
  ASCII are right. Then it is Windows-1252, or Latin-1 where there are bytes that Windows-1252 does not have.
- Delimiter: of comma, semicolon, tab and vertical bar, the one that splits the first rows into most columns of one number.
- Quotes: double ones, unless the header begins with a single one and no double one occurs.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, TextIO, final

from kaczmatch.core.errors import InvalidInput

DELIMITERS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_ENCODINGS: Final = {
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "cp1252": "Windows-1252",
    "iso8859-1": "Latin-1",
}
_MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_NOT_IN_1252: Final = (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d")
_SPREADSHEETS: Final = (".xlsx", ".xlsm", ".xls", ".ods", ".numbers", ".gsheet")
_ARCHIVES: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how files of spreadsheet programs begin
_PIECE, _SAMPLE, _SAMPLE_ROWS = 1 << 20, 1 << 16, 100


@final
@dataclass(frozen=True, slots=True)
class TextForm:
    """How one file is written."""

    encoding: str
    delimiter: str = ","
    quote: str = '"'
    mark: int = 0  # bytes of the byte order mark

    @property
    def words(self) -> str:
        separated = DELIMITERS.get(self.delimiter, f"{self.delimiter!r} between cells")
        quoted = "" if self.quote == '"' else ", single quotes"
        marked = " with a byte order mark" if self.mark else ""
        return f"{separated}, {_ENCODINGS.get(self.encoding, self.encoding)}{marked}{quoted}"

    def open(self, path: Path) -> TextIO:
        """The text after the mark. A byte that is not UTF-8 becomes a lone surrogate, so that only its row is refused."""
        file = path.open("rb")
        file.seek(self.mark)
        return io.TextIOWrapper(file, self.encoding, "surrogateescape" if self.encoding == "utf-8" else "strict", newline="")

    def records(self, file: TextIO) -> Iterator[list[str]]:
        return csv.reader(file, delimiter=self.delimiter, quotechar=self.quote, strict=True)


def text_form(path: Path, encoding: str | None = None, delimiter: str | None = None) -> TextForm:
    """How a file is written; what is given is not looked for."""
    refuse_spreadsheet(path)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise InvalidInput("delimiter", f"must be one character, such as ';', got {delimiter!r}")
    with path.open("rb") as file:
        head = file.read(4)
    mark, marked = next(((len(mark), name) for mark, name in _MARKS if head.startswith(mark)), (0, ""))
    if encoding is None:
        chosen = marked if marked.startswith("utf-16") else _recognised_encoding(path, mark)
    else:
        chosen, mark = _named_encoding(encoding, marked, mark)
    form = TextForm(chosen, delimiter or ",", mark=mark)
    try:
        with form.open(path) as text:
            sample = text.read(_SAMPLE)
    except UnicodeError:
        raise not_in_encoding(path, form) from None
    quote = "'" if sample.startswith("'") and '"' not in sample else '"'
    return TextForm(chosen, delimiter or _recognised_delimiter(sample, quote), quote, mark)


def not_in_encoding(path: Path, form: TextForm) -> InvalidInput:
    name = _ENCODINGS.get(form.encoding, form.encoding)
    return InvalidInput("encoding", f"{path.name} is not {name} throughout; save it as UTF-8, or name its encoding")


def refuse_spreadsheet(path: Path) -> None:
    """Spreadsheet programs write formats of their own. They can all write CSV."""
    named = path.suffix.lower() in _SPREADSHEETS
    if not named and path.is_file():
        with path.open("rb") as file:
            named = file.read(4) in _ARCHIVES
    if named:
        raise InvalidInput(
            "file",
            f"{path.name} is a spreadsheet; open it, choose 'Save as' or 'Export', take 'CSV UTF-8', and use that file",
        )


def _named_encoding(encoding: str, marked: str, mark: int) -> tuple[str, int]:
    try:
        name = codecs.lookup(encoding).name.removesuffix("-sig")
        "".encode(name)
    except (LookupError, UnicodeError):
        raise InvalidInput("encoding", f"there is no encoding {encoding!r}; try utf-8, windows-1252 or utf-16") from None
    same = bool(marked) and marked.startswith(name)
    return (marked, mark) if same else (name, 0)


def _recognised_encoding(path: Path, mark: int) -> str:
    right = wrong = 0
    beyond = False
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    with path.open("rb") as file:
        file.seek(mark)
        while piece := file.read(_PIECE):
            text = decoder.decode(piece)
            if not text.isascii():
                lost = len(text) - len(text.encode("utf-8", "ignore").decode("utf-8"))
                wrong += lost
                right += len(text) - len(text.encode("ascii", "ignore")) - lost
                beyond = beyond or any(byte in piece for byte in _NOT_IN_1252)
    wrong += len(decoder.decode(b"", final=True))
    if wrong <= right:
        return "utf-8"
    return "iso8859-1" if beyond else "cp1252"


def _recognised_delimiter(sample: str, quote: str) -> str:
    whole = sample if len(sample) < _SAMPLE else sample[: sample.rfind("\n") + 1] or sample

    def columns(delimiter: str) -> float:
        try:
            reader = csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter, quotechar=quote)
            widths = [len(cells) for cells in islice(reader, _SAMPLE_ROWS) if cells]
        except csv.Error:
            return 0.0
        return (widths[0] - 1) * widths.count(widths[0]) / len(widths) if widths else 0.0

    return max(DELIMITERS, key=columns)
