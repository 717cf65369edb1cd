"""What all models of the contract share."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

ID_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,63}$"


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not have NUL characters")
    return text


Id = Annotated[str, Field(pattern=ID_PATTERN)]
Text = Annotated[str, AfterValidator(_without_nul)]
Name = Annotated[Text, Field(min_length=1, max_length=80)]


class RequestModel(BaseModel):
    """What a client sends. A member that the service does not know is an error: it would go unread."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResponseModel(BaseModel):
    """What the service answers. A member that a client does not know is ignored: a later service may say more."""

    model_config = ConfigDict(extra="ignore", frozen=True)
