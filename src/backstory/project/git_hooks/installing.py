"""Plans the git hooks of a clone.

Promises: a plan changes nothing; a second plan after the first was applied is empty; a hook that was there is kept
and runs first. Nothing is ever staged.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from backstory.config import Places
from backstory.errors import BackstoryError, Exit
from backstory.project.git_hooks import blocks, scripts
from backstory.project.git_hooks.changes import RUNS, Change, Plan, mode_of, read, text_of
from backstory.project.git_hooks.manager_files import in_lefthook, in_pre_commit
from backstory.project.git_hooks.places import (
    HUSKY,
    LEFTHOOK,
    LEGACY,
    PRE_COMMIT,
    HookPlace,
    find_place,
    generated_by,
)
from backstory.project.git_hooks.scripts import BEFORE, HOOKS

_PLAIN = 0o644
_SHELLS = (b"sh", b"bash", b"dash", b"zsh", b"ksh", b"ash")
_SHARED = "files that the project shares were changed; where a clone has no launcher, they do nothing"


def plan_install(places: Places, *, block: bool = False, python: str = "", entry: str = "") -> Plan:
    """What has to change so that git calls us.

    `python` and `entry` go into the launcher by their full paths (default: this interpreter and this package).
    """
    place = find_place(places)
    notes = list(place.notes)
    changes = [change for change in _hooks(place, notes) if change.needed]
    if any(change.path.startswith(place.root + os.sep) and not place.own for change in changes):
        notes.append(_SHARED)
    made = place.folder if place.own and not os.path.isdir(place.folder) else ""
    known = read(place.launcher)
    text = scripts.launcher(
        python or sys.executable, entry or _entry(), block=block, folder=made or scripts.added_folder(text_of(known))
    )
    launcher = Change(place.launcher, known, text.encode("utf-8", "surrogateescape"), why="what the hooks call")
    return Plan(place, (*([launcher] if launcher.needed else []), *changes), tuple(notes))


def start(name: str, args: tuple[str, ...], *, block: bool) -> int:
    """Run a hook as the launcher does; 1 for a commit that is to stop, else 0."""
    import subprocess

    option = ["--block"] if block else []
    done = subprocess.run([sys.executable, "-I", "-S", _entry(), *option, name, *args], check=False)
    return int(done.returncode == scripts.BLOCKED)


def is_managed(place: HookPlace, name: str) -> bool:
    """Whether a hook goes into the manager's configuration.

    A hook file that a manager wrote is never renamed: pre-commit would run it through ours, and ours through it.
    """
    if place.manager not in (LEFTHOOK, PRE_COMMIT):
        return False
    return name == "pre-commit" or generated_by(read(os.path.join(place.folder, name)) or b"") == place.manager


def put_away(place: HookPlace, name: str) -> str:
    """The path under which pre-commit has put our hook away and goes on running it, or ""."""
    path = os.path.join(place.folder, name)
    ours = blocks.holds(read(path + LEGACY) or b"") and generated_by(read(path) or b"") == PRE_COMMIT
    return path + LEGACY if ours else ""


def _hooks(place: HookPlace, notes: list[str]) -> Iterator[Change]:
    if place.manager == HUSKY:
        for name in HOOKS:
            yield _shared_file(os.path.join(place.config, name), name, mode=_PLAIN)
        return
    wanted = [name for name in HOOKS if not put_away(place, name)]
    managed = [name for name in wanted if is_managed(place, name)]
    if managed:
        yield from _in_config(place, managed, notes)
    for name in wanted:
        if name not in managed:
            path = os.path.join(place.folder, name)
            yield from _own_file(path, name) if place.own else _in_shared_folder(path, name, notes)


def _in_config(place: HookPlace, names: list[str], notes: list[str]) -> Iterator[Change]:
    data = read(place.config) or b""
    if blocks.holds(data):
        return
    put = in_lefthook if place.manager == LEFTHOOK else in_pre_commit
    yield Change(place.config, data, put(data, names, place.config), mode_of(place.config), why=", ".join(names))
    notes.append(f"{os.path.basename(place.config)} is shared; where a clone has no launcher, our part does nothing")
    if place.manager == LEFTHOOK:
        notes.append("`lefthook install` makes lefthook take the change over")
    elif "post-rewrite" in names:
        notes.append("pre-commit hands no list of rewritten commits on: they are not followed here")


def _own_file(path: str, name: str) -> Iterator[Change]:
    data = read(path)
    wanted = blocks.put(None, scripts.own(name), shebang=scripts.SHEBANG)
    if not os.path.lexists(path):
        yield Change(path, None, wanted, why=name)
    elif data is not None and blocks.holds(data):
        if blocks.take_out(data) is None:
            yield Change(path, data, wanted, mode_of(path), why=name)
    elif os.path.lexists(path + BEFORE):
        raise BackstoryError(
            f"{path} is not ours, and {path}{BEFORE} is there already.",
            hint="Remove one of the two, or merge them, then run the command again.",
            code=Exit.REFUSED,
        )
    else:
        yield Change(path, data, wanted, RUNS, path + BEFORE, name)


def _in_shared_folder(path: str, name: str, notes: list[str]) -> Iterator[Change]:
    """A hook in a folder that the project or the person keeps: a block, since the file may be committed."""
    data = read(path)
    if data is not None and not blocks.holds(data) and not _is_shell(data):
        notes.append(f"{path} is no shell script and was left: call `backstory git-hook {name}` from it")
        return
    yield _shared_file(path, name, mode=RUNS)


def _shared_file(path: str, name: str, *, mode: int) -> Change:
    data = read(path)
    if data is None:
        return Change(path, None, blocks.put(None, scripts.shared(name), shebang=scripts.SHEBANG), mode, why=name)
    if blocks.holds(data):
        return Change(path, data, data)
    first = _leaves_early(data)
    line = (1 if data.startswith(b"#!") else 0) if first else None
    after = blocks.put(data, scripts.shared(name, first=first), line=line)
    return Change(path, data, after, mode_of(path), why=f"{name}, beside what is there")


def _leaves_early(data: bytes) -> bool:
    """Whether the last line of a script ends it, so that nothing behind it would run."""
    lines = [line.strip() for line in data.splitlines() if line.strip() and not line.strip().startswith(b"#")]
    return bool(lines) and lines[-1].split()[0] in (b"exit", b"exec")


def _is_shell(data: bytes) -> bool:
    first = data.split(b"\n", 1)[0]
    if not first.startswith(b"#!"):
        return b"\0" not in data[:4096]
    return any(word.rsplit(b"/", 1)[-1] in _SHELLS for word in first[2:].split()[:3])


def _entry() -> str:
    import backstory

    return os.path.join(os.path.dirname(os.path.abspath(backstory.__file__)), "surfaces", "hooks", "git.py")
