"""What the demo's pages need beyond the API: whom one could be, a token for them, and a simulated person's hidden taste."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel

from kaczmatch.api.guards import Somebody, Use, is_local
from kaczmatch.api.problems import Forbidden
from kaczmatch.api.shapes import Face, Place
from kaczmatch.api.words import current_words
from kaczmatch.app.demo.population import TOWN, Invented
from kaczmatch.service.access.credentials import Caller
from kaczmatch.service.domain.records import Person, PersonCounters

_LIFE = timedelta(hours=12)


class DemoToken(BaseModel):
    token: str
    expires: datetime


class DemoFace(Face):
    i_am: list[str]
    i_look_for: list[str]
    swipes: int


class DemoPeople(BaseModel):
    """Some people, whether there are more, and where all of them live."""

    people: list[DemoFace]
    more: bool
    place: Place


class DemoTaste(BaseModel):
    """Log-odds that each tag adds to a like, without those that add nothing; None for somebody who is not simulated."""

    weights: dict[str, float] | None


def demo_router(invented: Invented, host: Caller) -> APIRouter:
    """Answers this machine alone, and no other site's page: those cannot send the header. `host` signs visitors' tokens."""
    router = APIRouter(prefix="/demo", tags=["demo"], include_in_schema=False)

    @router.get("/people", response_model=DemoPeople)
    def people(
        request: Request,
        use: Use,
        limit: Annotated[int, Query(ge=1, le=200)] = 12,
        skip: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
        find: Annotated[str, Query(max_length=80)] = "",
    ) -> DemoPeople:
        """Some of the invented people; of a name or with a tag, if one is looked for."""
        check_local(request)
        words, now = current_words(use.context), use.context.clock()
        wanted = invented.found(find)
        page = wanted[skip : skip + limit]
        with use.context.store.read() as reader:
            found = reader.many(Person, [(user,) for user in page])
            standings = reader.many(PersonCounters, [(user,) for user in page])
        told = []
        for user in page:
            one, standing = found.get((user,)), standings.get((user,))
            if one is not None:
                face = Face.of(one, words, now).model_dump()
                swipes = 0 if standing is None else standing.swipes
                told.append(DemoFace(**face, i_am=list(one.i_am), i_look_for=list(one.i_look_for), swipes=swipes))
        return DemoPeople(people=told, more=len(wanted) > skip + limit, place=Place(latitude=TOWN[0], longitude=TOWN[1]))

    @router.post("/tokens/{user}", response_model=DemoToken)
    def token(request: Request, user: Somebody, use: Use, x_kaczmatch_demo: Annotated[str, Header()] = "") -> DemoToken:
        """Be anybody, or somebody new; with the header `X-Kaczmatch-Demo: 1`."""
        check_local(request)
        if x_kaczmatch_demo != "1":
            raise Forbidden("the demo's own pages send a header with this")
        minted, expires = use.access.mint(host, user, _LIFE)
        return DemoToken(token=minted, expires=expires)

    @router.get("/people/{user}/taste", response_model=DemoTaste)
    def taste(request: Request, user: Somebody) -> DemoTaste:
        """What a simulated person really likes, to compare with what was learned."""
        check_local(request)
        return DemoTaste(weights=invented.taste(user))

    return router


def check_local(request: Request) -> None:
    if not is_local(request):
        raise Forbidden("the demo works on the machine of the service only")
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise Forbidden("the demo answers its own pages only")
