"""What the package offers by name, and what help() says of it."""

from __future__ import annotations

import inspect
import pydoc
import re
from pathlib import Path

import kaczmatch
from kaczmatch.client import AsyncClient, Client


def test_every_learner_is_a_class_by_name() -> None:
    for slug, rule in kaczmatch.LEARNERS.items():
        assert getattr(kaczmatch, rule.__name__)() == kaczmatch.learner(slug)


def test_every_public_function_and_method_says_what_it_does_and_returns() -> None:
    public = {name: getattr(kaczmatch, name) for name in kaczmatch.__all__ if not name.startswith("__")}
    assert len(public) > 40
    classes = {name: each for name, each in public.items() if inspect.isclass(each)}
    assert [name for name, each in classes.items() if not inspect.getdoc(each)] == []
    called = {name: each for name, each in public.items() if inspect.isfunction(each)}
    contracts = {name: each for name, each in classes.items() if each not in kaczmatch.LEARNERS.values()}
    for name, owner in contracts.items():
        called |= {f"{name}.{m}": f for m, f in inspect.getmembers(owner, inspect.isroutine) if not m.startswith("_")}
    ours = {name: each for name, each in called.items() if str(getattr(each, "__module__", "")).startswith("kaczmatch")}
    assert len(ours) > 100
    assert [name for name, each in ours.items() if not inspect.getdoc(each)] == []
    assert [name for name, each in ours.items() if inspect.signature(each).return_annotation is inspect.Signature.empty] == []


def test_help_of_a_client_says_what_a_call_returns() -> None:
    assert str(inspect.signature(Client.create_deck).return_annotation) == "Deck"
    assert str(inspect.signature(AsyncClient.create_deck).return_annotation) == "Awaitable[Deck]"
    assert "-> 'dict[str, Any]'" in pydoc.render_doc(Client.export_personal_data)


def test_pages_need_no_name_of_a_deeper_module() -> None:
    root = Path(__file__).parents[2]
    deep = re.compile(r"^\W*(?:from|import) kaczmatch\.\w+\.\w.*$", re.MULTILINE)
    pages = [root / "README.md", *(root / "docs").glob("*.md")]
    assert {page.name: deep.findall(page.read_text(encoding="utf-8")) for page in pages} == {page.name: [] for page in pages}
