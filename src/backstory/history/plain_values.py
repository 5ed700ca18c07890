"""Values of a query as plain values: None, truth, numbers, text, lists and dictionaries.

Python has no value for an infinite or far instant, for months in an interval, or for nanoseconds, and the client of
DuckDB rounds such values to what Python has, or fails. So they leave DuckDB as text. Instants are ISO 8601 with `Z`. A
decimal that a float cannot hold is text; keys of a map are text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from duckdb.sqltypes import DuckDBPyType

_INSTANT = re.compile(r"(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?")
_TEXT = frozenset("date interval blob bit bignum uuid geometry".split())
_JSON = frozenset("tuple union variant".split())


class Plain(NamedTuple):
    """How values of a type become plain: the type that DuckDB casts them to, if any, then the function, if any."""

    sql: str | None = None
    change: Callable[[Any], Any] | None = None

    def value(self, value: Any) -> Any:
        """The plain value of what DuckDB gives."""
        return value if value is None or self.change is None else self.change(value)


def plain(kind: DuckDBPyType) -> Plain:
    """How values of `kind` become plain, down to the values inside of it."""
    name = kind.id
    if name in _JSON:
        return Plain("JSON", json.loads)
    if name.startswith("timestamp"):
        return Plain("VARCHAR", _instant)
    if name in _TEXT or name.startswith("time"):
        return Plain("VARCHAR")
    if name in ("list", "array"):
        return _list(kind)
    if name == "map":
        return _map(kind)
    return _struct(kind) if name == "struct" else Plain()


def _list(kind: DuckDBPyType) -> Plain:
    ((_, inner), *_) = _inside(kind)
    item = plain(inner)
    return Plain(f"{item.sql or inner}[]", lambda values: [item.value(value) for value in values])


def _map(kind: DuckDBPyType) -> Plain:
    (_, key), (_, inner) = _inside(kind)
    name, item = plain(key), plain(inner)
    change = name.change if name.change is _instant else str
    return Plain(
        f"MAP(VARCHAR, {item.sql or inner})", lambda pairs: {change(key): item.value(pairs[key]) for key in pairs}
    )


def _struct(kind: DuckDBPyType) -> Plain:
    inside = _inside(kind)
    items = {name: plain(inner) for name, inner in inside}
    fields = ('"' + name.replace('"', '""') + f'" {items[name].sql or inner}' for name, inner in inside)
    return Plain(
        f"STRUCT({', '.join(fields)})", lambda values: {name: items[name].value(values[name]) for name in values}
    )


def _inside(kind: DuckDBPyType) -> list[tuple[str, DuckDBPyType]]:
    return kind.children  # type: ignore[return-value]


def _instant(text: str) -> str:
    match = _INSTANT.fullmatch(text)
    return f"{match[1]}T{match[2]}Z" if match else text


def to_line(value: Any) -> bytes:
    """One line of JSON. Numbers that are none stay as Python writes them (`NaN`)."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_number).encode()


def _number(value: Decimal) -> float | str:
    number = float(value)
    return number if Decimal(repr(number)) == value else str(value)
