"""The reference of the command line, written from the registry and the commands themselves; docs hold it by cog."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

import click
import msgspec

from backstory.surfaces.cli.main import PROGRAM, group
from backstory.surfaces.cli.registry import ALIASES, COMMANDS, SECTIONS

_ANSWERS = "backstory.project.answers"
# What `data` of a command's JSON is: the type, and whether it is a list of them.
ANSWERS: dict[str, tuple[str, bool]] = {
    "init": ("backstory.project.setup:Started", False),
    "status": ("backstory.project.status:Status", False),
    "doctor": ("backstory.project.doctor:DoctorReport", False),
    "brief": (f"{_ANSWERS}:BriefAnswer", False),
    "search": ("backstory.recall.search:SearchAnswer", False),
    "why": (f"{_ANSWERS}:Why", False),
    "show": (f"{_ANSWERS}:Detail", False),
    "timeline": (f"{_ANSWERS}:View", True),
    "case": (f"{_ANSWERS}:Case", False),
    "stale": (f"{_ANSWERS}:View", True),
    "conflicts": (f"{_ANSWERS}:Pair", True),
    "review": (f"{_ANSWERS}:View", True),
    "publish": ("backstory.project.publishing:Published", False),
    "export": ("backstory.project.exporting:Export", False),
    "import": ("backstory.project.importing:Imported", False),
    "verify": ("backstory.project.verifying:Report", False),
    "gc": ("backstory.project.cleaning:Cleaned", False),
}
# Every command that records or judges answers with this.
OUTCOME = "backstory.project.gateway:Outcome"
_NO_JSON = ("mcp", "completion")


def answer_of(name: str) -> tuple[type[msgspec.Struct], bool] | None:
    """The type that `data` of a command's JSON is made of, and whether it is a list; None without JSON."""
    if name in _NO_JSON:
        return None
    path, many = ANSWERS.get(name, (OUTCOME, False))
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute), many


def commands() -> Iterator[str]:
    """Markdown: each command with its usage, help and options. Lines without line ends."""
    parent = click.Context(group, info_name=PROGRAM)
    for section, about in SECTIONS.items():
        yield from [f"## {section}: {about}", ""]
        for item in COMMANDS.values():
            made = group.get_command(parent, item.name) if item.section == section else None
            if made is not None:
                ctx = click.Context(made, info_name=item.name, parent=parent, max_content_width=100)
                text = made.get_help(ctx).replace(f"\n  {item.help}\n", "\n", 1)
                yield from [f"### {PROGRAM} {item.name}", "", f"{item.help}.", "", "```text", text, "```", ""]
                other = sorted(name for name, target in ALIASES.items() if target == item.name)
                if other:
                    yield from [f"Other names: {', '.join(f'`{name}`' for name in other)}.", ""]


def shapes() -> Iterator[str]:
    """Markdown: what `data` is for each command, then the fields of every type in it."""
    yield from ["| command | `data` |", "|---|---|"]
    found: dict[str, type[msgspec.Struct]] = {}
    for name in COMMANDS:
        answer = answer_of(name)
        if answer is not None:
            cls, many = answer
            yield f"| `{name}` | {'a list of ' if many else ''}`{cls.__name__}` |"
            _gather(cls, found)
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
