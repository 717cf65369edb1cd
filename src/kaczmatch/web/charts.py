"""Vega-Lite for pages: specifications made by Altair, and the programs that draw them, out of the installed package."""

from __future__ import annotations

import json
import threading
from importlib.metadata import version
from typing import Final, final

import vl_convert

from kaczmatch.charts import console

# Altair's releases and the bundle's name the same Vega-Lite by different digits; the newest draws what both write.
_LITE: Final = max(vl_convert.get_vegalite_versions(), key=lambda one: tuple(map(int, one.split("."))))
_EXPORTS: Final = "window.vegaEmbed = vegaEmbed;"


@final
class Charts:
    """Made when they are first wanted, and kept."""

    def __init__(self) -> None:
        self.version = f'"{version("vl-convert-python")}-{_LITE}"'
        self._lock = threading.Lock()
        self._bundle: bytes | None = None
        self._specifications: bytes | None = None

    def begin(self) -> None:
        """Start to make them: the bundle takes some seconds."""
        if self._bundle is None and not self._lock.locked():
            threading.Thread(target=self.bundle, name="charts", daemon=True).start()

    def bundle(self) -> bytes:
        """A module that puts `vegaEmbed` on the window."""
        with self._lock:
            if self._bundle is None:
                self._bundle = vl_convert.javascript_bundle(_EXPORTS, vl_version=_LITE).encode()
            return self._bundle

    def specifications(self) -> bytes:
        if self._specifications is None:
            self._specifications = json.dumps(console.specifications()).encode()
        return self._specifications
