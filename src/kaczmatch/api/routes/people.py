"""Profiles: put, get, pause, erase, export."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Response

from kaczmatch.api.guards import Asker, Use, User, UserOrOperator
from kaczmatch.api.parts import Parts
from kaczmatch.api.shapes import Profile, ProfileIn
from kaczmatch.api.words import current_words
from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.domain.records import Person
from kaczmatch.service.domain.refusals import NotFound, Stale
from kaczmatch.service.privacy.personal_data import export

router = APIRouter(prefix="/people", tags=["people"])

Tag = Annotated[str | None, Header(max_length=100)]
_ETAG = {"headers": {"ETag": {"schema": {"type": "string"}, "description": "The version, for If-Match."}}}


@router.put("/{user}", response_model=Profile, responses={200: _ETAG, 201: {"model": Profile, **_ETAG}})
def put(
    user: User, body: ProfileIn, use: Use, by: Asker, response: Response, if_match: Tag = None, if_none_match: Tag = None
) -> Profile:
    """Add or replace a profile. `If-None-Match: *` only adds; `If-Match` with the ETag only replaces that version."""
    wanted, welcome = _wanted(use, user, if_match, if_none_match), use.access.welcome(by, user)
    person = use.people.put(user, body.about(), if_version=wanted, welcome=welcome).result()
    response.status_code = 201 if person.version == 1 else 200
    return _told(use, person, response)


@router.get("/{user}", response_model=Profile, responses={200: _ETAG, 304: {"description": "Not changed since."}})
def get(user: User, use: Use, response: Response, if_none_match: Tag = None) -> Profile | Response:
    person = use.people.get(user)
    known = [] if if_none_match is None else [one.removeprefix("W/") for one in _tags(if_none_match)]
    if "*" in known or _etag(person) in known:
        return Response(status_code=304, headers={"ETag": _etag(person)})
    return _told(use, person, response)


@router.post("/{user}/pause", response_model=Profile)
def pause(user: UserOrOperator, use: Use, response: Response) -> Profile:
    """Shown to nobody and sees nobody, until resumed; nothing is forgotten."""
    return _told(use, use.people.pause(user, True).result(), response)


@router.post("/{user}/resume", response_model=Profile)
def resume(user: User, use: Use, response: Response) -> Profile:
    return _told(use, use.people.pause(user, False).result(), response)


@router.delete("/{user}", status_code=204)
def erase(user: UserOrOperator, use: Use) -> Response:
    """Leave nothing of a person, in anybody's data; done when this answers."""
    use.erasing.erase(user)
    use.world.forget([user])
    return Response(status_code=204)


@router.get("/{user}/export", response_model=dict[str, Any])
def everything(user: User, use: Use) -> dict[str, Any]:
    """All that is kept about somebody, for that person."""
    return export(use.context, user)


def _told(use: Parts, person: Person, response: Response) -> Profile:
    response.headers["ETag"] = _etag(person)
    return Profile.of(person, current_words(use.context), use.context.clock())


def _etag(person: Person) -> str:
    return f'"{person.version}"'


def _wanted(use: Parts, user: str, if_match: str | None, if_none_match: str | None) -> int | None:
    """The version that a change is meant for."""
    if if_none_match is not None:
        if if_none_match.strip() != "*" or if_match is not None:
            raise InvalidInput("If-None-Match", "can only be * here, and without If-Match")
        return 0
    if if_match is None:
        return None
    try:
        person = use.people.get(user)
    except NotFound:
        raise Stale("there is no such profile to replace") from None
    if if_match.strip() != "*" and _etag(person) not in _tags(if_match):
        raise Stale(f"the profile of {user!r} is not that version; get it and try again")
    return person.version


def _tags(condition: str) -> list[str]:
    return [one.strip() for one in condition.split(",")]
