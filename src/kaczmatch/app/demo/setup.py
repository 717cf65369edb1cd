"""The demo as part of a system: its people are added before the service is ready, and reply while it runs."""

from __future__ import annotations

from concurrent.futures import Future
from datetime import UTC, date
from typing import Any

import numpy as np
import structlog
from fastapi import APIRouter

from kaczmatch.app.composition import picks_of
from kaczmatch.app.demo.history import past_reports, past_swipes
from kaczmatch.app.demo.key import demo_key
from kaczmatch.app.demo.population import DemoPopulation, draw_population
from kaczmatch.app.demo.replies import DemoReplies
from kaczmatch.app.demo.routes import demo_router
from kaczmatch.app.demo.worlds import WORLDS
from kaczmatch.app.system import System
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import SINGLE_ROW, DemoStart, Person
from kaczmatch.service.domain.store import Transaction
from kaczmatch.service.meeting.profiles import Profiles
from kaczmatch.service.meeting.safety import Safety
from kaczmatch.service.meeting.swipes import Swipes

REPLY_SECONDS = 2.0

log = structlog.stdlib.get_logger("kaczmatch")


def add_demo(system: System) -> tuple[APIRouter, ...]:
    """Add the demo's people before the system is ready, and let them reply while it runs. Returns the demo's routes."""
    context, settings = system.context, system.settings
    day = _first_day(context)
    with context.store.read() as reader:
        vocabulary = context.catalogue.vocabulary(reader, context.catalogue.current(reader).vocabulary)
    world = WORLDS[settings.demo or "dating"]
    population = draw_population(settings.demo_people, settings.demo_seed, vocabulary, day, context.config.schema, world)
    system.before_ready.append(lambda: fill_store(context, system.use_cases.safety, population, settings.demo_seed))
    if publish := picks_of(settings, context):
        system.before_ready.append(publish)
    replies = DemoReplies(context, population, np.random.default_rng([settings.demo_seed, 2]))
    system.jobs.append((REPLY_SECONDS, "demo replies", replies.reply))
    credentials = system.use_cases.credentials
    return (demo_router(population, credentials.caller(demo_key(credentials, settings.data / "demo-key")), world.groups),)


def fill_store(context: Context, safety: Safety, population: DemoPopulation, seed: int) -> int:
    """Put everybody and their past into an empty store; one with people in it is left as it is."""
    with context.store.read() as reader:
        if reader.find(Person, limit=1):
            return 0
    people, use_case = Profiles(context), Swipes(context)
    for waiting in _in_parts([(people.put, (user, about)) for user, about in population.people.items()]):
        _finish(waiting)
    swipes = list(past_swipes(population, seed, context.clock(), context.config.schema))
    for waiting in _in_parts([(use_case.import_swipe, (swipe, at)) for swipe, at in swipes]):
        _finish(waiting)
    for report in past_reports(swipe for swipe, _ in swipes):
        safety.report(*report).result()
    log.info("demo", people=len(population.people), swipes=len(swipes))
    return len(population.people)


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
