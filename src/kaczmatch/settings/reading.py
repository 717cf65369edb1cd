"""Settings as they are in force, and what is wrong with them in words."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.settings.model import FILE, PREFIX, Settings

_SECRETS = ("token_secret", "webhook_secret")


def read(**chosen: Any) -> Settings:
    """`chosen` (options of a command) before the environment before the file before the defaults."""
    _check_names()
    try:
        return Settings(**{name: value for name, value in chosen.items() if value is not None})
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        problems = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'settings'}: {one['msg']}" for one in found)
        raise InvalidInput("settings", problems) from None
    except SettingsError as error:
        raise InvalidInput("settings", str(error)) from None


def shown(settings: Settings) -> dict[str, Any]:
    """Effective values with secrets masked. The database's address is shown without its password."""
    values: dict[str, Any] = settings.model_dump(mode="json")
    for name in _SECRETS:
        values[name] = None if values[name] is None else "********"
    values["database"] = without_password(settings.url)
    return values


def without_password(url: str) -> str:
    scheme, found, rest = url.partition("://")
    if not found or "@" not in rest:
        return url
    user, _, place = rest.rpartition("@")
    return f"{scheme}://{user.split(':')[0]}@{place}"


def _check_names() -> None:
    """A name that is no setting is a mistake worth telling, in the environment and in the file."""
    for variable in os.environ:
        name = variable.removeprefix(PREFIX).lower()
        if variable.startswith(PREFIX) and variable != FILE and name not in Settings.model_fields:
            raise InvalidInput(variable, f"is not a setting; {did_you_mean(name, Settings.model_fields)}")
    file = os.environ.get(FILE)
    if not file:
        return
    if not Path(file).is_file():
        raise InvalidInput("config", f"there is no file {file}")
    try:
        found = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput("config", f"{Path(file).name} is not TOML: {error}") from None
    for name in found:
        if name not in Settings.model_fields:
            raise InvalidInput(name, f"is not a setting; {did_you_mean(name, Settings.model_fields)}")
