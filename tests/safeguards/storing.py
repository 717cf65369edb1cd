"""What a commit, a log and a lock promise."""

from __future__ import annotations

from safeguards.fault import Fault

STORING = (
    Fault("the fsync", "storage/sqlite_log.py", "synchronous = FULL", "synchronous = OFF", "tests/faults/test_power.py"),
    Fault(
        "the lock on both people of a pair (PostgreSQL)",
        "storage/postgres.py",
        "if 0 < len(numbers) <= MOST_LOCKS:",
        "if not numbers:",
        "tests/contract/test_races.py -k postgres",
    ),
    Fault(
        "letting go of a vanished machine's locks (PostgreSQL)",
        "storage/postgres.py",
        "(SETTINGS | VANISHED_CLIENT).items()",
        "SETTINGS.items()",
        "tests/functional/hosts -k let_go",
    ),
    Fault(
        "letting go of a vanished machine's connections that read (PostgreSQL)",
        "storage/postgres.py",
        '"connect_args": arguments, "pool_pre_ping"',
        '"connect_args": {"connect_timeout": 5}, "pool_pre_ping"',
        "tests/functional/hosts -k let_go",
    ),
    Fault(
        "the transaction around a commit",
        "storage/sqlite.py",
        'drive(connection, "BEGIN IMMEDIATE")',
        'drive(connection, "SELECT 1")',
        "tests/unit/storage/test_group_commit.py tests/contract/test_store.py -k 'not postgres'",
    ),
    Fault(
        "waiting for the commit before answering",
        "storage/group.py",
        "                batch.flush()\n            except BaseException:",
        "                [answer.give(job.future) for job, answer in zip(jobs, results) if not job.future.done()]\n"
        "                time.sleep(0.02)\n                batch.flush()\n            except BaseException:",
        "tests/faults/test_kills.py -k sqlite",
    ),
    Fault(
        "that nothing which comes after a commit undoes it",
        "storage/group.py",
        "        with suppress(Exception):  # the works are committed, and a later commit has this to do again\n",
        "        if True:\n",
        "tests/unit/storage/test_sqlite_log.py -k undoes_no_commit",
    ),
    Fault(
        "the look whether the database file is still in its place",
        "storage/sqlite.py",
        "if self._opened is not None and not os.path.samestat(found, self._opened):",
        "if False:",
        "tests/unit/storage/test_file_modes.py",
    ),
    Fault(
        "no statistics of what is personal (PostgreSQL)",
        "storage/postgres.py",
        "            if kind.personal:\n",
        "            if False:\n",
        "tests/unit/storage/test_scrub.py -k test_postgres",
    ),
    Fault(
        "waiting for older readers before a scrub (PostgreSQL)",
        "storage/postgres.py",
        "            self._wait_for_readers(connection)\n",
        "",
        "tests/unit/storage/test_scrub.py -k test_postgres",
    ),
    Fault(
        "that whoever came back is not erased by a restore",
        "storage/erasure_ledger.py",
        "at is not None and at >= created",
        "at is not None",
        "tests/functional/test_backups.py -k 'erased_again and sqlite'",
    ),
    Fault(
        "the private mode of the database file",
        "storage/sqlite.py",
        "                    file.chmod(0o600)",
        "                    pass",
        "tests/unit/storage/test_file_modes.py",
    ),
    Fault(
        "that no commit waits until the log is moved into SQLite's database",
        "storage/sqlite.py",
        "PRAGMA wal_autocheckpoint = 0",
        "PRAGMA wal_autocheckpoint = 1000",
        "tests/unit/storage/test_sqlite_log.py -k leaves_the_database",
    ),
    Fault(
        "that a commit looks often whether another process has ended (SQLite)",
        "storage/sqlite.py",
        "time.sleep(min(max(LOOK_AGAIN, waited / 20), LATEST))",
        "time.sleep(0.1)",
        "tests/unit/storage/test_sqlite_turns.py -k looks_often",
    ),
    Fault(
        "overwriting what is deleted",
        "storage/sqlite.py",
        "secure_delete = ON",
        "secure_delete = OFF",
        "tests/faults/test_erasure.py -k sqlite",
    ),
    Fault(
        "the place of a page whose last person was erased",
        "storage/searching.py",
        "known = people.database.places.get(hash(plain), NOBODY)",
        "known = NOBODY",
        "tests/contract/test_store_people.py -k 'told and sqlite'",
    ),
)
