"""Version ranges, compared by the rules of each ecosystem.

A range is a list of spans; a span holds the versions from `low` up to `high`. Python's versions are ordered by
`packaging` (PEP 440); the others by numbers, then by what stands behind them: before the release (a pre-release) or,
where the ecosystem says so, after it. What cannot be read as a range (`latest`, a URL, a branch) holds every version:
it says nothing about versions, so it rules none out.

| ecosystem | a version alone in a manifest | `~1.2.3` | `~1.2` | `^0.2` |
|---|---|---|---|---|
| pypi (Poetry's signs too) | that version | < 1.3 | < 1.3 | < 0.3 |
| npm | that version, parts left out are free | < 1.3 | < 1.3 | < 0.3 |
| cargo | as with `^` | < 1.3 | < 1.3 | < 0.3 |
| composer | that version | < 1.3 | < 2 | < 0.3 |
| gem, hex (`~>`) | that version | < 1.3 | < 2 | |
| go, maven, nuget | that version; `[1,2)` for maven and nuget | | | |
| docker, actions | that version, parts left out are free | | | |
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

_NUMBERS = re.compile(r"[vV]?(\d+(?:\.\d+)*)(.*)$", re.DOTALL)
_TERM = re.compile(r"(\^|~>|~=|~|===?|!=|>=|=>|<=|=<|>|<|=)?\s*([vV]?\d[^\s,|&]*|[xX*](?![\w]))")
_BRACKETS = re.compile(r"([\[(])\s*([^,\[\]()]*)\s*(,?)\s*([^,\[\]()]*)\s*([\])])")
_WORDS = re.compile(r"\d+|[a-z]+")
# Behind the release, not before it.
_AFTER = {"maven": ("sp", "jre", "android"), "composer": ("p", "pl", "patch"), "gem": ()}
_SAME = {"maven": ("final", "ga", "release")}
_STAGES = {"maven": ("alpha", "a", "beta", "b", "milestone", "m", "rc", "cr", "snapshot")}
# A suffix of a tag names a variant (`16-alpine`), not a version.
_NO_SUFFIX = ("docker", "actions")
_FREE = ("npm", "docker", "actions")
_WIDE_TILDE = ("composer", "gem", "hex")
# `~=` and `~>` leave the last part that is given free, `~` of npm and Cargo never more than the third.
_MIN_TILDE = 2


class Span(NamedTuple):
    """Versions between two bounds; None is no bound."""

    low: Any = None
    low_in: bool = True
    high: Any = None
    high_in: bool = False


def matches(ecosystem: str, asked: str, *, locked: Iterable[str], declared: Iterable[str]) -> bool:
    """Whether a library in versions `asked` is what a project has: `locked` versions, else `declared` ranges."""
    wanted = spans(ecosystem, asked, free=True)
    fixed = [text for text in locked if _readable(ecosystem, text)]
    if fixed:
        return any(_meet(wanted, _exactly(ecosystem, text)) for text in fixed)
    return any(_meet(wanted, spans(ecosystem, text)) for text in declared)


def _readable(ecosystem: str, text: str) -> bool:
    return _key(ecosystem, text) is not None


def _exactly(ecosystem: str, text: str) -> tuple[Span, ...]:
    key = _key(ecosystem, text)
    return (Span(key, True, key, True),)


@lru_cache(maxsize=4_096)
def spans(ecosystem: str, text: str, *, free: bool = False) -> tuple[Span, ...]:
    """The spans of a range. `free`: of a version that stands alone the parts that are left out are free."""
    text = text.strip()
    brackets = _BRACKETS.findall(text) if ecosystem in ("maven", "nuget") else []
    if brackets:
        return tuple(_bracket(ecosystem, *found) for found in brackets)
    if ecosystem in ("nuget", "maven"):
        text = re.sub(r"\.?\+$", ".*", text) if text != "+" else "*"
    found: list[Span] = []
    for part in re.split(r"\s*\|\|?\s*|\s+or\s+", text):
        between = re.fullmatch(r"(\S+)\s+-\s+(\S+)", part.strip())
        plain = f">={between[1]} <={between[2]}" if between else part
        found += _all_of(ecosystem, plain, free=free)
    return tuple(found)


def _all_of(ecosystem: str, text: str, *, free: bool) -> list[Span]:
    """The span that meets every term of a text; all versions where there is no term to read."""
    terms = _TERM.findall(text) if re.match(r"\s*([\^~=!<>]|[vV]?\d|[xX*](?!\w))", text) else []
    span: Span | None = Span()
    for sign, version in terms:
        term = _term(ecosystem, sign, version, free=free)
        span = _both(span, term) if span and term else span
    return [span] if span else []


def _term(ecosystem: str, sign: str, version: str, *, free: bool) -> Span | None:
    """The span of one term; None for one that only takes single versions out, or that cannot be read."""
    parts, wild = _parts(version)
    key = _key(ecosystem, re.sub(r"(\.[xX*])+$", "", version))
    if not parts or key is None:
        return Span() if not parts else None
    if sign in ("", "=", "==", "==="):
        return _alone(ecosystem, sign, parts, key, wild=wild, free=free)
    if sign == "!=":
        return None
    if sign in ("^", "~", "~=", "~>"):
        return Span(key, True, _floor(ecosystem, _next(ecosystem, sign, parts)), False)
    if sign in (">=", "=>"):
        return Span(key, True)
    if sign == ">":
        return Span(_floor(ecosystem, _bumped(parts)), True) if wild else Span(key, False)
    if sign in ("<=", "=<"):
        return Span(high=_floor(ecosystem, _bumped(parts))) if wild else Span(high=key, high_in=True)
    return Span(high=_floor(ecosystem, parts) if _is_release(version) else key)


def _alone(ecosystem: str, sign: str, parts: tuple[int, ...], key: Any, *, wild: bool, free: bool) -> Span:
    if ecosystem == "cargo" and not sign and not wild and not free:
        return Span(key, True, _floor(ecosystem, _next(ecosystem, "^", parts)), False)
    short = len(parts) < 3 and (free or ecosystem in _FREE) and sign in ("", "=")
    if wild or short or (free and not sign):
        return Span(_floor(ecosystem, parts), True, _floor(ecosystem, _bumped(parts)), False)
    return Span(key, True, key, True)


def _next(ecosystem: str, sign: str, parts: tuple[int, ...]) -> tuple[int, ...]:
    """The first release behind what `^`, `~`, `~=` or `~>` allows."""
    if sign == "^":
        place = next((place for place, number in enumerate(parts[:3]) if number), len(parts[:3]) - 1)
        return _bumped(parts[: place + 1])
    if sign in ("~=", "~>") or ecosystem in _WIDE_TILDE:
        return _bumped(parts[: max(1, len(parts) - 1)])
    return _bumped(parts[:_MIN_TILDE])


def _parts(version: str) -> tuple[tuple[int, ...], bool]:
    """The numbers of a version, and whether it ends in a wildcard."""
    found = _NUMBERS.match(version)
    if not found:
        return (), True
    return tuple(int(part) for part in found[1].split(".")), bool(re.search(r"\.[xX*](\.|$)", version))


def _is_release(version: str) -> bool:
    found = _NUMBERS.match(version)
    return bool(found) and not found[2] if found else False


def _bumped(parts: tuple[int, ...]) -> tuple[int, ...]:
    return (*parts[:-1], parts[-1] + 1)


def _key(ecosystem: str, version: str) -> Any:
    """What versions of an ecosystem are ordered by; None for what is no version."""
    if ecosystem == "pypi":
        from packaging.version import InvalidVersion, Version

        try:
            return Version(version)
        except InvalidVersion:
            return None
    found = _NUMBERS.match(version.strip())
    if not found:
        return None
    numbers = [int(part) for part in found[1].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    rest = "" if ecosystem in _NO_SUFFIX else found[2].partition("+")[0].lower()
    words = [word for word in _WORDS.findall(rest) if word not in _SAME.get(ecosystem, ())]
    if not words:
        return (tuple(numbers), 1, ())
    stage = 2 if words[0] in _AFTER.get(ecosystem, ()) else 0
    if ecosystem == "maven" and words[0] not in _STAGES["maven"]:
        stage = 2
    return (tuple(numbers), stage, tuple((0, int(word), "") if word.isdigit() else (1, 0, word) for word in words))


def _floor(ecosystem: str, parts: tuple[int, ...]) -> Any:
    """Just below the release: its pre-releases are above."""
    text = ".".join(map(str, parts))
    if ecosystem == "pypi":
        return _key(ecosystem, f"{text}.dev0")
    return (_key(ecosystem, text)[0], 0, ())


def _bracket(ecosystem: str, opening: str, low: str, comma: str, high: str, closing: str) -> Span:
    """`[1.0,2.0)` and its like; `[1.0]` is one version."""
    first = _key(ecosystem, low) if low.strip() else None
    if not comma:
        return Span(first, True, first, True)
    return Span(first, opening == "[", _key(ecosystem, high) if high.strip() else None, closing == "]")


def _both(one: Span, other: Span) -> Span | None:
    """What two spans have in common, None for nothing."""
    low, low_in = one.low, one.low_in
    if other.low is not None and (low is None or other.low > low):
        low, low_in = other.low, other.low_in
    elif other.low is not None and other.low == low:
        low_in = low_in and other.low_in
    high, high_in = one.high, one.high_in
    if other.high is not None and (high is None or other.high < high):
        high, high_in = other.high, other.high_in
    elif other.high is not None and other.high == high:
        high_in = high_in and other.high_in
    if low is not None and high is not None and (low > high or (low == high and not (low_in and high_in))):
        return None
    return Span(low, low_in, high, high_in)


def _meet(one: Iterable[Span], other: Iterable[Span]) -> bool:
    theirs = list(other)
    return any(_both(mine, its) is not None for mine in one for its in theirs)
