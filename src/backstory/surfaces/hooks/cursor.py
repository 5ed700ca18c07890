"""Cursor: snake_case in, `additional_context` out; a plain text on stdout is an error to it, an empty one is none."""

from __future__ import annotations

from backstory.surfaces.hooks import events, replies
from backstory.surfaces.hooks.payload import Payload, envelope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from backstory.surfaces.hooks.events import Answer


def session_start(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """The brief; it stays with the conversation."""
    given = Payload(stdin)
    return _context(events.started(given.cwd, _session(given), given.text("source"), now))


def before_submit_prompt(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Notes on the files that the prompt names. The prompt always goes on."""
    given = Payload(stdin)
    answer = events.prompted(given.cwd, _session(given), given.text("prompt"), now)
    if not answer.text:
        return b"", answer.notices
    return envelope(**{"continue": True, "additional_context": answer.text}), answer.notices


def pre_tool_use(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note an edit; refuse it once where the project asked for that."""
    given = Payload(stdin)
    answer = events.about_to_edit(given.cwd, _session(given), _paths(given), _added(given), now)
    if not answer.refusal:
        return b"", answer.notices
    return envelope(permission="deny", agent_message=replies.reason(answer)), answer.notices


def post_tool_use(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Notes on what was read; a warning where an edit brings a failed attempt back."""
    given = Payload(stdin)
    if given.text("tool_name") == "Write":
        return _context(events.edited(given.cwd, _session(given), _paths(given), _added(given), now))
    return _context(events.looked_at(given.cwd, _session(given), _paths(given), now))


def pre_compact(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note where the session stood."""
    return _end(stdin, "compacted", now)


def stop(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note that the agent came to rest."""
    return _end(stdin, "stopped", now)


def session_end(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note that the session is over."""
    return _end(stdin, "ended", now)


def _end(stdin: bytes, how: str, now: int) -> tuple[bytes, list[str]]:
    given = Payload(stdin)
    return b"", events.ended(
        given.cwd, _session(given), how, given.text("transcript_path"), now, client="cursor"
    ).notices


def _session(given: Payload) -> str:
    return given.text("conversation_id", "session_id")


def _paths(given: Payload) -> list[str]:
    path = given.text("tool_input.file_path", "tool_input.path", "tool_input.target_file", "file_path")
    return [path] if path else []


def _added(given: Payload) -> str:
    text = given.text("tool_input.content", "tool_input.contents", "tool_input.new_string", "tool_input.code_edit")
    return text or "\n".join(given.texts("edits", "new_string"))


def _context(answer: Answer) -> tuple[bytes, list[str]]:
    return (envelope(additional_context=answer.text) if answer.text else b""), answer.notices


EVENTS: dict[str, Callable[[bytes, int], tuple[bytes, list[str]]]] = {
    "sessionStart": session_start,
    "beforeSubmitPrompt": before_submit_prompt,
    "preToolUse": pre_tool_use,
    "postToolUse": post_tool_use,
    "preCompact": pre_compact,
    "stop": stop,
    "sessionEnd": session_end,
}
