"""From what people type to an entry: a whole id, or any suffix of six characters or more that names one."""

from __future__ import annotations

import sqlite3

from backstory.errors import BackstoryError
from backstory.recall.brief import short_id
from backstory.records.ids import LENGTH, SHORT, normalise

__all__ = ["candidates", "entry_id", "short_id"]


def entry_id(db: sqlite3.Connection, typed: str) -> str:
    """The id that `typed` names; `BackstoryError` lists the candidates of an ambiguous one."""
    name = normalise(typed)
    shown = typed.strip()[:60]
    if name is None:
        raise BackstoryError(
            f"{shown!r} is no id: an id has {LENGTH} letters and digits, and its last {SHORT} are enough to name it.",
            hint="`backstory timeline` lists entries with their ids.",
        )
    found = candidates(db, name)
    if not found and _of_another(db, name):
        raise BackstoryError(
            f"{shown!r} is a lesson of another project.", hint=f"`backstory global show {name}` shows it."
        )
    if not found:
        raise BackstoryError(
            f"No entry has the id {shown!r}.", hint="`backstory timeline` or `backstory search WORDS` shows ids."
        )
    if len(found) > 1:
        listed = "\n".join(f"  {id_}  {summary}" for id_, summary in found[:10])
        raise BackstoryError(f"{shown!r} names {len(found)} entries:\n{listed}", hint="Type more of the id.")
    return found[0][0]


def _of_another(db: sqlite3.Connection, suffix: str) -> bool:
    return db.execute("SELECT 1 FROM lessons WHERE id LIKE ?", (f"%{suffix}",)).fetchone() is not None


def candidates(db: sqlite3.Connection, suffix: str) -> list[tuple[str, str]]:
    """(id, summary) of every entry whose id ends with `suffix`, at most 50."""
    low = suffix[::-1]
    return db.execute(
        "SELECT id, summary FROM entries WHERE backwards >= ? AND backwards < ? ORDER BY id LIMIT 50", (low, low + "~")
    ).fetchall()
