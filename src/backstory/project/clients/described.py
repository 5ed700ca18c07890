"""The clients as a table in Markdown, for the documentation."""

from __future__ import annotations

from collections.abc import Iterator

from backstory.project.clients.contract import HOOKS, INSTRUCTIONS, MCP, Client, Level
from backstory.project.clients.known import CLIENTS

_ROLES = ((MCP, "MCP"), (HOOKS, "hooks"), (INSTRUCTIONS, "instructions"))


def table() -> Iterator[str]:
    """The lines: each client with its files and the events at which the model is given something."""
    yield "| client | in the project | in your own files | says something at |"
    yield "|---|---|---|---|"
    for client in CLIENTS.values():
        injects = ", ".join(f"`{event}`" for event in client.injects) or "-"
        project, user = _files(client, "project"), _files(client, "user")
        yield f"| {client.title} (`{client.name}`) | {project} | {user} | {injects} |"


def limits() -> Iterator[str]:
    """The lines: what each client cannot do, and what has to be done by hand."""
    for client in CLIENTS.values():
        yield f"- **{client.title}**: {' '.join(client.cannot)}"


def other_places() -> Iterator[str]:
    """The lines: files that lie elsewhere on macOS or Windows."""
    yield "| client | Linux | macOS | Windows |"
    yield "|---|---|---|---|"
    for client in CLIENTS.values():
        for file in client.files:
            if file.mac or file.windows:
                mac, windows = file.mac or file.linux, file.windows or file.linux
                yield f"| {client.title} | `{file.linux}` | `{mac}` | `{windows}` |"


def _files(client: Client, level: Level) -> str:
    parts = []
    for role, word in _ROLES:
        paths = [file.linux for file in client.files if file.role == role and file.level == level]
        if len(paths) > 2:
            paths = [f"{paths[0].rpartition('/')[0]}/*"]
        if paths:
            parts.append(f"{word}: {', '.join(f'`{path}`' for path in paths)}")
    return "<br>".join(parts) or "-"
