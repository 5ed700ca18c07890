"""Themes of a refresh: what recurs in run records and in trials of the log."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from backstory.history import build

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


TABLES = ("themes", "run_record_themes")
# Raise when the rules of grouping change: the themes are then made again.
_RULES = "1"
_RUNS = (
    "SELECT path, ticket_stem, concat_ws('\n\n', surprises_text, dead_ends_text, escalation_reason),"
    " epoch_us(coalesce(ended_at, started_at)) FROM run_records ORDER BY path"
)
_TRIALS = (
    "SELECT id, coalesce(ticket, issue, id), concat_ws('\n\n', summary, detail), epoch_us(recorded_at) FROM entries"
    " WHERE kind = 'trial' AND source = 'log' AND coalesce(outcome, '') <> 'worked'"
    " AND standing IN ('active', 'confirmed', 'contested') ORDER BY id"
)


def refresh(history: DuckDBPyConnection, known: dict[str, str], wanted: dict[str, str]) -> set[str]:
    """Find the themes anew if a text they are made of changed; the group's name in a set if so."""
    rows = [("run_record", *row) for row in history.execute(_RUNS).fetchall() if row[2]]
    rows += [("trial", *row) for row in history.execute(_TRIALS).fetchall()]
    wanted["themes"] = blake2b(f"{_RULES}{rows!r}".encode("utf-8", "replace"), digest_size=12).hexdigest()
    if wanted["themes"] == known.get("themes"):
        return set()
    build.create(history, TABLES)
    if rows:
        from backstory.history import themes

        found = themes.find([themes.Document(*row) for row in rows])
        build.add(history, "themes", found.theme_rows())
        build.add(history, "run_record_themes", found.member_rows())
    return {"themes"}
