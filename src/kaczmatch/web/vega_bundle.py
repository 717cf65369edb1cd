"""What draws charts, as one module for a browser, out of the installed package: `python -m kaczmatch.web.vega_bundle` writes it.

In a process of its own, because making it takes seconds in which no other thread has a turn, and memory that is never given back.
"""

from __future__ import annotations

import os
import sys
from typing import Final

import vl_convert

# As vl-convert 1.9 holds them. The interpreter of expressions draws without eval, as the pages' policy wants.
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
