"""The command line, put together from its two groups. What a command does is imported when it runs, so that --help is instant."""

from __future__ import annotations

import typer

from kaczmatch.cli.operate import commands as operate
from kaczmatch.cli.research import commands as research

app = typer.Typer(
    help="Learns what each person likes from their own swipes. Start with: kaczmatch serve --demo, or kaczmatch reproduce all",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
research.register(app)
operate.register(app)
