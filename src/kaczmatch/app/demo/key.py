"""The demo's key: made once, kept in the data folder, and of use on this machine alone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kaczmatch.service.access.credentials import SCOPES, Credentials, Unauthenticated

NAME: Final = "demo (this machine only)"


def demo_key_ids(credentials: Credentials) -> frozenset[str]:
    keys = credentials.keys()
    return frozenset(key.id for key in keys if key.name == NAME)


def demo_key(credentials: Credentials, file: Path) -> str:
    """Its text: the one in the file while it is valid, or a new one."""
    if file.is_file():
        text = file.read_text(encoding="ascii").strip()
        try:
            credentials.caller(text)
        except Unauthenticated:
            file.unlink()
        else:
            return text
    _, text = credentials.create(NAME, tuple(SCOPES))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    file.write_text(text, encoding="ascii")
    return text


def revoke_demo_keys(credentials: Credentials) -> None:
    """A store that was played with goes into service: the demo's keys end."""
    keys = credentials.keys()
    for key in keys:
        if key.name == NAME and key.revoked is None:
            credentials.revoke(key.id).result()
