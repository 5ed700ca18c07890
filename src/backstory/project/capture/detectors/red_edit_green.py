"""A command failed, files of the project were changed, and the same command passed.

The strongest sign there is that something was learned: nobody's words are needed for it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

import msgspec

from backstory.project.capture.between import was_on_purpose
from backstory.project.capture.candidate import Candidate, Evidence
from backstory.project.capture.flakes import is_flake, is_install, is_look, is_missing
from backstory.project.capture.story import Changed, Ran, Story
from backstory.project.capture.wording import because, command_of, is_test, listed, same_failure, summary, unique

NAME = "red-edit-green"
ACTIVE = True

# More files than these are a new piece of work, not what made a command pass.
MOST_CHANGED = 8
# A failure that was left alone for this many steps is not what the work was about any more.
FARTHEST = 400
MOST_RED = 50
_SLIP = re.compile(
    r"(?i)not used\b|\bunused\b|SyntaxError|unexpected token|is declared but|would reformat|prettier|code style|E501"
)
_PROSE = (".md", ".txt", ".rst", ".adoc")


class _Red(msgspec.Struct):
    """A command that fails: how last, where in the story, and what was changed since."""

    last: Ran
    at: int
    changes: list[Changed]
    # What was changed shortly before it failed.
    before: list[Changed]
    times: int = 1
    # Something was installed since.
    installed: bool = False


def detect(story: Story) -> Iterator[Candidate]:
    """The commands that failed until files were changed."""
    reds = _Reds()
    for number, step in enumerate(story.steps):
        if isinstance(step, Changed):
            reds.changed(step)
        elif isinstance(step, Ran) and step.line.same:
            was = reds.ran(step, number)
            # What was broken to see it fail taught nothing.
            if was and not was_on_purpose(story.steps[max(0, was.at - 3) : number]):
                yield from _passed(was, step)


class _Reds:
    """The commands that fail at this point of a session."""

    def __init__(self) -> None:
        self.red: dict[tuple[str, str], _Red] = {}
        self.recent: deque[Changed] = deque(maxlen=MOST_CHANGED)

    def changed(self, step: Changed) -> None:
        self.recent.append(step)
        for failing in self.red.values():
            if len(failing.changes) <= MOST_CHANGED * 4:
                failing.changes.append(step)

    def ran(self, step: Ran, number: int) -> _Red | None:
        """What failed before and passed now."""
        if is_install(step):
            for failing in self.red.values():
                failing.installed = True
        key = (step.folder, step.line.same)
        if step.outcome == "failed":
            self._failed(key, step, number)
        elif step.outcome == "ok":
            was = self.red.pop(key, None)
            return was if was and number - was.at <= FARTHEST else None
        return None

    def _failed(self, key: tuple[str, str], step: Ran, number: int) -> None:
        # A flake in between says nothing, and hides nothing either.
        if is_look(step) or is_flake(step):
            return
        was = self.red.pop(key, None)
        times = was.times + 1 if was else 1
        self.red[key] = _Red(step, number, [], list(self.recent), times)
        if len(self.red) > MOST_RED:
            del self.red[next(iter(self.red))]


def _passed(was: _Red, step: Ran) -> Iterator[Candidate]:
    files = unique(change.path for change in was.changes)
    made = {(change.path, change.old, change.new) for change in was.before}
    if all((change.path, change.new, change.old) in made for change in was.changes):
        # Taken back, not mended.
        return
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
        weight=_weight(was.last, files),
        key=same_failure(was.last.error, files),
    )


def _weight(last: Ran, files: tuple[str, ...]) -> float:
    """A slip, or a test that was wrong itself, is worth less than what was wrong in the code."""
    weight = 5.0 + (1.0 if last.error else 0.0) - 0.2 * len(files)
    if _SLIP.search(last.error):
        weight -= 2.0
    return weight - (1.0 if all(is_test(path) for path in files) else 0.0)


def _were(files: tuple[str, ...]) -> str:
    return "were" if len(files) > 1 else "was"
