"""The states that an orchestrator wrote down: objects with a time and a state, in JSON or one per line.

Which fields these are is known for the usual names and told by settings for others. What is odd costs itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from backstory.sources.json_items import Item, Json, clean, is_guess, moment_of, read_items, text_of
from backstory.sources.skipped import Skipped, Warned

TIMES = ("at", "time", "timestamp", "ts", "created_at", "updated_at", "createdAt", "updatedAt", "date")
STATES = ("state", "status", "phase", "event")
SUBJECTS = ("ticket", "stem", "task", "id", "name")
_LONGEST_DETAIL = 4_000
_LONGEST_VALUE = 500
_LONGEST_NAME = 200
_MORE = "\u2026"


@dataclass(frozen=True, slots=True)
class StateEvent:
    """Something was in a state: `at` in microseconds since the epoch, `subject` "" if the object names none.

    `detail` is JSON of the other fields, at most 4,000 characters: long ones are cut, the last left out.
    """

    at: int
    state: str
    subject: str
    detail: str
    path: str
    line: int


def read(path: str, *, time: str = "", state: str = "", subject: str = "") -> Iterator[StateEvent | Skipped | Warned]:
    """The events of a file in its order: a list, an object that holds one or has an object per subject, or lines.

    `time`, `state` and `subject` are dotted paths such as `meta.when` or `steps.0.name`; without one the usual names
    are tried in order.
    """
    times, states, subjects = (
        (given,) if given else usual for given, usual in ((time, TIMES), (state, STATES), (subject, SUBJECTS))
    )
    for item in read_items(path, {part for name in states for part in (name, name.split(".", 1)[0])}, by_key=True):
        if not isinstance(item, Item):
            yield item
            continue
        when, moment = _find(item.fields, times)
        which, value = _find(item.fields, states)
        who, name = _find(item.fields, subjects)
        at, problem = moment_of(moment)
        said = _short(_named(value))
        if at is None or not said:
            why = "no state" if not said else f"a time that is {problem}" if problem else "no time"
            yield Skipped(
                path, item.line, f"an event with {why} (looked for {', '.join(states if not said else times)})"
            )
            continue
        if is_guess(problem):
            yield Warned(path, item.line, str(problem))
        rest = {key: kept for key, kept in item.fields.items() if key not in (when, which, who)}
        yield StateEvent(at, said, _short(_named(name)) or item.key, _detail(rest), path, item.line)


def _find(fields: dict[str, Json], paths: tuple[str, ...]) -> tuple[str, Json]:
    """The first path that leads to something, and what."""
    for path in paths:
        value: Json = fields
        for part in [path] if path in fields else path.split("."):
            if isinstance(value, list) and part.isascii() and part.isdecimal():
                value = value[int(part)] if len(part) < 9 and int(part) < len(value) else None
            else:
                value = value.get(part) if isinstance(value, dict) else None
        if value not in (None, ""):
            return path, value
    return "", None


def _named(value: Json) -> str:
    """The text, or the name of an object."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("name", "id", "key", "type", "value") if key in value), None)
    return text_of(value)


def _short(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_NAME]


def _detail(fields: dict[str, Json]) -> str:
    """JSON of the fields, as many as there is room for."""
    parts: list[str] = []
    room = _LONGEST_DETAIL - 2
    for key, value in fields.items():
        name, said = _json(key[:_LONGEST_NAME]), _json(value)
        if len(said) > _LONGEST_VALUE:
            said = _json(said[:_LONGEST_VALUE] + _MORE)
        part = f"{name}:{said}"
        if len(part) < room:
            parts.append(part)
            room -= len(part) + 1
    return "{" + ",".join(parts) + "}"


def _json(value: Json) -> str:
    try:
        return clean(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except RecursionError:
        return '""'
