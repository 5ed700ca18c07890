"""Where Claude Code keeps its transcripts: by project folder, the sub-agents' beside their session or below it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping

from backstory.sources.transcripts.contract import Found
from backstory.sources.transcripts.fields import text

_SESSION = re.compile(rb'"sessionId"\s*:\s*"([\w-]{1,128})"')
_HEAD = 16_384


def listed(env: Mapping[str, str], home: str) -> Iterator[Found]:
    """The transcripts, sorted by path."""
    roots = [env.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")]
    if not env.get("CLAUDE_CONFIG_DIR"):
        roots.append(os.path.join(env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "claude"))
    yield from sorted((each for root in roots for each in _under(os.path.join(root, "projects"))), key=lambda f: f.path)


def _under(projects: str) -> Iterator[Found]:
    for folder, folders, names in os.walk(projects):
        # What tools put aside, and the memory of the client itself, are no transcripts.
        folders[:] = sorted(name for name in folders if name not in ("tool-results", "memory"))
        for name in names:
            if name.endswith(".jsonl"):
                path = os.path.join(folder, name)
                yield Found("claude-code", path, parent=_parent(projects, folder, path))


def _parent(projects: str, folder: str, path: str) -> str:
    if not os.path.basename(path).startswith("agent-"):
        return ""
    above = os.path.relpath(folder, projects).split(os.sep)
    if "subagents" in above[2:]:
        return os.path.join(projects, *above[: above.index("subagents")]) + ".jsonl"
    try:
        with open(path, "rb") as file:
            session = _SESSION.search(file.read(_HEAD))
    except OSError:
        return ""
    return os.path.join(folder, session[1].decode() + ".jsonl") if session else ""


def agent_kind(path: str) -> str:
    """What kind of sub-agent wrote a file, from the small file that newer versions put beside it; "" without one."""
    try:
        with open(path.removesuffix(".jsonl") + ".meta.json", "rb") as file:
            found = json.loads(file.read(_HEAD))
    except (OSError, ValueError, RecursionError):
        return ""
    return text(found.get("agentType")) if isinstance(found, dict) else ""
