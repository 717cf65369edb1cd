"""Short-lived tokens for one user each, minted by an app's back end."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from kaczmatch.api.guards import Use, scoped
from kaczmatch.api.shapes import Id, Shape
from kaczmatch.service.access.credentials import TOKENS, Caller

router = APIRouter(prefix="/tokens", tags=["access"])


class Mint(Shape):
    user: Id
    seconds: int = Field(900, ge=1, le=86_400)


class Minted(BaseModel):
    token: str
    expires: datetime


@router.post("", response_model=Minted, status_code=201)
def mint(body: Mint, use: Use, caller: Annotated[Caller, Depends(scoped(TOKENS))]) -> Minted:
    """With it, somebody's own device may ask for them, for a while."""
    token, expires = use.access.mint(caller, body.user, timedelta(seconds=body.seconds))
    return Minted(token=token, expires=expires)
