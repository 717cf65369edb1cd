"""Every setting there is, with its default and what it means. `docs/settings.md` has the same list (tested)."""

from __future__ import annotations

import os
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

PREFIX: Final = "KACZMATCH_"
FILE: Final = f"{PREFIX}CONFIG"  # names the file; not a setting itself
LEARNERS_WITH_APPEAL: Final = ("probit-diag", "probit")


def _networks(addresses: tuple[str, ...]) -> tuple[str, ...]:
    for address in addresses:
        try:
            ip_network(address)
        except ValueError:
            raise ValueError(f"{address!r} is neither an address nor a network, such as 10.0.0.7 or 10.0.0.0/24") from None
    return addresses


def _parts(text: Any) -> Any:
    return [part.strip() for part in text.split(",") if part.strip()] if isinstance(text, str) else text


def _which_demo(value: Any) -> Any:
    """True and false, as the environment and files say it, too."""
    if value in (True, "true", "1"):
        return "dating"
    return None if value in (False, "false", "0") else value


DemoName = Literal["dating", "mentoring", "jobs"]
Days = Annotated[float, Field(gt=0.0, le=36_500.0)]
Minutes = Annotated[float, Field(gt=0.0, le=525_600.0)]
Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_parts)]
Networks = Annotated[Words, AfterValidator(_networks)]
Seconds = Annotated[float, Field(ge=1.0, le=86_400.0)]
Quota = Annotated[int | None, Field(ge=0)]


@final
class ArmSettings(BaseModel):
    """One arm of an experiment; what it does not say is as for everybody."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)

    share: float = Field(default=1.0, gt=0.0)
    policy: Literal["mutual", "paper"] | None = None
    policy_settings: dict[str, Any] | None = None


@final
class Settings(BaseSettings):
    """What an operator decides. The environment wins over the file, and both over what stands here."""

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, env_parse_none_str="none", extra="forbid", frozen=True
    )

    # Where and how it runs
    data: Path = Field(default=Path("kaczmatch-data"), description="Folder for the database file and the secret.")
    database: SecretStr | None = Field(
        default=None, description="sqlite:///file or postgresql://user@host/name; usually a SQLite file in the data folder."
    )
    erasure_ledger: Path | None = Field(
        default=None, description="File of hashes by which a restore erases people again; usually `erasures` in the data folder."
    )
    host: str = Field(default="127.0.0.1", min_length=1, description="Address to listen on; beyond loopback only with a key.")
    port: int = Field(default=8000, ge=0, le=65_535, description="Port to listen on; 0: any free one.")
    workers: int = Field(default=1, ge=1, le=64, description="Processes that answer requests, at most one per core.")
    threads: int = Field(default=8, ge=2, le=64, description="Threads for reading, in each process.")
    log: Literal["json", "file"] | None = Field(
        default=None,
        description="Log lines: json on standard error, or file in the data folder; usually file at a terminal, otherwise json.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Least severe log line to write.")

    # Who may ask
    token_secret: SecretStr | None = Field(
        default=None,
        min_length=32,
        description="Signs user tokens; usually made at the first start and kept in the data folder.",
    )
    cors_origins: Words = Field(default=(), description="Origins whose pages may call the API, comma-separated; usually none.")
    trusted_proxies: Networks = Field(
        default=(), description="Addresses or networks of proxies whose X-Forwarded-For is believed, comma-separated."
    )
    head_seconds: Seconds = Field(default=10.0, description="How long the head of a request may take to arrive (408).")
    body_seconds: Seconds = Field(
        default=20.0, description="How long 64 KiB of a body may take to arrive (408), or of a response to be read."
    )
    idle_seconds: Seconds = Field(default=75.0, description="How long a connection stays open without a request.")
    header_limit: int = Field(default=16_384, ge=1_024, le=2**20, description="Largest head of a request, in bytes (431).")
    connection_limit: int = Field(
        default=10_000, ge=2, description="Open connections of each process; fewer where it may not open as many files."
    )
    address_share: float = Field(
        default=0.5, gt=0.0, le=1.0, description="Largest share of connections and of requests in progress for one address."
    )
    body_limit: int = Field(default=1_048_576, ge=1_024, le=2**30, description="Largest body of a request, in bytes.")
    upload_limit: int = Field(
        default=268_435_456, ge=1_024, le=2**40, description="Largest file to import in one request, in bytes."
    )
    waiting_limit: int = Field(default=1_000, ge=1, description="Requests in progress before more are turned away (503).")
    deck_limit: int = Field(default=32, ge=1, description="Decks in progress before more are turned away (503).")

    wrong_keys_a_minute: Annotated[int | None, Field(ge=1)] = Field(
        default=30, description="Wrong keys, tokens and logins per address before answers to them are slowed; none: no limit."
    )

    # The product
    kinds: Words = Field(
        default=("woman", "man", "non-binary"), min_length=1, description="What people can be and look for, comma-separated."
    )
    looks_for: dict[str, tuple[str, ...]] = Field(
        default={}, description="Whom people of a kind look for if their profile does not say it, by kind, as JSON."
    )
    capacity: dict[str, Annotated[int, Field(ge=1, le=1_000_000)]] = Field(
        default={}, description="Open matches that people of a kind take at a time, by kind, as JSON; others take any number."
    )
    age_required: bool = Field(default=True, description="Whether everybody must say when they were born.")
    minimum_age: int = Field(default=18, ge=0, le=120, description="Nobody younger takes part, of those whose age is known.")
    vocabulary: Path | None = Field(
        default=None, description="Tags of a new store: a file with one a line (features begin with ~); usually a general list."
    )
    learner: str = Field(
        default="probit-traits", description="How a new store learns; before the first fit there are no traits, but appeal."
    )
    learner_settings: dict[str, Any] = Field(
        default={}, description="Settings of that learner, as JSON; probit-diag and probit usually have appeal."
    )
    appeal_half_life_days: float = Field(default=1825.0, gt=0.0, description="The age at which a decision counts half in appeal.")
    policy: Literal["mutual", "paper"] = Field(default="mutual", description="How decks are drawn.")
    policy_settings: dict[str, Any] = Field(default={}, description="Settings of that policy, as JSON.")
    refit: bool = Field(default=True, description="Learn where newcomers start from what people like, once enough have swiped.")
    refit_days: Days = Field(default=7.0, description="After so many days again, or earlier if there are twice as many swipes.")
    refit_people: int = Field(default=200, ge=20, description="How many people must have swiped.")
    refit_swipes: int = Field(default=3_000, ge=0, description="How many swipes there must be before the first time.")
    deck_size: int = Field(default=32, ge=1, le=100, description="Cards of a deck, unless asked for otherwise.")
    deck_minutes: Minutes = Field(default=60.0, description="How long a deck stays open.")
    session_minutes: Minutes = Field(default=30.0, description="Silence that ends a session.")
    cooldown_days: Days = Field(
        default=14.0,
        description="How long somebody who was passed or skipped is not shown again.",
    )
    repeats: bool = Field(
        default=False, description="Show people who were passed again after the cooldown, when nobody new is left."
    )
    away_days: Annotated[int | None, Field(ge=1, le=36_500)] = Field(
        default=30, description="Days without a deck, swipe or edit after which somebody leaves decks; none: never."
    )
    admirers_listed: bool = Field(default=False, description="Tell back ends who likes a user before there is a match.")
    exposure_cap: float = Field(default=2.0, ge=1.0, description="Share of cards, in averages, after which others come first.")

    picks_hour: Annotated[int | None, Field(ge=0, le=23)] = Field(
        default=None, description="Hour of the day (UTC) at which everybody's picks are published; usually never."
    )
    picks_size: int = Field(default=10, ge=1, le=100, description="Picks of one person.")
    picks_assignment: Literal["top", "stable", "fair"] = Field(default="stable", description="Who is picked for whom.")
    picks_settings: dict[str, Any] = Field(default={}, description="Settings of that assignment, as JSON.")

    # An experiment
    experiment: str | None = Field(
        default=None, min_length=1, max_length=64, description="Name of the experiment that runs; another name assigns anew."
    )
    experiment_arms: dict[str, ArmSettings] = Field(
        default={}, description="Its arms by name, the one to compare with first: share, policy, policy_settings."
    )
    experiment_salt: str = Field(default="", max_length=200, description="Goes into the hash that assigns arms.")
    experiment_by: Literal["user", "cluster", "time"] = Field(
        default="user", description="What gets an arm: a user, everybody of one region, or everybody for a while."
    )
    experiment_days: Days = Field(default=7.0, description="How long a user or region is watched, from the first deck on.")
    experiment_hours: Annotated[float, Field(gt=0.0, le=8_760.0)] = Field(
        default=24.0, description="How long a block of time is, where arms are assigned by time."
    )
    experiment_km: Annotated[float, Field(ge=10.0, le=5_000.0)] = Field(
        default=100.0, description="How wide a region is, where arms are assigned by cluster."
    )

    # Limits and retention
    swipes_a_day: Quota = Field(
        default=2_000, description="Swipes of one user, and as many undos, refused or not; none: no limit."
    )
    decks_a_day: Quota = Field(default=500, description="Decks of one user; none: no limit.")
    edits_a_day: Quota = Field(default=20, description="Changes of tags by one user; none: no limit.")
    changes_a_day: Quota = Field(
        default=100, description="Profiles put, pauses and resets with one user's tokens; none: no limit."
    )
    blocks_a_day: Quota = Field(default=200, description="Blocks with one user's tokens; none: no limit.")
    reports_a_day: Quota = Field(default=20, description="Reports with one user's tokens; none: no limit.")
    exports_a_day: Quota = Field(default=20, description="Exports of one user's data with their tokens; none: no limit.")
    histories_a_day: Quota = Field(
        default=200, description="Histories of one user's preference with their tokens; none: no limit."
    )
    keep_impressions_days: Days = Field(default=180.0, description="How long cards shown are kept.")
    keep_audit_days: Days = Field(default=365.0, description="How long audit lines are kept.")
    keep_messages_days: Days = Field(default=30.0, description="How long outgoing messages are kept.")

    # Telling the app
    webhook_url: str | None = Field(default=None, description="Where matches and the like are posted; usually nowhere.")
    webhook_secret: SecretStr | None = Field(
        default=None,
        description="Signs them (Standard Webhooks, whsec_…); two, with a space between, while changing it.",
    )
    webhook_trusting: bool = Field(default=False, description="Allow plain HTTP and private addresses: for development only.")

    # The demo
    demo: Annotated[DemoName | None, BeforeValidator(_which_demo)] = Field(
        default=None,
        description="Invented people to play with, and a key for this machine alone: dating (or true), mentoring, jobs.",
    )
    demo_people: int = Field(default=2_000, ge=10, le=100_000, description="How many.")
    demo_seed: int = Field(default=0, ge=0, description="Which ones.")

    @model_validator(mode="before")
    @classmethod
    def _usual_learner_settings(cls, given: dict[str, Any]) -> dict[str, Any]:
        if given.get("learner") in LEARNERS_WITH_APPEAL:
            given.setdefault("learner_settings", {"appeal": True})
        return given

    @property
    def url(self) -> str:
        """The address of the database."""
        if self.database is not None:
            return self.database.get_secret_value()
        return f"sqlite:///{self.data / 'kaczmatch.sqlite3'}"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        del dotenv_settings, file_secret_settings
        file = os.environ.get(FILE)
        return (init_settings, env_settings, *((TomlConfigSettingsSource(settings_cls, Path(file)),) if file else ()))
