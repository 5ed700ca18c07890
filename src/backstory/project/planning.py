"""The plan: what is intended, in a file of its own beside the log, which says what happened.

Promises: it is plain Markdown that anybody may edit, `.backstory/plan.md` in the tree, or beside the journal where the
memory is private. A change here is all or nothing, keeps every line that it is not about, and takes out secrets and
hidden characters. Nothing of a plan is an entry: it never counts as a decision, and no brief shows it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import msgspec

from backstory.config import FOLDER, Config
from backstory.errors import BackstoryError, Exit
from backstory.log.lock import held
from backstory.project.fencing import inert
from backstory.project.prose import LINE_LIMIT, Prose
from backstory.records.hostile import is_directive

NAME = "plan.md"
MAX_BYTES = 1 << 18
_ITEM = re.compile(r"^(\s*[-*+] \[)([ xX])(\] +)(\S.*)$")


class Item(msgspec.Struct, frozen=True):
    """A line of the plan with a box before it. `number` counts the boxes from 1, ticked ones too."""

    number: int
    text: str
    done: bool


class Plan(msgspec.Struct, frozen=True):
    """The plan as it stands: `path` as seen from the project, `text` whole, `items` its lines with a box.

    `removed` is what `clear` took away; `redacted` are the kinds of secrets that a change was freed of.
    """

    path: str
    text: str
    items: tuple[Item, ...] = ()
    removed: str = ""
    redacted: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def place(config: Config) -> str:
    """The absolute path of the plan, whether it is there or not."""
    places = config.places
    private = config.private and places.common_dir
    return os.path.join(places.shared_dir, NAME) if private else os.path.join(places.root, FOLDER, NAME)


def read(config: Config) -> Plan:
    """The plan; empty where there is none. `BackstoryError` if it is no text, or larger than 256 KiB."""
    text = _text(config)
    return Plan(_shown(config), text, _items(text), notes=_warnings(text))


def add(config: Config, text: str) -> Plan:
    """Put one line with an empty box behind the last."""
    prose = Prose()
    line = _clean(" ".join(prose.text(text).split()))
    if not line:
        raise BackstoryError(
            "There is no text to add.", hint='Say what is meant to be done: `backstory plan add "..."`.'
        )
    if len(line) > LINE_LIMIT:
        raise BackstoryError(
            f"Nothing was written: the line has {len(line):,} characters; {LINE_LIMIT} is the limit.",
            hint="Say it in one line, or write a whole plan: `backstory plan set -` reads it from stdin.",
            code=Exit.REFUSED,
        )
    return _changed(config, prose, lambda old: f"{old.rstrip()}\n- [ ] {line}\n".lstrip("\n"))


def write(config: Config, text: str) -> Plan:
    """Put a whole plan in the place of the old one."""
    prose = Prose()
    new = _clean(prose.text(text)).strip()
    if not new:
        raise BackstoryError("The plan would be empty.", hint="To remove it: `backstory plan clear`.")
    return _changed(config, prose, lambda old: f"{new}\n")


def done(config: Config, which: str) -> Plan:
    """Tick the box of the item that `which` names: its number, or words of it. `BackstoryError` if it names none."""
    return _changed(config, Prose(), lambda old: _ticked(old, which))


def clear(config: Config) -> Plan:
    """Remove the plan; what it said is in `removed`."""
    with held(config.places.shared_dir):
        text = _text(config)
        try:
            os.unlink(place(config))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _refused(config, error) from error
    return Plan(_shown(config), "", removed=text)


def _changed(config: Config, prose: Prose, change: Callable[[str], str]) -> Plan:
    with held(config.places.shared_dir):
        text = change(_text(config))
        if len(text.encode("utf-8", "replace")) > MAX_BYTES:
            raise BackstoryError(
                "Nothing was written: the plan would be larger than 256 KiB.",
                hint="Keep what is intended now, and put the rest into tickets.",
                code=Exit.REFUSED,
            )
        _write(config, text)
    return Plan(_shown(config), text, _items(text), redacted=prose.redacted, notes=_warnings(text))


def _ticked(text: str, which: str) -> str:
    items, wanted = _items(text), which.strip().lower()
    named = [item for item in items if str(item.number) == wanted or (item.text.lower() == wanted and not item.done)]
    found = named or [item for item in items if wanted and wanted in item.text.lower() and not item.done]
    if len(found) != 1:
        raise _unclear(which.strip()[:60], found, [item for item in items if not item.done])
    lines, number = text.split("\n"), 0
    for at, line in enumerate(lines):
        match = _ITEM.match(line)
        number += match is not None
        if match and number == found[0].number:
            lines[at] = f"{match[1]}x{match[3]}{match[4]}"
            break
    return "\n".join(lines)


def _unclear(which: str, found: list[Item], left: list[Item]) -> BackstoryError:
    """The refusal to guess, with the numbers that can be said instead: the plan itself has none."""
    if not left:
        return BackstoryError(
            "The plan has no item that is open.",
            hint='To add one: `backstory plan add "..."`; `backstory plan` shows it.',
        )
    listed = [item for item in found if not item.done] or left
    said = f"Several items of the plan fit {which!r}." if found else f"No open item of the plan fits {which!r}."
    return BackstoryError(
        "\n".join([said, *(f"  {item.number}. {item.text[:100]}" for item in listed)]),
        hint=f"Name one by the number before it: `backstory plan done {listed[0].number}`.",
    )


def _items(text: str) -> tuple[Item, ...]:
    matches = [match for match in map(_ITEM.match, text.split("\n")) if match]
    return tuple(Item(number, match[4].strip(), match[2] != " ") for number, match in enumerate(matches, 1))


def _warnings(text: str) -> tuple[str, ...]:
    why = is_directive(text)
    return (f"the plan {why}: it reads like an instruction to an agent",) if why else ()


def _clean(text: str) -> str:
    clean: str = inert(text)
    return clean


def _text(config: Config) -> str:
    path = place(config)
    _refuse_link(config)
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise BackstoryError(
            f"{_shown(config)} cannot be read ({error.strerror}).", hint="Make it readable, then run the command again."
        ) from error
    if len(data) > MAX_BYTES or b"\0" in data:
        what = "is larger than 256 KiB" if len(data) > MAX_BYTES else "holds NUL bytes, so it is no text"
        raise BackstoryError(
            f"{_shown(config)} {what}.", hint="Mend the file, or move it away and begin a new plan.", code=Exit.REFUSED
        )
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _write(config: Config, text: str) -> None:
    path = place(config)
    aside = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(aside, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except OSError as error:
        raise _refused(config, error) from error
    finally:
        try:
            os.unlink(aside)
        except OSError:
            pass


def _refuse_link(config: Config) -> None:
    """A link would lead reading and writing out of the project."""
    path = place(config)
    for part in (path, os.path.dirname(path)):
        if os.path.islink(part):
            raise BackstoryError(
                f"{part} is a symbolic link, which is not followed.",
                hint="Put a real file in its place.",
                code=Exit.REFUSED,
            )


def _refused(config: Config, error: OSError) -> BackstoryError:
    return BackstoryError(
        f"Nothing was written: {_shown(config)} cannot be written ({error.strerror or error}).",
        hint="Make the folder writable, then run the command again.",
        code=Exit.REFUSED,
    )


def _shown(config: Config) -> str:
    path = place(config)
    inside = os.path.relpath(path, config.root) if path.startswith(config.root + os.sep) else path
    return inside.replace(os.sep, "/")
