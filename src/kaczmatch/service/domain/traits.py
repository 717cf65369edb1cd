"""What everybody's swipes say of a person's traits, kept per model and written in the commit of each swipe.

A swipe leaves one record: the candidate's traits as the user saw them, and what the swipe says of them in turn, its site. A
person's traits are the sum of the sites. Sums are of whole numbers, so that taking a site out is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np

from kaczmatch.core.moments import microsecond
from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.logs.fold import TrackedState
from kaczmatch.learners.population.traits import CandidateTraits, Sites, TraitModel
from kaczmatch.service.domain.feature_snapshots import seen_features, with_features
from kaczmatch.service.domain.folding import UNSEEN, ModelFold, label_of
from kaczmatch.service.domain.leaving import leaving
from kaczmatch.service.domain.records import Decision, Event, EventKind, LatestDecision, SeenTraits, StoredTraits
from kaczmatch.service.domain.sparse_features import unpacked
from kaczmatch.service.domain.store import Reader, Transaction


def with_seen(reader: Reader, fold: ModelFold, events: Iterable[Event]) -> list[Event]:
    """The same events, which now know the features and, for a model with traits, the traits that were seen."""
    known = with_features(reader, events)
    keys = [(fold.model, event.user, event.id) for event in known]
    found = {} if fold.traits is None else reader.many(SeenTraits, keys)
    for event, key in zip(known, keys, strict=True):
        seen = found.get(key)
        seen = None if seen is None or not seen.said else seen
        if seen is not None or event.said is not None:  # which another model may have read
            object.__setattr__(event, "said", None if seen is None else np.frombuffer(seen.said, np.float64))
    missing = [] if fold.traits is None else [event for event in known if event.said is None]
    gone = leaving(reader, (event.candidate for event in missing))
    for event in missing:
        if event.candidate in gone:
            object.__setattr__(event, "said", UNSEEN)
    return known


def learn_event(
    transaction: Transaction, fold: ModelFold, event: Event, before: TrackedState, *, repeated: bool, first_answer: str | None
) -> TrackedState:
    """One more step of a model. `first_answer` is the user's first like or pass of the candidate before this event, if any.

    After a swipe, a model with traits also writes what the user saw and what the swipe says of the candidate.
    """
    if fold.traits is None or repeated or event.kind != EventKind.SWIPED or event.decision == Decision.SKIP:
        return fold.step(before, event, repeated=repeated)
    candidate = event.candidate or ""
    earlier = transaction.get(SeenTraits, fold.model, event.user, event.id if first_answer is None else first_answer)
    own = None if earlier is None else site_of(earlier)
    sums = traits_of(fold.traits, transaction.get(StoredTraits, fold.model, candidate))
    said, site = seen_and_site(fold, event, before, sums, own, counts=own is None)
    object.__setattr__(event, "said", said)
    if site is not None:
        transaction.put(StoredTraits(model=fold.model, user=candidate, sums=sums.plus(site).to_bytes()))
    elif first_answer is None:
        site = own  # which the fit of the model wrote, see `put_fitted_site`
    transaction.put(
        SeenTraits(
            model=fold.model,
            user=event.user,
            swipe=event.id,
            candidate=candidate,
            said=said.tobytes(),
            site=b"" if site is None else site.astype("<i4").tobytes(),
        )
    )
    return fold.step(before, event, repeated=False)


def put_fitted_site(transaction: Transaction, fold: ModelFold, user: str, candidate: str, site: Sites) -> None:
    """What a fit found that a user's first answer says of a candidate. The pass through the log keeps it, and adds what was seen.

    A decision that was taken back since says nothing.
    """
    pair = transaction.get(LatestDecision, user, candidate)
    if pair is None or pair.first_answer is None or transaction.get(SeenTraits, fold.model, user, pair.first_answer) is not None:
        return
    sums = traits_of(trait_model(fold), transaction.get(StoredTraits, fold.model, candidate))
    transaction.put(StoredTraits(model=fold.model, user=candidate, sums=sums.plus(site).to_bytes()))
    said = site.astype("<i4").tobytes()
    transaction.put(SeenTraits(model=fold.model, user=user, swipe=pair.first_answer, candidate=candidate, said=b"", site=said))


def seen_and_site(
    fold: ModelFold, event: Event, before: TrackedState, sums: CandidateTraits, own: Sites | None, *, counts: bool
) -> tuple[Vector, Sites | None]:
    """The candidate's traits as the user saw them, without the user's `own` site; and the swipe's site where it `counts`."""
    model = trait_model(fold)
    dimensions = max(fold.dimensions_of(event.vocabulary), before.state.dimensions)
    features, at = unpacked(seen_features(event), dimensions), microsecond(event.at)
    said = model.shown_many(features[None], sums.sums[None], at, None if own is None else own[None])[0]
    if not counts:
        return said, None
    state, _ = fold.fold.brought_to(before, event.at, dimensions)
    return said, model.site(state, features, label_of(event), event.at)


def withdraw(transaction: Transaction, seen: SeenTraits) -> None:
    """Take one swipe back: its record, and its site from the candidate's traits."""
    transaction.drop(SeenTraits, *seen.identity())
    stored, site = transaction.get(StoredTraits, seen.model, seen.candidate), site_of(seen)
    if site is not None and stored is not None:
        sums = CandidateTraits.from_bytes(stored.sums).minus(site)
        transaction.put(StoredTraits(model=seen.model, user=seen.candidate, sums=sums.to_bytes()))


def site_of(seen: SeenTraits) -> Sites | None:
    return np.frombuffer(seen.site, "<i4").astype(np.int32) if seen.site else None


def traits_of(model: TraitModel, stored: StoredTraits | None) -> CandidateTraits:
    return CandidateTraits.unknown(model.learner.traits) if stored is None else CandidateTraits.from_bytes(stored.sums)


def people_traits(reader: Reader, fold: ModelFold, people: Sequence[str], features: Matrix, at: datetime) -> Matrix:
    """Traits and doubts of people with these features, one row each, from all that was said of them."""
    model = trait_model(fold)
    found = reader.many(StoredTraits, [(fold.model, user) for user in people])
    sums = np.array([traits_of(model, found.get((fold.model, user))).sums for user in people]).reshape(len(people), -1)
    return model.shown_many(features, sums, microsecond(at))


def trait_model(fold: ModelFold) -> TraitModel:
    if fold.traits is None:
        raise RuntimeError(f"model {fold.model} has no traits")
    return fold.traits
