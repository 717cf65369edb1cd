"""The edition of picks that is shown, and whom of it somebody can still meet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, final

from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import SINGLE_ROW, LatestDecision, Person, Pick, PublishedPicks
from kaczmatch.service.domain.store import Snapshot
from kaczmatch.service.meeting.viewer_context import ViewerState, matched_or_blocked_among, who_fits

LIFE: Final = timedelta(days=2)  # until the next edition, and another day if that is late


@final
@dataclass(frozen=True, slots=True, eq=False)
class CurrentPicks:
    """Picks of one person in the order of their own liking, and the people who are picked."""

    edition: PublishedPicks | None
    picks: list[Pick]
    people: dict[str, Person]

    def first(self, most: int) -> tuple[list[Pick], dict[str, Person]]:
        some = self.picks[:most]
        return some, {pick.candidate: self.people[pick.candidate] for pick in some}


def current_picks(reader: Snapshot, context: Context, known: ViewerState, now: datetime) -> CurrentPicks:
    """Those who are there, fit, and were neither answered since the edition nor matched or blocked."""
    edition, user = reader.get(PublishedPicks, SINGLE_ROW), known.person.id
    if edition is None or edition.at + LIFE <= now:
        return CurrentPicks(None, [], {})
    picks = reader.find(Pick, edition=edition.edition, user=user)
    picked = [pick.candidate for pick in picks]
    decided = reader.many(LatestDecision, [(user, other) for other in picked]).values()
    hidden = matched_or_blocked_among(reader, user, picked) | {pair.candidate for pair in decided if pair.at >= edition.at}
    people = who_fits(reader, context, known, [pick.candidate for pick in picks if pick.candidate not in hidden], now)
    left = sorted((pick for pick in picks if pick.candidate in people), key=lambda pick: pick.place)
    return CurrentPicks(edition, left, people)
