"""What the store knows about the viewer of a deck, a ranking or an explanation, as of one moment."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, final

from kaczmatch.learners.logs.fold import TrackedState
from kaczmatch.learners.state import State
from kaczmatch.recommend.decks.eligible import Answers
from kaczmatch.recommend.index.filter_kernel import filter_query, rows_pass
from kaczmatch.recommend.people.profile import Profile
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.recommend.scoring import Viewer
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.folding import ModelFold
from kaczmatch.service.domain.records import ActiveVersions, Block, Decision, LatestDecision, MatchSide, Person, StoredState
from kaczmatch.service.domain.refusals import nobody
from kaczmatch.service.domain.store import Reader, Snapshot
from kaczmatch.service.meeting.others_said import others_said
from kaczmatch.service.meeting.presence import in_decks
from kaczmatch.service.meeting.profiles import filter_rows, profile_of
from kaczmatch.service.meeting.serving_index import grown_state

MOST_ADMIRERS: Final = 1_000
_NEVER_DEALT: Final = ((MatchSide, "user", "other"), (Block, "user", "other"), (Block, "other", "user"))


@final
@dataclass(frozen=True, slots=True, eq=False)
class ViewerState:
    """A viewer and what was learned about them, under one model and vocabulary."""

    person: Person
    versions: ActiveVersions
    vocabulary: Vocabulary
    fold: ModelFold
    tracked: TrackedState
    state: State  # the tracked one, over all terms of the vocabulary
    profile: Profile


@final
@dataclass(frozen=True, slots=True, eq=False)
class ViewerContext:
    """A viewer as the recommender takes them, and the people whom a deck leaves out or prefers."""

    viewer: Viewer
    matched_or_blocked: frozenset[str]
    answers: Answers
    admirers: tuple[str, ...]


def load_viewer_state(reader: Reader, context: Context, user: str, served: ActiveVersions | None = None) -> ViewerState:
    """Read and decode the state of a person, once for all that a request needs it for.

    Decks are dealt by the versions that this process has `served` so far; everything else goes by those in use.
    """
    person = reader.get(Person, user)
    if person is None:
        raise nobody(user)
    versions = served or context.catalogue.current(reader)
    fold, vocabulary = context.catalogue.fold(reader, versions.model), context.catalogue.vocabulary(reader, versions.vocabulary)
    tracked = fold.decode(reader.get(StoredState, versions.model, user))
    state, profile = grown_state(fold, tracked.state, vocabulary), profile_of(person, vocabulary, context.config.schema)
    return ViewerState(person, versions, vocabulary, fold, tracked, state, profile)


def load_viewer_context(reader: Snapshot, context: Context, known: ViewerState, now: datetime) -> ViewerContext:
    """Everything else about a viewer that decks need."""
    user = known.person.id
    decided = reader.values(LatestDecision, ("candidate", "decision", "at"), user=user)
    likes = reader.values(LatestDecision, ("user",), candidate=user, decision=Decision.LIKE, newest=True, limit=MOST_ADMIRERS)
    viewer, hidden = load_viewer(reader, context, known, now), matched_or_blocked(reader, user)
    return ViewerContext(viewer, hidden, answers(decided), tuple(admirer for (admirer,) in likes))


def load_viewer(reader: Reader, context: Context, known: ViewerState, now: datetime) -> Viewer:
    """A viewer with what others said of them."""
    others = others_said(reader, context, known.fold, known.vocabulary, [known.person], now)[0]
    return Viewer(known.profile, known.fold.learner, known.state, others)


def answers(decided: Iterable[tuple[str, Decision, datetime]]) -> Answers:
    """What stands of somebody's decisions, as the recommender takes it."""
    found: dict[Decision, dict[Hashable, datetime]] = {Decision.LIKE: {}, Decision.PASS: {}, Decision.SKIP: {}}
    for other, decision, at in decided:
        found[decision][other] = at
    return Answers(liked=found[Decision.LIKE].keys(), passed=found[Decision.PASS], skipped=found[Decision.SKIP])


def matched_or_blocked(reader: Snapshot, user: str) -> frozenset[str]:
    """Who is never dealt (again) to a user: people matched or unmatched, and people blocked or reported by either side."""
    return reader.named_with(user, _NEVER_DEALT)


def matched_or_blocked_among(reader: Reader, user: str, others: Collection[str]) -> frozenset[str]:
    """Who of these is never dealt (again) to a user. What it reads grows with them alone."""
    mine, theirs = [(user, other) for other in others], [(other, user) for other in others]
    hidden = {other for kind in (MatchSide, Block) for _, other in reader.many(kind, mine)}
    return frozenset(hidden | {other for other, _ in reader.many(Block, theirs)})


def who_fits(reader: Reader, context: Context, known: ViewerState, ids: Collection[str], now: datetime) -> dict[str, Person]:
    """Who of these is there, neither paused nor away, and passes all filters by what the store knows now."""
    there = in_decks(reader, reader.many(Person, [(other,) for other in ids]).values(), context)
    if not there:
        return {}
    schema = context.config.schema
    query = filter_query(known.profile, schema, now.astimezone(UTC).date())
    passes = rows_pass(filter_rows(there, schema), query).tolist()
    return {person.id: person for person, fits in zip(there, passes, strict=True) if fits and person.id != known.person.id}
