"""Claude Code: what its hooks send and take.

Facts of 2.1.332, measured: what is given at PreToolUse reaches the model after the edit ran, so a file's notes are
given when it is read; a value over 10,000 characters is cut to 2 KB; `ask` is a refusal without a person; a text that
a resumed transcript holds already is not added again.
"""

from __future__ import annotations

from backstory.surfaces.hooks import events, replies
from backstory.surfaces.hooks.payload import Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_FINDS = ("Grep", "Glob")


def session_start(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """The brief."""
    given = Payload(stdin)
    return replies.context(
        "SessionStart", events.started(given.cwd, given.text("session_id"), given.text("source"), now)
    )


def user_prompt_submit(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Notes on the files that the prompt names."""
    given = Payload(stdin)
    answer = events.prompted(given.cwd, given.text("session_id"), given.text("prompt"), now)
    return replies.context("UserPromptSubmit", answer)


def pre_tool_use(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note an edit; refuse it once where the project asked for that."""
    given = Payload(stdin)
    if given.text("tool_name") not in EDITS:
        return b"", []
    answer = events.about_to_edit(given.cwd, given.text("session_id"), _paths(given), _added(given), now)
    return replies.denial(answer)


def post_tool_use(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Notes on what was read or found; a warning where an edit brings a failed attempt back."""
    given = Payload(stdin)
    tool, session = given.text("tool_name"), given.text("session_id")
    if tool in EDITS:
        return replies.context("PostToolUse", events.edited(given.cwd, session, _paths(given), _added(given), now))
    if tool == "Read":
        return replies.context("PostToolUse", events.looked_at(given.cwd, session, _paths(given), now))
    if tool in _FINDS:
        found = given.texts("tool_response.filenames") or [given.text("tool_input.path")]
        return replies.context("PostToolUse", events.looked_at(given.cwd, session, found, now))
    return b"", []


def post_tool_use_failure(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note what failed."""
    given = Payload(stdin)
    what = given.text("tool_input.command", "tool_input.file_path") + " — " + given.text("error")
    return b"", events.failed(given.cwd, given.text("session_id"), given.text("tool_name"), what, now).notices


def pre_compact(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note where the session stood."""
    return _end(stdin, "compacted", now)


def stop(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note that the agent came to rest; it is never sent on."""
    return _end(stdin, "stopped", now)


def session_end(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note that the session is over."""
    return _end(stdin, "ended", now)


def _end(stdin: bytes, how: str, now: int) -> tuple[bytes, list[str]]:
    given = Payload(stdin)
    answer = events.ended(
        given.cwd, given.text("session_id"), how, given.text("transcript_path"), now, client="claude-code"
    )
    return b"", answer.notices


def _paths(given: Payload) -> list[str]:
    path = given.text("tool_input.file_path", "tool_input.notebook_path")
    return [path] if path else []


def _added(given: Payload) -> str:
    """The text that an edit puts in."""
    text = given.text("tool_input.new_string", "tool_input.content", "tool_input.new_source")
    return text or "\n".join(given.texts("tool_input.edits", "new_string"))


EVENTS: dict[str, Callable[[bytes, int], tuple[bytes, list[str]]]] = {
    "SessionStart": session_start,
    "UserPromptSubmit": user_prompt_submit,
    "PreToolUse": pre_tool_use,
    "PostToolUse": post_tool_use,
    "PostToolUseFailure": post_tool_use_failure,
    "PreCompact": pre_compact,
    "Stop": stop,
    "SessionEnd": session_end,
}
