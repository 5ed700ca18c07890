"""What people write for a date, a number, a duration or a list, read as what it means. Nothing here raises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from backstory.records.times import to_micros
from backstory.sources.frontmatter import Value, says_something

NO_ZONE = "a date without a zone, read as UTC"
NO_DATE = "not a date"
NO_NUMBER = "not a number"
NO_DURATION = "not a duration"

_DATE = re.compile(
    r"""\W*(\d{4})[-/](\d\d?)[-/](\d\d?)
        (?:[T\ ]+(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,6})\d*)?)?
           \s*(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?
        (?![\w:])""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = re.compile(r"\W*?(-?\d+(?:[,_ ]\d{3})+|-?\d+)(\.\d+)?\s*([kKmM])?(?![\w.])")
_UNITS = {"d": 1440.0, "h": 60.0, "m": 1.0, "s": 1 / 60}
_UNIT = r"(days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)"
_AMOUNT = r"(\d{1,9}(?:[.,]\d{1,9})?)"
_RANGE = re.compile(rf"{_AMOUNT}\s*{_UNIT}?\s*(?:-|\u2013|to)\s*{_AMOUNT}\s*{_UNIT}?\b")
_PART = re.compile(rf"{_AMOUNT}\s*{_UNIT}(?![a-z])(?:\s*(?:,|and|\+)?\s*)")
_CLOCK = re.compile(r"(\d{1,3}):(\d\d)(?::(\d\d))?$")
_HOURS_AND_MINUTES = re.compile(r"(\d{1,9})\s*h\s*(\d{1,2})$")
_IN_WORDS = {"half an hour": 30.0, "an hour": 60.0, "one hour": 60.0, "a day": 1440.0, "one day": 1440.0}
_NOTHING = {"", "~", "null", "none", "n/a", "na", "-", "\u2014", "tbd", "unknown", "nothing"}


def instant(text: str) -> tuple[int | None, str | None]:
    """Microseconds since the epoch, and what was wrong. A day is its first moment."""
    match = _DATE.match(text)
    if not match:
        return None, NO_DATE
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    fraction, zone = int((match[7] or "").ljust(6, "0")), match[8] or ""
    try:
        moment = datetime(year, month, day, hour, minute, second, fraction, tzinfo=UTC)
    except ValueError:
        return None, NO_DATE
    return to_micros(moment) - _offset_minutes(zone) * 60_000_000, None if zone else NO_ZONE


def _offset_minutes(zone: str) -> int:
    """Minutes east of Greenwich of `+02:00`, `-0530`, `+02`; 0 for a zone by name."""
    if zone[:1] not in ("+", "-"):
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return int(zone[0] + "1") * (int(digits[:2]) * 60 + int(digits[2:]))


def integer(text: str) -> tuple[int | None, str | None]:
    """A whole number: `12,345`, `~12`, `12k`, `1.2M`, `7 files`."""
    found, problem = number(text)
    return (None if found is None else round(found)), problem


def number(text: str) -> tuple[float | None, str | None]:
    """A number at the beginning of the text, what follows being its unit."""
    match = _NUMBER.match(text)
    if not match or len(match[1]) > 18:
        return None, NO_NUMBER
    value = float(re.sub(r"[,_ ]", "", match[1]) + (match[2] or ""))
    return value * {"k": 1_000, "m": 1_000_000}.get((match[3] or "").lower(), 1), None


def minutes(text: str) -> tuple[float | None, str | None]:
    """A duration in minutes: `45`, `45m`, `1h30`, `90 min`, `~2 hours`, `1:30`, `PT1H30M`; a range is its middle."""
    said = " ".join(text.lower().split()).lstrip("~<>=\u2248\u2264\u2265 ")
    said = re.sub(r"^(?:about|around|approx(?:\.|imately)?|circa|ca\.?|roughly|under|over|up to)\s+", "", said)
    if said in _IN_WORDS:
        return _IN_WORDS[said], None
    if clock := _CLOCK.match(said):
        return int(clock[1]) * 60 + int(clock[2]) + int(clock[3] or 0) / 60, None
    if short := _HOURS_AND_MINUTES.match(said):
        return int(short[1]) * 60.0 + int(short[2]), None
    if bounds := _RANGE.match(said):
        high = bounds[4] or "m"
        return (_amount(bounds[1], bounds[2] or high) + _amount(bounds[3], high)) / 2, None
    if re.match(r"p[\dt]", said):  # ISO 8601
        said = said[1:].replace("t", "", 1)
    if _PART.match(said):
        return _sum(said), None
    bare, problem = number(said)
    return (bare, None) if not problem and re.fullmatch(r"[\d.,_ ]+", said) else (None, NO_DURATION)


def _sum(said: str) -> float:
    """What the parts at the beginning of the text add up to."""
    total, at = 0.0, 0
    while part := _PART.match(said, at):
        total, at = total + _amount(part[1], part[2]), part.end()
    return total


def _amount(text: str, unit: str) -> float:
    return float(text.replace(",", ".")) * _UNITS[unit[0]]


def words(value: Value) -> str | None:
    """One line of text, or None for nothing; of a list its items, of a mapping its values."""
    line = ", ".join(strings(value)) if not isinstance(value, str) else value
    return " ".join(line.split()) or None if says_something(line) else None


def strings(value: Value) -> Iterator[str]:
    """The texts of a value in whatever shape it was given: one, several with commas, a list, a mapping."""
    if isinstance(value, str):
        yield from (part for part in (part.strip() for part in value.split(",")) if part.lower() not in _NOTHING)
    elif isinstance(value, list):
        for item in value:
            yield from [item.strip()] if isinstance(item, str) and item.strip() else strings(item)
    else:
        name = next((value[key] for key in ("id", "stem", "path", "file", "name") if key in value), None)
        yield from strings(name) if name is not None else (key for key in value if key.lower() not in _NOTHING)
