"""VS Code and Copilot: `sessionId` in camelCase, a source that is always "new"; a prompt takes no context."""

from __future__ import annotations

from backstory.surfaces.hooks import events, replies
from backstory.surfaces.hooks.payload import Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


_EDITS = ("editFiles", "createFile", "insertEdit", "replaceString", "applyPatch", "edit", "create")


def session_start(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """The brief."""
    given = Payload(stdin)
    return replies.context("SessionStart", events.started(given.cwd, _session(given), given.text("source"), now))


def user_prompt_submit(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Nothing: what is said here reaches no model."""
    return b"", []


def pre_tool_use(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note an edit; refuse it once where the project asked for that."""
    given = Payload(stdin)
    if given.text("tool_name") not in _EDITS:
        return b"", []
    answer = events.about_to_edit(given.cwd, _session(given), _paths(given), _added(given), now)
    return replies.denial(answer)


def post_tool_use(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Notes on what was read; a warning where an edit brings a failed attempt back."""
    given = Payload(stdin)
    if given.text("tool_name") in _EDITS:
        answer = events.edited(given.cwd, _session(given), _paths(given), _added(given), now)
    else:
        answer = events.looked_at(given.cwd, _session(given), _paths(given), now)
    return replies.context("PostToolUse", answer)


def pre_compact(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note where the session stood."""
    return _end(stdin, "compacted", now)


def stop(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note that the agent came to rest."""
    return _end(stdin, "stopped", now)


def _end(stdin: bytes, how: str, now: int) -> tuple[bytes, list[str]]:
    given = Payload(stdin)
    return b"", events.ended(
        given.cwd, _session(given), how, given.text("transcript_path"), now, client="copilot"
    ).notices


def _session(given: Payload) -> str:
    return given.text("sessionId", "session_id")


def _paths(given: Payload) -> list[str]:
    path = given.text("tool_input.filePath", "tool_input.file_path", "tool_input.path")
    return [path] if path else given.texts("tool_input.files")


def _added(given: Payload) -> str:
    return given.text("tool_input.newString", "tool_input.content", "tool_input.code", "tool_input.new_string")


EVENTS: dict[str, Callable[[bytes, int], tuple[bytes, list[str]]]] = {
    "SessionStart": session_start,
    "UserPromptSubmit": user_prompt_submit,
    "PreToolUse": pre_tool_use,
    "PostToolUse": post_tool_use,
    "PreCompact": pre_compact,
    "Stop": stop,
}
