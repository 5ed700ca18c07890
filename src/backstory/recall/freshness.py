"""Whether the ground under an entry has moved: anchor, churn, gone. Age and `revisit_when` are compared at read.

Judged at refresh, for the entries that changed or, when the head or the work tree's files changed, for all that cite
files. Git is asked nothing here: the index has the commits since the oldest cited one, by landing position.
What cannot be judged is left fresh and said (`unknown`), not guessed.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable

import msgspec

from backstory.index.folding import folder_of
from backstory.recall.stamps import file_stamp, read_lines
from backstory.records.anchors import KNOWN_SHARE, RENAMED_SHARE, find
from backstory.records.event import Entry, FileRef
from backstory.records.symbols import definitions

# Kinds that a changing file does not make stale: it is what a hot file says.
CHURN_EXEMPT = ("hotfile",)


class Judged(msgspec.Struct, frozen=True):
    """One cited place: its path now, why it is stale ("" for fresh), the stamp of the file that was read."""

    path: str
    why: str = ""
    stamp: str = ""


class Ground:
    """The work tree and history that entries are held against."""

    def __init__(
        self, db: sqlite3.Connection, root: str, churn_commits: int, find_moved: Callable[[str], tuple[str, list[str]]]
    ) -> None:
        self.db, self.root, self.churn_commits, self.find_moved = db, root, churn_commits, find_moved
        self._lines: dict[str, list[str] | None] = {}
        self.has_history = db.execute("SELECT EXISTS (SELECT 1 FROM commits)").fetchone()[0] == 1
        self._landed: dict[str, int] = {}

    def judge(self, entry: Entry, last_at: int) -> tuple[list[str], list[tuple[FileRef, Judged]]]:
        """The reasons of staleness of an entry, and what was found for each place that it cites."""
        places = [(ref, self._place(entry, ref, last_at)) for ref in entry.files]
        reasons = [judged.why for _, judged in places if judged.why]
        return sorted(set(reasons)), places

    def _place(self, entry: Entry, ref: FileRef, last_at: int) -> Judged:
        names = self._names(ref.path)
        path = names[-1]
        if not os.path.lexists(os.path.join(self.root, path)):
            moved = self._moved_by_hand(ref, path)
            if moved:
                return self._anchor(ref, moved) if ref.anchored else Judged(moved, "", "+")
            return Judged(path, f"gone: {ref.path} no longer exists", "-")
        if ref.anchored:
            return self._anchor(ref, path)
        if entry.kind in CHURN_EXEMPT:
            return Judged(path, "", "+")
        commits = self._commits_since(entry, set(names), last_at)
        if commits >= self.churn_commits:
            return Judged(path, f"churn: {commits} commits touched {path} since", "+")
        return Judged(path, "", "+")

    def _anchor(self, ref: FileRef, path: str) -> Judged:
        stamp = file_stamp(os.path.join(self.root, path))
        lines = self._read(path)
        if lines is None:
            return Judged(path, "", stamp)
        where = ref.symbol or (f"{path}:{ref.lines[0]}" if ref.lines else path)
        share = find(ref.prints, lines, ref.span)
        if ref.symbol:
            spans = definitions(lines, ref.symbol)
            # The line that names it is left out: under another name it cannot stand any more.
            if not spans and find(ref.prints[1:] or ref.prints, lines, ref.span) < RENAMED_SHARE:
                return Judged(path, f"anchor: {ref.symbol} is gone from {path}", stamp)
            # Its neighbours may look alike: where it is defined still, only what it holds there counts.
            share = max((find(ref.prints, lines[start - 1 : end], ref.span) for start, end in spans), default=share)
        if share < KNOWN_SHARE:
            return Judged(path, f"anchor: {where} changed beyond recognition", stamp)
        return Judged(path, "", stamp)

    def _names(self, path: str) -> list[str]:
        """The path as cited and the names that the file had since, up to the first that exists."""
        names = [path]
        while not os.path.lexists(os.path.join(self.root, names[-1])):
            row = self.db.execute(
                "SELECT new FROM renames WHERE old = ? ORDER BY landed DESC, new LIMIT 1", (names[-1],)
            ).fetchone()
            if row is None or row[0] in names:
                break
            names.append(row[0])
        return names

    def _moved_by_hand(self, ref: FileRef, last: str) -> str:
        """Where a missing file went without a commit: staged under another name, or a file with the anchored text."""
        renamed, alike = self.find_moved(last)
        if renamed:
            return renamed
        for path in alike if ref.anchored else ():
            lines = self._read(path)
            if lines is not None and find(ref.prints, lines, ref.span) >= KNOWN_SHARE:
                return path
        return ""

    def _commits_since(self, entry: Entry, paths: set[str], last_at: int) -> int:
        marks = ",".join("?" * len(paths))
        names = sorted(paths)
        # A confirmation moves the base: commits count from then on.
        moment = last_at // 1_000_000
        base = self._landing(entry.commit)
        if base is None:
            query = (
                "SELECT count(DISTINCT sha) FROM commit_files JOIN commits USING (sha)"
                f" WHERE path IN ({marks}) AND time > ?"
            )
            return int(self.db.execute(query, [*names, moment]).fetchone()[0])
        query = (
            f"SELECT count(DISTINCT f.sha) FROM commit_files AS f JOIN commits AS c USING (sha)"
            f" WHERE f.path IN ({marks}) AND f.landed > ? AND (? = 0 OR c.time > ?)"
        )
        confirmed = int(last_at > _at(entry))
        return int(self.db.execute(query, [*names, base, confirmed, moment]).fetchone()[0])

    def _landing(self, commit: str) -> int | None:
        if commit not in self._landed:
            row = self.db.execute("SELECT landed FROM commits WHERE sha = ?", (commit,)).fetchone()
            self._landed[commit] = row[0] if row else -1
        landed = self._landed[commit]
        return landed if landed >= 0 else None

    def _read(self, path: str) -> list[str] | None:
        """The lines of a file; None when it is no text of a readable size."""
        if path not in self._lines:
            self._lines[path] = read_lines(self.root, path)
        return self._lines[path]


def _at(entry: Entry) -> int:
    from backstory.records.times import parse_instant

    return parse_instant(entry.at)


def store(
    db: sqlite3.Connection, number: int, last_at: int, reasons: list[str], places: list[tuple[FileRef, Judged]]
) -> None:
    """Keep what was judged: reasons with the entry, present paths with its files."""
    db.execute("UPDATE entries SET moved = ? WHERE entry = ?", (json.dumps(reasons) if reasons else "", number))
    db.execute("DELETE FROM entry_files WHERE entry = ?", (number,))
    for ref, judged in places:
        place = f"#{ref.symbol}" if ref.symbol else f"{ref.lines[0]}-{ref.lines[1]}" if ref.lines else ""
        db.execute(
            "INSERT OR IGNORE INTO entry_files VALUES (?, ?, ?, ?, ?, ?, ?)",
            (judged.path, last_at, number, folder_of(judged.path), ref.path, place, judged.stamp),
        )
