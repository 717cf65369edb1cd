"""A learner and its settings as a file: what `evaluate` writes, and what `serve --config` and `evaluate --config` take.

learner = "probit"
appeal_half_life_days = 1825.0

[learner_settings]
alpha = 0.02
"""

from __future__ import annotations

import difflib
import json
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.learners.contract import BeliefLearner, Learner
from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.learners.registry import learner

_NAMES = ("learner", "learner_settings", "appeal_half_life_days")
_PLAIN = (bool, int, float, str)


@final
@dataclass(frozen=True, slots=True)
class Configuration:
    """A learner by its slug, its settings where they are not the defaults, and the half-life of appeal where it is not."""

    slug: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    appeal_half_life_days: float = AppealModel().half_life_days

    def __post_init__(self) -> None:
        learner(self.slug, **self.settings)
        AppealModel(half_life_days=self.appeal_half_life_days)

    @classmethod
    def of(cls, rule: Learner, appeal: AppealModel | None = None) -> Configuration:
        """Of a learner with its settings. What no file can say, such as a threshold fitted to a log, is left out."""
        changed = {}
        for each in fields(type(rule)):
            value = getattr(rule, each.name)
            usual = each.default if each.default is not MISSING else None
            if each.init and isinstance(value, _PLAIN) and value != usual:
                changed[each.metadata.get("setting", each.name)] = value
        return cls(rule.slug, changed, (appeal or AppealModel()).half_life_days)

    @property
    def appeal(self) -> AppealModel:
        return AppealModel(half_life_days=self.appeal_half_life_days)

    @property
    def has_belief(self) -> bool:
        """Whether the service's default policy can deal by it."""
        return isinstance(learner(self.slug, **self.settings), BeliefLearner)

    def text(self, why: str) -> str:
        """As TOML, with a line that says where it comes from."""
        lines = [f"# {why}", f'learner = "{self.slug}"']
        lines += [] if self.has_belief else ['policy = "paper"  # the usual one needs a learner that knows how sure it is']
        if self.appeal != AppealModel():
            lines.append(f"appeal_half_life_days = {self.appeal_half_life_days!r}")
        lines += ["", "[learner_settings]", *(f"{name} = {_value(value)}" for name, value in self.settings.items())]
        return "\n".join(lines) + "\n"

    def relearn_command(self, file: Path | str) -> str:
        """What brings a service that has people to this configuration."""
        words = ["kaczmatch", "relearn", self.slug, "--settings", json.dumps(dict(self.settings)), "--config", str(file)]
        return shlex.join(words)


def read_configuration(path: Path) -> Configuration:
    """From a settings file of the service; its other settings are not looked at."""
    if not path.is_file():
        raise InvalidInput("config", f"there is no file {path}")
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput("config", f"{path.name} is not TOML: {error}") from None
    for name in found:
        near = difflib.get_close_matches(name, _NAMES, n=1)
        if name not in _NAMES and near:
            raise InvalidInput("config", f"{path.name} has {name!r}; did you mean {near[0]!r}?")
    slug, settings = found.get("learner"), found.get("learner_settings", {})
    if not isinstance(slug, str) or not isinstance(settings, dict):
        raise InvalidInput("config", f'{path.name} must name the learner: learner = "probit", and [learner_settings]')
    return Configuration(slug, settings, found.get("appeal_half_life_days", AppealModel().half_life_days))


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else repr(value)
