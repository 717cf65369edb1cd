"""From an evaluation to the service: the settings that a recommendation amounts to, and the commands that bring them into use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from kaczmatch.evaluation.evaluate import EvaluationResult
from kaczmatch.formats.configuration import Configuration
from kaczmatch.learners.belief.gaussian import ProbitTraits

CONFIGURATION = "kaczmatch.toml"
USUAL = Configuration(ProbitTraits.slug, {})  # the service's default


@final
@dataclass(frozen=True, slots=True)
class HandOver:
    """What a service should use, and what else there is to know about it."""

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
    if not result.recommendation.proven:
        return HandOver(
            USUAL, f"A service keeps its default for that: {USUAL.slug} starts from appeal alone, and has traits once they pay."
        )
    rule = next(each.learner for each in result.contenders if each.name == result.recommendation.chosen)
    found = Configuration.of(rule, result.trial.protocol.appeal)
    return HandOver(
        found, "A service has traits where they pay, and finds out whenever it fits." * isinstance(rule, ProbitTraits)
    )
