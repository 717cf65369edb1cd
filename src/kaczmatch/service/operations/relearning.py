"""Another learner or prior: everybody's events are folded under it beside the model in use, and then all processes switch.

And what follows from a switch or a wider vocabulary: states that nobody deals by any more are dropped, and states over fewer
terms are rewritten once. One process at a time does it, a few people per commit, with a rest after each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, final

from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.learners.prior import Prior
from kaczmatch.service.domain.catalogue import BUILDING, IN_USE, REJECTED, RETIRED, learner_from, model_record
from kaczmatch.service.domain.changes import live_processes
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.feature_snapshots import with_features
from kaczmatch.service.domain.leases import Lease
from kaczmatch.service.domain.locks import CHANGES, EVERYTHING, MODELS
from kaczmatch.service.domain.records import (
    SINGLE_ROW,
    ActiveVersions,
    Event,
    GrownStates,
    Model,
    StoredPrior,
    StoredState,
)
from kaczmatch.service.domain.refusals import Conflict
from kaczmatch.service.domain.store import Reader, Transaction
from kaczmatch.service.domain.store_parts import StoreParts
from kaczmatch.service.operations.models import check_learner
from kaczmatch.service.operations.recent_loss import predicts_better
from kaczmatch.service.operations.trait_pass import FEW, FittedSite, LookedAt, TraitPass
from kaczmatch.service.operations.unused_models import drop_unused, models_left_over

_PEOPLE = 60  # whose states are committed together
_READ, _FOLDED = 12, 3  # people whose events are read together; and after so many it rests
_STATES = 100  # that are rewritten together

Progress = Callable[[int, int], None]


@final
@dataclass(frozen=True, slots=True)
class Relearning:
    """The use cases of changing the model."""

    context: Context
    parts: StoreParts = field(default_factory=StoreParts)
    _lease: Lease = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lease", Lease(self.context, "relearning"))

    def relearn(
        self,
        slug: str,
        settings: Mapping[str, Any],
        prior: Prior,
        on_progress: Progress | None = None,
        *,
        refit: bool = False,
        sites: Sequence[FittedSite] = (),
    ) -> int:
        """Learn by another model: fold everybody's log under it while the old one goes on, then switch at once.

        Swipes that come meanwhile are learned by both. If the process dies, the old model stays in use and `resume` goes on. A
        refit that does not predict the latest swipes better than the model in use is not put in use: returns 0 then.
        """
        rule = learner_from(prior, slug, settings)
        check_learner(rule, self.context.config)

        def begin(transaction: Transaction) -> int:
            current = self.context.catalogue.current(transaction)
            if current.building:
                raise Conflict(f"model {current.building} is being built already")
            number = max(model.id for model in transaction.find(Model)) + 1
            transaction.put(StoredPrior(version=prior.version, data=prior.to_bytes()))
            new = model_record(
                number, slug, settings, prior, BUILDING, self.context.clock(), self.context.config.appeal.half_life_days
            )
            transaction.put(replace(new, refit=refit))
            transaction.put(replace(current, building=number, building_traits=isinstance(rule, ProbitTraits)))
            return number

        if not self._lease.take():
            raise Conflict("another process is at work on the models; try again in a minute")
        try:
            # A swipe that read before this which models learn would be known to the old one alone, so none may be under way.
            number = self.context.store.write(begin, locks=[MODELS, EVERYTHING]).result()
            TraitPass(self.context, number).begin(sites)
            self._build(number, on_progress)
            drop_unused(self.context, self._lease)
            with self.context.store.read() as reader:
                return number if self.context.catalogue.current(reader).model == number else 0
        finally:
            self._lease.let_go()

    def rollback(self, on_progress: Progress | None = None) -> int:
        """Learn again by the learner and from the prior that were in use before."""
        with self.context.store.read() as reader:
            current = self.context.catalogue.current(reader)
            used = [one for one in reader.find(Model) if one.status == RETIRED and (one.id == 1 or one.used_from is not None)]
            before = max((one for one in used if one.id < current.model), key=lambda one: one.id, default=None)
            stored = None if before is None else reader.get(StoredPrior, before.prior)
        if before is None or stored is None:
            raise Conflict("no other model has been in use: there is nothing to go back to")
        prior, settings = Prior.from_bytes(stored.data), json.loads(before.settings)
        return self.relearn(before.learner, settings, prior, on_progress)

    def resume(self, on_progress: Progress | None = None) -> int:
        """Finish what was interrupted or could not be done yet. Returns the model that was being built, or 0."""
        with self.context.store.read() as reader:
            current = self.context.catalogue.current(reader)
            unfinished = current.building or current.previous or any(models_left_over(reader, self.context))
            left = unfinished or self._states_to_grow(reader, current)
        if not left or not self._lease.take():
            return 0
        try:
            if current.building:
                self._build(current.building, on_progress)
            drop_unused(self.context, self._lease)
            self._grow_states()
        finally:
            self._lease.let_go()
        return current.building

    def _build(self, number: int, on_progress: Progress | None) -> None:
        with self.context.store.read() as reader:
            current = self.context.catalogue.current(reader)
            model = reader.get(Model, number)
        if current.building_traits:
            built = self._follow_log(TraitPass(self.context, number), on_progress)
        else:
            while found := self._fold_everybody(number, on_progress):
                pass  # who has swiped meanwhile
            built = found is not None
        if not built:
            return
        if model is not None and model.refit and not predicts_better(self.context, current.model, number):
            self.context.store.write(partial(self._reject, number), locks=[MODELS]).result()
            return
        locks = [MODELS, CHANGES, *([EVERYTHING] if current.building_traits else [])]
        trait_pass = TraitPass(self.context, number)
        while True:
            looked_at = trait_pass.look_ahead() if current.building_traits else None
            if self.context.store.write(partial(self._switch, number, looked_at), locks=locks).result():
                return
            if not self._follow_log(trait_pass, on_progress):
                return

    def _follow_log(self, trait_pass: TraitPass, on_progress: Progress | None) -> bool:
        """Bring a model with traits to the end of the log, or nearly. False: another process goes on with it."""
        while True:
            last = trait_pass.last_event(self._lease.take)
            if last is None:
                return False
            with self.context.store.read() as reader:
                first = reached = trait_pass.reached(reader)
            while reached < last:
                if not self._lease.take():
                    return False
                reached = trait_pass.step(last)
                if on_progress is not None:
                    on_progress(reached, last)
                self.context.rest()
            if last - first <= FEW:
                return True

    def _fold_everybody(self, number: int, on_progress: Progress | None) -> int | None:
        """Fold the events of everybody who has swiped and has no state under a model yet. Returns how many there were.

        None: another process goes on with it. Who has not swiped has no state under any model: they are at the start.
        """
        done = found = 0
        with self.context.store.read() as reader:
            model = self.context.catalogue.current(reader).model
            total = reader.count(StoredState, model=model)
        pages = _who_has_swiped(self.context, model)
        with closing(self.parts.results(self.context, partial(_fold_people, number), pages)) as parts:
            for people, new in parts:
                done, found = done + people, found + new
                if not self._lease.take():
                    return None
                if on_progress is not None:
                    on_progress(done, max(done, total))
        if on_progress is not None and not done:
            on_progress(0, 0)  # nobody has swiped
        return found

    def _switch(self, number: int, looked_at: LookedAt | None, transaction: Transaction) -> bool:
        """All processes begin to use the new model. As long as one still deals by the old one, that goes on learning.

        False: a model with traits has too many events left to learn from at once.
        """
        current = self.context.catalogue.current(transaction)
        if current.building != number:
            return True  # another process was at it too, and faster
        behind = any(process.model == current.model for process in live_processes(transaction, self.context.clock()))
        retired, used = transaction.get(Model, current.model), transaction.get(Model, number)
        if looked_at is not None and not TraitPass(self.context, number).learn_rest(transaction, looked_at):
            return False
        if retired is not None:
            transaction.put(replace(retired, status=RETIRED))
        if used is not None:
            transaction.put(replace(used, status=IN_USE, used_from=self.context.clock()))
        transaction.put(
            replace(current, model=number, building=0, building_traits=False, previous=current.model if behind else 0)
        )
        return True

    def _reject(self, number: int, transaction: Transaction) -> None:
        current, model = self.context.catalogue.current(transaction), transaction.get(Model, number)
        if current.building == number and model is not None:
            transaction.put(replace(model, status=REJECTED))
            transaction.put(replace(current, building=0, building_traits=False))

    def _states_to_grow(self, reader: Reader, current: ActiveVersions) -> GrownStates | None:
        """What will be true of the stored states when it is done; None: it is."""
        terms = self.context.catalogue.vocabulary(reader, current.vocabulary).dimensions
        wanted = GrownStates(model=current.model, dimensions=terms)
        starts_over = self.context.catalogue.fold(reader, current.model).prior.dimensions
        return None if starts_over == terms or reader.get(GrownStates, SINGLE_ROW) == wanted else wanted

    def _grow_states(self) -> None:
        """Rewrite stored states that are over fewer terms than the vocabulary, once, so that no start has to grow them."""
        with self.context.store.read() as reader:
            wanted = self._states_to_grow(reader, self.context.catalogue.current(reader))
        last = ""
        while wanted is not None and self._lease.take():
            model, terms = wanted.model, wanted.dimensions
            with self.context.store.read() as reader:
                page = reader.find(StoredState, model=model, after=(model, last), limit=_STATES)
                fold = self.context.catalogue.fold(reader, model)
            tracked = [(one, fold.decode(one)) for one in page]
            old = [(one, known) for one, known in tracked if known.state.dimensions < terms]
            grown = [fold.encode(one.user, replace(known, state=fold.learner.grow(known.state, terms))) for one, known in old]
            _replace(self.context, [one for one, _ in old], grown)
            if len(page) < _STATES:
                self.context.store.write(partial(_put, wanted)).result()
                return
            last = page[-1].user
            self.context.rest()


def _who_has_swiped(context: Context, model: int) -> Iterator[list[str]]:
    """Those with a state under a model, some at a time."""
    last: tuple[Any, ...] = (model, "")
    while True:
        with context.store.read() as reader:
            page = reader.values(StoredState, ("model", "user"), after=last, limit=_PEOPLE, model=model)
        if not page:
            return
        yield [user for _, user in page]
        last = page[-1]


def _fold_people(number: int, context: Context, people: Sequence[str]) -> tuple[int, int]:
    """Fold the events of those who have swiped and have no state under a model yet. Returns how many there are of both."""
    with context.store.read() as reader:
        model = context.catalogue.current(reader).model  # and every vocabulary there was: events were folded under them
        states = reader.many(StoredState, [key for user in people for key in ((model, user), (number, user))])
        new = [states[model, user] for user in people if (model, user) in states and (number, user) not in states]
        fold = context.catalogue.fold(reader, number)
        folded = []
        for start in range(0, len(new), _READ):
            some = new[start : start + _READ]
            logs = reader.of_people(Event, "user", [one.user for one in some])
            with_features(reader, chain.from_iterable(logs.values()))
            for few in (some[first : first + _FOLDED] for first in range(0, len(some), _FOLDED)):
                folded += [fold.encode(one.user, fold.replay(logs[one.user])) for one in few]
                context.rest()
    _replace(context, new, folded)
    context.rest()
    return len(people), len(new)


def _replace(context: Context, read: Sequence[StoredState], made: Sequence[StoredState]) -> None:
    """Keep the states that were made of what was read, but of nobody whose state has changed since."""

    def work(transaction: Transaction) -> None:
        now = transaction.many(StoredState, keys)
        for key, before, after in zip(keys, read, made, strict=True):
            if now.get(key) == before:
                transaction.put(after)

    keys = [one.identity() for one in read]
    if read:
        locks = [one.user for one in read]
        context.store.write(work, locks=locks, prefetch=[(StoredState, key) for key in keys]).result()


def _put(record: GrownStates, transaction: Transaction) -> None:
    transaction.put(record)
