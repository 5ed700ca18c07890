"""A command failed and named a file; that file was changed; the next run of the same program passed.

Weaker than red-edit-green, since the two commands are not the same: proposed only.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from backstory.project.capture.between import was_on_purpose
from backstory.project.capture.candidate import Candidate, Evidence
from backstory.project.capture.flakes import is_flake, is_look, is_missing
from backstory.project.capture.story import Changed, Ran, Step, Story
from backstory.project.capture.wording import because, command_of, listed, same_failure, summary, unique

NAME = "error-fix"
ACTIVE = False

FARTHEST = 40
MOST_CHANGED = 3
# A line that names what went wrong, not one that merely stood last.
_ERROR = re.compile(
    r"(?i)error|exception|panic|failed|failure|unexpected|undefined|unresolved|invalid|cannot|not found|expected"
)


def detect(story: Story) -> Iterator[Candidate]:
    """The failures that were mended."""
    failed: dict[tuple[str, str], int] = {}
    for number, step in enumerate(story.steps):
        if not isinstance(step, Ran) or is_look(step):
            continue
        key = (step.folder, step.line.program)
        if step.outcome == "failed":
            failed[key] = number
        elif step.outcome == "ok" and (began := failed.pop(key, None)) is not None and number - began <= FARTHEST:
            yield from _mended(story.steps, began, number)


def _mended(steps: Sequence[Step], began: int, ended: int) -> Iterator[Candidate]:
    red, green = steps[began], steps[ended]
    if not isinstance(red, Ran) or not isinstance(green, Ran) or red.line.same == green.line.same:
        return
    if was_on_purpose(steps[max(0, began - 3) : ended]):
        return
    changes = [step for step in steps[began:ended] if isinstance(step, Changed)]
    files = unique(change.path for change in changes)
    named = [path for path in files if posixpath.basename(path) in red.output]
    if not named or len(files) > MOST_CHANGED or is_flake(red) or is_missing(red) or not _ERROR.search(red.error):
        return
    yield Candidate(
        NAME,
        "trial",
        {
            "summary": summary(
                f"{command_of(red)} failed{because(red)}; after {listed(files)} {'were' if len(files) > 1 else 'was'}"
                f" changed, {command_of(green)} passed"
            ),
            "outcome": "worked",
            "failure_mode": red.error,
            "command": red.line.same,
            "files": files,
        },
        (
            Evidence(red.offset, f"{command_of(red)} failed"),
            *(Evidence(change.offset, f"{change.path} changed") for change in changes[:5]),
            Evidence(green.offset, f"{command_of(green)} passed"),
        ),
        green.at,
        weight=2.0,
        key=same_failure(red.error, files),
    )
