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
STALLED = "tests/functional/api/test_stalled_clients.py"


@dataclass(frozen=True)
class Fault:
    """A safeguard, the text that is it, what stands there without it, and the tests that must notice."""

    name: str
    file: str
    safeguard: str
    without: str
    tests: str


FAULTS = (
    Fault(
        "the bound on how loud an account is heard",
        "learners/population/traits.py",
        "heard = min(1.0, new_loud * usual / max(loud * abs(weight), 1e-300))",
        "heard = 1.0",
        "tests/unit/learners/test_trait_abuse.py -k surprised",
    ),
    Fault(
        "leaving out whoever was erased while their card was on its way",
        "service/meeting/decks.py",
        "there = transaction.with_profile(numbers.values())",
        "there = set(numbers.values())",
        "tests/unit/service/test_decks.py -k erased",
    ),
    Fault("the fsync", "storage/sqlite.py", "synchronous = FULL", "synchronous = OFF", "tests/faults/test_power.py"),
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
        "that a response leaves as a whole",
        "app/http_protocol.py",
        "super().connection_made(_JoinedWrites(transport, self.loop))",
        "super().connection_made(transport)",
        "tests/unit/app/test_http_protocol.py -k whole",
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
        "showing picks only when all of them are there",
        "service/operations/picks_job.py",
        "        waiting = deque[Future[None]]()\n",
        "        waiting = deque[Future[None]]()\n"
        "        shown = PublishedPicks(edition=edition, at=self.context.clock(), assignment=assignment)\n"
        "        self.context.store.write(lambda tx: tx.put(shown)).result()\n",
        "tests/unit/service/test_picks_job.py -k interrupted",
    ),
    Fault(
        "looking again for people who were erased while picks were made",
        "service/operations/picks_job.py",
        "if transaction.get(Person, user)}",
        "}",
        "tests/unit/service/test_picks_job.py -k 'while_picks'",
    ),
    Fault(
        "blocks, when picks are shown",
        "service/meeting/published_picks.py",
        "hidden = matched_or_blocked(reader, user) | {",
        "hidden = {",
        "tests/unit/service/test_picks_job.py -k moment_later",
    ),
    Fault(
        "looking again for people who were paused since picks were made",
        "service/meeting/published_picks.py",
        "who_fits(reader, context, known, [pick.candidate for pick in picks if pick.candidate not in hidden], now)",
        "{pick.candidate: reader.get(Person, pick.candidate) for pick in picks if pick.candidate not in hidden}",
        "tests/unit/service/test_picks_job.py -k moment_later",
    ),
    Fault(
        "that an erased person leaves everybody's picks",
        "service/privacy/erasure.py",
        '    (Pick, "candidate"),\n',
        "",
        "tests/unit/service/test_picks_job.py -k moment_later",
    ),
    Fault(
        "that what picks have read is read again on another day",
        "cli/operate/picks.py",
        ', "day": str(today(context))',
        "",
        "tests/functional/test_picks.py -k another_day",
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
        "or (swipe.deck and (deck is None or not shows(deck, number)))",
        "or False",
        "tests/unit/service/test_swiping.py",
    ),
    Fault(
        "taking an erased person's card out of the decks of others",
        "service/privacy/erasure.py",
        "        self._take_cards(user)\n",
        "",
        "tests/unit/service/test_appearances.py -k 'memory and erasure'",
    ),
    Fault(
        "that a group whose decks were filed before is not counted again",
        "service/domain/appearances.py",
        'entries = entries[entries["at"] > microsecond(before.until)]',
        "pass",
        "tests/unit/service/test_appearances.py -k 'memory and interrupted'",
    ),
    Fault(
        "that nobody has more open matches than they take",
        "service/meeting/swipes.py",
        "            check_not_full(transaction, me, them, self.context.config.schema)\n",
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
        "that an erased id loses its number",
        "service/domain/scrubbing.py",
        "    transaction.drop(PersonNumber, part_of(user), user)\n",
        "",
        "tests/unit/service/test_erasing.py",
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
        "that what was seen is kept when somebody edits their tags",
        "service/meeting/profiles.py",
        "and not _was_seen(transaction, known)",
        "and True",
        "tests/unit/service/test_people.py",
    ),
    Fault(
        "the ledger of erasures",
        "service/privacy/erasure.py",
        "        self.record(user, self.context.clock())",
        "        pass",
        "tests/functional/test_backups.py -k 'erased_again and sqlite'",
    ),
    Fault(
        "that whoever came back is not erased by a restore",
        "storage/erasure_ledger.py",
        "at is not None and at >= created",
        "at is not None",
        "tests/functional/test_backups.py -k 'erased_again and sqlite'",
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
        "counting requests only once their body is there",
        "api/middleware.py",
        "                body = await read_body(receive, limit, self.unfinished, address, "
        "lambda: self.authenticate(Request(scope)))\n",
        "                self.in_progress._left -= 1\n"
        "                body = await read_body(receive, limit, self.unfinished, address, "
        "lambda: self.authenticate(Request(scope)))\n"
        "                self.in_progress._left += 1\n",
        f"{STALLED} -k 'beginnings and sqlite'",
    ),
    Fault(
        "fewer connections than files",
        "app/server.py",
        "    return max(2, min(wanted, most - OTHER_FILES))",
        "    return wanted",
        f"{STALLED} -k 'more_sockets and sqlite'",
    ),
    Fault(
        "the timer that closes stalled connections",
        "app/connections.py",
        "            self._timer = loop.call_later(SWEEP_SECONDS, self._tick, loop)\n        return True",
        "            pass\n        return True",
        f"{STALLED} -k slowly",
    ),
    Fault(
        "turns for requests while many connections are closed",
        "app/connections.py",
        "_CLOSED_AT_ONCE: Final = 4",
        "_CLOSED_AT_ONCE: Final = 100",
        "tests/unit/app/test_connections.py",
    ),
    Fault(
        "no task for a request without its body",
        "app/http_protocol.py",
        "        if not cycle.more_body:\n            self._begin()",
        "        if True:\n            self._begin()",
        "tests/unit/app/test_http_protocol.py",
    ),
    Fault(
        "the time limit for heads",
        "app/connections.py",
        "                return self.head_seconds",
        "                return self.head_seconds * 1_000",
        "tests/unit/app/test_connections.py",
    ),
    Fault(
        "the time limit for bodies",
        "app/connections.py",
        "                return self.body_seconds",
        "                return self.body_seconds * 1_000",
        "tests/unit/app/test_connections.py",
    ),
    Fault(
        "the time limit for idle connections",
        "app/connections.py",
        "                return self.idle_seconds",
        "                return self.idle_seconds * 1_000",
        "tests/unit/app/test_connections.py",
    ),
    Fault(
        "letting go of clients that do not read",
        "app/http_protocol.py",
        "return Awaited.READING if self.flow.write_paused else None",
        "return None",
        f"{STALLED} -k not_read",
    ),
    Fault(
        "that no commit waits until the log is moved into SQLite's database",
        "storage/sqlite.py",
        "PRAGMA wal_autocheckpoint = 0",
        "PRAGMA wal_autocheckpoint = 1000",
        "tests/unit/storage/test_group_commit.py -k leaves_the_database",
    ),
    Fault(
        "that a commit looks often whether another process has ended (SQLite)",
        "storage/sqlite.py",
        "time.sleep(max(LOOK_AGAIN, waited / 20))",
        "time.sleep(0.1)",
        "tests/unit/storage/test_sqlite_turns.py -k looks_often",
    ),
    Fault(
        "giving way to a process with fewer connections",
        "app/shared_socket.py",
        "number.bit_length() / 1000",
        "0",
        "tests/unit/app/test_shared_socket.py -k the_longer_it_waits",
    ),
    Fault(
        "an order of admirers that is the same in every process",
        "recommend/decks/eligible.py",
        "np.unique(self.view.numbers(ids))",
        "self.view.numbers(set(ids))",
        "tests/unit/recommend/test_deck.py -k order_in_which",
    ),
    Fault(
        "stalled connections that make room for newcomers",
        "app/connections.py",
        "            admitted = self._make_room(own)",
        "            admitted = False",
        "tests/unit/app/test_connections.py",
    ),
    Fault(
        "the limit of a head that comes in pieces",
        "app/http_protocol.py",
        "        if self._unparsed > self._header_limit and not self._refused:\n",
        "        if False:\n",
        f"{STALLED} -k endless",
    ),
    Fault(
        "the limit of a head that comes at once",
        "app/http_protocol.py",
        "        if self._unparsed > self._header_limit and self._head_size() > self._header_limit:\n",
        "        if False:\n",
        f"{STALLED} -k told_so",
    ),
    Fault(
        "keeping what follows a body out of the headers",
        "app/http_protocol.py",
        "        self.headers = []  # what",
        "        # what",
        "tests/functional/api/test_http.py -k follows",
    ),
    Fault(
        "reading large bodies only for somebody with a credential",
        "api/request_bodies.py",
        "if size > SMALL_BODY and not known:",
        "if False:",
        "tests/functional/api/test_http.py -k strangers",
    ),
    Fault(
        "the share of an address in the memory for unfinished bodies",
        "api/request_bodies.py",
        "            if piece:\n",
        "            if not pieces:\n",
        f"{STALLED} -k beginnings",
    ),
    Fault(
        "the share of an address in the requests in progress",
        "api/address_shares.py",
        "if taken > self._largest or amount > self._left:",
        "if amount > self._left:",
        "tests/functional/api/test_proxies.py",
    ),
    Fault(
        "that only trusted proxies name their clients",
        "app/server.py",
        '"forwarded_allow_ips": list(settings.trusted_proxies),',
        '"forwarded_allow_ips": "*",',
        "tests/functional/api/test_proxies.py",
    ),
    Fault(
        "the digits of a Content-Length",
        "api/request_heads.py",
        "if not value.isdigit() or len(value) > _LONGEST_LENGTH:",
        "if not value.isdigit():",
        "tests/functional/api/test_http.py -k digits",
    ),
    Fault(
        "an encoded slash that is no separator",
        "api/request_heads.py",
        'return b"%2" in raw and b"%2f" in raw.lower()',
        "return False",
        "tests/functional/api/test_http.py -k slash",
    ),
    Fault(
        "refusing a second Authorization header",
        "api/request_heads.py",
        "            if name in seen:\n",
        "            if False:\n",
        "tests/functional/api/test_http.py -k stand_alone",
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
        "leaving one's own part out of a candidate's traits",
        "service/domain/traits.py",
        "    own = None if earlier is None else site_of(earlier)\n",
        "    own = None\n",
        "tests/unit/service/test_traits.py",
    ),
    Fault(
        "taking a swipe's part out of a candidate's traits",
        "service/meeting/undo.py",
        "                    withdraw(transaction, seen)\n",
        "                    pass\n",
        "tests/unit/service/test_traits.py",
    ),
    Fault(
        "that a refit which predicts worse is not put in use",
        "service/operations/relearning.py",
        "if model is not None and model.refit and not predicts_as_well(self.context, current.model, number):",
        "if False:",
        "tests/unit/service/test_traits.py",
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
    Fault(
        "keeping changes until every live process has read them",
        "service/operations/maintenance.py",
        "if any(process.changes_read < place for process in live_processes(transaction, self.context.clock())):",
        "if False:",
        "tests/contract/test_beside.py -k 'load and memory'",
    ),
    Fault(
        "decks that are counted while exposure moves to another index",
        "recommend/decks/exposure.py",
        "            since[: len(before)] -= before\n",
        "            since[: len(before)] = 0.0\n",
        "tests/unit/recommend/test_exposure.py -k dealt",
    ),
    Fault(
        "that whoever is over the exposure cap and is shown again stays over it",
        "recommend/decks/exposure.py",
        "                if now > limit:  # they were shown again\n",
        "                if False:\n",
        "tests/unit/recommend/test_exposure.py -k over",
    ),
    Fault(
        "that decks which ask in another order do not look for everybody over the exposure cap",
        "recommend/decks/exposure.py",
        "            self._most_below = float(self._cards.max(where=~over, initial=0.0))\n",
        "            self._most_below = limit\n",
        "tests/unit/recommend/test_exposure.py -k order",
    ),
    Fault(
        "that people far away are filtered row by row where some of a chunk are near",
        "recommend/index/filter_kernel.py",
        "        if not farthest * (1.0 + _MARGIN) <= reach[0]:\n",
        "        if False:\n",
        "tests/unit/recommend/test_index.py -k close",
    ),
    Fault(
        "that what the people of a chunk have in common is measured when they change in place",
        "recommend/index/candidate_index.py",
        "            self._table.measure(np.unique(places // CHUNK))\n",
        "",
        "tests/unit/recommend/test_index.py -k neighbours",
    ),
    Fault(
        "that those who have learned something come first in their chunk",
        "recommend/index/chunks.py",
        "            self._learned_first([chunk])\n",
        "",
        "tests/unit/recommend/test_index.py -k overwritten_in",
    ),
    Fault(
        "whose row it is that moves, if it was overwritten in a file",
        "recommend/index/chunks.py",
        "        first = self.home[rows.person] == sources\n",
        "        first = rows.i_am > 0\n",
        "tests/unit/recommend/test_index.py -k overwritten_in",
    ),
    Fault(
        "that of many admirers those come whom the viewer likes",
        "recommend/decks/recommender.py",
        "pool.part(admirers, admirers=True)",
        "pool.part(admirers)",
        "tests/unit/recommend/test_deck.py -k admirers",
    ),
    Fault(
        "letting threads of requests run anywhere again when the service ends",
        "app/request_core.py",
        "            run_on(ALL_CORES, thread.native_id or 0)\n",
        "            pass\n",
        "tests/unit/app/test_request_core.py",
    ),
    Fault(
        "that a snapshot belongs to the store that knows it",
        "service/meeting/index_snapshot.py",
        "    return kept is not None and kept.changes_read <= snapshot.changes and",
        "    return True or",
        "tests/unit/service/test_snapshot.py -k 'another_store'",
    ),
    Fault(
        "overwriting an erased person in the snapshot",
        "service/domain/snapshot_files.py",
        "                        storage.overwrite(folder, person)",
        "                        pass",
        "tests/faults/test_erasure.py -k 'nothing and sqlite'",
    ),
    Fault(
        "the list of who has changed since the snapshot",
        "service/meeting/snapshot_keeping.py",
        "        files.add_changed(version, numbers, self.changes.next - 1)",
        "        files.add_changed(version, (), self.changes.next - 1)",
        "tests/unit/service/test_snapshot.py -k 'dropped_meanwhile'",
    ),
    Fault(
        "edits that reach the index that is being built",
        "service/meeting/serving_index.py",
        "return [self._generation, *([] if self._next is None else [self._next])]",
        "return [self._generation]",
        "tests/contract/test_beside.py -k 'old_model and memory'",
    ),
    Fault(
        "that a model goes on learning while decks are dealt by it",
        "service/operations/relearning.py",
        "previous=current.model if behind else 0",
        "previous=0",
        "tests/contract/test_beside.py -k memory",
    ),
    Fault(
        "the look whether somebody has swiped while their log was folded",
        "service/operations/relearning.py",
        "            if now.get(key) == before:\n",
        "            if True:\n",
        "tests/contract/test_beside.py -k 'swipe and memory'",
    ),
    Fault(
        "the look for records that belong to nobody",
        "service/operations/verification.py",
        "    return replace(found, problems=(*found.problems, *nobodys))",
        "    return found",
        "tests/contract/test_verifying.py -k 'corruption and memory'",
    ),
    Fault(
        "that no swipe is under way when a new model begins to learn",
        "service/operations/relearning.py",
        "locks=[MODELS, EVERYTHING]",
        "locks=[MODELS]",
        "tests/contract/test_races.py -k 'under_way and postgres'",
    ),
    Fault(
        "one process at a time for work that grows",
        "service/domain/leases.py",
        "        return now < lease.until <= now + 2 * self.life",
        "        return False",
        "tests/contract/test_beside.py -k memory",
    ),
    Fault(
        "that people who were answered are not dealt as new",
        "recommend/decks/eligible.py",
        "        excluded = np.concatenate([never, cooling, repeats])",
        "        excluded = np.concatenate([never, cooling, repeats[:0]])",
        "tests/unit/service/test_deck_order.py",
    ),
    Fault(
        "that an open like does not come back",
        "recommend/decks/eligible.py",
        "{profile.id, *blocked, *answers.liked}",
        "{profile.id, *blocked}",
        "tests/unit/service/test_deck_order.py",
    ),
    Fault(
        "that a second answer teaches nothing",
        "service/domain/folding.py",
        "if repeated and self.first_answers_only:",
        "if False:",
        "tests/unit/service/test_counted_once.py",
    ),
    Fault(
        "that users swipe on cards of decks alone",
        "api/routes/swipes.py",
        "if asked.deck is None and caller.is_user:",
        "if False:",
        "tests/functional/api/test_outside_decks.py",
    ),
    Fault(
        "that likes are not listed unless an operator wants it",
        "service/meeting/preferences.py",
        "if not self.context.config.admirers_listed:",
        "if False:",
        "tests/unit/service/test_outside_decks.py",
    ),
    Fault(
        "that a reported person stays blocked",
        "service/meeting/safety.py",
        "if block is not None and block.reported:",
        "if False:",
        "tests/unit/service/test_outside_decks.py",
    ),
    Fault(
        "leaving cards that were not drawn out of estimates",
        "service/experiments/report.py",
        "if deck.min_propensity is None:",
        "if False:",
        "tests/unit/service/test_outside_decks.py",
    ),
    Fault(
        "that people who are away are in no deck",
        "service/domain/records/people.py",
        "return days is not None and (today - self.seen).days > days",
        "return False",
        "tests/unit/service/test_away.py",
    ),
    Fault(
        "waiting for an import before a deck is empty",
        "service/meeting/decks.py",
        "if deck.cards or caught_up:",
        "if True:",
        "tests/unit/service/test_decks.py -k import",
    ),
    Fault(
        "that decks for many are no sign of the people",
        "service/meeting/decks.py",
        "            if present:\n",
        "            if True:\n",
        "tests/functional/api/test_cards.py -k 'no_sign and memory'",
    ),
    Fault(
        "the look at the kinds of stored profiles before the start",
        "app/server.py",
        "sorted(used - set(schema.kinds))",
        "sorted(used - used)",
        "tests/unit/app/test_check.py -k 'kinds and check'",
    ),
    Fault(
        "the place of a page whose last person was erased",
        "storage/searching.py",
        "known = people.database.places.get(hash(plain), NOBODY)",
        "known = NOBODY",
        "tests/contract/test_store.py -k 'told and sqlite'",
    ),
    Fault(
        "that a changed name is not found by the old one",
        "service/meeting/people_search.py",
        "            transaction.drop(NameSuffix, person.id, gone)\n",
        "            pass\n",
        "tests/functional/api/test_cards.py -k 'word and memory'",
    ),
    Fault(
        "that a smaller state is not paid for with log-loss",
        "evaluation/measures/recommendation.py",
        "cheap = [name for name in smaller if name not in costly]",
        "cheap = smaller",
        "tests/unit/evaluation/test_holdout_ranking.py -k bytes",
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
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
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
