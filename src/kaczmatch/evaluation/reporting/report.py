"""The report of a whole evaluation: its parts, and the page around them."""

from __future__ import annotations

from collections.abc import Sequence

from kaczmatch.evaluation.evaluate import EvaluationResult
from kaczmatch.evaluation.measures.holdout_ranking import APPEAL
from kaczmatch.evaluation.protocol.folds import Fold
from kaczmatch.evaluation.protocol.trial import Trial
from kaczmatch.evaluation.reporting.matches import match_part
from kaczmatch.evaluation.reporting.peer_report import peer_part
from kaczmatch.evaluation.reporting.probabilities import probability_part
from kaczmatch.evaluation.reporting.ranking import difference_part, ranking_part
from kaczmatch.evaluation.reporting.shuffled import VERDICTS, shuffled_part
from kaczmatch.evaluation.tune import TuningResult
from kaczmatch.formats.swipe_table import LARGEST_FEATURE
from kaczmatch.learners.belief.gaussian import ProbitTraits
from kaczmatch.report.page import ResultsPage
from kaczmatch.report.results import ReportPart


def evaluation_parts(result: EvaluationResult) -> list[ReportPart]:
    parts = [ranking_part(result.scores), difference_part(result.scores), probability_part(result.probabilities)]
    if result.peers is not None:
        parts.append(peer_part(result.peers, result.crossover))
    if result.matches is not None:
        parts.append(match_part(result.matches))
    return [*parts, shuffled_part(result.shuffled)]


def evaluation_page(result: EvaluationResult, name: str, advice: Sequence[str]) -> ResultsPage:
    """`name` is what the log is called."""
    return ResultsPage(
        title=f"What learns from {name}",
        lead="Every learner on one swipe log: learn on a user's first swipes, freeze, rank the rest, without looking ahead.",
        scope=" ".join(filter(None, (scope_words(result.trial), trait_words(result), match_words(result)))),
        command="kaczmatch evaluate",
        advice=advice,
        headline=_headline(result),
        verdicts=VERDICTS,
    )


def tuning_page(trial: Trial, result: TuningResult, name: str, advice: Sequence[str]) -> ResultsPage:
    return ResultsPage(
        title=f"{result.default.learner.slug} tuned on {name}",
        lead="Settings compared by progressive validation, then checked on users they were not chosen on.",
        scope=scope_words(trial),
        command="kaczmatch tune",
        advice=advice,
    )


PROTOCOLS = {
    "strict": "Protocol strict: of others' decisions, each moment knows those before it; the population is fitted on other users.",
    "mature": "Protocol mature: other people's future is past, as in a service that has run for long.",
    "forward": "Protocol forward: the population is fitted on what was decided before a moment, and those who began later are tested.",
}


def scope_words(trial: Trial) -> str:
    """What was read, how it was divided, and what was left out."""
    table = trial.table
    words = [
        f"{len(table):,} swipes of {len(table.users):,} users on {len(table.candidates):,} candidates,",
        f"{len(table.tags)} tags, {table.like.mean():.0%} likes. {_division_words(trial)}",
        PROTOCOLS[trial.knowledge],
    ]
    if table.skips:
        words.append(f"{table.skips:,} skips are ignored: they are neither likes nor passes.")
    if table.unused:
        words.append(f"Columns of a profile that are neither tags nor features are left out: {', '.join(table.unused)}.")
    if table.ignored:
        words.append(f"Left out because --ignore says so: {', '.join(table.ignored)}.")
    return " ".join([*words, *_reading_words(trial)])


def _reading_words(trial: Trial) -> list[str]:
    """What was read in another way than it stands in the files."""
    table, words = trial.table, list[str]()
    if table.again is not None:
        words.append(
            f"Of decisions of one user about one candidate the first counts: {table.copies:,} rows are copies of an earlier row and "
            f"{table.repeats:,} decide again, and are left out (the first of them is row {table.again:,})."
        )
    if set(table.units) - {"seconds"}:
        words.append(f"Times are read as {' and '.join(table.units)} since 1970, by their size.")
    if table.scaled:
        divided = ", ".join(f"{name} by {by:g}" for name, by in table.scaled.items())
        words.append(
            f"Columns with numbers beyond ±{LARGEST_FEATURE:g} would drown the tags and are divided: {divided}. A service refuses such "
            "numbers, so divide them there, too."
        )
    if trial.moments is None:
        missing = "No column is the time" if table.at is None else "All swipes have one time"
        words.append(
            f"{missing}, so nothing says who decided earlier: of other people all decisions are known "
            "(--column at=… names a column of times)."
        )
    return words


def _division_words(trial: Trial) -> str:
    """Who was fitted on, and who was tested."""
    if trial.protocol.folds is None:
        return f"The population is fitted on {int(trial.fit.sum()):,} users, and {len(trial.tested):,} others are tested."
    tested = " + ".join(f"{len(one.tested):,}" for one in trial.folds)
    return (
        f"In {len(trial.folds)} folds everybody with swipes enough is tested once: {len(trial.tested):,} users ({tested}), each fold with "
        "the population fitted on the users of the others."
    )


def trait_words(result: EvaluationResult) -> str:
    """Whether there are traits, and from how many people; nothing where nobody asked for traits."""
    words = [_fold_trait_words(fold) for fold in result.folds]
    return words[0] if len(words) == 1 else " ".join(f"Fold {number}: {said}" for number, said in enumerate(words, 1) if said)


def _fold_trait_words(fold: Fold) -> str:
    fitted = next((each.traits for each in fold.contenders if each.traits is not None), None)
    if fitted is not None:
        return f"Traits pay: probit-traits was fitted with them on {fitted.people:,} of the fitted users."
    if any(isinstance(each.learner, ProbitTraits) for each in fold.contenders):
        return "Traits do not pay: among the fitted users, probit-diag with population and appeal predicts as well without."
    return ""


def match_words(result: EvaluationResult) -> str:
    """Why the test of matches is left out, where it is, or how much of the log it could use."""
    share = f"{result.answered:.0%} of the swipes have an answer: their candidate swiped on their user, too"
    if result.matches is not None:
        return (
            f"Matches are tested: {share}."
            if result.matches.scores
            else f"Matches cannot be tested, although {share}: see there."
        )
    if not result.answered:
        return "Matches are not tested: no candidate of this log swiped on anybody who swiped on them."
    return (
        "Matches are not tested, because candidates are not taken for users. If users and candidates of the same identifier are the "
        f"same people, say --both-ways: then {share}."
    )


def _headline(result: EvaluationResult) -> list[tuple[str, str]]:
    """A few numbers, and what each says."""
    scores, chosen = result.scores, result.recommendation.chosen
    last = len(scores.times) - 1
    numbers = [
        (f"{scores.auc_at(0, chosen).mean:.3f}", f"AUC of {chosen} after {scores.times[0]} swipes"),
        (
            f"{scores.auc_at(last, chosen).mean:.3f}",
            f"AUC after {scores.times[last]} swipes; appeal alone {scores.auc_at(last, APPEAL).mean:.3f}",
        ),
    ]
    if (probability := result.probabilities.of(chosen)) is not None:
        numbers.append(
            (f"{probability.calibration_error:.3f}", "mean distance between the probability predicted and what happened")
        )
    if result.matches is not None and result.matches.scores:
        best = result.matches.best_fusions()[0]
        numbers.append((f"{best.match_auc:.3f}", f"match AUC of {best.name}, {best.fusion} fusion"))
    return numbers
