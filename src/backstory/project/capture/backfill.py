"""Backfill: all old transcripts, and the whole git history, once.

Every transcript is read and captured in the order in which the sessions ended; what was backed out in git is brought
into the history. It can be stopped at any time and goes on where it stopped; a second run adds nothing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping

import msgspec

from backstory.project.capture.running import Captured, capture
from backstory.project.opened import Project
from backstory.records.times import format_instant


class Backfilled(msgspec.Struct, frozen=True):
    """What a backfill did: transcripts there are by client, what capture did, commits and attempts that git backed out.

    `oldest` is when the first session of this project began, "" without one.
    """

    transcripts: dict[str, int]
    captured: Captured
    commits: int
    backed_out: int
    oldest: str
    seconds: float
    dry_run: bool


Telling = Callable[[str, int, int], None]


def backfill(
    project: Project, env: Mapping[str, str], home: str, *, dry_run: bool = False, tell: Telling | None = None
) -> Backfilled:
    """Read everything old. `tell` is told what is read, how much of it is done and how much there is."""
    from backstory.project.history.refresh import refresh
    from backstory.project.sessions.answers import archive
    from backstory.project.sessions.reading import own_files

    began = time.monotonic()
    counts = Counter(found.client for found in own_files(project.config, env, home))
    captured = capture(
        project, env, home, dry_run=dry_run,
        progress=None if tell is None else lambda done, all_: tell("transcripts", done, all_),
    )  # fmt: skip
    if not dry_run:
        refresh(project, all_words=True, progress=tell)
    with archive(project) as db:
        oldest = db.execute("SELECT min(began) FROM sessions").fetchone()[0] if db is not None else None
    commits = project.db.execute("SELECT count(*) FROM documents WHERE source = 'commit'").fetchone()[0]
    backed_out = project.db.execute("SELECT count(*) FROM entries WHERE source = 'git'").fetchone()[0]
    return Backfilled(
        transcripts=dict(sorted(counts.items())),
        captured=captured,
        commits=commits,
        backed_out=backed_out,
        oldest=format_instant(oldest) if oldest else "",
        seconds=round(time.monotonic() - began, 1),
        dry_run=dry_run,
    )
