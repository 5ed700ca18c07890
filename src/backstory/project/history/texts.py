"""How queries, their answers and the tables are written out: one place for every surface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from backstory.history import output
from backstory.history.examples import EXAMPLES
from backstory.history.query import Result

_FORMATS: dict[str, Callable[[Result], Iterator[str]]] = {
    "csv": output.csv,
    "json": output.as_json,
    "markdown": output.markdown,
}


def result_lines(result: Result, form: str, width: int) -> Iterator[str]:
    """The answer as a table (at most `width` columns, 0 for any), CSV, JSON or Markdown."""
    return output.table(result, width) if form == "table" else _FORMATS[form](result)


def result_json(result: Result) -> dict[str, Any]:
    """The answer as one object."""
    return {
        "columns": list(result.columns),
        "types": list(result.types),
        "rows": [list(row) for row in result.rows],
        "more": result.more,
    }


def schema_text(width: int) -> Iterator[str]:
    """The tables and what their columns mean, for a terminal."""
    return output.schema_text(width)


def schema_json() -> list[dict[str, Any]]:
    """The same as objects."""
    return output.schema_json()


def examples_text() -> Iterator[str]:
    """Ten queries to begin with."""
    for place, example in enumerate(EXAMPLES):
        yield from [""] * bool(place)
        yield f"-- {example.title}: {example.question}"
        yield example.sql.strip()


def examples_json() -> list[dict[str, str]]:
    """The same as objects."""
    return [{"title": one.title, "question": one.question, "sql": one.sql} for one in EXAMPLES]
