"""Gathers the pages of the site in build/pages: what is written, and what is generated from the code. `make docs` runs it."""

from __future__ import annotations

import inspect
import json
import re
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import typer.main

import kaczmatch
from kaczmatch import river, sklearn
from kaczmatch.cli.app import app
from kaczmatch.client import AsyncClient, Client
from kaczmatch.web.api_reference import ApiField, linked, operations, schemas

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "pages"
ROOT_PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"(\[(?:[^\]\[]|\[[^\]]*\]\([^)]*\))*\])\(([^)#\s]*)(#[^)\s]*)?\)")


def gather(pages: Path = PAGES) -> None:
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for name in ROOT_PAGES:
        shutil.copy(ROOT / name, pages / name)
    (pages / "reference").mkdir()
    (pages / "reference" / "cli.md").write_text(command_line(), encoding="utf-8")
    (pages / "reference" / "python.md").write_text(python_names(), encoding="utf-8")
    (pages / "reference" / "http.md").write_text(http_reference(), encoding="utf-8")
    for page in sorted(pages.rglob("*.md")):
        text = relinked(page.read_text(encoding="utf-8"), page.relative_to(pages), pages)
        page.write_text(CODE.sub(without_backslashes, text), encoding="utf-8")


def without_backslashes(found: re.Match[str]) -> str:
    """Code in a table, where a bar has a backslash before it. mkdocs would show the backslash."""
    code = escape(found[1].replace(r"\|", "|")).replace("|", "&#124;")
    return f"<code>{code}</code>" if r"\|" in found[1] else found[0]


def relinked(text: str, page: Path, pages: Path) -> str:
    """Links as they lead from the gathered page; a link to what the site does not have becomes plain text."""

    def change(found: re.Match[str]) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        if re.match(r"https?:|mailto:", target) or not target:
            return found[0]
        home = ROOT if page.name in ROOT_PAGES and page.parent == Path() else ROOT / "docs" / page.parent
        file = (home / target).resolve()
        inside = file.relative_to(ROOT / "docs") if file.is_relative_to(ROOT / "docs") else Path(file.name)
        if (file.parent == ROOT and file.name not in ROOT_PAGES) or not (pages / inside).is_file():
            return words[1:-1]
        return f"{words}({'../' * len(page.parent.parts)}{inside}{anchor})"

    return LINK.sub(change, text)


def commands(group: Any, path: str = "kaczmatch") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def command_line() -> str:
    parts = ["# Command line\n\nGenerated from the code. `kaczmatch COMMAND --help` says the same.\n"]
    for path, command in commands(typer.main.get_command(app)):
        parts.append(f"## {path}\n\n{command.help}\n\n    {command.epilog.removeprefix('Example: ')}\n")
        context = command.make_context(path, [], resilient_parsing=True)
        shown = [each.get_help_record(context) for each in command.params]  # with choices, ranges and defaults
        parts.append(_table(("option", "meaning"), [(f"`{names}`", words) for names, words in shown]))
    return "\n".join(parts)


def python_names() -> str:
    """Every public name: of the package, of the client, and of the adapters."""
    parts = ["# Python\n\nGenerated from the code. `help(name)` says the same.\n"]
    names = sorted((each for each in kaczmatch.__all__ if not each.startswith("__")), key=str.lower)
    parts += [_described(name, getattr(kaczmatch, name)) for name in names]
    for module, public in (
        ("client", Client),
        ("client", AsyncClient),
        ("sklearn", sklearn.SwipeClassifier),
        ("river", river.SwipeClassifier),
    ):
        parts.append(_described(f"{module}.{public.__name__}", public))
    return "\n".join(part for part in parts if part)


def _described(name: str, public: Any) -> str:
    heading = f"## kaczmatch.{name}\n\n"
    if isinstance(public, dict):
        return f"{heading}One of: {', '.join(f'`{each}`' for each in public)}\n"
    if not (inspect.isclass(public) or inspect.isfunction(public)):
        return f"{heading}`{public!r}`\n"
    shown = "" if inspect.isclass(public) and issubclass(public, BaseException) else str(inspect.signature(public))
    shown = shown.removesuffix(" -> None") if inspect.isclass(public) else shown
    text = f"{heading}```python\n{name.rpartition('.')[2]}{_shorter(shown)}\n```\n\n{inspect.getdoc(public)}\n"
    if inspect.isclass(public):
        methods = [(n, m) for n, m in inspect.getmembers(public, inspect.isfunction) if not n.startswith("_") and m.__doc__]
        offered = dir(public)
        rows = [(f"`{n}{_shorter(str(inspect.signature(m)))}`", _first(m)) for n, m in methods if n in offered]
        text += "\n" + _table(("method", "what it does"), rows)
    return text


def _shorter(signature: str) -> str:
    signature = signature.replace("'", "")  # annotations that were not evaluated
    signature = re.sub(r"<function \S+ at 0x\w+>", "…", signature)  # another address in every process
    signature = re.sub(r"LocalRunner\(\w+=\d+\)", "LocalRunner()", signature)  # as many workers as this machine has cores
    return re.sub(r"(?:kaczmatch|numpy|collections|typing)(?:\.\w+)*\.(\w+)", r"\1", signature).replace("|", "or")


def _first(public: Any) -> str:
    return (inspect.getdoc(public) or "").partition("\n")[0]


def http_reference() -> str:
    document = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    named = schemas(document)
    names = {each.name for each in named}

    def link(words: str) -> str:
        return linked(words, names, "[{name}](#schema-{name})")

    def rows(fields: tuple[ApiField, ...]) -> list[tuple[str, str, str]]:
        return [(f"`{each.name}`{' (required)' if each.required else ''}", link(each.type), each.description) for each in fields]

    parts, subject = ["# HTTP reference\n\nGenerated from the OpenAPI document. A running service shows it at `/docs`.\n"], ""
    for each in operations(document):
        if each.subject != subject:
            subject = each.subject
            parts.append(f"## {subject.capitalize()}\n")
        parts.append(f"### {each.id}\n\n`{each.method} {each.path}`\n\n{each.words}\n")
        parts.append(_table(("parameter", "type", "meaning"), rows(each.parameters)))
        bodies = (each.takes and f"Takes {link(each.takes)}.", each.returns and f"Returns {link(each.returns)}.")
        parts.append(" ".join(words for words in bodies if words))
    parts.append("\n## Schemas\n")
    for schema in named:
        parts.append(f"### {schema.name} {{#schema-{schema.name}}}\n\n{schema.words}\n")
        parts.append(_table(("member", "type", "meaning"), rows(schema.members)))
    return "\n".join(parts)


def _table(head: tuple[str, ...], rows: list[Any]) -> str:
    if not rows:
        return ""
    lines = [head, ("---",) * len(head), *(tuple(_cell(each) for each in row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


if __name__ == "__main__":
    gather()
