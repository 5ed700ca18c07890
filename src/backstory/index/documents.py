"""What search looks through: one row for each entry, ticket, run record, commit, pull request and session.

A document is known by (source, ref). Its row, its paths and its words change together; the caller holds the
transaction. `documents.rowid` is `source number << 40 | running number`, so that full text, which is read in
rowid order, reads the documents of one source in the order in which they came.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import islice

Row = tuple[str, str, str, int | None, str, str, Sequence[str]]
"""source, ref, kind, at (microseconds since the epoch, UTC), title, body, paths (with /, from the root)."""

# Position is part of the rowid: append only. Read from the last to the first where only some can be read.
SOURCES = ("session", "commit", "pull_request", "run_record", "ticket", "entry", "lesson")
SOURCE_SHIFT = 40

# A document may touch any number of paths; those beyond this many are filtered by, but are not words.
MAX_PATHS_AS_TEXT = 1_000

# Documents written at once.
BATCH = 1_000

# Marks are letters here (M*): without them unicode61 cuts Devanagari, Thai and their like at each vowel sign.
TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"

FTS_TABLE = f"""CREATE VIRTUAL TABLE documents_fts USING fts5(  -- the words of a document, text kept for snippets
        title,  -- as in documents
        body,  -- the rest of its text
        paths,  -- its paths, one a line
        extra,  -- parts of identifiers, character pairs of unspaced scripts, names made of symbols
        tokenize = "{TOKENIZER}"
    )"""

DOCUMENT_TABLES = (
    """CREATE TABLE documents (  -- what search looks through, one row for each thing found
        rowid INTEGER PRIMARY KEY,  -- source number << 40 | running number; the same in documents_fts
        source TEXT NOT NULL,  -- entry, lesson, ticket, run_record, commit, pull_request or session
        ref TEXT NOT NULL,  -- its id within the source
        kind TEXT NOT NULL,  -- its kind within the source
        at INTEGER,  -- when it happened, microseconds since the epoch, UTC; NULL when not known
        title TEXT NOT NULL,  -- one line that names it
        UNIQUE (source, ref)
    )""",
    """CREATE TABLE document_paths (  -- the files a document is about
        path TEXT NOT NULL,  -- from the root of the repository, with /
        document INTEGER NOT NULL,  -- documents.rowid
        PRIMARY KEY (path, document)
    ) WITHOUT ROWID""",
    """CREATE INDEX document_paths_by_document  -- for removal, for the path filter and for lifting
        ON document_paths (document, path)""",
    FTS_TABLE,
    """CREATE VIRTUAL TABLE documents_vocabulary USING fts5vocab(documents_fts, row)  -- its stems, for misspellings
    """,
)


def put(
    db: sqlite3.Connection,
    source: str,
    ref: str,
    kind: str,
    at: int | None,
    title: str,
    body: str,
    paths: Sequence[str],
) -> None:
    """Insert a document, or replace the one of the same source and ref. ValueError for an unknown source."""
    put_many(db, ((source, ref, kind, at, title, body, paths),))


def put_many(db: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """`put` each row, in order."""
    from backstory.index.terms import clean  # not at the top: hooks read the schema, which needs no words

    following: dict[str, int] = {}
    for row in rows:
        source, ref = row[0], clean(row[1])
        known = _rowid(db, source, ref)
        if known is not None:
            _erase(db, known)
            rowid = known
        else:
            rowid = following.get(source) or next_rowid(db, source)
            following[source] = rowid + 1
        _insert(db, [(rowid, row)])


def append_many(db: sqlite3.Connection, rows: Iterable[Row], *, first: int | None = None) -> None:
    """Insert documents that are not there yet, in order; the rows are read as they are needed.

    `first` is the number of the first one, for who writes the later ones before the earlier ones; without it they
    follow the last one of their source. `sqlite3.IntegrityError` for a document that is there already: its batch
    is half written then, and the caller rolls back.
    """
    following: dict[str, int] = {}
    stream = iter(rows)
    while batch := list(islice(stream, BATCH)):
        numbered = []
        for row in batch:
            source = row[0]
            if first is None:
                rowid = following.get(source) or next_rowid(db, source)
                following[source] = rowid + 1
            else:
                rowid, first = first, first + 1
            numbered.append((rowid, row))
        _insert(db, numbered)


def remove(db: sqlite3.Connection, source: str, ref: str) -> None:
    """Forget a document, its paths and its words. Nothing happens when there is none."""
    from backstory.index.terms import clean

    rowid = _rowid(db, source, clean(ref))
    if rowid is not None:
        _erase(db, rowid)


def remove_source(db: sqlite3.Connection, source: str) -> None:
    """Forget every document of a source. Costs what the smaller part costs: these documents, or all others."""
    span = rowid_range(source)
    going = db.execute("SELECT count(*) FROM documents WHERE rowid BETWEEN ? AND ?", span).fetchone()[0]
    if not going:
        return
    staying = db.execute("SELECT count(*) FROM documents WHERE rowid NOT BETWEEN ? AND ?", span).fetchone()[0]
    db.execute("DELETE FROM documents WHERE rowid BETWEEN ? AND ?", span)
    db.execute("DELETE FROM document_paths WHERE document BETWEEN ? AND ?", span)
    if going < staying:
        db.execute("DELETE FROM documents_fts WHERE rowid BETWEEN ? AND ?", span)
    else:
        _keep_words(db, span)


def refs(db: sqlite3.Connection, source: str) -> set[str]:
    """The refs of all documents of a source."""
    return {ref for (ref,) in db.execute("SELECT ref FROM documents WHERE source = ?", (source,))}


def rowid_range(source: str) -> tuple[int, int]:
    """The first and the last rowid a document of this source can have. ValueError for an unknown source."""
    if source not in SOURCES:
        raise ValueError(f"unknown source {source!r}")
    first = SOURCES.index(source) << SOURCE_SHIFT
    return first, first + (1 << SOURCE_SHIFT) - 1


def next_rowid(db: sqlite3.Connection, source: str) -> int:
    """The number that the next document of this source gets. ValueError for an unknown source."""
    first, last = rowid_range(source)
    query = "SELECT coalesce(max(rowid), ?) + 1 FROM documents WHERE rowid BETWEEN ? AND ?"
    return int(db.execute(query, (first, first, last)).fetchone()[0])


def _rowid(db: sqlite3.Connection, source: str, ref: str) -> int | None:
    found = db.execute("SELECT rowid FROM documents WHERE source = ? AND ref = ?", (source, ref)).fetchone()
    return None if found is None else int(found[0])


def _erase(db: sqlite3.Connection, rowid: int) -> None:
    db.execute("DELETE FROM documents WHERE rowid = ?", (rowid,))
    db.execute("DELETE FROM document_paths WHERE document = ?", (rowid,))
    db.execute("DELETE FROM documents_fts WHERE rowid = ?", (rowid,))


def _keep_words(db: sqlite3.Connection, span: tuple[int, int]) -> None:
    """Make full text anew without a span of rowids: taking 82,000 commits out one by one costs as much as a refresh."""
    db.execute("DROP TABLE IF EXISTS temp.kept_documents")
    db.execute(
        "CREATE TEMP TABLE kept_documents AS SELECT rowid AS number, title, body, paths, extra FROM documents_fts"
        " WHERE rowid NOT BETWEEN ? AND ?",
        span,
    )
    db.execute("DROP TABLE documents_fts")
    db.execute(FTS_TABLE)
    db.execute(f"{_INSERT_WORDS} SELECT number, title, body, paths, extra FROM kept_documents ORDER BY number")
    db.execute("DROP TABLE temp.kept_documents")


_INSERT_WORDS = "INSERT INTO documents_fts (rowid, title, body, paths, extra)"


def _insert(db: sqlite3.Connection, numbered: Sequence[tuple[int, Row]]) -> None:
    """Write the rows under their rowids. One table after the other, since rows of all three at once are three times
    as many pages as the cache of a connection holds: 82,000 commits took 15 s that way, and 6 s this way."""
    from backstory.index.terms import clean, extra_terms_of_clean

    documents, pairs, words = [], [], []
    for rowid, (source, ref, kind, at, raw_title, raw_body, paths) in numbered:
        title, body = clean(raw_title), clean(raw_body)
        distinct = list(dict.fromkeys(map(clean, paths)))
        text = "\n".join(distinct[:MAX_PATHS_AS_TEXT])
        documents.append((rowid, source, clean(ref), kind, at, title))
        pairs += [(path, rowid) for path in distinct]
        words.append((rowid, title, body, text, extra_terms_of_clean(title, body, text)))
    db.executemany("INSERT INTO documents (rowid, source, ref, kind, at, title) VALUES (?, ?, ?, ?, ?, ?)", documents)
    db.executemany("INSERT INTO document_paths (path, document) VALUES (?, ?)", sorted(pairs))
    db.executemany(f"{_INSERT_WORDS} VALUES (?, ?, ?, ?, ?)", words)
