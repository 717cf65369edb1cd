"""Swipes. They are the hot path, so their route reads the request itself."""

from __future__ import annotations

import json
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from kaczmatch.api.authentication import ActingUser, Cases, allowed_user, authenticate
from kaczmatch.api.dependencies import use_cases
from kaczmatch.api.problems import Forbidden
from kaczmatch.api.store_futures import result_of
from kaczmatch.formats.columns import time_text
from kaczmatch.schemas.base import ID_PATTERN, Id
from kaczmatch.schemas.swipes import SessionEnd, SwipeRequest, SwipeResult
from kaczmatch.service.meeting.swipes import Swipe

router = APIRouter(prefix="/people/{user}", tags=["swipes"])

_ID: Final = {"type": "string", "pattern": ID_PATTERN}
_PARAMETERS: Final = [
    {"name": "user", "in": "path", "required": True, "schema": _ID, "description": "The user that the request is about."},
    {"name": "swipe", "in": "path", "required": True, "schema": _ID, "description": "An id that the client chooses."},
]
_SCHEMA: Final = {"$ref": f"#/components/schemas/{SwipeRequest.__name__}"}
_BODY: Final[dict[str, Any]] = {"required": True, "content": {"application/json": {"schema": _SCHEMA}}}


@router.put("/swipes/{swipe}", response_model=SwipeResult, openapi_extra={"parameters": _PARAMETERS, "requestBody": _BODY})
async def record_swipe(request: Request) -> Response:
    """Decide on a card. Sending it again under the same id has no further effect. When this answers, it is on disk."""
    return Response(await swipe_response(request, await request.body()), media_type="application/json")


async def swipe_response(request: Request, body: bytes) -> bytes:
    """The JSON of a `SwipeResult`."""
    path = request.path_params
    caller = await authenticate(request)
    user = allowed_user(caller, path["user"])
    asked = SwipeRequest.model_validate_json(body)
    if asked.deck is None and caller.is_user:
        raise Forbidden("a user answers cards of a deck; a swipe without a deck needs a key with the scope 'app'")
    swipe = Swipe(user=user, id=path["swipe"], candidate=asked.candidate, decision=asked.decision, deck=asked.deck or "")
    cases = await use_cases(request)
    event = (await result_of(cases.swipes.swipe(swipe))).event
    return json.dumps({"id": event.id, "at": time_text(event.at), "match": event.match}).encode()


@router.delete("/swipes/{swipe}", status_code=204)
async def undo_swipe(user: ActingUser, swipe: Id, cases: Cases) -> Response:
    """Take back the last swipe, exactly. It is refused after a match. Sending it again changes nothing."""
    await result_of(cases.undo.undo(user, swipe))
    return Response(status_code=204)


@router.post("/session/end")
def end_session(user: ActingUser, cases: Cases) -> SessionEnd:
    """End the session, so that block rules learn now. A long pause ends it too."""
    return SessionEnd(ended=cases.swipes.end_session(user).result())
