"""Vega-Lite for pages: specifications from Altair, and the JavaScript that draws them."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from typing import final

from kaczmatch.charts import console


@final
class Charts:
    """Made when they are first requested, and kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bundle: bytes | None = None
        self._specifications: bytes | None = None

    def prepare(self) -> None:
        """Begin to make the bundle, because it is about to be requested."""
        if self._bundle is None and not self._lock.locked():
            threading.Thread(target=self.bundle, name="charts", daemon=True).start()

    def bundle(self) -> bytes:
        """The drawing code, as a module."""
        with self._lock:
            if self._bundle is None:
                command = [sys.executable, "-m", "kaczmatch.web.vega_bundle"]
                self._bundle = subprocess.run(command, check=True, capture_output=True, timeout=300).stdout  # noqa: S603
            return self._bundle

    def version(self) -> str:
        """A digest of the bundle."""
        return hashlib.sha256(self.bundle()).hexdigest()[:16]

    def specifications(self) -> bytes:
        if self._specifications is None:
            self._specifications = json.dumps(console.specifications()).encode()
        return self._specifications
