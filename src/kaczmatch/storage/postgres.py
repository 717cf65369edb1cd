"""PostgreSQL by psycopg: many processes on many machines, which take advisory locks.

Rows travel as one array per column. So the text of a statement does not depend on the number of rows, and the server keeps it
prepared. Everything else lasts for one transaction at most, so connections may come through a pooler such as PgBouncer.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, final

from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from kaczmatch.service.domain.locks import EVERYTHING
from kaczmatch.service.domain.records import PARTS as NUMBERED_PARTS
from kaczmatch.service.domain.records import RECORDS, LogRecord, PersonNumber, Record
from kaczmatch.service.domain.store import Cursor, StoreUnavailable
from kaczmatch.storage.codec import Row, codec
from kaczmatch.storage.database import Database, ErrorKind, PlacesOfPages, count_numbers, execute, rows_of
from kaczmatch.storage.postgres_log import became_visible
from kaczmatch.storage.postgres_statements import among, append, counted, select, select_own, upsert

if TYPE_CHECKING:  # whoever keeps to SQLite does not have it
    import psycopg

WHOLE_STORE: Final = 0  # shared by commits with a few locks, exclusive for `EVERYTHING` and where too many would be needed
MOST_LOCKS: Final = 2_048
RESERVED: Final = 512  # numbers for new people that a process takes at a time
PARTS: Final = 32  # of a table of what is personal
LOCK_TIMEOUT: Final = 50  # milliseconds that a scrub waits for readers of a part: others queue behind it
TRIES, PAUSE = 40, 0.25  # of a scrub, and seconds between them
SETTINGS: Final = {
    "synchronous_commit": "on",
    "client_min_messages": "error",
    "lock_timeout": "30s",
    # What we ask for has an index. A plan made while a table was small would read all of it once it has grown.
    "enable_seqscan": "off",
    "jit": "off",
}
# A machine that vanishes closes no connection. After five seconds the server lets go of its connections and of what they had
# locked, and where the server vanishes, we notice.
VANISHED_CLIENT: Final = {
    "tcp_keepalives_idle": "2",
    "tcp_keepalives_interval": "1",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "5s",
}
# A process that hangs in a commit is given up after a minute, while others still try again.
HANGING_COMMIT: Final = "-c idle_in_transaction_session_timeout=60s"
OPTIONS: Final = " ".join(f"-c {name}={value}" for name, value in (SETTINGS | VANISHED_CLIENT).items())
VANISHED_SERVER: Final = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 10_000}

TRANSIENT_STATES: Final = ("40", "08", "57", "55P03", "25P03")  # lost races, lost connections, a server that restarts, long waits
OUTAGE_STATES: Final = ("53", "54", "58", "XX", "28", "3D", "25006")  # no room, no disk, no way in, a server that only reads


_PARTS_OF: Final = (
    f"SELECT DISTINCT part FROM generate_series(0, {PARTS - 1}) AS part CROSS JOIN unnest(%s::bigint[]) AS value "
    f"WHERE satisfies_hash_partition(%s::regclass, {PARTS}, part, value) ORDER BY part"
)
_OLDER_READERS: Final = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' "
    "AND pid <> pg_backend_pid() AND age(backend_xmin) > age(%s::xid8::xid)"
)
_PRIMARY_KEY: Final = (
    "SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = %s::regclass AND indisprimary"
)
_LOCKS_THEN_ID: Final = (
    "SELECT pg_current_xact_id()::text, taken "
    "FROM (SELECT count(pg_advisory_xact_lock(lock)) AS taken FROM unnest(%s::bigint[]) AS lock) AS locks"
)
_NOT_BEGUN: Final = '"txid" >= pg_snapshot_xmax(pg_current_snapshot())'
_IN_FORCE: Final = (
    "SELECT name, current_setting(name) = set_config(name, value, true) "
    "FROM unnest(%s::text[], %s::text[]) AS wanted(name, value)"
)


def _part(kind: type[Record], part: int) -> str:
    return f"{kind.table}_{part:02}"


def _columns(rows: Sequence[Row]) -> tuple[list[Any], ...]:
    return tuple(map(list, zip(*rows, strict=True)))


def lock_number(lock: str) -> int:
    """The number of an advisory lock. Two names rarely share one; where they do, one work waits without need."""
    return int.from_bytes(blake2b(lock.encode(), digest_size=8).digest(), signed=True)


@final
class Postgres(Database):
    """A server."""

    placeholder = "%s"

    def __init__(self, url: URL, readers: int) -> None:
        url = url.set(drivername="postgresql+psycopg")
        arguments = {"connect_timeout": 5, "options": OPTIONS, **VANISHED_SERVER}
        common: dict[str, Any] = {"max_overflow": 0, "connect_args": arguments, "pool_pre_ping": True, "hide_parameters": True}
        writing = common | {"connect_args": arguments | {"options": f"{OPTIONS} {HANGING_COMMIT}"}}
        self.writer = create_engine(url, pool_size=1, **writing)
        only_reading = {"postgresql_readonly": True}
        self.readers = create_engine(
            url, pool_size=readers, isolation_level="REPEATABLE READ", execution_options=only_reading, **common
        )
        # For what is done beside the writer, which goes on meanwhile.
        self._beside = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args=arguments)
        for engine in (self.writer, self.readers, self._beside):
            event.listen(engine, "connect", _adapt_to_pooler)
        self._transaction = ""
        self._reserved = range(0)
        self.places = PlacesOfPages()

    def fetch(
        self,
        connection: Connection,
        kind: type[Record],
        keys: Sequence[Row],
        by: tuple[str, ...] = (),
        only: tuple[str, ...] = (),
    ) -> Sequence[Sequence[Any]]:
        return rows_of(connection, select(codec(kind), by, only), _columns(keys)) if keys else []

    def fetch_own(self, connection: Connection, kind: type[Record], people: Sequence[Row]) -> Sequence[Sequence[Any]]:
        return rows_of(connection, select_own(codec(kind)), _columns(people)) if people else []

    def count(self, connection: Connection, kind: type[Record], keys: Sequence[Row]) -> int:
        return int(rows_of(connection, counted(codec(kind)), _columns(keys))[0][0]) if keys else 0

    def upsert(self, connection: Connection, kind: type[Record], rows: Sequence[Row], *, replace: bool = True) -> None:
        execute(connection, upsert(codec(kind), replace), _columns(rows))

    def new_numbers(self, connection: Connection, many: int) -> Sequence[int]:
        """Reserved in a commit of their own: two commits about new people would otherwise wait for each other."""
        del connection
        if len(self._reserved) < many:
            with self._beside.connect() as beside:
                self._reserved = count_numbers(beside, self.placeholder, max(many, RESERVED))
        given, self._reserved = self._reserved[:many], self._reserved[many:]
        return given

    def append(self, connection: Connection, kind: type[Record], rows: Sequence[Row]) -> None:
        execute(connection, append(codec(kind)), _columns(rows)[1:])

    def delete(self, connection: Connection, kind: type[Record], keys: Sequence[Row]) -> None:
        execute(connection, f'DELETE FROM "{kind.table}" WHERE {among(codec(kind))}', _columns(keys))

    def became_visible(
        self, connection: Connection, kind: type[LogRecord], since: Cursor | None, limit: int
    ) -> tuple[Sequence[Sequence[Any]], Cursor]:
        return became_visible(connection, kind, since, limit)

    def start(self, connection: Connection, locks: Sequence[str]) -> None:
        """Locks are taken in the order of their numbers, so two commits never wait for each other.

        Whoever waits for a lock has no transaction id yet: it would hold back what is read in order.
        """
        numbers = sorted({lock_number(lock) for lock in locks} - {WHOLE_STORE})
        how = "" if len(numbers) > MOST_LOCKS or EVERYTHING in locks else "_shared"
        rows_of(connection, f"SELECT pg_advisory_xact_lock{how}({WHOLE_STORE})", ())
        taken = numbers if len(numbers) <= MOST_LOCKS else []
        self._transaction = rows_of(connection, _LOCKS_THEN_ID, (taken,))[0][0]

    def after_commit(self) -> None:
        """The server looks after its own files."""

    @property
    def problem(self) -> str:
        return ""

    def was_committed(self) -> bool | None:
        try:
            with self.writer.connect() as connection:
                ((status,),) = rows_of(connection, "SELECT pg_xact_status(%s::xid8)", (self._transaction,))
        except DBAPIError:
            return None
        return {"committed": True, "aborted": False}.get(status)

    def kind_of(self, error: DBAPIError) -> ErrorKind:
        state = getattr(error.orig, "sqlstate", None)
        if state is None:
            return ErrorKind.TRANSIENT if error.connection_invalidated or _lost(error) else ErrorKind.WORK_AT_FAULT
        if state.startswith(TRANSIENT_STATES):
            return ErrorKind.TRANSIENT
        return ErrorKind.OUTAGE if state.startswith(OUTAGE_STATES) else ErrorKind.WORK_AT_FAULT

    def after_migration(self, connection: Connection) -> None:
        """The parts of tables that have some. And the server gathers no statistics of personal values, which would be copies."""
        for kind in RECORDS:
            for part in range(PARTS if kind.parts else 0):
                connection.exec_driver_sql(
                    f'CREATE TABLE IF NOT EXISTS "{_part(kind, part)}" PARTITION OF "{kind.table}" '
                    f"FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {part})"
                )
            if kind.personal:
                columns = ", ".join(f'ALTER COLUMN "{name}" SET STATISTICS 0' for name in codec(kind).names)
                connection.exec_driver_sql(f'ALTER TABLE "{kind.table}" {columns}')

    def bytes_used(self) -> int:
        with self.readers.connect() as connection:
            return int(rows_of(connection, "SELECT pg_database_size(current_database())", ())[0][0])

    def scrub(self, numbers: Collection[int]) -> None:
        """Writes anew what is personal: the parts in which these people were, and small tables whole.

        A part is locked for as long as that takes, some milliseconds. What was deleted stays in the server's own log until that
        is recycled.
        """
        with self._beside.connect() as connection:
            self._wait_for_readers(connection)
            for kind in RECORDS:
                if kind.parts:
                    by = [number % NUMBERED_PARTS if kind is PersonNumber else number for number in numbers]
                    rows = rows_of(connection, _PARTS_OF, (by, f'"{kind.table}"'))
                    tables = [_part(kind, part) for (part,) in rows]
                else:
                    tables = [kind.table] if kind.personal else []
                for table in tables:
                    self._write_anew(table)

    def _wait_for_readers(self, connection: Connection) -> None:
        """Whoever began to read before a row was deleted may still see it, so writing its table anew would keep it."""
        ((now,),) = rows_of(connection, "SELECT pg_current_xact_id()::text", ())
        for _ in range(TRIES):
            if not rows_of(connection, _OLDER_READERS, (now,))[0][0]:
                return
            time.sleep(PAUSE)
        raise StoreUnavailable("somebody reads the database for too long")

    def _write_anew(self, table: str) -> None:
        """`VACUUM FULL` does the same, but in no transaction: its lock's timeout would last longer than it."""
        for rest in reversed(range(TRIES)):
            try:
                with self._beside.execution_options(isolation_level="READ COMMITTED").begin() as connection:
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {LOCK_TIMEOUT}")
                    ((key,),) = rows_of(connection, _PRIMARY_KEY, (f'"{table}"',))
                    connection.exec_driver_sql(f'CLUSTER "{table}" USING "{key}"')
            except DBAPIError as error:
                if not rest or self.kind_of(error) is not ErrorKind.TRANSIENT:
                    raise
                time.sleep(PAUSE)
            else:
                return

    def adopt(self) -> None:
        """Tables that a tool has copied (`pg_dump`) bring lines of transactions that this server has yet to begin."""
        for kind in RECORDS:
            if issubclass(kind, LogRecord):
                with self.readers.connect() as connection:
                    foreign = rows_of(connection, f'SELECT 1 FROM "{kind.table}" WHERE {_NOT_BEGUN} LIMIT 1', ())
                if foreign:
                    with self.writer.begin() as connection:
                        execute(connection, f'UPDATE "{kind.table}" SET "txid" = \'0\' WHERE {_NOT_BEGUN}', ())

    def lock_out_others(self, connection: Connection) -> None:
        rows_of(connection, f"SELECT pg_advisory_xact_lock({WHOLE_STORE})", ())

    def may_set_up(self) -> bool:
        return False


def _adapt_to_pooler(connection: psycopg.Connection[Any], _: object) -> None:
    """Another server process answers than the one that let us in: a pooler stands between.

    It gives each transaction any of its connections. Statements cannot stay prepared there, and it drops the settings that we
    asked for, so the role must have them.
    """
    ((process,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
    if process != connection.info.backend_pid:
        connection.prepare_threshold = None
        in_force = connection.execute(_IN_FORCE, (list(SETTINGS), list(SETTINGS.values()))).fetchall()
        if dropped := [name for name, same in in_force if not same]:
            lacking = " ".join(f"ALTER ROLE {connection.info.user} SET {name} = '{SETTINGS[name]}';" for name in dropped)
            raise StoreUnavailable(f"a pooler such as PgBouncer drops settings that the service needs. Run once: {lacking}")
    connection.rollback()


def _lost(error: DBAPIError) -> bool:
    """An error without a state that comes from the connection, not from a value."""
    return type(error.orig).__name__ in {"OperationalError", "InterfaceError"}
