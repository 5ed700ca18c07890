"""The server over HTTP: a token, this machine only, both eras, and one voice for each client."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from backstory.errors import BackstoryError
from backstory.project import serving as serving_here
from backstory.surfaces.mcp import over_http, tools
from tests.mcp.wire import META, SOURCE

TOKEN = "a-token-of-this-test-alone"
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
VERSIONS = ("2025-06-18", "2025-11-25")


class Served:
    """A running server and its address."""

    def __init__(self, cwd: Path, log: Path, *args: str, **env: str) -> None:
        self.log = log
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "backstory", "mcp", "--http", "--port", "0", *args],
                cwd=cwd,
                env={**os.environ, "PYTHONPATH": SOURCE, over_http.TOKEN: TOKEN, **env},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self.url = self._await(r"at (http://\S+/mcp)")

    def _await(self, pattern: str) -> str:
        for _ in range(600):
            found = re.search(pattern, self.said)
            if found:
                return found[1]
            assert self.process.poll() is None, self.said
            time.sleep(0.05)
        raise AssertionError(self.said)

    @property
    def said(self) -> str:
        return self.log.read_text("utf-8", "replace")

    def post(self, body: Any, **headers: str) -> httpx2.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {**HEADERS, "Authorization": f"Bearer {TOKEN}", **named}
        return httpx2.post(
            self.url, json=body, headers={key: value for key, value in sent.items() if value}, timeout=60
        )

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
        return self.process.wait(30)


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start servers: `serving(cwd, *args, **env)`; all are ended after the test."""
    started: list[Served] = []

    def start(cwd: Path, *args: str, **env: str) -> Served:
        started.append(Served(cwd, tmp_path / f"http{len(started)}.log", *args, **env))
        return started[-1]

    yield start
    for served in started:
        served.process.kill()
        served.process.communicate()


def initialize(version: str = "2025-11-25") -> dict[str, Any]:
    about = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}


DISCOVER = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": META}}
MODERN = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "server/discover"}


def answer_of(response: httpx2.Response) -> dict[str, Any]:
    """The one message of a response, plain or in a stream of events."""
    text = response.text
    data = [line[5:].strip() for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
    found: dict[str, Any] = json.loads(data[-1] if data else text)
    return found


def with_client(url: str, mode: str, use: Callable[[Client], Any]) -> None:
    async def talk() -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            await use(client)

    anyio.run(talk)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_finds_everything_in_either_era(
    serving: Callable[..., Served], project: Path, mode: str
) -> None:
    served = serving(project)

    async def use(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == list(tools.TOOLS)
        said = await client.call_tool("record_project_memory", {"kind": "note", "summary": "Over the wire"})
        assert not said.is_error and said.structured_content["project"]["name"] == "alpha"
        read = await client.read_resource("backstory://brief")
        assert "Over the wire" in read.contents[0].text
        assert (await client.get_prompt("hand_over", {})).messages
        assert [item.name for item in (await client.list_prompts()).prompts] == ["open_case", "hand_over", "take_over"]

    with_client(served.url, mode, use)


def test_both_eras_are_served_by_one_process(serving: Callable[..., Served], project: Path) -> None:
    served = serving(project)
    for version in VERSIONS:
        assert answer_of(served.post(initialize(version)))["result"]["protocolVersion"] == version
    assert "2026-07-28" in answer_of(served.post(DISCOVER, **MODERN))["result"]["supportedVersions"]


def test_without_the_token_nothing_is_answered(serving: Callable[..., Served], project: Path) -> None:
    served = serving(project)
    for given in (
        "",
        "Bearer",
        "Bearer x",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
    ):
        for body, more in ((initialize(), {}), (DISCOVER, MODERN)):
            response = served.post(body, Authorization=given, **more)
            assert response.status_code == 401 and "Authorization: Bearer" in response.text, given
            assert response.headers["www-authenticate"] == "Bearer" and "alpha" not in response.text
    assert httpx2.get(served.url).status_code == 401
    assert httpx2.get(served.url.replace("/mcp", "/"), headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 404
    assert served.post(initialize()).status_code == 200
    assert served.post(initialize(), Authorization=f"bearer {TOKEN}").status_code == 200


def test_a_page_that_points_a_name_of_its_own_here_is_refused(serving: Callable[..., Served], project: Path) -> None:
    served = serving(project)
    port = served.url.rpartition(":")[2].partition("/")[0]
    hosts = ("evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.evil.example:{port}")
    origins = ("http://evil.example", "null", f"https://127.0.0.1:{port}", "http://127.0.0.1:1", "file://")
    for body, more in ((initialize(), {}), (DISCOVER, MODERN)):
        for host in hosts:
            assert served.post(body, Host=host, **more).status_code == 421, host
        for origin in origins:
            assert served.post(body, Origin=origin, **more).status_code == 403, origin
        for good in ({"Host": f"localhost:{port}"}, {"Origin": f"http://127.0.0.1:{port}"}):
            assert served.post(body, **good, **more).status_code == 200


def test_a_token_is_made_and_shown_once_where_none_is_given(serving: Callable[..., Served], project: Path) -> None:
    served = serving(project, **{over_http.TOKEN: ""})
    (token,) = re.findall(r"token, shown once: (\S+)", served.said)
    assert len(token) >= 32 and served.said.count(token) == 1
    assert served.post(initialize(), Authorization=f"Bearer {token}").status_code == 200
    assert served.post(initialize()).status_code == 401
    given = serving(project)
    assert TOKEN not in given.said and over_http.TOKEN in given.said


def test_only_addresses_of_this_machine_are_taken() -> None:
    for host in ("0.0.0.0", "::", "192.168.1.5", "8.8.8.8", "example.org", "", "127.0.0.1.evil.example", "*"):
        with pytest.raises(BackstoryError) as refused:
            serving_here.loopback(host)
        assert refused.value.code == 4
    assert [serving_here.loopback(host) for host in ("localhost", "127.0.0.1", "127.0.0.9", "[::1]")] == [
        "127.0.0.1", "127.0.0.1", "127.0.0.9", "::1",
    ]  # fmt: skip


def test_a_weak_token_and_a_taken_port_are_refused_with_a_next_step(project: Path) -> None:
    for token in ("short", "with a space in it", "with\ttab-and-length", "ünïcödé-ünïcödé-ünïcödé"):
        with pytest.raises(BackstoryError) as refused:
            serving_here.token_of({over_http.TOKEN: token}, over_http.TOKEN)
        assert refused.value.hint and token not in refused.value.message
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = subprocess.run(
            [sys.executable, "-m", "backstory", "mcp", "--http", "--port", str(taken.getsockname()[1])],
            cwd=project,
            env={**os.environ, "PYTHONPATH": SOURCE},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 4 and "--port 0" in done.stderr and "Traceback" not in done.stderr


def test_each_client_with_a_session_is_a_voice_and_stateless_ones_are_one(
    serving: Callable[..., Served], project: Path
) -> None:
    served, sessions = serving(project), []

    async def use(client: Client) -> None:
        for _ in range(2):
            said = await client.call_tool("record_project_memory", {"kind": "note", "summary": f"Note {len(sessions)}"})
            sessions.append(said.structured_content["entry"]["by"]["session"])

    for mode in ("legacy", "legacy", "auto", "auto"):
        with_client(served.url, mode, use)
    one, two, three, four = (set(sessions[place : place + 2]) for place in (0, 2, 4, 6))
    assert len(one) == len(two) == 1 and one != two
    assert three == four and len(three) == 1 and not three & (one | two)


def test_the_read_role_and_the_other_set_of_tools_hold_over_http(serving: Callable[..., Served], project: Path) -> None:
    served = serving(project, "--role", "read", "--tools", "projectmem")

    async def use(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "get_summary" in names and "log_issue" not in names
        assert not (await client.call_tool("get_summary", {})).is_error

    with_client(served.url, "legacy", use)


def test_it_ends_when_it_is_interrupted_and_prints_nothing_on_stdout(
    serving: Callable[..., Served], project: Path
) -> None:
    served = serving(project)
    assert served.post(initialize()).status_code == 200
    assert served.end() == 0
    assert served.process.stdout is not None and served.process.stdout.read() == b""
    assert "Traceback" not in served.said


def test_an_answer_does_not_wait_for_the_other_side_to_acknowledge_its_head() -> None:
    """asyncio turns Nagle's algorithm off only for a socket that names its protocol."""
    with serving_here.listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            assert accepted.proto == socket.IPPROTO_TCP
