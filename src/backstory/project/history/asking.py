"""Asking the history: queries, themes, grades. Each brings it up to date first, unless that is not wanted.

Texts of a query's answer are looked through for secrets, since what others wrote never was.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from backstory.history import query as guarded
from backstory.history import store
from backstory.history.grade import Grade
from backstory.history.grade import grade as grade_history
from backstory.history.query import Result
from backstory.project.history.refresh import Progress, is_current, refresh
from backstory.project.opened import Project
from backstory.records.secrets import redact

__all__ = ("Grade", "Limits", "Result", "Theme", "ensure", "grade", "known", "query", "themes")


class Theme(msgspec.Struct, frozen=True):
    """What recurs: its members are run records and trials, the most typical first."""

    theme: str
    label: str
    size: int
    terms: tuple[str, ...]
    first_at: str
    last_at: str
    recent: int
    drift: str
    members: tuple[dict[str, Any], ...]


class Limits(NamedTuple):
    """The bounds of one query."""

    seconds: float = 10.0
    rows: int = 1_000
    memory_mb: int = 256


def ensure(project: Project, *, up_to_date: bool = True, progress: Progress | None = None) -> None:
    """Make sure that there is a history, and that it is up to date where that is wanted."""
    folder = project.config.places.history_dir
    if store.current(folder) is None or (up_to_date and not is_current(project)):
        refresh(project, progress=progress)


def known(project: Project) -> bool:
    """Whether there is a history, up to date or not."""
    return store.current(project.config.places.history_dir) is not None


def query(project: Project, sql: str, limits: Limits | None = None) -> Result:
    """The answer of one SELECT. `BackstoryError` for what is refused, wrong, or over a limit other than rows."""
    bounds = limits or Limits()
    folder = project.config.places.history_dir
    found = guarded.run(folder, sql, seconds=bounds.seconds, rows=bounds.rows, memory_mb=bounds.memory_mb)
    return found._replace(rows=[tuple(map(_safe, row)) for row in found.rows])


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value).text if len(value) > 7 else value
    if isinstance(value, list):
        return [_safe(item) for item in value]
    if isinstance(value, dict):
        return {key: _safe(item) for key, item in value.items()}
    return value


def themes(project: Project, *, limit: int = 50, members: int = 20) -> list[Theme]:
    """The themes, the largest first."""
    reader = store.open_reader(project.config.places.history_dir)
    try:
        columns = "theme, label, size, terms, first_at, last_at, recent, drift"
        rows = reader.execute(f"SELECT {columns} FROM themes ORDER BY size DESC, theme LIMIT ?", [limit]).fetchall()
        found = []
        for row in rows:
            inside = reader.execute(
                "SELECT source, ref, ticket_stem, happened_at, round(similarity, 3) FROM run_record_themes"
                " WHERE theme = ? ORDER BY similarity DESC, ref LIMIT ?",
                [row[0], members],
            ).fetchall()
            names = ("source", "ref", "ticket_stem", "happened_at", "similarity")
            listed = tuple({**dict(zip(names, one, strict=True)), "happened_at": _instant(one[3])} for one in inside)
            theme, label, size, terms, first_at, last_at, recent, drift = row
            times = _instant(first_at), _instant(last_at)
            found.append(Theme(theme, label, size, tuple(terms), *times, recent, drift, listed))
        return found
    finally:
        reader.close()


def _instant(value: Any) -> str:
    return f"{value.isoformat()}Z" if value is not None else ""


def grade(project: Project) -> Grade:
    """Predicted against actual, of all run records."""
    reader = store.open_reader(project.config.places.history_dir)
    try:
        return grade_history(reader)
    finally:
        reader.close()
