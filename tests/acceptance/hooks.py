"""Every hook of every client that gives the model a text: what it is sent, and where its answer holds that text."""

from __future__ import annotations

import itertools
import json
import time
from typing import Any

from backstory.surfaces.hooks.entry import events_of
from tests.acceptance import doors
from tests.acceptance.world import World

START, PROMPT, LOOK, EDIT = "start", "prompt", "look", "edit"
# Client and event: the moment. What is not here says nothing to a model, whatever is known.
SPEAKS = {
    ("claude-code", "SessionStart"): START,
    ("claude-code", "UserPromptSubmit"): PROMPT,
    ("claude-code", "PostToolUse"): LOOK,
    ("codex", "SessionStart"): START,
    ("codex", "UserPromptSubmit"): PROMPT,
    ("codex", "PostToolUse"): EDIT,
    ("cursor", "sessionStart"): START,
    ("cursor", "beforeSubmitPrompt"): PROMPT,
    ("cursor", "postToolUse"): LOOK,
    ("gemini", "SessionStart"): START,
    ("gemini", "BeforeAgent"): PROMPT,
    ("gemini", "AfterTool"): LOOK,
    ("copilot", "SessionStart"): START,
    ("copilot", "PostToolUse"): LOOK,
    ("opencode", "experimental.chat.system.transform"): START,
    ("opencode", "experimental.session.compacting"): START,
    ("opencode", "tool.execute.after"): LOOK,
    ("cline", "TaskStart"): START,
    ("cline", "TaskResume"): START,
    ("cline", "UserPromptSubmit"): PROMPT,
    ("cline", "PostToolUse"): LOOK,
}
QUIET = {
    "claude-code": ("PreToolUse", "PostToolUseFailure", "PreCompact", "Stop", "SessionEnd"),
    "codex": ("PreToolUse", "Stop", "SessionEnd"),
    "cursor": ("preToolUse", "preCompact", "stop", "sessionEnd"),
    "gemini": ("BeforeTool", "AfterAgent", "PreCompress", "SessionEnd"),
    "copilot": ("UserPromptSubmit", "PreToolUse", "PreCompact", "Stop"),
    "windsurf": ("pre_write_code", "post_write_code", "post_cascade_response"),
}
_READS = {"claude-code": "Read", "cursor": "Read", "gemini": "read_file", "copilot": "readFile", "opencode": "read"}
_TEXTS = ("additionalContext", "additional_context", "context", "contextModification")
_numbers = itertools.count()


# One answer is bounded: what did not fit comes with the next look at the file.
_LOOKS = 8


def ask(world: World, client: str, event: str, path: str) -> str:
    """What the model would be given about `path`, in a session of its own that looks until nothing is new."""
    doors.ASKED.add((doors.HOOKS, f"{client} {event}"))
    moment = SPEAKS[client, event]
    fields = {"session_id": f"session-{next(_numbers)}", **_given(world, client, moment, path)}
    fields |= {name: fields["session_id"] for name in ("conversation_id", "sessionId", "taskId")}
    texts: list[str] = []
    given = {"cwd": str(world.root), "hook_event_name": event, "source": "startup", **fields}
    for _ in range(1 if moment == START else _LOOKS):
        # In this process: `tests/hooks` starts each of them as its client does.
        out, _ = events_of(client)[event](json.dumps(given).encode(), time.time_ns() // 1_000)
        if not out:
            break
        texts += _texts(json.loads(out))
    return "\n".join(texts)


def _given(world: World, client: str, moment: str, path: str) -> dict[str, Any]:
    full = str(world.root / path)
    if moment == PROMPT:
        return {"prompt": f"Look at {path}, please."}
    if moment == EDIT:
        return {"tool_name": "apply_patch", "tool_input": {"command": f"*** Update File: {path}\n+x = 1\n"}}
    if moment == LOOK and client == "cline":
        return {"postToolUse": {"toolName": "read_file", "parameters": {"path": path}}}
    if moment == LOOK:
        return {"tool_name": _READS[client], "tool_input": {"file_path": full, "filePath": full}}
    return {}


def _texts(value: Any) -> list[str]:
    if not isinstance(value, dict):
        return []
    mine = [text for name, text in value.items() if name in _TEXTS and isinstance(text, str)]
    return mine + [text for inner in value.values() for text in _texts(inner)]
