"""The OpenAPI document, as it is committed in docs/openapi.json."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from kaczmatch.app.asgi import app_of
from kaczmatch.app.system import compose
from kaczmatch.settings.model import Settings
from kaczmatch.storage import MemoryStore


def document() -> str:
    with tempfile.TemporaryDirectory() as folder:
        app = app_of(compose(Settings(data=Path(folder)), MemoryStore()))
        return json.dumps(app.openapi(), indent=2, ensure_ascii=False, sort_keys=True)
