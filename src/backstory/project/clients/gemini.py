"""Gemini CLI 0.61: one `settings.json` for MCP and hooks, whose time limits are milliseconds; GEMINI.md."""

from __future__ import annotations

from typing import Any

from backstory.project.clients.commands import TIMEOUT_SECONDS, Commands
from backstory.project.clients.contract import HOOKS, INSTRUCTIONS, MCP, Client, ConfigFile, Hook
from backstory.project.clients.shapes import Block, JsonHooks, JsonServer

NAME = "gemini"
_EDITS = "write_file|replace"
EVENTS = (
    Hook("SessionStart"),
    Hook("BeforeAgent"),
    Hook("BeforeTool", _EDITS),
    Hook("AfterTool", f"read_file|read_many_files|search_file_content|glob|{_EDITS}|run_shell_command"),
    Hook("AfterAgent"),
    Hook("PreCompress"),
    Hook("SessionEnd"),
)


def _handler(commands: Commands, client: str, event: str) -> dict[str, Any]:
    # The name is part of what a person trusts, as the command is.
    command = commands.hook(client, event, powershell=True)
    return {"name": "backstory", "type": "command", "command": command, "timeout": TIMEOUT_SECONDS * 1000}


_HOOKS = JsonHooks(NAME, EVENTS, _handler)
_SERVER = JsonServer("mcpServers")

CLIENT = Client(
    name=NAME,
    title="Gemini CLI",
    files=(
        ConfigFile(MCP, "project", _SERVER, ".gemini/settings.json"),
        ConfigFile(HOOKS, "project", _HOOKS, ".gemini/settings.json"),
        ConfigFile(INSTRUCTIONS, "project", Block(), "GEMINI.md"),
        ConfigFile(MCP, "user", _SERVER, "~/.gemini/settings.json"),
        ConfigFile(HOOKS, "user", _HOOKS, "~/.gemini/settings.json"),
    ),
    project_signs=(".gemini", "GEMINI.md"),
    # Antigravity keeps its own files in ~/.gemini, so that folder alone is no sign.
    user_signs=("~/.gemini/settings.json",),
    programs=("gemini",),
    events=EVENTS,
    injects=("SessionStart", "BeforeAgent", "AfterTool"),
    cannot=(
        "It starts no MCP server in a folder that you have not trusted.",
        "It warns about hooks of a project until you trust them; a changed command is untrusted again.",
        "Nothing can be said to it before an edit, other than a refusal.",
        "It reads AGENTS.md only where `context.fileName` of its settings names that file.",
    ),
)
