"""All clients by name, in the order in which they are shown."""

from __future__ import annotations

from backstory.errors import BackstoryError
from backstory.project.clients import (
    antigravity,
    claude_code,
    claude_desktop,
    cline,
    codex,
    cursor,
    gemini,
    opencode,
    vscode,
    windsurf,
    zed,
)
from backstory.project.clients.contract import Client

CLIENTS: dict[str, Client] = {
    client.name: client
    for client in (
        claude_code.CLIENT,
        codex.CLIENT,
        cursor.CLIENT,
        gemini.CLIENT,
        opencode.CLIENT,
        vscode.CLIENT,
        windsurf.CLIENT,
        zed.CLIENT,
        cline.CLIENT,
        claude_desktop.CLIENT,
        antigravity.CLIENT,
    )
}


def named(name: str) -> Client:
    """The client of that name or of one of its other names; `BackstoryError` (usage) lists those there are."""
    wanted = name.strip().lower().replace("_", "-").replace(" ", "-")
    for client in CLIENTS.values():
        if wanted == client.name or wanted in client.aliases:
            return client
    raise BackstoryError(f"{name[:60]!r} is no client that is known here.", hint=f"Known are: {', '.join(CLIENTS)}.")
