"""`import`: reads an export of ours back in.

Events that are here already are skipped. Lines that verify as this project's own and were lost are put back as they
were, with id, time and writer; a person's words only when a person runs it, since a hash proves the content and not
the writer. All else goes through the write gateway, as proposed, and keeps where it came from as evidence. What was
rejected, retired or superseded here does not come back. Running it twice adds nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.index.folding import value_hash, value_of
from backstory.project import gateway, validation
from backstory.project.authority import importer
from backstory.project.batching import Batch
from backstory.project.opened import Project
from backstory.project.paths import cite
from backstory.project.sharing.following import Ended
from backstory.records import secrets
from backstory.records.codec import BadLine, Fields, content_hash, event_from, read_fields, shape_of
from backstory.records.event import IMPORT, PERSON, By, Entry, Event, UnknownEvent
from backstory.records.hostile import is_directive
from backstory.records.ids import is_id

_LINE_LIMIT = 1 << 20
_OF_ANOTHER_TREE = frozenset("supersedes commit pinned files evidence".split())
_SEALED = ("h", "prev", "shard")
_NO_TEXT = frozenset((*_SEALED, "id", "target", "commit", "prints", "blank", "key"))


class Imported(msgspec.Struct, frozen=True):
    """What became of each event of the file.

    `restored` as they were, `added` as proposed, `present` here already, `refused` since their value was rejected,
    `dropped` since it was retired or superseded here, `left` operations or kinds that cannot be taken over,
    `unreadable` lines. `notes` say which and why, at most 20.
    """

    file: str
    restored: int = 0
    added: int = 0
    present: int = 0
    refused: int = 0
    dropped: int = 0
    left: int = 0
    unreadable: int = 0
    dry_run: bool = False
    notes: tuple[str, ...] = ()


def load(project: Project, by: By, path: str, *, dry_run: bool = False) -> Imported:
    """Import the export in `path`; `BackstoryError` when it is none. `by` runs it."""
    work = _Import(project, by, os.path.basename(path), dry_run)
    with Ended(project.now) as work.ended:
        for number, fields in _events(path):
            work.take(number, fields)
    return work.finish()


def _events(path: str) -> Iterator[tuple[int, Fields | None]]:
    """(line or position from 1, fields) of every event; None for a line that is no event."""
    try:
        with open(path, "rb") as file:
            start = file.read(200).lstrip()
            file.seek(0)
            if start.startswith(b'{"backstory":'):
                yield from _from_json(path, file.read())
                return
            if start and not start.startswith(b"{"):
                raise _no_export(path)
            for number, line in enumerate(iter(lambda: file.readline(_LINE_LIMIT), b""), 1):
                if line.strip():
                    yield number, _fields(line)
    except OSError as error:
        raise BackstoryError(
            f"{path} cannot be read ({error.strerror}).", hint="Name a file that `backstory export` wrote."
        ) from error


def _no_export(path: str) -> BackstoryError:
    return BackstoryError(
        f"{path} is no export that can be read back.",
        hint="`backstory export --all --format jsonl > memory.jsonl` writes one.",
    )


def _from_json(path: str, data: bytes) -> Iterator[tuple[int, Fields | None]]:
    try:
        found = msgspec.json.decode(data)["data"]
        events = [item["fields"] for item in found["entries"]] + list(found["operations"])
    except (msgspec.MsgspecError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise _no_export(path) from error
    for number, fields in enumerate(events, 1):
        yield number, fields if isinstance(fields, dict) else None


def _fields(line: bytes) -> Fields | None:
    try:
        return read_fields(line.strip())
    except BadLine:
        return None


class _Import:
    """One import: what it found, and the events that it will write."""

    def __init__(self, project: Project, by: By, name: str, dry_run: bool) -> None:
        self.project, self.by, self.name, self.dry_run = project, by, name, dry_run
        self.counts = dict.fromkeys(("restored", "added", "present", "refused", "dropped", "left", "unreadable"), 0)
        self.notes: list[str] = []
        self.restore: list[Fields] = []
        self.propose: list[tuple[int, Fields]] = []
        self.seen: set[str] = set()
        self.imported = set(_imported(project))
        self.ended = Ended(project.now)

    def count(self, what: str, number: int, why: str = "") -> None:
        """Count an event, and say why where that is not plain."""
        self.counts[what] += 1
        if why and len(self.notes) < 20:
            self.notes.append(f"line {number}: {why}")

    def take(self, number: int, fields: Fields | None) -> None:
        """Decide about one event."""
        id_ = str((fields or {}).get("id", ""))
        if fields is None or not is_id(id_):
            self.count("unreadable", number, "this is no event")
            return
        if id_ in self.seen or id_ in self.imported or self._known(id_):
            self.count("present", number)
            return
        self.seen.add(id_)
        try:
            event = event_from(fields)
        except BadLine as error:
            self.count("unreadable", number, f"the event {id_} is misshapen: {error}")
            return
        own = self._own(fields)
        if isinstance(event, Entry):
            self._entry(number, fields, event, own)
        elif own and self._may_restore(fields, event):
            self.restore.append(fields)
        else:
            what = f"the kind {event.kind!r}" if isinstance(event, UnknownEvent) else f"the operation {event.kind}"
            self.count("left", number, f"{what} of {'a person' if own else 'another project'} was not taken over")

    def _known(self, id_: str) -> bool:
        query = "SELECT 1 FROM events WHERE id = ? AND in_tree + in_journal > 0"
        return self.project.db.execute(query, (id_,)).fetchone() is not None

    def _own(self, fields: Fields) -> bool:
        """Whether the content is what this project once sealed."""
        h = fields.get("h")
        return any(content_hash(project, fields) == h for project in self.project.projects)

    def _entry(self, number: int, fields: Fields, entry: Entry, own: bool) -> None:
        try:
            gateway.refuse_rejected(self.project, entry)
        except BackstoryError as error:
            self.count("refused", number, error.message.removeprefix("Nothing was written: "))
            return
        known = gateway.withdrawn(self.project, entry)
        if known:
            self.count("dropped", number, f"it says what {known[0]} said, which is {known[1]}")
        elif not own and (ended := self.ended.how(entry.id, value_hash(value_of(entry)))):
            self.count("dropped", number, f"it says what another project shared, which is {ended} there")
        elif entry.redacted or not value_of(entry).strip():
            self.count("left", number, "its text was redacted")
        elif own and self._may_restore(fields, entry):
            self.restore.append(fields)
        elif gateway.twin_of(self.project, entry):
            self.count("present", number)
        else:
            self.propose.append((number, fields))

    def _may_restore(self, fields: Fields, event: Event) -> bool:
        """Whether the line may come back as it was: the writer could be trusted, and the gateway would let it pass."""
        if event.by.kind == PERSON and self.by.kind != PERSON:
            return False
        if any(secrets.redact(text).kinds for text in _texts(fields)):
            return False
        if not isinstance(event, Entry):
            return True
        pinned = event.pinned and event.by.kind != PERSON
        return not pinned and (bool(event.held) or not any(is_directive(text) for text in event.prose().values()))

    def finish(self) -> Imported:
        """Write what was decided."""
        self.counts["restored"] += len(self.restore)
        if self.restore and not self.dry_run:
            gateway.write(self.project, [_unsealed(fields) for fields in self.restore])
        batch = Batch(self.project, importer(self.name), dry_run=self.dry_run)
        for fields in self.restore if self.dry_run else ():
            event = event_from(fields)
            if isinstance(event, Entry):
                batch.expect(event)
        for number, fields in self.propose:
            self._propose(batch, number, fields)
        batch.flush()
        return Imported(self.name, **self.counts, dry_run=self.dry_run, notes=tuple(self.notes))

    def _propose(self, batch: Batch, number: int, fields: Fields) -> None:
        kind, given = str(fields["kind"]), _for_gateway(fields, self.name, number)
        if self.by.kind == PERSON:
            given["evidence"].append(f"imported by {self.by.name or 'a person'}")
        given["files"] = list(self._cited(fields.get("files") or ()))
        try:
            outcome = batch.take(kind, given)
        except BackstoryError as error:
            what = "refused" if error.code == Exit.REFUSED else "left"
            self.count(what, number, error.message)
            return
        what = {"recorded": "added", "dropped": "dropped"}.get(outcome.status, "present")
        self.count(what, number, " ".join(outcome.notes))

    def _cited(self, files: Iterable[Any]) -> Iterator[str]:
        """Cited files as they can be cited here: with their place where it is there, else the path alone."""
        for ref in files:
            path, lines = str(ref.get("path", "")), ref.get("lines")
            place = f"#{ref['symbol']}" if ref.get("symbol") else f":{lines[0]}-{lines[1]}" if lines else ""
            for text in (path + place, path):
                try:
                    cite(self.project.root, text)
                except BackstoryError:
                    continue
                yield text
                break


def _texts(value: Any) -> Iterator[str]:
    """Every text of an event, in whatever field, known or not; hashes and ids hold none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in _NO_TEXT:
                yield from _texts(item)


def _imported(project: Project) -> Iterator[str]:
    """The ids of foreign events that an earlier import brought in."""
    rows = project.db.execute(
        "SELECT v.body FROM entries AS e JOIN events AS v ON v.event = e.entry"
        " WHERE e.by_kind = ? AND e.source = 'log'",
        (IMPORT,),
    )
    for (body,) in rows:
        for text in read_fields(body.encode("utf-8", "surrogatepass")).get("evidence", ()):
            if text.startswith("event "):
                yield text[6:]


def _unsealed(fields: Fields) -> Fields:
    kept = {name: value for name, value in fields.items() if name not in _SEALED}
    return {**kept, "origin": fields.get("origin") or fields.get("shard", "")}


def _for_gateway(fields: Fields, name: str, number: int) -> Fields:
    """The fields that the gateway takes: what a kind knows, without links into another tree."""
    outside = set(shape_of(str(fields["kind"]))) - validation.NOT_FROM_OUTSIDE - _OF_ANOTHER_TREE
    given = {field: value for field, value in fields.items() if field in outside}
    by = fields.get("by") or {}
    who = f"{by.get('name') or 'unknown'} ({by.get('kind', 'unknown')})"
    given["evidence"] = [
        *map(str, fields.get("evidence") or ()),
        f"import {name}:{number}",
        f"event {fields['id']}",
        f"recorded {str(fields.get('at', ''))[:10]} by {who}",
    ]
    return given
