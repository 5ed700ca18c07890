"""Codex: three shapes of record, each thing told once, whose words they are, how calls end."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from backstory.sources.transcripts import codex
from backstory.sources.transcripts.contract import Found
from backstory.sources.transcripts.stream import (
    AssistantText,
    Call,
    Compaction,
    Edit,
    Ended,
    Facts,
    Injected,
    Interrupt,
    Item,
    Rejection,
    Result,
    Spent,
    Thinking,
    Unknown,
)
from tests.sources.transcripts.claude_records import AT, MICROS, of, origins, outcomes, typed, written
from tests.sources.transcripts.claude_records import items as items_of

META = {
    "id": "c-1", "timestamp": AT, "cwd": "/home/ann/shop", "cli_version": "0.171.0", "model_provider": "openai",
    "git": {"commit_hash": "abc123", "branch": "main"},
}  # fmt: skip
ENVIRONMENT = "<environment_context>\n  <cwd>/home/ann/shop</cwd>\n</environment_context>"
PATCH = """*** Begin Patch
*** Update File: add.py
@@
 def add(a, b):
-    return a - b
+    return a + b
*** Add File: new.py
+x = 1
*** Delete File: old.py
*** End Patch"""


def line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": kind, "payload": payload}


def response(kind: str, **payload: Any) -> dict[str, Any]:
    return line("response_item", type=kind, **payload)


def event(kind: str, **payload: Any) -> dict[str, Any]:
    return line("event_msg", type=kind, **payload)


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return event("item_completed", item={"type": kind, **payload})


def message(role: str, *said: str, **payload: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return response("message", role=role, content=[{"type": kind, "text": each} for each in said], **payload)


def call(call_id: str, name: str, **given: Any) -> dict[str, Any]:
    return response("function_call", name=name, arguments=json.dumps(given), call_id=call_id)


def output(call_id: str, said: object) -> dict[str, Any]:
    return response("function_call_output", call_id=call_id, output=said)


def items(tmp_path: Path, *records: Any) -> list[Item]:
    return items_of(tmp_path, *records, client="codex", name="rollout-1.jsonl")


def test_the_head_and_the_turns_say_where_the_session_ran(tmp_path: Path) -> None:
    turn = line("turn_context", cwd="/home/ann/shop", model="gpt-5-codex")
    facts = of(items(tmp_path, line("session_meta", **META), turn, turn), Facts)
    assert len(facts) == 2
    first = facts[0]
    assert (first.session, first.cwd, first.branch, first.commit) == ("c-1", "/home/ann/shop", "main", "abc123")
    assert (first.provider, first.version, first.at) == ("openai", "0.171.0", MICROS)
    assert facts[1].model == "gpt-5-codex"


def test_a_fork_and_a_sub_agent_name_the_session_that_they_came_from(tmp_path: Path) -> None:
    forked = of(items(tmp_path, line("session_meta", **META), line("session_meta", **{**META, "id": "c-0"})), Facts)
    assert [each.parent for each in forked] == ["", "c-0"]
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "c-0", "agent_role": "explorer"}}}
    found = items(tmp_path, line("session_meta", **META, source=source), message("user", "Look around."))
    assert (of(found, Facts)[0].parent, of(found, Facts)[0].agent) == ("c-0", "explorer")
    assert typed(found) == []
    assert origins(found) == ["agent"]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("newer", [False, True])
def test_what_stands_twice_is_told_once_in_either_order(tmp_path: Path, turned: bool, newer: bool) -> None:
    old = [event("user_message", message="Fix it."), event("agent_reasoning", text="Hm."),
           event("agent_message", message="Done.")]  # fmt: skip
    new = [
        item("UserMessage", content=[{"type": "text", "text": "Fix it."}]),
        item("Reasoning", summary_text=["Hm."]),
        item("AgentMessage", content=[{"type": "Text", "text": "Done."}]),
    ]
    model = [
        message("user", "Fix it.", id="m1"),
        response("reasoning", summary=[{"type": "summary_text", "text": "Hm."}]),
        message("assistant", "Done."),
    ]
    pairs = zip(new if newer else old, model, strict=True)
    records = [each for pair in pairs for each in (reversed(pair) if turned else pair)]
    found = items(tmp_path, *records)
    assert typed(found) == ["Fix it."]
    assert [each.text for each in of(found, Thinking)] == ["Hm."]
    assert [each.text for each in of(found, AssistantText)] == ["Done."]


def test_what_is_said_again_is_told_again(tmp_path: Path) -> None:
    both = [message("user", "yes"), event("user_message", message="yes")]
    assert typed(items(tmp_path, *both, *both)) == ["yes", "yes"]
    assert typed(items(tmp_path, message("user", "yes"), message("user", "yes"))) == ["yes", "yes"]


@pytest.mark.parametrize(
    ("said", "origin"),
    [
        (ENVIRONMENT, "environment"),
        ("# AGENTS.md instructions for /home/ann/shop\n\n<INSTRUCTIONS>\nUse make.\n</INSTRUCTIONS>", "instructions"),
        ("<user_instructions>\nUse make.\n</user_instructions>", "instructions"),
        ("<INSTRUCTIONS>Use make.</INSTRUCTIONS>", "instructions"),
        ("<turn_aborted>\nThe user interrupted.\n</turn_aborted>", "environment"),
        ("<user_shell_command>ls</user_shell_command>", "command"),
        ('<project-memory project="shop">keep</project-memory>', "hook"),
    ],
)
def test_what_the_client_puts_in_the_users_place_is_not_the_users(tmp_path: Path, said: str, origin: str) -> None:
    found = items(tmp_path, message("user", said, "Keep the name."), message("developer", "Be brief."))
    assert typed(found) == ["Keep the name."]
    assert set(origins(found)) == {origin, "instructions"}


def test_the_request_below_what_an_editor_adds_is_the_users(tmp_path: Path) -> None:
    said = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\nRename it.\n"
    found = items(tmp_path, message("user", said), event("user_message", message=said))
    assert typed(found) == ["Rename it."]
    assert origins(found) == ["ide"]


def test_the_marks_of_the_client_tell_a_hook_from_a_person(tmp_path: Path) -> None:
    def by(kind: str, hook: bool) -> dict[str, Any]:
        return {"content_item_metadata": [{"provenance": {"type": kind, "hook": hook}}]}

    name = "internal_chat_message_metadata_passthrough"
    found = items(
        tmp_path,
        message("developer", "Memory: keep", **{name: by("harness", True)}),
        message("user", "Memory: keep too", **{name: by("harness", True)}),
        message("user", "Mine.", **{name: by("user", False)}),
    )
    assert origins(found) == ["hook", "hook"]
    assert typed(found) == ["Mine."]


@pytest.mark.parametrize(
    ("said", "ended", "text"),
    [
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\nOriginal token count: 2\nOutput:\nno",
         ("error", 1), "no"),
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nok", ("ok", 0), "ok"),
        ("Chunk ID: 1\nWall time: 9 seconds\nProcess running with session ID 7\nOutput:\n..", ("unknown", None), ".."),
        ("Exit code: 2\nWall time: 0 seconds\nOutput:\nno", ("error", 2), "no"),
        ("Wall time: 0.0 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nDone.", ("ok", 0), "Done."),
        (json.dumps({"output": "no", "metadata": {"exit_code": 3, "duration_seconds": 0.1}}), ("error", 3), "no"),
        ({"content": "made", "success": True}, ("ok", None), "made"),
        ({"content": "no", "success": False}, ("error", None), "no"),
        ([{"type": "input_text", "text": "a.txt"}], ("unknown", None), "a.txt"),
        ("Process exited with code 1 is what it printed", ("unknown", None), None),
        ("apply_patch verification failed: no such line", ("error", None), None),
        ("Success. Updated the following files:\nM add.py", ("ok", None), None),
        ("just text", ("unknown", None), None),
    ],
)  # fmt: skip
def test_an_outcome_is_what_the_output_says_and_nothing_more(
    tmp_path: Path, said: object, ended: tuple[str, int | None], text: str | None
) -> None:
    found = items(tmp_path, call("c1", "exec_command", cmd="make"), output("c1", said))
    assert outcomes(found) == [ended]
    assert of(found, Result)[0].text == (said if text is None else text)


def test_an_output_that_is_all_head_is_read_in_little_time(tmp_path: Path) -> None:
    begun = time.process_time()
    found = items(tmp_path, call("c1", "exec_command", cmd="make"), output("c1", "Wall time: 1\n" * 100_000))
    assert outcomes(found) == [("unknown", None)]
    assert time.process_time() - begun < 2


def test_an_end_that_stands_in_an_event_and_in_an_output_is_told_once(tmp_path: Path) -> None:
    end = event("exec_command_end", call_id="c1", exit_code=1, aggregated_output="no", command=["bash", "-lc", "make"])
    found = items(tmp_path, call("c1", "shell", command=["bash", "-lc", "make"]), end, output("c1", "Exit code: 1\nno"))
    assert [(each.text, each.code) for each in of(found, Result)] == [("no", 1)]
    assert [each.command for each in of(found, Call)] == ["make"]


def test_a_command_that_still_ran_ends_in_a_second_result(tmp_path: Path) -> None:
    running = "Chunk ID: 1\nWall time: 9 seconds\nProcess running with session ID 7\nOutput:\n"
    end = item("CommandExecution", id="c1", exit_code=0, status="completed", aggregated_output="done", command=["make"])
    found = items(tmp_path, call("c1", "exec_command", cmd="make"), output("c1", running), end)
    assert outcomes(found) == [("unknown", None), ("ok", 0)]


def test_a_call_that_only_an_event_tells_is_told(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        item("CommandExecution", id="c1", command=["/bin/bash", "-lc", "ls"], cwd="file:///home/ann", exit_code=0),
        event("mcp_tool_call_end", call_id="c2", invocation={"server": "backstory", "tool": "recall", "arguments": {}},
              result={"Ok": {"content": [{"type": "text", "text": "x"}], "isError": False}}),
        event("mcp_tool_call_end", call_id="c3", invocation={"server": "x", "tool": "y"}, result={"Err": "down"}),
    )  # fmt: skip
    assert [(each.does, each.command, each.cwd) for each in of(found, Call)] == [
        ("shell", "ls", "/home/ann"), ("memory", "", ""), ("other", "", ""),
    ]  # fmt: skip
    assert outcomes(found) == [("ok", 0), ("ok", None), ("error", None)]


def test_other_tools_say_what_they_do(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        response("web_search_call", id="c1", action={"type": "search", "query": "sqlite wal"}),
        event("web_search_end", call_id="c2", query="fts5"),
        event("view_image_tool_call", call_id="c3", path="/a.png"),
        event("dynamic_tool_call_response", call_id="c4", tool="lookup", arguments={}, success=False,
              content_items=[{"type": "inputText", "text": "none"}]),
        call("c5", "update_plan", plan=[]),
        response("agent_message", author="a", content=[{"type": "input_text", "text": "look there"}]),
        event("error", message="no network"),
        event("task_complete", last_agent_message="Done."),
    )  # fmt: skip
    assert [(each.does, each.words, each.paths) for each in of(found, Call)] == [
        ("fetch", "sqlite wal", ()), ("fetch", "fts5", ()), ("read", "", ("/a.png",)), ("other", "", ()),
        ("plan", "", ()),
    ]  # fmt: skip
    assert outcomes(found) == [("error", None)]
    assert origins(found) == ["agent"]
    assert [each.outcome for each in of(found, Ended)] == ["failed", "done"]
    assert of(found, AssistantText) == []


@pytest.mark.parametrize(
    "record",
    [
        response("custom_tool_call", name="apply_patch", input=PATCH, call_id="c1"),
        call("c1", "apply_patch", input=PATCH),
        call("c1", "shell", command=["apply_patch", PATCH]),
        call("c1", "exec_command", cmd=f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"),
    ],
)
def test_a_patch_gives_an_edit_for_each_file_however_it_is_called(tmp_path: Path, record: dict[str, Any]) -> None:
    change = {"/home/ann/shop/add.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n", "move_path": None}}
    told_again = event("patch_apply_end", call_id="c1", success=True, stdout="Success.", changes=change)
    found = items(tmp_path, record, told_again)
    assert [(each.path, each.old, each.new, each.whole, each.gone) for each in of(found, Edit)] == [
        ("add.py", "def add(a, b):\n    return a - b", "def add(a, b):\n    return a + b", False, False),
        ("new.py", None, "x = 1", True, False),
        ("old.py", None, "", False, True),
    ]
    assert [(each.does, each.paths) for each in of(found, Call)] == [("edit", ("add.py", "new.py", "old.py"))]
    assert outcomes(found) == [("ok", None)]


def test_a_patch_that_only_an_event_tells_gives_its_edits(tmp_path: Path) -> None:
    changes = {
        "/s/a.py": {"type": "update", "unified_diff": "@@ -1,2 +1,2 @@\n x\n-a\n+b\n", "move_path": "/s/b.py"},
        "/s/n.py": {"type": "add", "content": "new"},
        "/s/o.py": {"delete": {"content": "old"}},
    }
    found = items(tmp_path, item("FileChange", id="c1", changes=changes, status="completed", stdout="ok"))
    assert [(each.path, each.old, each.new, each.moved, each.gone) for each in of(found, Edit)] == [
        ("/s/a.py", "x\na", "x\nb", "/s/b.py", False),
        ("/s/n.py", None, "new", "", False),
        ("/s/o.py", "old", "", "", True),
    ]


def test_a_person_who_says_no_rejects_and_one_who_stops_interrupts(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        call("c1", "shell", command=["rm", "x"]),
        output("c1", "exec command rejected by user"),
        call("c2", "apply_patch", input=PATCH),
        output("c2", "patch rejected by user"),
        call("c3", "exec_command", cmd="sleep 9"),
        output("c3", "aborted by user after 2.1s"),
        event("turn_aborted", reason="interrupted"),
        call("c4", "exec_command", cmd="grep rejected log"),
        output("c4", "log: exec command rejected by user"),
    )
    assert [each.call for each in of(found, Rejection)] == ["c1", "c2"]
    assert [each.call for each in of(found, Interrupt)] == ["c3"]
    assert [each.outcome for each in of(found, Ended)] == ["interrupted"]
    assert [outcome for outcome, _ in outcomes(found)] == ["error", "error", "unknown", "unknown"]


def test_compaction_is_told_once_and_tokens_when_they_change(tmp_path: Path) -> None:
    usage = {"input_tokens": 100, "cached_input_tokens": 80, "output_tokens": 7}
    count = event("token_count", info={"total_token_usage": usage})
    found = items(tmp_path, line("compacted", message="So far"), event("context_compacted"), count, count)
    assert [each.text for each in of(found, Compaction)] == ["So far"]
    assert [(each.read, each.written, each.cached, each.total) for each in of(found, Spent)] == [(100, 7, 80, True)]
    assert len(of(items(tmp_path, event("context_compacted"), event("context_compacted")), Compaction)) == 2


def test_the_flat_format_has_its_folder_in_the_environment(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {"id": "c-1", "timestamp": AT, "instructions": "Use make.", "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ENVIRONMENT}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it."}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"],"workdir":"/x"}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": '{"output":"a","metadata":{"exit_code":0}}'},
        {"type": "local_shell_call", "call_id": "c2", "action": {"type": "exec", "command": ["make", "a b"]}},
    )
    facts = of(found, Facts)
    assert [(each.session, each.branch, each.cwd) for each in facts] == [
        ("c-1", "main", ""),
        ("", "", "/home/ann/shop"),
    ]
    assert typed(found) == ["Fix it."]
    assert origins(found) == ["instructions", "environment"]
    assert [(each.command, each.cwd) for each in of(found, Call)] == [("ls", "/x"), ("make 'a b'", "")]
    assert outcomes(found) == [("ok", 0)]
    assert of(found, Unknown) == []


def test_an_unknown_type_is_counted_and_gives_its_text_only_with_a_role(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        response("new_message", role="user", content=[{"text": "Keep it."}]),
        event("new_event", role="assistant", message="Kept."),
        event("new_event", message="nobody's"),
        item("NewItem", text="nobody's"),
        line("new_line", x=1),
        response("ghost_snapshot"),
    )
    assert [each.type for each in of(found, Unknown)] == [
        "new_message", "event_msg/new_event", "event_msg/new_event", "item/NewItem", "new_line",
    ]  # fmt: skip
    assert typed(found) == ["Keep it."]
    assert [each.text for each in of(found, AssistantText)] == ["Kept."]
    assert of(found, Injected) == []


def test_files_are_found_by_date_and_in_the_archive(tmp_path: Path) -> None:
    root = tmp_path / ".codex"
    old = written(root / "archived_sessions" / "rollout-1.jsonl", [])
    new = written(root / "sessions" / "2026" / "03" / "01" / "rollout-2.jsonl", [])
    written(root / "sessions" / "2026" / "history.jsonl", [])
    assert list(codex.files({}, str(tmp_path))) == [Found("codex", str(old)), Found("codex", str(new))]
    assert len(list(codex.files({"CODEX_HOME": str(root)}, "/nowhere"))) == 2
    assert list(codex.files({"CODEX_HOME": str(tmp_path / "none")}, str(tmp_path))) == []


def test_the_answer_that_is_a_summary_is_not_what_the_agent_said(tmp_path: Path) -> None:
    """0.171.0 keeps the answer to its question for a summary among the others, marked."""
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "The check fails."}]}
    answer = {"timestamp": AT, "type": "response_item", "payload": said}
    compacted = {"timestamp": AT, "type": "compacted", "payload": {"message": "Here is the summary: The check fails."}}
    meta = {"timestamp": AT, "type": "session_meta", "payload": META}
    found = items_of(tmp_path, meta, {**answer, "metadata": {"compaction_output": True}}, compacted, client="codex")
    assert not of(found, AssistantText)
    assert len(of(found, Compaction)) == 1
    control = items_of(tmp_path, meta, {**answer, "metadata": {"client_authored": False}}, compacted, client="codex")
    assert [item.text for item in of(control, AssistantText)] == ["The check fails."]
