"""Which project a call speaks for.

Promise: a server that is bound to a project answers for that project only, whatever an argument says; a path that
leads elsewhere is refused, never read as something near it. A server that is bound to none needs a path in each call
and remembers nothing between calls.

Bound: by the folder named at the start, by the folder that the client says it works in, or by the working directory,
the first that has a memory. A folder that was named is the only one that can bind.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from backstory.config import Config, Places, find, home, projects_below, read_marker
from backstory.errors import BackstoryError, Exit

# Claude Code sets it for its servers; Cursor and Gemini CLI set it too, under this name.
CLIENT_FOLDER = "CLAUDE_PROJECT_DIR"


class Scope:
    """The project, or the lack of one, that a server was opened for."""

    def __init__(self, start: str, env: Mapping[str, str], cwd: str) -> None:
        self.start = os.path.abspath(start or cwd)
        self.named = os.path.realpath(self.start) != os.path.realpath(cwd)
        client = env.get(CLIENT_FOLDER, "")
        self.folders = [self.start] if self.named or not os.path.isabs(client) else [client, self.start]
        self._bound: Config | None = None
        self._seen: set[str] = set()

    def bound(self) -> Config | None:
        """The project that this server is bound to; once bound it stays so."""
        if self._bound is None:
            for folder in self.folders:
                places = find(folder)
                if places is not None:
                    self._bound = read_marker(places)
                    break
        return self._bound

    def resolve(self, project_path: str = "") -> Config:
        """The project that a call with this argument speaks for; `BackstoryError` when it may not or cannot be told."""
        text = project_path.strip()
        bound = self.bound()
        if bound is not None:
            return self._within(bound, text)
        if self.named:
            raise BackstoryError(
                f"There is no backstory memory in {self.start}, which this server was started for.",
                hint=f"Ask a person to run `backstory init` in {self.start}.",
                code=Exit.NO_PROJECT,
            )
        return self._named_by_the_call(text)

    def reach(self) -> list[Config]:
        """The projects that a call can speak for and that are known before one is named.

        Those below the start, and those that a server on this machine has answered for.
        """
        bound = self.bound()
        if bound is not None or self.named:
            return [bound] if bound is not None else []
        found = []
        for folder in _in_reach(self.start):
            places = find(folder)
            if places is None:
                continue
            try:
                found.append(read_marker(places))
            except BackstoryError:  # its own calls will say what is wrong with its marker
                continue
        return found

    def answered_for(self, config: Config) -> None:
        """Keep a project for the list that an unclear call is answered with."""
        if config.root not in self._seen:
            from backstory.project.known import remember

            self._seen.add(config.root)
            remember(config)

    def path_of(self, name: str) -> str:
        """`name` as `project_path`: where it is the name or id of a project in reach, that project's folder.

        `BackstoryError` for a name that several have.
        """
        text = name.strip()
        bound = self.bound()
        if not text or (bound is not None and text in (bound.name, bound.project)):
            return ""
        meant = [config.root for config in self.reach() if text in (config.name, config.project)]
        if len(meant) > 1:
            raise BackstoryError(
                f"Several projects are called {_shown(text)}.",
                hint="Call again with one of: " + ", ".join(meant),
                code=Exit.NO_PROJECT,
            )
        return meant[0] if meant else text

    def _within(self, bound: Config, text: str) -> Config:
        places = find(bound.root) if not text else _project_at(bound.root, text)
        if places is None or not _same_clone(places, bound):
            raise _elsewhere(bound, text)
        try:
            config = read_marker(places)
        except BackstoryError:
            # The words of an unreadable marker are shown only where the marker is our own.
            if places.root == bound.root:
                raise
            raise _elsewhere(bound, text) from None
        if config.project != bound.project:
            raise _elsewhere(bound, text)
        return config

    def _named_by_the_call(self, text: str) -> Config:
        if not text:
            raise _unclear(
                f"This server was started in {self.start}, which has no memory, so project_path is needed.", self.start
            )
        if not os.path.isabs(text):
            raise _unclear(f"{_shown(text)} is no absolute path, and this server is bound to no project.", self.start)
        places = _project_at(os.sep, text)
        if places is not None:
            return read_marker(places)
        if not _exists(text):
            raise _unclear(f"{_shown(text)} does not exist.", self.start)
        raise _unclear(f"{_shown(text)} has no memory, and none is above it.", text)


def _project_at(base: str, text: str) -> Places | None:
    """The project around a path that exists; links are followed before anything is judged."""
    if not _exists(os.path.join(base, text)):
        return None
    return find(os.path.join(base, text))


def _exists(path: str) -> bool:
    """Nothing is expanded: `~` and `*` are names of files here."""
    try:
        return os.path.exists(path)
    except ValueError:  # a NUL byte, or letters that no file name can have
        return False


def _same_clone(places: Places, bound: Config) -> bool:
    """The project's folder, or another work tree of its clone. A second clone has a journal of its own."""
    if places.common_dir or bound.places.common_dir:
        return places.common_dir == bound.places.common_dir
    return places.root == bound.root


def _elsewhere(bound: Config, text: str) -> BackstoryError:
    if not text:
        return BackstoryError(
            f"The memory of the project {bound.name} is gone from {bound.root}.",
            hint=f"Ask a person to look at {bound.root} and to start the server anew.",
            code=Exit.NO_PROJECT,
        )
    return BackstoryError(
        f"{_shown(text)} is not in the project {bound.name} ({bound.root}), for which alone this server answers.",
        hint=f"Leave project_path out, or give a path inside {bound.root}.",
        code=Exit.REFUSED,
    )


def _in_reach(around: str) -> list[str]:
    from backstory.project.known import known

    return list(dict.fromkeys([*projects_below(around), *known()]))


def _unclear(message: str, around: str) -> BackstoryError:
    found = _in_reach(around)
    if found:
        return BackstoryError(
            message, hint="Call again with project_path set to one of: " + ", ".join(found), code=Exit.NO_PROJECT
        )
    wide = around == home() or os.path.dirname(around) == around
    hint = "Call again with project_path set to the absolute path of a project that has a memory."
    return BackstoryError(
        message,
        hint=hint if wide else f"{hint} A person makes one with `backstory init`.",
        code=Exit.NO_PROJECT,
    )


def _shown(text: str) -> str:
    return repr(text if len(text) <= 200 else text[:200] + "…")
