"""Swipes: the hot path, so its routes read their request themselves."""

from __future__ import annotations

import json
from typing import Any, Final, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from kaczmatch.api.guards import ID, Use, User, acting
from kaczmatch.api.parts import parts
from kaczmatch.api.shapes import Id, Shape
from kaczmatch.api.waiting import done
from kaczmatch.service.meeting.swipes import Swipe

router = APIRouter(prefix="/people/{user}", tags=["swipes"])


class Decision(Shape):
    """What somebody makes of a card."""

    candidate: Id
    decision: Literal["like", "pass", "skip"]
    deck: Id = Field(description="The deck that the card is of.")


class SwipeOut(BaseModel):
    """What a swipe came to; the same however often it is sent."""

    id: str
    at: str = Field(json_schema_extra={"format": "date-time"})
    match: str | None = Field(description="The match that it made.")


class EndOut(BaseModel):
    """Whether there was an open session to end."""

    ended: bool


_PATTERN: Final = {"type": "string", "pattern": ID}
_PARAMETERS: Final = [
    {"name": "user", "in": "path", "required": True, "schema": _PATTERN, "description": "Who it is about."},
    {"name": "swipe", "in": "path", "required": True, "schema": _PATTERN, "description": "An id of the client's choice."},
]
_BODY: Final[dict[str, Any]] = {"required": True, "content": {"application/json": {"schema": Decision.model_json_schema()}}}


@router.put("/swipes/{swipe}", response_model=SwipeOut, openapi_extra={"parameters": _PARAMETERS, "requestBody": _BODY})
async def swipe(request: Request) -> Response:
    """Decide on a card. The id makes it safe to send again: one id has one effect. Done when it is on disk."""
    return Response(await decided(request, await request.body()), media_type="application/json")


async def decided(request: Request, body: bytes) -> bytes:
    path = request.path_params
    user = await acting(request, path["user"])
    said = Decision.model_validate_json(body)
    made = Swipe(user=user, id=path["swipe"], candidate=said.candidate, decision=said.decision, deck=said.deck)
    event = (await done(parts(request).swiping.swipe(made))).event
    return json.dumps({"id": event.id, "at": event.at.isoformat(), "match": event.match}).encode()


@router.delete("/swipes/{swipe}", status_code=204)
def undo(user: User, swipe: Id, use: Use) -> Response:
    """Take back the last swipe, exactly; refused after a match. Doing it again changes nothing."""
    use.undoing.undo(user, swipe).result()
    return Response(status_code=204)


@router.post("/session/end", response_model=EndOut)
def end(user: User, use: Use) -> EndOut:
    """End the session; learners that wait for its end learn now. Silence ends it too."""
    return EndOut(ended=use.swiping.end_session(user).result())
