"""Cline: MCP in the person's file, hooks as executables named after their event, AGENTS.md."""

from __future__ import annotations

from backstory.project.clients.commands import Commands
from backstory.project.clients.contract import HOOKS, INSTRUCTIONS, MCP, Client, ConfigFile, Hook
from backstory.project.clients.shapes import Block, JsonServer, OwnFile

NAME = "cline"
EVENTS = (Hook("TaskStart"), Hook("TaskResume"), Hook("UserPromptSubmit"), Hook("PostToolUse"))
MARK = "# backstory: written by `backstory install cline`"
_STORAGE = "saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
_UNIX = ("linux", "mac")


def _script(event: str) -> OwnFile:
    def body(commands: Commands) -> str:
        # A committed script meets machines without the tool, and has nothing to say there.
        guard = "command -v backstory-hook >/dev/null 2>&1 || exit 0\n" if commands.committed else ""
        head = f"#!/bin/sh\n{MARK}; `backstory uninstall cline` removes it.\n"
        return f"{head}{guard}exec {commands.hook(NAME, event)}\n"

    return OwnFile(MARK, body)


CLIENT = Client(
    name=NAME,
    title="Cline",
    files=(
        *(
            ConfigFile(
                HOOKS, "project", _script(hook.event), f".clinerules/hooks/{hook.event}", executable=True, only=_UNIX
            )
            for hook in EVENTS
        ),
        ConfigFile(INSTRUCTIONS, "project", Block(), "AGENTS.md"),
        ConfigFile(
            MCP,
            "user",
            JsonServer("mcpServers"),
            f"~/.config/Code/User/globalStorage/{_STORAGE}",
            f"~/Library/Application Support/Code/User/globalStorage/{_STORAGE}",
            f"%APPDATA%/Code/User/globalStorage/{_STORAGE}",
            others=("~/.cline/data/settings/cline_mcp_settings.json", "~/.cline/mcp.json"),
        ),
        *(
            ConfigFile(
                HOOKS, "user", _script(hook.event), f"~/Documents/Cline/Hooks/{hook.event}", executable=True, only=_UNIX
            )
            for hook in EVENTS
        ),
    ),
    project_signs=(".clinerules",),
    user_signs=(
        "~/.cline",
        "~/.config/Code/User/globalStorage/saoudrizwan.claude-dev",
        "~/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev",
        "%APPDATA%/Code/User/globalStorage/saoudrizwan.claude-dev",
    ),
    programs=("cline",),
    events=EVENTS,
    injects=tuple(hook.event for hook in EVENTS),
    cannot=(
        "Whether it waits for a hook at the start of a task depends on the program that hosts it.",
        "Its hooks are shell scripts and are not written on Windows.",
        "It has no MCP file in a project; `--user` writes the person's.",
    ),
)
