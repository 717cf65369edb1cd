"""What the demo's pages need beyond the API: whom one could be, a token for them, and a simulated person's hidden taste."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, final

from fastapi import APIRouter, Header, Query, Request

from kaczmatch.api.authentication import Cases, UserPath, is_local
from kaczmatch.api.problems import Forbidden
from kaczmatch.api.responses import summary
from kaczmatch.app.demo.population import TOWN, DemoPopulation
from kaczmatch.schemas.base import ResponseModel
from kaczmatch.schemas.profiles import Coordinates
from kaczmatch.schemas.tokens import UserToken
from kaczmatch.service.access.credentials import Caller
from kaczmatch.service.domain.records import Person, PersonCounters

_LIFE = timedelta(hours=12)


@final
class DemoPerson(ResponseModel):
    """An invented person."""

    id: str
    name: str
    age: int | None
    tags: tuple[str, ...]
    i_am: tuple[str, ...]
    i_look_for: tuple[str, ...]
    swipes: int


@final
class DemoPage(ResponseModel):
    """Some invented people, whether there are more, where all of them live, and their tags under headings."""

    people: tuple[DemoPerson, ...]
    more: bool
    location: Coordinates
    groups: dict[str, tuple[str, ...]]


@final
class DemoTaste(ResponseModel):
    """The log-odds that each tag adds to a like, without zeros; null for a person who is not simulated."""

    weights: dict[str, float] | None


def demo_router(invented: DemoPopulation, host: Caller, groups: dict[str, tuple[str, ...]]) -> APIRouter:
    """Answers this machine alone, and no other site's page: those cannot send the header. `host` signs visitors' tokens."""
    router = APIRouter(prefix="/demo", tags=["demo"], include_in_schema=False)

    @router.get("/people", response_model=DemoPage)
    def people(
        request: Request,
        cases: Cases,
        limit: Annotated[int, Query(ge=1, le=200)] = 12,
        skip: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
        find: Annotated[str, Query(max_length=80)] = "",
    ) -> DemoPage:
        """Some of the invented people; of a name or with a tag, if one is looked for."""
        check_local(request)
        vocabulary, now = cases.models.vocabulary(), cases.context.clock()
        found = invented.search(find)
        page = [(user,) for user in found[skip : skip + limit]]
        with cases.context.store.read() as reader:
            stored, counters = reader.many(Person, page), reader.many(PersonCounters, page)
        shown = []
        for person in (stored[key] for key in page if key in stored):
            swipes = counters[person.id,].swipes if (person.id,) in counters else 0
            known = summary(person, vocabulary, now).model_dump()
            shown.append(DemoPerson(**known, i_am=person.i_am, i_look_for=person.i_look_for, swipes=swipes))
        location = Coordinates(latitude=TOWN[0], longitude=TOWN[1])
        return DemoPage(people=tuple(shown), more=len(found) > skip + limit, location=location, groups=groups)

    @router.post("/tokens/{user}", response_model=UserToken)
    def token(request: Request, user: UserPath, cases: Cases, x_kaczmatch_demo: Annotated[str, Header()] = "") -> UserToken:
        """Be anybody, or somebody new; with the header `X-Kaczmatch-Demo: 1`."""
        check_local(request)
        if x_kaczmatch_demo != "1":
            raise Forbidden("the demo's own pages send a header with this")
        token, expires = cases.credentials.create_user_token(host, user, _LIFE)
        return UserToken(token=token, expires=expires)

    @router.get("/people/{user}/taste", response_model=DemoTaste)
    def taste(request: Request, user: UserPath) -> DemoTaste:
        """What a simulated person really likes, to compare with what was learned."""
        check_local(request)
        return DemoTaste(weights=invented.taste(user))

    return router


def check_local(request: Request) -> None:
    if not is_local(request):
        raise Forbidden("the demo works on the machine of the service only")
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise Forbidden("the demo answers its own pages only")
