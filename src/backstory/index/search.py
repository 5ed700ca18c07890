"""Full-text search over every source, in one ranked list.

Stages, each only while hits are missing: all terms; all terms, identifiers by their parts and the last word as a
prefix; misspellings forgiven, when nothing was found; any term, above a floor of relevance. Hits of an earlier
stage come first. No user text raises, and a query that is like nothing here finds nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from backstory.index import filters, terms, weighing
from backstory.index.anyterm import AnyTerm
from backstory.index.documents import rowid_range
from backstory.index.filters import Filter, numbers
from backstory.index.lifting import Lift
from backstory.index.snippets import Snippets, Texts
from backstory.index.spelling import closest
from backstory.index.terms import Query, Term, clean
from backstory.index.weighing import FIELD_WEIGHTS

TITLE_WEIGHT = 2.0

# bm25 costs 1.2 us for each matching row, reading rows without it 0.1 us (1,000,000 commit messages, SQLite
# 3.40): "fix", in 27 % of them, took 359 ms. Above this many rows the newest of each source are taken instead.
COMMON_ROWS = 10_000
NEWEST_ROWS = 100
CANDIDATES = 200
# Of the rows that match a query with common terms, the newest that bm25 is asked about.
MATCHING_ROWS = 2_000
MAX_LIMIT = 1_000

# A last word that more documents have is no beginning of another: what begins with it would be read whole, 30 ms at
# a million documents.
WHOLE_WORDS = 1_000


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
    texts: TextsOf | None = None,
) -> list[Hit]:
    """The best documents for a text, best first, at most `limit`; none for empty or symbol-only text.

    `path` keeps documents of that path or below that folder; `since <= at < until`. `where` is a trusted SQL
    condition over alias `d` (documents) with its `params`. `now` lifts what is recent, `boost_paths` what shares
    a path or, less, a folder. `texts` gives (body, title, paths) of documents whose text is not kept here, for
    snippets. Ties go by ref.
    """
    query = terms.parse_query(text)
    if limit < 1 or not query.terms:
        return []
    kept = filters.made(db, {"source": sources, "kind": kinds}, path, since, until, (where, tuple(params)))
    near = tuple(clean(path) for path in boost_paths)
    with closing(Snippets()) as snippets:
        return _Search(db, kept, min(limit, MAX_LIMIT), Lift(db, kept, near, now), snippets, texts).run(query)


TextsOf = Callable[[Sequence[int]], Mapping[int, Texts]]
_Shown = tuple[str, str, str, "int | None", str, str]


class _Search:
    """One search: the stages share the connection, the filter and the number of hits wanted."""

    def __init__(
        self, db: sqlite3.Connection, kept: Filter, limit: int, lift: Lift, snippets: Snippets,
        texts: TextsOf | None,
    ) -> None:  # fmt: skip
        self.db, self.kept, self.limit, self.lift, self.snippets = db, kept, limit, lift, snippets
        self.texts = texts
        self.scale = lift.scale
        self.candidates = max(CANDIDATES, 2 * limit)
        self.hits: dict[int, Hit] = {}

    def run(self, query: Query) -> list[Hit]:
        """Every stage in its order, until there are enough hits."""
        exact = [term.match for term in query.terms]
        self.add("all", 3, exact, query, self.all_terms(query, exact))
        wider = [self.wider(term) for term in query.terms]
        if len(self.hits) < self.limit and wider != exact:
            self.add("all", 2, wider, query, self.all_terms(query, wider))
        corrected = None if self.hits else self.corrected(query)
        if corrected is not None:
            likely = [self.wider(term) for term in corrected.terms]
            self.add("fuzzy", 1, likely, corrected, self.all_terms(corrected, likely))
        if len(self.hits) < self.limit and len(query.terms) > 1:
            stage = AnyTerm(self.scale, self.kept, self.lift.sharers, self.candidates)
            self.add("any", 0, [term.widest for term in query.terms], query, stage.scores(query.terms))
        return list(self.hits.values())

    def wider(self, term: Term) -> str:
        """The term by its parts, and as the beginning of a word unless it is known to be a word of its own."""
        whole = term.prefix and self.scale.count(term.match) > WHOLE_WORDS
        return term.loose or term.match if whole else term.widest

    def add(self, mode: str, band: int, matches: list[str], query: Query, found: Mapping[int, float]) -> None:
        """Take the best of a stage that earlier stages did not find. The score is band + (0 to 1)."""
        new = {rowid: score for rowid, score in found.items() if rowid not in self.hits}
        best = self.lift.ranked(new)[: self.limit - len(self.hits)]
        shown = self.shown(matches, query, [one.rowid for one in best])
        for one in best:
            if one.rowid in shown:  # another process may have removed it since
                source, ref, kind, at, title, snippet = shown[one.rowid]
                score = round(band + one.score / (1.0 + one.score), 9)
                self.hits[one.rowid] = Hit(source, ref, kind, at, title, score, snippet, mode)

    def all_terms(self, query: Query, matches: list[str]) -> dict[int, float]:
        """Documents that match all, by bm25; of a match too common for it the newest, titles first."""
        parts = [self.scale.part(match) for match in matches]
        match = " AND ".join(matches)
        if not all(part.documents for part in parts):
            return {}
        rare = weighing.rarer(parts)
        if self.kept.narrow or len(rare) == len(parts):
            return self.best(match)
        rows = weighing.matched(self.db, self.kept, match, COMMON_ROWS + 1)
        if len(rows) > COMMON_ROWS:
            return self.newest(match)
        rowids = weighing.passing(self.db, self.kept, rows, MATCHING_ROWS)
        return weighing.fits(self.db, rare, rowids) if rare else self.titled(query, rowids)

    def best(self, match: str) -> dict[int, float]:
        """The best by bm25, and the best of those that share files with the present work."""
        found = self.fitting(match, "1")
        if len(found) == self.candidates and self.lift.sharers:
            found |= self.fitting(match, f"+documents_fts.rowid IN ({numbers(sorted(self.lift.sharers))})")
        return found

    def fitting(self, match: str, condition: str) -> dict[int, float]:
        """The best by bm25 under a condition over `documents_fts`: what it leaves out costs no look at the filter."""
        sql = f"""
            SELECT d.rowid, -bm25(documents_fts, {FIELD_WEIGHTS}) AS score
            FROM documents_fts CROSS JOIN documents d ON d.rowid = documents_fts.rowid
            WHERE documents_fts MATCH ? AND {condition} AND {self.kept.sql} ORDER BY score DESC, d.ref LIMIT ?"""
        values = (match, *self.kept.params, self.candidates)
        return {rowid: max(score, 0.0) for rowid, score in self.db.execute(sql, values)}

    def titled(self, query: Query, rowids: list[int]) -> dict[int, float]:
        """Newer ones before older ones, and before both those that have every word in the title."""
        sql = f"SELECT rowid, lower(title) FROM documents WHERE rowid IN ({numbers(rowids)})"
        titles = dict(self.db.execute(sql))
        scores = {}
        for place, rowid in enumerate(rowids):
            there = all(term.literals[0] in titles.get(rowid, "") for term in query.terms)
            scores[rowid] = (TITLE_WEIGHT if there else 1.0) - 0.5 * place / len(rowids)
        return scores

    def newest(self, match: str) -> dict[int, float]:
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
        return found

    def corrected(self, query: Query) -> Query | None:
        """The query with each word that no document has replaced by its likeliest spellings."""
        likely = tuple(self.corrected_term(term) for term in query.terms)
        return None if likely == query.terms else Query(likely)

    def corrected_term(self, term: Term) -> Term:
        word = terms.without_diacritics(term.word)
        if not term.plain or len(word) < 4 or self.scale.count(term.widest):
            return term
        start, end = word[:2], word[:2] + "\U0010ffff"  # no letter is above it
        sql = "SELECT term, doc FROM documents_vocabulary WHERE term >= ? AND term < ?"
        spellings = closest(word, self.db.execute(sql, (start, end)).fetchall())
        if not spellings:
            return term
        match = " OR ".join(f'"{spelling}"' for spelling in spellings)
        return Term(term.word, f"({match})", tuple(spellings))

    def shown(self, matches: list[str], query: Query, rowids: list[int]) -> dict[int, _Shown]:
        """rowid -> source, ref, kind, at, title, snippet."""
        if not rowids:
            return {}
        sql = f"""
            SELECT d.rowid, d.source, d.ref, d.kind, d.at, d.title, f.body, f.paths
            FROM documents d JOIN documents_fts f ON f.rowid = d.rowid WHERE d.rowid IN ({numbers(rowids)})"""
        rows = self.db.execute(sql).fetchall()
        words = [word for term in query.terms for word in term.literals]
        told = (
            self.texts([row[0] for row in rows]) if self.texts else {row[0]: (row[6], row[5], row[7]) for row in rows}
        )
        snippets = self.snippets.of(told, " OR ".join(matches), words)
        return {row[0]: (*row[1:6], snippets[row[0]]) for row in rows}
