"""Takes lines of the log into the index: the union by id, with what is wrong about it.

One `Ingest` works inside one transaction of the caller. It keeps, per file, every sound line, so that a file that
was replaced (a checkout, a reset, a merge) is read again and membership follows; and it checks what a line alone
cannot show: that the event before it is present, that nothing forks, that one id says one thing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import msgspec

from backstory.records.codec import PLACE_FIELDS, canonical, first_prev, read_fields

LOG, JOURNAL = "log", "journal"
_BATCH = 5_000


class FileState(msgspec.Struct, frozen=True):
    """How far a file was read: `size` bytes, `lines` lines; `stamp` and `tail` tell an append from a change."""

    file: int
    size: int
    lines: int
    stamp: str
    tail: str


class NewLine(msgspec.Struct, frozen=True, gc=False):
    """A sound line as the reader gives it. `operation`: it acts on `target`."""

    id: str
    at: str
    kind: str
    h: str
    prev: str
    shard: str
    number: int
    raw: bytes
    target: str = ""


class Ingest:
    """Collects lines of files; `settle` says which events changed."""

    def __init__(self, db: sqlite3.Connection, projects: tuple[str, ...], tree_place: str) -> None:
        self.db, self.projects, self.tree_place = db, projects, tree_place
        self.touched: set[int] = set()
        # Whether a file was replaced, came or went: then all of it is compared, not only what is new.
        self.structural = False
        self._tips: dict[int, str] = {}
        # Lines that a file had before this pass, where it only grew.
        self._starts: dict[int, int] = {}
        self.changed_files: set[int] = set()
        self._numbers: dict[str, int] = {}
        self._shards: dict[str, int] = {name: number for number, name in db.execute("SELECT shard, name FROM shards")}
        self._rows: list[tuple[int, bytes, bytes, int, int, int]] = []
        self._empty = db.execute("SELECT NOT EXISTS (SELECT 1 FROM events)").fetchone()[0] == 1

    def states(self) -> dict[tuple[str, str], FileState]:
        """Every file read so far, by place and name."""
        rows = self.db.execute("SELECT place, name, file, size, lines, stamp, tail FROM files")
        return {(row[0], row[1]): FileState(*row[2:]) for row in rows}

    def begin(self, place: str, name: str, state: FileState | None, *, again: bool) -> int:
        """Start on a file; with `again` all that it gave before is taken back first. Its number."""
        self.structural = self.structural or again or state is None
        if state is None:
            cursor = self.db.execute(
                "INSERT INTO files (place, name, size, lines, stamp, tail, tip) VALUES (?, ?, 0, 0, '', '', '')",
                (place, name),
            )
            file = int(cursor.lastrowid or 0)
        else:
            file = state.file
            if not again:
                self._starts[file] = state.lines
            else:
                self._take_back(file, f"{place}/{name}")
        self.changed_files.add(file)
        return file

    def forget(self, place: str, name: str, state: FileState) -> None:
        """A file is gone from its folder."""
        self.structural = True
        self._take_back(state.file, f"{place}/{name}")
        self.db.execute("DELETE FROM files WHERE file = ?", (state.file,))

    def _take_back(self, file: int, label: str) -> None:
        self.touched.update(row[0] for row in self.db.execute("SELECT event FROM lines WHERE file = ?", (file,)))
        self.db.execute("DELETE FROM lines WHERE file = ?", (file,))
        self.db.execute("DELETE FROM problems WHERE file = ?", (label,))

    def line(self, file: int, line: NewLine, label: str) -> None:
        """One sound line of a file."""
        event = self._event(line, label)
        self.touched.add(event)
        self._tips[file] = line.h
        row = (file, bytes.fromhex(line.h), bytes.fromhex(line.prev), event, self._shard(line.shard), line.number)
        self._rows.append(row)
        if len(self._rows) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the collected lines. A line that stands twice in one file counts once."""
        self.db.executemany(_INSERT_LINE, self._rows)
        self._rows.clear()

    def end(self, file: int, size: int, lines: int, stamp: str, tail: str) -> None:
        """Note how far the file was read."""
        self.flush()
        self.db.execute(
            "UPDATE files SET size = ?, lines = ?, stamp = ?, tail = ?, tip = coalesce(?, tip) WHERE file = ?",
            (size, lines, stamp, tail, self._tips.get(file), file),
        )

    def problem(self, label: str, line: int, why: str, detail: str = "", id_: str = "") -> None:
        """Keep what is wrong, until the file is read again."""
        self.db.execute("INSERT INTO problems VALUES (?, ?, ?, ?, ?)", (label, line, why, detail, id_))

    def _shard(self, name: str) -> int:
        if name not in self._shards:
            cursor = self.db.execute("INSERT INTO shards (name) VALUES (?)", (name,))
            self._shards[name] = int(cursor.lastrowid or 0)
        return self._shards[name]

    def _event(self, line: NewLine, label: str) -> int:
        number = self._numbers.get(line.id)
        if number is None and not self._empty:
            row = self.db.execute("SELECT event FROM events WHERE id = ?", (line.id,)).fetchone()
            number = row[0] if row else None
        if number is None:
            cursor = self.db.execute(
                "INSERT INTO events (id, at, kind, target, shard, in_tree, in_journal, body) VALUES (?,?,?,?,?,0,0,?)",
                (line.id, line.at, line.kind, line.target, line.shard, line.raw.decode("utf-8", "replace")),
            )
            number = int(cursor.lastrowid or 0)
        else:
            self._same(number, line, label)
        self._numbers[line.id] = number
        return number

    def _same(self, number: int, line: NewLine, label: str) -> None:
        """Another copy of a known event: it must say the same; a blanked copy wins."""
        known: str = self.db.execute("SELECT body FROM events WHERE event = ?", (number,)).fetchone()[0]
        text = line.raw.decode("utf-8", "replace")
        if known == text:
            return
        old, new = read_fields(known.encode()), read_fields(line.raw)
        if new.get("redacted") and not old.get("redacted"):
            self.db.execute("UPDATE events SET body = ? WHERE event = ?", (text, number))
        elif not old.get("redacted") and _core(old) != _core(new):
            self.problem(label, line.number, "twice", "", line.id)

    def settle(self) -> set[int]:
        """Bring membership up to date, drop events that are nowhere any more, and return all that changed."""
        self.flush()
        self.db.execute("CREATE TEMP TABLE IF NOT EXISTS touched (event INTEGER PRIMARY KEY)")
        self.db.execute("DELETE FROM touched")
        self.db.executemany("INSERT INTO touched VALUES (?)", ((number,) for number in self.touched))
        for column, place in (("in_tree", self.tree_place), ("in_journal", JOURNAL)):
            self.db.execute(
                f"UPDATE events SET {column} = EXISTS (SELECT 1 FROM lines JOIN files USING (file)"
                " WHERE lines.event = events.event AND files.place = ?) WHERE event IN (SELECT event FROM touched)",
                (place,),
            )
        self._check_links()
        return self.touched

    def _check_links(self) -> None:
        """In every changed file: each event's predecessor stands in the same file, before it, and is claimed once."""
        firsts: dict[int, list[bytes]] = {
            number: [bytes.fromhex(first_prev(project, name)) for project in self.projects]
            for name, number in self._shards.items()
        }
        for file in sorted(self.changed_files):
            found = self.db.execute("SELECT place, name FROM files WHERE file = ?", (file,)).fetchone()
            if found is None:
                continue
            label = f"{found[0]}/{found[1]}"
            for number, why, id_ in self._broken_links(file, firsts):
                self.problem(label, number, why, "", id_)

    def _broken_links(self, file: int, firsts: dict[int, list[bytes]]) -> Iterable[tuple[int, str, str]]:
        """(line, why, id) for each link that does not hold, among the lines that are new in the file."""
        start = self._starts.get(file, 0)
        rows = self.db.execute(
            "SELECT a.prev, a.shard, a.number, b.number, e.id FROM lines AS a JOIN events AS e ON e.event = a.event"
            " LEFT JOIN lines AS b ON b.file = a.file AND b.h = a.prev"
            " WHERE a.file = ? AND a.number > ? ORDER BY a.number",
            (file, start),
        ).fetchall()
        claimed: set[tuple[int, bytes]] = set()
        found = []
        for prev, shard, number, before, id_ in rows:
            if before is None and prev not in firsts[shard]:
                found.append((number, "prev", id_))
            elif before is not None and before > number:
                found.append((number, "order", id_))
            elif (shard, prev) in claimed or (start and self._claimed_before(file, prev, shard, before or 0, start)):
                found.append((number, "fork", id_))
            claimed.add((shard, prev))
        return found

    def _claimed_before(self, file: int, prev: bytes, shard: int, after: int, until: int) -> bool:
        """Whether a line that was there already names the same predecessor: it stands behind that one."""
        query = "SELECT 1 FROM lines WHERE file = ? AND number > ? AND number <= ? AND prev = ? AND shard = ?"
        return self.db.execute(query, (file, after, until, prev, shard)).fetchone() is not None


_INSERT_LINE = "INSERT OR IGNORE INTO lines (file, h, prev, event, shard, number) VALUES (?, ?, ?, ?, ?, ?)"


def _core(fields: dict[str, object]) -> bytes:
    return canonical({name: value for name, value in fields.items() if name not in PLACE_FIELDS})
