"""The log with the state of its chain, and the doctor."""

from __future__ import annotations

from backstory.project.logbook import logbook
from backstory.records.times import format_instant
from backstory.surfaces.web.asking import PER_PAGE, Ask, Shown


def show(ask: Ask) -> Shown:
    """Files of the log and the journal, what is wrong with them, and the newest events with their links."""
    page = ask.number("page", 1, 100_000)
    book = logbook(ask.project, limit=PER_PAGE, offset=PER_PAGE * (page - 1))
    pages = max(1, -(-book.total // PER_PAGE))
    return Shown("log.html", "Log", {"book": book, "page": page, "pages": pages, **_job(ask, "verify")})


def doctor(ask: Ask) -> Shown:
    """The last report of this run of the server; it takes seconds, so it is asked for."""
    return Shown("doctor.html", "Doctor", _job(ask, "doctor"))


def _job(ask: Ask, name: str) -> dict[str, object]:
    job = ask.desk.jobs.get(name)
    return {"job": job, "ended": format_instant(job.ended_at) if job.ended_at else ""}
