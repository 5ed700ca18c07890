"""Which clients and whose files a command line means."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from backstory.config import find, locate, read_marker, surroundings
from backstory.errors import BackstoryError
from backstory.project.clients.contract import Client, Level, Role
from backstory.project.clients.known import CLIENTS, named
from backstory.project.installing.targets import ROLES, Selection, detected

PROJECT: Level = "project"


def select(start: str, names: Sequence[str], *, user: bool | None = None, roles: Iterable[str] = ROLES) -> Selection:
    """For `install`: the clients named, or those that are here. `BackstoryError` when none is."""
    root, scope = _where(start, user)
    clients = _named(names) or detected(root)
    if not clients:
        raise BackstoryError(
            "No coding agent was found here: neither its files in the project or your home folder, nor its program.",
            hint=f"Name one, as in `backstory install claude-code`. Known are: {', '.join(CLIENTS)}.",
        )
    wanted: list[Role] = [role for role in ROLES if role in set(roles)]
    if not wanted:
        raise BackstoryError(
            "Nothing is left to install.", hint="Leave out one of --no-hooks, --no-mcp, --no-instructions."
        )
    return Selection(clients, scope, root, wanted)


def select_all(start: str, names: Sequence[str], *, user: bool | None = None) -> Selection:
    """For `uninstall`: the clients named, or all that are known, here or not."""
    # A project whose memory was deleted first must be left without a trace as well.
    around = surroundings(start)
    if find(start) is None and not user:
        root, scope = around.root if around else os.path.realpath(start), PROJECT
    else:
        root, scope = _where(start, user)
    return Selection(_named(names) or list(CLIENTS.values()), scope, root)


def _named(names: Sequence[str]) -> list[Client]:
    return list({client.name: client for client in map(named, names)}.values())


def _where(start: str, user: bool | None) -> tuple[str, Level]:
    """The project's folder ("" for none) and whose files are meant; a private memory leaves the work tree alone."""
    places = find(start) if user else locate(start)
    if places is None:
        return "", "user"
    if user is None:
        user = read_marker(places).private
    return places.root, "user" if user else "project"
