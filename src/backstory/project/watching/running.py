"""The loop around the watcher: one per work tree, in the foreground, for no longer than whoever started it."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from backstory.config import Config, Places, load
from backstory.errors import BackstoryError, Exit
from backstory.log.lock import held
from backstory.project.opened import now_micros
from backstory.project.watching import life, settings
from backstory.project.watching.watcher import ENDED, STARTED, Seen, Watcher, for_project

FOLDER = "watch"
# A look may take a twentieth of the time: in a tree that takes git a second to read, every 20 seconds.
_SHARE = 20
GONE = "the project is gone"


def watch(start: str, parent: int, tell: Callable[[Seen], None], **given: float | None) -> None:
    """Watch the project around `start` until it is over, telling what is seen. `BackstoryError` when it cannot begin.

    `parent` is a process to live as long as, or 0. `given` are settings that come before those of the project.
    """
    config = load(start)
    wanted = settings.of(config, **given)
    if shutil.which("git") is None:
        raise BackstoryError("git is not on PATH, and it says which files count.", hint="Install git.")
    if not config.places.git_dir:
        raise BackstoryError(
            "Only a git work tree can be watched: git says which files count and what a branch switch changed.",
            hint="Run `git init` first, or record it yourself: `backstory hot PATH TEXT`.",
            code=Exit.REFUSED,
        )
    if parent and not life.is_alive(parent):
        raise BackstoryError(f"There is no process {parent}.", hint="Name a running one with `--parent`.")
    with _alone(config.places):
        lifetime = life.Life(parent)
        watcher = for_project(config, wanted, f"watch-{os.getpid()}-{now_micros()}")
        # How things are: whatever is changed from now on is an edit.
        watcher.step(now_micros())
        tell(Seen(STARTED, text=_opening(config, wanted)))
        tell(Seen(ENDED, text=loop(watcher, config, wanted.poll_seconds, lifetime, tell)))


def loop(
    watcher: Watcher, config: Config, poll_seconds: float, lifetime: life.Life, tell: Callable[[Seen], None]
) -> str:
    """Step after step; why it ended."""
    while True:
        began = time.monotonic()
        for seen in watcher.step(now_micros()):
            tell(seen)
        if not os.path.isdir(config.places.git_dir) or not os.path.isfile(config.places.marker):
            return GONE
        if why := lifetime.wait(max(poll_seconds, _SHARE * (time.monotonic() - began))):
            return why


def _opening(config: Config, wanted: settings.WatchSettings) -> str:
    when = f"{wanted.edits} edits within {wanted.minutes:g} minutes"
    return f"Watching {config.root}: a tracked file with {when} is proposed as a hot file. Ctrl-C ends it."


@contextmanager
def _alone(places: Places) -> Iterator[None]:
    """The lock of this work tree's watcher. The system lets go of it with the process, however that ends."""
    folder = os.path.join(places.derived_dir, FOLDER)
    note = os.path.join(folder, "pid")
    with ExitStack() as stack:
        try:
            stack.enter_context(held(folder, 0.0))
        except BackstoryError as error:
            if error.__cause__ is not None:
                raise
            raise BackstoryError(
                f"This work tree is watched already{_by(note)}.",
                hint="One is enough; end that one to start another.",
                code=Exit.REFUSED,
            ) from error
        with open(note, "w", encoding="utf-8") as file:
            file.write(str(os.getpid()))
        try:
            yield
        finally:
            if os.path.exists(note):
                os.unlink(note)


def _by(note: str) -> str:
    try:
        with open(note, encoding="utf-8") as file:
            return f" by process {int(file.read(20))}"
    except (OSError, ValueError):
        return ""
