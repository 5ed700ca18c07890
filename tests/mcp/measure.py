"""Measures the server beside an empty one on the same SDK. Not a test: it says what a machine does on one day.

    python tests/mcp/measure.py                     start-up: first answer and list of tools, both eras
    python tests/mcp/measure.py PROJECT             the same, and each call on the memory of PROJECT

The two servers take turns, so that other load meets both alike. Times are medians in milliseconds. `cpu` of a start
is user and system time of the whole process; `cpu` of a call is that of the server while it answered.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SOURCE = str(Path(__file__).resolve().parents[2] / "src")
OURS = "from backstory.surfaces.mcp.server import run; import os; run(os.getcwd(), 'write')"
EMPTY = """
import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
async def listed(ctx, params):
    return types.ListToolsResult(tools=[])
async def called(ctx, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="x")])
server = Server("empty", version="1", on_list_tools=listed, on_call_tool=called)
async def main():
    async with stdio_server() as (arriving, leaving):
        await server.run(arriving, leaving, server.create_initialization_options())
anyio.run(main)
"""
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_project_memory", {}),
    ("get_project_memory", {"kind": "lesson"}),
    ("search_project_memory", {"query": "retry timeout"}),
    ("search_project_memory", {"query": "no such word at all xyzzy"}),
    ("record_project_memory", {"kind": "note", "summary": "Measured remark {n}"}),
    ("record_project_memory", {"kind": "decision", "summary": "Keep measured cache {n} in memory"}),
]
ROUNDS, CALL_ROUNDS = 9, 40


class Session:
    def __init__(self, code: str, cwd: str) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": SOURCE},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.number = 0

    def ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, **({"params": params} if params else {})}
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def handshake(self, era: str) -> tuple[float, float]:
        """Seconds from the start of the process to the first answer, and to the list of tools."""
        if era == "modern":
            self.ask("server/discover", {"_meta": META})
        else:
            about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "m", "version": "1"}}
            self.ask("initialize", about)
        first = time.perf_counter() - self.started
        self.ask("tools/list", {"_meta": META} if era == "modern" else None)
        return first, time.perf_counter() - self.started

    def cpu(self) -> float:
        """User and system seconds of the running process (Linux)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> float:
        """End it; the process's user and system seconds."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        usage = os.wait4(self.process.pid, 0)[2]
        return usage.ru_utime + usage.ru_stime


def milliseconds(values: list[float]) -> float:
    return 1_000 * statistics.median(values)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def start_up(cwd: str) -> None:
    for era in ("handshake", "modern"):
        seen: dict[str, list[tuple[float, float, float]]] = {"empty": [], "ours": []}
        for _ in range(ROUNDS):
            for name, code in (("empty", EMPTY), ("ours", OURS)):
                session = Session(code, cwd)
                first, listed = session.handshake(era)
                seen[name].append((first, listed, session.end()))
        for name, rows in seen.items():
            first, listed, cpu = (milliseconds([row[place] for row in rows]) for place in range(3))
            say(f"{era:10} {name:6} first answer {first:7.0f}  and list {listed:7.0f}  cpu of the process {cpu:7.0f}")
        ratio = milliseconds([row[1] for row in seen["ours"]]) / milliseconds([row[1] for row in seen["empty"]])
        say(f"{era:10} first answer and list: {ratio:.2f} x the empty server")


def calls(cwd: str) -> None:
    for name, code in (("empty", EMPTY), ("ours", OURS)):
        session = Session(code, cwd)
        session.handshake("handshake")
        for tool, arguments in CALLS if name == "ours" else [("x", {})]:
            times: list[float] = []
            for number in range(CALL_ROUNDS + 1):
                given = {key: str(value).format(n=f"{number} {time.time_ns()}") for key, value in arguments.items()}
                begin = time.perf_counter()
                session.ask("tools/call", {"name": tool, "arguments": given})
                times.append(time.perf_counter() - begin)
                if number == 0:
                    before = session.cpu()
            cpu = 1_000 * (session.cpu() - before) / CALL_ROUNDS
            say(f"{name:6} {tool} {arguments}: p50 {milliseconds(times[1:]):6.2f}  cpu {cpu:6.2f}")
        session.end()


if __name__ == "__main__":
    place = sys.argv[1] if len(sys.argv) > 1 else os.getcwd()
    start_up(place)
    if len(sys.argv) > 1:
        calls(place)
