"""Claude Code 2.1: hooks with groups and matchers, MCP, CLAUDE.md.

Hooks go into `.claude/settings.local.json`, the project's file for one person, since their command names an
interpreter of this machine. The command is one line for the shell: every version takes it, and VS Code, which reads
the same file, does too. On Windows, where nobody knows which shell it will be, it is the form without a shell (`args`).
"""

from __future__ import annotations

from typing import Any

from backstory.project.clients.commands import TIMEOUT_SECONDS, Commands
from backstory.project.clients.contract import HOOKS, INSTRUCTIONS, MCP, Client, ConfigFile, Hook
from backstory.project.clients.shapes import Block, JsonHooks, JsonServer, command_handler, stdio_server

NAME = "claude-code"
_EDITS = "Edit|Write|MultiEdit|NotebookEdit"
EVENTS = (
    Hook("SessionStart", "startup|resume|clear|compact|fork"),
    Hook("UserPromptSubmit"),
    Hook("PreToolUse", _EDITS),
    Hook("PostToolUse", f"Read|Grep|Glob|{_EDITS}"),
    Hook("PostToolUseFailure"),
    Hook("PreCompact"),
    Hook("Stop"),
    Hook("SessionEnd"),
)


def _handler(commands: Commands, client: str, event: str) -> dict[str, Any]:
    if not commands.windows:
        return command_handler(commands, client, event)
    program, *args = commands.hook_words(client, event)
    return {"type": "command", "command": program, "args": args, "timeout": TIMEOUT_SECONDS}


_HOOKS = JsonHooks(NAME, EVENTS, _handler)
_SERVER = JsonServer("mcpServers", stdio_server)

CLIENT = Client(
    name=NAME,
    title="Claude Code",
    files=(
        ConfigFile(MCP, "project", _SERVER, ".mcp.json"),
        ConfigFile(HOOKS, "project", _HOOKS, ".claude/settings.local.json", personal=True),
        ConfigFile(INSTRUCTIONS, "project", Block(), "CLAUDE.md", others=(".claude/CLAUDE.md",), or_agents=True),
        ConfigFile(MCP, "user", _SERVER, "~/.claude.json"),
        ConfigFile(HOOKS, "user", _HOOKS, "~/.claude/settings.json"),
    ),
    project_signs=(".claude", "CLAUDE.md", "CLAUDE.local.md"),
    user_signs=("~/.claude", "~/.claude.json"),
    programs=("claude",),
    events=EVENTS,
    injects=("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"),
    cannot=(
        "It asks once whether the server of .mcp.json may run.",
        "What a hook says before an edit reaches the model after the edit ran.",
        "It reads AGENTS.md only where the project has no CLAUDE.md (measured on 2.1.332); older versions do not.",
    ),
    aliases=("claude",),
    moved_by=("CLAUDE_CONFIG_DIR", "~/.claude"),
    also_reads=(".claude/settings.json", ".claude/settings.local.json", "~/.claude/settings.json"),
)
