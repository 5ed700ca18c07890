"""Codex CLI: the shape of Claude Code, with schemas that allow no further property.

Facts of 0.171.0: the edit tool is `apply_patch`, whose patch text holds the paths; a text over 2,500 tokens is cut in
the middle; no hook runs before the person trusted it in the TUI.
"""

from __future__ import annotations

from backstory.surfaces.hooks import events, replies
from backstory.surfaces.hooks.patches import added_by, paths_of
from backstory.surfaces.hooks.payload import Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


_EDIT = "apply_patch"
# The shell, under the name that its hooks give it. It is how this client reads files.
_SHELL = "Bash"
_BEGIN = "*** Begin Patch\n"


def session_start(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """The brief; a session that is resumed would add the same one again, so it is given once."""
    given = Payload(stdin)
    answer = events.started(given.cwd, given.text("session_id"), given.text("source"), now, once=True)
    return replies.context("SessionStart", answer)


def user_prompt_submit(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Notes on the files that the prompt names."""
    given = Payload(stdin)
    answer = events.prompted(given.cwd, given.text("session_id"), given.text("prompt"), now)
    return replies.context("UserPromptSubmit", answer)


def pre_tool_use(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note an edit; refuse it once where the project asked for that."""
    given = Payload(stdin)
    patch = _patch(given)
    if not patch:
        return b"", []
    answer = events.about_to_edit(given.cwd, given.text("session_id"), paths_of(patch), added_by(patch), now)
    return replies.denial(answer)


def post_tool_use(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """A warning where an edit brings a failed attempt back, and notes on what it touched; notes on what was read."""
    given = Payload(stdin)
    session, patch = given.text("session_id"), _patch(given)
    if patch:
        return replies.context("PostToolUse", events.edited(given.cwd, session, paths_of(patch), added_by(patch), now))
    if given.text("tool_name") == _SHELL:
        return replies.context("PostToolUse", events.ran(given.cwd, session, given.text("tool_input.command"), now))
    return b"", []


def stop(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note that the agent came to rest."""
    return _end(stdin, "stopped", now)


def session_end(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """The session is over."""
    return _end(stdin, "ended", now)


def _end(stdin: bytes, how: str, now: int) -> tuple[bytes, list[str]]:
    given = Payload(stdin)
    transcript = given.text("transcript_path")
    return b"", events.ended(given.cwd, given.text("session_id"), how, transcript, now, client="codex").notices


def _patch(given: Payload) -> str:
    """The patch text; also of one that the shell is given, as models do that have no tool for it."""
    text = given.text("tool_input.command", "tool_input.input", "tool_input.patch")
    tool = given.text("tool_name")
    return text if tool == _EDIT or (tool == _SHELL and _BEGIN in text) else ""


EVENTS: dict[str, Callable[[bytes, int], tuple[bytes, list[str]]]] = {
    "SessionStart": session_start,
    "UserPromptSubmit": user_prompt_submit,
    "PreToolUse": pre_tool_use,
    "PostToolUse": post_tool_use,
    "Stop": stop,
    "SessionEnd": session_end,
}
