"""JSON as it stands in a file, each value with its place: comments and trailing commas are read over, and kept.

Comments are allowed in every file. A client that takes none does not read such a file today either, and what is
written here is plain JSON in any case. Single quotes, bare words and whatever else JSON5 has are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from backstory.errors import BackstoryError
from backstory.project.merging.file_text import FileText, unfit

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*[\s\S]*?\*/)*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![\w.])|(?:true|false|null)\b")
_COMMENT_OR_COMMA = re.compile(r"//[^\r\n]*|/\*[\s\S]*?\*/|,")
_DEPTH = 200


class Node:
    """A value at `start:end`. An object has `keys` (first character of each key's quote) beside its `children`."""

    __slots__ = ("children", "end", "keys", "names", "start", "value")

    def __init__(self, start: int, end: int, value: Any) -> None:
        self.start, self.end, self.value = start, end, value
        self.children: list[Node] = []
        self.keys: list[int] = []
        self.names: list[str] = []

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where each child stands, its key included."""
        if not self.keys:
            return [(child.start, child.end) for child in self.children]
        return [(key, child.end) for key, child in zip(self.keys, self.children, strict=True)]

    def child(self, name: str | int) -> Node | None:
        """The member or item of that name; of a key given twice the last, which is the one that readers take."""
        place = self.place(name)
        return None if place is None else self.children[place]

    def place(self, name: str | int) -> int | None:
        """Which child that is."""
        if isinstance(name, int):
            return name if isinstance(self.value, list) and 0 <= name < len(self.children) else None
        found = [place for place, known in enumerate(self.names) if known == name]
        return found[-1] if found else None


def parse(file: FileText) -> Node:
    """The root value; `BackstoryError` (refused) with file and line for anything that is no JSON with comments."""
    reader = _Reader(file)
    start = reader.skip(0)
    root = reader.value(start, 0)
    end = reader.skip(root.end)
    if end != len(file.text):
        raise unfit(file, end, "goes on after the end of the JSON value")
    return root


class _Reader:
    def __init__(self, file: FileText) -> None:
        self.file, self.text = file, file.text

    def skip(self, place: int) -> int:
        found = _SPACE.match(self.text, place)
        return found.end() if found else place

    def fault(self, place: int, wanted: str) -> BackstoryError:
        if place >= len(self.text):
            return unfit(self.file, place, f"ends where {wanted} is missing")
        return unfit(self.file, place, f"has {self.text[place : place + 12].split()[0][:12]!r} where {wanted} belongs")

    def value(self, place: int, depth: int) -> Node:
        opening = self.text[place : place + 1]
        if depth > _DEPTH:
            raise unfit(self.file, place, "is nested too deeply")
        if opening == "{":
            return self.filled(Node(place, place, {}), "}", depth)
        if opening == "[":
            return self.filled(Node(place, place, []), "]", depth)
        return self.scalar(place)

    def scalar(self, place: int) -> Node:
        found = _STRING.match(self.text, place)
        if found is not None and "\\" not in found.group():
            return Node(place, found.end(), found.group()[1:-1])
        found = found or _PLAIN.match(self.text, place)
        if found is None:
            raise self.fault(place, "a JSON value")
        try:
            return Node(place, found.end(), json.loads(found.group()))
        except ValueError as error:
            raise self.fault(place, "a JSON value") from error

    def filled(self, node: Node, closing: str, depth: int) -> Node:
        place = self.skip(node.start + 1)
        while self.text[place : place + 1] != closing:
            place = self.skip(self.member(node, place, depth) if closing == "}" else self.item(node, place, depth))
            if self.text[place : place + 1] == ",":
                place = self.skip(place + 1)
            elif self.text[place : place + 1] != closing:
                raise self.fault(place, f"a comma or {closing!r}")
        node.end = place + 1
        return node

    def item(self, node: Node, place: int, depth: int) -> int:
        child = self.value(place, depth + 1)
        node.children.append(child)
        node.value.append(child.value)
        return child.end

    def member(self, node: Node, place: int, depth: int) -> int:
        if self.text[place : place + 1] != '"':
            raise self.fault(place, "a key in double quotes")
        key = self.scalar(place)
        colon = self.skip(key.end)
        if self.text[colon : colon + 1] != ":":
            raise self.fault(colon, "a colon")
        child = self.value(self.skip(colon + 1), depth + 1)
        node.keys.append(place)
        node.names.append(key.value)
        node.children.append(child)
        node.value[key.value] = child.value
        return child.end


def commas(text: str, start: int, end: int) -> Iterator[int]:
    """Where commas stand between two values, those in comments left out."""
    for found in _COMMENT_OR_COMMA.finditer(text, start, end):
        if found.group() == ",":
            yield found.start()


def ends_in_line_comment(text: str, start: int, end: int) -> bool:
    """Whether the last comment between two places runs to the end of its line."""
    last = ""
    for found in _COMMENT_OR_COMMA.finditer(text, start, end):
        last = found.group() if text[found.end() : end].strip() == "" else ""
    return last.startswith("//")
