"""Cline and Roo: calls as text and as parts, results in a person's place, refusals, and whose words they are."""

from pathlib import Path
from typing import Any

import pytest

from backstory.sources.transcripts import cline
from backstory.sources.transcripts.contract import Found
from backstory.sources.transcripts.known import open_reader
from backstory.sources.transcripts.stream import (
    AssistantText,
    Call,
    Edit,
    Ended,
    Facts,
    Interrupt,
    Lost,
    Rejection,
    Result,
    Spent,
    Thinking,
    Unknown,
)
from tests.sources.transcripts.other_clients import MICROS, MILLIS, injected, of, read, typed, whole

ENVIRONMENT = "<environment_details>\n# Current Working Directory (/home/ada/app) Files\na.py\n</environment_details>"


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "content": [text(part) if isinstance(part, str) else part for part in parts]}


def agent(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [text(part) if isinstance(part, str) else part for part in parts], **more}


def task(tmp_path: Path, *messages: Any, ui: Any = None, metadata: Any = None) -> list[Any]:
    folder = tmp_path / "tasks" / "17"
    for name, value in (("ui_messages", ui), ("task_metadata", metadata)):
        if value is not None:
            whole(folder / f"{name}.json", value)
    return read("cline", whole(folder / "api_conversation_history.json", list(messages)))


def test_a_person_is_who_speaks_in_the_task_and_the_rest_is_the_clients(tmp_path: Path) -> None:
    items = task(
        tmp_path,
        user("<task>\nFix it.\n</task>", ENVIRONMENT),
        user("[ERROR] You did not use a tool in your previous response!"),
        user("The user has provided feedback on the results.\n<feedback>\nUse uv.\n</feedback>"),
        user("<user_message>\nAnd test.\n</user_message>"),
    )
    assert typed(items) == ["Fix it.", "Use uv.", "And test."]
    assert [origin for _, origin in injected(items)] == ["environment", "other", "other"]
    assert [item.cwd for item in of(items, Facts) if item.cwd] == ["/home/ada/app"]
    assert of(items, Facts)[0].session == "17"


def test_a_call_in_the_text_is_one_and_its_result_is_no_persons_word(tmp_path: Path) -> None:
    items = task(
        tmp_path,
        agent("<thinking>hm</thinking>I run it.\n<execute_command>\n<command>make test</command>\n</execute_command>"),
        user("[execute_command for 'make test'] Result:", "Command executed.\nExit code: 2\nOutput:\nno", ENVIRONMENT),
    )
    assert [item.text for item in of(items, AssistantText)] == ["I run it."]
    assert [item.text for item in of(items, Thinking)] == ["hm"]
    (call,) = of(items, Call)
    assert (call.tool, call.does, call.command) == ("execute_command", "shell", "make test")
    assert [(item.call, item.outcome, item.code) for item in of(items, Result)] == [(call.call, "error", 2)]
    assert typed(items) == []


def test_results_go_to_the_call_of_their_name(tmp_path: Path) -> None:
    read_file = {"type": "tool_use", "id": "r", "name": "read_file", "input": {"path": "a.py"}}
    run = {"type": "tool_use", "id": "x", "name": "execute_command", "input": {"command": "ls"}}
    items = task(
        tmp_path,
        agent(read_file, run),
        user("[execute_command for 'ls'] Result:\nout", "[read_file for 'a.py'] Result:\nin"),
    )
    assert [(item.call, item.text) for item in of(items, Result)] == [("x", "out"), ("r", "in")]


@pytest.mark.parametrize(
    ("words", "flag", "outcome"),
    [
        ("x", True, "error"),
        ("x", False, "ok"),
        ("x", None, "unknown"),
        ("The tool execution failed with the following error:\n<error>\nno\n</error>", None, "error"),
        ("The content was successfully saved to a.py.", None, "ok"),
    ],
)
def test_a_result_ends_as_its_flag_or_its_words_say_and_without_them_nobody_knows(
    tmp_path: Path, words: str, flag: object, outcome: str
) -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": words}
    items = task(tmp_path, user({**result, "is_error": flag} if flag is not None else result))
    assert [(item.call, item.outcome) for item in of(items, Result)] == [("t", outcome)]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("The user denied this operation.", ""),
        (
            "The user denied this operation and provided the following feedback:\n<feedback>\nnot so\n</feedback>",
            "not so",
        ),
        ('{"status": "denied", "feedback": "not so"}', "not so"),
    ],
)
def test_a_refusal_is_told_with_its_reason(tmp_path: Path, words: str, reason: str) -> None:
    items = task(tmp_path, user({"type": "tool_result", "tool_use_id": "t", "content": words}))
    assert [(item.call, item.reason) for item in of(items, Rejection)] == [("t", reason)]
    approved = "The user approved this operation.\n<feedback>well</feedback>"
    assert not of(task(tmp_path, user({"type": "tool_result", "tool_use_id": "t", "content": approved})), Rejection)


def test_an_answer_to_a_question_is_a_persons_word(tmp_path: Path) -> None:
    items = task(
        tmp_path,
        agent("<ask_followup_question><question>Which?</question></ask_followup_question>"),
        user("[ask_followup_question for 'Which?'] Result:\n<answer>\nThe second.\n</answer>"),
    )
    assert [item.text for item in of(items, AssistantText)] == ["Which?"]
    assert typed(items) == ["The second."]


@pytest.mark.parametrize(
    "diff",
    [
        "<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE",
        "------- SEARCH\nx = 1\n=======\nx = 2\n+++++++ REPLACE",
        "<<<<<<< SEARCH\n:start_line:4\n-------\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE",
    ],
)
def test_blocks_of_search_and_replace_are_edits(tmp_path: Path, diff: str) -> None:
    items = task(tmp_path, agent(f"<replace_in_file>\n<path>a.py</path>\n<diff>\n{diff}\n</diff>\n</replace_in_file>"))
    assert [(item.path, item.old, item.new) for item in of(items, Edit)] == [("a.py", "x = 1", "x = 2")]
    cut = diff.rpartition("\n")[0]
    assert not of(task(tmp_path, agent(f"<apply_diff><path>a.py</path><diff>{cut}</diff></apply_diff>")), Edit)


def test_a_written_file_is_whole_and_may_hold_tags(tmp_path: Path) -> None:
    body = "<b>x</b>\n<content>y</content>"
    items = task(tmp_path, agent(f"<write_to_file><path>a.html</path><content>\n{body}\n</content></write_to_file>"))
    assert [(item.path, item.old, item.new, item.whole) for item in of(items, Edit)] == [("a.html", None, body, True)]


def test_what_the_person_saw_gives_times_tokens_stops_and_the_end(tmp_path: Path) -> None:
    ui = [
        {"ts": MILLIS, "type": "say", "say": "api_req_started", "conversationHistoryIndex": -1,
         "text": '{"tokensIn": 5, "tokensOut": 2, "cacheReads": 3, "cancelReason": "user_cancelled"}'},
        {"ts": MILLIS, "type": "ask", "ask": "completion_result"},
    ]  # fmt: skip
    metadata = {"model_usage": [{"model_id": "m", "model_provider_id": "p"}]}
    items = task(tmp_path, user("<task>Fix.</task>"), ui=ui, metadata=metadata)
    assert [item.at for item in items if type(item).__name__ == "UserText"] == [MICROS]
    assert [(item.read, item.written, item.cached) for item in of(items, Spent)] == [(8, 2, 3)]
    assert len(of(items, Interrupt)) == 1
    assert [item.outcome for item in of(items, Ended)] == ["done"]
    assert (of(items, Facts)[0].model, of(items, Facts)[0].provider) == ("m", "p")


def test_a_broken_file_beside_the_messages_costs_itself_only(tmp_path: Path) -> None:
    task(tmp_path, user("<task>Fix.</task>"))
    (tmp_path / "tasks" / "17" / "ui_messages.json").write_text("[{")
    items = read("cline", tmp_path / "tasks" / "17" / "api_conversation_history.json")
    assert typed(items) == ["Fix."]
    assert len(of(items, Lost)) == 1


def test_a_session_of_the_newer_form_is_read_with_its_manifest(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    whole(folder / "s.json", {"cwd": "/home/ada/app", "model": "m", "provider": "p"})
    use = {"type": "tool_use", "id": "t", "name": "run_commands", "input": {"commands": ["ls", "pwd"]}}
    messages = [
        {"role": "user", "content": [text('<user_input mode="act">Fix.</user_input>')], "ts": MILLIS},
        {"role": "assistant", "content": [use], "metrics": {"inputTokens": 4, "outputTokens": 1}},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x", "is_error": False}]},
        {"role": "user", "content": "Plain words."},
        {"role": "novel", "content": "new"},
    ]
    items = read("cline", whole(folder / "s.messages.json", {"version": 1, "messages": messages}))
    assert (of(items, Facts)[0].session, of(items, Facts)[0].cwd, of(items, Facts)[0].model) == (
        "s",
        "/home/ada/app",
        "m",
    )
    assert typed(items) == ["Fix.", "Plain words."]
    assert of(items, Call)[0].command == "ls\npwd"
    assert [item.outcome for item in of(items, Result)] == ["ok"]
    assert [(item.read, item.written) for item in of(items, Spent)] == [(4, 1)]
    assert [item.type for item in of(items, Unknown)] == ["novel"]


def test_a_task_that_did_not_change_gives_nothing_and_one_that_did_begins_anew(tmp_path: Path) -> None:
    task(tmp_path, user("<task>One.</task>"))
    path = str(tmp_path / "tasks" / "17" / "api_conversation_history.json")
    first = open_reader(Found("cline", path))
    assert typed(first) == ["One."]
    again = open_reader(Found("cline", path), first.cursor)
    assert (list(again), again.began_anew) == ([], False)
    task(tmp_path, user("<task>One.</task>"), user("<feedback>Two.</feedback>"))
    third = open_reader(Found("cline", path), first.cursor)
    assert third.began_anew
    assert typed(third) == ["One.", "Two."]


def test_tasks_are_found_in_every_editor_and_of_the_command_line(tmp_path: Path) -> None:
    storage = tmp_path / ".config" / "Code" / "User" / "globalStorage"
    whole(storage / "saoudrizwan.claude-dev" / "tasks" / "1" / "api_conversation_history.json", [])
    history = [{"id": "1", "cwdOnTaskInitialization": "/home/ada/app"}]
    whole(storage / "saoudrizwan.claude-dev" / "state" / "taskHistory.json", history)
    roo = (
        tmp_path
        / "Library"
        / "Application Support"
        / "Cursor"
        / "User"
        / "globalStorage"
        / "rooveterinaryinc.roo-cline"
    )
    whole(roo / "tasks" / "2" / "api_conversation_history.json", [])
    whole(roo / "tasks" / "2" / "history_item.json", {"workspace": "/home/ada/roo"})
    whole(tmp_path / ".cline" / "data" / "tasks" / "3" / "api_conversation_history.json", [])
    whole(tmp_path / ".cline" / "data" / "sessions" / "4" / "4.messages.json", {"messages": []})
    whole(tmp_path / ".cline" / "data" / "sessions" / "4" / "4.json", {"cwd": "/home/ada/cli"})
    found = {Path(each.path).parent.name: each.folders for each in cline.files({}, str(tmp_path))}
    assert found == {"1": ("/home/ada/app",), "2": ("/home/ada/roo",), "3": (), "4": ("/home/ada/cli",)}
    there = cline.files({"CLINE_DATA_DIR": str(tmp_path / ".cline" / "data")}, "/nowhere")
    assert sorted(Path(each.path).parent.name for each in there) == ["3", "4"]
