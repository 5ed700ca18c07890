"""An agent's session as its hooks see it: each event a real process with the client's JSON on stdin."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import backstory
from backstory.config import locate
from tests.project.memory import Memory

ENTRY = Path(backstory.__file__).parent / "surfaces/hooks/entry.py"
NAME = "0f3c1a52-7a0e-4c7e-9a38-2f1c5d8e9b11"
TRANSCRIPT = "/home/ada/.claude/projects/-work-demo/0f3c1a52.jsonl"


def run(
    client: str,
    event: str,
    stdin: bytes | dict[str, Any],
    *,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    entry: Path = ENTRY,
) -> subprocess.CompletedProcess[bytes]:
    """Run the hook as the installer writes it: isolated, without site-packages."""
    data = json.dumps(stdin).encode() if isinstance(stdin, dict) else stdin
    command = [sys.executable, "-I", "-S", str(entry), client, event]
    return subprocess.run(command, input=data, capture_output=True, cwd=cwd, env=env, timeout=60, check=False)


def parsed(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    """The envelope, {} for an empty stdout; the exit code and the shape of the stream are asserted."""
    assert done.returncode == 0, done.stderr
    if not done.stdout:
        return {}
    assert done.stdout.endswith(b"\n") and done.stdout.count(b"\n") == 1, done.stdout
    envelope = json.loads(done.stdout.decode("utf-8"))
    assert isinstance(envelope, dict) and envelope
    return envelope


class ClaudeCode:
    """One session of Claude Code 2.1 in the memory's project."""

    def __init__(self, memory: Memory, name: str = NAME, **options: Any) -> None:
        self.memory, self.name, self.options = memory, name, options
        self.stderr = ""

    def send(self, event: str, **more: Any) -> dict[str, Any]:
        """One event; the envelope that came back, {} for nothing."""
        request = {
            "session_id": self.name,
            "transcript_path": TRANSCRIPT,
            "cwd": str(self.memory.root),
            "hook_event_name": event,
            **more,
        }
        done = run("claude-code", event, request, **self.options)
        self.stderr = done.stderr.decode()
        return parsed(done)

    def context(self, event: str, **more: Any) -> str:
        """The text for the model, in an envelope that must be exactly that of the event; "" for nothing."""
        envelope = self.send(event, **more)
        if not envelope:
            return ""
        assert list(envelope) == ["hookSpecificOutput"]
        assert list(envelope["hookSpecificOutput"]) == ["hookEventName", "additionalContext"]
        assert envelope["hookSpecificOutput"]["hookEventName"] == event
        return str(envelope["hookSpecificOutput"]["additionalContext"])

    def start(self, source: str = "startup") -> str:
        """A session starts."""
        return self.context("SessionStart", source=source)

    def prompt(self, text: str) -> str:
        """A person says something."""
        return self.context("UserPromptSubmit", permission_mode="default", prompt_id="161f", prompt=text)

    def read(self, path: str | Path) -> str:
        """The agent read a file."""
        full = str(self.memory.root / path)
        response = {"type": "text", "file": {"filePath": full, "content": "x\n", "numLines": 1, "startLine": 1}}
        return self.context("PostToolUse", **tool("Read", {"file_path": full}, response))

    def grep(self, *paths: str | Path) -> str:
        """The agent searched, and found these files."""
        found = [str(self.memory.root / path) for path in paths]
        response = {"mode": "files_with_matches", "filenames": found, "numFiles": len(found)}
        return self.context("PostToolUse", **tool("Grep", {"pattern": "def"}, response))

    def about_to(self, name: str, **given: Any) -> dict[str, Any]:
        """PreToolUse; the decision, {} for none."""
        envelope = self.send("PreToolUse", permission_mode="acceptEdits", **tool(name, given))
        if not envelope:
            return {}
        assert list(envelope) == ["hookSpecificOutput"]
        decision = envelope["hookSpecificOutput"]
        assert list(decision) == ["hookEventName", "permissionDecision", "permissionDecisionReason"]
        assert decision["hookEventName"] == "PreToolUse"
        return dict(decision)

    def did(self, name: str, **given: Any) -> str:
        """PostToolUse of an edit."""
        response = {"filePath": given.get("file_path"), "structuredPatch": [], "userModified": False}
        return self.context("PostToolUse", permission_mode="acceptEdits", **tool(name, given, response))

    def edit(self, path: str | Path, new: str, old: str = "x") -> dict[str, Any]:
        """What an Edit of this file is given."""
        full = str(self.memory.root / path)
        return {"file_path": full, "old_string": old, "new_string": new, "replace_all": False}

    @property
    def file(self) -> Path:
        """The session's own file."""
        places = locate(str(self.memory.root))
        return Path(places.derived_dir, "sessions", f"{self.name}.txt")

    @property
    def noted(self) -> list[tuple[str, str]]:
        """What the session's file holds: (word, value)."""
        if not self.file.exists():
            return []
        lines = self.file.read_text(encoding="utf-8").splitlines()
        return [(line.split("\t", 1)[0], line.split("\t", 1)[1]) for line in lines]


def tool(name: str, given: dict[str, Any], response: Any = None) -> dict[str, Any]:
    """The fields of a tool's event."""
    more = {} if response is None else {"tool_response": response, "duration_ms": 31}
    return {"tool_name": name, "tool_input": given, "tool_use_id": "toolu_2", "effort": {"level": "medium"}, **more}
