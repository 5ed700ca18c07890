"""Claude Desktop: MCP in the person's file, and nothing else."""

from __future__ import annotations

from backstory.project.clients.contract import MCP, Client, ConfigFile
from backstory.project.clients.shapes import JsonServer

_LINUX, _MAC, _WINDOWS = "~/.config/Claude", "~/Library/Application Support/Claude", "%APPDATA%/Claude"
_FILE = "claude_desktop_config.json"

CLIENT = Client(
    name="claude-desktop",
    title="Claude Desktop",
    files=(
        ConfigFile(
            MCP, "user", JsonServer("mcpServers"), f"{_LINUX}/{_FILE}", f"{_MAC}/{_FILE}", f"{_WINDOWS}/{_FILE}"
        ),
    ),
    user_signs=(_LINUX, _MAC, _WINDOWS),
    cannot=(
        "It has no hooks, no project and no instruction file: each call has to name the project's folder.",
        "It has no file in a project; `--user` writes the person's.",
        "It reads its configuration at its own start.",
    ),
)
