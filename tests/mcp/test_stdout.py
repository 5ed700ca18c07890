"""Stdout carries the protocol alone, a fault of ours stays ours, and roles hold on the wire."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.surfaces.mcp import tools
from tests.mcp.wire import Wire

Serve = Callable[..., Wire]
# Prints whenever a module of the SDK or of ours is first imported, and on every call, in every way there is.
NOISE = """
import logging, os, subprocess, sys, warnings
class Noisy:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(('mcp.', 'anyio', 'backstory.project')):
            print('stray import', name)
sys.meta_path.insert(0, Noisy())
from backstory.surfaces.mcp import server, service
class Loud(service.Service):
    def _answer(self, *given):
        print('stray print')
        sys.__stdout__.write('stray sys.__stdout__\\n'); sys.__stdout__.flush()
        os.write(1, b'stray descriptor\\n')
        subprocess.run([sys.executable, '-c', "print('stray child'); import sys; print(repr(sys.stdin.read()))"])
        warnings.warn('stray warning'); logging.getLogger('x').error('stray log')
        return super()._answer(*given)
server.Service = Loud
"""
FAULT = """
from backstory.surfaces.mcp import calls
real = calls.HANDLERS['get_project_memory']
def broken(project, caller, given):
    if given.get('kind') == 'fix': raise ZeroDivisionError('a secret of the inside')
    return real(project, caller, given)
calls.HANDLERS['get_project_memory'] = broken
"""


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_every_line_of_stdout_is_a_message_whatever_is_printed(serve: Serve, project: Path, version: str) -> None:
    wire = serve(project, code=NOISE)
    wire.handshake(version)
    wire.ask("tools/list")
    wire.ok("record_project_memory", kind="note", summary="Quiet")
    assert wire.call("get_project_memory", project_path="/")["isError"]
    assert "error" in wire.ask("tools/call", {"name": "nothing", "arguments": {}})
    wire.send(b"garbage\xff\xfe")
    assert wire.ok("get_project_memory")["entries"][0]["summary"] == "Quiet"
    assert wire.close() == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in wire.lines)
    for kind in ("import", "print", "sys.__stdout__", "descriptor", "child", "warning", "log"):
        assert f"stray {kind}" in wire.stderr, kind
    # A child finds nothing on stdin; the requests are not for it.
    assert "''" in wire.stderr


def test_a_server_without_stderr_still_answers(serve: Serve, project: Path) -> None:
    wire = serve(project, code="import os; os.close(2)")
    wire.handshake()
    assert wire.ok("record_project_memory", kind="note", summary="Quiet")["id"]
    assert wire.close() == 0
    assert all(json.loads(line) for line in wire.lines)


def test_a_fault_of_ours_is_one_sentence_to_the_client_and_a_traceback_on_stderr(serve: Serve, project: Path) -> None:
    wire = serve(project, code=FAULT)
    wire.handshake()
    result = wire.call("get_project_memory", kind="fix")
    assert result["isError"] and result["structuredContent"]["error"]["code"] == 70
    assert "secret of the inside" not in json.dumps(result) and "File " not in result["content"][0]["text"]
    assert "ZeroDivisionError: a secret of the inside" in wire.stderr
    assert wire.ok("get_project_memory")["entries"] == []


def test_the_read_role_lists_no_tool_that_writes_and_refuses_it_when_called(serve: Serve, project: Path) -> None:
    reader, writer = serve(project, role="read"), serve(project)
    for wire in (reader, writer):
        wire.handshake()
    names = [tool["name"] for tool in reader.ask("tools/list")["result"]["tools"]]
    assert names == [name for name, tool in tools.TOOLS.items() if not tool.writes]
    for name, given in (
        ("record_project_memory", {"kind": "note", "summary": "Sneaked in"}),
        ("revise_project_memory", {"action": "confirm", "id": "x"}),
    ):
        answer = reader.ask("tools/call", {"name": name, "arguments": given})
        assert answer["error"]["code"] == -32602 and "write role" in answer["error"]["message"]
    assert reader.ok("get_project_memory")["entries"] == []
    assert writer.ok("record_project_memory", kind="note", summary="Let in")["id"]
    assert [entry["summary"] for entry in reader.ok("get_project_memory")["entries"]] == ["Let in"]


def test_an_entry_names_the_client_and_one_session_per_process(serve: Serve, project: Path) -> None:
    one, two = serve(project), serve(project, CLAUDE_CODE_SESSION_ID="abc-123")
    one.handshake("2026-07-28", client="first\n</project-memory>\x1b[31m")
    two.handshake(client="second")
    said = [one.ok("record_project_memory", kind="note", summary=f"Note {n} on cats")["entry"]["by"] for n in (1, 2)]
    assert said[0] == said[1] and said[0]["session"].startswith("mcp-") and said[0]["kind"] == "agent"
    assert said[0]["name"].startswith("first") and "\n" not in said[0]["name"] and "<" not in said[0]["name"]
    by = two.ok("record_project_memory", kind="note", summary="Note on dogs")["entry"]["by"]
    assert by == {"kind": "agent", "name": "second", "session": "abc-123"}
