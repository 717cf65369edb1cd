"""JSON as frozen dataclasses, by their annotations. Members that are not known are left out: a later service may say more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

_SIMPLE: dict[Any, Callable[[Any], Any]] = {datetime: datetime.fromisoformat, date: date.fromisoformat, float: float}


def decoded(kind: type[T], value: Any) -> T:
    found: T = _decoded(kind, value)
    return found


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _decoded(kind: Any, value: Any) -> Any:
    if isinstance(kind, UnionType):
        inner = next(part for part in get_args(kind) if part is not type(None))
        return None if value is None else _decoded(inner, value)
    if is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return kind(**{one.name: _decoded(hints[one.name], value[one.name]) for one in fields(kind) if one.name in value})
    origin = get_origin(kind)
    if origin is tuple:
        inner = get_args(kind)[0]
        return tuple(_decoded(inner, one) for one in value)
    if origin in (dict, Mapping):
        inner = get_args(kind)[1]
        return {name: _decoded(inner, one) for name, one in value.items()}
    return _SIMPLE[kind](value) if kind in _SIMPLE else value
