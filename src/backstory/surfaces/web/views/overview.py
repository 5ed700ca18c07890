"""What the next session would see, and why; and the memory at work, in counts."""

from __future__ import annotations

from typing import Any

from backstory.project import answers
from backstory.project.activity import weekly
from backstory.project.browsing import browse
from backstory.project.stats import stats as figures
from backstory.surfaces.web import charts
from backstory.surfaces.web.asking import Ask, Shown

_NEWEST = 8


def show(ask: Ask) -> Shown:
    """The brief line by line, what is new, and how much was recorded lately."""
    project = ask.project
    brief = answers.brief(project)
    why = {str(reason["id"]): reason for reason in brief.reasons}
    lines = [(answers.one_view(project, id_), _words(why.get(id_, {}))) for id_ in brief.ids]
    weeks = weekly(project)
    return Shown(
        "overview.html",
        "Overview",
        {
            "brief": brief,
            "lines": lines,
            "newest": browse(project, limit=_NEWEST).entries,
            "weeks": weeks,
            "chart": charts.bars(
                [(week.day, week.recorded) for week in weeks], "Entries recorded in each of the last weeks"
            ),
        },
    )


def _words(reason: dict[str, object]) -> list[str]:
    """Why a line is in the brief."""
    match = float(str(reason.get("file_match", 0)))
    words = []
    if match >= 1:
        words.append("it cites a file that is being worked on")
    elif match > 0:
        words.append("it cites a file near those that are being worked on")
    if reason.get("event_match"):
        words.append("its session or commit touched such files")
    return [*words, f"score {reason.get('score', 0)}"] if words else [f"recent: score {reason.get('score', 0)}"]


def stats(ask: Ask) -> Shown:
    """Counts, no estimates."""
    found = figures(ask.project)
    kinds: list[tuple[str, int]] = [(kind, sum(counts.values())) for kind, counts in found.entries.items()]
    data: dict[str, Any] = {"stats": found, "chart": charts.bars(kinds, "Entries by kind")}
    return Shown("stats.html", "Stats", data)
