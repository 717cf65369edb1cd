"""A person's picks: whom the last edition gives them, as far as they can still be shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, final

from kaczmatch.recommend.decks.deck import Reason
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.impressions import impressions
from kaczmatch.service.domain.records import PublishedPicks, StoredDeck
from kaczmatch.service.meeting.decks import Decks
from kaczmatch.service.meeting.open_deck import OpenDeck, deck_of_nobody, impression, new_deck, with_reasons
from kaczmatch.service.meeting.published_picks import LIFE, current_picks
from kaczmatch.service.meeting.viewer_context import load_viewer_state

_NONE: Final = OpenDeck(None, (), "nobody is picked for you today; ask for a deck", empty_code="no-picks")


@final
@dataclass(frozen=True, slots=True)
class DailyPicks:
    """The use case of seeing one's picks. They are a deck beside the other one, whose cards were not drawn."""

    context: Context
    decks: Decks

    def of(self, user: str) -> OpenDeck:
        """The cards of today's picks that are not answered. The first request of an edition opens a deck of them."""
        with self.context.store.read() as reader:
            now = self.context.clock()
            known = load_viewer_state(reader, self.context, user)
            if nobody := deck_of_nobody(reader, self.context, known):
                return nobody
            current = current_picks(reader, self.context, known, now)
            edition, picks, people = current.edition, current.picks, current.people
            if edition is None or not picks:
                return _NONE
            numbers = reader.numbers_of(people)
            opened = reader.get(StoredDeck, user, _deck_id(edition))
            shown = {card.candidate: card for card in impressions(reader, [] if opened is None else [opened])}
        if opened is not None:
            cards = [shown[pick.candidate] for pick in picks if pick.candidate in shown]
            return OpenDeck(opened, with_reasons(known, cards, people)) if cards else _NONE
        about = f"the picks of {edition.at:%Y-%m-%d}, {edition.assignment}"
        deck = new_deck(self.context, known, now, len(picks), eligible=len(picks), policy=Reason.PICKED.value, reason=about)
        deck = replace(deck, id=_deck_id(edition), expires=edition.at + LIFE)
        new = [impression(deck, place, pick.candidate, None, pick.score, Reason.PICKED) for place, pick in enumerate(picks)]
        return self.decks.stored(self.decks.begin_storing(known, deck, new, people, numbers)) or _NONE


def _deck_id(edition: PublishedPicks) -> str:
    return f"picks-{edition.edition}"
