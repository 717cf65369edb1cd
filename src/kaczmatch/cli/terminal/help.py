"""The list of commands in --help: one block per group. Plain text, since drawing frames would take longer than all the rest."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class CommandGroups(TyperGroup):
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Every command with its whole summary, under the name of its group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.commands[name]
            group = getattr(command, "rich_help_panel", None)
            summary = " ".join((command.help or "").split())
            groups.setdefault(group if isinstance(group, str) else "Commands", []).append((name, summary))
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl(rows)
