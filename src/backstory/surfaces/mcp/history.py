"""`query_history`: the rows of one SELECT, as data and as lines inside the fence."""

from __future__ import annotations

from typing import Any

import msgspec

from backstory.project.fencing import inert
from backstory.project.history.asking import Limits, ensure, query
from backstory.project.opened import Project
from backstory.records.hostile import fenced
from backstory.surfaces.mcp.entries import CHARACTERS
from backstory.surfaces.mcp.replies import Reply, text_of

_CELL = 400


def query_history(project: Project, sql: str, rows: int) -> Reply:
    """The answer of `sql`, as many rows as a reply has room for."""
    ensure(project)
    found = query(project, sql, Limits(rows=rows))
    shown = _fitting(found.rows)
    more = found.more or len(shown) < len(found.rows)
    columns = [fenced(name, 100) for name in found.columns]
    lines = [f"  columns: {' | '.join(columns)}", *(f"- {' | '.join(_cell(value) for value in row)}" for row in shown)]
    head = f"{len(shown)} rows." if len(shown) != 1 else "1 row."
    after = ["There are more rows: aggregate, or add LIMIT and OFFSET."] if more else []
    data = {"columns": columns, "rows": inert(shown), "more": more}
    return Reply(data, text_of(head, project.config.name, lines if shown else [], after))


def _fitting(rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    kept: list[list[Any]] = []
    room = CHARACTERS
    for row in rows:
        room -= len(msgspec.json.encode(row))
        if room < 0 and kept:
            break
        kept.append(list(row))
    return kept


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return fenced(text, _CELL)
