"""The recommendation in words."""

from __future__ import annotations

from kaczmatch.evaluation.evaluate import EvaluationResult
from kaczmatch.evaluation.measures.bootstrap_scores import BootstrapScores
from kaczmatch.evaluation.measures.holdout_ranking import ALL_ONES, APPEAL, OWN_RATE
from kaczmatch.evaluation.peers.comparison import DEFAULT
from kaczmatch.evaluation.reporting.words import listed, signed


def advice_words(result: EvaluationResult) -> list[str]:
    """What to use, then why; first of all a peer that is better than what is ours."""
    return [*_better_peer(result), *_own_advice(result)]


def _better_peer(result: EvaluationResult) -> list[str]:
    """The best peer that is ahead of what would be recommended, over all numbers of swipes."""
    if result.peers is None:
        return []
    scores, peers = result.peers.scores, [peer.name for peer in result.peers.peers]
    chosen = result.recommendation.chosen if result.recommendation.chosen in scores.names else DEFAULT
    ahead = [name for name in peers if scores.surely_better(name, chosen)]
    if not ahead:
        return []
    best = max(ahead, key=lambda name: scores.mean_auc(name).mean)
    gap = signed(scores.mean_difference(best, chosen))
    return [f"Use {best}, of another library: it ranks better than {chosen} here, by {gap}. Of ours:"]


def _own_advice(result: EvaluationResult) -> list[str]:
    scores, found = result.scores, result.recommendation
    if not found.proven:
        return _nothing_learned(scores, found.best)
    times = scores.times
    first, last = scores.auc_at(0, found.chosen).mean, scores.auc_at(len(times) - 1, found.chosen).mean
    words = [
        f"Use {found.chosen}.",
        f"On this log it ranks candidates that a user has not seen yet with an AUC of {first:.3f} after {times[0]} swipes and {last:.3f} after {times[-1]}. "
        f"That is {signed(scores.mean_difference(found.chosen, APPEAL))} over appeal alone and {signed(scores.mean_difference(found.chosen, ALL_ONES))} over all-ones, which learns "
        f"nothing (mean over {len(times)} numbers of swipes, the same {scores.users:,} users, 95 % paired interval).",
    ]
    sizes = {each.name: each.bytes_per_user for each in result.contenders}
    if found.chosen != found.best:
        words.append(
            f"{found.best} has the highest mean, but the difference of {signed(scores.mean_difference(found.best, found.chosen))} is within error, and "
            f"{found.chosen} needs {sizes[found.chosen]:,} bytes per user instead of {sizes[found.best]:,}. {_loss_words(result, found.chosen)}"
        )
    elif found.costly:
        words += [
            f"{name} is within error of it and needs {sizes[name]:,} bytes per user instead of {sizes[found.best]:,}, but that has a price. {_loss_words(result, name)}"
            for name in found.costly
        ]
    elif len(found.equals) > 1:
        words.append(f"Within error of it: {listed([name for name in found.equals if name != found.chosen], ', ')}.")
    return words


def _loss_words(result: EvaluationResult, name: str) -> str:
    """What a smaller state costs in log-loss."""
    mine, best = result.probabilities.of(name), result.probabilities.of(result.recommendation.best)
    if best is None:
        return "Neither of them is compared by log-loss: the best predicts no probabilities."
    if mine is None:
        return (
            f"It predicts no probabilities, while {best.name} does, with a log-loss of {best.log_loss.mean:.4f} nats per swipe."
        )
    gap = mine.log_loss.mean - best.log_loss.mean
    return f"Its log-loss is {mine.log_loss.mean:.4f} nats per swipe instead of {best.log_loss.mean:.4f} ({gap:+.4f})."


def _nothing_learned(scores: BootstrapScores, best: str) -> list[str]:
    if scores.surely_better(APPEAL, OWN_RATE):
        first = "On this log, show people by appeal alone."
        why = f"No learner of a person's taste beats it beyond luck: {best}, the best of them, differs by"
    else:
        first = "On this log nothing ranks better than chance, or there are too few users to tell."
        why = f"The best is {best}; from appeal alone it differs by"
    return [
        first,
        f"{why} {signed(scores.mean_difference(best, APPEAL))} ({scores.users:,} users, 95 % paired interval before allowing for the choice among "
        f"{len(scores.names)}). More users, more swipes per user or more telling tags may change that.",
    ]
