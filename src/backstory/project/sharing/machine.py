"""The machine-wide log: one log for all projects of a user on this machine, of the same make as a project's.

Promise: it is written by `append` under its own lock and read through an index of its own, so that chain, damage and
redaction are those of every log. It holds copies of entries under the ids that they have in their projects, the
operations that ended them there, and who shared what. Nothing in it is ever rewritten, redaction aside; it belongs to
no project, no command takes it for one, and deleting a project leaves it as it is.

Its id is fixed: what binds a line to it is that it is machine-wide, so that the log can move with its owner.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from backstory.config import Config, Places, Settings, machine_dir
from backstory.log.append import append
from backstory.project.currency import machine_stamp
from backstory.project.opened import Project
from backstory.project.refresh import bring_up_to_date, open_config
from backstory.records.codec import Fields, read_fields

MACHINE = "backstory-machine-wide"
LIVE = ("active", "confirmed", "contested")


class MachinePlaces(Places):
    """The log lies in `log/` of the user's data folder, beside its lock; what is derived from it in the cache."""

    __slots__ = ()

    @property
    def log_dir(self) -> str:
        """The log."""
        return os.path.join(self.root, "log")

    @property
    def shared_dir(self) -> str:
        """Where the lock is: with the log, since caches differ from process to process."""
        return self.root


class Copy(msgspec.Struct, frozen=True):
    """An entry that was shared. `origin` is the id of its project; instants in microseconds, None for never."""

    id: str
    origin: str
    project: str
    standing: str
    shared: bool
    at: int
    last_at: int
    stale_at: int | None
    valid_from: int
    valid_until: int | None
    line: str
    cost: int
    value_key: str
    superseded_by: str
    ended_at: int
    ended_by: str
    reason: str
    fields: dict[str, Any]

    @property
    def counts(self) -> bool:
        """Whether other projects may see it."""
        return self.shared and self.standing in LIVE


def machine_config() -> Config:
    """The machine-wide log as something that can be opened."""
    return Config(MachinePlaces(machine_dir()), MACHINE, "this machine", False, (), Settings())


def exists() -> bool:
    """Whether anything was ever shared on this machine."""
    return machine_stamp() != ""


def opened(now: int) -> Project:
    """The machine-wide log with a current index. Close it after use."""
    return open_config(machine_config(), now=now)


def write(machine: Project, events: list[Fields]) -> None:
    """Append unsealed events and bring the index up to date, which carries out redactions among them."""
    append(machine.config, "", events, machine.now)
    bring_up_to_date(machine)


_COLUMNS = (
    "e.id, e.standing, e.at, e.last_at, e.stale_at, e.valid_from, e.valid_until, e.summary, e.cost, e.value_key,"
    " e.superseded_by, e.ended_at, e.ended_by, e.reason, v.body"
)


def copies(db: sqlite3.Connection, where: str = "1", params: Iterable[object] = ()) -> Iterator[Copy]:
    """The copies that `where` (over `entries AS e`) selects, newest first."""
    query = f"SELECT {_COLUMNS} FROM entries AS e JOIN events AS v ON v.event = e.entry WHERE {where}"
    for row in db.execute(f"{query} ORDER BY e.at DESC, e.id DESC", tuple(params)).fetchall():
        (id_, standing, at, last_at, stale_at, valid_from, valid_until, line, cost, key,
         superseded_by, ended_at, ended_by, reason, body) = row  # fmt: skip
        fields = read_fields(body.encode("utf-8", "surrogatepass"))
        origin, name, shared = _told(db, id_)
        yield Copy(
            id_, origin, name, standing, shared, at, last_at, stale_at, valid_from, valid_until, line, cost, key,
            superseded_by, ended_at, ended_by, reason, fields,
        )  # fmt: skip


def _told(db: sqlite3.Connection, id_: str) -> tuple[str, str, bool]:
    """Of an entry: its project's id and name, and whether the last word on it was to share it.

    They stand in the operation, not in the copy: a redaction leaves the copy no text.
    """
    query = "SELECT body FROM events WHERE target = ? AND target <> '' AND kind = 'share' ORDER BY at, id"
    said = [read_fields(body.encode()) for (body,) in db.execute(query, (id_,))]
    if not said:
        return "", "", False
    return str(said[-1].get("project", "")), str(said[-1].get("name", "")), not said[-1].get("undo", False)


def sharer(db: sqlite3.Connection, id_: str) -> Fields:
    """Who shared an entry."""
    query = "SELECT body FROM events WHERE target = ? AND target <> '' AND kind = 'share' ORDER BY at, id LIMIT 1"
    row = db.execute(query, (id_,)).fetchone()
    return dict(read_fields(row[0].encode())["by"]) if row else {"kind": "person", "name": ""}
