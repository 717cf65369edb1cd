"""A learner's settings as a file: what `kaczmatch tune` writes and `kaczmatch evaluate` takes.

[learner]
slug = "probit"
alpha = 0.02

[appeal]
half_life_days = 1825.0
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.learners.population.appeal import AppealModel
from kaczmatch.learners.registry import learner

_SECTIONS = ("learner", "appeal")


@final
@dataclass(frozen=True, slots=True)
class Configuration:
    """A learner by its slug, its settings where they are not the defaults, and how appeal is counted."""

    slug: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    appeal: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        learner(self.slug, **self.settings)
        known = ("half_life_days", "spread")
        for name in self.appeal:
            if name not in known:
                raise InvalidInput(name, f"is not a setting of appeal; {did_you_mean(name, known)}")
        AppealModel(**self.appeal)

    def text(self, why: str) -> str:
        """As TOML, with a line that says where it comes from."""
        lines = [f"# {why}", "", "[learner]", f'slug = "{self.slug}"']
        lines += [f"{name} = {_value(value)}" for name, value in self.settings.items()]
        if self.appeal:
            lines += ["", "[appeal]", *(f"{name} = {_value(value)}" for name, value in self.appeal.items())]
        return "\n".join(lines) + "\n"


def read_configuration(path: Path) -> Configuration:
    if not path.is_file():
        raise InvalidInput("config", f"there is no file {path}")
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput("config", f"{path.name} is not TOML: {error}") from None
    for name in found:
        if name not in _SECTIONS:
            raise InvalidInput("config", f"{path.name} has a section {name!r}; {did_you_mean(name, _SECTIONS)}")
    section = found.get("learner")
    if not isinstance(section, dict) or "slug" not in section:
        raise InvalidInput("config", f'{path.name} must name the learner: [learner] and slug = "probit"')
    settings = {name: value for name, value in section.items() if name != "slug"}
    return Configuration(section["slug"], settings, found.get("appeal", {}))


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else repr(value)
