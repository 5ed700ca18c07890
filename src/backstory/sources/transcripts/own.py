"""What backstory itself left in a transcript: its tools, its commands. None of it is told as what was done."""

from __future__ import annotations

import re

# `mcp__backstory__recall`, `mcp__plugin_backstory_backstory__recall`, `backstory.recall`, `backstory__recall`,
# `mcp_backstory_recall`, `mcp--backstory--recall`, `backstory_recall`, `backstory-recall`
_TOOL = re.compile(r"(?:mcp[_-]{1,2})?(?:plugin_\w*?)?backstory(?:[_.-]|$)")
_CUT = re.compile(r"&&|\|\||[;\n|]")
_RUN = re.compile(r"(?:\w+=\S*\s+)*(?:uvx\s+|uv\s+run\s+|python[\d.]*\s+-m\s+|\S*/)?backstory(?:\s|$)")
_ASIDE = re.compile(r"(?:cd|head|tail|cat|echo|true|less|jq|grep)(?:\s|$)")


def is_own_tool(name: str) -> bool:
    """Whether a tool is one of ours."""
    return "backstory" in name and _TOOL.match(name) is not None


def is_own_command(line: str) -> bool:
    """Whether a shell line runs backstory and nothing else that matters."""
    if "backstory" not in line:
        return False
    steps = [step.strip() for step in _CUT.split(line) if step.strip()]
    ours = [step for step in steps if _RUN.match(step)]
    return bool(ours) and all(_RUN.match(step) or _ASIDE.match(step) for step in steps)
