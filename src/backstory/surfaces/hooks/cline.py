"""Cline: an executable for each event; `contextModification` goes to the model, `cancel` is never set."""

from __future__ import annotations

from backstory.surfaces.hooks import events
from backstory.surfaces.hooks.payload import Payload, envelope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from backstory.surfaces.hooks.events import Answer

_EDITS = ("write_to_file", "replace_in_file", "new_file")


def task_start(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """The brief."""
    given = Payload(stdin)
    return _context(events.started(given.cwd, _session(given), "startup", now))


def task_resume(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """The brief, the same while what it says is the same."""
    given = Payload(stdin)
    return _context(events.started(given.cwd, _session(given), "resume", now))


def user_prompt_submit(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Notes on the files that the prompt names."""
    given = Payload(stdin)
    prompt = given.text("userPromptSubmit.prompt", "prompt")
    return _context(events.prompted(given.cwd, _session(given), prompt, now))


def post_tool_use(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Notes on what was read; a warning where an edit brings a failed attempt back."""
    given = Payload(stdin)
    tool = given.text("postToolUse.toolName", "postToolUse.tool", "tool_name")
    path = given.text("postToolUse.parameters.path", "tool_input.path")
    if tool in _EDITS:
        added = given.text("postToolUse.parameters.content", "postToolUse.parameters.diff")
        return _context(events.edited(given.cwd, _session(given), [path], added, now))
    return _context(events.looked_at(given.cwd, _session(given), [path], now)) if path else (b"", [])


def _session(given: Payload) -> str:
    return given.text("taskId", "session_id")


def _context(answer: Answer) -> tuple[bytes, list[str]]:
    if not answer.text:
        return b"", answer.notices
    return envelope(cancel=False, contextModification=answer.text, errorMessage=""), answer.notices


EVENTS: dict[str, Callable[[bytes, int], tuple[bytes, list[str]]]] = {
    "TaskStart": task_start,
    "TaskResume": task_resume,
    "UserPromptSubmit": user_prompt_submit,
    "PostToolUse": post_tool_use,
}
