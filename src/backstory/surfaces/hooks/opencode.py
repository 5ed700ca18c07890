"""OpenCode: its plugin (`project/clients/opencode_plugin.js`) asks, and adds the `context` of the answer."""

from __future__ import annotations

from backstory.surfaces.hooks import events
from backstory.surfaces.hooks.payload import Payload, envelope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from backstory.surfaces.hooks.events import Answer

_EDITS = ("edit", "write", "multiedit", "patch")
_LOOKS = ("read", "grep", "glob")


def system_transform(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """The brief, part of the system prompt: asked for with each request, the same each time."""
    given = Payload(stdin)
    return _context(events.started(given.cwd, given.text("session_id"), "resume", now))


def tool_after(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Notes on what was read; a warning where an edit brings a failed attempt back."""
    given = Payload(stdin)
    session, tool = given.text("session_id"), given.text("tool_name")
    path = given.text("tool_input.filePath", "tool_input.path")
    if tool in _EDITS:
        added = given.text("tool_input.newString", "tool_input.content")
        return _context(events.edited(given.cwd, session, [path], added, now))
    return _context(events.looked_at(given.cwd, session, [path], now)) if tool in _LOOKS else (b"", [])


def compacting(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """The brief once more: what was said before is about to be summed up."""
    given = Payload(stdin)
    return _context(events.started(given.cwd, given.text("session_id"), "compact", now))


def _context(answer: Answer) -> tuple[bytes, list[str]]:
    return (envelope(context=answer.text) if answer.text else b""), answer.notices


EVENTS: dict[str, Callable[[bytes, int], tuple[bytes, list[str]]]] = {
    "experimental.chat.system.transform": system_transform,
    "tool.execute.after": tool_after,
    "experimental.session.compacting": compacting,
}
