"""The report of `kaczmatch reproduce`, if the operator has made one in the data folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from fastapi import HTTPException, Response

FILE: Final = Path("report") / "report.html"
# The file holds its own styles and pictures, and nothing in it may run.
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox allow-popups allow-same-origin"
)


@final
@dataclass(frozen=True, slots=True)
class ReproductionReport:
    """The report below a data folder, where there is one."""

    data: Path

    @property
    def exists(self) -> bool:
        return (self.data / FILE).is_file()

    @property
    def command(self) -> str:
        """The command that makes it."""
        return f"kaczmatch reproduce all --out {self.data / FILE.parent}"

    def response(self) -> Response:
        try:
            content = (self.data / FILE).read_bytes()
        except OSError:
            raise HTTPException(404) from None
        return Response(content, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": _POLICY})
