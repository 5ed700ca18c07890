"""Instants: aware UTC microseconds since the epoch inside the program, ISO 8601 with `Z` in the log.

A naive time is refused (`ValueError`), never guessed.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

MICROS = 1_000_000
DAY = 86_400 * MICROS
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_micros(moment: datetime) -> int:
    """Microseconds since the epoch of an aware datetime; `ValueError` for a naive one."""
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    delta = moment - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * MICROS + delta.microseconds


def parse_instant(text: str) -> int:
    """Microseconds for an ISO 8601 instant with a zone; `ValueError` otherwise."""
    return to_micros(datetime.fromisoformat(text.strip()))


def format_instant(micros: int) -> str:
    """`2026-11-30T14:41:29.000001Z`: fixed width, so that text order is time order."""
    moment = _EPOCH + timedelta(microseconds=micros)
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def format_date(micros: int) -> str:
    """The UTC day, `2026-11-30`."""
    return format_instant(micros)[:10]


def month_of(micros: int) -> str:
    """The UTC month as shard names carry it, `202611`."""
    text = format_instant(micros)
    return text[:4] + text[5:7]


def revisit_instant(text: str) -> int | None:
    """The instant of a `revisit_when` that is a day or an instant; None for one in words."""
    try:
        return parse_instant(f"{text}T00:00:00Z" if len(text) == 10 else text)
    except ValueError:
        return None
