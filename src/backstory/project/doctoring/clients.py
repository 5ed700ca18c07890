"""The clients' files: what is pinned to something that is gone, outdated or another installation, and mending it."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence

from backstory.errors import BackstoryError
from backstory.project.clients.contract import INSTRUCTIONS, MCP
from backstory.project.clients.places import resolved
from backstory.project.doctoring import codex_trust, entries, programs, trying
from backstory.project.doctoring.entries import Place, Start
from backstory.project.doctoring.finding import ADVICE, BAD, FIX, FIXED, GOOD, Check
from backstory.project.installing.answers import CHANGE, REFUSED
from backstory.project.installing.planning import Plan, Step, step
from backstory.project.installing.targets import Selection, Target, brought_by_plugin, detected
from backstory.project.installing.undoing import without_ours
from backstory.project.merging.file_text import packed, unpacked

NAME = "clients"


def checks(root: str, *, fix: bool, private: bool, brief: bool) -> list[Check]:
    """Every file with an entry of ours, everything that those start, and which clients have none.

    `brief`: the memory has something to say to a session that starts. Files are written only with `fix`.
    """
    out = [check for place in list(entries.places(root)) for check in _mended(place, root)] if fix else []
    places = list(entries.places(root))
    by_place = [(place, list(entries.starts(place))) for place in places]
    out += _not_on_path(by_place)
    told = [check for place, starts in by_place for check in _of_place(place, starts, private)]
    sound = [check.message for check in told if check.state == GOOD]
    out += [check for check in told if check.state != GOOD]
    if sound:
        out.append(Check(NAME, GOOD, f"as they were written: {', '.join(sound)}"))
    for place, note in entries.unreadable(root):
        out.append(Check(NAME, BAD, note, f"mend the file by hand, then {_again(place, private)}"))
    out += [_of_lost(place, private) for place in entries.lost(root)]
    every = [start for _, starts in by_place for start in starts]
    ready = [start for start in every if not programs.broken(start) and programs.may_run(start)]
    out += trying.checks(trying.tried(ready, root, brief=brief))
    out += codex_trust.checks(every)
    return out + _without(root, places)


def _mended(place: Place, root: str) -> list[Check]:
    """Write a file's entries again, unless they belong to another installation that works."""
    from backstory.project.installing.applying import apply

    starts = list(entries.starts(place))
    ill = any(programs.broken(start) for start in starts)
    if not ill and any(programs.elsewhere(start) for start in starts):
        return []
    target = _written_anew(place, starts)
    try:
        planned = _planned(target)
        if planned.state != CHANGE:
            return []
        apply(Plan(Selection([part.client for part in target.parts], place.level, root), [planned]))
    except BackstoryError as error:
        return [Check(NAME, BAD, f"{target.name} could not be written: {error.message}", error.hint)]
    return [Check(NAME, FIXED, f"wrote our entries in {target.name} again; what else is in it stayed")]


def _not_on_path(found: Sequence[tuple[Place, list[Start]]]) -> list[Check]:
    """A line for each program that PATH does not lead to: one cause, however many files start it."""
    names: dict[str, list[str]] = {}
    used = set()
    for place, starts in found:
        for program in dict.fromkeys(start.program for start in starts if programs.not_on_path(start)):
            names.setdefault(program, []).append(place.target.name)
            used |= {program} if place.level == "user" or _is_used(place) else set()
    said = {program: f"`{program}` is not on PATH, and is started by {', '.join(by)}" for program, by in names.items()}
    return [Check(NAME, BAD if name in used else ADVICE, text, programs.ON_PATH) for name, text in said.items()]


def _of_place(place: Place, starts: Sequence[Start], private: bool) -> list[Check]:
    """What is to be said of one file; where PATH is at fault that was said already."""
    name, path = place.target.name, place.target.path
    if any(programs.not_on_path(start) for start in starts):
        return []
    outdated = _planned(_written_anew(place, starts)).state == CHANGE
    broken = dict.fromkeys(why for start in starts if (why := programs.broken(start)))
    if broken:
        state = BAD if place.level == "user" or _is_used(place) else ADVICE
        return [Check(NAME, state, f"{name} {why}", FIX if outdated else _again(place, private)) for why in broken]
    if any(part.file.executable for part in place.target.parts) and not os.access(path, os.X_OK):
        return [
            Check(NAME, BAD, f"{name} is no executable file, so that it is not run", f"`chmod +x {shlex.quote(path)}`")
        ]
    others = dict.fromkeys(other for start in starts if (other := programs.elsewhere(start)))
    if others:
        where = f"{name} starts another installation: {', '.join(others)}"
        return [Check(NAME, ADVICE, where, f"{_again(place, private)} makes it start this one, if you want that")]
    untried = [start.program for start in starts if not programs.may_run(start)]
    if untried:
        where = f"{name} starts {untried[0]} in a way that install does not write; it was not tried"
        return [Check(NAME, ADVICE, where, f"{_again(place, private)} writes it as usual")]
    if outdated:
        return [Check(NAME, ADVICE, f"{name} is not as this version writes it", FIX)]
    return [Check(NAME, GOOD, name)]


def _of_lost(place: Place, private: bool) -> Check:
    """A file without our entries may be a choice, or what a merge or another program left."""
    what = "holds nothing of ours any more" if os.path.exists(place.target.path) else "is gone"
    again = _again(place, private)
    hint = f"{again} writes it again; {again.replace('install', 'uninstall', 1)} takes out what is left"
    return Check(NAME, ADVICE, f"{place.target.name} {what}, though `backstory install` wrote to it", hint)


def _written_anew(place: Place, starts: Sequence[Start]) -> Target:
    """The file with the parts that `doctor` would write: a server that starts is left as it is, whatever starts it."""
    ill = {start.part.client.name for start in starts if not start.event and programs.broken(start)}
    parts = [part for part in place.target.parts if part.file.role != MCP or part.client.name in ill]
    return Target(place.target.path, place.target.name, parts)


def _planned(target: Target) -> Step:
    """The file as it would be. An entry that cannot be changed where it stands is taken out and put in again."""
    planned = step(target)
    if planned.state != REFUSED or planned.before is None:
        return planned
    try:
        file = unpacked(without_ours(target, planned.before, None, known=False), target.name)
        for part in target.parts:
            file = file._replace(text=part.file.shape.put(file, part.commands))
    except BackstoryError:
        return planned
    return Step(target, planned.before, packed(file, file.text), CHANGE)


def _is_used(place: Place) -> bool:
    """Whether the person has one of the clients: a committed file alone says that somebody has."""
    for part in place.target.parts:
        client = part.client
        signs = [sign for sign in client.user_signs if not sign.startswith("%") or os.name == "nt"]
        if any(os.path.exists(resolved(sign, "", client)) for sign in signs) or any(map(shutil.which, client.programs)):
            return True
    return any(part.file.personal for part in place.target.parts)


def _again(place: Place, private: bool) -> str:
    names = " ".join(dict.fromkeys(part.client.name for part in place.target.parts[:1]))
    level = " --user" if place.level == "user" else " --no-user" if private else ""
    return f"`backstory install {names}{level}`"


def _without(root: str, places: Sequence[Place]) -> list[Check]:
    """Clients that are here and have nothing of ours but instructions, which they share with others."""
    wired = {part.client.name for place in places for part in place.target.parts if part.file.role != INSTRUCTIONS}
    missing = [
        client
        for client in detected(root)
        if not wired & {client.name, *client.hooks_of} and not brought_by_plugin(client, root)
    ]
    if missing:
        names = " ".join(client.name for client in missing)
        titles = ", ".join(client.title for client in missing)
        return [Check(NAME, ADVICE, f"not set up in {titles}", f"`backstory install {names}`, if you want it there")]
    return [] if places else [Check(NAME, GOOD, "no coding agent was found here")]
