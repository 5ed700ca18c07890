"""Where the tickets and run records of a project lie, and which one a person means by a name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from backstory.config import FOLDER, MARKER, Config
from backstory.errors import BackstoryError, Exit
from backstory.project.paths import relative
from backstory.project.tree_files import create, undo
from backstory.sources.ticket_names import Names, bare, name_key
from backstory.sources.ticket_places import DEFAULT_PLACES, RUN, TICKET, Found, Problem, discover, shown

USUAL_FOLDER = "tickets"
_WILD = re.compile(r"[*?\[]")
_FIRST_CHOICE = re.compile(r"\{([^{},]*)[^{}]*\}")
_LISTED = 5


class TicketTree:
    """The files of all places, found once when it is made. Their texts are not read."""

    def __init__(self, config: Config) -> None:
        self.root = config.root
        self.patterns: Sequence[str] = config.settings.tickets
        self.found: list[Found]
        self.problems: list[Problem]
        self.found, self.problems = discover(self.root, self.patterns)
        self.names = Names(self.root, [item for item in self.found if item.role == TICKET])
        self._by_stem = {shown(item.stem): item for item in reversed(self.names.tickets)}

    def tickets(self) -> list[Found]:
        """The tickets; of two with one stem or id the one that is meant by it comes first."""
        return self.names.tickets

    def records(self, ticket: Found) -> list[Found]:
        """The run records of a ticket, the first attempt first.

        Where several tickets have its stem, those that lie beside it.
        """
        stem = shown(ticket.stem)
        shared = sum(shown(item.stem) == stem for item in self.tickets()) > 1
        runs = [
            item
            for item in self.found
            if item.role == RUN
            and self.names.resolve(shown(item.stem)) == stem
            and (not shared or item.path.startswith((f"{base(ticket)}.run.", f"{base(ticket)}/")))
        ]
        return sorted(runs, key=lambda item: (item.attempt or 0, item.path))

    def ticket(self, typed: str, cwd: str = "") -> Found:
        """The ticket that is called so: by stem, id, path, link, or the beginning of its stem.

        `BackstoryError` if there is none, or more than one.
        """
        name = typed.strip()
        known = self._at(name, cwd) or self.known(name)
        if known is not None:
            return known
        key = name_key(bare(name))
        near = {shown(item.stem): item for item in self.tickets() if key and name_key(shown(item.stem)).startswith(key)}
        if len(near) == 1:
            return next(iter(near.values()))
        if near:
            listed = "\n".join(f"  {stem}" for stem in sorted(near)[:_LISTED])
            raise BackstoryError(
                f"{len(near)} tickets begin with {name[:60]!r}, among them:\n{listed}",
                hint="Name one of them in full, by its id, or by its path.",
            )
        raise self._unknown(name)

    def known(self, name: str) -> Found | None:
        """The ticket with exactly this stem or id, in whatever spelling."""
        stem = self.names.resolve(bare(name))
        return self._by_stem.get(stem) if stem else None

    def _at(self, typed: str, cwd: str) -> Found | None:
        """The ticket at a path, or that of the run record there."""
        try:
            path = relative(self.root, typed, cwd)
        except BackstoryError:
            return None
        item = next((item for item in self.found if path in (item.path, shown(item.path))), None)
        if item is None or item.role == TICKET:
            return item
        beside = (other for other in self.tickets() if item in self.records(other))
        return next(beside, None)

    def _unknown(self, name: str) -> BackstoryError:
        from difflib import get_close_matches

        said = {name_key(shown(item.stem)): shown(item.stem) for item in self.tickets()}
        close = get_close_matches(name_key(bare(name)), list(said), n=1, cutoff=0.6)
        if close:
            hint = f"Did you mean `{said[close[0]]}`? `backstory ticket list` lists them all."
        elif said:
            hint = "`backstory ticket list` lists them."
        else:
            hint = '`backstory ticket new "TITLE"` writes the first one.'
        return BackstoryError(f"There is no ticket {name[:60]!r}.", hint=hint)


def base(ticket: Found) -> str:
    """The path of a ticket without its ending: with `.run.md`, or as a folder, it is where its run records lie."""
    if os.path.basename(ticket.path).lower() == "ticket.md":
        return ticket.path.rpartition("/")[0]
    return ticket.path[:-3]


def create_seen(config: Config, paths: Sequence[str], text: str, role: str) -> Found:
    """Write a new file at the first of `paths` where the readers take it for what it is.

    `BackstoryError`, and nothing written, where they would not.
    """
    for path in paths:
        made = create(config.root, path, text)
        found, _ = discover(config.root, config.settings.tickets)
        seen = next((item for item in found if item.path == path and item.role == role), None)
        if seen is not None:
            return seen
        undo(config.root, path, made)
    places = list(config.settings.tickets or DEFAULT_PLACES)
    what = "tickets" if role == TICKET else "run records"
    listed = ", ".join(f'"{place}"' for place in (*places, shown(paths[0]).rpartition("/")[0]))
    raise BackstoryError(
        f"Nothing was written: {shown(paths[0])} would not be read, as {what} are read in {', '.join(places)}.",
        hint=f"Name all places in {FOLDER}/{MARKER}: the section `[history]` with `tickets = [{listed}]`.",
        code=Exit.REFUSED,
    )


def folder_for_new(config: Config) -> str:
    """The first place that exists, for a new ticket; else the first that settings name, else `tickets`."""
    given = config.settings.tickets
    folders = list(_folders(given or DEFAULT_PLACES))
    exists = (folder for folder in folders if _is_real_folder(config.root, folder))
    return next(exists, folders[0] if given and folders else USUAL_FOLDER)


def _folders(patterns: Sequence[str]) -> Iterator[str]:
    """The folders that patterns name up to their first wildcard, inside of the project."""
    for pattern in patterns:
        plain = _FIRST_CHOICE.sub(r"\1", pattern).replace("\\", "/")
        parts = [part for part in plain.split("/") if part not in ("", ".")]
        wild = next((at for at, part in enumerate(parts) if _WILD.search(part)), len(parts))
        if wild and ".." not in parts and not pattern.startswith(("/", "\\")):
            yield "/".join(parts[:wild])


def _is_real_folder(root: str, folder: str) -> bool:
    """Whether it is a folder, reached through no symbolic link."""
    full = os.path.join(root, folder)
    return os.path.isdir(full) and os.path.realpath(full) == os.path.normpath(full)
