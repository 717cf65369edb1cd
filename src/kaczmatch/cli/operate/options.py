"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[Path | None, typer.Option("--config", help="Settings as TOML; KACZMATCH_… variables win.", dir_okay=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
