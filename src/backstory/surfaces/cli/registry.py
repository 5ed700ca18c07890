"""The commands by name: the one list that help, completion, the reference in the docs, and tests read.

A command of two words, such as `ticket new`, belongs to the group of its first word. Nothing is imported from a
command until it is used.
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
    return name, Command(name, f"{_PACKAGE}.{module or name.replace(' ', '_')}:command", help_, reads, section)


COMMANDS: dict[str, Command] = dict(
    (
        _command(START, "init", "Start a memory in this project"),
        _command(START, "status", "Show what the memory holds and how it fares", reads=True),
        _command(START, "stats", "Show the memory at work: what was given, what came of it", reads=True),
        _command(START, "doctor", "Check that everything around the memory works, and mend it", reads=True),
        _command(START, "install", "Bring the memory to the coding agents here"),
        _command(START, "uninstall", "Take out what install wrote"),
        _command(START, "mcp", "Serve the memory to an agent over MCP"),
        _command(START, "agent-rule", "Print the rule that makes agents ask first", module="agent_rule"),
        _command(START, "git-hooks install", "Let git call backstory", module="git_hooks_install"),
        _command(START, "git-hooks uninstall", "Take the git hooks out again", module="git_hooks_uninstall"),
        _command(START, "git-hooks status", "Show how the git hooks stand", reads=True, module="git_hooks_status"),
        _command(START, "git-hooks run", "Do what a git hook does", module="git_hooks_run"),
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
        _command(RECORD, "plan", "Show or change the plan: what is intended"),
        _command(RECORD, "capture", "Propose what sessions learned"),
        _command(RECORD, "backfill", "Take in all old transcripts and the git history"),
        _command(RECORD, "ticket new", "Write a new ticket"),
        _command(RECORD, "ticket list", "List the tickets of this project", reads=True),
        _command(RECORD, "ticket show", "Show a ticket with all that belongs to it", reads=True),
        _command(RECORD, "run start", "Begin the run record of a ticket"),
        _command(RECORD, "run finish", "Fill in the run record of a ticket"),
        _command(ASK, "brief", "Print the brief that a session starts with", reads=True),
        _command(ASK, "search", "Search the memory", reads=True),
        _command(ASK, "check", "Check a change before it is made", reads=True),
        _command(ASK, "why", "Show everything known about a file", reads=True),
        _command(ASK, "show", "Show one entry in full, with its history", reads=True),
        _command(ASK, "timeline", "List entries, newest first", reads=True),
        _command(ASK, "case", "Show an issue with all that belongs to it", reads=True),
        _command(ASK, "stale", "List entries under which the ground has moved", reads=True),
        _command(ASK, "web", "Show the memory as a page in the browser"),
        _command(ASK, "map", "Show what the project is made of", reads=True),
        _command(ASK, "diff", "Show what a branch changes in the memory", reads=True),
        _command(ASK, "conflicts", "List entries that say different things", reads=True),
        _command(ASK, "sessions list", "List what agents did in this project", reads=True),
        _command(ASK, "sessions show", "Show one session: done, failed, recorded", reads=True),
        _command(ASK, "sessions search", "Search what was said and run in sessions", reads=True),
        _command(ASK, "sessions resume", "Print what the next session needs of the last", reads=True),
        _command(ASK, "sessions on", "Read this machine's transcripts for this project"),
        _command(ASK, "sessions off", "Stop reading them, and delete what was read"),
        _command(ASK, "history refresh", "Read tickets, run records, git and pull requests"),
        _command(ASK, "history query", "Ask the history with one SELECT", reads=True),
        _command(ASK, "history search", "Search tickets, run records, commits, pull requests", reads=True),
        _command(ASK, "history themes", "Show what recurs in run records and trials", reads=True),
        _command(ASK, "history semantic", "Search the history by meaning", reads=True),
        _command(ASK, "history grade", "Hold predictions against what it took", reads=True),
        _command(ASK, "global list", "List what was shared on this machine", reads=True, module="global_list"),
        _command(ASK, "global show", "Show a shared lesson and its history", reads=True, module="global_show"),
        _command(ASK, "global search", "Search what was shared on this machine", reads=True, module="global_search"),
        _command(ASK, "global verify", "Check the machine-wide log", reads=True, module="global_verify"),
        _command(JUDGE, "review", "Walk through what waits for a person", reads=True),
        _command(JUDGE, "confirm", "Say that an entry still holds"),
        _command(JUDGE, "supersede", "Replace an entry by a new one"),
        _command(JUDGE, "snooze", "Keep a warning quiet for a while, for yourself"),
        _command(JUDGE, "retire", "Say that an entry no longer holds"),
        _command(JUDGE, "contest", "Say that an entry is in doubt"),
        _command(JUDGE, "approve", "Let a proposed entry count (a person only)"),
        _command(JUDGE, "reject", "Refuse a value, now and later (a person only)"),
        _command(JUDGE, "lift", "Take a rejection back (a person only)"),
        _command(JUDGE, "resolve", "End a conflict (a person only)"),
        _command(JUDGE, "share", "Offer a lesson to your other projects (a person only)"),
        _command(JUDGE, "unshare", "Take a shared lesson back (a person only)"),
        _command(JUDGE, "redact", "Blank the text of an entry in place (a person only)"),
        _command(KEEP, "publish", "Bring entries of other branches into this tree"),
        _command(KEEP, "export", "Write the memory out, in one of eight forms", reads=True),
        _command(KEEP, "import", "Read an export back in, or another tool's memory", module="import_export"),
        _command(KEEP, "ci ingest", "Propose trials from the results of a test run"),
        _command(KEEP, "verify", "Check every line of the log and the journal", reads=True),
        _command(KEEP, "watch", "Propose files that are edited again and again as hot"),
        _command(KEEP, "projects list", "List the projects known on this machine", reads=True),
        _command(KEEP, "projects forget", "Take a project off that list"),
        _command(KEEP, "projects scan", "Look for projects, and ask before listing them"),
        _command(KEEP, "gc", "Drop derived files that are out of date"),
    )
)

# The first words of commands of two, with their help in one line.
GROUPS = {
    "ci": "Serve continuous integration",
    "git-hooks": "Check what is committed, and keep the index warm",
    "global": "Ask what your projects share on this machine",
    "projects": "Know the projects of this machine",
    "history": "Ask what the project wrote: tickets, run records, git",
    "ticket": "Write and read tickets: what is to be done",
    "run": "Write run records: what working on a ticket took",
    "sessions": "Ask what agents did here, from their transcripts",
}

# Hidden: what a newcomer guesses, and the kinds' own names.
ALIASES = {
    "git-hook": "git-hooks run",
    "precheck": "check",
    "decision": "decide",
    "attempt": "tried",
    "trial": "tried",
    "try": "tried",
    "hotfile": "hot",
    "observation": "observe",
    "issuenote": "observe",
    "fix": "fixed",
    "bug": "issue",
    "log": "timeline",
    "remember": "note",
    "session": "sessions",
    "sessions ls": "sessions list",
    "resume": "sessions resume",
    "tickets": "ticket",
    "ticket add": "ticket new",
    "ticket create": "ticket new",
    "ticket ls": "ticket list",
    "history sql": "history query",
    "history update": "history refresh",
    "run begin": "run start",
    "run end": "run finish",
    "run stop": "run finish",
}
# `backstory record KIND ...` is the command of that kind, for who thinks in kinds.
ANY_KIND = "record"
OF_KIND = {"decision": "decide", "trial": "tried", "hotfile": "hot", "issuenote": "observe", "fix": "fixed"}


def full_name(name: str) -> str:
    """The command or group that `name` or one of its other names means, or ""."""
    meant = ALIASES.get(name, name)
    return meant if meant in COMMANDS or meant in GROUPS else ""


def find(name: str) -> Command | None:
    """The command that `name` or one of its other names means."""
    return COMMANDS.get(ALIASES.get(name, name))


def below(above: str = "") -> list[str]:
    """The names in the group `above`, or at the root, in the order of the help."""
    start = f"{above} " if above else ""
    return list(dict.fromkeys(name[len(start) :].split(" ")[0] for name in COMMANDS if name.startswith(start)))


def rows(section: str) -> list[tuple[str, str]]:
    """(name, help) of what the root has in a section: a command, or a group with the names in it."""
    firsts = dict.fromkeys(name.split(" ")[0] for name, item in COMMANDS.items() if item.section == section)
    return [(name, COMMANDS[name].help if name in COMMANDS else group_help(name)) for name in firsts]


def group_help(name: str) -> str:
    """The help of a group in one line, with the names in it."""
    return f"{GROUPS[name]} ({', '.join(below(name))})"


def nearest(name: str, above: str = "") -> str:
    """The full name of the command in the group `above`, or at the root, that looks most like `name`, or ""."""
    from difflib import get_close_matches

    start, word = (f"{above} " if above else ""), name.lower()
    inner = [full for full in COMMANDS if full.endswith(f" {word}")]
    if inner and not above:
        return inner[0]
    others = [other[len(start) :] for other in ALIASES if other.startswith(start)]
    found = get_close_matches(word, [*below(above), *(other for other in others if " " not in other)], n=1, cutoff=0.6)
    return full_name(start + found[0]) if found else ""
