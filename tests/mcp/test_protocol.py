"""Both eras of the protocol, in raw lines and through the official client."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client

from backstory.project.authority import agent
from backstory.project.gateway import record
from backstory.project.refresh import open_project
from backstory.surfaces.mcp import offering, tools
from tests.mcp.wire import RUN, SOURCE, Wire

VERSIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
Serve = Callable[..., Wire]
# A message that is none of the handshake's makes the server wait for the SDK and leave all answers to it.
FOR_THE_SDK = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_client_of_any_era_finds_records_and_reads(serve: Serve, project: Path, version: str) -> None:
    wire = serve(project)
    about = wire.handshake(version)["result"]
    assert about["instructions"] == tools.instructions("write")
    assert version in (about.get("protocolVersion"), *about.get("supportedVersions", ()))
    names = [tool["name"] for tool in wire.ask("tools/list")["result"]["tools"]]
    assert names == list(tools.TOOLS)
    id_ = wire.ok("record_project_memory", kind="decision", summary="Keep the cache in memory")["id"]
    result = wire.call("search_project_memory", query="cache")
    assert [hit["id"] for hit in result["structuredContent"]["hits"]] == [id_]
    assert id_[-6:] in result["content"][0]["text"]
    assert wire.close() == 0


@pytest.mark.parametrize("role", ["read", "write"])
@pytest.mark.parametrize("version", VERSIONS)
def test_the_answers_given_before_the_sdk_is_there_are_its_own(
    serve: Serve, project: Path, version: str, role: str
) -> None:
    early, late = serve(project, role=role), serve(project, role=role)
    late.send(FOR_THE_SDK)
    asked = ["tools/list"] if version == "2026-07-28" else ["tools/list", "ping"]
    for wire in (early, late):
        wire.handshake(version)
        for method in asked:
            wire.ask(method)
    assert [json.loads(line) for line in early.lines] == [json.loads(line) for line in late.lines]
    # Positive control: the one says it before the SDK is loaded, the other does not, and both go on.
    for wire in (early, late):
        assert wire.ok("get_project_memory")["entries"] == []


def test_an_older_handshake_and_an_unknown_version_are_left_to_the_sdk(serve: Serve, project: Path) -> None:
    for version, expected in (("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")):
        wire = serve(project)
        assert wire.handshake(version)["result"]["protocolVersion"] == expected
        assert wire.ok("get_project_memory")["entries"] == []


def test_requests_sent_in_one_burst_are_all_answered_once_and_in_order_of_the_handshake(
    serve: Serve, project: Path
) -> None:
    wire = serve(project)
    initialize = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"roots": {}},
        "clientInfo": {"name": "x", "version": "1"},
    }
    call = {"name": "get_project_memory", "arguments": {}}
    burst: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": "one", "method": "initialize", "params": initialize},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call},
        {"jsonrpc": "2.0", "id": 4, "method": "ping"},
    ]
    wire.send("\n".join(json.dumps(message) for message in burst).encode())
    assert {wire.next()["id"] for _ in range(4)} == {"one", 2, 3, 4}
    assert wire.ask("ping")["result"] == {}
    wire.close()
    assert len(wire.lines) == 5


SLOW_SDK = """
import sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == 'anyio':
            sys.stderr.write('the import begins\\n'); time.sleep(4); sys.stderr.write('and ends\\n')
sys.meta_path.insert(0, Slow())
"""


def test_the_handshake_is_over_before_the_sdk_is_imported(serve: Serve, project: Path) -> None:
    wire = serve(project, code=SLOW_SDK)
    wire.handshake()
    wire.ask("tools/list")
    assert "and ends" not in wire.stderr
    # Positive control: a call does wait for the SDK, and what was answered is not answered again.
    assert wire.ok("get_project_memory")["entries"] == []
    assert "the import begins\nand ends" in wire.stderr
    wire.close()
    assert len(wire.lines) == 3


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_gets_what_the_schemas_promise(project: Path, mode: str) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-c", RUN.format(start="", role="write")],
        cwd=str(project),
        env={"PYTHONPATH": SOURCE},
    )

    async def talk() -> None:
        async with Client(stdio_client(parameters), mode=mode) as client:
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == list(tools.TOOLS)
            said = await client.call_tool(
                "record_project_memory", {"kind": "attempt", "summary": "Tried threads", "failure_mode": "deadlock"}
            )
            assert not said.is_error and said.structured_content["kind"] == "trial"
            found = await client.call_tool("search_project_memory", {"query": "threads"})
            assert found.structured_content["hits"][0]["failure_mode"] == "deadlock"
            refused = await client.call_tool("revise_project_memory", {"action": "confirm", "id": "ZZZZZZ"})
            assert refused.is_error and refused.structured_content["error"]["hint"]
            with pytest.raises(MCPError) as error:
                await client.call_tool("record_project_memory", {"kind": "note", "summary": "x", "by": "a person"})
            assert error.value.code == -32602
            assert (await client.call_tool("get_project_memory", {"kind": "trial"})).structured_content["entries"]

    anyio.run(talk)


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_wrong_calls_are_errors_of_the_protocol_and_break_nothing(serve: Serve, project: Path, version: str) -> None:
    wire = serve(project)
    wire.handshake(version)
    wrong: list[dict[str, Any]] = [
        {"name": "delete_everything", "arguments": {}},
        {"name": "search_project_memory", "arguments": {}},
        {"name": "search_project_memory", "arguments": {"query": 7}},
        {"name": "search_project_memory", "arguments": {"query": "x", "limit": True}},
        {"name": "search_project_memory", "arguments": {"query": "x", "limit": 10_000}},
        {"name": "search_project_memory", "arguments": {"query": "x", "project": "/"}},
        {"name": "record_project_memory", "arguments": {"kind": "wish", "summary": "x"}},
        {"name": "record_project_memory", "arguments": {"kind": "note", "summary": "x", "file_refs": [1]}},
        {"name": "get_project_memory", "arguments": [1]},
    ]
    for params in wrong:
        answer = wire.ask("tools/call", params)
        assert answer["error"]["code"] == -32602, answer
        assert "Traceback" not in json.dumps(answer)
    assert wire.ask("no/such/method")["error"]["code"] == -32601
    wire.send(b"{not json")
    assert wire.ok("record_project_memory", kind="note", summary="Still here")["status"] == "recorded"


def test_a_null_stands_for_an_argument_left_out(serve: Serve, project: Path) -> None:
    wire = serve(project)
    wire.handshake()
    assert wire.ok("get_project_memory", project_path=None, kind=None)["entries"] == []
    answer = wire.ask("tools/call", {"name": "search_project_memory", "arguments": {"query": None}})
    assert answer["error"]["code"] == -32602


def test_the_server_ends_when_its_client_goes_away(serve: Serve, project: Path) -> None:
    for handshake in (False, True):
        wire = serve(project)
        if handshake:
            wire.handshake()
            wire.ok("get_project_memory")
        assert wire.close() == 0
        assert "Traceback" not in wire.stderr


BRIEFED = "from backstory.surfaces.mcp.server import run; run('', 'write', brief=True)"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_instructions_can_end_with_the_brief(project: Path, tmp_path: Path, version: str) -> None:
    with open_project(str(project)) as opened:
        record(opened, agent("test", "one"), "decision", {"summary": "Keep the cache in memory"})
    said = []
    for number, first in enumerate((None, FOR_THE_SDK)):
        wire = Wire(BRIEFED, project, tmp_path / f"stderr{number}", {})
        try:
            if first:
                wire.send(first)
            said.append(wire.handshake(version)["result"]["instructions"])
        finally:
            wire.process.kill()
            wire.close()
    # Before the SDK is there and after, the same.
    assert said[0] == said[1] and said[0].startswith("backstory, this project's memory")
    assert "Keep the cache in memory" in said[0] and said[0].rstrip().endswith("</project-memory>")
    assert len(said[0].encode()) <= 2_048


def test_a_server_without_a_project_or_with_a_broken_one_starts_without_the_brief(
    project: Path, isolated: Path, tmp_path: Path
) -> None:
    marker = project / ".backstory" / "project.toml"
    marker.write_text("id = [", encoding="utf-8")
    for number, where in enumerate((isolated, project)):
        wire = Wire(BRIEFED, where, tmp_path / f"stderr{number}", {})
        try:
            assert wire.handshake()["result"]["instructions"] == tools.instructions("write")
        finally:
            wire.process.kill()
            wire.close()
    assert "there is no brief" in (tmp_path / "stderr1").read_text()


def test_a_brief_that_is_too_long_is_left_out_whole() -> None:
    offer = offering.offer("write")
    assert offering.with_brief(offer, "") == offer
    short = offering.with_brief(offer, "x" * 1_000).instructions
    assert short.endswith("x" * 1_000) and len(short) <= 2_048 and short != offer.instructions
    assert offering.with_brief(offer, "x" * 100).instructions == f"{offer.instructions}\n{'x' * 100}"
    assert offering.with_brief(offer, "x" * 2_000) == offer


SLOW_BRIEF = """
import time
from backstory.project import session_start
def slow(*given):
    time.sleep(3)
    return 'too late', []
session_start.session_brief = slow
"""


def test_a_brief_that_takes_long_is_not_waited_for(project: Path, tmp_path: Path) -> None:
    wire = Wire(SLOW_BRIEF + BRIEFED, project, tmp_path / "stderr", {})
    try:
        assert wire.handshake()["result"]["instructions"] == tools.instructions("write")
        assert "without the brief" in wire.stderr
        assert wire.ok("get_project_memory")["entries"] == []
    finally:
        wire.process.kill()
        wire.close()
