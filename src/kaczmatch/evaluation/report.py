"""What an evaluation found: numbers, and the tables, words and charts made from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, final

from kaczmatch.charts.lines import line_chart, reliability_chart
from kaczmatch.core.ranking_metrics import AUC, NDCG
from kaczmatch.evaluation.contenders import (
    ALL_ONES,
    APPEAL,
    BASELINES,
    DEFAULT,
    OWN_RATE,
    TRAITS,
    UNLEARNED,
    Contender,
    Fold,
)
from kaczmatch.evaluation.matches import EVERYBODY, FORWARD, TOPS, MatchScore, best_auc, best_fusions
from kaczmatch.evaluation.pooled import POOLED
from kaczmatch.evaluation.predictions import TOP, Predictions
from kaczmatch.evaluation.scores import (
    WARM,
    Interval,
    ProbabilityScore,
    Recommendation,
    Scores,
    probability_scores,
    ranking_scores,
    recommend,
)
from kaczmatch.evaluation.self_test import FALSE_ALARMS, HALF_WIDTH, ShuffledCheck
from kaczmatch.evaluation.trial import Trial
from kaczmatch.formats.configuration import Configuration
from kaczmatch.formats.swipe_table import LARGEST_FEATURE
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.recommend.scoring import FUSIONS
from kaczmatch.report.page import ResultsPage
from kaczmatch.report.results import Figure, ReportPart, Row, Table

CONFIGURATION = "kaczmatch.toml"
USUAL = Configuration(ProbitTraits.slug, {})  # the service's default
DRAWN = 6  # lines that a figure can hold, beside appeal and all-ones
WITHOUT_PRIOR = "probit-diag"  # of ours, what peers without a population are compared with
TESTERS, HEAVIEST = "all testers", "the heaviest"
SIMULTANEOUS = "Paired 95 % intervals that hold at once, over all rows."
VERDICTS = {"sound": "good", "leak": "bad", "cannot tell": "open"}
PROTOCOLS = {
    "strict": "Protocol strict: of others' decisions, each moment knows those before it; the population is fitted on other users.",
    "mature": "Protocol mature: other people's future is past, as in a service that has run for long.",
    "forward": "Protocol forward: the population is fitted on what was decided before a moment, and those who began later are tested.",
}


@final
@dataclass(frozen=True, eq=False)
class Report:
    """Everything that was measured. `tables` has the numbers, `advice` what to do, and `write` leaves all of it in a folder."""

    trial: Trial
    folds: Sequence[Fold]  # one, unless the protocol names more
    times: Sequence[int]  # numbers of swipes learned from
    predictions: Predictions
    peers: Sequence[str]
    matches: Sequence[MatchScore] | None  # where candidates swipe too
    shuffled: ShuffledCheck
    answered: float  # the share of swipes whose candidate has swiped on their user, too, if equal identifiers are one person

    @cached_property
    def contenders(self) -> list[Contender]:
        """Each once: from the fold in which it needs most memory, because some folds may have traits and others not."""
        same = zip(*(fold.contenders for fold in self.folds), strict=True)
        return [max(each, key=lambda one: one.bytes_per_user) for each in same]

    @cached_property
    def names(self) -> list[str]:
        """Ours, pooled models and baselines."""
        return [name for name in self.predictions.said if not name.endswith(UNLEARNED) and name not in self.peers]

    @cached_property
    def scores(self) -> Scores:
        """AUC on the swipes that follow."""
        return self._scores(self.names)

    @cached_property
    def probabilities(self) -> list[ProbabilityScore]:
        """Ours and the baselines', least log-loss first."""
        return [one for one in probability_scores(self.predictions, self._seed(11)) if one.name not in self.peers]

    @cached_property
    def recommendation(self) -> Recommendation:
        return recommend(self.scores, self.contenders, {each.name: each.log_loss.mean for each in self.probabilities})

    @cached_property
    def main(self) -> str:
        """The learner that the first answers are about: what is recommended, or else the service's default."""
        found = self.recommendation
        return found.chosen if found.proven else next((name for name in (TRAITS, DEFAULT) if name in self.names), found.best)

    @cached_property
    def own_swipes(self) -> Scores:
        """Each learner beside itself at its start, on the same held-out rows."""
        learned = [name.removesuffix(UNLEARNED) for name in self.predictions.said if name.endswith(UNLEARNED)]
        return self._scores([*learned, *(name + UNLEARNED for name in learned)])

    @cached_property
    def parts(self) -> list[ReportPart]:
        found = [self._own_part(), self._simple_part(), self._ranking_part(), self._probability_part()]
        found += [self._peer_part()] if self.peers else []
        found += [self._match_part(self.matches)] if self.matches is not None else []
        return [*found, self._shuffled_part()]

    @cached_property
    def tables(self) -> dict[str, list[Row]]:
        """Every table by its name, as rows."""
        return {table.name: list(table.rows) for part in self.parts for table in part.tables}

    @property
    def settings(self) -> Configuration:
        """What a service should use."""
        if not self.recommendation.proven:
            return USUAL
        rule = next(each.learner for each in self.contenders if each.name == self.main)
        return Configuration.of(rule, self.trial.protocol.appeal)

    def write(self, folder: str | Path, name: str = "your swipes") -> Path:
        """Every number as CSV and JSON, every figure as SVG and PNG, the settings, and `report.html`, whose path is returned."""
        folder = Path(folder)
        for part in self.parts:
            part.write(folder)
        (folder / CONFIGURATION).write_text(self.settings.text(f"kaczmatch evaluate on {name}"), encoding="utf-8")
        return ResultsPage(
            title=f"What learns from {name}",
            lead="Every learner on one swipe log: learn on a user's first swipes, freeze, rank the rest, without looking ahead.",
            scope=self.scope,
            command="kaczmatch evaluate",
            advice=[*self.advice, *self.hand_over(Path())],  # the page, wherever it lies
            headline=self._headline(),
            verdicts=VERDICTS,
        ).write(self.parts, folder)

    def _seed(self, stream: int) -> list[int]:
        return [self.trial.protocol.seed, stream]

    def _scores(self, names: Sequence[str], measure: int = AUC, **which: bool) -> Scores:
        return ranking_scores(self.predictions, names, self.times, self._seed(10), measure, **which)

    # words

    @property
    def advice(self) -> list[str]:
        """What to use, then why, at each number of swipes."""
        found, main, own = self.recommendation, self.main, self.own_swipes
        words = [*self._better_peer(), f"Use {main}." if found.proven else self._nothing_proven()]
        if main in own.names:
            gains = self._each(lambda place: own.difference(place, main, main + UNLEARNED), since=1)
            words.append(f"What a user's own swipes buy: {gains} in AUC, beside the state at 0 on the same candidates.")
        leads = [f"over {other} {self._leads(other)}" for other in self._simple]
        scores, places = self.scores, list(enumerate(self.times))
        areas = ", ".join(f"{scores.at(place, main).mean:.3f} after {t} ({scores.users(place):,} users)" for place, t in places)
        words.append(f"AUC of {main}: {areas}. Its lead: {'; '.join(leads)}.")
        rivals = [name for name in self.names if name != main]
        best = {place: self.scores.best(place, rivals) for place in range(len(self.times))}
        gaps = {place: self.scores.difference(place, name, main) for place, name in best.items()}
        ahead = [f"{best[place]} after {self.times[place]} by {_signed(gap)}" for place, gap in gaps.items() if gap.above_zero]
        words += [f"Ahead of it, at single numbers of swipes: {'; '.join(ahead)}."] if ahead else []
        if found.proven and main != found.best:
            sizes = {each.name: f"{each.bytes_per_user:,}" for each in self.contenders}
            loss = {each.name: f", log-loss {each.log_loss.mean:.4f}" for each in self.probabilities}
            costs = (f"{sizes[name]} bytes per user{loss.get(name, '')}" for name in (main, found.best))
            words.append(f"{found.best} is within error of it everywhere, and far larger: {' instead of '.join(costs)}.")
        return words

    def _nothing_proven(self) -> str:
        if self.scores.beats(len(self.times) - 1, APPEAL, OWN_RATE, len(self.times)):
            return "On this log, show people by appeal alone: no learner beats it beyond luck at any number of swipes."
        return "On this log nothing ranks better than chance beyond luck, or there are too few users to tell."

    def _better_peer(self) -> list[str]:
        """Peers that are ahead of what would be recommended, at each number of swipes."""
        scores, among = self._scores([self.main, *self.peers]), len(self.times) * len(self.peers)
        best = {place: scores.best(place, self.peers) for place in range(len(self.times) if self.peers else 0)}
        ahead = [
            f"{name} after {self.times[place]} by {_signed(scores.difference(place, name, self.main))}"
            for place, name in best.items()
            if scores.beats(place, name, self.main, among)
        ]
        return [f"Another library's learner ranks better than {self.main} here: {'; '.join(ahead)}. Of ours:"] if ahead else []

    @property
    def _simple(self) -> list[str]:
        """The strongest simple things."""
        return [name for name in (APPEAL, *POOLED) if name in self.names]

    def _lead(self, place: int, other: str) -> Interval:
        """Of the main learner; simultaneous."""
        return _turned(self.scores.together(place, other, self.main))

    def _leads(self, other: str) -> str:
        """At each number of swipes, in their order."""
        gaps = [self._lead(place, other) for place in range(len(self.times))]
        clear = [str(t) for t, gap in zip(self.times, gaps, strict=True) if gap.above_zero or gap.below_zero]
        return f"{', '.join(f'{gap.mean:+.3f}' for gap in gaps)} (ahead beyond error after {', '.join(clear) or 'none of them'})"

    def _each(self, gap: Callable[[int], Interval], since: int = 0) -> str:
        said = [f"{_signed(gap(place))} after {t}" for place, t in enumerate(self.times) if t >= since]
        return ", ".join(said) or "nothing is tested later"

    @property
    def scope(self) -> str:
        """What was read, how it was divided, and what was left out."""
        trial, table = self.trial, self.trial.table
        words = [
            f"{len(table):,} swipes of {len(table.users):,} users on {len(table.candidates):,} candidates,",
            f"{len(table.tags)} tags, {table.like.mean():.0%} likes. {_division_words(trial)}",
            PROTOCOLS[trial.knowledge],
            *_reading_words(trial),
        ]
        said = [_trait_words(fold) for fold in self.folds]
        words += said if len(said) == 1 else [f"Fold {number}: {one}" for number, one in enumerate(said, 1) if one]
        return " ".join(filter(None, [*words, self._match_words()]))

    def _match_words(self) -> str:
        """Why the test of matches is left out, where it is, or how much of the log it could use."""
        share = f"{self.answered:.0%} of the swipes have an answer: their candidate swiped on their user, too"
        if self.matches is not None:
            return f"Matches are tested: {share}." if self.matches else f"Matches cannot be tested, although {share}: see there."
        if not self.answered:
            return "Matches are not tested: no candidate of this log swiped on anybody who swiped on them."
        return (
            "Matches are not tested, because candidates are not taken for users. If users and candidates of the same identifier are the "
            f"same people, say --both-ways: then {share}."
        )

    def hand_over(self, folder: Path | None) -> list[str]:
        """How to use it, with the exact commands. Without a folder no file was written."""
        found, words = self.settings, []
        if not self.recommendation.proven:
            words.append(f"A service keeps its default: {USUAL.slug} starts from appeal alone, and has traits once they pay.")
        elif found.slug == USUAL.slug:
            words.append("A service has traits where they pay, and finds out whenever it fits.")
        if not found.has_belief:
            words.append("It does not know how sure it is, so it needs the paper's policy; and it keeps its published threshold.")
        file = (folder or Path()) / CONFIGURATION
        written = "These settings" if folder is not None else f"With --out, these settings are written to {CONFIGURATION}. They"
        words.append(f"{written} are for a new service: kaczmatch serve --config {file}")
        return [*words, f"For a service that has people (it fits the population's prior on them): {found.relearn_command(file)}"]

    def _headline(self) -> list[tuple[str, str]]:
        """A few numbers, and what each says."""
        last, main, own = len(self.times) - 1, self.main, self.own_swipes
        after, area = f"after {self.times[-1]} swipes", self.scores.at(last, main)
        numbers = [(f"{area.mean:.3f}", f"AUC of {main} {after}; {_signed(self._lead(last, APPEAL))} over appeal alone")]
        if main in own.names and self.times[-1]:
            gain = own.difference(last, main, main + UNLEARNED)
            numbers.insert(0, (f"{gain.mean:+.3f}", f"AUC by a user's own swipes {after} ({gain.low:+.3f} to {gain.high:+.3f})"))
        calibrated = "mean distance between the probability predicted and what happened"
        numbers += [(f"{one.calibration_error:.3f}", calibrated) for one in self.probabilities if one.name == main]
        for best in best_fusions(self.matches)[:1] if self.matches else []:
            numbers.append((f"{best.match_auc:.3f}", f"match AUC of {best.name}, {best.fusion} fusion"))
        return numbers

    # parts

    def _own_part(self) -> ReportPart:
        own = self.own_swipes
        pairs = {name: (name, name + UNLEARNED) for name in own.names if not name.endswith(UNLEARNED)}
        rows = [row for who, some in _lines(own) for row in _gaps("learner", some, pairs, who, together=False) if row["swipes"]]
        mine = [row for row in rows if row["learner"] == self.main]
        words = [
            "The same held-out candidates are ranked twice: by what was learned from the user's first swipes, and by the state that every "
            "user starts from. What others decided counts in both."
        ]
        note = "The heaviest can be tested at every number of swipes. Paired 95 % intervals over users."
        tables = [
            Table("own-swipes", f"{self.main} over its state at 0, on the same candidates", _without("learner", mine), note),
            Table("own-swipes-of-each", "The same of every learner", rows, in_report=False),
        ]
        figure = _figure("own-swipes", mine, "lead", "What own swipes buy", "AUC over the state at 0", by="who", zero=True)
        return ReportPart("own", "What did a user's own swipes buy?", words, tables, [figure] if mine else [])

    def _simple_part(self) -> ReportPart:
        pairs = {other: (self.main, other) for other in self._simple}
        areas = [
            {"learner": name, "who": who} | _over_times(some, name)
            for who, some in _lines(self.scores)
            for name in dict.fromkeys([self.main, *self._simple])
        ]
        leads = [row for who, some in _lines(self.scores) for row in _gaps("beside", some, pairs, who)]
        words = [
            "Appeal is how much others liked a candidate. The pooled models see tags, appeal and the user's running averages, and are "
            "trained on the users that the population is fitted on."
        ]
        tables = [
            Table("simple", f"AUC of {self.main} and of the strongest simple things", areas, self._who()),
            Table("simple-leads", f"How far {self.main} is ahead", leads, SIMULTANEOUS),
        ]
        mine = [row for row in leads if row["who"] == TESTERS]
        figure = _figure("simple-leads", mine, "lead", f"Lead of {self.main}", "AUC, user by user", by="beside", zero=True)
        return ReportPart("simple", "Is it better than something simple?", words, tables, [figure])

    def _ranking_part(self) -> ReportPart:
        ordered = self.scores.ordered(self.names)
        drawn = [*[name for name in ordered if name not in (*BASELINES, ALL_ONES)][:DRAWN], APPEAL, ALL_ONES]
        means = [{"learner": name} | _over_times(self.scores, name) for name in ordered]
        hearing = {name: (name, name.removesuffix(" + appeal")) for name in self.names if name.endswith(" + appeal")}
        hearing |= {TRAITS: (TRAITS, "probit-diag + population")}
        known = {name: pair for name, pair in hearing.items() if set(pair) <= set(self.names)}
        unknown = _gaps("learner", self._scores(self.names, unknown=True), known, TESTERS, together=False)
        words = [
            "For each user, learn on the first swipes, freeze, and rank the candidates of all that follow. An AUC of 0.5 is chance, 1 is "
            "perfect. The order is by the mean over the columns."
        ]
        tables = [Table("auc", "AUC on the swipes that follow", means, self._who()), self.ranking_table]
        if rows := [row for row in unknown if row["users"]]:
            note = "The lead is over the same learner that hears nothing of others, with its paired interval."
            title = "AUC among candidates about whom nobody else had decided yet"
            tables.append(Table("auc-unknown", title, _without("who", rows), note))
        lines = [row for row in self.ranking_table.rows if row["learner"] in drawn]
        banded = [self.main, APPEAL]
        figure = _figure("auc", lines, "auc", "How well the rest is ranked", "AUC, mean over users", names=drawn, banded=banded)
        return ReportPart("ranking", "How does every learner rank?", words, tables, [figure])

    @cached_property
    def ranking_table(self) -> Table:
        """One row per contender and number of swipes, with intervals and paired differences."""
        scores, gains, heavy = self.scores, self._scores(self.names, NDCG), self.scores.heaviest()
        rows = []
        for place, t in enumerate(self.times):
            for name in self.names:
                row: dict[str, Any] = {"learner": name, "swipes": t, "users": scores.users(place)}
                row |= _interval("auc", scores.at(place, name), "low", "high")
                for key, other in (("over_appeal", APPEAL), ("over_all_ones", ALL_ONES)):
                    row |= _interval(key, scores.together(place, name, other), f"{key}_low", f"{key}_high")
                row |= _interval("ndcg", gains.at(place, name), "ndcg_low", "ndcg_high")
                rows.append(row | {"auc_heaviest": heavy.at(place, name).mean, "users_heaviest": heavy.users(place)})
        title = f"AUC, and nDCG of the first {TOP}, with intervals and paired differences"
        return Table("ranking", title, rows, self._who(), in_report=False)

    def _probability_part(self) -> ReportPart:
        found, first = self.probabilities, self.probabilities[0]
        rows = [
            {"learner": each.name, "log_loss": each.log_loss.mean}
            | _interval("over_own_rate", each.over_own_rate, "low", "high")
            | {"calibration_error": each.calibration_error, f"calibration_error_after_{WARM}": each.warm_calibration_error}
            for each in found
        ]
        bins = [{"learner": each.name, **one._asdict()} for each in found for one in each.bins]
        title = f"Predicted and observed, after {WARM} swipes"
        words = [
            f"Each swipe is predicted before it is learned from. {first.name} loses least: {first.log_loss.mean:.3f} nats per swipe "
            f"({first.over_own_rate.mean:+.3f} from the user's own rate)."
        ]
        note = (
            "Nats per swipe, mean over users; the difference is from the user's own like rate so far, negative is better. Calibration "
            "error: mean distance between what was predicted and what happened, ten bins of equal width."
        )
        tables = [
            Table("probabilities", "Probabilities predicted before each swipe", rows, note),
            Table("reliability", title, bins, in_report=False),
        ]
        chart = reliability_chart(bins, names=[each.name for each in found[:DRAWN]], title=title)
        figures = [Figure("reliability", chart, "Ten bins of equal width, all users together; whiskers: 95 %")] if bins else []
        return ReportPart("probabilities", "Can its probabilities be believed?", words, tables, figures)

    def _peer_part(self) -> ReportPart:
        main, ours = self.main, [name for name in (DEFAULT, WITHOUT_PRIOR, APPEAL) if name in self.names and name != self.main]
        scores = self._scores([main, *ours, *self.peers])
        said = {one.name: one for one in probability_scores(self.predictions, self._seed(13), self.times[-1])}
        rows = [
            {"learner": name}
            | _over_times(scores, name)
            | {"log_loss": said[name].log_loss.mean if name in said else math.nan}
            | {"calibration_error": said[name].calibration_error if name in said else math.nan}
            for name in scores.ordered(scores.names)
        ]
        leads = _gaps("peer", scores, {peer: (main, peer) for peer in self.peers}, TESTERS)
        lost = [f"{row['peer']} after {row['swipes']} ({-row['lead']:+.3f})" for row in leads if row["verdict"] == "worse"]
        behind = {row["peer"] for row in leads} - {row["peer"] for row in leads if row["verdict"] != "better"}
        words = [
            "Individual peers learn from a user's own swipes alone, with tags, and with appeal as one more feature. implicit and EASE learn "
            "from everybody's decisions, as far as the protocol allows.",
            f"{main} is ahead of {len(behind)} of {len(self.peers)} peers at every number of swipes. Ahead of it: {'; '.join(lost) or 'none'}.",
        ]
        note = f"Log-loss and calibration error of the probabilities before each of a user's first {self.times[-1]} swipes."
        tables = [
            Table("peers", "AUC and probabilities, compared with other libraries", rows, note),
            Table("peers-leads", f"How far {main} is ahead of each peer", _without("who", leads), SIMULTANEOUS, in_report=False),
        ]
        drawn = [main, *ours, *scores.ordered(self.peers)[: DRAWN - 1]]
        lines = [
            {"learner": name, "swipes": t, "auc": scores.at(place, name).mean}
            for name in drawn
            for place, t in enumerate(self.times)
        ]
        figure = _figure("peers", lines, "auc", "Compared with other libraries", "AUC, mean over users", names=drawn)
        return ReportPart("peers", "Compared with other libraries", words, tables, [figure])

    def _match_part(self, found: Sequence[MatchScore]) -> ReportPart:
        title = "Does it find matches?"
        if not found:
            why = (
                "No match can be tested: some pairs must still be open on both sides when a user has made the tested number of swipes, some "
                "become matches and some not."
            )
            return ReportPart("matches", title, [why])
        ranked, times, k = best_fusions(found), sorted({each.swipes for each in found}), TOPS[1]
        best, last = ranked[0], times[-1]
        words = [
            f"A match is a like from both. A pair is ranked at a moment when neither had decided. After {last} swipes {best.name} with the "
            f"{best.fusion} fusion has a match AUC of {best.match_auc:.3f}; the best that looks at one side only has "
            f"{best_auc(found, FORWARD, last):.3f}."
        ]
        summary = [
            {"learner": each.name, "fusion": each.fusion, "match_auc": each.match_auc, "auc_per_user": each.auc_per_user.mean}
            | {f"precision_at_{k}": each.precision[k], f"success_at_{k}": each.success[k]}
            for each in ranked
        ]
        fusions = [{"fusion": key} | {f"after_{t}": best_auc(found, key, t) for t in times} for key in (FORWARD, *FUSIONS)]
        every = [
            {"learner": each.name, "fusion": each.fusion, "swipes": each.swipes, "side": each.side, "pairs": each.pairs}
            | {"matches": each.matches, "match_auc": each.match_auc}
            | _interval("auc_per_user", each.auc_per_user, "low", "high")
            | {f"{what}_at_{k}": getattr(each, what)[k] for k in TOPS for what in ("precision", "success")}
            for each in found
        ]
        tables = [
            Table("matches-best", f"Matches after {last} swipes, each learner under its best fusion", summary),
            Table("fusions", "Match AUC of the best learner under each fusion", fusions),
            Table("matches", "Matches: every learner, fusion, number of swipes and side", every, in_report=False),
        ]
        drawn = [each.name for each in ranked][:DRAWN]
        shown = [row for row in every if (row["fusion"], row["side"]) == (best.fusion, EVERYBODY) and row["learner"] in drawn]
        lines = [{name: row[name] for name in ("learner", "swipes", "match_auc")} for row in shown]  # without intervals per user
        figure = _figure("matches", lines, "match_auc", f"Match AUC, {best.fusion} fusion", "match AUC", names=drawn)
        return ReportPart("matches", title, words, tables, [figure])

    def _shuffled_part(self) -> ReportPart:
        check = self.shuffled
        rows = [
            {"learner": each.name} | _interval("auc", each.auc, "low", "high") | {"verdict": each.verdict}
            for each in check.scores
        ]
        verdict = {
            "leak": "NOT as it must be: something looks ahead, and no number of this report can be trusted.",
            "sound": f"As it must be, to within {check.widest:.3f}.",
            "cannot tell": f"Cannot tell: the log is too small for this test. It would see a leak of {2.0 * check.widest:.3f}, and "
            f"should see {2.0 * HALF_WIDTH:.3f}.",
        }[check.verdict]
        words = [
            "The same run with the decisions of every tested user in a random order, so that there is nothing to learn. "
            f"{verdict} The AUC farthest from 0.5 is {check.farthest.auc.mean:.3f} ({check.farthest.name})."
        ]
        note = (
            f"{check.users:,} users, {check.shuffles:,} shuffles, mean over numbers of swipes. All intervals hold at once with "
            f"{1.0 - FALSE_ALARMS:.1%} probability."
        )
        table = Table("shuffled", "Shuffled decisions: every AUC must be 0.5", rows, note)
        return ReportPart("check", "Is the test itself fair?", words, [table])

    def _who(self) -> str:
        counts = ", ".join(f"{self.scores.users(place):,} after {t}" for place, t in enumerate(self.times))
        heavy = self.scores.heaviest().users()
        return f"All users who can be tested at each number of swipes: {counts}. The heaviest {heavy:,} can be at every one."


def _lines(scores: Scores) -> list[tuple[str, Scores]]:
    """The heaviest apart only where they are not all testers: the same line twice would hide the first."""
    return [(TESTERS, scores)] if scores.tested.all() else [(TESTERS, scores), (HEAVIEST, scores.heaviest())]


def _gaps(
    key: str, scores: Scores, pairs: Mapping[str, tuple[str, str]], who: str, *, together: bool = True
) -> list[dict[str, Any]]:
    """Under each name of `key`, how far one is ahead of the other at each number of swipes; simultaneous where all have the same one."""
    rows = []
    for label, (one, other) in pairs.items():
        for place, t in enumerate(scores.times):
            gap = _turned(scores.together(place, other, one)) if together else scores.difference(place, one, other)
            verdict = "better" if gap.above_zero else "worse" if gap.below_zero else "no difference seen"
            row: dict[str, Any] = {key: label, "swipes": t, "who": who, "users": scores.users(place)}
            row |= {"auc": scores.at(place, one).mean, "auc_beside": scores.at(place, other).mean}
            rows.append(row | _interval("lead", gap, "low", "high") | {"verdict": verdict})
    return rows


def _interval(name: str, gap: Interval, low: str, high: str) -> dict[str, float]:
    return dict(zip((name, low, high), gap, strict=True))


def _turned(gap: Interval) -> Interval:
    return Interval(-gap.mean, -gap.high, -gap.low)


def _signed(gap: Interval) -> str:
    return f"{gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})"


def _over_times(scores: Scores, name: str) -> dict[str, float]:
    return {f"after_{t}": scores.at(place, name).mean for place, t in enumerate(scores.times)}


def _without(name: str, rows: Sequence[Row]) -> list[Row]:
    return [{key: value for key, value in row.items() if key != name} for row in rows]


def _figure(
    name: str,
    rows: Sequence[Row],
    y: str,
    title: str,
    y_title: str,
    *,
    by: str = "learner",
    names: Sequence[str] = (),
    banded: Sequence[str] = (),
    zero: bool = False,
) -> Figure:
    """A line for each value of the column `by`, over the number of swipes."""
    shown = [{"learner": row[by]} | {each: row[each] for each in ("swipes", y, "low", "high") if each in row} for row in rows]
    names = names or list(dict.fromkeys(row["learner"] for row in shown))
    chart = line_chart(
        shown,
        x="swipes",
        y=y,
        title=title,
        names=names,
        x_title="swipes learned from",
        y_title=y_title,
        banded=banded,
        zero=zero,
    )
    bands = " Bands: 95 % over users, bootstrap." if rows and "low" in rows[0] else ""
    return Figure(name, chart, f"{title} ({y_title}).{bands}")


def _reading_words(trial: Trial) -> Iterable[str]:
    """What was left out, and what was read in another way than it stands in the files."""
    table = trial.table
    if table.skips:
        yield f"{table.skips:,} skips are ignored: they are neither likes nor passes."
    if table.unused:
        yield f"Columns of a profile that are neither tags nor features are left out: {', '.join(table.unused)}."
    if table.ignored:
        yield f"Left out because --ignore says so: {', '.join(table.ignored)}."
    if table.again is not None:
        yield (
            f"Of decisions of one user about one candidate the first counts: {table.copies:,} rows are copies of an earlier row and "
            f"{table.repeats:,} decide again, and are left out (the first of them is row {table.again:,})."
        )
    if set(table.units) - {"seconds"}:
        yield f"Times are read as {' and '.join(table.units)} since 1970, by their size."
    if table.scaled:
        divided = ", ".join(f"{name} by {by:g}" for name, by in table.scaled.items())
        yield (
            f"Columns with numbers beyond ±{LARGEST_FEATURE:g} would drown the tags and are divided: {divided}. A service refuses such "
            "numbers, so divide them there, too."
        )
    if trial.moments is None:
        missing = "No column is the time" if table.at is None else "All swipes have one time"
        yield f"{missing}, so nothing says who decided earlier: of other people all decisions are known (--column at=… names a column of times)."


def _division_words(trial: Trial) -> str:
    """Who was fitted on, and who was tested."""
    if trial.protocol.folds is None:
        return f"The population is fitted on {int(trial.fit.sum()):,} users, and {len(trial.tested):,} others are tested."
    tested = " + ".join(f"{len(one.tested):,}" for one in trial.folds)
    return (
        f"In {len(trial.folds)} folds everybody with swipes enough is tested once: {len(trial.tested):,} users ({tested}), each fold with "
        "the population fitted on the users of the others."
    )


def _trait_words(fold: Fold) -> str:
    """Whether there are traits, and from how many people; nothing where nobody asked for traits."""
    fitted = next((each.traits for each in fold.contenders if each.traits is not None), None)
    if fitted is not None:
        return f"Traits pay: probit-traits was fitted with them on {fitted.people:,} of the fitted users."
    if any(isinstance(each.learner, ProbitTraits) for each in fold.contenders):
        return "Traits do not pay: among the fitted users, probit-diag with population and appeal predicts as well without."
    return ""
