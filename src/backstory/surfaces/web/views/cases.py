"""Cases as stories: what was wrong, what was thought and tried, what mended it."""

from __future__ import annotations

from backstory.project import answers
from backstory.project.casebook import casebook
from backstory.surfaces.web.asking import PER_PAGE, Ask, Shown

_WORDS = {
    "issue": "It began",
    "hypothesis": "A guess",
    "trial": "A trial",
    "issuenote": "It was observed",
    "fix": "It was mended",
    "decision": "It was decided",
}


def show(ask: Ask) -> Shown:
    """All cases, open ones first."""
    page = ask.number("page", 1, 100_000)
    total, found = casebook(ask.project, limit=PER_PAGE, offset=PER_PAGE * (page - 1))
    data = {"cases": found, "total": total, "page": page, "pages": max(1, -(-total // PER_PAGE))}
    return Shown("cases.html", "Cases", data)


def one(ask: Ask) -> Shown:
    """One case, step by step."""
    case = answers.case(ask.project, ask.path["id"])
    steps = [*([case.issue] if case.issue else []), *case.entries]
    told = [(_WORDS.get(view.kind, "It was noted"), view) for view in steps]
    title = f"Issue {case.ref}"
    if case.issue is not None:
        title = case.issue.summary if case.issue.live else f"{case.issue.summary} [{case.issue.standing}]"
    return Shown("case.html", title, {"case": case, "told": told})
