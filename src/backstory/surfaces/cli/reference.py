"""The reference of the command line, written from the registry and the commands themselves; docs hold it by cog."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

import click
import msgspec

from backstory.surfaces.cli.grouping import PROGRAM, load
from backstory.surfaces.cli.main import group
from backstory.surfaces.cli.registry import ALIASES, COMMANDS, SECTIONS, below, rows

_ANSWERS = "backstory.project.answers"
_SESSIONS = "backstory.project.sessions.answers"
# What `data` of a command's JSON is: the type, and whether it is a list of them.
ANSWERS: dict[str, tuple[str, bool]] = {
    "init": ("backstory.project.setup:Started", False),
    "status": ("backstory.project.status:Status", False),
    "stats": ("backstory.project.stats:Stats", False),
    "doctor": ("backstory.project.doctor:DoctorReport", False),
    "install": ("backstory.project.installing.answers:Installation", False),
    "uninstall": ("backstory.project.installing.answers:Installation", False),
    "brief": (f"{_ANSWERS}:BriefAnswer", False),
    "search": ("backstory.recall.search:SearchAnswer", False),
    "check": ("backstory.project.checking:Checked", False),
    "snooze": ("backstory.project.snooze_writing:Snoozed", True),
    "why": (f"{_ANSWERS}:Why", False),
    "show": (f"{_ANSWERS}:Detail", False),
    "timeline": (f"{_ANSWERS}:View", True),
    "case": (f"{_ANSWERS}:Case", False),
    "map": ("backstory.project.mapping.answer:ProjectMap", False),
    "plan": ("backstory.project.planning:Plan", False),
    "stale": (f"{_ANSWERS}:View", True),
    "diff": ("backstory.project.team.diffing:MemoryDiff", False),
    "conflicts": (f"{_ANSWERS}:Pair", True),
    "review": ("backstory.project.reviewing:Candidate", True),
    "publish": ("backstory.project.publishing:Published", False),
    "export": ("backstory.project.exporting:Export", False),
    "import": ("backstory.project.importing:Imported", False),
    "verify": ("backstory.project.verifying:Report", False),
    "gc": ("backstory.project.cleaning:Cleaned", False),
    "watch": ("backstory.project.watching.watcher:Seen", False),
    "ticket new": ("backstory.project.ticket_writing:NewTicket", False),
    "ticket list": ("backstory.project.ticketing:TicketLine", True),
    "ticket show": ("backstory.project.ticketing:TicketDetail", False),
    "run start": ("backstory.project.running_records:RunOutcome", False),
    "run finish": ("backstory.project.running_records:RunOutcome", False),
    "agent-rule": ("backstory.project.agent_rule:Rule", False),
    "ci ingest": ("backstory.project.ci.ingest:Ingested", False),
    "git-hooks install": ("backstory.project.git_hooks.changes:HooksOutcome", False),
    "git-hooks uninstall": ("backstory.project.git_hooks.changes:HooksOutcome", False),
    "git-hooks status": ("backstory.project.git_hooks.removing:GitHooks", False),
    "capture": ("backstory.project.capture.running:Captured", False),
    "backfill": ("backstory.project.capture.backfill:Backfilled", False),
    "sessions list": (f"{_SESSIONS}:Sessions", False),
    "sessions show": (f"{_SESSIONS}:SessionDetail", False),
    "sessions search": (f"{_SESSIONS}:Passages", False),
    "sessions resume": ("backstory.project.sessions.resuming:HandOver", False),
    "sessions on": ("backstory.project.sessions.reading:Switched", False),
    "sessions off": ("backstory.project.sessions.reading:Switched", False),
    "global list": ("backstory.project.sharing.answers:SharedLesson", True),
    "global show": ("backstory.project.sharing.answers:SharedDetail", False),
    "global search": ("backstory.project.sharing.answers:SharedLesson", True),
    "global verify": ("backstory.project.verifying:Report", False),
    "projects list": ("backstory.project.registering:KnownProject", True),
    "projects forget": ("backstory.project.registering:KnownProject", True),
    "projects scan": ("backstory.project.registering:KnownProject", True),
    "history refresh": ("backstory.project.history.refresh:Refreshed", False),
    "history query": ("backstory.project.history.texts:Rows", False),
    "history search": ("backstory.recall.search:SearchAnswer", False),
    "history themes": ("backstory.project.history.asking:Theme", True),
    "history semantic": ("backstory.project.history.meaning:NearAnswer", False),
    "history grade": ("backstory.history.grade:Grade", False),
}
# Every command that records or judges answers with this.
OUTCOME = "backstory.project.gateway:Outcome"
_NO_JSON = ("mcp", "completion", "git-hooks run")


# What else it is, and when.
OTHER_ANSWERS = {"import": ("backstory.project.imports.running:TakenIn", "of another tool's memory")}


def answer_of(name: str) -> tuple[type[msgspec.Struct], bool] | None:
    """The type that `data` of a command's JSON is made of, and whether it is a list; None without JSON."""
    if name in _NO_JSON:
        return None
    path, many = ANSWERS.get(name, (OUTCOME, False))
    return _named(path), many


def _named(path: str) -> type[msgspec.Struct]:
    module, _, attribute = path.partition(":")
    found: type[msgspec.Struct] = getattr(importlib.import_module(module), attribute)
    return found


def names(section: str) -> Iterator[str]:
    """The commands of a section, each group before what is in it."""
    for name, _ in rows(section):
        yield name
        if name not in COMMANDS:
            yield from (f"{name} {one}" for one in below(name))


def usage(name: str) -> str:
    """The help of the command or group `name` as a terminal of 100 columns shows it."""
    *above, last = name.split(" ")
    ctx = click.Context(group, info_name=PROGRAM)
    for word in above:
        ctx = click.Context(group, info_name=word, parent=ctx)
    made = load(name)
    assert made is not None, name
    return made.get_help(click.Context(made, info_name=last, parent=ctx, terminal_width=100, max_content_width=100))


def commands() -> Iterator[str]:
    """Markdown: each command with its usage, help and options. Lines without line ends."""
    for section, about in SECTIONS.items():
        yield from [f"## {section}: {about}", ""]
        for name in names(section):
            text = usage(name)
            yield from [f"### {name}", "", "```text", *(line.rstrip() for line in text.splitlines()), "```", ""]
            other = sorted(alias for alias, target in ALIASES.items() if target == name)
            if other:
                yield from [f"Other names: {', '.join(f'`{alias}`' for alias in other)}.", ""]


def shapes() -> Iterator[str]:
    """Markdown: what `data` is for each command, then the fields of every type in it."""
    yield from ["| command | `data` |", "|---|---|"]
    found: dict[str, type[msgspec.Struct]] = {}
    for name in COMMANDS:
        answer = answer_of(name)
        if answer is not None:
            cls, many = answer
            _gather(cls, found)
            rest = ""
            if name in OTHER_ANSWERS:
                other, when = _named(OTHER_ANSWERS[name][0]), OTHER_ANSWERS[name][1]
                _gather(other, found)
                rest = f"; {when} `{other.__name__}`"
            yield f"| `{name}` | {'a list of ' if many else ''}`{cls.__name__}`{rest} |"
    for cls in found.values():
        yield from ["", f"**{cls.__name__}**: {_first_paragraph(cls.__doc__)}", ""]
        yield from (f"- `{field.encode_name}`: {_type(field.type)}" for field in msgspec.structs.fields(cls))


def _gather(cls: type[msgspec.Struct], found: dict[str, type[msgspec.Struct]]) -> None:
    if cls.__name__ in found:
        return
    found[cls.__name__] = cls
    for field in msgspec.structs.fields(cls):
        for part in _parts(field.type):
            if isinstance(part, type) and issubclass(part, msgspec.Struct):
                _gather(part, found)


def _parts(hint: Any) -> Iterable[Any]:
    """A type and all types inside it."""
    yield hint
    for part in getattr(hint, "__args__", ()):
        yield from _parts(part)


def _type(hint: Any) -> str:
    arguments = [_type(part) for part in getattr(hint, "__args__", ()) if part is not ...]
    name = str(getattr(hint, "__name__", hint))
    if name in ("tuple", "list") and arguments:
        return f"list of {arguments[0]}"
    if name == "dict" and arguments:
        return f"object of {arguments[1]}"
    if arguments:
        return " or ".join(arguments)
    words = {
        "str": "text",
        "int": "number",
        "float": "number",
        "bool": "true or false",
        "NoneType": "null",
        "Raw": "event",
    }
    return words.get(name, "any value" if name in ("Any", "object") else f"`{name}`")


def _first_paragraph(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())
