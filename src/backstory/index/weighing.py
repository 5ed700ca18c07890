"""What terms weigh and how well documents fit them, at a cost that does not grow with the number of documents.

bm25 looks at every document of every term, which of 1,000,000 documents takes up to a second. So it is asked for the
rarer terms only, which decide the order; a common term counts as its weight where a document has it.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from backstory.index import filters
from backstory.index.filters import Filter, numbers

# A word in the title says what a document is about; a path is chosen with care too; `extra` repeats words of
# the other three, so that its hits count less. Recall at 5 of curl, istio and beads with 2 for the title 0.539 0.586
# 0.571, with 3 0.541 0.589 0.574.
FIELD_WEIGHTS = "3.0, 1.0, 1.5, 0.6"

# A term in more documents than this is common: nobody counts further.
COMMON = 10_000
# Rows that bm25 walks for one search.
BM25_ROWS = 10_000
# Looking up one rowid in full text costs 100 us, reading a whole list of matches 0.2 us a row.
SEEK_ROWS = 500
FILTERED_AT_ONCE = 250


class Part(NamedTuple):
    """A term as it is asked for: its expression, how many documents have it (at most COMMON + 1), what it weighs."""

    match: str
    documents: int
    weight: float

    @property
    def common(self) -> bool:
        """Whether so many documents have it that it does not tell them apart."""
        return self.documents > COMMON


class Scale:
    """What something weighs by how few documents have it. Counts each expression once in a search."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._counted: dict[str, int] = {}

    @cached_property
    def documents(self) -> int:
        """How many documents there are."""
        return filters.total(self.db)

    def weight(self, count: int) -> float:
        """The inverse frequency of what `count` documents have; the most is that of what none has."""
        return math.log1p(max(0.5, self.documents - count + 0.5) / (count + 0.5))

    def count(self, match: str) -> int:
        """How many documents match, at most COMMON + 1."""
        if match not in self._counted:
            sql = "SELECT count(*) FROM (SELECT 1 FROM documents_fts WHERE documents_fts MATCH ? LIMIT ?)"
            self._counted[match] = int(self.db.execute(sql, (match, COMMON + 1)).fetchone()[0])
        return self._counted[match]

    def part(self, match: str) -> Part:
        """The expression, counted and weighed."""
        count = self.count(match)
        return Part(match, count, self.weight(count))


def rarer(parts: Iterable[Part]) -> list[Part]:
    """Those that bm25 is asked for: the rarest, as far as BM25_ROWS reaches; none that is common."""
    left, found = BM25_ROWS, []
    for part in sorted(parts, key=lambda part: (part.documents, part.match)):
        left -= part.documents
        if left < 0 or part.common:
            break
        found.append(part)
    return found


def fits(db: sqlite3.Connection, parts: Sequence[Part], rowids: Collection[int]) -> dict[int, float]:
    """rowid -> bm25, higher is better, of those of the rowids that have one of the parts."""
    # Read whole: looking the rowids up one by one, bm25 would count the documents of each part anew for each of them.
    sql = f"""SELECT rowid, -bm25(documents_fts, {FIELD_WEIGHTS}) FROM documents_fts
        WHERE documents_fts MATCH ? AND +rowid IN ({numbers(sorted(rowids))})"""
    return {rowid: max(0.0, fit) for rowid, fit in db.execute(sql, (" OR ".join(part.match for part in parts),))}


def matched(db: sqlite3.Connection, kept: Filter, match: str, most: int) -> list[int]:
    """Documents that match, of the sources that can pass the filter, the newest first."""
    sql = """SELECT rowid FROM documents_fts WHERE documents_fts MATCH ? AND rowid BETWEEN ? AND ?
        ORDER BY rowid DESC LIMIT ?"""
    return [rowid for (rowid,) in db.execute(sql, (match, *kept.span, most))]


def passing(db: sqlite3.Connection, kept: Filter, rowids: Sequence[int], most: int) -> list[int]:
    """The first of the rowids that pass the filter, at least `most` of them if there are so many."""
    found: list[int] = []
    for start in range(0, len(rowids), FILTERED_AT_ONCE):
        chunk = rowids[start : start + FILTERED_AT_ONCE]
        sql = f"SELECT d.rowid FROM documents d WHERE d.rowid IN ({numbers(chunk)}) AND {kept.sql}"
        passed = {rowid for (rowid,) in db.execute(sql, kept.params)}
        found += [rowid for rowid in chunk if rowid in passed]
        if len(found) >= most:
            break
    return found


def matching(db: sqlite3.Connection, part: Part, rowids: Collection[int]) -> frozenset[int]:
    """Those of the rowids that have the part."""
    if not rowids:
        return frozenset()
    column = "rowid" if part.documents > SEEK_ROWS * len(rowids) else "+rowid"
    sql = f"SELECT rowid FROM documents_fts WHERE documents_fts MATCH ? AND {column} IN ({numbers(sorted(rowids))})"
    return frozenset(rowid for (rowid,) in db.execute(sql, (part.match,)))
