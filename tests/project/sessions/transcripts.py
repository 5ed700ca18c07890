"""Transcripts as Claude Code writes them, made for tests: a session is a list of steps."""

import itertools
import json
import os
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Record = dict[str, Any]
_NUMBERS = itertools.count(1)


class Claude:
    """A session that is written step by step into `~/.claude/projects/<folder>/<session>.jsonl`."""

    def __init__(self, cwd: Path | str, session: str = "", *, folder: str = "x", branch: str = "main") -> None:
        self.cwd, self.branch = str(cwd), branch
        self.session = session or str(uuid.UUID(int=next(_NUMBERS)))
        self.path = Path(os.environ["HOME"]) / ".claude" / "projects" / folder / f"{self.session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.seconds = 0
        self.calls = 0

    def write(self, *records: Record) -> "Claude":
        with self.path.open("a", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        return self

    def base(self, kind: str, **more: Any) -> Record:
        self.seconds += 1
        stamp = f"2026-11-20T10:{self.seconds // 60:02d}:{self.seconds % 60:02d}.000Z"
        return {
            "type": kind, "uuid": str(uuid.UUID(int=next(_NUMBERS) << 64)), "sessionId": self.session, "cwd": self.cwd,
            "gitBranch": self.branch, "version": "2.1.332", "timestamp": stamp, "isSidechain": False, **more,
        }  # fmt: skip

    def user(self, text: str, **more: Any) -> "Claude":
        return self.write(self.base("user", message={"role": "user", "content": text}, **more))

    def says(self, text: str) -> "Claude":
        return self._assistant({"type": "text", "text": text})

    def thinks(self, text: str) -> "Claude":
        return self._assistant({"type": "thinking", "thinking": text})

    def _assistant(self, *blocks: Record) -> "Claude":
        message = {
            "id": f"msg_{next(_NUMBERS)}", "role": "assistant", "model": "claude-opus-5", "content": list(blocks),
            "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100},
        }  # fmt: skip
        return self.write(self.base("assistant", message=message))

    def call(self, tool: str, **given: Any) -> str:
        self.calls += 1
        id_ = f"toolu_{self.session[-4:]}_{self.calls}"
        self._assistant({"type": "tool_use", "id": id_, "name": tool, "input": given})
        return id_

    def result(self, id_: str, text: str, *, error: bool | None = None, details: Any = None) -> "Claude":
        block: Record = {"type": "tool_result", "tool_use_id": id_, "content": text}
        if error is not None:
            block["is_error"] = error
        more = {} if details is None else {"toolUseResult": details}
        return self.write(self.base("user", message={"role": "user", "content": [block]}, **more))

    def runs(self, command: str, output: str = "", code: int = 0) -> "Claude":
        id_ = self.call("Bash", command=command, description="run it")
        if code:
            return self.result(id_, f"Exit code {code}\n{output}", error=True, details=f"Error: Exit code {code}")
        done = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        return self.result(id_, output, error=False, details=done)

    def edits(self, path: Path | str, old: str, new: str) -> "Claude":
        full = str(path) if os.path.isabs(str(path)) else os.path.join(self.cwd, str(path))
        id_ = self.call("Edit", file_path=full, old_string=old, new_string=new)
        details = {"filePath": full, "oldString": old, "newString": new, "structuredPatch": []}
        return self.result(id_, f"The file {full} has been updated.", details=details)

    def reads(self, path: Path | str) -> "Claude":
        full = str(path) if os.path.isabs(str(path)) else os.path.join(self.cwd, str(path))
        return self.result(self.call("Read", file_path=full), "1\tsome text")

    def refuses(self, tool: str, reason: str = "", **given: Any) -> "Claude":
        id_ = self.call(tool, **given)
        text = (
            "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit,"
            " the new_string was NOT written to the file)."
        )
        if reason:
            text += f" To tell you how to proceed, the user said:\n{reason}"
        return self.result(id_, text, error=True, details="User rejected tool use")

    def lines(self) -> Iterable[str]:
        return self.path.read_text(encoding="utf-8").splitlines()


def red_edit_green(session: Claude, path: str = "src/store.py") -> Claude:
    """A failing test, an edit, the same test passing."""
    session.user("The test of the store fails. Fix it.")
    session.runs("pytest -q tests/test_store.py", "E   AssertionError: the store is empty\n1 failed", code=1)
    session.edits(path, "return None", "return self.rows")
    session.runs("pytest -q tests/test_store.py", "1 passed")
    return session.says("The store returned nothing; it returns its rows now.")
