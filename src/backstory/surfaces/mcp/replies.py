"""What a call gives back: structured data, and the same as text in which stored words stay inside the fence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from backstory.errors import BackstoryError, Exit


def _argument(found: re.Match[str]) -> str:
    name = found[1].replace("-", "_")
    return f"{name}: {found[2]}" if found[2] else f"the argument {name}"


# What the lower layers advise is written for the command line. These are the same steps here.
_STEPS = (
    (re.compile(r"`backstory (timeline|review)[^`]*`"), "get_project_memory"),
    (re.compile(r"`backstory (?:show|case) ([0-9A-Z]{6,26})`"), r'search_project_memory(query="\1")'),
    (re.compile(r"`backstory (search|show|why|case)[^`]*`"), "search_project_memory"),
    (re.compile(r"`backstory (hot|issue|supersede)[^`]*`"), "record_project_memory"),
    (re.compile(r"`--why[^`]*`"), "the argument reason"),
    (re.compile(r"`--project[^`]*`"), "project_path"),
    (re.compile(r"`--([a-z-]+)(?: ([^`]*))?`"), _argument),
    (re.compile(r"`backstory (?!lift|approve|reject|resolve|redact|init|verify|doctor)([a-z]+)[^`]*`"), r"\1"),
)


class Reply(NamedTuple):
    """A finished answer; `failed` marks a refusal or a fault that the model is to see."""

    data: dict[str, Any]
    text: str
    failed: bool = False


def refusal(error: BackstoryError, project: dict[str, str] | None = None) -> Reply:
    """An expected failure: what is wrong, and the next step that helps."""
    message, hint = _plain(error.message), _plain(advice(error.hint))
    data: dict[str, Any] = {"error": {"message": message, "hint": hint, "code": error.code}}
    if project:
        data["project"] = project
    return Reply(data, f"{message}\n{hint}" if hint else message, failed=True)


def fault(error: BaseException) -> Reply:
    """A fault of ours, in one sentence; the traceback is for stderr."""
    message = f"backstory failed inside ({type(error).__name__}); the server's stderr says where."
    hint = "Try once more; if it fails again, go on without the memory and tell a person."
    return Reply({"error": {"message": message, "hint": hint, "code": Exit.FAULT}}, f"{message}\n{hint}", failed=True)


def advice(hint: str) -> str:
    """A hint of the command line as what an agent can do here."""
    for pattern, step in _STEPS:
        hint = pattern.sub(step, hint)
    return hint


def _plain(text: str) -> str:
    """Words that may quote stored text: no fence, no hidden characters, each line kept to itself."""
    from backstory.records.hostile import fenced

    return "\n".join(fenced(line, 2_000) for line in text.splitlines() if line.strip())


def text_of(head: str, name: str, lines: Sequence[str], after: Iterable[str] = ()) -> str:
    """`head` and `after` in our own words, and between them `lines` inside the fence of the project `name`."""
    from backstory.project.fencing import fence

    parts = [head, *([fence(name, lines)] if lines else []), *after]
    return "\n".join(parts)
