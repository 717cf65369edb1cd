"""What is done before the first request: kernels are compiled, and the garbage collector leaves loaded objects alone.

Kernels are compiled by a tiny service in memory that goes through a day.
"""

from __future__ import annotations

import gc
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Final

from kaczmatch.app.composition import fresh_rng, new_id, picks_of, service_config_of
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.population.traits import unfitted_prior
from kaczmatch.learners.prior import Prior
from kaczmatch.recommend.index.packed_ids import PackedIds
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.schemas.profiles import Coordinates, ProfileInput
from kaczmatch.service.domain.catalogue import model_learner
from kaczmatch.service.domain.config import QuotaLimit
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.experiment import Assigned
from kaczmatch.service.meeting.decks import Decks
from kaczmatch.service.meeting.preferences import Preferences
from kaczmatch.service.meeting.profiles import Profiles
from kaczmatch.service.meeting.ranking import CandidateRanking
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.meeting.swipes import Swipe, Swipes
from kaczmatch.service.meeting.undo import Undo
from kaczmatch.service.operations.models import Models
from kaczmatch.service.operations.relearning import Relearning
from kaczmatch.settings.model import Settings
from kaczmatch.storage import MemoryStore

_COLLECT_EVERY: Final = (3_000, 2, 100)  # objects: requests wait while 9,000 are looked through, and rarely for all of them
_TAGS: Final = 6
_BULK_COLLECTS_EVERY: Final = (50_000, 10, 100)  # thousands of rows are under way, and nobody waits for a request


def freeze_garbage(*, bulk: bool = False) -> None:
    """Exempt everything that is loaded by now from garbage collection, and collect rarely now, more rarely still in bulk work."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*(_BULK_COLLECTS_EVERY if bulk else _COLLECT_EVERY))


def freeze_loaded() -> None:
    """Exempt what was loaded since, beside requests: to look through it later would stop all of them.

    Only young objects are looked through here, which takes a few milliseconds.
    """
    gc.collect(1)
    gc.freeze()


def warm_up(settings: Settings) -> None:
    """A day as the store begins, and one with traits where a fit may find that they pay: no request is to wait for kernels."""
    _live_a_day(settings)
    rule = model_learner(settings.learner, settings.learner_settings)
    if isinstance(rule, ProbitTraits):
        _live_a_day(settings, unfitted_prior(rule, _TAGS))


def _live_a_day(settings: Settings, prior: Prior | None = None) -> None:
    """Everybody is compatible with everybody, so that all steps have something to do."""
    moment = datetime(2020, 1, 1, 23, tzinfo=UTC)  # late enough for picks, whatever their hour

    def clock() -> datetime:
        nonlocal moment
        moment += timedelta(seconds=1)
        return moment

    unlimited = QuotaLimit(None, timedelta(days=1))  # small quotas must not keep the service from starting
    rules = replace(service_config_of(settings), swipes=unlimited, decks=unlimited, edits=unlimited)
    rules = replace(rules, schema=replace(rules.schema, capacity={}))  # nor small capacities
    if rules.experiment is not None:
        rules = replace(rules, experiment=replace(rules.experiment, assigned=Assigned.USER))  # so that every arm gets some
    context = Context(MemoryStore(), rules, clock, new_id)
    tags = [f"tag {number}" for number in range(_TAGS)]
    Models(context).set_up(Vocabulary.of(tags=tags), settings.learner, settings.learner_settings)
    if prior is not None:
        Relearning(context).relearn(settings.learner, settings.learner_settings, prior)
    people, kinds = Profiles(context), frozenset(rules.schema.kinds)
    for number in range(12):
        has = frozenset(tags[place] for place in range(_TAGS) if (number >> (place % 4)) & 1)
        about = ProfileInput(
            name="Somebody",
            born=date(1950, 1, 1),
            i_am=kinds,
            i_look_for=kinds,
            tags=has,
            location=Coordinates(latitude=0.0, longitude=0.0),
        )
        people.put(f"p{number}", about).result()
    world = ServingIndex(context)
    world.load()
    decks, swiping = Decks(context, world, fresh_rng), Swipes(context)
    for viewer in ("p0", "p1"):
        hand = decks.deck(viewer, 6)
        for place, card in enumerate(hand.cards):
            swipe = Swipe(
                user=viewer,
                id=f"s{place}",
                candidate=card.person.id,
                decision=("like", "pass")[place % 2],
                deck=card.impression.deck,
            )
            swiping.swipe(swipe).result()
        last = hand.cards[-1]
        Undo(context).undo(viewer, f"s{len(hand.cards) - 1}").result()
        CandidateRanking(context, fresh_rng).why(viewer, last.person.id)
        CandidateRanking(context, fresh_rng).rank(viewer, ["p2", "p3", "p4"])
        Preferences(context).growth(viewer)
        swiping.end_session(viewer).result()
        world.follow()
    if publish := picks_of(settings, context):
        publish()
    for number in range(2, 12 if rules.experiment is not None else 2):
        decks.deck(f"p{number}", 6)
    PackedIds.of(["p0"]).numbers(["p0"])  # as a snapshot has them, which so few people do without
