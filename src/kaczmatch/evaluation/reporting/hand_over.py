"""From the laboratory to the service: the settings that a recommendation amounts to, and the commands that bring them into use."""

from __future__ import annotations

from pathlib import Path

from kaczmatch.evaluation.evaluate import EvaluationResult
from kaczmatch.formats.configuration import Configuration

CONFIGURATION = "kaczmatch.toml"
USUAL = Configuration("probit-diag", {"appeal": True})  # the service's default


def recommended_configuration(result: EvaluationResult) -> Configuration:
    """The service's default where no learner is proven: it starts from appeal, which is then the best there is."""
    chosen = next((each for each in result.contenders if each.name == result.recommendation.chosen), None)
    if chosen is None:
        return USUAL
    return Configuration.of(chosen.learner, result.trial.protocol.appeal)


def hand_over_words(found: Configuration, folder: Path | None, *, proven: bool = True) -> list[str]:
    """How to use it, with the exact commands. Without a folder no file was written."""
    words = []
    if not proven:
        words.append(
            f"A service keeps its default for that: {found.slug} with appeal starts from appeal alone, and learns from there."
        )
    if not found.has_belief:
        words.append("It does not know how sure it is, so it needs the paper's policy; and it keeps its published threshold.")
    file = (folder or Path()) / CONFIGURATION
    written = "These settings" if folder is not None else f"With --out, these settings are written to {CONFIGURATION}. They"
    return [
        *words,
        f"{written} are for a new service: kaczmatch serve --config {file}",
        f"For a service that has people (it fits the population's prior on them): {found.relearn_command(file)}",
    ]
