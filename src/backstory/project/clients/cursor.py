"""Cursor 3: `mcp.json` and `hooks.json` (version 1, flat lists), AGENTS.md."""

from __future__ import annotations

from typing import Any

from backstory.project.clients.commands import TIMEOUT_SECONDS, Commands
from backstory.project.clients.contract import HOOKS, INSTRUCTIONS, MCP, Client, ConfigFile, Hook
from backstory.project.clients.shapes import Block, JsonHooks, JsonServer

NAME = "cursor"
EVENTS = (
    Hook("sessionStart"),
    Hook("beforeSubmitPrompt"),
    Hook("preToolUse", "Write"),
    Hook("postToolUse", "Shell|Read|Write|Grep"),
    Hook("preCompact"),
    Hook("stop"),
    Hook("sessionEnd"),
)


def _handler(commands: Commands, client: str, event: str) -> dict[str, Any]:
    return {"command": commands.hook(client, event, powershell=True), "timeout": TIMEOUT_SECONDS}


_HOOKS = JsonHooks(NAME, EVENTS, _handler, grouped=False, beside=(("version", 1),))
_SERVER = JsonServer("mcpServers")

CLIENT = Client(
    name=NAME,
    title="Cursor",
    files=(
        ConfigFile(MCP, "project", _SERVER, ".cursor/mcp.json"),
        ConfigFile(HOOKS, "project", _HOOKS, ".cursor/hooks.json"),
        ConfigFile(INSTRUCTIONS, "project", Block(), "AGENTS.md"),
        ConfigFile(MCP, "user", _SERVER, "~/.cursor/mcp.json"),
        ConfigFile(HOOKS, "user", _HOOKS, "~/.cursor/hooks.json"),
    ),
    project_signs=(".cursor",),
    user_signs=("~/.cursor",),
    programs=("cursor", "cursor-agent"),
    events=EVENTS,
    injects=("sessionStart", "beforeSubmitPrompt", "postToolUse"),
    cannot=(
        "A prompt sent within the first moment of a session does not see the brief.",
        "Cloud agents run no session-start hook.",
        "On Windows every hook costs about a second of PowerShell.",
    ),
)
