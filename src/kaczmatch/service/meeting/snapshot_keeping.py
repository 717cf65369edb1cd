"""Who has changed since the snapshot: one process per machine writes it down, since changes are dropped some day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from kaczmatch.recommend.index.checked_files import Damaged
from kaczmatch.service.domain.changes import last_dropped_change
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import ActiveVersions, Change, Person
from kaczmatch.service.domain.snapshot_files import SnapshotFiles
from kaczmatch.service.domain.store import Cursor
from kaczmatch.service.meeting.index_snapshot import listed_to

_MUCH, _SHARE = 10_000, 10  # changes and events, or one per so many people: then a snapshot is renewed


@final
@dataclass(slots=True, eq=False)
class SnapshotKeeping:
    """The list of a snapshot, as far as this process has read the changes for it."""

    snapshot: str  # its id
    versions: tuple[int, int]  # of the model and the vocabulary
    events: int  # the number of the newest one that is in it
    changes: Cursor
    people: int

    @classmethod
    def of(cls, files: SnapshotFiles) -> SnapshotKeeping | None:
        """None: there is none, or it was damaged."""
        try:
            with files.reading():
                about, (people, known) = files.about(), files.changed()
        except (FileNotFoundError, Damaged):
            return None
        if about is None:
            return None
        versions, newest = (about["model"], about["vocabulary_version"]), Cursor(*about["events"]).newest
        return cls(about["id"], versions, newest, listed_to(about, known), len(people))

    def is_due(self, served: ActiveVersions, events: int, everybody: int) -> bool:
        """Whether a process that starts would have much to do."""
        since = self.people + events - self.events
        return (served.model, served.vocabulary) != self.versions or since > max(_MUCH, everybody // _SHARE)

    def note_changes(self, files: SnapshotFiles, version: tuple[int, int], context: Context) -> bool:
        """Write new changes down, by number, and overwrite whoever was erased. False: some were dropped before."""
        with context.store.read() as reader:
            if last_dropped_change(reader) > self.changes.settled:
                return False
            lines, read = reader.became_visible(Change, self.changes)
            people = {line.user for line in lines}
            gone = people - {person.id for person in reader.many(Person, [(user,) for user in people]).values()}
            numbers = reader.numbers_of(people).values()
        for user in gone:
            files.overwrite(user)
        if people or read.settled > self.changes.settled:
            files.add_changed(version, numbers, read.settled)
        self.changes = read
        self.people += len(numbers)
        return True
