"""The command line, put together from its two groups. What a command does is imported when it runs, so that --help is instant."""

from __future__ import annotations

from typing import Annotated

import typer

from kaczmatch.cli.operate import commands as operate
from kaczmatch.cli.research import commands as research
from kaczmatch.cli.terminal.help import CommandGroups

app = typer.Typer(
    cls=CommandGroups,
    help="Learns what each person likes from their own swipes. Start with: kaczmatch serve --demo, or kaczmatch reproduce all",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100},
)


@app.callback()
def options(version: Annotated[bool, typer.Option("--version", help="Print it and exit.")] = False) -> None:
    """What is the same for every command. `main` answers `--version`, which needs nothing that is imported here."""


research.register(app)
operate.register(app)
