"""Entries as Markdown. Stored text is data: it opens no heading, list, fence, link or HTML of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backstory.recall.view import View
from backstory.records.hostile import one_line
from backstory.records.registry import KINDS

_SIGNS = frozenset("\\`*_[]<>#|~&$")
_LEADING = re.compile(r"^(\d{0,9})([-+=.)])")
_TICKS = re.compile("`+")


# An export holds more than the recent, active or open ones that a brief speaks of.
_HEADINGS = {"decision": "Decisions", "trial": "Trials", "pattern": "Patterns", "issue": "Issues"}


def heading(kind: str) -> str:
    """The heading above all entries of a kind."""
    return _HEADINGS.get(kind, KINDS[kind].HEADING)


def inline(text: str, limit: int = 4_000) -> str:
    """One line of text that is no Markdown, wherever in a line of ours it stands."""
    line = "".join(f"\\{letter}" if letter in _SIGNS else letter for letter in one_line(text, limit))
    return _LEADING.sub(r"\1\\\2", line)


def code(text: str) -> str:
    """One line of text as code: its fence is longer than any run of back-ticks in it."""
    line = one_line(text, 1_000)
    fence = "`" * (max(map(len, _TICKS.findall(line)), default=0) + 1)
    pad = " " if "`" in line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def tags(view: View) -> str:
    """What keeps an entry from counting as plainly true, each in bold, with a space before it; "" for none."""
    return "".join(f" **[{inline(tag)}]**" for tag in view.tags)


def item(view: View, *more: str) -> Iterator[str]:
    """An entry as an item of a list, with all its prose and what it rests on; `more` are Markdown items below it."""
    yield f"- {inline(view.summary)} ({view.at[:10]}, `{view.short}`, {view.standing}){tags(view)}"
    for name in (*KINDS[view.kind].PROSE, "detail"):
        value = view.fields.get(name)
        for text in value if isinstance(value, list) else [value] if value else []:
            yield f"  - {name.replace('_', ' ')}: {inline(str(text))}"
    rests = [*map(code, view.files), *map(inline, view.evidence)]
    if rests:
        yield f"  - rests on {', '.join(rests)}"
    yield from (f"  - {line}" for line in more)
