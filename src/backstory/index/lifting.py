"""What lifts a document beside its words: it touches the files of the present work, and it is recent."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from backstory.index.filters import Filter, below, marks, numbers

DAY = 86_400_000_000
MAX_BOOST_PATHS = 32
# Documents looked at for each path asked for, the newest first.
PATH_ROWS = 200
# From here on it does not matter how many more documents a path has.
COUNTED_PATHS = 5_000

PATH_LIFT = 0.5
FOLDER_SHARE = 0.2
RECENT_DAYS = 30.0
RECENCY_LIFT = 0.4
RECENCY_LIFT_AT_WORK = 4.0


class Ranked(NamedTuple):
    """A document found, its score, and what ties are broken by."""

    rowid: int
    score: float
    ref: str


class Lift:
    """The lifts of one search: by `paths`, as they are stored, and by how long before `now` something was."""

    def __init__(
        self, db: sqlite3.Connection, kept: Filter, paths: Sequence[str], now: int | None, documents: int
    ) -> None:
        self.db, self.kept, self.now, self.documents = db, kept, now, documents
        self.paths = tuple(dict.fromkeys(paths))[:MAX_BOOST_PATHS]

    @cached_property
    def weights(self) -> dict[str, float]:
        """The paths by how rare they are: a file that each change touches tells little."""
        sql = "SELECT count(*) FROM (SELECT 1 FROM document_paths WHERE path = ? LIMIT ?)"
        counts = {path: self.db.execute(sql, (path, COUNTED_PATHS)).fetchone()[0] for path in self.paths}
        return {path: math.log1p((self.documents + 0.5) / (count + 0.5)) for path, count in counts.items()}

    @cached_property
    def sharers(self) -> frozenset[int]:
        """Documents that pass the filter and have one of the paths: the newest for each path."""
        sql = f"""SELECT p.document FROM document_paths p CROSS JOIN documents d ON d.rowid = p.document
            WHERE p.path = ? AND p.document BETWEEN ? AND ? AND {self.kept.sql} ORDER BY p.document DESC LIMIT ?"""
        span = self.kept.span
        return frozenset(
            rowid
            for path in self.weights
            for (rowid,) in self.db.execute(sql, (path, *span, *self.kept.params, PATH_ROWS))
        )

    def ranked(self, scores: Mapping[int, float]) -> list[Ranked]:
        """Documents with positive scores, lifted; best first, ties by ref."""
        if not scores:
            return []
        most = max(scores.values())
        ids = numbers(scores)
        shares = self.shares(ids)
        ranked = []
        for rowid, ref, at in self.db.execute(f"SELECT rowid, ref, at FROM documents WHERE rowid IN ({ids})"):
            score = scores[rowid] + PATH_LIFT * shares.get(rowid, 0.0) * most
            ranked.append(Ranked(rowid, score * self.recency(at), ref))
        return sorted(ranked, key=lambda one: (-round(one.score, 9), one.ref, one.rowid))

    def recency(self, at: int | None) -> float:
        """A factor from 1 for what is old, or has no time, up to 1 and the lift for what is new."""
        if self.now is None or at is None:
            return 1.0
        days = max(0, self.now - at) / DAY
        lift = RECENCY_LIFT_AT_WORK if self.paths else RECENCY_LIFT
        return 1.0 + lift * RECENT_DAYS / (RECENT_DAYS + days)

    def shares(self, ids: str) -> dict[int, float]:
        """rowid -> which part of the paths, by weight, a document has: 0 to 1. A file of its folder counts less."""
        found: dict[int, float] = {}
        whole = sum(self.weights.values())
        if not whole:
            return found
        near: dict[int, dict[str, float]] = {}
        same = f"SELECT DISTINCT document FROM document_paths WHERE document IN ({ids})"
        for folder in {path.rpartition("/")[0] for path in self.weights} - {""}:
            weight = FOLDER_SHARE * max(w for path, w in self.weights.items() if path.rpartition("/")[0] == folder)
            for (rowid,) in self.db.execute(f"{same} AND path >= ? AND path < ?", below(folder)):
                near.setdefault(rowid, {})[folder] = weight
        sql = f"SELECT document, path FROM document_paths WHERE document IN ({ids}) AND path IN ({marks(self.weights)})"
        for rowid, path in self.db.execute(sql, tuple(self.weights)):
            found[rowid] = found.get(rowid, 0.0) + self.weights[path]
            near.get(rowid, {}).pop(path.rpartition("/")[0], None)
        for rowid, folders in near.items():
            found[rowid] = found.get(rowid, 0.0) + sum(folders.values())
        return {rowid: min(1.0, share / whole) for rowid, share in found.items()}
