"""Changes to files as values: shown as a diff first, made later, none of them half."""

from __future__ import annotations

import os
import stat

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.project.git_hooks import scripts
from backstory.project.git_hooks.places import HookPlace

RUNS = 0o755


class Change(msgspec.Struct, frozen=True):
    """One file that becomes another; None stands for no file.

    With `moved_to` it is renamed first. `mode` is that of the new file.
    """

    path: str
    before: bytes | None
    after: bytes | None
    mode: int = RUNS
    moved_to: str = ""
    why: str = ""

    @property
    def needed(self) -> bool:
        """Whether it changes anything."""
        return self.before != self.after or bool(self.moved_to)


class Plan(msgspec.Struct, frozen=True):
    """Changes in the order in which they are made."""

    place: HookPlace
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()


class HooksOutcome(msgspec.Struct, frozen=True):
    """What installing or taking out did, or with `dry_run` would do.

    `changed` says it file by file, `diff` in full. `manager` is husky, lefthook, pre-commit or "". `blocks`: whether
    a finding at block level stops a commit.
    """

    manager: str
    folder: str
    changed: tuple[str, ...]
    dry_run: bool
    blocks: bool
    diff: str
    notes: tuple[str, ...] = ()


def apply(plan: Plan, *, dry_run: bool = False) -> HooksOutcome:
    """Make the changes of a plan, or only say them. `BackstoryError` where a file cannot be written."""
    place = plan.place
    launcher = read(place.launcher)
    after = next((change.after for change in plan.changes if change.path == place.launcher), launcher)
    if not dry_run:
        for change in plan.changes:
            _make(change)
        if after is None:
            _drop_folder(launcher)
    return HooksOutcome(
        manager=place.manager,
        folder=place.folder,
        changed=tuple(_told(change, place.root) for change in plan.changes),
        dry_run=dry_run,
        blocks=scripts.blocks(text_of(after)),
        diff="".join(_diff(change, place.root) for change in plan.changes),
        notes=plan.notes,
    )


def read(path: str) -> bytes | None:
    """The bytes of a file, None where there is none; `BackstoryError` when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise BackstoryError(
            f"{path} cannot be read ({error.strerror}).",
            hint="Make it readable, then run the command again.",
            code=Exit.REFUSED,
        ) from error


def mode_of(path: str) -> int:
    """The mode of a file that is there."""
    return stat.S_IMODE(os.stat(path).st_mode)


def text_of(data: bytes | None) -> str:
    """The text of a script, "" for none."""
    return (data or b"").decode("utf-8", "replace")


def _make(change: Change) -> None:
    try:
        if change.moved_to:
            os.replace(change.path, change.moved_to)
        elif change.after is None:
            os.unlink(change.path)
        if change.after is not None:
            os.makedirs(os.path.dirname(change.path), exist_ok=True)
            _replace(change.path, change.after, change.mode)
    except OSError as error:
        raise BackstoryError(
            f"{change.path} cannot be changed ({error.strerror}).",
            hint="Make it writable, then run the command again; what was done already is recognised.",
            code=Exit.REFUSED,
        ) from error


def _replace(path: str, data: bytes, mode: int) -> None:
    """Whole or not at all, since git may be running the old one; through a link into the file that it names."""
    real = os.path.realpath(path)
    temporary = f"{real}.{os.getpid()}.new"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.chmod(temporary, mode)
        os.replace(temporary, real)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _drop_folder(launcher: bytes | None) -> None:
    """Take the hooks folder away that installing has made, once nothing is in it."""
    folder = scripts.added_folder(text_of(launcher))
    if folder:
        try:
            os.rmdir(folder)
        except OSError:
            return


def _told(change: Change, root: str) -> str:
    shown = _shown(change.path, root)
    if change.moved_to and change.after is None:
        return f"{_shown(change.moved_to, root)}: put back ({change.why})"
    if change.moved_to:
        return f"{shown}: added, {os.path.basename(change.moved_to)} is what was there ({change.why})"
    what = "removed" if change.after is None else "changed" if change.before is not None else "added"
    return f"{shown}: {what} ({change.why})"


def _diff(change: Change, root: str) -> str:
    from difflib import unified_diff

    shown, head, before = _shown(change.path, root), "", change.before
    if change.moved_to:
        head, before = f"rename {shown} => {_shown(change.moved_to, root)}\n", None
        if change.after is None:
            return head
    old, new = (text_of(data).splitlines(keepends=True) for data in (before, change.after))
    names = (shown if before is not None else "/dev/null", shown if change.after is not None else "/dev/null")
    lines = unified_diff(old, new, *names)
    return head + "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _shown(path: str, root: str) -> str:
    inside = path.startswith(root.rstrip(os.sep) + os.sep)
    return os.path.relpath(path, root).replace(os.sep, "/") if inside else path
