"""GitHub Copilot: events of the CLI and of Copilot Chat, calls that are told twice, refusals, sub-agents."""

from pathlib import Path
from typing import Any

import pytest

from backstory.sources.transcripts import copilot
from backstory.sources.transcripts.contract import Found
from backstory.sources.transcripts.known import open_reader
from backstory.sources.transcripts.stream import (
    AssistantText,
    Call,
    Compaction,
    Edit,
    Ended,
    Facts,
    Interrupt,
    Rejection,
    Result,
    Spent,
    Thinking,
    Unknown,
)
from tests.sources.transcripts.other_clients import AT, MICROS, injected, lines, of, read, typed, whole


def event(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": f"e-{kind}", "timestamp": AT, "parentId": None}


def asked(call: str, name: str, arguments: Any) -> dict[str, Any]:
    return event(
        "assistant.message", content="", toolRequests=[{"toolCallId": call, "name": name, "arguments": arguments}]
    )


def done(call: str, **data: Any) -> dict[str, Any]:
    return event("tool.execution_complete", toolCallId=call, **data)


def session(tmp_path: Path, *events: dict[str, Any]) -> list[Any]:
    return read("copilot", lines(tmp_path / "events.jsonl", events))


def test_a_session_tells_its_facts_and_its_words(tmp_path: Path) -> None:
    items = session(
        tmp_path,
        event(
            "session.start",
            sessionId="s",
            copilotVersion="1.0",
            context={"cwd": "/w", "branch": "b", "headCommit": "c"},
        ),
        event("session.model_change", newModel="gpt-5"),
        event("user.message", content="Fix it."),
        event("assistant.message", content="Done.", reasoningText="hm", outputTokens=4, model="gpt-5"),
        event("session.shutdown", shutdownType="routine"),
    )
    start, model = of(items, Facts)
    assert (start.session, start.cwd, start.branch, start.commit, start.version) == ("s", "/w", "b", "c", "1.0")
    assert (start.at, model.model) == (MICROS, "gpt-5")
    assert typed(items) == ["Fix it."]
    assert [item.text for item in of(items, AssistantText)] == ["Done."]
    assert [item.text for item in of(items, Thinking)] == ["hm"]
    assert [item.written for item in of(items, Spent)] == [4]
    assert [item.outcome for item in of(items, Ended)] == ["done"]


def test_a_call_that_is_told_twice_is_one_also_over_a_cursor(tmp_path: Path) -> None:
    start = event("tool.execution_start", toolCallId="c", toolName="bash", arguments={"command": "ls"})
    both = session(tmp_path, asked("c", "bash", '{"command": "ls"}'), start)
    assert [(item.call, item.command) for item in of(both, Call)] == [("c", "ls")]
    path = lines(tmp_path / "two.jsonl", [asked("c", "bash", {"command": "ls"})])
    first = open_reader(Found("copilot", str(path)))
    assert len(of(list(first), Call)) == 1
    lines(path, [asked("c", "bash", {"command": "ls"}), start, event("user.message", content="Next.")])
    rest = list(open_reader(Found("copilot", str(path)), first.cursor))
    assert (len(of(rest, Call)), typed(rest)) == (0, ["Next."])


@pytest.mark.parametrize(
    ("data", "outcome", "code"),
    [
        ({"success": True, "result": {"content": "x"}}, "ok", None),
        ({"success": True, "result": {"content": "x\n<exited with exit code 1>"}}, "error", 1),
        ({"success": False, "error": {"message": "boom"}}, "error", None),
        ({"result": {"result_type": "success", "text_result_for_llm": "x"}}, "ok", None),
        ({"result": {"result_type": "failure"}}, "error", None),
        ({"result": {"content": "x"}}, "unknown", None),
        ({}, "unknown", None),
    ],
)
def test_a_call_ends_as_its_flag_says_and_without_one_nobody_knows(
    tmp_path: Path, data: dict[str, Any], outcome: str, code: int | None
) -> None:
    items = session(tmp_path, done("c", **data))
    assert [(item.outcome, item.code) for item in of(items, Result)] == [(outcome, code)]


def test_a_refusal_of_a_person_is_told_with_their_words_and_one_of_a_rule_is_not_theirs(tmp_path: Path) -> None:
    denied = {"kind": "denied-interactively-by-user", "feedback": "not that"}
    items = session(
        tmp_path,
        event("permission.requested", requestId="1", permissionRequest={"toolCallId": "c"}),
        event("permission.completed", requestId="1", result=denied),
        event("permission.requested", requestId="2", permissionRequest={"toolCallId": "d"}),
        event("permission.completed", requestId="2", result={"kind": "denied-by-rules"}),
    )
    assert [(item.call, item.reason) for item in of(items, Rejection)] == [("c", "not that")]


def test_edits_come_out_of_each_of_its_tools(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: /p.py\n@@\n-a\n+b\n*** Delete File: /q.py\n*** End Patch"
    items = session(
        tmp_path,
        asked("1", "create", {"path": "/a.py", "file_text": "new"}),
        asked("2", "edit", {"path": "/b.py", "old_str": "x", "new_str": "y"}),
        asked("3", "apply_patch", patch),
        asked("4", "view", {"path": "/c.py"}),
    )
    assert [(item.path, item.old, item.new, item.whole, item.gone) for item in of(items, Edit)] == [
        ("/a.py", None, "new", True, False),
        ("/b.py", "x", "y", False, False),
        ("/p.py", "a", "b", False, False),
        ("/q.py", None, "", False, True),
    ]


def test_what_no_person_typed_is_not_theirs(tmp_path: Path) -> None:
    items = session(
        tmp_path,
        event("user.message", content="Mine.", transformedContent="<now>10:00</now>\nMine."),
        event("user.message", content="From a skill.", source="skill-x"),
        event("user.message", content="To a sub-agent.", parentAgentTaskId="t"),
        event("system.message", content="You are Copilot."),
        event("system.notification", content="An agent ended."),
    )
    assert typed(items) == ["Mine."]
    assert [origin for _, origin in injected(items)] == [
        "reminder",
        "instructions",
        "agent",
        "instructions",
        "reminder",
    ]


def test_stops_summaries_and_unknown_events_are_told_as_such(tmp_path: Path) -> None:
    items = session(
        tmp_path,
        event("abort", reason="user"),
        event("session.compaction_complete", summaryContent="so far"),
        event("assistant.novel", content="new words"),
        event("session.info", message="Folder /tmp has been added."),
    )
    assert len(of(items, Interrupt)) == 1
    assert [item.text for item in of(items, Compaction)] == ["so far"]
    assert [item.type for item in of(items, Unknown)] == ["assistant.novel"]
    assert [item.text for item in of(items, AssistantText)] == ["new words"]


def test_files_are_those_of_the_cli_and_of_copilot_chat_with_its_windows_folder(tmp_path: Path) -> None:
    state = tmp_path / ".copilot" / "session-state"
    lines(state / "new" / "events.jsonl", [])
    lines(state / "old.jsonl", [])
    window = tmp_path / ".config" / "Code" / "User" / "workspaceStorage" / "h"
    whole(window / "workspace.json", {"folder": "file:///home/ada/my%20app"})
    lines(window / "GitHub.copilot-chat" / "transcripts" / "t.jsonl", [])
    found = {Path(each.path).name: each.folders for each in copilot.files({}, str(tmp_path))}
    assert found == {"events.jsonl": (), "old.jsonl": (), "t.jsonl": ("/home/ada/my app",)}
    elsewhere = copilot.files({"COPILOT_HOME": str(tmp_path / ".copilot")}, "/nowhere")
    assert [Path(each.path).name for each in elsewhere] == ["events.jsonl", "old.jsonl"]
