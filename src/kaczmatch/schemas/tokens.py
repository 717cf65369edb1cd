"""User tokens."""

from __future__ import annotations

from datetime import datetime
from typing import final

from pydantic import Field

from kaczmatch.schemas.base import Id, RequestModel, ResponseModel


@final
class TokenRequest(RequestModel):
    """For whom a token is, and for how long."""

    user: Id
    seconds: int = Field(default=900, ge=1, le=86_400)


@final
class UserToken(ResponseModel):
    """A credential for one user."""

    token: str
    expires: datetime
