"""The demo as part of a system: its people come before the service is ready, and answer while it runs."""

from __future__ import annotations

from concurrent.futures import Future
from datetime import UTC, date
from typing import Any

import numpy as np
import structlog
from fastapi import APIRouter

from kaczmatch.app.demo.crowd import Crowd
from kaczmatch.app.demo.key import demo_key
from kaczmatch.app.demo.past import complaints, past
from kaczmatch.app.demo.population import Invented, invent
from kaczmatch.app.demo.routes import demo_router
from kaczmatch.app.system import System
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import SINGLE_ROW, DemoStart, Person
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting.profiles import Profiles
from kaczmatch.service.meeting.safety import Safety
from kaczmatch.service.meeting.swipes import Swiping

CROWD_SECONDS = 2.0

log = structlog.stdlib.get_logger("kaczmatch")


def with_demo(system: System) -> tuple[APIRouter, ...]:
    """Invite the people before it is ready, let them answer while it runs; the demo's own routes."""
    context, settings = system.context, system.settings
    day = _first_day(context)
    with context.store.read() as reader:
        words = context.catalogue.vocabulary(reader, context.catalogue.current(reader).vocabulary)
    names = [name.name for name in words.terms if name.is_tag and not name.retired]
    invented = invent(settings.demo_people, settings.demo_seed, names, day, context.config.schema)
    system.before_ready.append(lambda: invite(context, invented, settings.demo_seed))
    crowd = Crowd(context, invented, np.random.default_rng([settings.demo_seed, 2]))
    system.jobs.append((CROWD_SECONDS, "crowd", crowd.answer))
    access = system.parts.access
    return (demo_router(invented, access.caller(demo_key(access, settings.data / "demo-key"))),)


def invite(context: Context, invented: Invented, seed: int) -> int:
    """Put everybody and their past into an empty store; one with people in it is left as it is."""
    with context.store.read() as reader:
        if reader.find(Person, limit=1):
            return 0
    people, swiping = Profiles(context), Swiping(context)
    for waiting in _in_parts([(people.put, (user, about)) for user, about in invented.people.items()]):
        _finish(waiting)
    swipes = list(past(invented, seed, context.clock(), context.config.schema))
    for waiting in _in_parts([(swiping.imported, (swipe, at)) for swipe, at in swipes]):
        _finish(waiting)
    for complaint in complaints(swipe for swipe, _ in swipes):
        Safety(context).report(*complaint).result()
    log.info("demo", people=len(invented.people), swipes=len(swipes))
    return len(invented.people)


def _in_parts(calls: list[tuple[Any, tuple[Any, ...]]], size: int = 1_000) -> Any:
    """Many writes at once, but no more than a store's queue takes."""
    for first in range(0, len(calls), size):
        yield [act(*values) for act, values in calls[first : first + size]]


def _finish(futures: list[Future[Any]]) -> None:
    for future in futures:
        future.result()


def _first_day(context: Context) -> date:
    """The day of the demo's first start: ages are counted from it, so that people are the same ones ever after."""

    def work(transaction: Transaction) -> date:
        known = transaction.get(DemoStart, SINGLE_ROW)
        if known is None:
            known = DemoStart(day=context.clock().astimezone(UTC).date())
            transaction.put(known)
        return known.day

    return context.store.write(work).result()
