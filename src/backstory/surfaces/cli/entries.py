"""How an entry reads on a screen: in one line of a list, and in full."""

from __future__ import annotations

from collections.abc import Iterable

from backstory.project import wording
from backstory.surfaces.cli.console import block, line_of, paint, shown_width, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.answers import View

_KIND_WIDTH = 10
_LABEL = 18


def day(instant: str) -> str:
    """The UTC day of an instant."""
    return instant[:10]


def headline(view: View) -> str:
    """What an entry says, in short with why or how it failed, in one clean line."""
    return line_of(wording.headline(view))


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
    lines += [row(label, line_of(value)) for label, value in wording.rows(view)]
    return lines


def row(label: str, value: str) -> str:
    """A label and what belongs to it, which the caller has cleaned."""
    return f"  {paint(f'{label:<{_LABEL}}', 'dim')}{wrap(value, 2 + _LABEL, 2 + _LABEL)}"
