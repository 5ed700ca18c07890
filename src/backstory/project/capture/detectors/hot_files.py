"""A file that was changed in several sessions, and in some of them what ran next failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backstory.project.capture.candidate import Candidate, Evidence
from backstory.project.capture.flakes import is_flake, is_look
from backstory.project.capture.story import Changed, Ran, Story
from backstory.project.capture.wording import because, command_of, summary

NAME = "hot-files"
ACTIVE = False

SESSIONS, FAILED = 3, 2


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
                    for path in waiting:
                        failed.setdefault(path, {}).setdefault(story.session, step)
                waiting = {}
    for path, sessions in sorted(changed.items()):
        bad = failed.get(path, {})
        if len(sessions) >= SESSIONS and len(bad) >= FAILED:
            yield _candidate(path, sessions, bad)


def _candidate(path: str, sessions: dict[str, Changed], bad: dict[str, Ran]) -> Candidate:
    last = max(bad.values(), key=lambda ran: ran.at or 0)
    why = f"{command_of(last)} failed{because(last)}"
    return Candidate(
        NAME,
        "hotfile",
        {
            "summary": summary(
                f"{path} was changed in {len(sessions)} sessions; in {len(bad)} of them what ran next failed,"
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
