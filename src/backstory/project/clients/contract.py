"""What a client is to the installer: its files on each system, how our part is written into them, its events, limits.

A client module says facts and holds no code that writes. Paths: relative ones lie in the project; `~` is the home
folder, `%APPDATA%` Windows' folder of that name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from backstory.project.clients.commands import Commands
from backstory.project.merging.file_text import FileText

MCP: Final = "mcp"
HOOKS: Final = "hooks"
INSTRUCTIONS: Final = "instructions"
Role = Literal["mcp", "hooks", "instructions"]
Level = Literal["project", "user"]


class Shape(Protocol):
    """How our part stands in a file."""

    def put(self, file: FileText, commands: Commands) -> str:
        """The text with our part in it; `BackstoryError` when the file cannot take it."""
        ...

    def drop(self, file: FileText, before: Any) -> str:
        """The text without our part. `before` is what the file said before us (None: not known)."""
        ...


@dataclass(frozen=True, slots=True)
class Hook:
    """An event that a client reports, as the client spells it; `matcher` "" where there is none."""

    event: str
    matcher: str = ""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file of a client. `mac` and `windows` are "" where the path is that of Linux."""

    role: Role
    level: Level
    shape: Shape
    linux: str
    mac: str = ""
    windows: str = ""
    # Other places, of which the first that exists is taken when the usual one does not exist.
    others: tuple[str, ...] = ()
    # In the project, but of one person: not committed, so paths of this machine may stand in it.
    personal: bool = False
    executable: bool = False
    # Written only where this folder exists ("." is the file's own): not every person has every home of a client.
    needs: str = ""
    only: tuple[str, ...] = ("linux", "mac", "windows")
    # Instructions: the client reads AGENTS.md where this file does not exist. To make it would hide that one.
    or_agents: bool = False


@dataclass(frozen=True, slots=True)
class Client:
    """A client. `injects` are the events at which text of ours reaches the model."""

    name: str
    title: str
    files: tuple[ConfigFile, ...]
    # How it is known to be here: paths in the project, paths of the person, programs on PATH.
    project_signs: tuple[str, ...] = ()
    user_signs: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    events: tuple[Hook, ...] = ()
    injects: tuple[str, ...] = ()
    # Full sentences: what it cannot do, and what has to be known or done by hand.
    cannot: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    # (variable, folder that it replaces)
    moved_by: tuple[str, str] = ("", "")
    # Clients whose hooks this one runs as well: where theirs are written, its own are not.
    hooks_of: tuple[str, ...] = ()
    # Other settings that it reads: our hooks in one of them, or our plugin enabled there, are not doubled.
    also_reads: tuple[str, ...] = ()
