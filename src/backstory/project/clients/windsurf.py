"""Windsurf: MCP in the person's file, hooks that can refuse and note but say nothing to the model, AGENTS.md."""

from __future__ import annotations

from typing import Any

from backstory.project.clients.commands import Commands
from backstory.project.clients.contract import HOOKS, INSTRUCTIONS, MCP, Client, ConfigFile, Hook
from backstory.project.clients.shapes import Block, JsonHooks, JsonServer, briefing_server

NAME = "windsurf"
EVENTS = (Hook("pre_write_code"), Hook("post_write_code"), Hook("post_cascade_response"))


def _handler(commands: Commands, client: str, event: str) -> dict[str, Any]:
    # It has no time limit of its own for a hook; ours ends itself after four seconds.
    return {"command": commands.hook(client, event), "show_output": False}


_HOOKS = JsonHooks(NAME, EVENTS, _handler, grouped=False)

CLIENT = Client(
    name=NAME,
    title="Windsurf",
    files=(
        ConfigFile(HOOKS, "project", _HOOKS, ".windsurf/hooks.json"),
        ConfigFile(INSTRUCTIONS, "project", Block(), "AGENTS.md"),
        ConfigFile(MCP, "user", JsonServer("mcpServers", briefing_server), "~/.codeium/windsurf/mcp_config.json"),
        ConfigFile(HOOKS, "user", _HOOKS, "~/.codeium/windsurf/hooks.json"),
    ),
    project_signs=(".windsurf",),
    user_signs=("~/.codeium/windsurf",),
    programs=("windsurf",),
    events=EVENTS,
    injects=(),
    cannot=(
        "No hook can give it text: the brief comes only through the MCP server and AGENTS.md.",
        "It has no MCP file in a project; `--user` writes the person's.",
    ),
)
