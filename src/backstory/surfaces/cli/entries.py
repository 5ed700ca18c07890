"""How an entry reads on a screen: in one line of a list, and in full."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from backstory.surfaces.cli.console import block, line_of, paint, shown_width, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.answers import View

_KIND_WIDTH = 10
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
_LABEL = 18
_IN_SESSION = re.compile(r"session \S+#\d+: ")


def day(instant: str) -> str:
    """The UTC day of an instant."""
    return instant[:10]


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
    return line_of(text)


def tag(text: str) -> str:
    """A tag in brackets, in the colour of what it says."""
    shown = f"[{line_of(text)}]"
    if text.startswith(("retired", "rejected", "superseded", "expired")):
        return paint(shown, "red")
    if text.startswith(("stale", "contested", "proposed", "held")):
        return paint(shown, "yellow")
    return shown


def entry_line(view: View, before: str = "") -> str:
    """`7K3QZP  2026-04-15  decision    Use WAL mode: concurrent reads [stale: ...]`, behind `before` (two spaces)."""
    short = view.short
    start = len(short) + 2 + 10 + 2 + _KIND_WIDTH + 2
    text = " ".join([headline(view), *map(tag, view.tags)])
    head = f"{paint(short, 'bold')}  {paint(day(view.at), 'dim')}  {view.kind:<{_KIND_WIDTH}}  "
    return before + head + wrap(text, start + min(2, len(before)), start + shown_width(before))


def entry_lines(views: Iterable[View], before: str = "") -> list[str]:
    """Several entries, a line each, behind `before`."""
    return [entry_line(view, before) for view in views]


def standing_words(view: View) -> str:
    """Standing and freshness in words; an entry that does not count has no freshness worth a word."""
    words = [view.standing]
    if view.live:
        words.append("fresh" if view.fresh else "stale")
    return ", ".join(words)


def full(view: View) -> list[str]:
    """An entry with everything that it says and rests on."""
    colour = "green" if view.live and view.fresh else "yellow" if view.live or view.standing == "proposed" else "red"
    lines = [f"{view.kind} {paint(view.short, 'bold')}  {paint(standing_words(view), colour)}"]
    lines += [block(view.summary, 2)]
    tags = " ".join(map(tag, view.tags))
    lines += [f"  {wrap(tags, 2, 2)}"] if tags else []
    if view.fields.get("detail"):
        lines += ["", block(str(view.fields["detail"]), 2)]
    lines.append("")
    lines += [row(label, line_of(value)) for label, value in _rows(view)]
    return lines


def row(label: str, value: str) -> str:
    """A label and what belongs to it, which the caller has cleaned."""
    return f"  {paint(f'{label:<{_LABEL}}', 'dim')}{wrap(value, 2 + _LABEL, 2 + _LABEL)}"


def _rows(view: View) -> Iterable[tuple[str, str]]:
    fields = view.fields
    for name, label in _FIELDS.items():
        if fields.get(name):
            for item in _items(fields[name]):
                yield label, line_of(item)
    for name in sorted(set(fields) - set(_FIELDS) - _SHOWN):
        yield name, line_of(fields[name])
    if view.files:
        yield "files", ", ".join(view.files)
    if view.issue and view.kind != "issue":
        yield "issue", view.issue
    if fields.get("pinned"):
        yield "pinned", "yes"
    who = " ".join(part for part in (view.by.get("name", ""), f"({view.by['kind']})") if part)
    where = f", branch {view.branch}" if view.branch else ""
    yield "recorded", f"{day(view.at)} by {who}{where}"
    if view.confirmed_at:
        yield "confirmed", day(view.confirmed_at)
    if view.ended:
        reason = f": {view.ended['reason']}" if view.ended.get("reason") else ""
        yield "ended", f"{day(view.ended['at'])} by {view.ended['by'] or 'unknown'}{reason}"
    # Places in transcripts are shown with what stands there.
    yield from (("rests on", item) for item in view.evidence if not _IN_SESSION.match(item))
    yield "id", view.id


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]
