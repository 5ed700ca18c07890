"""Write a small history from rows, and ask it without the process around a query."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from duckdb import DuckDBPyConnection

from backstory.history.sandbox import answer
from backstory.history.schema import TABLES
from backstory.history.store import Building

Row = Mapping[str, Any]
Build = Callable[..., str]


def write_history(folder: str, tables: Mapping[str, Sequence[Row]], statements: Iterable[str] = ()) -> None:
    """Publish a history with every table and these rows; a column that a row leaves out is NULL."""
    building = Building(folder)
    with building as db:
        for table in TABLES.values():
            db.execute(table.ddl())
        for name, rows in tables.items():
            for row in rows:
                marks = ", ".join("?" * len(row))
                db.execute(f"INSERT INTO {name} ({', '.join(row)}) VALUES ({marks})", list(row.values()))
        for statement in statements:
            db.execute(statement)
        building.publish({})


def ask(db: DuckDBPyConnection, sql: str, rows: int = 100) -> list[tuple[Any, ...]]:
    """The rows that the query's own process would write, from this one."""
    return [tuple(json.loads(line)) for line in list(answer(db, sql, rows))[1:-1]]
