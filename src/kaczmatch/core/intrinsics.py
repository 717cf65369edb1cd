"""Processor instructions for compiled code that neither Python nor numpy offers."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _popcount(_typing: Any, word: Any) -> Any:  # noqa: ARG001
    def lower(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), lower


def _fetch_and_increment(_typing: Any, turns: Any) -> Any:
    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        proxy: Any = cgutils.create_struct_proxy
        array = proxy(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", array.data, context.get_constant(types.int64, 1), "seq_cst")

    return types.int64(turns), lower


popcount: Any = intrinsic(_popcount)
"""``popcount(word)``: the number of bits set in a 64-bit word."""

fetch_and_increment: Any = intrinsic(_fetch_and_increment)
"""``next_turn(turns)``: the number in an array of one int64, one higher from then on. No two threads get the same."""
