"""Our entries in the clients' files: where they stand, and what they start."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

from backstory.errors import BackstoryError
from backstory.project.clients.commands import HOOK_PROGRAM, PROGRAM, runs_ours
from backstory.project.clients.contract import HOOKS, INSTRUCTIONS, MCP, Level
from backstory.project.clients.known import CLIENTS
from backstory.project.clients.shapes import SERVER, JsonHooks, JsonServer, OwnFile, TomlServer
from backstory.project.installing import files, ledger
from backstory.project.installing.targets import Part, Selection, Target, detected, holds_ours
from backstory.project.merging.file_text import FileText, unpacked
from backstory.project.merging.json_edit import JsonText

ENTRY = "backstory/surfaces/hooks/entry.py"
_PLUGIN = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)


class Start(NamedTuple):
    """Something that a client starts. `line` is what a shell is given, "" where there is none.

    `event` is "" for an MCP server. `words` are empty for a line that cannot be taken apart.
    """

    part: Part
    level: Level
    path: str
    name: str
    words: tuple[str, ...]
    line: str = ""
    event: str = ""

    @property
    def program(self) -> str:
        """The file that is started, or its name where PATH says which."""
        return self.words[0] if self.words else ""

    @property
    def entry(self) -> str:
        """The hooks' entry file, "" where the program finds it by itself."""
        return self.words[3] if is_hook(self.words) and len(self.words) > 3 else ""


class Place(NamedTuple):
    """A file with our parts, and at whose level it stands."""

    level: Level
    target: Target


def places(root: str) -> Iterator[Place]:
    """Every file with something of ours in it, in the project and in the person's home folder."""
    levels: tuple[Level, ...] = ("project", "user") if root else ("user",)
    for level in levels:
        for target in Selection(CLIENTS.values(), level, root).every_place():
            target.parts = [part for part in target.parts if holds_ours(part.client, part.file.role, target.path)]
            target.parts = _written_for(target, root)
            if target.parts:
                yield Place(level, target)


def unreadable(root: str) -> Iterator[tuple[Place, str]]:
    """Files that name us, or that we wrote to, and that cannot be read as what they should be, with the reason."""
    levels: tuple[Level, ...] = ("project", "user") if root else ("user",)
    for level in levels:
        for target in Selection(CLIENTS.values(), level, root, [MCP, HOOKS]).every_place():
            if why := _fault(target):
                yield Place(level, target), why


def lost(root: str) -> Iterator[Place]:
    """Files that we wrote to, by the record, that can be read and hold nothing of ours any more, or are gone."""
    levels: tuple[Level, ...] = ("project", "user") if root else ("user",)
    for level in levels:
        for target in Selection(CLIENTS.values(), level, root).every_place():
            known = ledger.read(target.path)
            if known is None or _fault(target) or any(_holds(part, target) for part in target.parts):
                continue
            target.parts = [part for part in target.parts if part.client.name in known[0].clients]
            if target.parts:
                yield Place(level, target)


def _holds(part: Part, target: Target) -> bool:
    return holds_ours(part.client, part.file.role, target.path)


def _fault(target: Target) -> str:
    try:
        data = files.read(target.path)
        # Of a file that we wrote to it is known, whatever became of it.
        if data is None or (SERVER.encode() not in data and ledger.read(target.path) is None):
            return ""
        for part in target.parts:
            part.file.shape.drop(unpacked(data, target.name), None)
    except BackstoryError as error:
        return error.message
    return ""


def starts(place: Place) -> Iterator[Start]:
    """What the entries of a file start."""
    text = _text(place.target)
    for part in place.target.parts if text is not None else ():
        for event, line, words in _of_part(part, text):
            yield Start(part, place.level, place.target.path, place.target.name, tuple(words), line, event)


def is_hook(words: tuple[str, ...]) -> bool:
    """Whether the words are those of a hook as it is installed."""
    if len(words) == 3:
        return os.path.basename(words[0]).removesuffix(".exe") == HOOK_PROGRAM
    return len(words) == 6 and words[1:3] == ("-I", "-S") and words[3].replace("\\", "/").endswith(f"/{ENTRY}")


def is_server(words: tuple[str, ...]) -> bool:
    """Whether the words are those of our MCP server over stdio, with whatever options."""
    if "--http" in words:
        return False
    if words[1:4] == ("-m", "backstory", "mcp"):
        return True
    return words[1:2] == ("mcp",) and os.path.basename(words[0]).removesuffix(".exe") == PROGRAM


def words_of(line: str) -> tuple[str, ...]:
    """The words of a shell line that names one program; none for one that does not go together."""
    try:
        return tuple(shlex.split(line.removeprefix("& ")))
    except ValueError:
        return ()


def _written_for(target: Target, root: str) -> list[Part]:
    """Many clients share AGENTS.md: the parts of those for whom it was written, as far as that is known."""
    known = ledger.read(target.path)
    names = known[0].clients if known else [client.name for client in detected(root)]
    shared = [part for part in target.parts if part.file.role == INSTRUCTIONS]
    mine = [part for part in shared if part.client.name in names] or shared[:1]
    return [part for part in target.parts if part.file.role != INSTRUCTIONS or part in mine]


def _text(target: Target) -> FileText | None:
    try:
        data = files.read(target.path)
        return None if data is None else unpacked(data, target.name)
    except BackstoryError:
        return None


def _of_part(part: Part, text: FileText | None) -> Iterator[tuple[str, str, list[str]]]:
    """(event, line, words) of everything that a part of a file starts."""
    assert text is not None
    shape = part.file.shape
    try:
        if isinstance(shape, JsonHooks):
            yield from _in_lists(JsonText(text).get("hooks"))
        elif isinstance(shape, JsonServer):
            yield from _server(JsonText(text).get(shape.key, SERVER))
        elif isinstance(shape, TomlServer):
            yield from _server(tomllib.loads(text.text).get(shape.path[0], {}).get(SERVER))
        elif isinstance(shape, OwnFile):
            yield from _in_program(part, text.text)
    except (BackstoryError, ValueError, AttributeError):
        return


def _in_lists(hooks: Any) -> Iterator[tuple[str, str, list[str]]]:
    for event, items in hooks.items() if isinstance(hooks, dict) else ():
        for item in items if isinstance(items, list) else ():
            inner = item.get("hooks") if isinstance(item, dict) else None
            for handler in inner if isinstance(inner, list) else [item]:
                if runs_ours(handler):
                    yield str(event), *_handler(handler)


def _handler(handler: dict[str, Any]) -> tuple[str, list[str]]:
    line = next((handler[key] for key in ("command", "bash", "powershell") if isinstance(handler.get(key), str)), "")
    args = handler.get("args")
    if isinstance(args, list):
        return "", [line, *map(str, args)]
    return line, list(words_of(line))


def _server(entry: Any) -> Iterator[tuple[str, str, list[str]]]:
    command = entry.get("command") if isinstance(entry, dict) else None
    words = command if isinstance(command, list) else [command, *(entry.get("args") or ())] if command else []
    if words:
        yield "", "", [str(word) for word in words]


def _in_program(part: Part, text: str) -> Iterator[tuple[str, str, list[str]]]:
    """A script named after its event, or a plugin that holds the words of all of them."""
    found = _PLUGIN.search(text)
    if found:
        words = [str(word) for word in json.loads(found[1])]
        for hook in part.client.events:
            yield hook.event, "", [*words, hook.event]
        return
    for line in text.splitlines():
        if line.startswith("exec ") and runs_ours({"command": line}):
            yield os.path.basename(part.file.linux), line[5:], list(words_of(line[5:]))
