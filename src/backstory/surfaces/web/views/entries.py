"""Entries in lists, in time, one by one, and found by words."""

from __future__ import annotations

from backstory.project import answers
from backstory.project.activity import weekly
from backstory.project.browsing import ALL, COUNTS, browse
from backstory.project.validation import last_instant
from backstory.records.registry import KINDS, STANDINGS
from backstory.surfaces.web import charts
from backstory.surfaces.web.asking import PER_PAGE, Ask, Shown

_MOST_PAGES = 100_000


def show(ask: Ask) -> Shown:
    """Entries with filters, a page at a time."""
    given = {name: ask.query.get(name, "").strip() for name in ("kind", "standing", "state", "path", "by", "words")}
    given["standing"] = given["standing"] or COUNTS
    page = ask.number("page", 1, _MOST_PAGES)
    found = browse(ask.project, **given, limit=PER_PAGE, offset=PER_PAGE * (page - 1))
    return Shown(
        "entries.html",
        "Entries",
        {
            "found": found,
            "given": given,
            "page": page,
            "pages": max(1, -(-found.total // PER_PAGE)),
            "kinds": list(KINDS),
            "standings": [COUNTS, ALL, *STANDINGS],
        },
    )


def timeline(ask: Ask) -> Shown:
    """What was recorded, newest first; at another time, on either axis, what held or was known then."""
    as_of, known_at = ask.query.get("as_of", "").strip(), ask.query.get("known_at", "").strip()
    found = answers.timeline(
        ask.project,
        limit=PER_PAGE * 2,
        as_of=last_instant(as_of, "as of") if as_of else None,
        known_at=last_instant(known_at, "known at") if known_at else None,
    )
    days: dict[str, list[answers.View]] = {}
    for view in found:
        days.setdefault(view.at[:10], []).append(view)
    weeks = weekly(ask.project, weeks=52)
    return Shown(
        "timeline.html",
        "Timeline",
        {
            "days": days,
            "as_of": as_of,
            "known_at": known_at,
            "more": len(found) == PER_PAGE * 2,
            "chart": charts.bars([(week.day, week.recorded) for week in weeks], "Entries in each week of a year"),
        },
    )


def one(ask: Ask) -> Shown:
    """One entry whole: what it says, what it rests on, what became of it."""
    detail = answers.show(ask.project, ask.path["id"])
    return Shown("entry.html", f"{detail.entry.kind} {detail.entry.short}", {"detail": detail, "view": detail.entry})


def search(ask: Ask) -> Shown:
    """Memory and history by words."""
    words = ask.query.get("q", "").strip()
    answer = answers.search(ask.project, words, limit=PER_PAGE) if words else None
    return Shown("search.html", "Search", {"words": words, "answer": answer})
