"""Styles, modules and pictures of the pages. They are read once and served from memory, under an address with a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self, final

from fastapi import APIRouter, HTTPException, Response
from starlette.concurrency import run_in_threadpool

from kaczmatch.report import typeface

PREFIX: Final = "/static"
FOLDER: Final = Path(__file__).parent / "static"
TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_FOREVER: Final = {"Cache-Control": "public, max-age=31536000, immutable"}


@final
@dataclass(frozen=True, slots=True)
class Assets:
    """Every file by its path below the folder.

    The version is a digest of all files. Modules import each other by relative addresses, so all addresses change with any file.
    """

    files: Mapping[str, bytes]
    version: str

    @classmethod
    def read(cls, folder: Path = FOLDER) -> Self:
        paths = sorted(path for path in folder.rglob("*") if path.suffix in TYPES)
        return cls.of({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths})

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Self:
        digest = hashlib.sha256(typeface.typeface_version().encode())
        for name, content in files.items():
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        return cls(files, digest.hexdigest()[:12])

    def address(self, name: str) -> str:
        """The address of a file."""
        if name not in self.files and name != typeface.FILE:
            raise KeyError(f"no such file: {name}")
        return f"{PREFIX}/{self.version}/{name}"

    def router(self) -> APIRouter:
        router = APIRouter(prefix=PREFIX, include_in_schema=False)

        @router.get("/{version}/{name:path}")
        async def asset(version: str, name: str) -> Response:
            made = name == typeface.FILE and version == self.version
            content = await run_in_threadpool(typeface.typeface) if made else self.files.get(name)
            if content is None or version != self.version:
                raise HTTPException(404)
            return Response(content, media_type=TYPES[Path(name).suffix], headers=_FOREVER)

        return router
