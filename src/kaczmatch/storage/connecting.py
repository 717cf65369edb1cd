"""Which database an address means."""

from __future__ import annotations

from sqlalchemy.engine import make_url

from kaczmatch.storage.database import Database
from kaczmatch.storage.postgres import Postgres
from kaczmatch.storage.sqlite import Sqlite


def connected(url: str, readers: int = 1, *, look_only: bool = False, sorts: bool = False) -> Database:
    """`sorts`: a transaction may sort whole tables."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return Sqlite(parsed, readers, look_only=look_only, sorts=sorts)
    if parsed.get_backend_name() == "postgresql":
        return Postgres(parsed, readers)
    raise ValueError(f"{parsed.get_backend_name()} is neither sqlite nor postgresql")
