"""Does the suite find bugs? Takes one safeguard away at a time, in a copy, and shows which test notices.

python tests/planted.py            all of them, and the table of docs/guarantees.md
python tests/planted.py fsync      only those whose name has this in it
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guarantees.md"


@dataclass(frozen=True)
class Fault:
    """A safeguard, the text that is it, what stands there without it, and the tests that must notice."""

    name: str
    file: str
    safeguard: str
    without: str
    tests: str


FAULTS = (
    Fault("the fsync", "storage/sqlite.py", "synchronous = FULL", "synchronous = OFF", "tests/faults/test_power.py"),
    Fault(
        "the lock on both people of a pair (PostgreSQL)",
        "storage/postgres.py",
        "if 0 < len(numbers) <= MOST_LOCKS:",
        "if not numbers:",
        "tests/contract/test_races.py -k postgres",
    ),
    Fault(
        "the transaction around a commit",
        "storage/sqlite.py",
        "connection.exec_driver_sql(begin)",
        'connection.exec_driver_sql("SELECT 1")',
        "tests/unit/storage/test_group_commit.py tests/contract/test_store.py -k 'not postgres'",
    ),
    Fault(
        "waiting for the commit before answering",
        "storage/group.py",
        "                batch.flush()\n            except BaseException:",
        "                [answer.give(job.future) for job, answer in zip(jobs, answers) if not job.future.done()]\n"
        "                time.sleep(0.02)\n                batch.flush()\n            except BaseException:",
        "tests/faults/test_kills.py -k sqlite",
    ),
    Fault(
        "the idempotency check",
        "service/meeting/swipes.py",
        "        known = transaction.get(Event, swipe.user, swipe.id)\n        if known is not None:\n"
        "            return _again(known, swipe)\n        now, me",
        "        now, me",
        "tests/unit/service/test_swiping.py",
    ),
    Fault(
        "blocks, when a card is answered",
        "service/meeting/swipes.py",
        "            or self._blocked(transaction, swipe)\n",
        "",
        "tests/unit/service/test_swiping.py",
    ),
    Fault(
        "writing to see whether the store takes writes",
        "app/health.py",
        "if self._failure or now - self._written > SILENT_SECONDS or (",
        "if (",
        "tests/unit/app/test_health.py",
    ),
    Fault(
        "readiness after a failed commit",
        "app/health.py",
        " or (outage is not None and now - outage < OUTAGE_SECONDS)",
        "",
        "tests/unit/app/test_health.py",
    ),
    Fault(
        "the look whether the database file is still in its place",
        "storage/sqlite.py",
        "if self._opened is not None and not os.path.samestat(found, self._opened):",
        "if False:",
        "tests/unit/storage/test_file_modes.py",
    ),
    Fault(
        "that only shown people can be swiped on",
        "service/meeting/swipes.py",
        "            card is None\n            or them is None",
        "            them is None",
        "tests/unit/service/test_swiping.py",
    ),
    Fault(
        "that nobody has more open matches than they take",
        "service/meeting/swipes.py",
        "            self._check_not_full(transaction, me, them)\n",
        "            pass\n",
        "tests/contract/test_races.py -k capacity",
    ),
    Fault(
        "that a term of one kind is for that kind",
        "recommend/people/vocabulary.py",
        "if kinds is not None and not term.is_for(kinds):",
        "if False:",
        "tests/unit/service/test_kinds.py",
    ),
    Fault(
        "the other side's age range",
        "recommend/people/filters.py",
        "        & (greatest >= candidates.youngest)\n",
        "",
        "tests/unit/recommend/test_filters.py",
    ),
    Fault(
        "the limit of a quota",
        "service/domain/quotas.py",
        "if used >= limit.most:",
        "if used > limit.most:",
        "tests/unit/service tests/contract/test_races.py -k 'quota and not postgres'",
    ),
    Fault(
        "the quota of reports with a user's token",
        "service/meeting/safety.py",
        "                charge(transaction, user, REPORTS,",
        "                (lambda *_: None)(transaction, user, REPORTS,",
        "tests/functional/api/test_quotas.py -k 'memory and report'",
    ),
    Fault(
        "that a name nobody has is blocked like any other",
        "service/meeting/safety.py",
        "        if transaction.get(Person, other) is None and self.erased_tokens",
        "        require_person(transaction, other)\n        if self.erased_tokens",
        "tests/functional/api/test_quotas.py -k 'memory and exist'",
    ),
    Fault(
        "forgetting kept answers after an erasure",
        "service/use_cases.py",
        "        serving_index.when_erased(answers.clear)\n",
        "",
        "tests/functional/api/test_quotas.py -k 'memory and erased'",
    ),
    Fault(
        "holding back answers to wrong keys",
        "api/authentication.py",
        "        await wrong_credentials(request).hold_back(client_address(request.scope))\n",
        "",
        "tests/functional/api/test_quotas.py -k wrong",
    ),
    Fault(
        "the private mode of the database file",
        "storage/sqlite.py",
        "                    file.chmod(0o600)",
        "                    pass",
        "tests/unit/storage/test_file_modes.py",
    ),
    Fault(
        "full-width signs taken for formulas",
        "formats/cells.py",
        "\\uff1d",
        "",
        "tests/functional/test_transfer.py -k full_width",
    ),
    Fault(
        "authorisation for another user's data",
        "api/authentication.py",
        "    if caller.may_act_for(user):\n",
        "    if caller.user or caller.may_act_for(user):\n",
        "tests/functional/api/test_access.py",
    ),
    Fault(
        "the scope of a key",
        "api/authentication.py",
        "if not caller.scopes.intersection(scopes):",
        "if False:",
        "tests/functional/api/test_access.py",
    ),
    Fault(
        "the end of a token's life",
        "service/access/credentials.py",
        "<= self.context.clock().timestamp()",
        "<= 0",
        "tests/unit/service/test_access.py",
    ),
    Fault(
        "the re-fold after an undo",
        "service/meeting/undo.py",
        "            refold(transaction, self.context, current, user, [*events, undone])\n",
        "",
        "tests/unit/service/test_undoing.py",
    ),
    Fault(
        "the re-fold of other people after an erasure",
        "service/privacy/erasure.py",
        "            refold(transaction, self.context,",
        "            (lambda *_: None)(transaction, self.context,",
        "tests/unit/service/test_erasing.py",
    ),
    Fault(
        "overwriting what is deleted",
        "storage/sqlite.py",
        "secure_delete = ON",
        "secure_delete = OFF",
        "tests/faults/test_erasure.py -k sqlite",
    ),
    Fault(
        "the look into the store after a deck was dealt from memory",
        "service/meeting/decks.py",
        "            if len(people) == len(ids):",
        "            if True:",
        "tests/unit/service/test_decks.py",
    ),
    Fault(
        "leaving one's own part out of an appeal",
        "service/domain/appeal.py",
        "own_part = _NO_EVIDENCE if own is None or own.appeal_as_of is None else _evidence_of(own)",
        "own_part = _NO_EVIDENCE",
        "tests/unit/service/test_swiping.py",
    ),
    Fault(
        "private addresses refused by webhooks",
        "adapters/addresses.py",
        "return address.is_global and not",
        "return not",
        "tests/unit/adapters tests/functional/test_webhooks.py",
    ),
    Fault(
        "decks in the order of the viewer's side alone",
        "recommend/decks/recommender.py",
        "private_order: bool = True",
        "private_order: bool = False",
        "tests/functional/abuse/test_trilateration.py",
    ),
    Fault(
        "cards drawn at random that look like all others",
        "service/meeting/card_reasons.py",
        "if logged == Reason.EXPLORED else logged",
        "if False else logged",
        "tests/functional/api/test_reciprocity.py",
    ),
)


def planted(fault: Fault, folder: Path) -> Path:
    """A copy of the sources without the safeguard."""
    source = folder / "src"
    shutil.copytree(ROOT / "src", source)
    file = source / "kaczmatch" / fault.file
    text = file.read_text()
    if text.count(fault.safeguard) != 1:
        raise SystemExit(f"{fault.name}: {fault.file} has its text {text.count(fault.safeguard)} times, not once")
    file.write_text(text.replace(fault.safeguard, fault.without))
    return source


def caught_by(fault: Fault) -> str:
    """The first test that fails without the safeguard; empty if none does."""
    with tempfile.TemporaryDirectory(prefix="kaczmatch-planted-") as folder:
        environment = os.environ | {"PYTHONPATH": str(planted(fault, Path(folder)))}
        command = f"{sys.executable} -m pytest -q -x -p no:cacheprovider --tb=no {fault.tests}"
        done = subprocess.run(command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S602
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{fault.name}: pytest could not run\n{done.stdout}{done.stderr}")
    return failed.group(1) if failed else ""


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    rows = []
    for fault in FAULTS:
        if wanted in fault.name:
            test = caught_by(fault)
            rows.append(f"| {fault.name} | `{test.replace('tests/', '', 1)}` |" if test else f"| {fault.name} | **none** |")
            print(rows[-1], flush=True)
    if not wanted:
        about = PAGE.read_text().partition("| safeguard")[0]
        PAGE.write_text("\n".join([about + "| safeguard taken away | first test that failed |", "| --- | --- |", *rows, ""]))
    if any("**none**" in row for row in rows):
        raise SystemExit("a safeguard could be taken away without any test noticing")


if __name__ == "__main__":
    main()
