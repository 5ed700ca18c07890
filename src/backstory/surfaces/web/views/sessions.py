"""Sessions of agents in this project, from what was read of their transcripts."""

from __future__ import annotations

from backstory.project.sessions import answers
from backstory.project.sessions.reading import is_on
from backstory.surfaces.web.asking import PER_PAGE, Ask, Shown


def show(ask: Ask) -> Shown:
    """The sessions, newest first; nothing is read here."""
    client, path = ask.query.get("client", "").strip(), ask.query.get("path", "").strip()
    found = answers.listed(ask.project, limit=PER_PAGE, client=client, path=path)
    data = {"found": found, "on": is_on(ask.project.config), "client": client, "path": path}
    return Shown("sessions.html", "Sessions", data)


def one(ask: Ask) -> Shown:
    """One session: what was asked and done, what failed, what it recorded."""
    detail = answers.shown(ask.project, ask.path["id"])
    return Shown("session.html", detail.session.title or detail.session.id, {"detail": detail})
