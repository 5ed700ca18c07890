"""Tells a session as a story: the stream of its transcript, narrowed to what one project may learn from it.

Promise: nothing enters that is another project's, that another session has already, or that backstory itself put
there. What belongs to the project is decided for each item, by the folder it happened in or the file it touched, in the
same way as the archive does. A result is joined to its call; an edit whose call failed or was refused did not happen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import msgspec

from backstory.project.capture.story import Asked, Changed, Looked, Ran, Refused, Said, Step, Stopped, Story
from backstory.project.sessions.placing import Owning, Placed, folder_inside, placed
from backstory.sources.transcripts import stream
from backstory.sources.transcripts.commands import Line, commits_told, is_failure
from backstory.sources.transcripts.failures import error_line, verdict

# What is kept of an output (half of it from either end), of a text, and of a change, in characters.
OUTPUT, TEXT, CHANGE = 4_000, 20_000, 100_000
MOST_STEPS = 50_000
MOST_PENDING = 500

# The marks of what backstory writes: the fence, its heading, and a line of a brief with its date and id.
_OURS = re.compile(r"<project-memory|\[Project Memory|\(\d{4}-\d\d-\d\d, [0-9A-HJKMNP-TV-Z]{6}\)\s*$", re.MULTILINE)


def story_of(
    items: Iterable[stream.Item],
    owner: Owning,
    *,
    client: str = "",
    name: str = "",
    is_copy: Callable[[str], bool] = lambda key: False,
) -> Story:
    """The story of one transcript. `name` is its name where the client gives no id.

    `is_copy` tells, for the key of a turn, whether another session has it: the turn is left out then, with all that
    followed on it.
    """
    telling = _Telling(owner, is_copy)
    for item in items:
        handler = _HANDLERS.get(type(item))
        if handler is not None:
            handler(telling, item)
    facts = telling.facts
    base = facts.session or name
    session = f"{base}/{facts.agent}" if facts.agent else base
    return Story(session, client, facts.branch, tuple(telling.steps), tuple(telling.commits))


class _Pending(msgspec.Struct):
    """A call that has no result yet."""

    call: stream.Call
    place: Placed
    changes: list[Changed]


class _Telling:
    def __init__(self, owner: Owning, is_copy: Callable[[str], bool]) -> None:
        self.owner, self.is_copy = owner, is_copy
        self.facts = stream.Facts(0, None)
        self.here = False
        self.copied = False
        self.turn = 0
        self.steps: list[Step] = []
        self.commits: list[tuple[str, int]] = []
        self.pending: dict[str, _Pending] = {}
        # Calls of our own, with edits that are none of the agent's doing.
        self.own_calls: set[str] = set()

    def add(self, step: Step) -> None:
        if len(self.steps) < MOST_STEPS:
            self.steps.append(step)

    def tell(self, item: stream.Item) -> None:
        """Facts, and what a person or the agent said."""
        if isinstance(item, stream.Facts):
            self.facts = stream.merged(self.facts, item)
            if item.cwd:
                self.here = self.owner.owns(item.cwd)
        elif isinstance(item, stream.UserText):
            self.copied = bool(self.here and item.key and self.is_copy(item.key))
            if not self.here or self.copied:
                return
            self.turn += 1
            if not _is_ours(item.text):
                self.add(Asked(item.offset, item.at, self.turn, item.text[:TEXT]))
        elif isinstance(item, stream.AssistantText) and self.heard() and not _is_ours(item.text):
            self.add(Said(item.offset, item.at, self.turn, item.text[:TEXT]))

    def heard(self) -> bool:
        return self.here and not self.copied

    def call(self, item: stream.Item) -> None:
        if not isinstance(item, stream.Call) or self.copied:
            return
        if item.does == stream.MEMORY:
            self.own_calls.add(item.call)
            return
        place = placed(self.owner, item, self.facts.cwd)
        if not place.is_own and not place.paths:
            return
        if len(self.pending) < MOST_PENDING:
            self.pending[item.call] = _Pending(item, place, [])
        if item.does == stream.READ:
            for path in place.paths:
                self.add(Looked(item.offset, item.at, self.turn, path))

    def edit(self, item: stream.Item) -> None:
        if not isinstance(item, stream.Edit) or self.copied or item.call in self.own_calls:
            return
        pending = self.pending.get(item.call)
        path = self.owner.relative(item.path, (pending and pending.place.folder) or self.facts.cwd)
        if not path or path.startswith(".backstory/") or _is_ours(item.new) or (item.old and _is_ours(item.old)):
            return
        if len(item.new) > CHANGE or len(item.old or "") > CHANGE:
            item = msgspec.structs.replace(item, old=None, new="", whole=False)
        change = Changed(item.offset, item.at, self.turn, item.call, path, item.old, item.new, item.whole, item.gone)
        if pending is None:
            self.add(change)
        else:
            pending.changes.append(change)

    def result(self, item: stream.Item) -> None:
        if not isinstance(item, stream.Result):
            return
        pending = self.pending.pop(item.call, None)
        if pending is None or self.copied:
            return
        if pending.call.does == stream.SHELL and pending.place.line and pending.place.is_own:
            self._ran(pending, pending.place.line, item)
        if item.outcome != stream.ERROR:
            for change in pending.changes:
                self.add(change)

    def _ran(self, pending: _Pending, line: Line, item: stream.Result) -> None:
        command, text = pending.call.command, item.text
        if _is_ours(command):
            return
        text = "" if _is_ours(text) else text
        outcome = _outcome(command, line, item, text)
        error = error_line(text) if outcome == "failed" else ""
        if outcome != "failed":
            self.commits.extend((sha, pending.call.offset) for sha in commits_told(command, text))
        kept = text if len(text) <= OUTPUT else f"{text[: OUTPUT // 2]}\n{text[-OUTPUT // 2 :]}"
        self.add(
            Ran(
                pending.call.offset, item.at or pending.call.at, self.turn, item.call, command[:TEXT], line, outcome,
                item.code, kept, error, folder_inside(self.owner, pending.place.folder),
            )
        )  # fmt: skip

    def stop(self, item: stream.Item) -> None:
        """A person stopped the agent, or did not let a call run."""
        if not self.heard():
            return
        if isinstance(item, stream.Interrupt):
            self.add(Stopped(item.offset, item.at, self.turn))
        elif isinstance(item, stream.Rejection):
            pending = self.pending.pop(item.call, None)
            if pending is None or _is_ours(item.reason):
                return
            path = next((change.path for change in pending.changes), "")
            what, command = _what(pending, path), pending.call.command[:TEXT]
            self.add(Refused(item.offset, item.at, self.turn, item.reason[:TEXT], what, path, command))


_HANDLERS: dict[type, Callable[[_Telling, stream.Item], None]] = {
    stream.Facts: _Telling.tell,
    stream.UserText: _Telling.tell,
    stream.AssistantText: _Telling.tell,
    stream.Call: _Telling.call,
    stream.Edit: _Telling.edit,
    stream.Result: _Telling.result,
    stream.Interrupt: _Telling.stop,
    stream.Rejection: _Telling.stop,
}


def _is_ours(text: str) -> bool:
    return _OURS.search(text) is not None


def _outcome(command: str, line: Line, item: stream.Result, text: str) -> str:
    """How a command ended. Where its exit is that of a filter, or hidden, only what a runner counted tells."""
    if is_failure(command, item.outcome, item.code):
        return "failed"
    if item.outcome == stream.ERROR or not line.exit_tells or item.outcome == stream.UNKNOWN:
        return verdict(text) or "unknown"
    return "ok"


def _what(pending: _Pending, path: str) -> str:
    """What was refused, in a few words."""
    call = pending.call
    if call.command:
        return f"`{call.command}`"
    if path:
        return f"an edit of {path}"
    return "the plan" if call.does == stream.PLAN else f"a call of {call.tool}"
