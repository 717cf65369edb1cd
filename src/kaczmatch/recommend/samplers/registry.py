"""Every sampler by its slug."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.recommend.samplers.contract import Sampler
from kaczmatch.recommend.samplers.cosine import Cosine
from kaczmatch.recommend.samplers.greedy import Greedy
from kaczmatch.recommend.samplers.information import Information
from kaczmatch.recommend.samplers.mutual import Mutual
from kaczmatch.recommend.samplers.row_norm import RowNorm
from kaczmatch.recommend.samplers.thompson import Thompson
from kaczmatch.recommend.samplers.uniform import Uniform

SAMPLERS: Mapping[str, type[Sampler]] = MappingProxyType(
    {kind.slug: kind for kind in (RowNorm, Cosine, Uniform, Greedy, Thompson, Mutual, Information)}
)


def sampler(slug: str, **settings: Any) -> Sampler:
    """The sampler called `slug`."""
    if slug not in SAMPLERS:
        raise InvalidInput("sampler", f"there is no sampler {slug!r}; {did_you_mean(str(slug), SAMPLERS)}")
    kind = SAMPLERS[slug]
    for name in settings:
        if name not in kind.__dataclass_fields__:
            known = kind.__dataclass_fields__
            raise InvalidInput(name, f"is not a setting of {slug!r}; {did_you_mean(name, known)}")
    return kind(**settings)
