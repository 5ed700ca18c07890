"""What happens to a shared entry in its project is written to the machine-wide log too: right after it happened, or
when the project is opened next.

Promise: a correction, a retirement, a rejection and a redaction of the origin reach the copy as operations of their
own, so that they hold on this machine when the project is gone. Events keep their ids, which makes a second run add
nothing. Only what was shared on this machine is followed: a share in a log that came with a clone shares nothing here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator
from types import TracebackType

from backstory.errors import BackstoryError
from backstory.project.currency import machine_stamp
from backstory.project.opened import Project
from backstory.project.sharing import machine
from backstory.records import secrets
from backstory.records.codec import Fields, blank_hash, read_fields
from backstory.records.hostile import is_directive
from backstory.records.ids import new_id
from backstory.records.times import format_instant

_KEPT = (
    "id", "at", "by", "summary", "detail", "aliases", "supersedes", "valid_from", "valid_until", "decay_days", "held",
)  # fmt: skip
# What an operation becomes: a rejection here is about this entry, not about the value in every project.
_AS = {
    "confirm": "confirm", "approve": "approve", "contest": "contest", "retire": "retire", "reject": "retire",
    "lift": "approve", "resolve": "approve", "redact": "redact",
}  # fmt: skip
_ENDED = ("retired", "rejected", "superseded")


def follow(project: Project, written: Collection[int]) -> None:
    """Bring what this project shared up to date; a log that cannot be written is said, and tried at the next refresh.

    Called behind every refresh of the log with the numbers of the entries that it folded: as long as nobody else wrote
    to the machine-wide log since the last time, no other can have changed.
    """
    if project.config.project == machine.MACHINE:
        return
    stamp = machine_stamp()
    row = project.db.execute("SELECT value FROM index_meta WHERE key = 'followed'").fetchone()
    known = str(row[0]) if row else ""
    if not stamp:
        _followed(project, known, "")
        return
    try:
        with machine.opened(project.now) as log:
            mine = _shared_by(project, log)
            if stamp == known:
                ids = {one for (one,) in _ids(project, written)}
                mine = [id_ for id_ in mine if id_ in ids]
            if mine:
                _Following(project, log).run(mine)
            project.notices += log.notices
        _followed(project, known, machine_stamp())
    except (BackstoryError, OSError, sqlite3.Error) as error:
        said = error.message if isinstance(error, BackstoryError) else str(error)
        project.notices.append(f"what other projects see of this one is behind: {said}")
        _followed(project, known, "")


def _followed(project: Project, before: str, now: str) -> None:
    """Note the state of the machine-wide log that all of this project's entries were held against."""
    if before != now:
        project.db.execute("INSERT OR REPLACE INTO index_meta VALUES ('followed', ?)", (now,))


def _ids(project: Project, numbers: Collection[int]) -> Iterator[tuple[str]]:
    for number in numbers:
        yield from project.db.execute("SELECT id FROM entries WHERE entry = ?", (number,))


def _shared_by(project: Project, log: Project) -> list[str]:
    """The ids of what this project shared. One query: every write of every project asks it."""
    ids: set[str] = set()
    for origin in project.projects:
        query = "SELECT DISTINCT target FROM events WHERE kind = 'share' AND body LIKE ?"
        ids.update(row[0] for row in log.db.execute(query, (f'%"project":"{origin}"%',)))
    return sorted(ids)


def copy_of(entry: Fields, libraries: tuple[str, ...]) -> Fields:
    """The entry as the machine-wide log holds it: a lesson without what only its own tree can follow."""
    made = {name: entry[name] for name in _KEPT if entry.get(name)}
    how = str(entry.get("failure_mode") or entry.get("rationale") or "")
    if how:
        made["detail"] = "\n\n".join(part for part in (how, str(made.get("detail", ""))) if part)[:4_000]
    for name in ("summary", "detail"):
        if made.get(name):
            made[name] = secrets.redact(str(made[name])).text
    if made.get("aliases"):
        made["aliases"] = [secrets.redact(str(text)).text for text in made["aliases"]]
    made |= {"kind": "lesson", "libraries": list(libraries)}
    if is_directive(f"{made['summary']}\n{made.get('detail', '')}"):
        made["held"] = "directive"
    return made


def share_event(project: Project, by: Fields, target: str, *, undo: bool = False) -> Fields:
    """The operation that shares an entry, or takes that back, as the machine-wide log holds it."""
    event = {
        "kind": "share", "id": new_id(project.now), "at": format_instant(project.now), "by": by, "target": target,
        "project": project.config.project, "name": project.config.name,
    }  # fmt: skip
    return {**event, "undo": True} if undo else event


class _Following:
    """One run: the events that the machine-wide log lacks."""

    def __init__(self, project: Project, log: Project) -> None:
        self.project, self.log = project, log
        self.events: list[Fields] = []
        self.ids: list[str] = []

    def run(self, ids: list[str]) -> None:
        """Follow `ids` and whatever took their place."""
        todo = list(ids)
        while todo:
            id_ = todo.pop(0)
            if id_ in self.ids:
                continue
            self.ids.append(id_)
            todo += self.one(id_)
        if self.events:
            machine.write(self.log, self.events)
        self.events = []
        for id_ in self.ids:
            self.compare(id_)
        if self.events:
            machine.write(self.log, self.events)

    def one(self, id_: str) -> list[str]:
        """Take over the operations on an entry; the entries that replaced it."""
        db = self.project.db
        row = db.execute("SELECT standing, superseded_by FROM entries WHERE id = ?", (id_,)).fetchone()
        if row is None:
            return []
        query = (
            "SELECT body FROM events WHERE in_tree + in_journal > 0 AND ((target = ?1 AND target <> '')"
            " OR (kind = 'resolve' AND body LIKE ?2)) ORDER BY at, id"
        )
        for (body,) in db.execute(query, (id_, f'%"over":"{id_}"%')):
            self.operation(id_, read_fields(body.encode()))
        following = json.loads(row[1]) if row[0] == "superseded" and row[1] else []
        return [other for other in following if self.correction(other, id_)]

    def operation(self, id_: str, fields: Fields) -> None:
        """Take over one operation under its own id."""
        kind = _AS.get(str(fields.get("kind")))
        if kind is None or self.has(str(fields["id"])):
            return
        made = {name: fields[name] for name in ("id", "at", "by", "reason", "against", "successor") if fields.get(name)}
        if fields["kind"] == "resolve" and fields.get("over") == id_:
            if fields.get("both"):
                return
            kind, made["successor"] = "retire", fields["target"]
        if fields["kind"] == "reject":
            made["reason"] = f"rejected: {fields.get('reason', '')}"
        made |= {"kind": kind, "target": id_}
        if kind == "redact":
            known = self.log.db.execute("SELECT body FROM events WHERE id = ?", (id_,)).fetchone()
            if known is None:
                return
            made["blank"] = blank_hash(machine.MACHINE, read_fields(known[0].encode()))
        self.events.append(made)

    def correction(self, id_: str, corrected: str) -> bool:
        """Take over the entry that replaced a shared one, however alike their words are."""
        if self.has(id_):
            return True
        row = self.project.db.execute("SELECT body FROM events WHERE id = ? AND target = ''", (id_,)).fetchone()
        if row is None:
            return False
        fields = read_fields(row[0].encode())
        if fields.get("redacted"):
            return True
        old = self.log.db.execute("SELECT body FROM events WHERE id = ?", (corrected,)).fetchone()
        queued = next((event for event in self.events if event["id"] == corrected), None)
        known = queued or (read_fields(old[0].encode()) if old else {})
        libraries = fields.get("libraries") or known.get("libraries") or ()
        made = copy_of(fields, tuple(map(str, libraries)))
        made["supersedes"] = sorted({*made.get("supersedes", ()), corrected})
        self.events += [made, share_event(self.project, machine.sharer(self.log.db, corrected), id_)]
        return True

    def has(self, id_: str) -> bool:
        """Whether the machine-wide log has, or is about to get, an event of this id."""
        if any(event["id"] == id_ for event in self.events):
            return True
        return self.log.db.execute("SELECT 1 FROM events WHERE id = ?", (id_,)).fetchone() is not None

    def compare(self, id_: str) -> None:
        """What no operation on the entry itself told: a rejected value, a doubt, a replacement by other means."""
        theirs = self.project.db.execute(
            "SELECT standing, reason, contested_with FROM entries WHERE id = ?", (id_,)
        ).fetchone()
        copy = next(machine.copies(self.log.db, "e.id = ?", (id_,)), None)
        if theirs is None or copy is None:
            return
        standing, reason, against = theirs
        made: Fields = {"target": id_, "by": machine.sharer(self.log.db, id_)}
        if standing in _ENDED and copy.standing not in _ENDED:
            made |= {"kind": "retire", "reason": f"{standing}: {reason}" if reason else standing}
        elif standing == "contested" and copy.standing in ("active", "confirmed"):
            made |= {"kind": "contest", "reason": "in doubt where it comes from"}
            made |= {"against": json.loads(against)[0]} if against else {}
        elif standing in ("active", "confirmed") and copy.standing == "retired" and self._lifted(copy):
            made |= {"kind": "approve", "reason": "the rejection was taken back"}
        else:
            return
        moment = max(self.project.now, copy.last_at, copy.ended_at) + 1
        self.events.append({**made, "id": new_id(moment), "at": format_instant(moment)})

    def _lifted(self, copy: machine.Copy) -> bool:
        """Whether a rejection of the value was taken back since it ended the copy."""
        lifted = self.project.db.execute("SELECT max(at) FROM events WHERE kind = 'lift'").fetchone()[0]
        return copy.reason.startswith("rejected") and bool(lifted) and str(lifted) > format_instant(copy.ended_at)


class Ended:
    """How entries that other projects shared ended. The machine-wide log is opened once, and only if it is asked."""

    def __init__(self, now: int) -> None:
        self._now = now
        self._log: Project | None = None

    def __enter__(self) -> Ended:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def how(self, id_: str, key: str) -> str:
        """How an entry ended, by its id or its value; "" where it holds or was never shared.

        An old export of that project does not bring it back. By its id too: a redaction left the copy no value.
        """
        if self._log is None:
            if not machine.exists():
                return ""
            self._log = machine.opened(self._now)
        own = list(machine.copies(self._log.db, "e.id = ?", (id_,)))
        found = own or list(machine.copies(self._log.db, "e.value_key = ?", (key,)))
        if not found or any(copy.standing in machine.LIVE for copy in found):
            return ""
        return found[0].standing
