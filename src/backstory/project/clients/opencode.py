"""OpenCode 1.18: `opencode.json` for MCP, a plugin in place of hooks, AGENTS.md.

The plugin is a shim: at three events it runs `backstory-hook opencode EVENT` with
`{"hook_event_name", "session_id", "cwd", "tool_name", "tool_input"}` on stdin, and adds the `context` of the JSON
object that comes back. Nothing that goes wrong there reaches the session.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from backstory.project.clients.commands import TIMEOUT_SECONDS, Commands
from backstory.project.clients.contract import HOOKS, INSTRUCTIONS, MCP, Client, ConfigFile, Hook
from backstory.project.clients.shapes import Block, JsonServer, OwnFile

NAME = "opencode"
EVENTS = (
    Hook("experimental.chat.system.transform"),
    Hook("tool.execute.after"),
    Hook("experimental.session.compacting"),
)
MARK = "// backstory: written by `backstory install opencode`"


def _server(commands: Commands) -> dict[str, Any]:
    # Its own limit is 5 seconds for the list of tools; a busy machine needs longer for the first start.
    return {"type": "local", "command": commands.mcp(), "enabled": True, "timeout": 15_000}


def _plugin(commands: Commands) -> str:
    text = resources.files(__package__).joinpath("opencode_plugin.js").read_text(encoding="utf-8")
    words = commands.hook_words(NAME, "")[:-1]
    return text.replace('["backstory-hook", "opencode"]', json.dumps(words)).replace(
        "TIMEOUT = 5000", f"TIMEOUT = {TIMEOUT_SECONDS * 1000}"
    )


_PLUGIN = OwnFile(MARK, _plugin)
_ENTRY = JsonServer("mcp", _server)

CLIENT = Client(
    name=NAME,
    title="OpenCode",
    files=(
        ConfigFile(MCP, "project", _ENTRY, "opencode.json", others=("opencode.jsonc",)),
        ConfigFile(HOOKS, "project", _PLUGIN, ".opencode/plugin/backstory.ts"),
        ConfigFile(INSTRUCTIONS, "project", Block(), "AGENTS.md"),
        ConfigFile(
            MCP, "user", _ENTRY, "~/.config/opencode/opencode.json", others=("~/.config/opencode/opencode.jsonc",)
        ),
        ConfigFile(HOOKS, "user", _PLUGIN, "~/.config/opencode/plugin/backstory.ts"),
    ),
    project_signs=("opencode.json", "opencode.jsonc", ".opencode"),
    user_signs=("~/.config/opencode",),
    programs=("opencode",),
    events=EVENTS,
    injects=tuple(event.event for event in EVENTS),
    cannot=(
        "The brief travels through an interface that OpenCode calls experimental.",
        "Nothing is said to it before an edit.",
    ),
)
