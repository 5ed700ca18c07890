"""A command failed, files of the project were changed, and the same command passed.

The strongest sign there is that something was learned: nobody's words are needed for it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from backstory.project.capture.candidate import Candidate, Evidence
from backstory.project.capture.flakes import is_flake, is_install, is_look, is_missing
from backstory.project.capture.story import Changed, Ran, Story
from backstory.project.capture.wording import because, command_of, listed, same_failure, summary, unique

NAME = "red-edit-green"
ACTIVE = True

# More files than these are a new piece of work, not what made a command pass.
MOST_CHANGED = 8
# A failure that was left alone for this many steps is not what the work was about any more.
FARTHEST = 400
_PROSE = (".md", ".txt", ".rst", ".adoc")


class _Red(msgspec.Struct):
    """A command that fails: since when, how last, and what was changed since."""

    first: Ran
    last: Ran
    at: int
    changes: list[Changed]
    times: int = 1
    # Something was installed since.
    installed: bool = False


def detect(story: Story) -> Iterator[Candidate]:
    """The commands that failed until files were changed."""
    red: dict[tuple[str, str], _Red] = {}
    for number, step in enumerate(story.steps):
        if isinstance(step, Changed):
            for failing in red.values():
                if len(failing.changes) <= MOST_CHANGED * 4:
                    failing.changes.append(step)
        elif isinstance(step, Ran) and step.line.same:
            if is_install(step):
                for failing in red.values():
                    failing.installed = True
            key = (step.folder, step.line.same)
            if step.outcome == "failed":
                _failed(red, key, step, number)
            elif step.outcome == "ok" and (was := red.pop(key, None)) and number - was.at <= FARTHEST:
                yield from _passed(was, step)


def _failed(red: dict[tuple[str, str], _Red], key: tuple[str, str], step: Ran, number: int) -> None:
    before = red.get(key)
    # A flake in between says nothing, and hides nothing either.
    if is_look(step) or is_flake(step):
        return
    if before is None:
        red[key] = _Red(step, step, number, [])
        if len(red) > 50:
            del red[next(iter(red))]
    else:
        before.last, before.at, before.changes, before.times = step, number, [], before.times + 1
        before.installed = False


def _passed(was: _Red, step: Ran) -> Iterator[Candidate]:
    files = unique(change.path for change in was.changes)
    if not files or len(files) > MOST_CHANGED or (was.installed and is_missing(was.last)):
        return
    if all(path.endswith(_PROSE) for path in files) and not any(path in was.last.output for path in files):
        return
    command = command_of(step)
    times = f"{was.times} times " if was.times > 1 else ""
    yield Candidate(
        NAME,
        "trial",
        {
            "summary": summary(f"{command} failed{because(was.last)} until {listed(files)} {_were(files)} changed"),
            "detail": f"{command_of(step, 300)} failed {times}and passed after the change of {', '.join(files)}.",
            "outcome": "worked",
            "failure_mode": was.last.error,
            "command": step.line.same,
            "files": files,
        },
        (
            Evidence(was.last.offset, f"{command} failed"),
            *(Evidence(change.offset, f"{change.path} changed") for change in was.changes[:5]),
            Evidence(step.offset, f"{command} passed"),
        ),
        step.at,
        weight=5.0 + (1.0 if was.last.error else 0.0) - 0.2 * len(files),
        key=same_failure(was.last.error, files),
    )


def _were(files: tuple[str, ...]) -> str:
    return "were" if len(files) > 1 else "was"
