"""What is stale, and what goes stale next."""

from __future__ import annotations

from backstory.project import answers
from backstory.project.forecast import forecast
from backstory.surfaces.web import charts
from backstory.surfaces.web.asking import PER_PAGE, Ask, Shown

_COMING = 20


def show(ask: Ask) -> Shown:
    """Stale entries, and the forecast."""
    coming = forecast(ask.project, limit=_COMING)
    weeks = [("this week" if week == 0 else f"in {week} weeks", count) for week, count in enumerate(coming.weeks)]
    return Shown(
        "freshness.html",
        "Freshness",
        {
            "stale": answers.stale(ask.project, limit=PER_PAGE),
            "coming": coming,
            "chart": charts.bars(weeks, "Entries that age makes stale in each of the next weeks"),
        },
    )
