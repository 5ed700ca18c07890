"""The write gateway: the one function that takes every entry, whoever writes it.

In order: normalise paths, validate, redact secrets, flag instruction-like text, look up tombstones, look for a
duplicate, look for a conflict, append. A refusal writes nothing, says why, and names the next step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.index.folding import value_hash, value_of
from backstory.log.append import append
from backstory.project import validation
from backstory.project.opened import Project
from backstory.project.refresh import bring_up_to_date
from backstory.recall import conflicts
from backstory.records.codec import Fields, event_from, read_event, to_fields
from backstory.records.event import AGENT, CAPTURE, HOOK, IMPORT, PERSON, By, Entry
from backstory.records.hostile import is_directive
from backstory.records.ids import new_id
from backstory.records.times import MICROS, format_instant, parse_instant
from backstory.records.value import similarity, value_key
from backstory.sources.git.head import head_id

RESEMBLES = 0.75
_WORDS = re.compile(r"[a-z0-9]+")
# The last day that an instant can be written for, in microseconds.
_END = 253_402_214_400 * MICROS


class Outcome(msgspec.Struct, frozen=True):
    """What became of a write.

    `status`: recorded, corroborated (a duplicate; `id` is the entry that it confirmed), dropped (an automatic write of
    something withdrawn; nothing was written), known (an import says it, or the session that said it before; nothing
    was written). `clashes` are shown with both sides; `calls` are exact next commands.
    """

    status: str
    id: str = ""
    kind: str = ""
    standing: str = ""
    redacted: tuple[str, ...] = ()
    clashes: tuple[conflicts.Clash, ...] = ()
    notes: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


class Checked(msgspec.Struct, frozen=True):
    """An entry that passed every check and waits to be appended. `twin` is set instead where one says all of it."""

    fields: Fields
    entry: Entry
    redacted: tuple[str, ...] = ()
    known: tuple[str, str] | None = None
    twin: str = ""


def record(
    project: Project, by: By, kind: str, fields: dict[str, Any], *, cwd: str = "", detector: str = ""
) -> Outcome:  # fmt: skip
    """Write an entry of `kind`. `fields` are the kind's own and the common ones, files as `path[:lines|#symbol]`.

    `cwd` is the folder that relative paths are taken from. `detector` is for capture alone: what found it.
    `BackstoryError` when it is refused.
    """
    made = examine(project, by, kind, fields, cwd=cwd, detector=detector)
    if isinstance(made, Outcome):
        return made
    if made.twin:
        return _corroborate(project, by, made.twin, made.entry, made.redacted)
    entry = made.entry
    clashes = conflicts.against(project.db, conflicts.side_of(entry), project.now, entry.supersedes)
    write(project, [placed(project, made.fields)])
    return _outcome(project, entry.id, kind, made.redacted, clashes, made.known)


def examine(
    project: Project,
    by: By,
    kind: str,
    fields: dict[str, Any],
    *,
    cwd: str = "",
    detector: str = "",
    twin: Callable[[Entry], str] | None = None,
    case: str = "",
) -> Checked | Outcome:
    """All that happens to an entry before it is appended; `BackstoryError` when it is refused, nothing is written.

    For a batch: `twin` looks among entries that wait before the index is asked, `case` is the id of a waiting issue.
    """
    clean, redacted = validation.prepare(project, kind, fields, cwd)
    _refuse_pin(by, clean)
    clean |= {"kind": kind, "by": msgspec.to_builtins(by), "id": new_id(project.now), "at": format_instant(project.now)}
    clean |= {"detector": detector} if detector and by.kind == HOOK else {}
    clean |= {"issue": case} if case else {}
    entry = _typed(clean)
    refuse_rejected(project, entry)
    known = withdrawn(project, entry)
    if known and by.kind in (HOOK, IMPORT):
        return Outcome(
            "dropped", known[0], kind, known[1], redacted, notes=(f"it says what {known[0]} said, {known[1]}",)
        )
    same = (twin(entry) if twin else "") or twin_of(project, entry)
    if same:
        return Checked(clean, entry, redacted, known, same)
    _refuse_second_fix(project, entry)
    held = _hold_back(project, entry, known)
    clean |= {"held": held} if held else {}
    return Checked(clean, entry, redacted, known)


def write(project: Project, events: list[Fields]) -> list[Fields]:
    """Append unsealed events and bring the index up to date."""
    sealed = append(project.config, project.branch, events, project.now)
    bring_up_to_date(project)
    return sealed


def operation(project: Project, by: By, fields: Fields) -> Fields:
    """An operation ready to be written, later than all that was said about its target: clocks go back at times."""
    moment = max(project.now, _last_word(project, fields) + 1)
    placed = {"by": msgspec.to_builtins(by), "id": new_id(moment), "at": format_instant(moment)}
    return {**fields, **placed, **({"branch": project.branch} if project.branch else {})}


def _last_word(project: Project, fields: Fields) -> int:
    named = [fields[name] for name in ("target", "over") if fields.get(name)]
    marks = ",".join("?" * len(named))
    where = f"id IN ({marks}) OR (target IN ({marks}) AND target <> '')"
    if fields.get("key"):
        where += " OR kind IN ('reject', 'lift')"
    row = project.db.execute(f"SELECT max(at) FROM events WHERE {where}", [*named, *named]).fetchone()
    return min(parse_instant(row[0]), _END) if row[0] else 0


def _typed(fields: Fields) -> Entry:
    entry = event_from(fields)
    if not isinstance(entry, Entry):
        raise BackstoryError(f"{fields.get('kind')!r} is no kind of entry.", code=Exit.USAGE)
    return entry


def placed(project: Project, fields: Fields) -> Fields:
    """The event with where it was written: branch, and the commit that the tree stood on."""
    if project.branch:
        fields["branch"] = project.branch
    places = project.config.places
    if places.git_dir and not fields.get("commit"):
        head = head_id(places.git_dir, places.common_dir, project.root)
        if head:
            fields["commit"] = head
    defaults_gone = to_fields(event_from(fields))
    extra = {
        name: value for name, value in fields.items() if name not in defaults_gone and value not in ("", (), [], None)
    }
    return {**extra, **defaults_gone}


def refuse_rejected(project: Project, entry: Entry) -> None:
    """Raise `BackstoryError` where what an entry says was rejected."""
    # Hashing every text costs 6 ms for a page of Japanese; most projects never rejected a thing.
    if project.db.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone() is None:
        return
    # To list a rejected value among the alternatives that were turned down agrees with the rejection.
    prose = {name: text for name, text in entry.prose().items() if name != "alternatives_rejected"}
    texts = {value_of(entry), *prose.values()}
    for text in sorted(texts):
        row = project.db.execute(
            "SELECT target, by_name, reason FROM tombstones WHERE key = ?", (value_hash(text),)
        ).fetchone()
        if row is None:
            continue
        target, name, reason = row
        who = f" by {name}" if name else ""
        what = target or value_hash(text)
        raise BackstoryError(
            f"Nothing was written: this was rejected{who}: {reason or 'no reason kept'}.",
            hint=f"If it holds after all, a person takes the rejection back: `backstory lift {what}`.",
            code=Exit.REFUSED,
        )


def _refuse_pin(by: By, fields: Fields) -> None:
    if fields.get("pinned") and by.kind != PERSON:
        raise BackstoryError(
            "Nothing was written: only a person may pin an entry.",
            hint="Record it without the pin, or ask a person to run the command at a terminal.",
            code=Exit.REFUSED,
        )


def _refuse_second_fix(project: Project, entry: Entry) -> None:
    """One case is closed once: another fix of it replaces the first or is refused."""
    if entry.kind != "fix" or not entry.issue:
        return
    rows = project.db.execute(
        "SELECT id, summary FROM live WHERE kind = 'fix' AND case_of = ? ORDER BY at, id", (entry.issue,)
    ).fetchall()
    for id_, summary in rows:
        if id_ not in entry.supersedes:
            raise BackstoryError(
                f"Nothing was written: the case is closed already by {id_}: {summary}",
                hint=f'If the new fix replaces it: `backstory supersede {id_} "text"`; else record an observation.',
                code=Exit.REFUSED,
            )


def withdrawn(project: Project, entry: Entry) -> tuple[str, str] | None:
    """(id, standing) of an entry that said the same and was retired or superseded, when no live one says it."""
    rows = project.db.execute(
        "SELECT id, standing FROM entries WHERE value_key = ? ORDER BY last_at DESC, id", (value_hash(value_of(entry)),)
    ).fetchall()
    if any(standing in ("active", "confirmed", "contested", "proposed") for _, standing in rows):
        return None
    return next(((id_, standing) for id_, standing in rows if standing in ("retired", "superseded")), None)


def twin_of(project: Project, entry: Entry) -> str:
    """A live or proposed entry that already says all of this: corrections and additions are no duplicates."""
    if entry.supersedes:
        return ""
    rows = project.db.execute(
        "SELECT e.id, v.body FROM entries AS e JOIN events AS v ON v.event = e.entry WHERE e.value_key = ?"
        " AND e.kind = ? AND e.source = 'log' AND e.in_tree = 1"
        " AND e.standing IN ('active', 'confirmed', 'contested', 'proposed')"
        " ORDER BY e.last_at DESC",
        (value_hash(value_of(entry)), entry.kind),
    ).fetchall()
    for id_, body in rows:
        other = read_event(body.encode())
        if isinstance(other, Entry) and adds_nothing(entry, other):
            return str(id_)
    return ""


def spoke(project: Project, session: str, id_: str) -> bool:
    """Whether a session said an entry, or spoke for it since: a transcript that is read again confirms nothing."""
    rows = project.db.execute(
        "SELECT body FROM events WHERE id = ?1 OR (target = ?1 AND target <> '' AND kind IN ('confirm', 'contest'))",
        (id_,),
    )
    events = (read_event(body.encode()) for (body,) in rows)
    return any(event.by.session == session for event in events)


def adds_nothing(entry: Entry, other: Entry) -> bool:
    """Whether `other`, which has the same value, says all that `entry` says."""
    same: tuple[str, ...] = ("outcome", "path", "issue", "scope", "ticket", "valid_until", "decay_days", "valid_from")
    # What capture saw again at another time is the same thing.
    same = same[:-1] if entry.by.name == CAPTURE else same
    given = all(not getattr(entry, name, "") or getattr(entry, name) == getattr(other, name, "") for name in same)
    files = {(ref.path, ref.symbol) for ref in entry.files} <= {(ref.path, ref.symbol) for ref in other.files}
    if not (given and files and entry.pinned <= other.pinned):
        return False
    # Last, for its price: 7.4 of 11 s for 704 real issues, of which 93 have one title and nothing else in common.
    known = other.prose()
    return all(value_key(text) == value_key(known.get(name, "")) for name, text in entry.prose().items())


def _corroborate(project: Project, by: By, twin: str, entry: Entry, redacted: tuple[str, ...]) -> Outcome:
    # A memory that is imported once more, or a transcript that is read once more, confirms nothing.
    if by.kind == IMPORT or (by.name == CAPTURE and by.kind == HOOK and spoke(project, by.session, twin)):
        return Outcome("known", twin, entry.kind, standing_of(project, twin), redacted)
    write(project, [operation(project, by, {"kind": "confirm", "target": twin, "reason": "said again"})])
    standing = standing_of(project, twin)
    note = f"it says what {twin} says already; that one counts as confirmed once more"
    return Outcome("corroborated", twin, entry.kind, standing, redacted, notes=(note,))


def _hold_back(project: Project, entry: Entry, known: tuple[str, str] | None) -> str:
    """Why an entry has to wait for a person, whoever but a person writes it."""
    reasons = {name: is_directive(text) for name, text in entry.prose().items()}
    if any(reasons.values()):
        return "directive"
    if entry.by.kind == PERSON:
        return ""
    if known:
        return "withdrawn"
    return "resembles a rejected value" if _resembles_a_rejected(project, value_of(entry)) else ""


def _resembles_a_rejected(project: Project, text: str) -> bool:
    rows = project.db.execute(
        "SELECT coalesce(nullif(t.value, ''), e.summary, '') FROM tombstones AS t LEFT JOIN entries AS e"
        " ON e.id = t.target ORDER BY t.at DESC LIMIT 500"
    )
    words = _plain_words(text)
    for (value,) in rows:
        known = _plain_words(value)
        # Comparing in full costs 40 us: not where plain words already tell that little is shared.
        if words and known and 2 * len(words & known) < min(len(words), len(known)):
            continue
        if similarity(text, value) >= RESEMBLES:
            return True
    return False


def _plain_words(text: str) -> set[str]:
    """The words of a text in plain letters; none for one in another script, which is always compared in full."""
    return set(_WORDS.findall(text.lower())) if text.isascii() else set()


def standing_of(project: Project, id_: str) -> str:
    """The standing that the index has for an entry."""
    row = project.db.execute("SELECT standing FROM entries WHERE id = ?", (id_,)).fetchone()
    return str(row[0]) if row else ""


def _outcome(
    project: Project,
    id_: str,
    kind: str,
    redacted: tuple[str, ...],
    clashes: list[conflicts.Clash],
    known: tuple[str, str] | None,
) -> Outcome:
    row = project.db.execute("SELECT standing, held FROM entries WHERE id = ?", (id_,)).fetchone()
    standing, held = (str(row[0]), str(row[1])) if row else ("", "")
    notes = []
    if redacted:
        notes.append(f"redacted before writing: {', '.join(redacted)}")
    if held == "directive":
        notes.append("it reads like an instruction to an agent and is marked so")
    elif held:
        notes.append(f"it waits for a person ({held})")
    elif standing == "proposed":
        notes.append("it is proposed and waits for a person, or for a second session that says the same")
    if known:
        notes.append(f"{known[0]} said the same and is {known[1]}")
    if standing == "contested":
        notes.append("it replaces what a person confirmed: both are contested until a person resolves it")
    notes += _missing(project, id_)
    calls = [f"backstory supersede {clash.id} --by {id_}" for clash in clashes]
    return Outcome("recorded", id_, kind, standing, redacted, tuple(clashes), tuple(notes), tuple(calls))


__all__ = ["AGENT", "Outcome", "record", "standing_of", "write"]


def _missing(project: Project, id_: str) -> list[str]:
    """A note on each cited file that is not there: a slip of the pen would go unnoticed, and the entry is stale."""
    rows = project.db.execute(
        "SELECT f.cited FROM entry_files AS f JOIN entries AS e ON e.entry = f.entry WHERE e.id = ? AND f.stamp = '-'"
        " ORDER BY f.cited LIMIT 5",
        (id_,),
    )
    return [
        f"{path} does not exist here: until it does, the entry is stale and stays out of the brief" for (path,) in rows
    ]
