"""A real PostgreSQL for the tests: one server per worker, unprivileged, on a free port; each test has a database to itself.

A worker does not share its server, because some tests stop it. A database is emptied for the next test: to make one takes the
server most of a second, for its hundreds of tables.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from kaczmatch.storage.migrating import migrate
from worlds.ports import free_port

TEMPLATE = "template_migrated"
_EMPTY = """
DO $$ DECLARE one regclass; BEGIN
  FOR one IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
      AND relname <> 'alembic_version' AND pg_relation_size(oid) > 0 LOOP
    EXECUTE format('DELETE FROM %s', one);
  END LOOP;
  FOR one IN SELECT oid FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace LOOP
    EXECUTE format('ALTER SEQUENCE %s RESTART', one);
  END LOOP;
END $$"""


def programs() -> Path:
    """Where initdb and postgres are; tests that need them fail without, unless it was said that they cannot be had."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    if on_path := shutil.which("initdb"):
        return Path(on_path).resolve().parent
    if reason := os.environ.get("NO_POSTGRESQL"):
        pytest.skip(f"no PostgreSQL: {reason}")
    pytest.fail("PostgreSQL is not installed: `make test` tries to, or: apt-get install postgresql")


def unprivileged() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Server:
    """PostgreSQL in a folder of its own, syncing to disk as in earnest. `host` is the address it listens on."""

    def __init__(self, bin: Path, settings: Sequence[str] = (), host: str = "127.0.0.1") -> None:
        self._bin = bin
        self._settings = settings
        self._host = host
        self._as = unprivileged()
        self._folder = Path(tempfile.mkdtemp(prefix="kaczmatch-postgresql-"))
        self.data = self._folder / "data"
        self._numbers = count(1)
        self.empty = list[str]()  # the addresses of databases that wait for a test
        if self._as:
            os.chown(self._folder, self._as["user"], self._as["group"])
        self.port = free_port()
        self._call("initdb", "-D", str(self.data), "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        with (self.data / "pg_hba.conf").open("a") as allowed:
            allowed.write(f"host all all {host}/24 trust\n")
        self.start()

    def _call(self, program: str, *arguments: str) -> None:
        done = subprocess.run(  # noqa: S603
            [self._bin / program, *arguments], cwd=self._folder, capture_output=True, text=True, check=False, **self._as
        )
        if done.returncode:
            pytest.fail(f"{program}: {done.stderr}")

    def start(self) -> None:
        settings = [f"listen_addresses={self._host}", "unix_socket_directories=", "fsync=on", "max_connections=60"]
        settings += self._settings
        self.log = (self._folder / "log").open("ab")
        command = [self._bin / "postgres", "-D", self.data, "-p", str(self.port), *(a for s in settings for a in ("-c", s))]
        self.process = subprocess.Popen(command, cwd=self._folder, stdout=self.log, stderr=self.log, **self._as)  # noqa: S603
        for _ in range(300):
            try:
                psycopg.connect(self.address("postgres"), connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.1)
        pytest.fail(f"PostgreSQL did not start: {(self._folder / 'log').read_text()}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT lets clients go; SIGQUIT is the immediate stop, after which it has to recover."""
        self.process.send_signal(how)
        self.process.wait(timeout=60)
        self.log.close()

    def crash(self) -> None:
        """Kill every process of the server at once, as when the machine stops."""
        family = [
            self.process.pid,
            *map(int, Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()),
        ]
        for process in family:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.process.wait(timeout=60)
        while any(Path(f"/proc/{process}").exists() for process in family):  # memory that they share must be free again
            time.sleep(0.01)
        self.log.close()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def address(self, name: str) -> str:
        return f"postgresql://tester@{self._host}:{self.port}/{name}"

    def ask(self, statement: str, name: str = "postgres") -> list[Any]:
        with psycopg.connect(self.address(name), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def new(self, template: str = TEMPLATE) -> str:
        """The address of a new database."""
        name = f"test_{next(self._numbers)}"
        self.ask(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.address(name)

    def clear(self, address: str) -> None:
        """Every row is gone. What was deleted can still be found in the files: tests that look there need a new database."""
        name = address.rpartition("/")[2]
        self.ask(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608
        self.ask(_EMPTY, name)

    def drop(self, address: str) -> None:
        self.ask(f"DROP DATABASE IF EXISTS {address.rpartition('/')[2]} WITH (FORCE)")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    server = Server(programs())
    try:
        # sorted as a language is, which is what many servers do: our own columns must not be
        server.ask(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C.UTF-8'")
        migrate(server.address(TEMPLATE))
        yield server
    finally:
        server.remove()


@pytest.fixture
def postgres_url(postgres: Server) -> Iterator[str]:
    address = postgres.empty.pop() if postgres.empty else postgres.new()
    yield address
    postgres.clear(address)
    postgres.empty.append(address)


@pytest.fixture
def new_postgres_url(postgres: Server) -> Iterator[str]:
    """Nothing was ever in it."""
    address = postgres.new()
    yield address
    postgres.drop(address)
