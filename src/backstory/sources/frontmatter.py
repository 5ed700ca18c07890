"""The fields at the top of a Markdown file, between two lines of `---`: read whatever they are, and filled in place.

Reading raises nothing. All values are strings, lists and mappings of strings: what a value means is the reader's
matter. Where YAML refuses, each `key: value` is read by itself, and as plain text where that is refused too. Of the
two sides of a merge conflict the first is read, of a key that stands twice the last. `fill` only changes lines of the
keys that it is given, and only inserts elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from backstory.errors import BackstoryError
from backstory.sources.markdown import Body, line_end, name_of, read_body, split_lines

Value = str | list["Value"] | dict[str, "Value"]
Problem = tuple[int, str]

_BOM = "\ufeff"
_ENTRY = re.compile(r"""([ \t]*)(?:"([^"\r\n]{1,64})"|'([^'\r\n]{1,64})'|(\w[^\r\n]{0,63}?))[ \t]*:(?=[ \t\r\n]|$)""")
_MARKER = re.compile(r"(?:<{7}|\|{7}|={7}|>{7})(?:\s|$)")
_COMMENT = re.compile(r"\s*(?:#|$)")
_CONTINUED = re.compile(r"[ \t\-#\]\[{}\"']")
_LAST = re.compile(r"(?:---|\.\.\.)\s*$")
_NODES, _DEPTH = 10_000, 8  # aliases may name one list a billion times


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of the frontmatter and the lines that hold it, as indices."""

    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Field:
    """A value, and the line of the file that its key stands on."""

    value: Value
    line: int


@dataclass(frozen=True, slots=True)
class Page:
    """A Markdown file: its fields by `name_of` their key, its body, and what was wrong with it."""

    fields: dict[str, Field]
    body: Body
    problems: tuple[Problem, ...]

    def field(self, names: Sequence[str]) -> Field | None:
        """The first of the fields that says something."""
        found = (self.fields.get(name) for name in names)
        return next((field for field in found if field and says_something(field.value)), None)


def says_something(value: Value) -> bool:
    """Whether a value is neither empty nor null."""
    return value.strip().lower() not in ("", "~", "null") if isinstance(value, str) else bool(value)


def read_page(text: str) -> Page:
    """The fields and the body of a file."""
    lines = split_lines(text.removeprefix(_BOM))
    start, end, closed = _span(lines)
    problems = [] if closed or not end else [(1, "the frontmatter is never closed")]
    fields = _fields(lines, start, end, problems)
    first = end + 1 if closed else end
    body = read_body(lines[first:], first + 1)
    problems += [
        (body.line_number(at), "a merge conflict is not resolved")
        for at, line in enumerate(body.lines)
        if line.startswith("<<<<<<< ") and not body.kinds[at]
    ]
    return Page(fields, body, tuple(problems))


def _span(lines: Sequence[str]) -> tuple[int, int, bool]:
    """First line, end, and whether it is closed; the end is 0 without frontmatter, else that of the fields."""
    if not lines or lines[0].rstrip() != "---":
        return 0, 0, False
    blank, entries, content = 0, False, False
    for at, line in enumerate(lines[1:], 1):
        if _LAST.match(line):
            return (1, at, True) if entries or not content else (0, 0, False)
        if not line.strip():
            blank = blank or at
            continue
        entry = bool(_ENTRY.match(line))
        if blank and not (entry or _CONTINUED.match(line) or _MARKER.match(line)):
            break  # prose: the next `---` is a rule
        entries, content = entries or entry or line.startswith("{"), True
    named = len(lines) > 1 and bool(_ENTRY.match(lines[1]) or _MARKER.match(lines[1]))
    return (1, blank or len(lines), False) if named else (0, 0, False)


def _theirs(lines: Sequence[str]) -> set[int]:
    """The lines that conflict markers set apart: the markers and, if the conflict ends, every side but the first."""
    apart: set[int] = set()
    second = 0
    for at, line in enumerate(lines):
        if _MARKER.match(line):
            apart.add(at)
            if line[0] == ">" and second:
                apart.update(range(second, at))
            second = (second or at) if line[0] in "|=" else 0
    return apart


def _entries(lines: Sequence[str], start: int, end: int, apart: set[int]) -> list[Entry]:
    """The keys of the outermost mapping; empty lines and comments between two keys belong to neither."""
    heads: list[tuple[str, int]] = []
    indent: str | None = None
    for at in range(start, end):
        match = _ENTRY.match(lines[at]) if at not in apart else None
        if match and indent in (None, match[1]):
            indent = match[1]
            heads.append((match[2] or match[3] or match[4], at))
    entries = []
    for (key, head), (_, following) in zip(heads, [*heads, ("", end)][1:], strict=True):
        last = following
        while last > head + 1 and (last - 1 in apart or _COMMENT.match(lines[last - 1])):
            last -= 1
        entries.append(Entry(key, head, last))
    return entries


# --- reading ---------------------------------------------------------------------------------------------------


def _fields(lines: Sequence[str], start: int, end: int, problems: list[Problem]) -> dict[str, Field]:
    apart = _theirs(lines[:end])
    problems += [(at + 1, "a merge conflict is not resolved") for at in sorted(apart) if lines[at][0] == "<"]
    kept = [line if at not in apart else "\n" for at, line in enumerate(lines[start:end], start)]
    fields: dict[str, Field] = {}
    for key, value, line in _pairs(kept, start + 1, problems):
        name = name_of(key)
        if name in fields:
            problems.append((line, f"the key `{key}` stands here again"))
        fields[name] = Field(value, line)
    return fields


def _pairs(lines: list[str], first: int, problems: list[Problem]) -> list[tuple[str, Value, int]]:
    """The fields by YAML, else one by one. `first` is the line of the file that the first line is."""
    try:
        return [(key, value, first + line) for key, value, line in _yaml("".join(lines))]
    except ValueError as error:
        at, why = _reason(error)
        problems.append((first + at, f"this is not valid YAML ({why}), so it is read line by line"))
    pairs: list[tuple[str, Value, int]] = []
    for entry in _entries(lines, 0, len(lines), set()):
        chunk = lines[entry.start : entry.end]
        try:
            value = next(value for _, value, _ in _yaml("".join(chunk)))
        except (ValueError, StopIteration):
            value = _raw(chunk)
        pairs.append((entry.key, value, first + entry.start))
    return pairs


def _raw(chunk: Sequence[str]) -> Value:
    """The value of one key in plain text: a list where the lines below are items, or the rest of the line."""
    match = _ENTRY.match(chunk[0])
    rest = chunk[0][match.end() :].strip() if match else ""
    below = [line.strip() for line in chunk[1:] if line.strip()]
    if not rest and below and below[0].startswith("-"):
        return [_unquoted(line.lstrip("- \t")) for line in below if line.startswith("-")]
    if rest.startswith("[") and rest.endswith("]"):
        return [_unquoted(item) for item in rest[1:-1].split(",") if item.strip()]
    return "\n".join(filter(None, [_unquoted(rest), *below]))


def _unquoted(text: str) -> str:
    text = text.strip()
    if text[:1] in ("'", '"') and (end := text.find(text[0], 1)) > 0:
        return text[1:end]
    return re.split(r"\s#", text, maxsplit=1)[0].strip()


class _Refused(ValueError):
    """What YAML has against a text: reason, line from 0."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(why, line)


def _reason(error: ValueError) -> tuple[int, str]:
    return (error.args[1], error.args[0]) if isinstance(error, _Refused) else (0, "a character that YAML forbids")


def _yaml(text: str) -> list[tuple[str, Value, int]]:
    """Key, value and line from 0 of each field; `ValueError` if the text is no mapping."""
    import yaml

    try:
        node = _compose()(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _Refused(str(error.problem or error.context), mark.line if mark else 0) from error
    except (yaml.YAMLError, RecursionError, UnicodeError) as error:
        raise _Refused("a character that YAML forbids, or too deep a nesting") from error
    if node is None:
        return []
    if not isinstance(node, yaml.MappingNode):
        raise _Refused("no `key: value`", node.start_mark.line)
    budget = [_NODES]
    return [(key, _plain(value, budget), line) for key, value, line in _named(node)]


def _named(node: Any) -> Iterator[tuple[str, Any, int]]:
    """The pairs of a mapping whose key is a text; `{{date}}` has a mapping for a key."""
    for key, value in node.value:
        if key.id == "scalar":
            yield _clean(str(key.value)), value, key.start_mark.line


@cache
def _compose() -> Callable[[str], Any]:
    """The parser in C where PyYAML was built with it. It knows strings only: `no` stays `no`, 012 stays 012."""
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

    def compose(text: str) -> Any:
        return yaml.compose(text, Loader=loader)

    return compose


def _plain(node: Any, budget: list[int], depth: int = 0) -> Value:
    budget[0] -= 1
    if depth > _DEPTH or budget[0] < 0:
        return ""
    if node.id == "scalar":
        return _clean(str(node.value))
    if node.id == "sequence":
        return [_plain(item, budget, depth + 1) for item in node.value[: max(budget[0], 0)]]
    return {key: _plain(item, budget, depth + 1) for key, item, _ in _named(node)}


def _clean(text: str) -> str:
    """What an escape can bring in and no database keeps."""
    return re.sub("[\0\ud800-\udfff]", "\ufffd", text)


# --- writing ---------------------------------------------------------------------------------------------------

_SAFE = re.compile(r"[^\W\d][\w/_.~()+@,=-]*(?: [\w/_.~()+@,=-]+)*|\d{4}-\d\d-\d\dT[\d:.]+Z")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "~"}
_UNPRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029\x85]"
)
_VALUE = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*" | '(?:[^']|'')*' | \[.*?\](?=\s+\#|$) | .*?)(?P<comment>(?<!\s)\s+\#.*)?$""", re.VERBOSE
)
Given = str | int | float | Sequence[str]


def scalar(value: str | float) -> str:
    """A value in YAML that every reader takes for the same text, or for the same number."""
    if not isinstance(value, str):
        return str(int(value)) if isinstance(value, int) or value.is_integer() else repr(value)
    value = _clean(value)
    if _SAFE.fullmatch(value) and value.lower() not in _WORDS:
        return value
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    quoted = quoted.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return '"' + _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted) + '"'


def block(values: Mapping[str, Given], end: str = "\n") -> str:
    """A whole frontmatter, with its fences."""
    lines = ["---", *(line for key, value in values.items() for line in _rendered(key, value)), "---"]
    return "".join(line + end for line in lines)


def _rendered(key: str, value: Given, indent: str = "") -> Iterator[str]:
    if isinstance(value, str | int | float):
        yield f"{indent}{key}: {scalar(value)}"
    elif not value:
        yield f"{indent}{key}: []"
    else:
        yield f"{indent}{key}:"
        yield from (f"{indent}  - {scalar(item)}" for item in value)


def fill(text: str, values: Mapping[str, Given]) -> str:
    """`text` with the fields set. A key keeps its spelling, its place and a comment behind it; new ones come last.

    Apart from the lines of the given keys every character is kept; a missing frontmatter is put above the text.
    """
    if not values:
        return text
    bom = _BOM if text.startswith(_BOM) else ""
    lines = split_lines(text.removeprefix(_BOM))
    end = line_end(lines)
    start, last, closed = _span(lines)
    if not last:
        return bom + block(values, end) + "".join(lines)
    entries = _entries(lines, start, last, _theirs(lines[:last]))
    if not entries and any(line.startswith("{") for line in lines[start:last]):
        raise BackstoryError(
            "The frontmatter is one `{...}`, in which no field can be set.", hint="Write it as lines of `key: value`."
        )
    by_name = {name_of(entry.key): entry for entry in entries}
    indent = next((lines[entry.start][: -len(lines[entry.start].lstrip())] for entry in entries), "")
    new = [
        line + end
        for key, value in values.items()
        if name_of(key) not in by_name
        for line in _rendered(key, value, indent)
    ]
    if not closed:
        new += ["---" + end]
    if new and not lines[last - 1].endswith(("\n", "\r")):
        lines[last - 1] += end
    lines[last:last] = new
    given = {name_of(key): value for key, value in values.items()}
    for name, entry in sorted(by_name.items(), key=lambda item: -item[1].start):
        if name in given:
            lines[entry.start : entry.end] = _replaced(lines[entry.start : entry.end], given[name], end)
    return bom + "".join(lines)


def _replaced(chunk: list[str], value: Given, end: str) -> list[str]:
    """The lines of a key with another value; comments stay."""
    match = _ENTRY.match(chunk[0])
    head = chunk[0][: match.end()] if match else ""
    rest = chunk[0][len(head) :].strip()
    comment = "" if rest[:1] in ("|", ">") else _comment(rest)
    kept = [] if rest[:1] in ("|", ">") else [line for line in chunk[1:] if line.strip() and _COMMENT.match(line)]
    first, *items = _rendered("", value, head[: -len(head.lstrip())] if head.strip() else "")
    first = head + first.lstrip().removeprefix(":")
    return [first + comment + end, *kept, *(item + end for item in items)]


def _comment(rest: str) -> str:
    """The comment behind a value, with the space before it."""
    if rest.startswith("#"):
        return " " + rest
    match = _VALUE.match(rest)
    return match["comment"] or "" if match else ""
