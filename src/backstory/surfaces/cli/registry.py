"""The commands by name: the one list that help, completion, the reference in the docs, and tests read.

Nothing is imported from a command until it is used.
"""

from __future__ import annotations

from typing import NamedTuple

_PACKAGE = "backstory.surfaces.cli.commands"
START, RECORD, ASK, JUDGE, KEEP = "Start", "Record", "Ask", "Judge", "Keep"
SECTIONS = {
    START: "set a memory up",
    RECORD: "say what the next one should know",
    ASK: "read it",
    JUDGE: "say what holds",
    KEEP: "look after the log",
}


class Command(NamedTuple):
    """A command: where its click object is, its help in one line, and whether it only reads."""

    name: str
    path: str
    help: str
    reads: bool
    section: str


def _command(section: str, name: str, help_: str, *, reads: bool = False, module: str = "") -> tuple[str, Command]:
    return name, Command(name, f"{_PACKAGE}.{module or name}:command", help_, reads, section)


COMMANDS: dict[str, Command] = dict(
    (
        _command(START, "init", "Start a memory in this project"),
        _command(START, "status", "Show what the memory holds and how it fares", reads=True),
        _command(START, "doctor", "Check that everything around the memory works, and mend it", reads=True),
        _command(START, "mcp", "Serve the memory to an agent over MCP (stdio)"),
        _command(START, "completion", "Print the completion script for a shell"),
        _command(RECORD, "decide", "Record a decision and why"),
        _command(RECORD, "tried", "Record what was tried and how it ended"),
        _command(RECORD, "pattern", "Record a pattern that recurs in this project"),
        _command(RECORD, "hot", "Mark a file that bites"),
        _command(RECORD, "issue", "Open a case: something that is wrong"),
        _command(RECORD, "observe", "Record an observation about an open issue"),
        _command(RECORD, "hypothesis", "Record a guess at the cause of an issue"),
        _command(RECORD, "fixed", "Record what fixed an issue, and close its case"),
        _command(RECORD, "lesson", "Record what holds for a library"),
        _command(RECORD, "note", "Record anything else worth a line"),
        _command(ASK, "brief", "Print the brief that a session starts with", reads=True),
        _command(ASK, "search", "Search the memory", reads=True),
        _command(ASK, "why", "Show everything known about a file", reads=True),
        _command(ASK, "show", "Show one entry in full, with its history", reads=True),
        _command(ASK, "timeline", "List entries, newest first", reads=True),
        _command(ASK, "case", "Show an issue with all that belongs to it", reads=True),
        _command(ASK, "stale", "List entries under which the ground has moved", reads=True),
        _command(ASK, "conflicts", "List entries that say different things", reads=True),
        _command(JUDGE, "review", "Walk through what waits for a person", reads=True),
        _command(JUDGE, "confirm", "Say that an entry still holds"),
        _command(JUDGE, "supersede", "Replace an entry by a new one"),
        _command(JUDGE, "retire", "Say that an entry no longer holds"),
        _command(JUDGE, "contest", "Say that an entry is in doubt"),
        _command(JUDGE, "approve", "Let a proposed entry count (a person only)"),
        _command(JUDGE, "reject", "Refuse a value, now and later (a person only)"),
        _command(JUDGE, "lift", "Take a rejection back (a person only)"),
        _command(JUDGE, "resolve", "End a conflict (a person only)"),
        _command(JUDGE, "redact", "Blank the text of an entry in place (a person only)"),
        _command(KEEP, "publish", "Bring entries of other branches into this tree"),
        _command(KEEP, "export", "Write the memory out as JSON, JSON lines or Markdown", reads=True),
        _command(KEEP, "import", "Read an export back in", module="import_export"),
        _command(KEEP, "verify", "Check every line of the log and the journal", reads=True),
        _command(KEEP, "gc", "Drop derived files that are out of date"),
    )
)

# Hidden: what a newcomer guesses, and the kinds' own names.
ALIASES = {
    "decision": "decide",
    "attempt": "tried",
    "trial": "tried",
    "try": "tried",
    "hotfile": "hot",
    "observation": "observe",
    "issuenote": "observe",
    "fix": "fixed",
    "bug": "issue",
    "history": "timeline",
    "log": "timeline",
    "remember": "note",
}
# `backstory record KIND ...` is the command of that kind, for who thinks in kinds.
ANY_KIND = "record"
OF_KIND = {"decision": "decide", "trial": "tried", "hotfile": "hot", "issuenote": "observe", "fix": "fixed"}


def find(name: str) -> Command | None:
    """The command that `name` or one of its other names means."""
    return COMMANDS.get(ALIASES.get(name, name))


def nearest(name: str) -> str:
    """The command whose name looks most like `name`, or ""."""
    from difflib import get_close_matches

    known = [*COMMANDS, *ALIASES]
    found = get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    return ALIASES.get(found[0], found[0]) if found else ""
