"""Where editors of the VS Code family keep what their extensions write, on Linux, macOS and Windows."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping

from backstory.sources.transcripts.fields import folder_of, record
from backstory.sources.transcripts.whole import Broken, parsed

_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Antigravity", "Trae")
_SERVERS = (".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server")


def vscode_users(env: Mapping[str, str], home: str, editors: tuple[str, ...] = _EDITORS) -> Iterator[str]:
    """The `User` folders that exist: of the editors, of their servers, and of portable ones' variable."""
    tops = [
        env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"),
        os.path.join(home, "Library", "Application Support"),
        env.get("APPDATA") or os.path.join(home, "AppData", "Roaming"),
    ]
    places = [os.path.join(top, editor, "User") for top in tops for editor in editors]
    if editors is _EDITORS:
        places += [os.path.join(home, server, "data", "User") for server in _SERVERS]
    if portable := env.get("VSCODE_PORTABLE"):
        places.append(os.path.join(portable, "user-data", "User"))
    yield from (place for place in dict.fromkeys(places) if os.path.isdir(place))


def workspace_folder(storage: str) -> str:
    """The folder that a window was opened on, by its `workspaceStorage/<hash>`; "" for several folders or none."""
    try:
        return folder_of(record(parsed(os.path.join(storage, "workspace.json"))).get("folder"))
    except (OSError, Broken):
        return ""


def extension_tasks(top: str) -> Iterator[str]:
    """The `tasks/<id>` folders below the folder that an extension keeps."""
    yield from sorted(glob.glob(os.path.join(glob.escape(top), "tasks", "*")))
