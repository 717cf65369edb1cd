"""Sessions of operators: begun with a key, known to the browser alone, ended by time, by leaving and with the key."""

from __future__ import annotations

import pytest

from kaczmatch.service.access.console_sessions import LIFE, TOKEN_LIFE, ConsoleSessions
from kaczmatch.service.access.credentials import APP, DATA, OPERATOR, TOKENS, Caller, Credentials, Unauthenticated
from kaczmatch.service.domain.records import RECORDS, AuditEntry, StoredConsoleSession
from worlds.town import Town

SECRET = b"a secret for tests, thirty-two bytes"


@pytest.fixture
def sessions(town: Town) -> ConsoleSessions:
    return ConsoleSessions(Credentials(town.context, SECRET))


def begun(sessions: ConsoleSessions, *scopes: str) -> tuple[str, str]:
    """A session's secret, and the id of its key."""
    key, text = sessions.credentials.create("console", scopes or (OPERATOR, DATA))
    return sessions.begin(text)[0], key.id


def logins(town: Town) -> list[str]:
    return [line.actor for line in town.find(AuditEntry) if line.action == "logged in to the console"]


def test_a_session_is_its_keys(sessions: ConsoleSessions, town: Town) -> None:
    secret, key = begun(sessions)
    assert sessions.caller(secret) == Caller(key, frozenset({OPERATOR, DATA}))
    assert logins(town) == [key]
    assert sessions.caller(secret + "x") is None
    assert sessions.caller("") is None


def test_only_a_key_with_the_operators_scope_begins_one(sessions: ConsoleSessions, town: Town) -> None:
    access = sessions.credentials
    _, weak = access.create("app", (APP, TOKENS, DATA))
    _, strong = access.create("console", (OPERATOR, TOKENS))
    minted, _ = access.create_user_token(access.caller(strong), "ann")
    lent, _ = access.create_page_token(access.caller(strong), TOKEN_LIFE)  # what a page has must not prolong itself
    for credential in (weak, minted, lent, "", "kz_000000000000_" + "0" * 64):
        with pytest.raises(Unauthenticated):
            sessions.begin(credential)
    assert logins(town) == []


def test_the_store_does_not_know_the_secret(sessions: ConsoleSessions, town: Town) -> None:
    secret, _ = begun(sessions)
    assert all(secret not in repr(record) for kind in RECORDS for record in town.find(kind))


def test_it_ends_after_its_time_to_the_second(sessions: ConsoleSessions, town: Town) -> None:
    secret, _ = begun(sessions)
    town.wait(seconds=LIFE.total_seconds() - 1)
    assert sessions.caller(secret) is not None
    town.wait(seconds=1)
    assert sessions.caller(secret) is None
    with pytest.raises(Unauthenticated, match="ended"):
        sessions.token(secret)


def test_it_ends_by_leaving_and_no_other_does(sessions: ConsoleSessions) -> None:
    (one, _), (other, _) = begun(sessions), begun(sessions)
    sessions.end(one)
    assert sessions.caller(one) is None
    assert sessions.caller(other) is not None
    sessions.end(one)  # twice does no harm


def test_it_ends_with_its_key(sessions: ConsoleSessions, town: Town) -> None:
    secret, key = begun(sessions)
    sessions.credentials.revoke(key).result()
    town.wait(seconds=3)
    assert sessions.caller(secret) is None


def test_a_page_gets_no_more_than_it_needs_and_for_a_moment(sessions: ConsoleSessions, town: Town) -> None:
    secret, key = begun(sessions, OPERATOR, APP, TOKENS)
    token, expires, lent = sessions.token(secret)
    assert lent == sessions.credentials.caller(token) == Caller(key, frozenset({OPERATOR}))
    assert expires == town.now + TOKEN_LIFE


def test_ended_ones_are_swept_at_the_next_login(sessions: ConsoleSessions, town: Town) -> None:
    begun(sessions)
    town.wait(seconds=LIFE.total_seconds() / 2)
    half, _ = begun(sessions)
    town.wait(seconds=LIFE.total_seconds() / 2)
    new, _ = begun(sessions)
    assert len(town.find(StoredConsoleSession)) == 2
    assert sessions.caller(half) is not None
    assert sessions.caller(new) is not None
