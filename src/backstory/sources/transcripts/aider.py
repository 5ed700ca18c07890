"""Transcripts of Aider: `.aider.chat.history.md`, which it writes into the top of a repository.

Markdown that is only added to: `# aider chat started at <local time>` begins a session, `#### ` is a line that a person
typed, `> ` a line of Aider's own, everything else is the model's answer. Changes are SEARCH and REPLACE blocks under
the file's name; `Applied edit to <file>` and `Commit <hash>` tell that they were made. Known from Aider's source and
documentation; no sample was at hand.

Nobody keeps a list of these files: `files` gives the one of the home folder and the one that `AIDER_CHAT_HISTORY_FILE`
names; for a project the caller knows its folder. The folder of the file is the one Aider worked in. Times are local and
have no zone: they are taken as of this machine's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from backstory.sources.transcripts import patches
from backstory.sources.transcripts.contract import Cursor, Found, Reader
from backstory.sources.transcripts.speaking import spoken
from backstory.sources.transcripts.stream import (
    EDIT,
    ERROR,
    OK,
    SHELL,
    UNKNOWN,
    AssistantText,
    Call,
    Edit,
    Facts,
    Injected,
    Interrupt,
    Item,
    Rejection,
    Result,
)  # fmt: skip
from backstory.sources.transcripts.whole import LARGEST, Broken, WholeReader, stamp_of

CLIENT = "aider"
NAME = ".aider.chat.history.md"
_START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_FACT = re.compile(
    r"> (?:Aider v(?P<version>\S+)|(?:Main model|Model): (?P<model>\S+)|Commit (?P<commit>[0-9a-f]{7,40}) )"
)
_APPLIED = re.compile(r"> Applied edit to (.+?)\s*$")
_REFUSED = re.compile(
    r"> (?:Run shell commands?|Allow edits|Create new file|Edit the files).*\?.*: ?(?:n|no|s|skip)\s*$"
)
_RUN = re.compile(r"> Running (?:shell command: )?(.+?)\s*$")
_FAILED = re.compile(r"> (?:The LLM did not conform|# \d+ SEARCH/REPLACE blocks? failed|Can't edit |Skipping edits)")
_STOPPED = re.compile(r"> (?:\^C|KeyboardInterrupt|\^C again)|> .*\^C KeyboardInterrupt")
_TOKENS = re.compile(r"> Tokens: ")
_FENCE = re.compile(r"`{3,}|~{3,}|<(?:source|code|pre)>")
_COMMAND = re.compile(
    r"/(?:run|test|git|lint|add|drop|clear|ask|architect|code|undo|exit|quit|model|web|commit|diff)\b"
)
_SHELL = re.compile(r"(?:/(?:run|test|git)|!)\s*(.+)", re.DOTALL)


def files(env: Mapping[str, str], home: str) -> Iterator[Found]:
    """The transcripts that can be known without a project."""
    named = env.get("AIDER_CHAT_HISTORY_FILE", "")
    paths = {os.path.join(home, NAME), *([named] if os.path.isabs(named) else [])}
    for path in sorted(paths):
        if os.path.isfile(path):
            yield found_in(path)


def found_in(path: str) -> Found:
    """The transcript at a path, with the folder that it lies in."""
    return Found(CLIENT, path, folders=(os.path.dirname(os.path.abspath(path)),))


def open_reader(found: Found, cursor: Cursor) -> Reader:
    """A reader of all sessions of the file."""

    def stamp() -> str:
        os.stat(found.path)
        return stamp_of([found.path])

    return WholeReader(cursor, stamp, lambda: _items(found.path))


def _items(path: str) -> Iterator[Item]:
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size > LARGEST:
            raise Broken(f"a file of more than {LARGEST >> 20} MB")
        data = file.read()
    if b"\0" in data[:4_096]:
        raise Broken("no text")
    return _History(os.path.dirname(os.path.abspath(path))).items(data)


class _History:
    """Lines of one kind that stand together are one text. `_open` are the edits that nobody told of yet."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._at: int | None = None
        self._kind, self._begun, self._lines = "", 0, list[str]()
        self._open: list[tuple[str, str]] = []
        self._run, self._inside = "", False

    def items(self, data: bytes) -> Iterator[Item]:
        """The items of the whole file."""
        offset = 0
        for raw in data.splitlines(keepends=True):
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            start = _START.fullmatch(line)
            kind = self._kind_of(line)
            if start or kind != self._kind:
                yield from self._told()
                self._kind, self._begun = kind, offset
            if start:
                yield from self._session(offset, start[1])
            elif kind == "tool":
                yield from self._tool(offset, line)
            else:
                self._lines.append(line[5:] if kind == "user" else line)
            offset += len(raw)
        yield from self._told()
        yield from self._unanswered(offset)

    def _kind_of(self, line: str) -> str:
        # The lines of a block are a file's: they begin as they like.
        if self._inside:
            self._inside = not patches.ENDS.fullmatch(line)
            return "answer"
        self._inside = patches.BEGINS.fullmatch(line) is not None
        return "user" if line.startswith("#### ") else "tool" if line.startswith("> ") or line == ">" else "answer"

    def _session(self, offset: int, started: str) -> Iterator[Item]:
        yield from self._unanswered(offset)
        self._kind, self._inside = "", False
        try:
            self._at = int(datetime.fromisoformat(started).astimezone().timestamp()) * 1_000_000
        except (ValueError, OverflowError, OSError):
            self._at = None
        yield Facts(offset, self._at, session=started, cwd=self._folder)

    def _told(self) -> Iterator[Item]:
        lines, self._lines = self._lines, []
        said = "\n".join(lines).strip()
        if not said or self._kind not in ("user", "answer"):
            return
        if self._kind == "user":
            yield from self._typed(said)
        else:
            yield AssistantText(self._begun, None, said)
            yield from self._edits(lines)

    def _typed(self, said: str) -> Iterator[Item]:
        if shell := _SHELL.fullmatch(said):
            self._run = f"{self._begun}.run"
            yield Call(self._begun, None, self._run, "run", SHELL, command=shell[1].strip())
        elif _COMMAND.match(said) and not re.match(r"/(?:ask|architect|code)\s+\S", said):
            yield Injected(self._begun, None, said, "command")
        else:
            yield from spoken(self._begun, None, said, f"{self._at}@{self._begun}")

    def _edits(self, lines: list[str]) -> Iterator[Item]:
        for index, block in enumerate(patches.blocks(lines)):
            path = _file_above(lines, block.line)
            if path:
                call = f"{self._begun}.{index}"
                self._open.append((call, path))
                yield Call(self._begun, None, call, "edit", EDIT, paths=(path,))
                yield Edit(self._begun, None, call, path, block.old, block.new, whole=block.old == "")

    def _tool(self, offset: int, line: str) -> Iterator[Item]:
        if applied := _APPLIED.match(line):
            for call, _ in [pair for pair in self._open if pair[1] == applied[1]]:
                yield Result(offset, None, call, OK, line[2:])
            self._open = [pair for pair in self._open if pair[1] != applied[1]]
        elif found := _FACT.match(line):
            yield Facts(offset, None, **{name: value for name, value in found.groupdict().items() if value})
        elif found := _RUN.match(line):
            self._run = f"{offset}.run"
            yield Call(offset, None, self._run, "run", SHELL, command=found[1])
        elif _STOPPED.match(line) or _REFUSED.match(line):
            yield Rejection(offset, None, "") if _REFUSED.match(line) else Interrupt(offset, None)
        elif _FAILED.match(line):
            for call, _ in self._open:
                yield Result(offset, None, call, ERROR, line[2:])
            self._open = []
        elif line[1:].strip() and not _TOKENS.match(line):
            yield from self._printed(offset, line[2:])

    def _printed(self, offset: int, line: str) -> Iterator[Item]:
        if self._run:
            # The output is in the history only where the person shared it; how it ended is never said.
            yield Result(offset, None, self._run, UNKNOWN, line)
            self._run = ""
        else:
            yield Injected(offset, None, line, "other")

    def _unanswered(self, offset: int) -> Iterator[Item]:
        for call, _ in self._open:
            yield Result(offset, None, call, UNKNOWN)
        self._open, self._run = [], ""


def _file_above(lines: list[str], at: int) -> str:
    """The file's name above a block: the nearest line that is neither empty nor a fence, without its marks."""
    for line in reversed(lines[max(0, at - 4) : at]):
        name = line.strip().strip("`*#: ").strip()
        if name and not _FENCE.match(line.strip()):
            return name if re.fullmatch(r"[^\s<>|\"]+(?: [^\s<>|\"]+)*", name) and len(name) < 400 else ""
    return ""
