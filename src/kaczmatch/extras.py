"""Which extra brings a package that is missing. Imports nothing but the standard library."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_CHECKOUT: Final = Path(__file__).parents[2]
_EXTRAS: Final = {
    "learn": ("numpy", "scipy", "numba", "llvmlite"),
    "client": ("httpx", "pydantic"),
    "lab": ("altair", "fontTools", "jinja2", "polars", "rich", "typer", "upath", "vl_convert"),
    "service": (
        "alembic", "fastapi", "httptools", "prometheus_client", "pydantic_settings", "jwt", "sqlalchemy", "starlette",
        "structlog", "uvicorn", "uvloop",
    ),
    "postgres": ("psycopg",),
    "sklearn": ("sklearn",),
    "river": ("river",),
    "gpu": ("torch", "triton"),
    "ray": ("ray",),
}  # fmt: skip
_BY_PACKAGE: Final = {package: extra for extra, packages in _EXTRAS.items() for package in packages}


def missing_extra(error: ModuleNotFoundError, wanted: str | None = None) -> ModuleNotFoundError:
    """The same error, with the command that installs what is missing. `wanted` is the extra, where the caller knows it."""
    package = (error.name or "").partition(".")[0]
    extra = wanted or _BY_PACKAGE.get(package, "dev")
    checkout = (_CHECKOUT / "pyproject.toml").exists()
    command = f"pip install -e '{_CHECKOUT}[{extra}]'" if checkout else f"pip install 'kaczmatch[{extra}]'"
    return ModuleNotFoundError(f"{package} is missing; install it with: {command}", name=error.name)
