"""How queries, their answers and the tables are written out: one place for every surface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from backstory.history import output
from backstory.history.examples import EXAMPLES
from backstory.history.query import Result


class Rows(msgspec.Struct, frozen=True):
    """The answer of a query; `more` when the limit cut rows off. With `--schema` and `--examples` it is a list."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[Any, ...]
    more: bool


_FORMATS: dict[str, Callable[[Result], Iterator[str]]] = {
    "csv": output.csv,
    "json": output.as_json,
    "markdown": output.markdown,
}


def result_lines(result: Result, form: str, width: int) -> Iterator[str]:
    """The answer as a table (at most `width` columns, 0 for any), CSV, JSON or Markdown."""
    lines = output.table(result, width) if form == "table" else _FORMATS[form](result)
    return (line.rstrip() for line in lines) if form == "table" else lines


def result_json(result: Result) -> Rows:
    """The answer as one object."""
    return Rows(result.columns, result.types, tuple(result.rows), result.more)


def schema_text(width: int) -> Iterator[str]:
    """The tables and what their columns mean, for a terminal."""
    yield from output.schema_text(width)
    yield ""
    yield "vectors(source, ref, model, text_hash, embedding): only where search by meaning is set up"


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
