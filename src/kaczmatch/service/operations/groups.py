"""How often people of a group that an operator names are shown, liked and matched, beside everybody else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.schemas.operators import GroupComparison, GroupFigures
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.impressions import Impression, standing_answers
from kaczmatch.service.domain.records import Decision, Event, MatchSide, Person, StoredDeck
from kaczmatch.service.meeting.profile_features import tags_of

_MOST: Final = 20_000  # people and sides of matches that are looked at
_DECKS: Final = 600


def compare_group(context: Context, name: str) -> GroupComparison:
    """A group are the people with a tag, or of a kind."""
    with context.store.read() as reader:
        vocabulary = context.catalogue.vocabulary(reader, context.catalogue.current(reader).vocabulary)
        people = reader.find(Person, limit=_MOST)
        cards = standing_answers(reader, reader.find(StoredDeck, newest=True, limit=_DECKS))
        matches = reader.find(MatchSide, newest=True, limit=_MOST)
    kinds, tags = context.config.schema.kinds, [term.name for term in vocabulary.terms if term.is_tag and not term.retired]
    if name not in {*kinds, *tags}:
        raise InvalidInput("name", f"there is no kind and no tag {name!r}; {did_you_mean(name, [*kinds, *tags])}")
    inside = {one.id for one in people if name in one.i_am or name in tags_of(one, vocabulary)[0]}
    others = {one.id for one in people} - inside
    members, rest = (_figures(ids, cards, matches) for ids in (inside, others))
    return GroupComparison(name=name, members=members, others=rest)


def _figures(people: set[str], cards: Sequence[tuple[Impression, Event | None]], matches: Sequence[MatchSide]) -> GroupFigures:
    shown = [swipe for card, swipe in cards if card.candidate in people]
    return GroupFigures(
        people=len(people),
        cards=len(shown),
        likes=sum(swipe is not None and swipe.decision == Decision.LIKE for swipe in shown),
        matches=sum(side.user in people for side in matches),
    )
