"""projectmem: `.projectmem/events.jsonl`, one event a line; what a later event supersedes no longer holds there.

Its machine-wide memory, `~/.projectmem/global`, holds a gotcha of a library or a pattern a line.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from typing import Any

from backstory.sources.json_items import read_items, text_of
from backstory.sources.memories.item import Item
from backstory.sources.memories.reading import when
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
_GLOBAL = ".projectmem/global"


def takes(path: str) -> str:
    """What to read for `path`: the log (or a folder that has it), or what is machine-wide; or ""."""
    plain = path.replace(os.sep, "/").rstrip("/")
    if os.path.isdir(path) and plain.endswith(_GLOBAL) and _lines_in(path):
        return path
    if os.path.isfile(path) and plain.endswith(".jsonl") and os.path.dirname(plain).endswith(_GLOBAL):
        return path
    for candidate in (path, os.path.join(path, "events.jsonl"), os.path.join(path, ".projectmem", "events.jsonl")):
        if os.path.isfile(candidate) and candidate.replace(os.sep, "/").endswith(".projectmem/events.jsonl"):
            return candidate
    machine = os.path.join(path, "global")
    return machine if plain.endswith(".projectmem") and _lines_in(machine) else ""


def _lines_in(folder: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(folder), "*.jsonl")))


def read(path: str) -> Iterator[Item | Skipped | Warned]:
    """Every event, in the order of the file; of a folder with what is machine-wide every gotcha and pattern."""
    if os.path.isdir(path):
        files = _lines_in(path)
        if not files:
            yield Skipped(path, 0, "no `.jsonl` file in it")
        for file in files:
            yield from _global(file)
    elif os.path.basename(os.path.dirname(path)) == "global":
        yield from _global(path)
    else:
        yield from _log(path)


def _log(path: str) -> Iterator[Item | Skipped | Warned]:
    found = list(read_items(path, ("type", "summary")))
    if not found:
        yield Skipped(path, 0, "an empty file")
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
        why = "it has no summary" if kind else f"no kind of event that is known: {text_of(event.get('type'))[:40]!r}"
        yield Skipped(path, line, why)
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
    at, naive, problem = when(event.get("timestamp"), path, line)
    if problem:
        yield problem
    case = text_of(event.get("issue_id"))
    # An issue is known by the id of the case, which is what its attempts and its fix name.
    yield Item(kind, fields, key, f"{os.path.basename(path)}:{line}", case, at, gone.get(key, ""), naive)


def _ids(value: object) -> list[str]:
    return [text for one in (value if isinstance(value, list) else [value]) if (text := text_of(one))]  # type: ignore[arg-type]


def _global(path: str) -> Iterator[Item | Skipped | Warned]:
    """The gotchas and patterns of one machine-wide file."""
    found = list(read_items(path, ("gotcha", "pattern", "summary", "text")))
    if not found:
        yield Skipped(path, 0, "an empty file")
    for one in found:
        if isinstance(one, Skipped | Warned):
            yield one
        else:
            yield from _lesson(path, one.line, one.fields)


def _lesson(path: str, line: int, record: dict[str, Any]) -> Iterator[Item | Skipped | Warned]:
    text = next((said for name in ("gotcha", "pattern", "summary", "text") if (said := text_of(record.get(name)))), "")
    if not text.strip():
        yield Skipped(path, line, "neither a gotcha nor a pattern: it has no text")
        return
    library, versions = text_of(record.get("library")), text_of(record.get("version_range"))
    tags = [tag for one in record.get("tags") or () if isinstance(one, str) and (tag := text_of(one))]
    fields: dict[str, Any] = {"summary": text, "aliases": tags}
    if library:
        fields["libraries"] = [f"{library}@{versions}" if versions else library]
    at, naive, problem = when(record.get("discovered") or record.get("created"), path, line)
    if problem:
        yield problem
    kind = "lesson" if library or "gotcha" in record else "pattern"
    key = text_of(record.get("id")) or f"{kind} {' '.join(text.split()).casefold()}"
    place = f"global/{os.path.basename(path)}:{line}"
    origin = text_of(record.get("source_project"))
    told = (f"learned in {origin}",) if origin else ()
    yield Item(kind, fields, f"global {key}", place, "", at, "", naive, "", told)
