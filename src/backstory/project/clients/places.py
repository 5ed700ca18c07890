"""Where a client's file lies on this system, for this person and project."""

from __future__ import annotations

import os
import shutil
import sys

from backstory.project.clients.contract import Client, ConfigFile


def system() -> str:
    """`linux`, `mac` or `windows`; every other Unix is taken for Linux."""
    if os.name == "nt":
        return "windows"
    return "mac" if sys.platform == "darwin" else "linux"


def path_of(client: Client, file: ConfigFile, root: str) -> str:
    """The absolute path: the usual one, or the first of the others that exists when the usual one does not."""
    usual = {"mac": file.mac, "windows": file.windows}.get(system(), "") or file.linux
    found = [resolved(template, root, client) for template in (usual, *file.others)]
    return next((path for path in found if os.path.lexists(path)), found[0])


def candidates(client: Client, file: ConfigFile, root: str) -> list[str]:
    """All paths at which this file may lie here."""
    usual = {"mac": file.mac, "windows": file.windows}.get(system(), "") or file.linux
    return [resolved(template, root, client) for template in (usual, *file.others)]


def resolved(template: str, root: str, client: Client) -> str:
    """A path as a client module writes it, absolute. A folder that the client lets a variable move is moved."""
    variable, folder = client.moved_by
    moved = os.environ.get(variable, "") if variable else ""
    if moved and os.path.isabs(moved):
        if template == folder or template.startswith(f"{folder}/"):
            return os.path.normpath(moved + template[len(folder) :])
        # Claude Code keeps `.claude.json` beside its folder, and inside a folder that was moved.
        if os.path.dirname(template) == "~" and template.startswith(folder):
            return os.path.join(moved, os.path.basename(template))
    if template.startswith("~"):
        return os.path.normpath(os.path.expanduser("~") + template[1:])
    if template.startswith("%APPDATA%"):
        base = os.environ.get("APPDATA") or os.path.join(os.path.expanduser("~"), "AppData", "Roaming")
        return os.path.normpath(base + template[len("%APPDATA%") :])
    return os.path.normpath(os.path.join(root, template))


def is_present(client: Client, root: str) -> bool:
    """Whether the client is used in the project or by the person: its own files or its program are here."""
    signs = [*(client.project_signs if root else ()), *client.user_signs]
    known = [sign for sign in signs if not sign.startswith("%") or system() == "windows"]
    if any(os.path.exists(resolved(sign, root, client)) for sign in known):
        return True
    return any(shutil.which(program) for program in client.programs)


def shown(path: str, root: str) -> str:
    """A path as a person reads it: relative in the project, with `~` in the home folder."""
    for base, prefix in ((root, ""), (os.path.expanduser("~"), "~/")):
        if base and path.startswith(base.rstrip(os.sep) + os.sep):
            return prefix + path[len(base.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
    return path
