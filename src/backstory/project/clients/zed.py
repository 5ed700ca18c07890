"""Zed: MCP as `context_servers` of its settings, which have comments; no hooks; AGENTS.md."""

from __future__ import annotations

from backstory.project.clients.contract import INSTRUCTIONS, MCP, Client, ConfigFile
from backstory.project.clients.shapes import Block, JsonServer, briefing_server

_SERVER = JsonServer("context_servers", briefing_server)

CLIENT = Client(
    name="zed",
    title="Zed",
    files=(
        ConfigFile(MCP, "project", _SERVER, ".zed/settings.json"),
        ConfigFile(INSTRUCTIONS, "project", Block(), "AGENTS.md"),
        ConfigFile(MCP, "user", _SERVER, "~/.config/zed/settings.json", windows="%APPDATA%/Zed/settings.json"),
    ),
    project_signs=(".zed",),
    user_signs=("~/.config/zed", "%APPDATA%/Zed"),
    programs=("zed", "zeditor"),
    cannot=(
        "It has no hooks: the agent asks through the MCP tools, as AGENTS.md tells it to.",
        "It takes tools and prompts of an MCP server, and neither its instructions nor its resources.",
        "Agents that run inside it, such as Claude Code, have configurations of their own.",
    ),
)
