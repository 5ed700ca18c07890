"""What lifts a document beside its words: it touches the files of the present work, and it is recent."""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from backstory.index import weighing
from backstory.index.filters import Filter, numbers
from backstory.index.weighing import Scale

DAY = 86_400_000_000
MAX_BOOST_PATHS = 32
# Documents looked at for the paths asked for, the newest of each, the same number for each and not too few.
PATH_ROWS = 400
LEAST_PATH_ROWS = 20
_OF_PATH = "FROM document_paths WHERE path = ? AND document BETWEEN ? AND ? ORDER BY document DESC"
# Of these the newest are tried on the filter first.
SAMPLE = 20
# From here on it does not matter how many more documents a path has.
COUNTED_PATHS = 2_000

# What all files in common are worth, in parts of the best document's fit; less of the files is worth less, by how rare
# they are. Follow-ups of curl, recall at 5 in one half and the other (half was chosen so that files alone do not lift
# a document with a fifth of the best one's fit above it):
#   0.25  0.543 0.552
#   0.5   0.563 0.562
#   1     0.568 0.568
PATH_LIFT = 0.5
# A file in the same folder, in parts of the file itself.
FOLDER_SHARE = 0.2
# Recency multiplies by up to 1 + lift, 1 + lift / 2 after so many days. The same halves, by the lift for 30 days:
#   2  0.558 0.558     4  0.563 0.562     8  0.565 0.555     and 4 for 10 days 0.550 0.557, for 90 days 0.568 0.552
RECENT_DAYS = 30.0
RECENCY_LIFT_AT_WORK = 4.0
# Without files nothing says that the question is about present work. Recall at 5 of istio and beads, asked at the end
# of years of history, and of decision records, asked when the citing one was written:
#   0     0.593 0.571 0.761
#   0.2   0.590 0.568 0.769
#   0.5   0.585 0.571 0.779
#   1     0.578 0.563 0.787
#   2     0.570 0.548 0.805
RECENCY_LIFT = 0.4


class Ranked(NamedTuple):
    """A document found, its score, and what ties are broken by."""

    rowid: int
    score: float
    ref: str


class Lift:
    """The lifts of one search: by `paths`, as they are stored, and by how long before `now` something was."""

    def __init__(self, db: sqlite3.Connection, kept: Filter, paths: Sequence[str], now: int | None) -> None:
        self.db, self.kept, self.now = db, kept, now
        self.scale = Scale(db)
        self.paths = tuple(dict.fromkeys(paths))[:MAX_BOOST_PATHS]

    @cached_property
    def weights(self) -> dict[str, float]:
        """The paths by how rare they are: a file that each change touches tells little."""
        sql = "SELECT count(*) FROM (SELECT 1 FROM document_paths WHERE path = ? LIMIT ?)"
        counts = {path: self.db.execute(sql, (path, COUNTED_PATHS)).fetchone()[0] for path in self.paths}
        return {path: self.scale.weight(count) for path, count in counts.items()}

    @cached_property
    def sharers(self) -> dict[int, float]:
        """The newest documents for each path: rowid -> share, 0 to 1. Not all of them need pass the filter."""
        most = max(LEAST_PATH_ROWS, PATH_ROWS // max(1, len(self.paths)))
        found = self._newest(f"SELECT document {_OF_PATH} LIMIT ?", (most,))
        sample = heapq.nlargest(SAMPLE, found)
        if 2 * len(weighing.passing(self.db, self.kept, sample, SAMPLE)) >= len(sample):
            return found
        # Mostly in vain: a search in the past, or in a corner. The filter of a search is dear, 13 us a document.
        sql = f"""SELECT d.rowid FROM (SELECT document {_OF_PATH} LIMIT {COUNTED_PATHS}) p
            CROSS JOIN documents d ON d.rowid = p.document WHERE {self.kept.sql} ORDER BY d.rowid DESC LIMIT ?"""
        return self._newest(sql, (*self.kept.params, most))

    def _newest(self, sql: str, values: tuple[object, ...]) -> dict[int, float]:
        whole = sum(self.weights.values())
        found: dict[int, float] = {}
        for path, weight in self.weights.items():
            for (rowid,) in self.db.execute(sql, (path, *self.kept.span, *values)):
                found[rowid] = found.get(rowid, 0.0) + weight / whole
        return found

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
            # Rounded before the clock comes in: of two that fit alike the newer is first, whenever one asks. Rounded
            # behind it, the order of what was recorded within a second would turn from one moment to the next.
            ranked.append(Ranked(rowid, round(score, 9) * self.recency(at), ref))
        return sorted(ranked, key=lambda one: (-one.score, one.ref, one.rowid))

    def recency(self, at: int | None) -> float:
        """A factor from 1 for what is old, or has no time, up to 1 and the lift for what is new."""
        if self.now is None or at is None:
            return 1.0
        days = max(0, self.now - at) / DAY
        lift = RECENCY_LIFT_AT_WORK if self.paths else RECENCY_LIFT
        return 1.0 + lift * RECENT_DAYS / (RECENT_DAYS + days)

    def shares(self, ids: str) -> dict[int, float]:
        """rowid -> which part of the paths, by weight, a document has, 0 to 1; files in the same folder count less."""
        if not self.weights:
            return {}
        had: dict[int, set[str]] = {}
        for rowid, path in self.db.execute(f"SELECT document, path FROM document_paths WHERE document IN ({ids})"):
            found = path if path in self.weights else self._folder_above(path)
            if found:
                had.setdefault(rowid, set()).add(found)
        whole = sum(self.weights.values())
        return {rowid: min(1.0, self._weight(found) / whole) for rowid, found in had.items()}

    @cached_property
    def folders(self) -> dict[str, float]:
        """What a file in a folder of the paths, or below it, weighs: a part of the rarest of the paths there."""
        folders: dict[str, float] = {}
        for path, weight in self.weights.items():
            folder = path.rpartition("/")[0] + "/"
            folders[folder] = max(folders.get(folder, 0.0), FOLDER_SHARE * weight)
        folders.pop("/", None)
        return folders

    def _folder_above(self, path: str) -> str:
        """The nearest folder of the paths that the path is in, with a slash at its end; "" for none."""
        end = path.rfind("/")
        while end > 0:
            if path[: end + 1] in self.folders:
                return str(path[: end + 1])
            end = path.rfind("/", 0, end)
        return ""

    def _weight(self, found: set[str]) -> float:
        """Of paths, and of folders without a path of theirs that is found too."""
        paths = found & self.weights.keys()
        covered = {path.rpartition("/")[0] + "/" for path in paths}
        near = sum(self.folders[folder] for folder in sorted(found - paths - covered))
        return sum(self.weights[path] for path in sorted(paths)) + near
