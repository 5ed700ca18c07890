"""Vectors that were made once, kept beside the history by model and hash of the text.

What a provider was paid for, or a local model worked for, is not asked for twice: not after an interruption, not when
the history is built anew, not on another branch. Derived all the same: `<history>/embeddings.sqlite` may be deleted at
any time, and a damaged one is begun anew. It holds hashes and numbers, no text and no key.
"""

from __future__ import annotations

import os
import sqlite3
from array import array
from collections.abc import Collection, Iterable, Mapping
from types import TracebackType

from backstory.errors import BackstoryError
from backstory.history.embedders.contract import Vector

NAME = "embeddings.sqlite"
_BUSY_SECONDS = 30
_AT_ONCE = 500
_COLUMNS = ("place", "model", "text_hash", "embedding")
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vectors (place INTEGER PRIMARY KEY, model TEXT NOT NULL, text_hash TEXT NOT NULL,"
    " embedding BLOB NOT NULL, UNIQUE (model, text_hash))"
)


class Kept:
    """The kept vectors of the history in `folder`, used as a context. `BackstoryError` where it cannot be written."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, NAME)
        os.makedirs(folder, exist_ok=True)
        try:
            self._db = self._open()
        except sqlite3.OperationalError as exc:
            raise _unusable(self._path, exc) from exc
        except sqlite3.DatabaseError:  # no database any more
            for name in (self._path, self._path + "-journal"):
                if os.path.exists(name):
                    os.unlink(name)
            self._db = self._open()

    def __enter__(self) -> Kept:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def get(self, model: str, hashes: Collection[str]) -> dict[str, Vector[float]]:
        """The vectors of `model` that are kept, of those asked for."""
        found: dict[str, Vector[float]] = {}
        wanted = sorted(hashes)
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            sql = f"SELECT text_hash, embedding FROM vectors WHERE model = ? AND text_hash IN ({marks})"
            for text_hash, data in self._db.execute(sql, (model, *some)):
                vector: Vector[float] = array("f")
                vector.frombytes(data[: len(data) // vector.itemsize * vector.itemsize])
                found[text_hash] = vector
        return found

    def put(self, model: str, vectors: Mapping[str, Vector[float]]) -> None:
        """Keep them. Once this has returned, a crash does not lose them."""
        rows = [(model, text_hash, vector.tobytes()) for text_hash, vector in vectors.items()]
        self._write("INSERT OR REPLACE INTO vectors (model, text_hash, embedding) VALUES (?, ?, ?)", rows)

    def prune(self, model: str, used: Collection[str]) -> int:
        """Drop the oldest of what is not in `used` until as much is unused as used, and 1,000; how many went.

        Another branch's texts are kept that way, and the file stays in proportion.
        """
        sql = "SELECT place, model, text_hash FROM vectors ORDER BY place DESC"
        wanted = set(used)
        unused = [place for place, by, text_hash in self._db.execute(sql) if by != model or text_hash not in wanted]
        surplus = unused[max(len(wanted), 1_000) :]
        self._write("DELETE FROM vectors WHERE place = ?", [(place,) for place in surplus])
        return len(surplus)

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            db.execute(_SCHEMA)
            if [row[1] for row in db.execute("PRAGMA table_info(vectors)")] != list(_COLUMNS):
                raise sqlite3.DatabaseError("a table of another shape")
            db.execute("SELECT place, embedding FROM vectors ORDER BY place DESC LIMIT 1").fetchall()
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _write(self, sql: str, rows: Iterable[tuple[object, ...]]) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.executemany(sql, rows)
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as exc:
            raise _unusable(self._path, exc) from exc


def _unusable(path: str, exc: sqlite3.Error) -> BackstoryError:
    return BackstoryError(f"The kept vectors cannot be used ({path}): {exc}.", hint="Free some space, or delete it.")
