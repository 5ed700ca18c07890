"""Where a file defines a symbol: found by what definitions look like, in any of the common languages.

No parser: one for each language would be heavy, and a guess that is shown is enough for an anchor. Comments and
doc strings are passed over; what introduces itself (`def`, `fn`, `class` ...) comes before what only has a body, and
that before a mere assignment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

MAX_LINES = 2_000
# Lines that may define a symbol and are looked at, and places that are told of: a generated file may have any number.
_MOST_TRIED, _MOST = 2_000, 50
_HEAD_LINES = 40
_WIDTH = 400

_MODIFIERS = (
    r"(?:(?:pub(?:\([\w: ]*\))?|export|default|declare|async|static|public|private|protected|internal|final|abstract"
    r"|sealed|partial|override|open|inline|unsafe|const|extern(?:\s+\"\w+\")?|virtual|data|suspend|local|typedef"
    r"|template\s*<[^>]*>|@\w+)\s+)*"
)
_INTRODUCES = (
    r"(?:def|class|fn|func|fun|function\s*\*?|struct|enum|union|trait|interface|type|module|mod|namespace|protocol"
    r"|object|record|sub|macro_rules!)"
)
# Words before a name and a bracket that make it a call, not a definition.
_CALLS = r"(?:return|else|if|while|for|switch|case|throw|raise|await|yield|new|in|and|or|not|assert|delete|goto)\b"
_OPEN, _CLOSE = "([", ")]"


def symbol_lines(lines: Sequence[str], symbol: str) -> tuple[int, int] | None:
    """First and last line (from 1) of what defines `symbol`; None when nothing does."""
    return next(iter(definitions(lines, symbol)), None)


def definitions(lines: Sequence[str], symbol: str) -> list[tuple[int, int]]:
    """Every place that defines `symbol`, the likeliest first. `Store.put` is looked for in what defines `Store`."""
    names = [name for name in re.split(r"[.:#]+", symbol) if name]
    if not names or not any(names[-1] in line for line in lines):
        return []
    code = _code(lines)
    found = _named(code, names[-1], set(names[:-1])) or _named(lines, names[-1], set())
    spans = [(start + 1, _end(code, start) + 1) for start in found[: _MOST if len(names) == 1 else _MOST_TRIED]]
    if len(names) > 1:
        owners = [(start, _end(code, start)) for start in _owners(code, names[-2])[:_MOST_TRIED]]
        inside = [span for span in spans if any(first < span[0] <= last + 1 for first, last in owners)]
        spans = inside or spans
    return spans[:_MOST]


def _named(lines: Sequence[str], name: str, owners: set[str]) -> list[int]:
    """Lines (from 0) that define `name`: of the first way to do so that occurs."""
    escaped = re.escape(name)
    for owner in sorted(owners):
        receiver = rf"^func\s+\([^)]*\b{re.escape(owner)}\b[^)]*\)\s*{escaped}\b"
        if found := _matching(lines, name, receiver):
            return found
    if found := _matching(lines, name, rf"^\s*{_MODIFIERS}{_INTRODUCES}\s+(?:\([^)]*\)\s*)?{escaped}(?!\w)"):
        return [start for start in found[:_MOST_TRIED] if not _is_declaration(lines, start)] or found
    bodies = _matching(lines, name, rf"^(?!\s*{_CALLS})[\w\s*&:<>,~]*(?<!\w){escaped}\s*\(")
    if found := [start for start in bodies[:_MOST_TRIED] if _opening(lines, start) is not None]:
        return found
    assigned = _matching(lines, name, rf"^[\w\s*:<>&]*(?<!\w){escaped}\s*(?:\[[^\]]*\]\s*)*(?::[^=]+)?=(?![=>])")
    assigned = assigned or _matching(lines, name, rf"^\s*#\s*define\s+{escaped}\b")
    return sorted(assigned, key=lambda start: (_depth(lines[start]), start))


def _owners(lines: Sequence[str], name: str) -> list[int]:
    """What may hold members of `name`: its definitions, and in Rust its `impl` blocks."""
    implements = rf"^\s*(?:unsafe\s+)?impl\b.*\b{re.escape(name)}\b[^;]*$"
    return _named(lines, name, set()) + _matching(lines, name, implements)


def _matching(lines: Sequence[str], name: str, pattern: str) -> list[int]:
    known = re.compile(pattern)
    return [number for number, line in enumerate(lines) if name in line[:_WIDTH] and known.match(line[:_WIDTH])]


def _code(lines: Sequence[str]) -> list[str]:
    """The lines with those of block comments and doc strings emptied: prose there looks like definitions."""
    code: list[str] = []
    closing = ""
    for line in lines:
        text = line.lstrip()
        if closing:
            closing = "" if closing in line else closing
            code.append("")
            continue
        if text.startswith("/*"):
            closing = "" if "*/" in text[2:] else "*/"
            code.append("")
            continue
        closing = next((mark for mark in ('"""', "'''") if line.count(mark) % 2), "")
        code.append("" if text.startswith(('"""', "'''")) else line)
    return code


def _is_declaration(lines: Sequence[str], start: int) -> bool:
    """Whether the line only announces the symbol (`mod store;`, a prototype) or uses it as a type."""
    text = lines[start].strip()
    used = re.search(r"\b(?:struct|enum|union)\s+\w+\b\s*(?:\*|(?!where\b)\w)", text)
    return bool(used) or (text.endswith(";") and _opening(lines, start) is None)


def _opening(lines: Sequence[str], start: int) -> int | None:
    """The line on which the body of a definition opens with a brace; None when a statement ends before."""
    depth, bound = 0, False
    for number in range(start, min(len(lines), start + _HEAD_LINES)):
        for letter in _unquoted(lines[number]):
            if letter in _OPEN:
                depth += 1
            elif letter in _CLOSE:
                depth -= 1
            elif depth <= 0 and letter in "{;":
                return number if letter == "{" else None
        text = lines[number].strip()
        following = next((line.strip() for line in lines[number + 1 : number + 3] if line.strip()), "")
        bound = bound or following.startswith("where")
        goes_on = text.endswith((",", "=", "\\")) or text.rfind("/*") > text.rfind("*/")
        goes_on = goes_on or following.startswith(("{", "->", "throws", "noexcept", ":", "#else", "#endif", "#if"))
        if depth <= 0 and not bound and not goes_on:
            return None
    return None


def _unquoted(line: str) -> Iterator[str]:
    """The letters of a line outside of quotes and before a comment."""
    return iter(re.sub(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'|//.*|/\*.*?(?:\*/|$)", "", line[:_WIDTH]))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _end(lines: Sequence[str], start: int) -> int:
    """The last line (from 0) of what `start` defines."""
    indent = _depth(lines[start])
    bound = min(len(lines), start + MAX_LINES)
    opening = _opening(lines, start)
    if opening is not None:
        letters = "".join(_unquoted(lines[opening]))
        if letters.count("{") <= letters.count("}"):
            return opening
        for number in range(opening + 1, bound):
            if lines[number].lstrip()[:1] == "}" and _depth(lines[number]) <= indent:
                return number
    last = start
    for number in range(start + 1, bound):
        text = lines[number].strip()
        if not text:
            continue
        # Shallower ends it; on the same depth what says something does, unless it closes: `) -> int:`, `} else {`.
        depth = _depth(lines[number])
        if depth < indent or (depth == indent and text[0] not in ")]}" and any(map(str.isalnum, text))):
            break
        last = number
    return last
