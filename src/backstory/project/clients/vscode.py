"""VS Code and GitHub Copilot: `.vscode/mcp.json`, hooks in flat lists (a preview), AGENTS.md.

VS Code also runs the hooks of Claude Code's settings files. Where those are installed, ours of `.github/hooks` are not
written, since the same brief would come twice.
"""

from __future__ import annotations

from backstory.project.clients.contract import HOOKS, INSTRUCTIONS, MCP, Client, ConfigFile, Hook
from backstory.project.clients.shapes import Block, JsonHooks, JsonServer, stdio_server

NAME = "vscode"
EVENTS = (
    Hook("SessionStart"),
    Hook("UserPromptSubmit"),
    Hook("PreToolUse"),
    Hook("PostToolUse"),
    Hook("PreCompact"),
    Hook("Stop"),
)
_HOOKS = JsonHooks("copilot", EVENTS, grouped=False)
_SERVER = JsonServer("servers", stdio_server)
_LINUX = "~/.config/Code/User"
_MAC = "~/Library/Application Support/Code/User"
_WINDOWS = "%APPDATA%/Code/User"

CLIENT = Client(
    name=NAME,
    title="VS Code and Copilot",
    files=(
        ConfigFile(MCP, "project", _SERVER, ".vscode/mcp.json"),
        ConfigFile(HOOKS, "project", _HOOKS, ".github/hooks/backstory.json"),
        ConfigFile(INSTRUCTIONS, "project", Block(), "AGENTS.md"),
        ConfigFile(MCP, "user", _SERVER, f"{_LINUX}/mcp.json", f"{_MAC}/mcp.json", f"{_WINDOWS}/mcp.json", needs="."),
        ConfigFile(MCP, "user", JsonServer("mcpServers"), "~/.copilot/mcp-config.json", needs="~/.copilot"),
        ConfigFile(HOOKS, "user", _HOOKS, "~/.copilot/hooks/backstory.json", needs="~/.copilot"),
    ),
    project_signs=(".vscode", ".github/copilot-instructions.md", ".github/hooks"),
    user_signs=("~/.copilot", _LINUX, _MAC, _WINDOWS),
    programs=("code", "copilot"),
    events=EVENTS,
    injects=("SessionStart", "PreToolUse", "PostToolUse"),
    cannot=(
        "Hooks are a preview of VS Code; a prompt can be given nothing, only a session and a tool call.",
        "Copilot CLI takes no text from a command hook, as far as is documented; it has the tools over MCP, and reads"
        " the .mcp.json that Claude Code has in a project.",
    ),
    aliases=("copilot", "code"),
    hooks_of=("claude-code",),
)
