"""The clients whose transcripts are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from backstory.sources.transcripts.contract import Cursor, Found, Module, Reader

CLIENTS = ("claude_code", "codex", "gemini", "opencode", "copilot", "cursor", "cline", "aider")


def module(name: str) -> Module:
    """The reader of a client: `claude-code` or `claude_code`. `KeyError` for one that is not known."""
    wanted = name.replace("-", "_")
    if wanted not in CLIENTS:
        raise KeyError(name)
    return import_module(f"backstory.sources.transcripts.{wanted}")


def all_files(env: Mapping[str, str], home: str) -> Iterator[Found]:
    """The transcripts of every client on this machine."""
    for name in CLIENTS:
        yield from module(name).files(env, home)


def open_reader(found: Found, cursor: Cursor | None = None) -> Reader:
    """A reader of one transcript, from the cursor on."""
    return module(found.client).open_reader(found, cursor or Cursor())
