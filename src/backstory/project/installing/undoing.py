"""Taking our part out again.

A file that is as we left it gets its earlier bytes back, or goes when there was none. One that somebody changed since,
or whose record is gone, loses our entries and nothing else.
"""

from __future__ import annotations

import os
from typing import Any

from backstory.config import state_dir
from backstory.errors import BackstoryError
from backstory.log.lock import held
from backstory.project.clients.shapes import OwnFile
from backstory.project.installing import files, ledger
from backstory.project.installing.answers import CHANGE, REFUSED, REMOVE, RESTORE, SAME, Installation
from backstory.project.installing.planning import Plan, Step
from backstory.project.installing.targets import Selection, Target, detected, holds_ours, hook_files
from backstory.project.merging.file_text import packed, unpacked
from backstory.project.merging.json_edit import JsonText

_BLANK = ("", "{}")
ONLY_OURS = "It was not there before, and is as it was written."


def plan_removal(selection: Selection) -> Plan:
    """What `uninstall` would do; files without our part are not in it."""
    steps = [found for target in selection.every_place() if (found := _step(target)) is not None]
    return Plan(selection, steps, _left(selection), removal=True)


def apply_removal(plan: Plan) -> Installation:
    """Do it. A file that changed since the plan was made is planned anew."""
    folders: list[str] = []
    with held(os.path.join(state_dir(), "installed")):
        for step in plan.steps:
            current = step if files.read(step.target.path) == step.before else _step(step.target)
            if current is not None and current.state != REFUSED:
                folders += _carry_out(current, plan)
    # Last: two files may have shared a folder that was made for them.
    files.drop_folders(folders)
    _forget_lock()
    return plan.answer(applied=True)


def without_ours(target: Target, data: bytes, earlier: bytes | None, *, known: bool = True) -> bytes:
    """The bytes of a file without our parts. `earlier` is what it held before us (None: no file), where `known`."""
    file = unpacked(data, target.name)
    before = _said(earlier, target.name) if known else None
    for part in target.parts:
        file = file._replace(text=part.file.shape.drop(file, before))
    return packed(file, file.text)


def says_nothing(data: bytes, target: Target) -> bool:
    """Whether a file holds nothing, or an object with no members but those that its client always wants."""
    text = data.decode("utf-8", "replace").strip("\ufeff \t\r\n")
    if text in _BLANK:
        return True
    usual = {name: value for part in target.parts for name, value in getattr(part.file.shape, "beside", ())}
    return bool(usual) and _said(data, target.name) == usual


def _said(data: bytes | None, name: str) -> Any:
    """What a JSON file said; {} for no file, None for one that is no JSON."""
    if data is None:
        return {}
    try:
        return JsonText(unpacked(data, name)).data
    except BackstoryError:
        return None


def _step(target: Target) -> Step | None:
    current = None
    try:
        current = files.read(target.path)
        known = ledger.read(target.path)
        if known is not None:
            return _recorded(target, current, *known)
        if current is None:
            return None
        after = without_ours(target, current, None, known=False)
    except BackstoryError as error:
        if current is not None and b"backstory" not in current:
            return None
        return Step(target, current, current, REFUSED, f"{error.message} {error.hint}")
    return None if after == current else _edited(target, current, after, existed=False)


def _recorded(target: Target, current: bytes | None, record: ledger.Record, earlier: bytes | None) -> Step:
    others = [name for name in record.clients if name not in target.clients]
    target.parts = [part for part in target.parts if part.client.name in record.clients] or target.parts
    if others:
        return Step(target, current, current, SAME, f"It stays for {', '.join(others)}.")
    if current is None or ledger.digest(current) == record.before:
        return Step(target, current, current, SAME, "It is as it was already.")
    if ledger.digest(current) == record.after:
        if earlier is None:
            return Step(target, current, None, REMOVE, ONLY_OURS)
        return Step(target, current, earlier, RESTORE)
    after = without_ours(target, current, earlier)
    if after == current:
        return Step(target, current, current, SAME, "Nothing of ours is in it any more.")
    return _edited(target, current, after, existed=earlier is not None)


def _edited(target: Target, current: bytes, after: bytes, *, existed: bool) -> Step:
    """The step for a file that loses our entries; one that then says nothing, and did not exist before, goes."""
    if not existed and says_nothing(after, target):
        return Step(target, current, None, REMOVE)
    return Step(target, current, after, CHANGE, "It was changed since, so only our entries go.")


def _carry_out(step: Step, plan: Plan) -> list[str]:
    """Do one step; the folders that may be empty now."""
    target, known = step.target, ledger.read(step.target.path)
    folders = known[0].folders if known else _empty_above(target.path, plan.selection.root)
    if step.state == SAME:
        others = [name for name in known[0].clients if name not in target.clients] if known else []
        if known and others:
            known[0].clients = others
            ledger.write(*known)
        elif known:
            ledger.forget(target.path)
        return []
    if step.after is None:
        if step.before is not None and _changed_program(step, known):
            step.note = f"It was changed since; a copy is {ledger.keep_copy(target.path, step.before)}."
        files.remove(target.path)
    else:
        files.write(target.path, step.after)
    ledger.forget(target.path)
    return folders if step.after is None else []


def _changed_program(step: Step, known: tuple[ledger.Record, bytes | None] | None) -> bool:
    """Whether a file that is ours as a whole holds something that we did not write."""
    if known is not None and known[0].after == ledger.digest(step.before):
        return False
    own = [part for part in step.target.parts if isinstance(part.file.shape, OwnFile)]
    written = {part.file.shape.body(part.commands).encode() for part in own if isinstance(part.file.shape, OwnFile)}
    return bool(own) and step.before not in written


def _empty_above(path: str, root: str) -> list[str]:
    """The folders between the project and a file, outermost first: they go where nothing else is in them."""
    found: list[str] = []
    folder = os.path.dirname(path)
    while root and folder.startswith(root.rstrip(os.sep) + os.sep):
        found.insert(0, folder)
        folder = os.path.dirname(folder)
    return found


def _left(selection: Selection) -> tuple[str, ...]:
    """What stays at the other level, since only one was asked for."""
    if selection.scope != "project":
        return ()
    names = [
        client.name
        for client in selection.clients
        if client in detected(selection.root)
        and any(holds_ours(client, "hooks", place) for place in hook_files(client, "user", ""))
    ]
    if not names:
        return ()
    return (f"Your own files still run the hooks of {', '.join(names)}: `backstory uninstall --user`.",)


def _forget_lock() -> None:
    """The lock's folder goes when no record is left in it."""
    folder = os.path.join(state_dir(), "installed")
    try:
        if os.listdir(folder) == ["lock"]:
            os.unlink(os.path.join(folder, "lock"))
            os.rmdir(folder)
            os.rmdir(state_dir())
    except OSError:
        return
