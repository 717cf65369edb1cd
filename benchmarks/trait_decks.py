"""What traits cost a deck and a swipe: two services on SQLite with the same people, one with traits, one with appeal, in turns.

    python benchmarks/trait_decks.py [--people 4000] [--out FOLDER]

A deck is what a request gets, without HTTP: the viewer is read, a deck dealt by the default policy, and written. Viewers have
swiped before. Then the decks are answered, a few dozen swipes to a commit, as they come from many connections. A deck with traits
is to take at most a tenth longer, and a swipe at most twice as long, in processor time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np

from kaczmatch.app.composition import fresh_rng, new_id
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.population.traits import unfitted_prior
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.report.results import Table
from kaczmatch.schemas.profiles import Coordinates, ProfileInput
from kaczmatch.service.domain.config import QuotaLimit, ServiceConfig
from kaczmatch.service.domain.context import Context
from kaczmatch.service.meeting.decks import Decks
from kaczmatch.service.meeting.profiles import Profiles
from kaczmatch.service.meeting.serving_index import ServingIndex
from kaczmatch.service.meeting.swipes import Swipe, Swipes
from kaczmatch.service.operations.models import Models
from kaczmatch.service.operations.relearning import Relearning
from kaczmatch.storage import SqlStore
from tables import add_out, tell

TAGS, DECK, VIEWERS, WARM, SWIPES, TOGETHER = 60, 32, 300, 20, 10, 64
APPEAL, TRAITS = "appeal", "traits"
LONGEST: Final = {"deck": 1.1, "swipe": 2.0}  # times that with appeal


@dataclass(frozen=True)
class Service:
    """One store and the decks from it."""

    context: Context
    world: ServingIndex
    decks: Decks

    @classmethod
    def of(cls, file: Path, people: int, *, traits: bool) -> Service:
        moment = datetime(2026, 1, 1, 12, tzinfo=UTC)

        def clock() -> datetime:
            nonlocal moment
            moment += timedelta(seconds=1)
            return moment

        unlimited = QuotaLimit(None, timedelta(days=1))
        rules = replace(ServiceConfig(), swipes=unlimited, decks=unlimited, edits=unlimited)
        context = Context(SqlStore(f"sqlite:///{file}", readers=2), rules, clock, new_id)
        tags = [f"tag {number}" for number in range(TAGS)]
        Models(context).set_up(Vocabulary.of(tags=tags), ProbitTraits.slug, {})
        if traits:
            Relearning(context).relearn(ProbitTraits.slug, {}, unfitted_prior(ProbitTraits(), TAGS))
        rng, profiles = np.random.default_rng(0), Profiles(context)
        for number in range(people):
            kind, other = ("man", "woman") if number % 2 else ("woman", "man")
            about = ProfileInput(
                name="Somebody",
                born=date(1990, 1, 1),
                i_am=frozenset({kind}),
                i_look_for=frozenset({other}),
                tags=frozenset(np.array(tags)[rng.random(TAGS) < 0.3].tolist()),
                location=Coordinates(latitude=0.0, longitude=0.0),
            )
            profiles.put(f"p{number}", about).result()
        world = ServingIndex(context)
        world.load()
        return cls(context, world, Decks(context, world, fresh_rng))

    def swipe(self, viewer: str, rng: np.random.Generator) -> None:
        """A first, smaller deck, all of it decided on."""
        for place, card in enumerate(self.decks.deck(viewer, SWIPES).cards):
            decision = "like" if rng.random() < 0.4 else "pass"
            swipe = Swipe(user=viewer, id=f"s{place}", candidate=card.person.id, decision=decision, deck=card.impression.deck)
            Swipes(self.context).swipe(swipe).result()

    def deck_seconds(self, viewer: str) -> float:
        begin = time.process_time()
        found = self.decks.deck(viewer, DECK)
        spent = time.process_time() - begin
        assert len(found.cards) == DECK
        return spent

    def swipe_seconds(self, swipes: Sequence[Swipe]) -> float:
        """Of one swipe."""
        begin = time.process_time()
        for written in [Swipes(self.context).swipe(swipe) for swipe in swipes]:
            written.result()
        return (time.process_time() - begin) / len(swipes)

    def answers(self, viewers: Sequence[str]) -> list[Sequence[Swipe]]:
        """Of the open decks of these viewers, a few dozen at a time, in an order drawn once."""
        swipes = [
            Swipe(
                user=viewer,
                id=f"a{place}",
                candidate=card.person.id,
                decision="pass" if place % 3 else "like",
                deck=card.impression.deck,
            )
            for viewer in viewers
            for place, card in enumerate(self.decks.deck(viewer, DECK).cards)
        ]
        order = np.random.default_rng(2).permutation(len(swipes))
        return [[swipes[one] for one in order[first : first + TOGETHER]] for first in range(0, len(swipes), TOGETHER)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=4_000)
    add_out(parser)
    options = parser.parse_args()
    viewers = [f"p{number}" for number in range(VIEWERS + WARM)]
    with tempfile.TemporaryDirectory() as folder:
        kinds = {APPEAL: False, TRAITS: True}
        services = {name: Service.of(Path(folder) / f"{name}.db", options.people, traits=each) for name, each in kinds.items()}
        for each in services.values():
            rng = np.random.default_rng(1)
            for viewer in viewers:
                each.swipe(viewer, rng)
            each.world.follow()
        decks = np.array([[each.deck_seconds(viewer) for each in services.values()] for viewer in viewers])[WARM:]
        answers = zip(*(each.answers(viewers) for each in services.values()), strict=True)
        swipes = [[each.swipe_seconds(part) for each, part in zip(services.values(), both, strict=True)] for both in answers]
        for each in services.values():
            each.context.store.close()
    spent = {"deck": decks.mean(axis=0), "swipe": np.mean(swipes[WARM:], axis=0)}
    title = f"Decks of {DECK} among {options.people:,} people, {VIEWERS} viewers, {TAGS} tags, and swipes on them"
    rows = [
        {"heard of candidates": name}
        | {f"{what}, processor ms": 1e3 * each[place] for what, each in spent.items()}
        | {f"{what}, times as long": each[place] / each[0] for what, each in spent.items()}
        for place, name in enumerate(services)
    ]
    tell(options.out, Table("trait-decks", title, rows, timed=True))
    for what, most in LONGEST.items():
        if spent[what][1] > most * spent[what][0]:
            print(f"OVER ITS LIMIT of {most}: {what}")


if __name__ == "__main__":
    main()
