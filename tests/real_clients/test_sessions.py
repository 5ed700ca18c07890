"""Sessions of the clients themselves, with our hooks in them: what comes out of their transcripts, what does not."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from backstory.sources.transcripts import known
from backstory.sources.transcripts.contract import Cursor, Found
from backstory.sources.transcripts.stream import Compaction, UserText
from tests.project.memory import PERSON
from tests.real_clients.driving import Claude, Client, Codex
from tests.real_clients.mock_model import DONE, SAYS

RULE = "Ship from the release branch alone"
CHECK = "python3 check.py"
TEXT = """\
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "src")
import a
assert a.alpha == 2, f"alpha is {a.alpha}, wants 2"
print("1 passed")
"""
PROMPT, AGAIN, TASK = "Make the check of alpha pass", "And now explain it to me", "Always look at the wire format first"
NO = "Never touch the wire format, use the adapter instead"
FIND = ("release", "branch", "alone")


def prepared(client: Client) -> None:
    """A check that fails, a rule for the brief, our hooks."""
    client.memory.add("decision", f"{RULE}: nothing else is tested", by=PERSON)
    client.memory.put("check.py", TEXT)
    client.memory.commit("Check it")
    with client.memory.open() as project:
        assert project.db is not None
    client.install()  # type: ignore[attr-defined]


@pytest.fixture
def claude(claude: Claude) -> Claude:
    prepared(claude)
    return claude


@pytest.fixture
def codex(codex: Codex) -> Codex:
    prepared(codex)
    return codex


def mend(client: Claude, **more: Any) -> None:
    """A session that makes the check pass."""
    look, change = client.shell(CHECK), client.edit("alpha = 1", "alpha = 2")
    model = client.run(PROMPT, look, client.read(), change, look, **more)
    assert RULE in model.texts()[0]


def mend_with_codex(client: Codex, **more: Any) -> None:
    """The same."""
    look, change = client.shell(CHECK), client.patch("alpha = 1", "alpha = 2")
    model = client.run(PROMPT, look, change, look, **more)
    assert RULE in model.texts()[0]


def captured(client: Client) -> list[dict[str, Any]]:
    """The entries of the log that capture wrote."""
    folder = client.root / ".backstory/log"
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    return [event for event in map(json.loads, lines) if event["by"].get("name") == "capture"]


def sessions(client: Client) -> list[dict[str, Any]]:
    """All sessions, as the command lists them."""
    found: list[dict[str, Any]] = client.backstory("sessions", "list")["sessions"]
    return found


def shown(client: Client) -> dict[str, Any]:
    """The one session there is, as the command shows it."""
    (session,) = sessions(client)
    detail: dict[str, Any] = client.backstory("sessions", "show", session["id"])
    return detail


def items(client: Client, name: str, kind: type) -> list[Any]:
    """What the reader finds in all transcripts of a client."""
    env = {**client.places}
    return [
        item
        for found in known.module(name).files(env, str(client.home))
        for item in known.open_reader(Found(name, found.path), Cursor())
        if isinstance(item, kind)
    ]


def holds_the_story(client: Client, name: str) -> None:
    """The session, its files, its outcome and the trial came out; the brief did not come back."""
    detail = shown(client)
    session = detail["session"]
    assert (session["client"], session["outcome"]) == (name, "done")
    assert (session["turns"], session["failed"], session["edits"]) == (1, 1, 1)
    assert [turn["asked"] for turn in detail["turns"]] == [PROMPT]
    assert [(file["path"], file["edits"]) for file in detail["files"]] == [("src/a.py", 1)]
    assert [one["command"] for one in detail["failures"]] == [CHECK]
    assert "alpha is 1, wants 2" in detail["failures"][0]["error"]
    (trial,) = captured(client)
    assert (trial["kind"], trial["detector"]) == ("trial", "red-edit-green")
    assert trial["command"] == CHECK and [file["path"] for file in trial["files"]] == ["src/a.py"]
    assert [entry["id"] for entry in detail["entries"]] == [trial["id"]]
    assert [item.text for item in items(client, name, UserText)] == [PROMPT]
    assert client.backstory("sessions", "search", "check", "alpha", "--as-is")["passages"]
    said = json.dumps(client.backstory("sessions", "search", *FIND, "--as-is")["passages"])
    assert RULE not in said and "branch" not in said


def test_claude_code_a_check_that_is_mended_becomes_a_trial(claude: Claude) -> None:
    mend(claude)
    assert captured(claude), "the hook at the end of a session captures"
    holds_the_story(claude, "claude-code")
    assert claude.backstory("capture")["recorded"] == 0
    assert len(captured(claude)) == 1


def test_claude_code_a_session_that_is_resumed_is_one(claude: Claude) -> None:
    mend(claude)
    claude.run(AGAIN, claude.read(), words=["--continue"])
    detail = shown(claude)
    assert [turn["asked"] for turn in detail["turns"]] == [PROMPT, AGAIN]
    assert (detail["session"]["failed"], detail["session"]["edits"]) == (1, 1)
    assert len(captured(claude)) == 1


def test_claude_code_a_fork_has_what_is_new_in_it_only(claude: Claude) -> None:
    mend(claude)
    claude.run(AGAIN, claude.read(), words=["--continue", "--fork-session"])
    turns = [
        [turn["asked"] for turn in claude.backstory("sessions", "show", session["id"])["turns"]]
        for session in sessions(claude)
    ]
    assert sorted(turns) == [[AGAIN], [PROMPT]]
    assert sum(session["edits"] for session in sessions(claude)) == 1
    assert len(captured(claude)) == 1


def test_claude_code_a_sub_agent_stands_below_its_session(claude: Claude) -> None:
    task = {"description": "Look at it", "prompt": TASK, "subagent_type": "general-purpose"}
    claude.run(PROMPT, ("Agent", task), apart=(TASK, [claude.read(), (SAYS, {"text": "It is read by nobody."})]))
    detail = shown(claude)
    assert [turn["asked"] for turn in detail["turns"]] == [PROMPT]
    (agent,) = detail["agents"]
    assert agent["parent"] == detail["session"]["id"] and agent["agent"]
    below = claude.backstory("sessions", "show", agent["id"])
    assert [file["path"] for file in below["files"]] == ["src/a.py"]
    assert [turn["asked"] for turn in below["turns"] if turn["asked"]] == []
    assert {item.text for item in items(claude, "claude-code", UserText)} == {PROMPT}
    assert captured(claude) == []


def test_claude_code_a_refusal_with_a_reason_is_a_decision(claude: Claude) -> None:
    person = {"command": sys.executable, "args": [str(Path(__file__).with_name("person.py")), NO]}
    asks = ["--strict-mcp-config", "--mcp-config", json.dumps({"mcpServers": {"person": person}})]
    asks += ["--permission-prompt-tool", "mcp__person__ask", "--permission-mode", "default"]
    claude.run(PROMPT, claude.read(), claude.edit("alpha = 1", "alpha = 3"), words=asks)
    assert claude.watched.read_text(encoding="utf-8") == "alpha = 1\n"
    (decision,) = captured(claude)
    assert (decision["kind"], decision["detector"]) == ("decision", "rejection")
    assert NO in decision["summary"]
    assert shown(claude)["session"]["edits"] == 0


def test_claude_code_what_a_mode_does_not_allow_is_nobodys_decision(claude: Claude) -> None:
    claude.run(PROMPT, claude.read(), claude.edit("alpha = 1", "alpha = 3"), words=["--permission-mode", "default"])
    assert claude.watched.read_text(encoding="utf-8") == "alpha = 1\n"
    assert captured(claude) == []
    assert shown(claude)["session"]["edits"] == 0


def test_claude_code_a_summary_of_what_was_said_is_nobodys_turn(claude: Claude) -> None:
    mend(claude)
    claude.run("/compact keep the decisions", words=["--continue"], says="")
    claude.run(AGAIN, claude.read(), words=["--continue"])
    assert len(items(claude, "claude-code", Compaction)) == 1
    detail = shown(claude)
    assert [turn["asked"] for turn in detail["turns"]] == [PROMPT, AGAIN]
    assert len(captured(claude)) == 1


def test_codex_a_check_that_is_mended_becomes_a_trial(codex: Codex) -> None:
    mend_with_codex(codex)
    assert captured(codex), "the hook at the end of a session captures"
    holds_the_story(codex, "codex")
    assert codex.backstory("capture")["recorded"] == 0
    assert len(captured(codex)) == 1


def test_codex_a_session_that_is_resumed_is_one(codex: Codex) -> None:
    mend_with_codex(codex)
    codex.run(AGAIN, codex.shell("cat src/a.py"), words=["resume", "--last"])
    codex.backstory("capture")
    detail = shown(codex)
    assert [turn["asked"] for turn in detail["turns"]] == [PROMPT, AGAIN]
    assert (detail["session"]["failed"], detail["session"]["edits"], detail["session"]["calls"]) == (1, 1, 4)
    assert len(captured(codex)) == 1


def test_codex_a_summary_of_what_was_said_is_nobodys_turn(codex: Codex) -> None:
    mend_with_codex(codex)
    codex.run(AGAIN, codex.shell("cat src/a.py"), words=["-c", "model_auto_compact_token_limit=20", "resume", "--last"])
    codex.backstory("capture")
    assert items(codex, "codex", Compaction)
    detail = shown(codex)
    assert [turn["asked"] for turn in detail["turns"]] == [PROMPT, AGAIN]
    assert DONE in detail["turns"][-1]["said"]
    assert len(captured(codex)) == 1
