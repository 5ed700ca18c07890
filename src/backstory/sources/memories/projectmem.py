"""projectmem: `.projectmem/events.jsonl`, one event a line; what a later event supersedes no longer holds there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from backstory.sources.json_items import moment_of, read_items, text_of
from backstory.sources.memories.item import Item
from backstory.sources.skipped import Skipped, Warned

NAME = "projectmem"
_KINDS = {
    "note": "note",
    "issue": "issue",
    "attempt": "trial",
    "hypothesis": "hypothesis",
    "fix": "fix",
    "decision": "decision",
    "gotcha": "lesson",
}
_OUTCOMES = {"worked": "worked", "success": "worked", "partial": "partial", "failed": "failed", "": "partial"}


def takes(path: str) -> str:
    """The file to read for `path` (a file, or a folder that has it), or ""."""
    for candidate in (path, os.path.join(path, "events.jsonl"), os.path.join(path, ".projectmem", "events.jsonl")):
        if os.path.isfile(candidate) and candidate.replace(os.sep, "/").endswith(".projectmem/events.jsonl"):
            return candidate
    return ""


def read(path: str) -> Iterator[Item | Skipped | Warned]:
    """Every event, in the order of the file."""
    found = list(read_items(path, ("type", "summary")))
    gone: dict[str, str] = {}
    for one in found:
        if not isinstance(one, Skipped | Warned):
            for old in _ids(one.fields.get("supersedes")):
                gone[old] = f"superseded there by {text_of(one.fields.get('id'))}"
    for one in found:
        if isinstance(one, Skipped | Warned):
            yield one
        else:
            yield from _item(path, one.fields, one.line, gone)


def _item(path: str, event: dict[str, Any], line: int, gone: dict[str, str]) -> Iterator[Item | Skipped | Warned]:
    kind, summary = _KINDS.get(text_of(event.get("type")), ""), text_of(event.get("summary")).strip()
    if not kind or not summary:
        yield Skipped(path, line, f"no kind of event that is known: {text_of(event.get('type'))[:40]!r}")
        return
    key = text_of(event.get("id")) or f"line {line}"
    files = [text_of(one) for one in event.get("files") or () if isinstance(one, str)]
    fields: dict[str, Any] = {"summary": summary, "detail": text_of(event.get("notes")), "files": files}
    place = text_of(event.get("location"))
    if kind == "trial":
        outcome = text_of(event.get("outcome"))
        # Without one it is "partial", as the tool itself takes it: nothing says that it failed.
        fields["outcome"] = _OUTCOMES.get(outcome, "partial")
        fields["command"] = text_of(event.get("command"))
        if outcome not in _OUTCOMES:
            yield Warned(path, line, f"the outcome {outcome[:40]!r} is unknown; read as partial")
    elif kind in ("issue", "fix"):
        fields["location"] = place
    if kind == "decision":
        fields["rationale"] = text_of(event.get("rationale") or event.get("reason"))
    at, _ = moment_of(event.get("timestamp"))
    case = text_of(event.get("issue_id"))
    # An issue is known by the id of the case, which is what its attempts and its fix name.
    yield Item(kind, fields, key, f"{os.path.basename(path)}:{line}", case, at, gone.get(key, ""))


def _ids(value: object) -> list[str]:
    return [text for one in (value if isinstance(value, list) else [value]) if (text := text_of(one))]  # type: ignore[arg-type]
