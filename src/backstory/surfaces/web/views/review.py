"""What waits for a person, one after the other, and what contradicts."""

from __future__ import annotations

from backstory.errors import BackstoryError
from backstory.project import answers, reviewing
from backstory.project.browsing import uncompared
from backstory.project.resolve import entry_id
from backstory.project.sharing.sharing import offers
from backstory.surfaces.web.asking import PER_PAGE, Ask, Shown

_MOST_OFFERED = 5


def show(ask: Ask) -> Shown:
    """One candidate with its evidence, what resembles it and what it clashes with; behind it what else waits.

    Below it failed trials that may be of use to other projects: nothing is shared by itself.
    """
    project, desk = ask.project, ask.desk
    ids = reviewing.order(project)
    first = [id_ for id_ in ids if id_ not in desk.skipped]
    # What was skipped comes round again at the end.
    line = [*first, *(id_ for id_ in ids if id_ in desk.skipped)]
    chosen = ask.query.get("id", "").strip()
    here = entry_id(project.db, chosen) if chosen else (first or [""])[0]
    if here and here not in ids:
        raise BackstoryError(f"{here[-6:]} does not wait for a person.", hint="The review has what waits.")
    last = desk.done[-1].what if desk.done else ""
    return Shown(
        "review.html",
        "Review",
        {
            "one": reviewing.candidate(project, here) if here else None,
            "queue": [answers.one_view(project, id_) for id_ in line[:PER_PAGE]],
            "total": len(ids),
            "skipped": set(desk.skipped),
            "decided": sum(decision.outcome is not None for decision in desk.done),
            "last": last,
            "offers": offers(project)[:_MOST_OFFERED],
        },
    )


def conflicts(ask: Ask) -> Shown:
    """Pairs of live entries that say different things, with both sides."""
    pairs = answers.conflicts(ask.project, compare=False)
    data = {"pairs": pairs[:PER_PAGE], "total": len(pairs), "uncompared": uncompared(ask.project)}
    return Shown("conflicts.html", "Conflicts", {**data, "job": ask.desk.jobs.get("compare")})
