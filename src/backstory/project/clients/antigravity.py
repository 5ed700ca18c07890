"""Google Antigravity: MCP in the person's file, AGENTS.md. From what others wrote about it, never tried."""

from __future__ import annotations

from backstory.project.clients.contract import INSTRUCTIONS, MCP, Client, ConfigFile
from backstory.project.clients.shapes import Block, JsonServer, briefing_server

CLIENT = Client(
    name="antigravity",
    title="Antigravity",
    files=(
        ConfigFile(INSTRUCTIONS, "project", Block(), "AGENTS.md"),
        ConfigFile(
            MCP,
            "user",
            JsonServer("mcpServers", briefing_server),
            "~/.gemini/antigravity/mcp_config.json",
            others=("~/.gemini/config/mcp_config.json",),
        ),
    ),
    user_signs=("~/.gemini/antigravity", "~/.gemini/antigravity-cli"),
    programs=("antigravity", "agy"),
    cannot=(
        "Hooks of ours are not written for it: no reliable description of them is known.",
        "It has no MCP file in a project; `--user` writes the person's.",
        "Its paths come from descriptions by others and were not tried.",
    ),
)
