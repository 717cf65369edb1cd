"""From the laboratory to the service: the settings that a recommendation amounts to, and the commands that bring them into use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from kaczmatch.evaluation.evaluate import EvaluationResult
from kaczmatch.formats.configuration import Configuration
from kaczmatch.learners.belief.probit_traits import ProbitTraits

CONFIGURATION = "kaczmatch.toml"
USUAL = Configuration("probit-diag", {"appeal": True})  # the service's default


@final
@dataclass(frozen=True, slots=True)
class HandOver:
    """What a service should use, and why that is not what was recommended, where it is not."""

    found: Configuration
    note: str = ""

    def words(self, folder: Path | None) -> list[str]:
        """How to use it, with the exact commands. Without a folder no file was written."""
        words = [self.note] if self.note else []
        if not self.found.has_belief:
            words.append("It does not know how sure it is, so it needs the paper's policy; and it keeps its published threshold.")
        file = (folder or Path()) / CONFIGURATION
        written = "These settings" if folder is not None else f"With --out, these settings are written to {CONFIGURATION}. They"
        return [
            *words,
            f"{written} are for a new service: kaczmatch serve --config {file}",
            f"For a service that has people (it fits the population's prior on them): {self.found.relearn_command(file)}",
        ]


def hand_over(result: EvaluationResult) -> HandOver:
    """The recommended contender, or what a service has in its place."""
    chosen, appeal = result.recommendation.chosen, result.trial.protocol.appeal
    served = {each.name: each for each in result.contenders if not isinstance(each.learner, ProbitTraits)}
    if not result.recommendation.proven:
        default = f"{USUAL.slug} with appeal"
        return HandOver(
            USUAL, f"A service keeps its default for that: {default} starts from appeal alone, and learns from there."
        )
    if chosen in served:
        return HandOver(Configuration.of(served[chosen].learner, appeal))
    instead = max(served, key=lambda name: result.scores.mean_auc(name).mean)
    loss = result.scores.mean_difference(instead, chosen).mean
    note = (
        f"The service does not run {chosen} yet. The best on this log that it runs is {instead}, with an AUC {loss:+.3f} from it."
    )
    return HandOver(Configuration.of(served[instead].learner, appeal), note)
