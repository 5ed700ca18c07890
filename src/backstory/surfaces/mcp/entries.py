"""An entry as a reply shows it: as fields for programs, and as lines for a model to read inside the fence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from backstory.project.answers import View
from backstory.project.fencing import inert
from backstory.records.hostile import fenced

# Of a kind's own fields and the common ones, those that a reader needs; in this order.
_OWN = (
    "detail", "rationale", "alternatives_rejected", "outcome", "failure_mode", "command", "path", "why_hot", "name",
    "description", "examples", "observation", "location", "libraries", "aliases", "scope", "supersedes", "valid_from",
    "valid_until", "decay_days", "revisit_when", "pinned",
)  # fmt: skip
# Before a model these say little.
_UNSAID = frozenset(("aliases", "decay_days", "path", "pinned", "supersedes"))
# A reply of 10,000 tokens makes Claude Code warn, one of 25,000 it cuts; at four characters a token this is 8,000.
CHARACTERS = 32_000
_LINE = 600


def fields_of(item: View) -> dict[str, Any]:
    """The entry for programs. The first ten are always there; others are left out when they are empty."""
    fields = {
        "id": item.id,
        "kind": item.kind,
        "summary": item.summary,
        "standing": item.standing,
        "fresh": item.fresh,
        "stale_reasons": item.stale_reasons,
        "tags": item.tags,
        "superseded_by": item.superseded_by,
        "sources": item.evidence,
        "date": item.at,
    }
    others = {
        "confirmed_at": item.confirmed_at,
        "by": item.by,
        "files": item.files,
        "issue": item.issue if item.issue != item.id else "",
        "contested_with": item.contested_with,
        "ended": item.ended,
        **{name: item.fields.get(name) for name in _OWN},
    }
    shown: dict[str, Any] = inert(fields | {name: value for name, value in others.items() if value})
    return shown


def lines_of(item: View, remark: str = "") -> list[str]:
    """The entry as lines of our own beginning, whatever the stored text holds."""
    said = "; ".join([item.standing, *(tag for tag in item.tags if tag != item.standing)])
    head = f"- {item.short} {item.kind}, {item.at[:10]}, {fenced(said, _LINE)}: {fenced(item.summary, _LINE)}"
    lines = [f"{head} ({fenced(remark, _LINE)})" if remark else head]
    for name in _OWN:
        value = item.fields.get(name)
        if value and name not in _UNSAID:
            lines.append(f"  {name}: {fenced(_joined(value), _LINE)}")
    if item.issue and item.issue != item.id:
        lines.append(f"  case: {fenced(item.issue, _LINE)}")
    if item.files:
        lines.append(f"  files: {fenced(', '.join(item.files), _LINE)}")
    if item.evidence:
        lines.append(f"  sources: {fenced(', '.join(item.evidence), _LINE)}")
    return lines


def _joined(value: Any) -> str:
    return "; ".join(str(item) for item in value) if isinstance(value, list | tuple) else str(value)


def fitting(items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first of `items`, at least one, that a reply has room for."""
    kept: list[dict[str, Any]] = []
    room = CHARACTERS
    for item in items:
        room -= len(msgspec.json.encode(item))
        if room < 0 and kept:
            break
        kept.append(item)
    return kept
