"""Brings log and journal into the index: which files changed, what is new in them, what is wrong with them."""

from __future__ import annotations

import os
import re
import sqlite3
from hashlib import blake2b

from backstory.config import Config
from backstory.index.ingest import JOURNAL, LOG, FileState, Ingest, NewLine
from backstory.log import faults
from backstory.log.names import files, is_shard, stem
from backstory.log.reader import Line, Problem, check, lines
from backstory.project.currency import stamp
from backstory.records.codec import BadLine, read_event, read_fields
from backstory.records.event import PERSON, VERSION
from backstory.records.ids import is_id
from backstory.records.registry import OPERATIONS
from backstory.records.times import parse_instant

_TAIL = 4096
# Fixed width: events are ordered by this text.
_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def read_files(config: Config, db: sqlite3.Connection) -> tuple[set[int], bool]:
    """Take every change of the files into the index.

    The numbers of events that are new, gone or moved; and whether a file was replaced, came or went. Inside the
    caller's transaction.
    """
    places = config.places
    ingest = Ingest(db, (config.project, *config.also), JOURNAL if config.private else LOG)
    states = ingest.states()
    paths: dict[tuple[str, str], str] = {}
    reader = _Reading(config, db, ingest)
    for place, folder in ((LOG, places.log_dir), (JOURNAL, places.journal_dir)):
        for path in files(folder) if folder else ():
            reader.file(place, path, states.get((place, stem(path))))
            paths[(place, stem(path))] = path
    for (place, name), state in states.items():
        if (place, name) not in paths:
            ingest.forget(place, name, state)
    reader.late()
    for place, name in reader.waiting_for_a_redaction():
        reader.again(place, paths[(place, name)])
    reader.late()
    faults.trip("refresh.events")
    return ingest.settle(), ingest.structural


class _Reading:
    """Reads files into one `Ingest`. Blanked lines wait until every redact operation was seen."""

    def __init__(self, config: Config, db: sqlite3.Connection, ingest: Ingest) -> None:
        self.config, self.db, self.ingest = config, db, ingest
        self.redactions: dict[str, str] = {}
        self.new_redactions: set[str] = set()
        for (body,) in db.execute("SELECT body FROM events WHERE kind = 'redact'"):
            self._note_redaction(body.encode())
        self.new_redactions.clear()
        self.waiting: list[tuple[int, Line, str | None, str]] = []

    def file(self, place: str, path: str, state: FileState | None) -> None:
        """One file, from where it was left, or whole when it is new or was replaced."""
        try:
            status = os.stat(path)
            mark = stamp(status)
            if state is not None and state.stamp == mark:
                return
            grown = state is not None and _grown(path, state, status)
            start, number = (state.size, state.lines) if state is not None and grown else (0, 0)
            file = self.ingest.begin(place, stem(path), state, again=state is not None and not grown)
            self._lines(place, path, file, start, number, mark)
        except OSError as error:
            self.ingest.problem(f"{place}/{stem(path)}", 0, "unreadable", error.strerror or "")

    def _lines(self, place: str, path: str, file: int, start: int, number: int, mark: str) -> None:
        name, label = stem(path), f"{place}/{stem(path)}"
        shard = name if place == LOG else None
        if not is_shard(name) and not start:
            self.ingest.problem(label, 0, "shard", "the file's name is not a shard's")
        size = start
        for item in lines(path, start, number):
            if isinstance(item, Problem):
                size, number = item.end, item.line
                self.ingest.problem(label, item.line, item.why, item.detail)
                continue
            size, number = item.end, item.number
            if b'"redacted":true' in item.raw:
                self.waiting.append((file, item, shard, label))
            else:
                self._take(file, item, shard, label)
        self.ingest.end(file, size, number, mark, tail_hash(path, size))

    def late(self) -> None:
        """The blanked lines, now that every redact operation is known."""
        for file, line, shard, label in self.waiting:
            self._take(file, line, shard, label)
        self.waiting.clear()

    def waiting_for_a_redaction(self) -> list[tuple[str, str]]:
        """Files that were read when a blanked line in them was not yet vouched for, and now is."""
        rows = self.db.execute("SELECT file, id FROM problems WHERE why = 'hash' ORDER BY file").fetchall()
        labels = dict.fromkeys(file for file, id_ in rows if id_ in self.new_redactions)
        return [(place, name) for place, _, name in (label.partition("/") for label in labels)]

    def again(self, place: str, path: str) -> None:
        """Read a file whole that was read before."""
        state = self.ingest.states().get((place, stem(path)))
        file = self.ingest.begin(place, stem(path), state, again=state is not None)
        self._lines(place, path, file, 0, 0, stamp(os.stat(path)))

    def _take(self, file: int, line: Line, shard: str | None, label: str) -> None:
        head = line.head
        why = check(line, shard, self.ingest.projects, self.redactions)
        why = why or _misshapen(head.id, head.at, head.h, head.prev)
        if why:
            self.ingest.problem(label, line.number, why, "", head.id[:26])
            return
        self._note_shape(line, label)
        target = ""
        if head.kind in OPERATIONS:
            target = str(read_fields(line.raw).get("target", ""))
            if head.kind == "redact":
                self._note_redaction(line.raw)
        new = NewLine(head.id, head.at, head.kind, head.h, head.prev, head.shard, line.number, line.raw, target)
        self.ingest.line(file, new, label)

    def _note_shape(self, line: Line, label: str) -> None:
        """A line that is whole and ours, yet says something that this version cannot take: kept, and reported."""
        head = line.head
        if head.v > VERSION:
            self.ingest.problem(label, line.number, "version", f"version {head.v}, this is {VERSION}", head.id)
        try:
            read_event(line.raw)
        except BadLine as error:
            self.ingest.problem(label, line.number, "shape", str(error)[:120], head.id)

    def _note_redaction(self, raw: bytes) -> None:
        fields = read_fields(raw)
        target, blank = str(fields.get("target", "")), str(fields.get("blank", ""))
        if fields.get("by", {}).get("kind") == PERSON and self.redactions.get(target) != blank:
            self.redactions[target] = blank
            self.new_redactions.add(target)


def _misshapen(id_: str, at: str, h: str, prev: str) -> str:
    try:
        parse_instant(at)
        if _AT.fullmatch(at) is None:
            return "corrupt"
        return "" if is_id(id_) and len(bytes.fromhex(h)) == len(bytes.fromhex(prev)) == 16 else "corrupt"
    except ValueError:
        return "corrupt"


def _grown(path: str, state: FileState, status: os.stat_result) -> bool:
    """Whether the file only grew: same inode, longer, and the bytes before where we stopped are the same."""
    if not state.stamp:
        return False  # it could not be read before
    inode, _, size = state.stamp.split(":")
    longer = status.st_size > int(size) and status.st_size >= state.size > 0
    return inode == str(status.st_ino) and longer and tail_hash(path, state.size) == state.tail


def tail_hash(path: str, size: int) -> str:
    """The hash of the last bytes before `size`."""
    with open(path, "rb") as file:
        file.seek(max(0, size - _TAIL))
        return blake2b(file.read(min(_TAIL, size)), digest_size=8).hexdigest()
