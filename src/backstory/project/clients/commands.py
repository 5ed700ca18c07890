"""The command lines that clients are told to run: hooks, and the start of the MCP server.

Two forms. In a file of one person and machine, hooks start the tool's own interpreter isolated on one file, the
fastest start there is, and nothing depends on PATH. A committed file holds no path of a machine: there it is
`backstory-hook` and `backstory`, found on PATH. Both stay the same from release to release, since a client that trusts
commands by their hash asks again after every change.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import backstory

HOOK_PROGRAM, PROGRAM = "backstory-hook", "backstory"
# Seconds. A hook ends itself after four; this is for a machine that is too busy even for that.
TIMEOUT_SECONDS = 5
# Where the clients have the command of a handler; a prompt or a message that names us is no command.
_COMMAND_KEYS = ("command", "command_windows", "bash", "powershell", "windows", "linux", "osx")
_BARE = re.compile(r"[\w./:-]+")
_OURS = re.compile(
    r"(?:^|[\s\"'/\\;&|])backstory-hook(?:\.exe)?(?:[\"'\s;&|]|$)|backstory[/\\]+surfaces[/\\]+hooks[/\\]+entry\.py"
)


class Commands(NamedTuple):
    """How things are started in one file; `windows` decides how a shell's words are quoted."""

    python: str
    entry: str
    # `backstory` as found on PATH; empty: through the interpreter.
    program: str = ""
    # The file is committed: no path of this machine may stand in it.
    committed: bool = False
    windows: bool = False

    def hook_words(self, client: str, event: str) -> list[str]:
        """The words of a hook's command."""
        if self.committed:
            return [HOOK_PROGRAM, client, event]
        return [self._slashed(self.python), "-I", "-S", self._slashed(self.entry), client, event]

    def hook(self, client: str, event: str, *, powershell: bool = False) -> str:
        """The same as one line for the shell that the client hands it to: on Windows PowerShell, or any other."""
        words = self.hook_words(client, event)
        if not (self.windows and powershell):
            return " ".join(self._quoted(word) for word in words)
        line = " ".join(word if _BARE.fullmatch(word) else "'" + word.replace("'", "''") + "'" for word in words)
        # Without `&` a quoted word is a text to PowerShell, not a program.
        return f"& {line}" if line.startswith("'") else line

    def mcp(self) -> list[str]:
        """The words that start the MCP server."""
        if self.committed:
            return [PROGRAM, "mcp"]
        if self.program:
            return [self._slashed(self.program), "mcp"]
        return [self._slashed(self.python), "-m", "backstory", "mcp"]

    def _slashed(self, path: str) -> str:
        # A shell such as bash on Windows eats back-slashes; Windows itself takes both.
        return path.replace("\\", "/") if self.windows else path

    def _quoted(self, word: str) -> str:
        if not self.windows:
            return shlex.quote(word)
        # Double quotes are what cmd and bash read alike; a Windows path holds none.
        return word if _BARE.fullmatch(word) else f'"{word}"'


def here(*, committed: bool) -> Commands:
    """The commands that start the tool as it is installed on this machine."""
    entry = Path(backstory.__file__).parent / "surfaces" / "hooks" / "entry.py"
    return Commands(_interpreter(), str(entry), shutil.which(PROGRAM) or "", committed, os.name == "nt")


def _interpreter() -> str:
    """This interpreter under one name, however it was called: `python3.11` and `python` are the same in a venv."""
    if sys.prefix != sys.base_prefix:
        parts = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
        usual = os.path.join(sys.prefix, *parts)
        if os.path.exists(usual):
            return usual
    return sys.executable


def runs_ours(value: Any) -> bool:
    """Whether a hook handler, of any client's shape, runs our hook: the mark by which it is found again."""
    return any(_OURS.search(text) for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in _COMMAND_KEYS and isinstance(inner, str):
                yield inner
            elif name == "args" and isinstance(inner, list):
                yield from (word for word in inner if isinstance(word, str))
            elif name == "hooks":
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
