"""Labels: like (True, +1) or pass (False, -1)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput
from kaczmatch.core.vectors import Vector, as_column

Label = Literal["like", "pass"] | int | bool | np.bool_

_SIGNS: dict[object, float] = {"like": 1.0, "pass": -1.0, 1: 1.0, -1: -1.0}
_TRUTHS = frozenset({bool, np.bool_})
_NOT_LABELS = frozenset({complex, np.complex128})  # equal to 1, but hardly intended as a label
_EXPECTED = "must be 'like', 'pass', True, False, 1 or -1"


def sign(label: object) -> float:
    """A label as +1.0 or -1.0."""
    if type(label) in _TRUTHS:
        return 1.0 if label else -1.0
    try:
        found = None if type(label) in _NOT_LABELS else _SIGNS.get(label)
    except TypeError:  # not hashable
        found = None
    if found is None and isinstance(label, str):
        found = _SIGNS.get(label.strip().lower())
    if found is None:
        raise InvalidInput("label", f"{_EXPECTED}, got {label!r}")
    return found


def signs(labels: ArrayLike) -> Vector:
    """A column of labels as +1.0 and -1.0; the error names the first bad row."""
    column = as_column(labels, "label")
    if column.dtype.kind in "iuf":
        known = (column == 1) | (column == -1)
        if not known.all():
            row = int(np.argmin(known))
            hint = "; for a 0/1 column pass column == 1" if column[row] == 0 else ""
            raise InvalidInput("label", f"row {row}: {_EXPECTED}, got {column[row].item()!r}{hint}")
        return column.astype(np.float64)
    if column.dtype.kind == "b":
        return np.where(column, 1.0, -1.0)
    if column.dtype.kind in "US":
        liked, passed = column == "like", column == "pass"
        if (liked | passed).all():
            return np.where(liked, 1.0, -1.0)
    found = np.empty(len(column))
    for row, label in enumerate(column.tolist()):
        try:
            found[row] = sign(label)
        except InvalidInput as error:
            raise InvalidInput("label", f"row {row}: {error.problem}") from None
    return found
