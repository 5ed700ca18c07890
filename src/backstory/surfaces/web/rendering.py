"""Templates: everything that goes into a page is text, cleaned of what would not show, and escaped."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from backstory.project import wording
from backstory.project.answers import View
from backstory.records.hostile import one_line

_LONGEST_LINE = 20_000
_BREAK = re.compile(r"\r\n|[\n\r\u2028\u2029]")
_TAG_CLASS = (
    ("bad", ("retired", "rejected", "superseded", "expired", "backed out")),
    ("warn", ("stale", "contested", "proposed", "held", "not in this tree")),
)


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates of the page. A name that a template misspells is an error, not an empty string."""
    made = Environment(
        loader=PackageLoader("backstory.surfaces.web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "day": _day,
        "moment": _moment,
        "count": _count,
        "tagclass": _tag_class,
        "q": _quoted,
        "urlpath": quote,
        "state": state_class,
    }
    made.globals |= {"headline": wording.headline, "rows": wording.rows, "address": address}
    return made


def render(template: str, data: dict[str, Any]) -> str:
    """A page as HTML."""
    return environment().get_template(template).render(data)


def address(path: str, /, **query: object) -> str:
    """A path of this page with a query; what is empty is left out."""
    kept = {name: str(value) for name, value in query.items() if value not in ("", None)}
    return f"{path}?{urlencode(kept)}" if kept else path


def _shown(value: object) -> object:
    """What a template puts out: each line of it clean, so that no character of it moves or hides others."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return "" if value is None else value
    if value.isascii() and value.isprintable():
        return value
    return "\n".join(map(_line, _BREAK.split(value)))


def _line(text: str) -> str:
    """A line with its indent, which code needs."""
    indent = len(text) - len(text.lstrip(" \t"))
    return text[:indent].expandtabs(4) + one_line(text, _LONGEST_LINE)


def _day(instant: str) -> str:
    return instant[:10]


def _moment(instant: str) -> str:
    return f"{instant[:10]} {instant[11:16]} UTC" if len(instant) > 16 else instant


def _count(number: int) -> str:
    return f"{number:,}"


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _tag_class(tag: str) -> str:
    return next((name for name, starts in _TAG_CLASS if tag.startswith(starts)), "plain")


def state_class(view: View) -> str:
    """good, warn or bad: how an entry counts."""
    if view.live:
        return "good" if view.fresh else "warn"
    return "warn" if view.standing == "proposed" else "bad"
