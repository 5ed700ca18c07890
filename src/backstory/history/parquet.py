"""Writes rows of text as a Parquet file."""

from __future__ import annotations

import os
from collections.abc import Sequence

import duckdb


def write(path: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of text columns at `path`. `OSError` where it cannot be written."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    names = ", ".join(f'"{name}" VARCHAR' for name in columns)
    quoted = path.replace("'", "''")
    with duckdb.connect(":memory:") as db:
        db.execute(f"CREATE TABLE entries ({names})")
        if rows:
            db.executemany(f"INSERT INTO entries VALUES ({', '.join('?' * len(columns))})", rows)
        try:
            db.execute(f"COPY entries TO '{quoted}' (FORMAT parquet)")
        except duckdb.Error as error:
            raise OSError(str(error).splitlines()[0]) from error
