"""Who may call: service keys of an app's back end, and short-lived tokens that it creates for one user each.

A key is shown once and stored as a hash. It has 256 random bits, so a plain hash cannot be searched. A token is a signed JWT
(HS256) that names its user and the key that created it. Revoking the key ends its tokens, too.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import final

import jwt

from kaczmatch.core.errors import InvalidInput, did_you_mean
from kaczmatch.service.access.erased_tokens import LONGEST_TOKEN, ErasedTokens
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.locks import service_key_lock
from kaczmatch.service.domain.person_ids import checked_id
from kaczmatch.service.domain.records import AuditEntry, ServiceKey
from kaczmatch.service.domain.refusals import Conflict, NotFound
from kaczmatch.service.domain.store import Transaction

APP, TOKENS, DATA, OPERATOR = "app", "tokens", "data", "operator"
SCOPES = {
    APP: "act for every user: profiles, decks, swipes, matches",
    TOKENS: "create short-lived tokens for one user each",
    DATA: "import and export profiles and swipes, read the feed",
    OPERATOR: "reports, vocabulary, figures, one user's timeline",
}
_PREFIX = "kz"
_KNOWN_FOR = timedelta(seconds=1)  # how long a process may take a key for valid after it was revoked


class Unauthenticated(Exception):
    """No valid credential."""


@final
@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a back end with scopes, or one user."""

    key: str
    scopes: frozenset[str]
    user: str | None = None
    issued: datetime | None = field(default=None, compare=False)  # when the token of a user was created

    @property
    def is_user(self) -> bool:
        return self.user is not None

    def may_act_for(self, user: str) -> bool:
        return self.user == user if self.user is not None else APP in self.scopes


@final
@dataclass(frozen=True, slots=True, eq=False)
class Credentials:
    """The use cases of keys and tokens. `secret` signs tokens and is kept outside the store."""

    context: Context
    secret: bytes
    random: Callable[[int], bytes] = secrets.token_bytes
    erased_tokens: ErasedTokens = field(init=False)
    _cache: dict[str, tuple[ServiceKey, datetime]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "erased_tokens", ErasedTokens(self.context, self.secret))

    def create(self, name: str, scopes: Collection[str], *, expires: datetime | None = None) -> tuple[ServiceKey, str]:
        """A new key and its text. The text cannot be shown again."""
        for scope in scopes:
            if scope not in SCOPES:
                raise InvalidInput("scopes", f"there is no scope {scope!r}; {did_you_mean(scope, SCOPES)}")
        if not scopes:
            raise InvalidInput("scopes", f"at least one of {', '.join(SCOPES)}")
        identifier, secret = self.random(6).hex(), self.random(32).hex()
        key = ServiceKey(
            id=identifier,
            name=name,
            hash=_hashed(secret),
            scopes=tuple(sorted(set(scopes))),
            created=self.context.clock(),
            expires=expires,
        )

        def work(transaction: Transaction) -> None:
            transaction.put(key)
            transaction.append(self._audit(f"created key {identifier} ({', '.join(key.scopes)})"))

        self.context.store.write(work).result()
        return key, f"{_PREFIX}_{identifier}_{secret}"

    def keys(self) -> list[ServiceKey]:
        with self.context.store.read() as reader:
            return reader.find(ServiceKey)

    def revoke(self, identifier: str) -> Future[ServiceKey]:
        """End a key, and every token that was created with it."""

        def work(transaction: Transaction) -> ServiceKey:
            key = transaction.get(ServiceKey, identifier)
            if key is None:
                raise NotFound(f"there is no key {identifier!r}")
            revoked = replace(key, revoked=key.revoked or self.context.clock())
            transaction.put(revoked)
            transaction.append(self._audit(f"revoked key {identifier}"))
            return revoked

        self._cache.pop(identifier, None)
        return self.context.store.write(work, locks=[service_key_lock(identifier)])

    def rotate(self, identifier: str, *, grace: timedelta = timedelta(0)) -> tuple[ServiceKey, str]:
        """A new key like an old one, which ends after `grace`."""
        made, secret = self.random(6).hex(), self.random(32).hex()

        def work(transaction: Transaction) -> ServiceKey:
            old, now = transaction.get(ServiceKey, identifier), self.context.clock()
            if old is None:
                raise NotFound(f"there is no key {identifier!r}")
            if old.revoked is not None or (old.expires is not None and old.expires <= now):
                raise Conflict(f"key {identifier!r} has ended; create another one")
            new = replace(old, id=made, hash=_hashed(secret), created=now)
            transaction.put(new)
            transaction.put(replace(old, expires=min(now + grace, old.expires or now + grace)))
            transaction.append(self._audit(f"rotated key {identifier} to {made}"))
            return new

        new = self.context.store.write(work, locks=[service_key_lock(identifier)]).result()
        self._cache.pop(identifier, None)
        return new, f"{_PREFIX}_{made}_{secret}"

    def create_user_token(self, caller: Caller, user: str, life: timedelta = timedelta(minutes=15)) -> tuple[str, datetime]:
        """A token with which a user's own device may call for that user, for a while."""
        if not timedelta(seconds=1) <= life <= LONGEST_TOKEN:
            raise InvalidInput("seconds", f"must be from 1 to {LONGEST_TOKEN.total_seconds():.0f}")
        now = self.context.clock()
        expires = now + life
        claims = {"sub": checked_id(user), "kid": caller.key, "iat": now.timestamp(), "exp": expires}
        return jwt.encode(claims, self.secret, algorithm="HS256"), expires

    def create_page_token(self, caller: Caller, life: timedelta) -> tuple[str, datetime]:
        """A token with which the console's page may call for a moment. It can do no more than its key."""
        expires = self.context.clock() + life
        claims = {"kid": caller.key, "scopes": sorted(caller.scopes), "exp": expires}
        return jwt.encode(claims, self.secret, algorithm="HS256"), expires

    def caller(self, credential: str) -> Caller:
        """Who holds this credential. Raises Unauthenticated if it is not valid, or no longer."""
        if credential.startswith(f"{_PREFIX}_"):
            return self._by_key(credential)
        return self._by_token(credential)

    def _by_key(self, credential: str) -> Caller:
        _, identifier, secret = [*credential.split("_"), "", ""][:3]
        key = self._valid(identifier)
        # Compared in any case, so that the time it takes does not tell whether there is such a key.
        right = hmac.compare_digest(_hashed(secret), key.hash if key is not None else _hashed(""))
        if key is None or not right:
            raise Unauthenticated("no such key, or it was revoked")
        return Caller(key.id, frozenset(key.scopes))

    def _by_token(self, credential: str) -> Caller:
        try:
            claims = jwt.decode(
                credential,
                self.secret,
                algorithms=["HS256"],
                options={"require": ["kid", "exp"], "verify_exp": False, "verify_iat": False},
            )
        except jwt.InvalidTokenError as error:
            raise Unauthenticated("not a valid token") from error
        if not isinstance(claims["exp"], int) or claims["exp"] <= self.context.clock().timestamp():
            raise Unauthenticated("the token has expired")
        key = self._valid(str(claims["kid"]))
        if "sub" not in claims:
            return self._page_caller(key, claims.get("scopes"))
        if key is None or TOKENS not in key.scopes:
            raise Unauthenticated("the key that created this token was revoked")
        user, iat = str(claims["sub"]), claims.get("iat")
        issued = datetime.fromtimestamp(iat, UTC) if isinstance(iat, float | int) else None
        if issued is None or self.erased_tokens.is_ended(user, issued):
            raise _erased()
        return Caller(key.id, frozenset(), user, issued)

    def check_not_erased(self, caller: Caller, user: str) -> Callable[[Transaction], None]:
        """A check for `Profiles.put`: a token of an erased person must not add that person again."""

        def check(transaction: Transaction) -> None:
            if caller.issued is not None and self.erased_tokens.is_ended_in(transaction, user, caller.issued):
                raise _erased()

        return check

    def _page_caller(self, key: ServiceKey | None, scopes: object) -> Caller:
        if key is None or not isinstance(scopes, list):
            raise Unauthenticated("the key that created this token was revoked")
        return Caller(key.id, frozenset(key.scopes).intersection(scopes))

    def caller_of_key(self, identifier: str) -> Caller | None:
        """Who holds a key, as long as it is valid."""
        key = self._valid(identifier)
        return None if key is None else Caller(key.id, frozenset(key.scopes))

    def _valid(self, identifier: str) -> ServiceKey | None:
        """A key that is neither revoked nor expired; looked up again at least every second."""
        now = self.context.clock()
        with self._lock:
            cached = self._cache.get(identifier)
        if cached is None or not timedelta(0) <= now - cached[1] < _KNOWN_FOR:
            with self.context.store.read() as reader:
                key = reader.get(ServiceKey, identifier)
            if key is None:
                return None
            cached = key, now
            with self._lock:
                self._cache[identifier] = cached
        key = cached[0]
        ended = key.revoked is not None or (key.expires is not None and key.expires <= now)
        return None if ended else key

    def _audit(self, action: str) -> AuditEntry:
        return AuditEntry(id=self.context.new_id(), at=self.context.clock(), actor="keys", action=action)


def _erased() -> Unauthenticated:
    return Unauthenticated("the person of this token was erased; create another token")


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
