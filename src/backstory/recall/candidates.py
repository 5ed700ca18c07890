"""What may enter a brief: looked up through indexes, each look-up bounded, never scanned. Light: a hook imports it.

Most entries of a long log are stale or withdrawn. A look-up therefore takes the newest rows of an index first and
filters those few; what it passes over in exchange is older than `PER_PATH` others on the same file.
"""

from __future__ import annotations

from backstory.recall import live
from backstory.recall.tokens import tenths_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from typing import Any

    Row = tuple[Any, ...]

# The share of `file_match` that an entry on another file of the same folder, or of the same package, gets.
FOLDER_SHARE, PACKAGE_SHARE = 0.3, 0.1
# Bounds of the look-ups; a working set beyond them is cut. Measured at 100,000 events: twice as many rows cost the hook
# 20 ms and changed no line of a brief of 250 tokens.
MAX_PATHS, MAX_FOLDERS, MAX_SESSIONS, MAX_COMMITS = 200, 12, 6, 10
PER_PATH, PER_FOLDER, PER_SESSION = 12, 6, 6
AWAY = "not in this tree, branch "

# Heading, kind, and whether the newest enter without a match.
SECTIONS = (
    ("Recent decisions", "decision", True),
    ("Failed trials", "trial", True),
    ("Active patterns", "pattern", True),
    ("Hot files", "hotfile", True),
    ("Open issues", "issue", True),
    ("Lessons", "lesson", True),
    ("Issue notes", "issuenote", False),
    ("Hypotheses", "hypothesis", False),
    ("Fixes", "fix", False),
    ("Notes", "note", True),
)
CONFLICTS = "Conflicts"
HEADING = {kind: heading for heading, kind, _ in SECTIONS}

_COLUMNS = "e.entry, e.id, e.kind, e.last_at, e.summary, e.cost, e.in_tree, e.branch, e.standing, e.at"
_FRESH = live.conditions(fresh=True, here=True)


class Candidate:
    """An entry that may enter: its line, and what speaks for it. `cost` is in tenths of a token."""

    __slots__ = ("at", "cost", "entry", "event", "heading", "id", "last_at", "line", "match", "score")

    def __init__(self, row: Row) -> None:
        self.entry, self.id, kind, self.last_at, self.line, self.cost = row[:6]
        self.at = row[9]
        self.heading = CONFLICTS if row[8] == "contested" else HEADING.get(kind, "Notes")
        if not row[6]:
            away = f" [{AWAY}{branch_text(row[7])}]"
            self.line, self.cost = self.line + away, self.cost + tenths_of(away)
        self.match, self.event, self.score = 0.0, False, 0.0


def find(db: sqlite3.Connection, working_set: Sequence[str], now: int, session: str, most: int) -> list[Candidate]:
    """The candidates for `working_set` (paths; folders end with `/`) at `now`, with what they match.

    `most`: how many of the newest of each section are looked at.
    """
    paths = [path for path in working_set if not path.endswith("/")][:MAX_PATHS]
    folders = sorted({path.rpartition("/")[0] for path in working_set} - {""})[:MAX_FOLDERS]
    found: dict[int, Candidate] = {}
    _take(found, _cited(db, "path", paths, PER_PATH, now), match=1.0)
    _take(found, _cited(db, "folder", folders, PER_FOLDER, now), match=FOLDER_SHARE)
    if paths:
        _take(found, _said_around(db, paths, now, session), event=True)
    for _, kind, newest in SECTIONS:
        if newest:
            _take(found, _newest(db, kind, now, most))
    _take(found, _among(db, "entries", "pinned = 1", most, {"now": now}))
    _match_packages(db, found, folders)
    return list(found.values())


def _take(found: dict[int, Candidate], rows: Iterable[Row], match: float = 0.0, event: bool = False) -> None:
    for row in rows:
        item = found.get(row[0])
        if item is None:
            item = found[row[0]] = Candidate(row)
        item.match = max(item.match, match)
        item.event = item.event or event


def _among(db: sqlite3.Connection, table: str, where: str, most: int, params: dict[str, object]) -> Iterable[Row]:
    """The newest `most` rows of an index, and of those the fresh entries: the filter never makes it scan on."""
    return db.execute(
        f"SELECT {_COLUMNS} FROM (SELECT entry FROM {table} WHERE {where} ORDER BY last_at DESC LIMIT {most}) AS f"
        f" CROSS JOIN live AS e ON e.entry = f.entry WHERE {_FRESH}",
        params,
    )


def _cited(db: sqlite3.Connection, column: str, names: Sequence[str], most: int, now: int) -> Iterable[Row]:
    """Entries that cite one of the files, or a file in one of the folders."""
    for name in names:
        yield from _among(db, "entry_files", f"{column} = :name", most, {"name": name, "now": now})


def _newest(db: sqlite3.Connection, kind: str, now: int, most: int) -> Iterable[Row]:
    """The entries of a kind that will be fresh the longest: through the index on the instant of staleness."""
    for stale, order in (("e.stale_at > :now", "e.stale_at"), ("e.stale_at IS NULL", "e.last_at")):
        yield from db.execute(
            f"SELECT {_COLUMNS} FROM live AS e WHERE e.kind = :kind AND {stale} AND {_FRESH} AND {live.LOGGED}"
            f" ORDER BY {order} DESC LIMIT {most}",
            {"kind": kind, "now": now},
        )


def _said_around(db: sqlite3.Connection, paths: Sequence[str], now: int, session: str) -> Iterable[Row]:
    """Entries of sessions and commits that touched the same files."""
    sessions: dict[str, int] = {}
    commits: dict[str, int] = {}
    for path in paths:
        query = "SELECT session, last_at FROM session_files WHERE path = ? ORDER BY last_at DESC LIMIT 4"
        sessions.update(row for row in db.execute(query, (path,)) if row[0] != session)
        query = "SELECT sha, landed FROM commit_files WHERE path = ? ORDER BY landed DESC LIMIT 4"
        commits.update(db.execute(query, (path,)))
    for column, seen, bound in (("session", sessions, MAX_SESSIONS), ("commit_id", commits, MAX_COMMITS)):
        for name in sorted(seen, key=lambda one: (-seen[one], one))[:bound]:
            where = f"{column} = :name AND {column} <> ''"
            yield from _among(db, "entries", where, PER_SESSION, {"name": name, "now": now})


def _match_packages(db: sqlite3.Connection, found: dict[int, Candidate], folders: Sequence[str]) -> None:
    """A small share for candidates elsewhere in the first two folders of the path: `packages/api`, `src/backstory`."""
    packages = {"/".join(folder.split("/")[:2]) for folder in folders}
    rest = [number for number, item in found.items() if not item.match]
    for start in range(0, len(rest) if packages else 0, 400):
        chunk = rest[start : start + 400]
        marks = ",".join("?" * len(chunk))
        for number, folder in db.execute(f"SELECT entry, folder FROM entry_files WHERE entry IN ({marks})", chunk):
            if "/".join(folder.split("/")[:2]) in packages:
                found[number].match = PACKAGE_SHARE


def branch_text(name: str) -> str:
    """A branch's name inside a line: it comes from the log, so it may hold anything."""
    return "".join(letter for letter in name if letter.isprintable() and letter not in "<>")[:80] or "unknown"
