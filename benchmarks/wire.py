"""A client that speaks JSON-RPC with a server on stdio, and counts the CPU time that the server takes."""

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import Failed

PROTOCOL = "2025-06-18"


class Client:
    """A server process and the connection with it. Close it after use."""

    def __init__(self, arguments: Sequence[str], folder: Path, errors: Path) -> None:
        self._errors = errors.open("wb")
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            arguments, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
        )
        self._number = 0

    def begin(self) -> list[Any]:
        """Shake hands and ask for the tools."""
        client = {"name": "benchmark", "version": "1"}
        self.ask("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
        self._send({"method": "notifications/initialized"})
        tools: list[Any] = self.ask("tools/list", {})["tools"]
        return tools

    @property
    def age(self) -> float:
        """Milliseconds since the process was started."""
        return (time.perf_counter() - self._started) * 1e3

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request; `Failed` for an error."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
        raise Failed(f"the server went away during {method}; see {self._errors.name}")

    def call(self, tool: str, arguments: dict[str, Any]) -> tuple[float, float, dict[str, Any]]:
        """Milliseconds of waiting and of the server's CPU time for one call, and the structured answer."""
        before, start = self._cpu(), time.perf_counter()
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        waited = (time.perf_counter() - start) * 1e3
        if result.get("isError"):
            raise Failed(f"{tool}: {result['content'][0]['text']}")
        return waited, self._cpu() - before, result.get("structuredContent", {})

    def close(self) -> float:
        """End the connection; the CPU time of the whole process in milliseconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.read()
        _, status, used = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self._process.stdout.close()
        self._errors.close()
        if self._process.returncode:
            raise Failed(f"the server ended with {self._process.returncode}; see {self._errors.name}")
        return (used.ru_utime + used.ru_stime) * 1e3

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def _cpu(self) -> float:
        """CPU time of all threads so far in milliseconds, where the system tells it to the nanosecond; else 0."""
        total = 0
        try:
            for thread in Path(f"/proc/{self._process.pid}/task").iterdir():
                total += int((thread / "schedstat").read_text("ascii").split()[0])
        except (OSError, ValueError):
            return 0.0
        return total / 1e6
