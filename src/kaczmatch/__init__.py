"""kaczmatch: learns what each person likes from that person's own swipes, for reciprocal recommendation.

Importing this package loads nothing heavy. Each name of `__init__.pyi` is imported, and its compiled kernels with it, when it is
first used.
"""

from typing import Any

import lazy_loader

from kaczmatch.extras import missing_extra

__version__ = "0.2.0"
_fetch, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    try:
        return _fetch(name)
    except ModuleNotFoundError as error:
        raise missing_extra(error) from None
