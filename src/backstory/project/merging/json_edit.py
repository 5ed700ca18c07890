"""Changes in a JSON file that keep every other byte: order, indentation, comments, line ends.

After each change the text is read again and held against the same change of the plain data: a text that would say
anything else is never handed out.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from backstory.errors import BackstoryError, Exit
from backstory.project.merging.file_text import FileText, unfit
from backstory.project.merging.json_text import Node, commas, ends_in_line_comment, parse

Path = tuple[str | int, ...]
_INLINE = 90


class JsonText:
    """The text of a file and what it says. An empty file is an empty object."""

    def __init__(self, file: FileText) -> None:
        self._file = file if file.text.strip() else file._replace(text="{}" + file.newline)
        self._root = parse(self._file)
        if not isinstance(self._root.value, dict):
            raise unfit(self._file, self._root.start, "begins a value that is no object")
        self.changed = False

    @property
    def text(self) -> str:
        """The text as it stands now."""
        return self._file.text

    @property
    def data(self) -> dict[str, Any]:
        """What it says now; not to be changed."""
        found: dict[str, Any] = self._root.value
        return found

    def get(self, *path: str | int) -> Any:
        """The value at a path, or None."""
        node = self._find(path)
        return None if node is None else node.value

    def put(self, path: Path, value: Any) -> None:
        """Set a value. Objects on the way are made; something else in their place raises `BackstoryError`."""
        for depth in range(1, len(path)):
            above = self._find(path[:depth])
            if above is None:
                for name in reversed(path[depth:]):
                    value = {name: value}
                self._insert(path[: depth - 1], path[depth - 1], value)
                return
            self._must_be(above, list if isinstance(path[depth], int) else dict, path[:depth])
        node = self._find(path)
        if node is None:
            self._insert(path[:-1], path[-1], value)
        elif node.value != value or type(node.value) is not type(value):
            self._replace(path, node, value)

    def append(self, path: Path, value: Any) -> None:
        """Add an item to the list at a path, which is made where it is missing."""
        node = self._find(path)
        if node is None:
            self.put(path, [value])
            return
        self._must_be(node, list, path)
        self._insert(path, len(node.children), value)

    def remove(self, path: Path) -> None:
        """Take out what is at a path; nothing happens where nothing is."""
        parent = self._find(path[:-1])
        place = parent.place(path[-1]) if parent is not None else None
        if parent is None or place is None:
            return
        expected = copy.deepcopy(self.data)
        del _at(expected, path[:-1])[path[-1]]
        for tidy in (True, False):
            if self._try(self._without(parent, place, tidy), expected):
                return
        raise self._unsafe()

    def _find(self, path: Path) -> Node | None:
        node: Node | None = self._root
        for name in path:
            node = node.child(name) if node is not None else None
        return node

    def _must_be(self, node: Node, kind: type[Any], path: Path) -> None:
        if not isinstance(node.value, kind):
            wanted = "an object" if kind is dict else "a list"
            raise unfit(self._file, node.start, f"has {'.'.join(map(str, path))} as something else than {wanted}")

    def _unsafe(self) -> BackstoryError:
        return BackstoryError(
            f"{self._file.name} is written in a way that cannot be edited safely.",
            hint="Nothing was written there. Add or remove the entry by hand.",
            code=Exit.REFUSED,
        )

    def _try(self, text: str, expected: Any) -> bool:
        changed = self._file._replace(text=text)
        try:
            root = parse(changed)
        except BackstoryError:
            return False
        # Compared as text: to Python 1 and True are equal.
        if json.dumps(root.value) != json.dumps(expected):
            return False
        self._file, self._root, self.changed = changed, root, True
        return True

    def _replace(self, path: Path, node: Node, value: Any) -> None:
        expected = copy.deepcopy(self.data)
        _at(expected, path[:-1])[path[-1]] = value
        parent = self._find(path[:-1])
        spread = isinstance(value, dict | list) and (parent is None or self._spread(parent))
        new = self._render(value, self._line_indent(node.start) if spread else None, self._tight(parent))
        if not self._try(self.text[: node.start] + new + self.text[node.end :], expected):
            raise self._unsafe()

    def _insert(self, path: Path, name: str | int, value: Any) -> None:
        node = self._find(path)
        assert node is not None
        self._must_be(node, list if isinstance(name, int) else dict, path)
        expected = copy.deepcopy(self.data)
        target = _at(expected, path)
        if isinstance(name, int):
            target.append(value)
        else:
            target[name] = value
        parent = self._find(path[:-1]) if path else None
        if not self._try(self._with(node, parent, None if isinstance(name, int) else name, value), expected):
            raise self._unsafe()

    def _with(self, node: Node, parent: Node | None, key: str | None, value: Any) -> str:
        text, close = self.text, node.end - 1
        last = node.spans[-1][1] if node.children else node.start + 1
        comma = next(commas(text, last, close), -1)
        # Behind comments that follow the last member: they speak of it, or of one that was commented out.
        behind = last + len(text[last:close].rstrip())
        spread = self._spread(node) if node.children else (parent is None or self._spread(parent))
        # Behind a comment that runs to the end of its line only a new line is outside of it.
        spread = spread or ends_in_line_comment(text, last, close)
        indent = self._child_indent(node) if spread else None
        tight = self._tight(node if node.children else parent)
        new = "" if key is None else json.dumps(key, ensure_ascii=False) + (":" if tight else ": ")
        new += self._render(value, indent, tight)
        before = text[:behind]
        if node.children and comma < 0:
            before = f"{text[:last]},{text[last:behind]}"
        end = "," if node.children and comma >= 0 else ""
        rest = text[behind:]
        if indent is None:
            return before + (" " if node.children and not tight else "") + new + end + rest
        line = self._file.newline
        if "\n" not in text[behind:close]:
            rest = line + self._line_indent(node.start) + text[close:]
        return before + line + indent + new + end + rest

    def _without(self, parent: Node, place: int, tidy: bool) -> str:
        text, spans = self.text, parent.spans
        start, end = spans[place]
        before = spans[place - 1][1] if place else parent.start + 1
        after = spans[place + 1][0] if place + 1 < len(spans) else parent.end - 1
        own = next(commas(text, end, after), -1)
        cut = before + len(text[before:start].rstrip()) if tidy else start
        if tidy and ends_in_line_comment(text, before, start) and "\n" not in text[end:after].split("}")[0]:
            cut = start
        if own >= 0:
            made = text[:cut] + text[end:own] + text[own + 1 :]
        else:
            comma = next(commas(text, before, start), -1) if place else -1
            made = (text[:comma] + text[comma + 1 : cut] if comma >= 0 else text[:cut]) + text[end:]
        if len(spans) == 1 and not text[before:start].strip() and not text[end : parent.end - 1].strip(" \t\r\n,"):
            return text[:before] + text[parent.end - 1 :]
        return made

    def _spread(self, node: Node) -> bool:
        """Whether the children of a value have lines of their own."""
        if not node.children:
            return "\n" in self.text[node.start : node.end]
        spans, text = node.spans, self.text
        return "\n" in text[node.start : spans[0][0]] or "\n" in text[spans[-1][1] : node.end]

    def _tight(self, node: Node | None) -> bool:
        """Whether no space stands behind the colons of an object; a list is as the root."""
        shown = node if node is not None and node.keys else self._root
        return bool(shown.keys) and self.text[shown.children[0].start - 1] == ":"

    def _line_indent(self, place: int) -> str:
        start = self.text.rfind("\n", 0, place) + 1
        line = self.text[start:place]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _child_indent(self, node: Node) -> str:
        if node.children:
            start = node.spans[-1][0]
            before = self.text[self.text.rfind("\n", 0, start) + 1 : start]
            if not before.strip():
                return before
        return self._line_indent(node.start) + self._unit()

    def _unit(self) -> str:
        """One step of indentation, as the first member of the root has it."""
        if self._root.keys:
            start = self._root.keys[0]
            before = self.text[self.text.rfind("\n", 0, start) + 1 : start]
            if before and not before.strip():
                return before
        return "  "

    def _render(self, value: Any, indent: str | None, tight: bool) -> str:
        separators = (",", ":") if tight else (", ", ": ")
        flat = json.dumps(value, ensure_ascii=False, separators=separators)
        plain = not isinstance(value, dict | list) or not value
        words = isinstance(value, list) and not any(isinstance(item, dict | list) for item in value)
        if indent is None or plain or (words and len(flat) <= _INLINE):
            return flat
        inner = indent + self._unit()
        if isinstance(value, dict):
            parts = [
                f"{json.dumps(key, ensure_ascii=False)}{separators[1]}{self._render(item, inner, tight)}"
                for key, item in value.items()
            ]
        else:
            parts = [self._render(item, inner, tight) for item in value]
        line = self._file.newline
        body = f",{line}{inner}".join(parts)
        opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
        return f"{opening}{line}{inner}{body}{line}{indent}{closing}"


def _at(data: Any, path: Path) -> Any:
    for name in path:
        data = data[name]
    return data
