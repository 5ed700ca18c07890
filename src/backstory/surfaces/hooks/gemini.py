"""Gemini CLI: context at SessionStart, BeforeAgent and AfterTool; BeforeTool can only refuse. stdout is JSON alone."""

from __future__ import annotations

from backstory.surfaces.hooks import events, replies
from backstory.surfaces.hooks.payload import Payload, envelope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


_EDITS = ("write_file", "replace", "edit")


def session_start(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """The brief."""
    given = Payload(stdin)
    return replies.context(
        "SessionStart", events.started(given.cwd, given.text("session_id"), given.text("source"), now)
    )


def before_agent(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Notes on the files that the prompt names."""
    given = Payload(stdin)
    answer = events.prompted(given.cwd, given.text("session_id"), given.text("prompt"), now)
    return replies.context("BeforeAgent", answer)


def before_tool(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note an edit; refuse it once where the project asked for that."""
    given = Payload(stdin)
    answer = events.about_to_edit(given.cwd, given.text("session_id"), _paths(given), _added(given), now)
    if not answer.refusal:
        return b"", answer.notices
    return envelope(decision="deny", reason=replies.reason(answer)), answer.notices


def after_tool(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Notes on what was read; a warning where an edit brings a failed attempt back; what failed is noted."""
    given = Payload(stdin)
    session, tool = given.text("session_id"), given.text("tool_name")
    wrong = given.text("tool_response.error.message", "tool_response.error")
    if wrong:
        what = f"{given.text('tool_input.command', 'tool_input.file_path')} — {wrong}"
        return b"", events.failed(given.cwd, session, tool, what, now).notices
    if tool in _EDITS:
        return replies.context("AfterTool", events.edited(given.cwd, session, _paths(given), _added(given), now))
    return replies.context("AfterTool", events.looked_at(given.cwd, session, _paths(given), now))


def pre_compress(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note where the session stood."""
    return _end(stdin, "compacted", now)


def after_agent(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note that the agent came to rest."""
    return _end(stdin, "stopped", now)


def session_end(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note that the session is over."""
    return _end(stdin, "ended", now)


def _end(stdin: bytes, how: str, now: int) -> tuple[bytes, list[str]]:
    given = Payload(stdin)
    answer = events.ended(given.cwd, given.text("session_id"), how, given.text("transcript_path"), now, client="gemini")
    return b"", answer.notices


def _paths(given: Payload) -> list[str]:
    path = given.text("tool_input.file_path", "tool_input.absolute_path", "tool_input.path")
    return [path] if path else given.texts("tool_input.paths")


def _added(given: Payload) -> str:
    return given.text("tool_input.new_string", "tool_input.content")


EVENTS: dict[str, Callable[[bytes, int], tuple[bytes, list[str]]]] = {
    "SessionStart": session_start,
    "BeforeAgent": before_agent,
    "BeforeTool": before_tool,
    "AfterTool": after_tool,
    "AfterAgent": after_agent,
    "PreCompress": pre_compress,
    "SessionEnd": session_end,
}
