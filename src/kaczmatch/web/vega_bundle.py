"""Vega as one module for a browser, made from the installed package: `python -m kaczmatch.web.vega_bundle` writes it.

This runs in a process of its own. It takes seconds in which no other thread has a turn, and memory that is never given back.
"""

from __future__ import annotations

import os
import sys
from typing import Final

import vl_convert

# The versions in vl-convert 1.9. The expression interpreter needs no eval, which the pages' policy forbids.
_EXPORTS: Final = """
export { View, parse } from "/npm/vega@6.2.0/+esm";
export { compile } from "/npm/vega-lite@6.4.1/+esm";
export { expressionInterpreter } from "/npm/vega-interpreter@2.0.0/+esm";
"""


def main() -> None:
    os.nice(10)  # requests come first
    sys.stdout.write(vl_convert.javascript_bundle(_EXPORTS, vl_version="6.4"))


if __name__ == "__main__":
    main()
