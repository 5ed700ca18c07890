"""A file that was changed in several sessions, and in some of them what ran next failed and named it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from backstory.project.capture.candidate import Candidate, Evidence
from backstory.project.capture.flakes import is_flake, is_look
from backstory.project.capture.story import Changed, Ran, Story
from backstory.project.capture.wording import because, command_of, is_test, summary

NAME = "hot-files"
ACTIVE = False

# Sessions that changed it, those of them that failed, and which share of all that must be.
SESSIONS, FAILED, SHARE = 3, 2, 0.15


def across(stories: Iterable[Story]) -> Iterator[Candidate]:
    """The hot files of these sessions, by path."""
    changed: dict[str, dict[str, Changed]] = {}
    failed: dict[str, dict[str, Ran]] = {}
    for story in stories:
        waiting: dict[str, Changed] = {}
        for step in story.steps:
            if isinstance(step, Changed):
                waiting[step.path] = step
                changed.setdefault(step.path, {}).setdefault(story.session, step)
            elif isinstance(step, Ran) and not is_look(step) and step.outcome in ("ok", "failed"):
                if step.outcome == "failed" and not is_flake(step):
                    for path in (path for path in waiting if posixpath.basename(path) in step.output):
                        failed.setdefault(path, {}).setdefault(story.session, step)
                waiting = {}
    for path, sessions in sorted(changed.items()):
        bad = failed.get(path, {})
        # A test that fails names its own file; that does not make the file one that bites.
        if len(sessions) >= SESSIONS and len(bad) >= max(FAILED, SHARE * len(sessions)) and not is_test(path):
            yield _candidate(path, sessions, bad)


def _candidate(path: str, sessions: dict[str, Changed], bad: dict[str, Ran]) -> Candidate:
    last = max(bad.values(), key=lambda ran: ran.at or 0)
    why = f"{command_of(last)} failed{because(last)}"
    return Candidate(
        NAME,
        "hotfile",
        {
            "summary": summary(
                f"{path} was changed in {len(sessions)} sessions; in {len(bad)} of them what ran next failed on it,"
                f" last {why}"
            ),
            "path": path,
            "why_hot": f"changed in {len(sessions)} sessions, followed by a failure in {len(bad)} of them",
            "files": (path,),
        },
        tuple(Evidence(ran.offset, f"{command_of(ran)} failed", session) for session, ran in sorted(bad.items())[:10]),
        last.at,
        weight=1.0 + 0.1 * len(bad),
        key=f"hot:{path}",
    )
