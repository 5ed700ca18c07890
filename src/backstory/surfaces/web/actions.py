"""What the page can change. Each goes through the write gateway as the person who started the server."""

from __future__ import annotations

from backstory.errors import BackstoryError, Exit
from backstory.project import reviewing
from backstory.project.doctor import doctor
from backstory.project.opened import now_micros
from backstory.project.operations import operate
from backstory.project.refresh import compare_all, open_project
from backstory.project.resolve import entry_id
from backstory.project.reviewing import Review
from backstory.project.sharing.sharing import share
from backstory.project.snooze_writing import snooze
from backstory.project.verifying import verify
from backstory.surfaces.web.asking import Action, Ask, person_only
from backstory.surfaces.web.rendering import address

# What a person may do to an entry from its own page, and whether it needs a reason.
ON_ENTRIES = ("confirm", "approve", "retire", "reject")


def _review(ask: Ask) -> Review:
    person_only(ask)
    review = Review(ask.project, ask.desk.by)
    review.done = ask.desk.done
    return review


def _field(ask: Ask, name: str, what: str) -> str:
    text = ask.form.get(name, "").strip()
    if not text:
        raise BackstoryError(f"Nothing was changed: {what} is missing.", hint="Go back, fill it in, and send it again.")
    return text


def _still_waits(ask: Ask, id_: str) -> None:
    """`BackstoryError` where somebody else decided meanwhile."""
    if reviewing.standing(ask.project, id_) not in reviewing.WAITS:
        raise BackstoryError(
            f"Nothing was changed: {id_[-6:]} was decided already.",
            hint="The review has what still waits.",
            code=Exit.REFUSED,
        )


def decide(ask: Ask) -> str:
    """One decision of the review."""
    review, id_, action = _review(ask), entry_id(ask.project.db, ask.path["id"]), ask.path["action"]
    _still_waits(ask, id_)
    if action == "approve":
        review.approve(id_)
    elif action == "both":
        review.both(id_)
    elif action == "reject":
        review.reject(id_, _field(ask, "reason", "the reason of a rejection"))
    elif action == "edit":
        review.edit(id_, _field(ask, "text", "the new text"))
    elif action == "merge":
        review.merge(id_, entry_id(ask.project.db, _field(ask, "into", "the entry that says the same")))
    elif action == "skip":
        review.skip(id_)
        ask.desk.skipped.append(id_)
    else:
        raise BackstoryError(f"There is no decision {action[:40]!r}.", hint="Go back to the review.")
    return "/review"


def undo(ask: Ask) -> str:
    """Take the last decision of this run back, and show what it was about again."""
    last = _review(ask).undo()
    if last is None:
        raise BackstoryError("There is nothing to undo: nothing was decided on this page yet.", hint="Go on reviewing.")
    ask.desk.skipped[:] = [id_ for id_ in ask.desk.skipped if id_ != last.id]
    return address("/review", id=last.id)


def change(ask: Ask) -> str:
    """Confirm, approve, retire or reject one entry on its own page."""
    person_only(ask)
    action = ask.path["action"]
    if action not in ON_ENTRIES:
        raise BackstoryError(f"There is no action {action[:40]!r}.", hint="Go back to the entry.")
    outcome = operate(ask.project, ask.desk.by, action, ask.path["id"], reason=ask.form.get("reason", "").strip())
    return f"/entry/{outcome.id}"


def settle(ask: Ask) -> str:
    """End a conflict: one side stands, or both do."""
    person_only(ask)
    both = ask.form.get("both") == "yes"
    operate(ask.project, ask.desk.by, "resolve", ask.path["id"], over=_field(ask, "over", "the other side"), both=both)
    return "/conflicts"


def offer(ask: Ask) -> str:
    """Share an entry with the projects of this machine that use a library that it names."""
    person_only(ask)
    share(ask.project, ask.desk.by, ask.path["id"], _field(ask, "libraries", "the library").split())
    return "/review"


def quiet(ask: Ask) -> str:
    """Keep warnings about a file quiet for a while, for this person."""
    person_only(ask)
    path = ask.path["path"]
    snooze(ask.project, ask.desk.by, path, ask.form.get("span", ""), _field(ask, "why", "the reason"))
    return f"/file/{path}"


def check(ask: Ask) -> str:
    """Start the doctor or the check of the log; the page shows what came of it."""
    start = ask.desk.start
    if ask.path["job"] == "doctor":
        ask.desk.jobs.start("doctor", lambda: doctor(start, fix=False, now=now_micros()), now_micros)
        return "/doctor"
    if ask.path["job"] == "verify":
        config = ask.project.config
        ask.desk.jobs.start("verify", lambda: verify(config, now_micros()), now_micros)
        return "/log"
    if ask.path["job"] == "compare":
        ask.desk.jobs.start("compare", lambda: _compare(start), now_micros)
        return "/conflicts"
    raise BackstoryError(f"There is no check {ask.path['job'][:40]!r}.", hint="Go back.")


def _compare(start: str) -> None:
    with open_project(start) as project:
        compare_all(project)


ACTIONS: tuple[Action, ...] = (
    Action("/review/undo", undo),
    Action("/review/{id}/{action}", decide),
    Action("/entry/{id}/{action}", change),
    Action("/conflict/{id}", settle),
    Action("/share/{id}", offer),
    Action("/quiet/{path:path}", quiet),
    Action("/check/{job}", check),
)
