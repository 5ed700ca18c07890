"""Windsurf: its hooks take no context; a write is noted, and can be refused with exit code 2 and a word on stderr.

We never end with another code than 0, so a refusal is said on stderr and the write goes on.
"""

from __future__ import annotations

from backstory.surfaces.hooks import events
from backstory.surfaces.hooks.payload import Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def pre_write_code(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note a write; what speaks against it is said to the person."""
    given = Payload(stdin)
    path = given.text("tool_info.file_path")
    added = "\n".join(given.texts("tool_info.edits", "new_string"))
    answer = events.about_to_edit(_folder(given), given.text("trajectory_id"), [path], added, now)
    return b"", [*answer.notices, *filter(None, [answer.refusal])]


def post_write_code(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Nothing more: the write was noted before."""
    return b"", []


def post_cascade_response(stdin: bytes, now: int) -> tuple[bytes, list[str]]:
    """Note that the agent came to rest."""
    given = Payload(stdin)
    return b"", events.ended(_folder(given), given.text("trajectory_id"), "stopped", "", now).notices


def _folder(given: Payload) -> str:
    """It names no folder: the written file does."""
    path = given.text("tool_info.file_path")
    return path.rpartition("/")[0] if path.startswith("/") else given.cwd


EVENTS: dict[str, Callable[[bytes, int], tuple[bytes, list[str]]]] = {
    "pre_write_code": pre_write_code,
    "post_write_code": post_write_code,
    "post_cascade_response": post_cascade_response,
}
