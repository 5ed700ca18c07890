"""One table of a TOML file, set or taken out line by line; every other byte stays.

What the text says afterwards is held against what it said before plus the change, by the standard library's reader: a
form that these edits do not know (inline tables, dotted keys) is refused, never spoilt.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from typing import Any

from backstory.errors import BackstoryError, Exit
from backstory.project.merging.file_text import MEND_HINT, FileText

_HEADER = re.compile(r"[ \t]*\[")
# Strings and comments, in the order in which a reader meets them: only so is a mark inside another one passed over.
_TOKEN = re.compile(r'"""(?:\\[\s\S]|[^\\])*?"""|' r"'''[\s\S]*?'''" r'|"(?:\\.|[^"\\\n])*"|' r"'[^'\n]*'|#[^\n]*")
_LINE = re.compile(r"line (\d+)")


def read(file: FileText) -> dict[str, Any]:
    """What the file says; `BackstoryError` (refused) with file and line when it is no TOML."""
    try:
        return tomllib.loads(file.text)
    except tomllib.TOMLDecodeError as error:
        found = _LINE.search(str(error))
        line = f"line {found.group(1)}" if found else f"line {file.text.count(chr(10)) + 1}"
        what = str(error).partition(" (at")[0]
        raise BackstoryError(f"{file.name}: {line} is no TOML: {what}.", hint=MEND_HINT, code=Exit.REFUSED) from error


def put(file: FileText, path: tuple[str, ...], values: dict[str, Any]) -> str:
    """The text with the table at `path` holding `values`; other keys that it has stay."""
    before = read(file)
    known = _at(before, path)
    if isinstance(known, dict) and all(known.get(key) == value for key, value in values.items()):
        return file.text
    lines = file.text.splitlines(keepends=True)
    header = _header(lines, path)
    made = _appended(file, path, values) if header < 0 else "".join(_changed(lines, header, values, file.newline))
    return _checked(file, made, path, {**(known if isinstance(known, dict) else {}), **values})


def drop(file: FileText, path: tuple[str, ...]) -> str:
    """The text without the table at `path` and the tables below it."""
    before = read(file)
    if _at(before, path) is None:
        return file.text
    lines = file.text.splitlines(keepends=True)
    while (start := _header(lines, path, below=True)) >= 0:
        end = _end(lines, start)
        # The blank line that parts it from what stands before goes with it.
        first = start - 1 if start and not lines[start - 1].strip() else start
        lines[first:end] = []
    return _checked(file, "".join(lines), path, None)


def _at(data: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _words(line: str) -> tuple[str, ...]:
    """The names of a table header, () for any other line."""
    if not _HEADER.match(line):
        return ()
    try:
        data: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    names = []
    while isinstance(data, dict) and len(data) == 1:
        name, data = next(iter(data.items()))
        names.append(name)
    return tuple(names) if data == {} else ()


def _inside(lines: list[str]) -> set[int]:
    """The numbers of lines that begin within a string: what looks like a header there is none."""
    found: set[int] = set()
    text = "".join(lines)
    for token in _TOKEN.finditer(text):
        if "\n" in token.group():
            first = text.count("\n", 0, token.start())
            found.update(range(first + 1, first + token.group().count("\n") + 1))
    return found


def _header(lines: list[str], path: tuple[str, ...], *, below: bool = False) -> int:
    inside = _inside(lines)
    for number, line in enumerate(lines):
        words = () if number in inside else _words(line)
        if words == path or (below and words[: len(path)] == path):
            return number
    return -1


def _end(lines: list[str], header: int) -> int:
    """Where the table's lines end: comments right before the next header belong to that one."""
    end = next((n for n in range(header + 1, len(lines)) if _HEADER.match(lines[n]) and _words(lines[n])), len(lines))
    while end > header + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _appended(file: FileText, path: tuple[str, ...], values: dict[str, Any]) -> str:
    line, text = file.newline, file.text
    if text and not text.endswith("\n"):
        text += line
    gap = line if text.strip() else ""
    body = [f"[{'.'.join(path)}]", *(f"{key} = {_value(value)}" for key, value in values.items())]
    return text + gap + line.join(body) + line


def _changed(lines: list[str], header: int, values: dict[str, Any], newline: str) -> list[str]:
    made = list(lines)
    for key, value in values.items():
        new = f"{key} = {_value(value)}{newline}"
        end = _end(made, header)
        found = re.compile(rf'[ \t]*(?:{key}|"{key}")[ \t]*=')
        at = next((n for n in range(header + 1, end) if found.match(made[n])), -1)
        if at < 0:
            made.insert(header + 1, new)
        else:
            made[at : at + _height(made, at, end)] = [new]
    return made


def _height(lines: list[str], start: int, end: int) -> int:
    """How many lines the value takes that begins on line `start`."""
    for last in range(start + 1, end + 1):
        try:
            tomllib.loads("".join(lines[start:last]))
        except tomllib.TOMLDecodeError:
            continue
        return last - start
    return 1


def _value(value: Any) -> str:
    # A JSON string or list of strings is TOML as well, escapes included, but for the solitary 0x7F.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _checked(file: FileText, made: str, path: tuple[str, ...], value: dict[str, Any] | None) -> str:
    expected = copy.deepcopy(tomllib.loads(file.text))
    above = expected
    for name in path[:-1]:
        inner = above.setdefault(name, {})
        above = inner if isinstance(inner, dict) else {}
    if value is None:
        above.pop(path[-1], None)
    else:
        above[path[-1]] = value
    try:
        found = tomllib.loads(made)
    except tomllib.TOMLDecodeError:
        found = None
    if found is None or _pruned(found) != _pruned(expected):
        raise BackstoryError(
            f"{file.name} writes {'.'.join(path)} in a form that is not edited here.",
            hint=f"Nothing was written there. Edit [{'.'.join(path)}] by hand.",
            code=Exit.REFUSED,
        )
    return made


def _pruned(data: Any) -> Any:
    """Without empty tables: `[mcp_servers.x]` gone takes `mcp_servers` with it."""
    if not isinstance(data, dict):
        return data
    inner = {key: _pruned(value) for key, value in data.items()}
    return {key: value for key, value in inner.items() if value != {}}
