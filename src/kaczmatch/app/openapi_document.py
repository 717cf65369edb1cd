"""The OpenAPI document, as it is committed in docs/openapi.json."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from kaczmatch.app.asgi import app_of
from kaczmatch.app.system import compose
from kaczmatch.settings.model import Settings
from kaczmatch.storage import MemoryStore


def openapi_document() -> str:
    return json.dumps(openapi_of_fresh_service(), indent=2, ensure_ascii=False, sort_keys=True)


def openapi_of_fresh_service() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return app_of(compose(Settings(data=Path(folder)), MemoryStore())).openapi()
