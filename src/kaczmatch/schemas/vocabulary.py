"""The terms and kinds that profiles are made of."""

from __future__ import annotations

from typing import final

from pydantic import Field

from kaczmatch.schemas.base import Name, RequestModel, ResponseModel


@final
class VocabularyTerm(ResponseModel):
    """A tag or a feature. A retired one no longer counts."""

    name: str
    is_tag: bool
    retired: bool
    kinds: tuple[str, ...] = Field(description="Whose it is; empty: everybody's.")


@final
class ProfileVocabulary(ResponseModel):
    """What a profile may contain."""

    version: int
    terms: tuple[VocabularyTerm, ...]
    kinds: tuple[str, ...]
    looks_for: dict[str, tuple[str, ...]] = Field(description="Whom people of a kind look for if their profile does not say it.")
    capacity: dict[str, int] = Field(description="Open matches that people of a kind take at a time.")
    age_required: bool
    minimum_age: int


@final
class TermRename(RequestModel):
    """One term's old and new name."""

    old: Name
    new: Name


@final
class VocabularyChangeRequest(RequestModel):
    """Terms are renamed, then retired, then added: all of it, or nothing. Added terms are for `kinds`; empty: for everybody."""

    rename: tuple[TermRename, ...] = Field(default=(), max_length=1_000)
    retire: tuple[Name, ...] = Field(default=(), max_length=1_000)
    add_tags: tuple[Name, ...] = Field(default=(), max_length=1_000)
    add_features: tuple[Name, ...] = Field(default=(), max_length=1_000)
    kinds: tuple[Name, ...] = Field(default=(), max_length=32)
