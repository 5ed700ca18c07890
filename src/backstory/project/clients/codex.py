"""Codex CLI 0.171: `config.toml` for MCP, `hooks.json` in the shape of Claude Code, AGENTS.md.

A hook runs after the person trusted its exact command, so the command is the same in every release. The project has no
file of one person: its `hooks.json` is committed and calls `backstory-hook` on PATH.
"""

from __future__ import annotations

from backstory.project.clients.contract import HOOKS, INSTRUCTIONS, MCP, Client, ConfigFile, Hook
from backstory.project.clients.shapes import Block, JsonHooks, TomlServer

NAME = "codex"
EVENTS = (
    Hook("SessionStart", "startup|resume|clear|compact|fork"),
    Hook("UserPromptSubmit"),
    Hook("PreToolUse", "apply_patch|Bash"),
    Hook("PostToolUse"),
    Hook("Stop"),
    Hook("SessionEnd"),
)
_HOOKS = JsonHooks(NAME, EVENTS)

CLIENT = Client(
    name=NAME,
    title="Codex CLI",
    files=(
        ConfigFile(MCP, "project", TomlServer(), ".codex/config.toml"),
        ConfigFile(HOOKS, "project", _HOOKS, ".codex/hooks.json"),
        ConfigFile(INSTRUCTIONS, "project", Block(), "AGENTS.md"),
        ConfigFile(MCP, "user", TomlServer(), "~/.codex/config.toml"),
        ConfigFile(HOOKS, "user", _HOOKS, "~/.codex/hooks.json"),
    ),
    project_signs=(".codex",),
    user_signs=("~/.codex",),
    programs=("codex",),
    events=EVENTS,
    injects=("SessionStart", "UserPromptSubmit", "PostToolUse"),
    cannot=(
        "It skips every hook, in silence under `codex exec`, until you trust it: start `codex` here and say /hooks.",
        "A changed hook command voids that trust.",
        "It reads .codex/ of a project only after you trusted the project.",
    ),
    moved_by=("CODEX_HOME", "~/.codex"),
)
