"""The objects of a JSON file, whatever holds them: a list, several lists, one object per line or one after another.

A broken part costs itself: reading goes on at the next object that is whole. Nothing here raises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from backstory.sources.skipped import Skipped, Warned
from backstory.sources.values import NO_ZONE, instant

_MAX_BYTES = 256 << 20
_SPACE = re.compile(r"[\s,]*")
_NEXT = re.compile(r"[\n,\[]\s*(?=\{)")
_NEXT_LINE = re.compile(r"[\r\n](?=[\[{])")
# After a break so many beginnings are tried, and after so many breaks it is not this kind of file.
_MOST_TRIES = 200
_MOST_BREAKS = 1_000
_DEPTH = 4
_SHORT = 1_000
_IN_LIST, _AT_TOP, _ALONE = "in a list", "at the top", "the whole file"
_BAD = re.compile("[\0\ud800-\udfff]")
# NaN and the like are no JSON, and nothing could keep them.
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Item:
    """One object, the line of the file that it begins on, and the key that it stood under, if any."""

    fields: dict[str, Json]
    line: int
    key: str = ""


def read_items(path: str, wanted: Collection[str], *, by_key: bool = False) -> Iterator[Item | Skipped | Warned]:
    """The objects in the file, in its order: those of its lists, and those at the top that have one of `wanted`.

    Of an object at the top that has none, those are taken that it holds in lists and, with `by_key`, under keys, and
    then also those that the only object of a file holds beside its own.
    """
    text = _text(path)
    if isinstance(text, Skipped):
        yield text
        return
    if text[1]:
        yield text[1]
    for line, value, place in _values(text[0], wanted):
        if isinstance(value, _Broken):
            yield Skipped(path, line, value.why)
        elif isinstance(value, dict):
            items = [Item(value, line)]
            if place != _IN_LIST:
                held = [Item(fields, line, key) for key, fields in _held(value, wanted, by_key)]
                items = held if not _has(value, wanted) else [*items, *held] if by_key and place == _ALONE else items
            yield from items
            if not items and value:
                yield Skipped(path, line, f"no object that has one of {', '.join(sorted(wanted))}")
        elif isinstance(value, list) and all(isinstance(inner, dict) for inner in value):
            yield from (Item(inner, line) for inner in value if isinstance(inner, dict))
        else:
            yield Skipped(path, line, "no object")


def clean(text: str) -> str:
    """The text without what an escape can bring in and no database keeps."""
    return _BAD.sub("\ufffd", text)


def text_of(value: Json) -> str:
    """A text as it is, a number or a flag written out, "" for anything else."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) and abs(value) < 1e18 else ""


def moment_of(value: Json) -> tuple[int | None, str | None]:
    """Microseconds since the epoch and what was wrong: of ISO 8601, or of seconds, milli-, micro- or nanoseconds."""
    if value is None or value == "":
        return None, None
    if isinstance(value, str) and not re.fullmatch(r"\s*\d{9,20}(?:\.\d{1,20})?\s*", value):
        moment, problem = instant(value)
        # Some tools write the year 1 for "never".
        return (None, None) if value.startswith("0001-01-01") else (moment, problem)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return _epoch(float(value)) if isinstance(value, str) or abs(value) < 1e20 else (None, "not a date")
    return None, "not a date"


def _epoch(number: float) -> tuple[int | None, str | None]:
    """By its size: a number means seconds up to the year 5138, and so on."""
    for limit, factor in ((1e11, 1e6), (1e14, 1e3), (1e17, 1.0), (1e20, 1e-3)):
        if 0 < number < limit:
            return round(number * factor), None
    return None, "not a date"


def is_guess(problem: str | None) -> bool:
    """Whether what `moment_of` says was wrong left a moment all the same."""
    return problem == NO_ZONE


def _text(path: str) -> tuple[str, Warned | None] | Skipped:
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        return Skipped(path, 0, f"it cannot be read ({error.strerror})")
    except ValueError:
        return Skipped(path, 0, "its name cannot be opened")
    if len(data) > _MAX_BYTES:
        return Skipped(path, 0, "larger than 256 MiB")
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding).removeprefix("\ufeff"), None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return data.decode(encoding, "replace"), Warned(path, line, "not UTF-8, so marks stand for some characters")


@dataclass(frozen=True, slots=True)
class _Broken:
    why: str


def _values(text: str, wanted: Collection[str]) -> Iterator[tuple[int, Json | _Broken, str]]:
    """The values at the top and those of a list at the top, with their line and place."""
    at, counted, line = 0, 0, 1
    in_list, like, breaks = False, set(wanted), 0
    while breaks < _MOST_BREAKS and (at := _after_space(text, at)) < len(text):
        if text[at] == ("]" if in_list else "["):
            in_list, at = not in_list, at + 1
            continue
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, at = _DECODER.raw_decode(text, at)
            like = set(value) if isinstance(value, dict) and _has(value, wanted) else like
            alone = counted <= _SHORT and not text[:counted].strip() and not text[at : at + _SHORT].strip()
            yield line, value, _IN_LIST if in_list else _ALONE if alone else _AT_TOP
        except (RecursionError, ValueError) as error:
            why, broken = "nested too deeply, or too long a number", at + 1
            if isinstance(error, json.JSONDecodeError):
                why, broken = f"{error.msg} (line {error.lineno})", error.pos
            yield line, _Broken(f"no JSON: {why}"), _AT_TOP
            breaks += 1
            at = _resume(text, at + 1, broken, like) if in_list else _next_line(text, at)
    if breaks == _MOST_BREAKS:
        yield line, _Broken("too many lines that are no JSON, so the rest is not read"), _AT_TOP


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _next_line(text: str, at: int) -> int:
    """Where the next line begins that is an object or a list, not indented; the end if there is none."""
    begin = _NEXT_LINE.search(text, at)
    return begin.end() if begin else len(text)


def _resume(text: str, start: int, broken: int, like: set[str]) -> int:
    """Where the next item of the list begins that is whole, on a line of its own or after the break; or the end.

    An object inside of the broken item is none: it has few of the keys of the items before.
    """
    for tries, match in enumerate(_NEXT.finditer(text, start)):
        if tries >= _MOST_TRIES:
            break
        if match.end() < broken and "\n" not in match[0]:
            continue
        try:
            value, _ = _DECODER.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            continue
        if 2 * len(like & set(value)) >= len(like):
            return match.end()
    return len(text)


def _held(value: Json, wanted: Collection[str], by_key: bool, depth: int = 0) -> Iterator[tuple[str, dict[str, Json]]]:
    """The wanted objects inside of one, each with the key that it stands under unless it stands in a list."""
    if not isinstance(value, dict) or depth > _DEPTH:
        return
    for key, inner in value.items():
        for item in inner if isinstance(inner, list) else ():
            if isinstance(item, dict) and _has(item, wanted):
                yield "", item
        if isinstance(inner, dict) and by_key and _has(inner, wanted):
            yield clean(key), inner
        else:
            yield from _held(inner, wanted, by_key, depth + 1)


def _has(value: dict[str, Json], wanted: Collection[str]) -> bool:
    return any(key in value for key in wanted)
