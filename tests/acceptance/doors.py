"""Which doors a test asked for an answer, and by which it wrote: `docs/acceptance.md` tells it of each demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from backstory.surfaces.cli.registry import COMMANDS
from backstory.surfaces.mcp.tools import TOOLS

CLI, EXPORT, SQL, MCP, HOOKS, WEB, WAYS = "CLI", "export", "SQL", "MCP", "hooks", "web", "ways to write"
GROUPS = (CLI, EXPORT, SQL, MCP, HOOKS, WEB, WAYS)
# What the running test asked so far: group and name.
ASKED: set[tuple[str, str]] = set()


def of_surface(name: str) -> tuple[str, str]:
    """The door of a surface by its name in `SURFACES`; an answer in two forms is one door."""
    what, _, rest = name.partition(" ")
    if what == "cli":
        return of_command(rest.split())
    if what == "mcp":
        return of_tool(rest.split()[0])
    if what == "hook":
        return HOOKS, rest
    return (WEB, rest.split()[0]) if what == "web" else (MCP, name)


def of_command(words: list[str]) -> tuple[str, str]:
    """The door of a command line that reads."""
    name = next((" ".join(words[:count]) for count in (2, 1) if " ".join(words[:count]) in COMMANDS), "")
    if name == "export":
        return EXPORT, words[words.index("--format") + 1] if "--format" in words else "markdown"
    return (SQL if name == "history query" else CLI), name


def of_tool(name: str) -> tuple[str, str]:
    """The door of an MCP tool."""
    return (SQL if name == "query_history" else MCP), name


def note_command(args: Iterable[str]) -> None:
    """A command was run; what writes is no door that shows."""
    door = of_command(list(args))
    if door[1] and (door[0] == EXPORT or COMMANDS[door[1]].reads):
        ASKED.add(door)


def note_tool(name: str) -> None:
    """A tool was called."""
    if name in TOOLS and not TOOLS[name].writes:
        ASKED.add(of_tool(name))


def counted(doors: Iterable[tuple[str, str]]) -> str:
    """`CLI 12, MCP 3`: how many of each group."""
    found = Counter(group for group, _ in set(doors))
    return ", ".join(f"{group} {found[group]}" for group in GROUPS if found[group])
