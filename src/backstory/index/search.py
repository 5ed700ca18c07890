"""Full-text search over every source, in one ranked list.

Stages, each only while hits are missing: all terms; all terms, identifiers by their parts and the last word as a
prefix; misspellings forgiven, when nothing was found; any term, above a floor of relevance. Hits of an earlier
stage come first. No user text raises, and a query that is like nothing here finds nothing.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from backstory.index import terms
from backstory.index.documents import SOURCES, rowid_range
from backstory.index.terms import Query, Term, clean

# A word in the title says what a document is about; a path is chosen with care too; `extra` repeats words of
# the other three, so that its hits count less.
FIELD_WEIGHTS = "2.0, 1.0, 1.5, 0.6"
TITLE_WEIGHT = 2.0

# bm25 costs 1.2 us for each matching row, reading rows without it 0.1 us (1,000,000 commit messages, SQLite
# 3.40): "fix", in 27 % of them, took 359 ms. Above this many rows the newest of each source are taken instead.
COMMON_ROWS = 10_000
NEWEST_ROWS = 100
CANDIDATES = 200
NARROW_ROWS = 2_000  # a path filter that lets fewer documents through is a list of them
# In the any-term stage: the newest rows read for one term, the documents then weighed in full, and the count
# from which on it does not matter how many more there are.
TERM_ROWS = 5_000
WEIGHED = 200
COUNTED_ROWS = 50_000
# Looking up one rowid in full text costs 100 us, reading a whole list of matches 0.2 us a row.
SEEK_ROWS = 500

# The part of a query's weight that an any-term hit must match. Messages of curl, 150 queries of three words of one
# message and three of others, recall at 10; and 20 questions about other things, how many were answered:
#              50 messages   500 messages   5,000 messages
#   0.25        100 %, 0       99 %, 0         89 %, 3
#   0.34         96 %, 0       98 %, 0         92 %, 1
#   0.40         81 %, 0       87 %, 0         89 %, 0
#   0.50         33 %, 0       53 %, 0         63 %, 0
FLOOR = 0.34
UBIQUITOUS = 0.25  # a term in more than this part of all documents tells nothing by itself

RECENCY_LIFT = 0.2
RECENCY_DAYS = 90.0
PATH_LIFT = 0.3
FOLDER_LIFT = 0.1
MAX_BOOST_PATHS = 32
MAX_LIMIT = 1_000
DAY = 86_400_000_000

SNIPPET_TOKENS = 24


@dataclass(frozen=True, slots=True)
class Hit:
    """One document found. `score` is 0 to 4, higher is better; `at` is microseconds since the epoch, UTC.

    `snippet` is one plain line, matches in [ ]. `mode` is all, fuzzy (a word was taken for a misspelling) or any.
    """

    source: str
    ref: str
    kind: str
    at: int | None
    title: str
    score: float
    snippet: str
    mode: str


class _Found(NamedTuple):
    rowid: int
    score: float
    ref: str = ""


class _Part(NamedTuple):
    """A term of the any-term stage: its expression, how many documents have it, what it weighs."""

    term: Term
    match: str
    documents: int
    weight: float


class _Filter(NamedTuple):
    """A condition over alias d, its parameters, the sources that can match, and whether few documents can."""

    sql: str
    params: tuple[object, ...]
    sources: tuple[str, ...]
    narrow: bool


def search(
    db: sqlite3.Connection,
    text: str,
    *,
    limit: int = 10,
    sources: Sequence[str] = (),
    kinds: Sequence[str] = (),
    path: str | None = None,
    since: int | None = None,
    until: int | None = None,
    where: str = "",
    params: Sequence[object] = (),
    boost_paths: Sequence[str] = (),
    now: int | None = None,
) -> list[Hit]:
    """The best documents for a text, best first, at most `limit`; none for empty or symbol-only text.

    `path` keeps documents of that path or below that folder; `since <= at < until`. `where` is a trusted SQL
    condition over alias `d` (documents) with its `params`. `now` lifts what is recent, `boost_paths` what shares
    a path or, less, a folder. Ties go by ref.
    """
    query = terms.parse_query(text)
    if limit < 1 or not query.terms:
        return []
    kept = _filter(db, {"source": sources, "kind": kinds}, path, since, until, (where, tuple(params)))
    near = tuple(clean(path) for path in boost_paths[:MAX_BOOST_PATHS])
    return _Search(db, kept, min(limit, MAX_LIMIT), near, now).run(query)


def _filter(
    db: sqlite3.Connection,
    columns: Mapping[str, Sequence[str]],
    path: str | None,
    since: int | None,
    until: int | None,
    extra: tuple[str, tuple[object, ...]],
) -> _Filter:
    parts: list[tuple[str, tuple[object, ...]]] = [
        (f"+d.{column} IN ({_marks(values)})", tuple(values)) for column, values in columns.items() if values
    ]
    narrow = False
    folder = clean(path or "").rstrip("/")
    if folder not in ("", "."):
        condition, values, narrow = _path_condition(db, folder)
        parts.append((condition, values))
    if since is not None:
        parts.append(("d.at >= ?", (since,)))
    if until is not None:
        parts.append(("d.at < ?", (until,)))
    if extra[0]:
        parts.append((f"({extra[0]})", extra[1]))
    sql = " AND ".join(part for part, _ in parts) or "1"
    asked = columns["source"]
    names = tuple(name for name in SOURCES if not asked or name in asked)
    return _Filter(sql, tuple(value for _, values in parts for value in values), names, narrow)


def _path_condition(db: sqlite3.Connection, folder: str) -> tuple[str, tuple[object, ...], bool]:
    """A condition for a path or what is below it: the documents by number where few, else a look at each one."""
    values = (folder, *_below(folder))
    rows = "SELECT document FROM document_paths WHERE path = ? OR (path >= ? AND path < ?) LIMIT ?"
    few = {rowid for (rowid,) in db.execute(rows, (*values, NARROW_ROWS + 1))}
    if len(few) <= NARROW_ROWS:
        return f"d.rowid IN ({_numbers(sorted(few))})", (), True
    one = "EXISTS (SELECT 1 FROM document_paths p WHERE p.document = d.rowid AND"
    return f"({one} p.path = ?) OR {one} p.path >= ? AND p.path < ?))", values, False


def _marks(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)


def _numbers(rowids: Iterable[int]) -> str:
    return ", ".join(map(str, rowids))


def _below(folder: str) -> tuple[str, str]:
    """Bounds of the paths below a folder; 0 is the character after /."""
    return folder + "/", folder + "0"


_Shown = tuple[str, str, str, "int | None", str, str]


class _Search:
    """One search: the stages share the connection, the filter and the number of hits wanted."""

    def __init__(
        self, db: sqlite3.Connection, kept: _Filter, limit: int, boost_paths: tuple[str, ...], now: int | None
    ) -> None:
        self.db = db
        self.kept = kept
        self.limit = limit
        self.boost_paths = boost_paths
        self.now = now
        self.candidates = max(CANDIDATES, 2 * limit)
        self.hits: dict[int, Hit] = {}

    def run(self, query: Query) -> list[Hit]:
        """Every stage in its order, until there are enough hits."""
        self.add("all", 3, query.exact_terms, query, self.all_terms(query.exact_terms))
        if len(self.hits) < self.limit and query.all_terms != query.exact_terms:
            self.add("all", 2, query.all_terms, query, self.all_terms(query.all_terms))
        corrected = None if self.hits else self.corrected(query)
        if corrected is not None:
            self.add("fuzzy", 1, corrected.all_terms, corrected, self.all_terms(corrected.all_terms))
        if len(self.hits) < self.limit and len(query.terms) > 1:
            self.add("any", 0, query.any_term, query, self.any_term(query))
        return list(self.hits.values())

    def add(self, mode: str, band: int, match: str, query: Query, found: list[_Found]) -> None:
        """Take the best of a stage that earlier stages did not find. The score is band + (0 to 1)."""
        new = [one for one in found if one.rowid not in self.hits]
        best = self.ranked(new)[: self.limit - len(self.hits)]
        shown = self.shown(match, query, [one.rowid for one in best])
        for one in best:
            if one.rowid in shown:  # another process may have removed it since
                source, ref, kind, at, title, snippet = shown[one.rowid]
                score = round(band + one.score / (1.0 + one.score), 9)
                self.hits[one.rowid] = Hit(source, ref, kind, at, title, score, snippet, mode)

    def all_terms(self, match: str) -> list[_Found]:
        """Documents that match, by bm25; of a match too common for it the newest, titles first."""
        rows = self.count(match, COMMON_ROWS + 1)
        if rows == 0:
            return []
        if rows > COMMON_ROWS and not self.kept.narrow:
            return self.newest(match)
        sql = f"""
            SELECT d.rowid, -bm25(documents_fts, {FIELD_WEIGHTS}) AS score
            FROM documents_fts CROSS JOIN documents d ON d.rowid = documents_fts.rowid
            WHERE documents_fts MATCH ? AND {self.kept.sql} ORDER BY score DESC, d.ref LIMIT ?"""
        found = self.db.execute(sql, (match, *self.kept.params, self.candidates))
        return [_Found(rowid, max(score, 0.0)) for rowid, score in found]

    def newest(self, match: str) -> list[_Found]:
        """The newest of each source, by turns; those with the match in the title before the others."""
        sql = f"""
            SELECT d.rowid FROM documents_fts CROSS JOIN documents d ON d.rowid = documents_fts.rowid
            WHERE documents_fts MATCH ? AND documents_fts.rowid BETWEEN ? AND ? AND {self.kept.sql}
            ORDER BY documents_fts.rowid DESC LIMIT ?"""
        most = max(NEWEST_ROWS, self.limit)
        found: dict[int, float] = {}
        for source in reversed(self.kept.sources):
            for score, expression in ((TITLE_WEIGHT, f"{{title}} : ({match})"), (1.0, match)):
                values = (expression, *rowid_range(source), *self.kept.params, most)
                for place, (rowid,) in enumerate(self.db.execute(sql, values)):
                    found.setdefault(rowid, score - 0.5 * place / most)
        return [_Found(rowid, score) for rowid, score in found.items()]

    def any_term(self, query: Query) -> list[_Found]:
        """Documents that match at least FLOOR of the query's weight, with one term that is not ubiquitous."""
        total = self.total()
        parts = [self.weighted(term, total) for term in query.terms]
        floor = FLOOR * sum(part.weight for part in parts)
        known = [part for part in parts if part.documents]
        telling = [part for part in known if part.documents <= max(3.0, UBIQUITOUS * total)]
        partial = [part for part in known if part not in telling or part.documents > TERM_ROWS]
        scores: dict[int, float] = {}
        listed: dict[str, set[int]] = {}
        for part in telling:
            listed[part.match] = set(self.newest_rows(part.match))
            for rowid in listed[part.match]:
                scores[rowid] = scores.get(rowid, 0.0) + part.weight
        least = floor - sum(part.weight for part in partial)
        best = self.heaviest({rowid: score for rowid, score in scores.items() if score >= least - 1e-9})
        for part in partial:
            for rowid in self.matching(part, set(best) - listed.get(part.match, set())):
                best[rowid] += part.weight
        passed = {rowid: score for rowid, score in best.items() if score >= floor - 1e-9}
        return self.titled(passed, known, floor / FLOOR)

    def titled(self, scores: dict[int, float], known: list[_Part], whole: float) -> list[_Found]:
        """Scores as parts of the whole weight, more for a word that stands in the title."""
        found = []
        titles = self.db.execute(f"SELECT rowid, title FROM documents WHERE rowid IN ({_numbers(scores)})")
        for rowid, title in titles:
            low = title.lower()
            there = sum(part.weight for part in known if any(word in low for word in part.term.literals))
            found.append(_Found(rowid, (scores[rowid] + (TITLE_WEIGHT - 1.0) * there) / whole))
        return found

    def weighted(self, term: Term, total: int) -> _Part:
        """The term, loosely only if nothing has it whole, with its inverse document frequency."""
        match, count = term.match, self.count(term.match)
        if not count and term.loose:
            match, count = term.loose, self.count(term.loose)
        return _Part(term, match, count, math.log1p(max(0.5, total - count + 0.5) / (count + 0.5)))

    def total(self) -> int:
        """How many documents there are, about: removed ones may count."""
        newest = "SELECT max(rowid) FROM documents WHERE rowid BETWEEN ? AND ?"
        ranges = [rowid_range(source) for source in SOURCES]
        return sum((self.db.execute(newest, r).fetchone()[0] or r[0]) - r[0] for r in ranges)

    def count(self, match: str, most: int = COUNTED_ROWS) -> int:
        probe = "SELECT count(*) FROM (SELECT 1 FROM documents_fts WHERE documents_fts MATCH ? LIMIT ?)"
        return int(self.db.execute(probe, (match, most)).fetchone()[0])

    def newest_rows(self, match: str) -> list[int]:
        sql = """SELECT rowid FROM documents_fts WHERE documents_fts MATCH ? AND rowid BETWEEN ? AND ?
            ORDER BY rowid DESC LIMIT ?"""
        low, high = rowid_range(self.kept.sources[0])[0], rowid_range(self.kept.sources[-1])[1]
        return [rowid for (rowid,) in self.db.execute(sql, (match, low, high, TERM_ROWS))]

    def heaviest(self, scores: dict[int, float]) -> dict[int, float]:
        """Those that pass the filter, the heaviest of them, at most WEIGHED."""
        order = sorted(scores, key=lambda rowid: (-scores[rowid], -rowid))
        best: dict[int, float] = {}
        for start in range(0, len(order), 500):
            ids = _numbers(order[start : start + 500])
            sql = f"SELECT d.rowid FROM documents d WHERE d.rowid IN ({ids}) AND {self.kept.sql}"
            passed = {rowid for (rowid,) in self.db.execute(sql, self.kept.params)}
            best.update((rowid, scores[rowid]) for rowid in order[start : start + 500] if rowid in passed)
            if len(best) >= max(WEIGHED, self.candidates):
                break
        return best

    def matching(self, part: _Part, rowids: set[int]) -> list[int]:
        """Those of the rowids that match."""
        ids = _numbers(sorted(rowids))
        column = "rowid" if part.documents > SEEK_ROWS * len(rowids) else "+rowid"
        sql = f"SELECT rowid FROM documents_fts WHERE documents_fts MATCH ? AND {column} IN ({ids})"
        return [rowid for (rowid,) in self.db.execute(sql, (part.match,))]

    def corrected(self, query: Query) -> Query | None:
        """The query with each word that no document has replaced by its likeliest spellings."""
        likely = tuple(self.corrected_term(term) for term in query.terms)
        return None if likely == query.terms else Query(likely)

    def corrected_term(self, term: Term) -> Term:
        word = terms.without_diacritics(term.word)
        if not term.plain or len(word) < 4 or self.count(term.loose or term.match):
            return term
        start, end = word[:2], word[:2] + "\U0010ffff"  # no letter is above it
        sql = "SELECT term, doc FROM documents_vocabulary WHERE term >= ? AND term < ?"
        spellings = terms.closest(word, self.db.execute(sql, (start, end)).fetchall())
        if not spellings:
            return term
        match = " OR ".join(f'"{spelling}"' for spelling in spellings)
        return Term(term.word, f"({match})", tuple(spellings))

    def ranked(self, found: list[_Found]) -> list[_Found]:
        """Lifted by recency and shared paths; best first, ties by ref."""
        if not found:
            return []
        ids = _numbers(one.rowid for one in found)
        scores = {one.rowid: one.score for one in found}
        near = self.near(ids)
        ranked = []
        for rowid, ref, at in self.db.execute(f"SELECT rowid, ref, at FROM documents WHERE rowid IN ({ids})"):
            lift = 1.0 + near.get(rowid, 0.0)
            if self.now is not None and at is not None:
                lift += RECENCY_LIFT * 0.5 ** (max(0, self.now - at) / DAY / RECENCY_DAYS)
            ranked.append(_Found(rowid, scores[rowid] * lift, ref))
        return sorted(ranked, key=lambda one: (-round(one.score, 9), one.ref, one.rowid))

    def near(self, ids: str) -> dict[int, float]:
        """rowid -> lift of the documents that share a path, or a folder, with `boost_paths`."""
        paths = self.boost_paths
        same = f"SELECT DISTINCT document FROM document_paths WHERE document IN ({ids})"
        lifts: dict[int, float] = {}
        for folder in sorted({path.rpartition("/")[0] for path in paths} - {""}):
            for (rowid,) in self.db.execute(f"{same} AND path >= ? AND path < ?", _below(folder)):
                lifts[rowid] = FOLDER_LIFT
        if paths:
            for (rowid,) in self.db.execute(f"{same} AND path IN ({_marks(paths)})", paths):
                lifts[rowid] = PATH_LIFT
        return lifts

    def shown(self, match: str, query: Query, rowids: list[int]) -> dict[int, _Shown]:
        """rowid -> source, ref, kind, at, title, snippet."""
        ids = _numbers(rowids)
        parts = ", ".join(f"snippet(documents_fts, {column}, ?, ?, '\u2026', {SNIPPET_TOKENS})" for column in (1, 0, 2))
        sql = f"""
            SELECT d.rowid, d.source, d.ref, d.kind, d.at, d.title, {parts}
            FROM documents_fts CROSS JOIN documents d ON d.rowid = documents_fts.rowid
            WHERE documents_fts MATCH ? AND documents_fts.rowid IN ({ids})"""
        found: dict[int, _Shown] = {}
        for rowid, source, ref, kind, at, title, *texts in self.db.execute(sql, (*(terms.BEGIN, terms.END) * 3, match)):
            marked = next((text for text in texts if terms.BEGIN in text), None)
            snippet = self.literal(rowid, query) if marked is None else terms.excerpt(*terms.spans_of(marked))
            found[rowid] = (source, ref, kind, at, title, snippet)
        return found

    def literal(self, rowid: int, query: Query) -> str:
        """A snippet of what was found through `extra`."""
        row = self.db.execute("SELECT body, title, paths FROM documents_fts WHERE rowid = ?", (rowid,)).fetchone()
        return terms.literal_excerpt(row or (), {word for term in query.terms for word in term.literals})
