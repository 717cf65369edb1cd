"""Whether the service works."""

from __future__ import annotations

from typing import final

from kaczmatch.schemas.base import ResponseModel


@final
class Health(ResponseModel):
    """Whether all is well, and if not, why."""

    ok: bool
    detail: str = ""
