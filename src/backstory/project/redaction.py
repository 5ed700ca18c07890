"""`redact`: takes the text of an entry out of log, journal and every derived file, and says what git still holds."""

from __future__ import annotations

from backstory.errors import BackstoryError, Exit
from backstory.log import faults
from backstory.log.append import append
from backstory.log.redact import blank
from backstory.project.catching_up import forget_text
from backstory.project.gateway import Outcome, operation
from backstory.project.opened import Project
from backstory.project.operations import _may, _reason
from backstory.project.refresh import bring_up_to_date
from backstory.project.resolve import entry_id
from backstory.records.codec import blank_hash, read_fields
from backstory.records.event import By
from backstory.sources.git.run import git

SOURCES = {"git": "git", "adr": "a decision record"}


def redact(project: Project, by: By, target: str, reason: str) -> Outcome:
    """Blank the entry that `target` names, in place. Only a person may. `BackstoryError` when it is refused."""
    _may(by, "redact")
    why = _reason("redact", reason)
    id_ = entry_id(project.db, target)
    row = project.db.execute(
        "SELECT v.body, v.kind, e.source FROM events AS v JOIN entries AS e ON e.entry = v.event WHERE v.id = ?", (id_,)
    ).fetchone()
    if row[2] != "log":
        raise BackstoryError(
            f"{id_} stands in no log: it was read from {SOURCES[row[2]]}.",
            hint=f'Take the text out there; `backstory reject {id_} --why "reason"` withdraws the entry.',
            code=Exit.REFUSED,
        )
    fields = read_fields(row[0].encode())
    if fields.get("redacted"):
        raise BackstoryError(f"{id_} is redacted already.", hint=f"See `backstory show {id_}`.", code=Exit.REFUSED)
    blank_as = blank_hash(project.config.project, fields)
    event = operation(project, by, {"kind": "redact", "target": id_, "reason": why, "blank": blank_as})
    append(project.config, project.branch, [event], project.now)
    faults.trip("redact.recorded")
    blank(project.config, [id_])
    forget_text(project)
    bring_up_to_date(project)
    return Outcome("recorded", id_, row[1], "retired", notes=_what_git_holds(project, id_))


def _what_git_holds(project: Project, id_: str) -> tuple[str, ...]:
    """Said plainly: commits that were made keep the text, and rewriting them is a decision for people."""
    if project.config.private or not project.config.places.git_dir:
        return ("the text is gone from the log and every derived file",)
    found = git(["log", "--all", "--format=%h", "-S", id_, "--", ".backstory/log"], project.root, timeout=20.0)
    commits = found.out.decode("ascii", "replace").split() if found.code == 0 else []
    if not commits:
        return ("the text is gone from the log, the journal and every derived file; no commit holds it",)
    where = ", ".join(commits[:5])
    return (
        f"the text is gone from the files, but git still holds it in {len(commits)} commit(s): {where}",
        "to rewrite them: keep a copy of .backstory/log, run `git filter-repo --path .backstory/log --invert-paths`,"
        " which takes the log out of the tree too, put the copy back, commit it, force-push, and have every clone made"
        " anew; rotate the secret in any case",
    )
