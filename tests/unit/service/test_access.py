"""Keys and tokens: shown once, kept as hashes, ended at once."""

from __future__ import annotations

import hashlib
import hmac
from datetime import timedelta

import jwt
import pytest

from kaczmatch import InvalidInput
from kaczmatch.service.access.credentials import APP, OPERATOR, TOKENS, Caller, Credentials, Unauthenticated
from kaczmatch.service.domain.records import RECORDS, ErasedUser
from kaczmatch.service.domain.refusals import Conflict, NotFound
from kaczmatch.service.domain.scrubbing import Scrubbing
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.privacy.erasure import Erasure
from worlds.town import Town

SECRET = b"a secret for tests, thirty-two bytes"


@pytest.fixture
def access(town: Town) -> Credentials:
    return Credentials(town.context, SECRET)


def test_a_key_opens_what_its_scopes_say(access: Credentials) -> None:
    key, text = access.create("app", [APP, TOKENS])
    assert access.caller(text) == Caller(key.id, frozenset({APP, TOKENS}))
    assert access.caller(text).may_act_for("anybody")


def test_the_text_of_a_key_is_nowhere_in_the_store(access: Credentials, town: Town) -> None:
    _, text = access.create("app", [APP])
    secret = text.split("_")[2]
    assert all(secret not in repr(record) for kind in RECORDS for record in town.find(kind))


@pytest.mark.parametrize("wrong", ["", "kz", "kz_", "kz__", "kz_0_0", "Bearer", "a.b.c", "kz_é_é", "\x00"])
def test_anything_else_is_denied(access: Credentials, wrong: str) -> None:
    access.create("app", [APP])
    with pytest.raises(Unauthenticated):
        access.caller(wrong)


def test_a_key_with_another_secret_is_denied(access: Credentials) -> None:
    key, text = access.create("app", [APP])
    with pytest.raises(Unauthenticated):
        access.caller(text[:-1] + ("0" if text[-1] != "0" else "1"))
    with pytest.raises(Unauthenticated):
        access.caller(f"kz_{key.id}_{key.hash}")


def test_a_revoked_key_ends_with_its_tokens(access: Credentials) -> None:
    key, text = access.create("app", [APP, TOKENS])
    token, _ = access.create_user_token(access.caller(text), "ann")
    assert access.caller(token) == Caller(key.id, frozenset(), "ann")
    access.revoke(key.id).result()
    for credential in (text, token):
        with pytest.raises(Unauthenticated):
            access.caller(credential)
    with pytest.raises(NotFound):
        access.revoke("nothing").result()


def test_another_process_notices_a_revocation_within_a_second(town: Town) -> None:
    here, there = Credentials(town.context, SECRET), Credentials(town.context, SECRET)
    key, text = here.create("app", [APP])
    there.caller(text)
    here.revoke(key.id).result()
    town.wait(seconds=1)
    with pytest.raises(Unauthenticated):
        there.caller(text)


def test_a_rotated_key_lives_on_for_its_grace(access: Credentials, town: Town) -> None:
    key, old = access.create("app", [APP])
    _, new = access.rotate(key.id, grace=timedelta(hours=1))
    assert access.caller(old).scopes == access.caller(new).scopes
    town.wait(hours=1)
    access.caller(new)
    with pytest.raises(Unauthenticated):
        access.caller(old)


def test_a_key_expires(access: Credentials, town: Town) -> None:
    _, text = access.create("app", [OPERATOR], expires=town.now + timedelta(hours=1))
    access.caller(text)
    town.wait(hours=1)
    with pytest.raises(Unauthenticated):
        access.caller(text)


def test_a_token_is_for_one_user_and_a_short_while(access: Credentials, town: Town) -> None:
    _, text = access.create("app", [TOKENS])
    token, expires = access.create_user_token(access.caller(text), "ann", timedelta(minutes=5))
    caller = access.caller(token)
    assert caller.may_act_for("ann")
    assert not caller.may_act_for("bob")
    assert expires == town.now + timedelta(minutes=5)
    town.wait(minutes=5)
    with pytest.raises(Unauthenticated, match="expired"):
        access.caller(token)


@pytest.mark.parametrize("forged", ["none", "other secret", "no expiry", "unknown key"])
def test_forged_tokens_are_denied(access: Credentials, town: Town, forged: str) -> None:
    key, _ = access.create("app", [TOKENS])
    claims: dict[str, object] = {"sub": "ann", "kid": key.id, "exp": town.now + timedelta(hours=1)}
    secret: bytes | None = SECRET
    algorithm = "HS256"
    if forged == "none":
        secret, algorithm = None, "none"
    elif forged == "other secret":
        secret = b"another secret, thirty-two bytes too"
    elif forged == "no expiry":
        del claims["exp"]
    else:
        claims["kid"] = "0"
    with pytest.raises(Unauthenticated):
        access.caller(jwt.encode(claims, secret, algorithm=algorithm))


def test_scopes_and_lives_that_make_no_sense_are_refused(access: Credentials) -> None:
    with pytest.raises(InvalidInput, match="did you mean 'app'"):
        access.create("x", ["ap"])
    with pytest.raises(InvalidInput, match="at least one"):
        access.create("x", [])
    _, text = access.create("app", [TOKENS])
    with pytest.raises(InvalidInput, match="seconds"):
        access.create_user_token(access.caller(text), "ann", timedelta(days=2))


def test_a_key_that_has_ended_is_not_rotated(access: Credentials, town: Town) -> None:
    revoked, _ = access.create("old", ["app"])
    access.revoke(revoked.id).result()
    expired, _ = access.create("older", ["app"], expires=town.now)
    for key in (revoked, expired):
        with pytest.raises(Conflict, match="has ended"):
            access.rotate(key.id)
    assert len(access.keys()) == 2


def test_a_token_ends_with_its_person_and_a_later_one_is_another(access: Credentials, town: Town) -> None:
    _, text = access.create("app", [TOKENS])
    town.couples(2)
    old, other = access.create_user_token(access.caller(text), "m0")[0], access.create_user_token(access.caller(text), "m1")[0]
    erasing = Erasure(town.context, Scrubbing(town.context), access.erased_tokens)
    assert access.caller(old).may_act_for("m0")
    erasing.erase("m0")
    town.wait(seconds=1)
    with pytest.raises(Unauthenticated, match="erased"):
        access.caller(old)
    with pytest.raises(Unauthenticated):
        Credentials(town.context, SECRET).caller(old)
    assert access.caller(other).user == "m1"
    town.move_in("m0", man=True)
    new = access.create_user_token(access.caller(text), "m0")[0]
    assert access.caller(new).user == "m0"
    with pytest.raises(Unauthenticated):
        access.caller(old)


def test_what_is_kept_of_somebody_who_left_says_nothing_and_goes_after_a_day(access: Credentials, town: Town) -> None:
    town.couples(1)
    Erasure(town.context, Scrubbing(town.context), access.erased_tokens).erase("m0")
    [erased] = town.find(ErasedUser)
    assert "m0" not in repr(erased)
    assert hashlib.sha256(b"m0").hexdigest() not in erased.user_hash  # nobody without the secret can try names
    town.wait(hours=23)
    Maintenance(town.context).run()
    assert erased in town.find(ErasedUser)
    town.wait(hours=2)
    Maintenance(town.context).run()
    assert erased not in town.find(ErasedUser)


def test_secrets_are_compared_in_constant_time_whether_or_not_there_is_such_a_key(
    access: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, text = access.create("app", [APP])
    compared: list[tuple[int, int]] = []
    usual = hmac.compare_digest

    def watched(one: str, other: str) -> bool:
        compared.append((len(one), len(other)))
        return usual(one, other)

    monkeypatch.setattr(hmac, "compare_digest", watched)
    access.caller(text)
    for wrong in (f"kz_{key.id}_00", "kz_000000000000_00"):
        with pytest.raises(Unauthenticated):
            access.caller(wrong)
    assert compared == [(64, 64)] * 3
