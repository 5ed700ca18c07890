"""What an installation would write: each file as it is and as it would be, computed and not yet written."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

from backstory.errors import BackstoryError
from backstory.project.clients.commands import HOOK_PROGRAM, PROGRAM
from backstory.project.clients.contract import MCP
from backstory.project.installing import files
from backstory.project.installing.answers import (
    CHANGE,
    CREATE,
    REFUSED,
    SAME,
    ClientNotes,
    FileChange,
    Installation,
)
from backstory.project.installing.diffs import diff
from backstory.project.installing.targets import Selection, Target, needs_program
from backstory.project.merging.file_text import packed, unpacked

_GIT_SECONDS = 5.0
# This command of git knows no literal paths, which are what everything else here asks for.
_IGNORED = ("--no-literal-pathspecs", "check-ignore", "-q", "--")


@dataclass(slots=True)
class Step:
    """One file: its bytes before and after (None: no file), and what is to be said of it."""

    target: Target
    before: bytes | None
    after: bytes | None
    state: str
    note: str = ""

    @property
    def writes(self) -> bool:
        """Whether something is to be done."""
        return self.state not in (SAME, REFUSED)

    @property
    def executable(self) -> bool:
        """Whether the file is a program."""
        return any(part.file.executable for part in self.target.parts)


class Plan:
    """Steps and notes. Nothing was written."""

    def __init__(
        self, selection: Selection, steps: list[Step], notes: tuple[str, ...] = (), *, removal: bool = False
    ) -> None:
        self.selection, self.steps, self.notes, self.removal = selection, steps, notes, removal

    def answer(self, *, applied: bool = False) -> Installation:
        """The plan as an answer. What a client cannot do is no matter when it is left."""
        chosen = self.selection
        named = {name for step in self.steps for name in step.target.clients}
        clients = tuple(
            ClientNotes(client.name, client.title, () if self.removal else (*client.cannot, *chosen.notes[client.name]))
            for client in chosen.clients
            if not self.removal or client.name in named
        )
        changes = tuple(_change(step) for step in self.steps)
        return Installation(chosen.scope, chosen.root, applied, clients, changes, self.notes)


def plan(selection: Selection) -> Plan:
    """What `install` would do."""
    targets = selection.targets()
    return Plan(selection, [step(target) for target in targets], _notes(selection, targets))


def step(target: Target) -> Step:
    """The file with all our parts in it; a file that cannot be edited is refused as a whole."""
    before = None
    try:
        before = files.read(target.path)
        file = unpacked(before or b"", target.name)
        for part in target.parts:
            file = file._replace(text=part.file.shape.put(file, part.commands))
    except BackstoryError as error:
        return Step(target, before, before, REFUSED, f"{error.message} {error.hint}")
    after = packed(file, file.text)
    if after == (before or b"") and before is not None:
        return Step(target, before, after, SAME)
    return Step(target, before, after, CREATE if before is None else CHANGE)


def _change(step: Step) -> FileChange:
    # A file that goes as it came needs no line-by-line account.
    told = step.state in (SAME, REFUSED) or (step.after is None and bool(step.note))
    shown = "" if told else diff(step.target.name, step.before, step.after)
    return FileChange(step.target.name, step.state, step.target.clients, shown, step.note)


def _notes(selection: Selection, targets: list[Target]) -> tuple[str, ...]:
    notes = []
    if needs_program(targets) and not shutil.which(HOOK_PROGRAM):
        notes.append(
            f"`{HOOK_PROGRAM}` is not on PATH: the hooks of committed files find it nowhere. Install backstory with"
            " pipx or `uv tool install`, or write your own files instead: `backstory install --user`."
        )
    committed = any(part.file.role == MCP and part.commands.committed for target in targets for part in target.parts)
    if committed and not shutil.which(PROGRAM):
        notes.append(f"`{PROGRAM}` is not on PATH: committed files start the MCP server by that name.")
    notes.extend(_unignored(selection, targets))
    return tuple(notes)


def _unignored(selection: Selection, targets: list[Target]) -> list[str]:
    """Files of one person that git would take into a commit."""
    from backstory.config import git_places
    from backstory.sources.git.run import git

    if not selection.root or git_places(selection.root) is None:
        return []
    notes = []
    for target in targets:
        if any(part.file.personal and part.file.level == "project" for part in target.parts):
            name = os.path.relpath(target.path, selection.root)
            if git([*_IGNORED, name], selection.root, timeout=_GIT_SECONDS).code == 1:
                notes.append(f"{target.name} is yours alone and git does not ignore it: keep it out of commits.")
    return notes
