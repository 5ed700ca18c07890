"""How an entry reads, for every surface: its headline, and its fields in reading order. Texts are as stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from backstory.recall.view import View

# Fields of the kinds in reading order, with the words that stand before them.
_FIELDS = {
    "rationale": "why",
    "alternatives_rejected": "turned down",
    "outcome": "outcome",
    "failure_mode": "how it failed",
    "command": "command",
    "name": "name",
    "description": "description",
    "examples": "example",
    "observation": "observation",
    "location": "location",
    "why_hot": "why hot",
    "libraries": "library",
    "aliases": "also called",
    "scope": "scope",
    "valid_from": "valid from",
    "valid_until": "valid until",
    "revisit_when": "revisit when",
    "held": "held back",
    "detector": "found by",
}
# Shown by other means, or of no interest to a reader.
_SHOWN = frozenset(
    "id v kind at by h prev shard branch summary detail files issue ticket commit supersedes evidence pinned"
    " decay_days redacted origin path".split()
)
_IN_SESSION = re.compile(r"session \S+#\d+: ")


def headline(view: View) -> str:
    """What an entry says, in short with why or how it failed."""
    fields, text = view.fields, view.summary
    if view.kind == "hotfile" and fields.get("path"):
        text = f"{fields['path']} — {text}"
    elif view.kind == "decision" and fields.get("rationale"):
        text = f"{text}: {fields['rationale']}"
    elif view.kind == "trial":
        how = fields.get("failure_mode", "")
        outcome = fields.get("outcome", "failed")
        text = f"{text} ({outcome}: {how})" if how else f"{text} ({outcome})"
    return text


def rows(view: View) -> Iterable[tuple[str, str]]:
    """(label, value) of everything that an entry says beside its summary and detail, and of what it rests on."""
    fields = view.fields
    for name, label in _FIELDS.items():
        if fields.get(name):
            for item in _items(fields[name]):
                yield label, str(item)
    for name in sorted(set(fields) - set(_FIELDS) - _SHOWN):
        yield name, str(fields[name])
    if view.files:
        yield "files", ", ".join(view.files)
    if view.issue and view.kind != "issue":
        yield "issue", view.issue
    if fields.get("pinned"):
        yield "pinned", "yes"
    who = " ".join(part for part in (view.by.get("name", ""), f"({view.by['kind']})") if part)
    where = f", branch {view.branch}" if view.branch else ""
    yield "recorded", f"{view.at[:10]} by {who}{where}"
    if view.confirmed_at:
        yield "confirmed", view.confirmed_at[:10]
    if view.ended:
        reason = f": {view.ended['reason']}" if view.ended.get("reason") else ""
        yield "ended", f"{view.ended['at'][:10]} by {view.ended['by'] or 'unknown'}{reason}"
    # Places in transcripts are shown with what stands there.
    yield from (("rests on", item) for item in view.evidence if not _IN_SESSION.match(item))
    yield "id", view.id


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]
