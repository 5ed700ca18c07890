"""What recurs in run records and trials."""

from __future__ import annotations

from backstory.project.history.asking import known, themes
from backstory.surfaces.web import charts
from backstory.surfaces.web.asking import Ask, Shown


def show(ask: Ask) -> Shown:
    """The themes of the history as it was read last; nothing is read here."""
    found = themes(ask.project, limit=40, members=8) if known(ask.project) else None
    chart = charts.bars([(theme.label, theme.size) for theme in (found or [])[:12]], "Records in each theme")
    return Shown("themes.html", "Themes", {"themes": found, "chart": chart})
