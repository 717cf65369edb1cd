"""How often people of a group that an operator names are shown, liked and matched, beside all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

import numpy as np

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.schemas.operators import GroupComparison, GroupFigures
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.impressions import Impression, impressions, standing_answers
from kaczmatch.service.domain.records import PARTS, Decision, MatchSide, Person, PersonNumber, StoredDeck
from kaczmatch.service.domain.store import Reader, Snapshot
from kaczmatch.service.meeting.profile_features import tags_of

_MOST: Final = 20_000  # people who are looked at, or a sample of so many
_DECKS: Final = 20_000  # that are looked at
_AT_ONCE: Final = 500  # decks, or people


def compare_group(context: Context, name: str, *, most: int = _MOST, seed: int = 0) -> GroupComparison:
    """A group are the people with a tag, or of a kind. Both sides are of one sample of people, and so are all figures."""
    now = context.clock()
    with context.store.read() as reader:
        vocabulary = context.catalogue.vocabulary(reader, context.catalogue.current(reader).vocabulary)
        kinds, tags = context.config.schema.kinds, [term.name for term in vocabulary.terms if term.is_tag and not term.retired]
        if name not in {*kinds, *tags}:
            raise InvalidInput("name", f"there is no kind and no tag {name!r}; {did_you_mean(name, [*kinds, *tags])}")
        people = _sample(reader, most, np.random.default_rng(seed))
        members = {one.id for one in people if name in one.i_am or name in tags_of(one, vocabulary)[0]}
        ids = {one.id for one in people}
        since, cards, likes = _shown(reader, ids)
        matches = Counter[str]() if since is None else _matches(reader, ids, since)
    both = [_figures(some, cards, likes, matches) for some in (members, ids - members)]
    return GroupComparison(at=now, since=since, name=name, members=both[0], others=both[1])


def _sample(reader: Reader, most: int, rng: np.random.Generator) -> list[Person]:
    """Everybody, or so many or a few more, whoever they are: people are taken by parts, which go by a hash of the id."""
    if reader.count(Person) <= most:
        return reader.find(Person)
    found: list[Person] = []
    for part in rng.permutation(PARTS).tolist():
        found += reader.many(Person, [(one.id,) for one in reader.find(PersonNumber, part=part)]).values()
        if len(found) >= most:
            break
    return found


def _shown(reader: Reader, people: Collection[str]) -> tuple[datetime | None, Counter[str], Counter[str]]:
    """Since when decks are looked at; and how many of their cards showed each of these people, and were liked."""
    since, cards, likes, left = None, Counter[str](), Counter[str](), _DECKS
    after: tuple[object, ...] = ()
    while left and (page := reader.find(StoredDeck, newest=True, after=after, limit=min(left, _AT_ONCE))):
        shown = [card for card in impressions(reader, page) if card.candidate in people]
        cards.update(card.candidate for card in shown)
        likes.update(card.candidate for card in _liked(reader, shown))
        since, after, left = page[-1].at, (page[-1].at, page[-1].id), left - len(page)
    return since, cards, likes


def _liked(reader: Reader, cards: Sequence[Impression]) -> list[Impression]:
    return [card for card, swipe in standing_answers(reader, cards) if swipe is not None and swipe.decision == Decision.LIKE]


def _matches(reader: Snapshot, people: Collection[str], since: datetime) -> Counter[str]:
    """How many matches people have made since then."""
    found = Counter[str]()
    after: tuple[Any, ...] = ()
    while page := reader.values(MatchSide, ("at", "id", "user"), newest=True, after=after, limit=_AT_ONCE):
        found.update(user for at, _, user in page if at >= since and user in people)
        after = page[-1]
        if after[0] < since:
            break
    return found


def _figures(people: set[str], cards: Counter[str], likes: Counter[str], matches: Counter[str]) -> GroupFigures:
    return GroupFigures(
        people=len(people),
        cards=sum(cards[one] for one in people),
        likes=sum(likes[one] for one in people),
        matches=sum(matches[one] for one in people),
    )
