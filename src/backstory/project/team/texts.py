"""What a branch changes in the memory, as a section of a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from backstory.project.ci.reports import plain
from backstory.project.team.diffing import MemoryDiff

_MOST = 20
_TITLES = {
    "added": "Adds", "confirmed": "Confirms", "brought back": "Brings back", "put in doubt": "Puts in doubt",
    "withdrawn": "Withdraws",
}  # fmt: skip


def markdown(found: MemoryDiff) -> str:
    """Markdown; "" where nothing changes."""
    return "\n".join(_lines(found)) + "\n" if found.changes else ""


def _lines(found: MemoryDiff) -> Iterator[str]:
    yield "### What this branch changes in the memory"
    for what, title in _TITLES.items():
        mine = [one for one in found.changes if one.what == what]
        if not mine:
            continue
        yield from ("", f"**{title}** ({len(mine)})", "")
        for one in mine[:_MOST]:
            was = f", was {one.was}" if one.was and one.was != one.standing else ""
            why = f": {plain(one.why)}" if one.why else ""
            told = plain(", ".join(dict.fromkeys((one.standing, *one.tags))))
            yield f"- `{one.short}` {one.kind}, {told}{was}: {plain(one.summary)} (by {plain(one.by)}{why})"
        if len(mine) > _MOST:
            yield f"- and {len(mine) - _MOST} more"
