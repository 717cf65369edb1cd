"""`kaczmatch keys`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kaczmatch.app.composition import credentials_of
from kaczmatch.cli.operate.store_access import open_store_of, operator_errors, say, settings_from


def create_key(config: Path | None, name: str, scopes: Sequence[str], days: float | None) -> None:
    with operator_errors(), open_store_of(settings := settings_from(config)) as (_, context):
        expires = None if days is None else context.clock() + timedelta(days=days)
        key, text = credentials_of(settings, context).create(name, scopes, expires=expires)
    Console(stderr=True).print(f"key {key.id} ({', '.join(key.scopes)}); it is shown once, keep it safe:", highlight=False)
    print(text)


def list_keys(config: Path | None) -> None:
    with operator_errors(), open_store_of(settings := settings_from(config)) as (_, context):
        keys, now = credentials_of(settings, context).keys(), context.clock()
    table = Table("id", "name", "scopes", "created", "state")
    for key in keys:
        ended = key.expires is not None and key.expires <= now
        until = "" if key.expires is None else f" until {key.expires:%Y-%m-%d %H:%MZ}"
        state = f"revoked {key.revoked:%Y-%m-%d}" if key.revoked is not None else "expired" if ended else f"valid{until}"
        table.add_row(key.id, key.name, ", ".join(key.scopes), f"{key.created:%Y-%m-%d}", state)
    Console().print(table if keys else "there is no key yet: kaczmatch keys create my-app --scope app")


def revoke_key(config: Path | None, identifier: str) -> None:
    with operator_errors(), open_store_of(settings := settings_from(config)) as (_, context):
        credentials_of(settings, context).revoke(identifier).result()
        say(f"key {identifier} is revoked, and the tokens minted with it end within two seconds")


def rotate_key(config: Path | None, identifier: str, hours: float) -> None:
    with operator_errors(), open_store_of(settings := settings_from(config)) as (_, context):
        key, text = credentials_of(settings, context).rotate(identifier, grace=timedelta(hours=hours))
    ends = f"ends in {hours:g} hours" if hours else "has ended"
    Console(stderr=True).print(f"key {key.id} takes the place of {identifier}, which {ends}:", highlight=False)
    print(text)
