"""Profiles: put, get, pause, erase, export."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from kaczmatch.api.authentication import ActingUser, ActingUserOrOperator, AnyCaller, Cases, UserPath, scoped
from kaczmatch.api.concurrency_limit import answer_limit
from kaczmatch.api.paging import Cursor, Limit, cursor_after, decode_cursor, encode_cursor
from kaczmatch.api.responses import own_profile
from kaczmatch.core.errors import InvalidInput
from kaczmatch.schemas.profiles import ErasureStatus, PeoplePage, Profile, ProfileInput
from kaczmatch.service.access.credentials import APP, OPERATOR, Caller
from kaczmatch.service.domain.records import Person
from kaczmatch.service.domain.refusals import NotFound, Stale
from kaczmatch.service.meeting.people_search import all_people, find_by_name
from kaczmatch.service.use_cases import UseCases

router = APIRouter(prefix="/people", tags=["profiles"])

Condition = Annotated[str | None, Header(max_length=100)]
_ETAG = {"headers": {"ETag": {"schema": {"type": "string"}, "description": "The version, for If-Match."}}}


@router.put("/{user}", responses={200: _ETAG, 201: {"model": Profile, **_ETAG}})
def put_profile(
    user: ActingUser,
    body: ProfileInput,
    cases: Cases,
    caller: AnyCaller,
    response: Response,
    if_match: Condition = None,
    if_none_match: Condition = None,
) -> Profile:
    """Add or replace a profile. `If-None-Match: *` only adds; `If-Match` with the ETag only replaces that version."""
    version = _expected_version(cases, user, if_match, if_none_match)
    check_new = cases.credentials.check_not_erased(caller, user)
    person = cases.profiles.put(user, body, if_version=version, by_user=caller.is_user, check_new=check_new).result()
    response.status_code = 201 if person.version == 1 else 200
    return _profile(cases, person, response)


@router.get("")
def list_people(
    cases: Cases,
    caller: Annotated[Caller, Depends(scoped(APP))],
    limit: Limit = 50,
    cursor: Cursor = "",
    name: Annotated[
        str, Query(max_length=200, description="How a word of their names begins; accents and case do not count.")
    ] = "",
) -> PeoplePage:
    """List people in the order in which they came, or find them by name, in the order of the alphabet."""
    del caller
    if name:
        found, place = find_by_name(cases.context, name, decode_cursor(cursor, str, str), limit)
        following = None if place is None else encode_cursor(place)
    else:
        found = all_people(cases.context, decode_cursor(cursor, str), limit)
        following = cursor_after(found, limit)
    vocabulary, now = cases.models.vocabulary(), cases.context.clock()
    return PeoplePage(items=tuple(own_profile(person, vocabulary, now) for person in found), next=following)


@router.get("/{user}", response_model=Profile, responses={200: _ETAG, 304: {"description": "Not changed."}})
def get_profile(user: ActingUser, cases: Cases, response: Response, if_none_match: Condition = None) -> Profile | Response:
    """A user's own profile."""
    person = cases.profiles.get(user)
    known = [] if if_none_match is None else [tag.removeprefix("W/") for tag in _etags(if_none_match)]
    if "*" in known or _etag(person) in known:
        return Response(status_code=304, headers={"ETag": _etag(person)})
    return _profile(cases, person, response)


@router.post("/{user}/pause")
def pause_profile(user: ActingUserOrOperator, cases: Cases, caller: AnyCaller, response: Response) -> Profile:
    """Stop showing a person, and showing people to them, until they resume. Nothing is forgotten."""
    return _profile(cases, cases.profiles.pause(user, True, by_user=caller.is_user).result(), response)


@router.post("/{user}/resume")
def resume_profile(user: ActingUser, cases: Cases, caller: AnyCaller, response: Response) -> Profile:
    """End a pause."""
    return _profile(cases, cases.profiles.pause(user, False, by_user=caller.is_user).result(), response)


@router.delete("/{user}", status_code=202)
def erase_person(user: ActingUserOrOperator, cases: Cases, response: Response) -> ErasureStatus:
    """Erase a person. When this answers, they are in no deck, list, match or export, and their tokens have ended. A job removes
    every trace of them in other people's data; `Location` says how far it is. Sending it again does no work."""
    progress = cases.erasure.begin(user)
    cases.serving_index.remove([user])
    cases.answers.clear()
    response.headers["Location"] = f"/v1/people/{quote(user)}/erasure"
    return ErasureStatus(done=progress.done, people_left=progress.people_left)


@router.get("/{user}/erasure")
def get_erasure(user: UserPath, cases: Cases, caller: Annotated[Caller, Depends(scoped(APP, OPERATOR))]) -> ErasureStatus:
    """How far the erasure of a person is. For a day after its end that is still known."""
    del caller
    progress = cases.erasure.progress(user)
    return ErasureStatus(done=progress.done, people_left=progress.people_left)


@router.get("/{user}/export", response_model=dict[str, Any])
async def export_personal_data(request: Request, user: ActingUser, cases: Cases, caller: AnyCaller) -> Response:
    """Everything that is stored about a user, for that user."""
    content = await answer_limit(request).run(cases.personal_data.export, user, by_user=caller.is_user)
    return Response(content, media_type="application/json")


def _profile(cases: UseCases, person: Person, response: Response) -> Profile:
    response.headers["ETag"] = _etag(person)
    return own_profile(person, cases.models.vocabulary(), cases.context.clock())


def _etag(person: Person) -> str:
    return f'"{person.version}"'


def _expected_version(cases: UseCases, user: str, if_match: str | None, if_none_match: str | None) -> int | None:
    """The version that a change is meant for."""
    if if_none_match is not None:
        if if_none_match.strip() != "*" or if_match is not None:
            raise InvalidInput("If-None-Match", "can only be * here, and without If-Match")
        return 0
    if if_match is None:
        return None
    try:
        person = cases.profiles.get(user)
    except NotFound:
        raise Stale("there is no such profile to replace") from None
    if if_match.strip() != "*" and _etag(person) not in _etags(if_match):
        raise Stale(f"the profile of {user!r} is not that version; get it and try again")
    return person.version


def _etags(condition: str) -> list[str]:
    return [tag.strip() for tag in condition.split(",")]
