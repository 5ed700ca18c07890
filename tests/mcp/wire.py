"""A real server in a process of its own, spoken to in raw JSON lines."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from backstory.project.setup import init

SOURCE = str(Path(__file__).resolve().parents[2] / "src")
RUN = "from backstory.surfaces.mcp.server import run; run({start!r} or __import__('os').getcwd(), {role!r})"
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class Wire:
    """One server and its client. `lines` is everything that came out of its stdout."""

    def __init__(self, code: str, cwd: Path, stderr: Path, env: dict[str, str]) -> None:
        self.stderr_path = stderr
        self.lines: list[bytes] = []
        self._number = 0
        self.meta: dict[str, Any] = {}
        with stderr.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-c", code],
                cwd=cwd,
                env={**os.environ, "PYTHONPATH": SOURCE, **env},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    def send(self, message: dict[str, Any] | bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode())
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.lines.append(line)
        assert line, f"the server said nothing more; stderr: {self.stderr}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The whole answer to one request."""
        self._number += 1
        given = {**(params or {}), **({"_meta": self.meta} if self.meta else {})}
        request = {"jsonrpc": "2.0", "id": self._number, "method": method}
        self.send({**request, "params": given} if given else request)
        answer = self.next()
        assert answer["id"] == self._number
        return answer

    def handshake(self, version: str = "2025-11-25", client: str = "test-client") -> dict[str, Any]:
        """The answer to `initialize`, or in the modern era to `server/discover`."""
        about = {"name": client, "version": "1"}
        if version == "2026-07-28":
            self.meta = {**META, "io.modelcontextprotocol/clientInfo": about}
            return self.ask("server/discover")
        answer = self.ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": about})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a call that the protocol lets through."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that succeeds."""
        result = self.call(tool, **arguments)
        assert not result["isError"], result
        data: dict[str, Any] = result["structuredContent"]
        return data

    @property
    def stderr(self) -> str:
        return self.stderr_path.read_text("utf-8", "replace")

    def close(self) -> int:
        """End it as a client does: close stdin, read what is left, wait."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
            assert self.process.stdout is not None
            self.lines += self.process.stdout.readlines()
            self.process.stdout.close()
        return self.process.wait(30)


def make_project(folder: Path, name: str = "") -> Path:
    """A git repository with a memory and two files."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "net.py").write_text("def send():\n    return 1\n", encoding="utf-8")
    (folder / "README.md").write_text("# Read me\n", encoding="utf-8")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True, stdin=subprocess.DEVNULL)
    init(str(folder), name=name, now=time.time_ns() // 1000)
    return folder
