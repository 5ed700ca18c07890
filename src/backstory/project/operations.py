"""Operations on entries: who may do which, said before anything is written. The fold decides the same once more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backstory.errors import BackstoryError, Exit
from backstory.index.folding import value_hash, value_of
from backstory.project.gateway import Outcome, operation, standing_of, write
from backstory.project.opened import Project
from backstory.project.resolve import entry_id
from backstory.project.validation import _clean
from backstory.records import secrets
from backstory.records.codec import read_event
from backstory.records.event import AGENT, PERSON, By, Entry
from backstory.records.ids import normalise

REASON_LIMIT = 1_000
PERSON_ONLY = ("approve", "reject", "lift", "resolve")
NEEDS_REASON = ("reject", "redact", "retire", "contest")
ACTIONS = ("confirm", "retire", "reject", "lift", "approve", "contest", "resolve", "redact", "supersede")


def operate(project: Project, by: By, action: str, target: str, *, reason: str = "", **extra: Any) -> Outcome:
    """Do `action` to the entry that `target` names. `BackstoryError` when it is refused; nothing is written then.

    `extra`: `over` and `both` of a resolution, `against` of a contest, `successor` of a retirement or supersession.
    """
    _may(by, action)
    reason = _reason(action, reason)
    id_ = entry_id(project.db, target)
    entry, standing = load(project, id_)
    _sensible(action, entry, standing, by)
    # A supersession between two entries that both exist is a retirement with a successor.
    fields: dict[str, Any] = {"kind": "retire" if action == "supersede" else action, "target": id_, "reason": reason}
    for name in ("over", "against", "successor"):
        if extra.get(name):
            fields[name] = entry_id(project.db, str(extra[name]))
    if fields["kind"] == "retire":
        _succeeds(project, action, id_, fields.get("successor", ""))
    if extra.get("both"):
        fields["both"] = True
    if action in ("reject", "lift"):
        fields["key"] = value_hash(value_of(entry))
    before = _last_at(project, id_)
    _append(project, by, fields)
    now = standing_of(project, id_)
    if now == "contested" and fields.get("successor"):
        # An agent may not replace what a person confirmed: both sides are in doubt, and each shows the other.
        _append(project, by, {"kind": "contest", "target": fields["successor"], "against": id_, "reason": reason})
    return Outcome(
        "recorded", id_, entry.kind, now, notes=_notes(action, standing, now, renewed=_last_at(project, id_) > before)
    )


def _last_at(project: Project, id_: str) -> int:
    return int(project.db.execute("SELECT last_at FROM entries WHERE id = ?", (id_,)).fetchone()[0])


def _succeeds(project: Project, action: str, id_: str, successor: str) -> None:
    """Refuse a supersession by nothing, by the entry itself, or by what does not count."""
    if not successor:
        if action == "supersede":
            raise BackstoryError(
                f"Nothing is named that takes the place of {id_}.", hint="Name the entry that replaces it."
            )
        return
    if successor == id_:
        raise BackstoryError(f"{id_} cannot take its own place.", hint="Name another entry.")
    _, standing = load(project, successor)
    if standing not in ("active", "confirmed", "contested"):
        raise BackstoryError(
            f"{successor} is {standing}; it cannot take the place of another entry.",
            hint="Name an entry that counts.",
            code=Exit.REFUSED,
        )


def approve_all(project: Project, by: By, reasons: Mapping[str, str]) -> None:
    """Approve many entries together, by id, each with its reason; what is not proposed any more stays as it is."""
    _may(by, "approve")
    events = [
        operation(project, by, {"kind": "approve", "target": id_, "reason": _reason("approve", said)})
        for id_, said in reasons.items()
        if load(project, id_)[1] == "proposed"
    ]
    if events:
        write(project, events)


def reject_value(project: Project, by: By, value: str, reason: str) -> Outcome:
    """Reject a value that no entry need carry."""
    _may(by, "reject")
    text = secrets.redact(" ".join(_clean(value).split())).text
    if not text:
        raise BackstoryError("The value is empty.", hint='Use `backstory reject --value "text" --why "reason"`.')
    fields = {"kind": "reject", "reason": _reason("reject", reason), "key": value_hash(text), "value": text[:300]}
    _append(project, by, fields)
    return Outcome("recorded", notes=(f"the value is refused from now on: {text[:80]}",))


def lift(project: Project, by: By, name: str, reason: str = "") -> Outcome:
    """Take a rejection back: by the entry's id, by the tombstone's key, or by the value's own words."""
    _may(by, "lift")
    db = project.db
    key = name.strip().lower()
    row = db.execute("SELECT key, target FROM tombstones WHERE key IN (?, ?)", (key, value_hash(name))).fetchone()
    if row is None and normalise(name):
        id_ = entry_id(db, name)
        entry, _ = load(project, id_)
        row = db.execute("SELECT key, target FROM tombstones WHERE key = ?", (value_hash(value_of(entry)),)).fetchone()
    if row is None:
        raise BackstoryError(f"{name[:60]!r} is not rejected.", hint="`backstory review --rejected` lists what is.")
    _append(project, by, {"kind": "lift", "key": row[0], "target": row[1], "reason": _reason("lift", reason)})
    return Outcome("recorded", row[1], standing=standing_of(project, row[1]), notes=("the rejection is taken back",))


def load(project: Project, id_: str) -> tuple[Entry, str]:
    """The entry and its standing, without the clock."""
    row = project.db.execute(
        "SELECT v.body, e.standing FROM entries AS e JOIN events AS v ON v.event = e.entry WHERE e.id = ?", (id_,)
    ).fetchone()
    entry = read_event(row[0].encode())
    assert isinstance(entry, Entry)
    return entry, str(row[1])


def _append(project: Project, by: By, fields: dict[str, Any]) -> None:
    given = {name: value for name, value in fields.items() if value not in ("", None)}
    write(project, [operation(project, by, given)])


def _may(by: By, action: str) -> None:
    if action not in ACTIONS:
        raise BackstoryError(f"{action[:60]!r} is no operation.", hint=f"Operations are: {', '.join(ACTIONS)}.")
    if by.kind == PERSON or (by.kind == AGENT and action not in PERSON_ONLY and action != "redact"):
        return
    raise BackstoryError(
        f"Nothing was written: only a person may {action}, and this was run by {_who(by)}.",
        hint=f"Ask a person to run `backstory {action}` at a terminal.",
        code=Exit.REFUSED,
    )


def _who(by: By) -> str:
    return f"an agent ({by.name})" if by.kind == AGENT else f"a {by.kind}"


def _reason(action: str, reason: str) -> str:
    text = secrets.redact(" ".join(_clean(reason).split())).text
    if not text and action in NEEDS_REASON:
        raise BackstoryError(f"To {action} something needs a reason.", hint='Add `--why "the reason"`.')
    if len(text) > REASON_LIMIT:
        raise BackstoryError(f"The reason has {len(text):,} characters; {REASON_LIMIT:,} is the limit.")
    return text


def _sensible(action: str, entry: Entry, standing: str, by: By) -> None:
    """Refuse what would have no effect, so that nobody believes it had one."""
    person = by.kind == PERSON
    ended = {"rejected": f"backstory lift {entry.id}", "superseded": f"backstory show {entry.id}"}
    if action in ("confirm", "approve", "contest", "retire", "supersede") and standing in ended:
        raise BackstoryError(
            f"{entry.id} is {standing}; it cannot be changed by {action}.",
            hint=f"See `{ended[standing]}`.",
            code=Exit.REFUSED,
        )
    revives = person and not entry.redacted and action in ("confirm", "approve", "redact")
    rejects = action == "reject" and not entry.redacted
    if standing == "retired" and not rejects and not revives:
        raise BackstoryError(
            f"{entry.id} is retired already.", hint=f"`backstory show {entry.id}` says who and why.", code=Exit.REFUSED
        )
    if action == "reject" and standing == "rejected":
        raise BackstoryError(f"{entry.id} is rejected already.", hint=f"See `backstory show {entry.id}`.")


def _notes(action: str, before: str, after: str, *, renewed: bool) -> tuple[str, ...]:
    if action in ("retire", "supersede") and after == "contested":
        return ("a person had confirmed it: it is contested now and waits for a person",)
    if before == after and action == "confirm":
        return ("its age starts anew" if renewed else "this session confirmed it before: that counts once",)
    return (f"{before} before, {after} now",) if before != after else ()
