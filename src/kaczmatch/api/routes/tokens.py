"""User tokens, made by an app's back end."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends

from kaczmatch.api.authentication import Cases, scoped
from kaczmatch.schemas.tokens import TokenRequest, UserToken
from kaczmatch.service.access.credentials import TOKENS, Caller

router = APIRouter(prefix="/tokens", tags=["access"])


@router.post("", status_code=201)
def create_token(body: TokenRequest, cases: Cases, caller: Annotated[Caller, Depends(scoped(TOKENS))]) -> UserToken:
    """Make a credential with which a user's own device may act for that user, for a limited time."""
    token, expires = cases.credentials.create_user_token(caller, body.user, timedelta(seconds=body.seconds))
    return UserToken(token=token, expires=expires)
