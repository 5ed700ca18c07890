"""What search looks through: one row for each entry, ticket, run record, commit, pull request and session.

A document is known by (source, ref). Its row, its paths and its words change together; the caller holds the
transaction. `documents.rowid` is `source number << 40 | running number`, so that full text, which is read in
rowid order, reads the documents of one source in the order in which they came.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

Row = tuple[str, str, str, int | None, str, str, Sequence[str]]
"""source, ref, kind, at (microseconds since the epoch, UTC), title, body, paths (with /, from the root)."""

# Position is part of the rowid: append only. Read from the last to the first where only some can be read.
SOURCES = ("session", "commit", "pull_request", "run_record", "ticket", "entry")
SOURCE_SHIFT = 40

# A document may touch any number of paths; those beyond this many are filtered by, but are not words.
MAX_PATHS_AS_TEXT = 1_000

# Marks are letters here (M*): without them unicode61 cuts Devanagari, Thai and their like at each vowel sign.
TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"

DOCUMENT_TABLES = (
    """CREATE TABLE documents (  -- what search looks through, one row for each thing found
        rowid INTEGER PRIMARY KEY,  -- source number << 40 | running number; the same in documents_fts
        source TEXT NOT NULL,  -- entry, ticket, run_record, commit, pull_request or session
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
    f"""CREATE VIRTUAL TABLE documents_fts USING fts5(  -- the words of a document, text kept for snippets
        title,  -- as in documents
        body,  -- the rest of its text
        paths,  -- its paths, one a line
        extra,  -- parts of identifiers, character pairs of unspaced scripts, names made of symbols
        tokenize = "{TOKENIZER}"
    )""",
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
            rowid = following.get(source) or _next_rowid(db, source)
            following[source] = rowid + 1
        _insert(db, rowid, row)


def remove(db: sqlite3.Connection, source: str, ref: str) -> None:
    """Forget a document, its paths and its words. Nothing happens when there is none."""
    from backstory.index.terms import clean

    rowid = _rowid(db, source, clean(ref))
    if rowid is not None:
        _erase(db, rowid)


def rowid_range(source: str) -> tuple[int, int]:
    """The first and the last rowid a document of this source can have. ValueError for an unknown source."""
    if source not in SOURCES:
        raise ValueError(f"unknown source {source!r}")
    first = SOURCES.index(source) << SOURCE_SHIFT
    return first, first + (1 << SOURCE_SHIFT) - 1


def _rowid(db: sqlite3.Connection, source: str, ref: str) -> int | None:
    found = db.execute("SELECT rowid FROM documents WHERE source = ? AND ref = ?", (source, ref)).fetchone()
    return None if found is None else int(found[0])


def _next_rowid(db: sqlite3.Connection, source: str) -> int:
    first, last = rowid_range(source)
    query = "SELECT coalesce(max(rowid), ?) + 1 FROM documents WHERE rowid BETWEEN ? AND ?"
    return int(db.execute(query, (first, first, last)).fetchone()[0])


def _erase(db: sqlite3.Connection, rowid: int) -> None:
    db.execute("DELETE FROM documents WHERE rowid = ?", (rowid,))
    db.execute("DELETE FROM document_paths WHERE document = ?", (rowid,))
    db.execute("DELETE FROM documents_fts WHERE rowid = ?", (rowid,))


def _insert(db: sqlite3.Connection, rowid: int, row: Row) -> None:
    from backstory.index.terms import clean, extra_terms

    source, ref, kind, at, title, body, paths = row
    title, body = clean(title), clean(body)
    distinct = list(dict.fromkeys(clean(path) for path in paths))
    words = "\n".join(distinct[:MAX_PATHS_AS_TEXT])
    db.execute(
        "INSERT INTO documents (rowid, source, ref, kind, at, title) VALUES (?, ?, ?, ?, ?, ?)",
        (rowid, source, clean(ref), kind, at, title),
    )
    db.executemany("INSERT INTO document_paths (path, document) VALUES (?, ?)", ((path, rowid) for path in distinct))
    db.execute(
        "INSERT INTO documents_fts (rowid, title, body, paths, extra) VALUES (?, ?, ?, ?, ?)",
        (rowid, title, body, words, extra_terms(title, body, words)),
    )
