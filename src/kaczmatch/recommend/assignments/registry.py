"""Every assignment by its slug."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.recommend.assignments.contract import PickAssignment
from kaczmatch.recommend.assignments.fair import Fair
from kaczmatch.recommend.assignments.stable import Stable
from kaczmatch.recommend.assignments.top import Top

ASSIGNMENTS: Mapping[str, type[PickAssignment]] = MappingProxyType({kind.slug: kind for kind in (Top, Stable, Fair)})


def assignment(slug: str, **settings: Any) -> PickAssignment:
    """The assignment called `slug`."""
    if slug not in ASSIGNMENTS:
        raise InvalidInput("assignment", f"there is no assignment {slug!r}; {did_you_mean(str(slug), ASSIGNMENTS)}")
    kind = ASSIGNMENTS[slug]
    for name in settings:
        if name not in kind.__dataclass_fields__:
            raise InvalidInput(name, f"is not a setting of {slug!r}; {did_you_mean(name, kind.__dataclass_fields__)}")
    return kind(**settings)
