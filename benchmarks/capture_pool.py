"""What could be worth keeping of a session, by rules far wider than those of the detectors: what people then judge.

A detector is right about an item that people said yes to (precision), and finds a share of those that they said yes to
in the whole pool (recall). An item is known by its transcript, its kind and the byte where it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

from backstory.project.capture.story import Asked, Changed, Ran, Refused, Story
from backstory.project.capture.telling import story_of
from backstory.sources.transcripts import known, stream
from backstory.sources.transcripts.contract import Found

# A decision of a person, a failure that was mended, work that was taken back, a refusal, an issue.
DECISION, MENDED, UNDONE, REFUSED, ISSUE = "decision", "mended", "undone", "refused", "issue"
OF_DETECTOR = {
    "user-decision": DECISION, "red-edit-green": MENDED, "error-fix": MENDED, "reverted-edit": UNDONE,
    "git-undo": UNDONE, "rejection": REFUSED, "issue-note": ISSUE,
}  # fmt: skip
_UNDOES = re.compile(
    r"\bgit\s+(?:-C\s+\S+\s+)?(?:revert|restore|checkout\s+(?:--|\S+\.\w+)|reset\s+--hard|stash\s+drop|clean)\b"
)
_ISSUE = re.compile(r"(?<![\w/])#\d{1,6}\b|\b[A-Z]{2,8}-\d{1,6}\b|/issues/\d+")
_NEAR = 40


class Item(NamedTuple):
    """One thing to judge."""

    file: str
    kind: str
    offset: int
    text: str


class Everything:
    """An owner for transcripts of anywhere: every folder is the project's."""

    def owns(self, folder: str) -> bool:
        return bool(folder)

    def relative(self, path: str, cwd: str) -> str:
        text = path.replace("\\", "/")
        root = cwd.replace("\\", "/").rstrip("/") + "/"
        return text.removeprefix(root).lstrip("/")


def transcripts(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """(name from the folder, client, path) of every transcript that is judged."""
    from tests.sources.transcripts.test_golden_counts import client_of

    for path in sorted(folder.rglob("*.json*")):
        name = path.relative_to(folder).as_posix()
        client = client_of(name)
        if client and client != "opencode" and path.is_file():
            yield name, client, path


def story(client: str, path: Path) -> Story:
    """The story of a transcript."""
    reader = known.open_reader(Found(client, str(path)))
    return story_of(_somewhere(reader), Everything(), client=client, name=path.stem)


def held_out(file: str) -> bool:
    """Whether a transcript belongs to the half that nothing was tuned on."""
    return int(sha1(Path(file).name.encode()).hexdigest(), 16) % 2 == 1


def pool(file: str, told: Story) -> Iterator[Item]:
    """What could be worth keeping of a session."""
    last: dict[str, tuple[Ran, list[str]]] = {}
    changed: dict[str, int] = {}
    for number, step in enumerate(told.steps):
        if isinstance(step, Asked):
            yield from _asked(file, step)
        elif isinstance(step, Changed):
            for _, paths in last.values():
                paths.append(step.path)
            changed[step.path] = number
        elif isinstance(step, Refused):
            yield Item(file, REFUSED, step.offset, f"refused {step.what}: {step.reason}")
        elif isinstance(step, Ran):
            if _UNDOES.search(step.command) and changed:
                yield Item(file, UNDONE, step.offset, step.command)
            yield from _mended(file, step, last)
    yield from _taken_back(file, told)


def _somewhere(items: object) -> Iterator[stream.Item]:
    """Records of fixtures that name no folder belong to the project too."""
    yield stream.Facts(0, None, cwd="/project")
    yield from items  # type: ignore[misc]


def _asked(file: str, step: Asked) -> Iterator[Item]:
    if len(step.text.split()) > 1 or (not step.text.isascii() and len(step.text) > 8):
        yield Item(file, DECISION, step.offset, step.text)
    if _ISSUE.search(step.text):
        yield Item(file, ISSUE, step.offset, step.text)


def _mended(file: str, step: Ran, last: dict[str, tuple[Ran, list[str]]]) -> Iterator[Item]:
    """A program that failed, then files were changed, then it ran again, whatever came of it."""
    program = step.line.program or step.line.same
    if step.outcome == "failed":
        if program in last and last[program][1]:
            failed, paths = last[program]
            text = f"{failed.command} FAILED: {failed.error}\nthen changed: {', '.join(dict.fromkeys(paths))}\n"
            yield Item(file, MENDED, failed.offset, f"{text}then it failed again: {step.error}")
        last[program] = (step, [])
    elif program in last:
        failed, paths = last.pop(program)
        if paths:
            text = f"{failed.command} FAILED: {failed.error}\nthen changed: {', '.join(dict.fromkeys(paths))}\n"
            yield Item(file, MENDED, failed.offset, f"{text}then ran: {step.command} ({step.outcome})")


def _taken_back(file: str, told: Story) -> Iterator[Item]:
    made: dict[tuple[str, str, str], Changed] = {}
    for step in told.steps:
        if isinstance(step, Changed) and step.old is not None and step.old.strip() != step.new.strip():
            first = made.pop((step.path, step.new, step.old), None)
            if first is not None:
                yield Item(
                    file, UNDONE, first.offset, f"{step.path}: {step.old[:400]!r} became {step.new[:400]!r} again"
                )
            made[step.path, step.old, step.new] = step
