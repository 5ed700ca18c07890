"""Gemini CLI: messages that are written again, taken back and replaced; whose words they are; how calls end."""

from pathlib import Path
from typing import Any

import pytest

from backstory.sources.transcripts import gemini
from backstory.sources.transcripts.contract import Found
from backstory.sources.transcripts.known import open_reader
from backstory.sources.transcripts.stream import (
    AssistantText,
    Call,
    Compaction,
    Edit,
    Facts,
    Interrupt,
    Rejection,
    Result,
    Spent,
    Thinking,
    Unknown,
)
from tests.sources.transcripts.other_clients import AT, MICROS, injected, lines, of, read, typed, whole

HEAD = {"sessionId": "s1", "projectHash": "ab", "startTime": AT, "kind": "main"}


def user(key: str, content: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": AT, "type": "user", "content": content}


def answer(key: str, content: str = "", **more: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": AT, "type": "gemini", "content": content, **more}


def shell(key: str, status: str, output: str = "") -> dict[str, Any]:
    result = [{"functionResponse": {"id": key, "response": {"output": output}}}] if output else None
    return {"id": key, "name": "run_shell_command", "args": {"command": "ls"}, "status": status, "result": result}


def chat(tmp_path: Path, *records: Any) -> Path:
    return lines(tmp_path / "chats" / "session-1.jsonl", [HEAD, *records])


def test_both_forms_give_the_same_session(tmp_path: Path) -> None:
    messages = [user("u", [{"text": "Fix it."}]), answer("a", "Done.", model="gemini-3")]
    by_line = read("gemini", chat(tmp_path, *messages))
    as_whole = read("gemini", whole(tmp_path / "session-1.json", {**HEAD, "messages": messages}))
    assert typed(by_line) == typed(as_whole) == ["Fix it."]
    assert [item.text for item in of(by_line, AssistantText)] == ["Done."]
    assert [item.model for item in of(by_line, Facts) if item.model] == ["gemini-3"]
    assert of(by_line, Facts)[0].session == of(as_whole, Facts)[0].session == "s1"
    assert of(by_line, Facts)[0].at == MICROS


def test_a_message_that_is_written_again_gives_only_what_is_new(tmp_path: Path) -> None:
    path = chat(
        tmp_path,
        answer("a", "I look.", toolCalls=[shell("c", "executing")]),
        answer("a", "I look.", toolCalls=[shell("c", "success", "a.txt")], tokens={"input": 5, "output": 2}),
        answer("a", "I look.", toolCalls=[shell("c", "success", "a.txt")], tokens={"input": 5, "output": 2}),
    )
    items = read("gemini", path)
    assert [len(of(items, kind)) for kind in (AssistantText, Call, Result, Spent)] == [1, 1, 1, 1]


def test_a_message_that_was_taken_back_was_not_said_and_neither_was_what_followed(tmp_path: Path) -> None:
    records = [user("u1", "Keep."), user("u2", "Drop."), answer("a2", "Dropped.")]
    kept = read("gemini", chat(tmp_path, *records))
    assert typed(kept) == ["Keep.", "Drop."]
    items = read("gemini", chat(tmp_path, *records, {"$rewindTo": "u2"}, user("u3", "Instead.")))
    assert typed(items) == ["Keep.", "Instead."]
    assert not of(items, AssistantText)
    nothing = read("gemini", chat(tmp_path, *records, {"$rewindTo": "never seen"}, user("u4", "Anew.")))
    assert typed(nothing) == ["Anew."]


def test_what_comes_after_a_cursor_is_read_alone_and_a_rewind_of_what_was_read_begins_anew(tmp_path: Path) -> None:
    path = chat(tmp_path, user("u1", "One."), answer("a", "", toolCalls=[shell("c", "executing")]))
    first = open_reader(Found("gemini", str(path)))
    assert typed(first) == ["One."]
    with path.open("a") as file:
        file.write('{"id": "u2", "type": "user", "content": "Two."}\n')
        file.write('{"id": "a", "type": "gemini", "content": "", "toolCalls": [{"id": "c", "status": "success"}]}\n')
    second = open_reader(Found("gemini", str(path)), first.cursor)
    items = list(second)
    assert (typed(items), len(of(items, Call)), len(of(items, Result)), second.began_anew) == (["Two."], 0, 1, False)
    with path.open("a") as file:
        file.write('{"$rewindTo": "u1"}\n{"id": "u3", "type": "user", "content": "Three."}\n')
    third = open_reader(Found("gemini", str(path)), second.cursor)
    assert third.began_anew
    assert typed(third) == ["Three."]
    assert list(open_reader(Found("gemini", str(path)), third.cursor)) == []


def test_messages_that_a_set_brings_are_read_once(tmp_path: Path) -> None:
    path = chat(
        tmp_path, {"$set": {"messages": [user("u1", "Hello.")]}}, {"$set": {"messages": [user("u1", "Hello.")]}}
    )
    assert typed(read("gemini", path)) == ["Hello."]


def test_a_rewind_takes_back_what_a_set_brought_and_what_a_set_left_out_stays_said(tmp_path: Path) -> None:
    before = [user("u0", "Folded."), {"$set": {"messages": [user("u1", "Stays."), user("u2", "Goes.")]}}]
    assert typed(read("gemini", chat(tmp_path, *before))) == ["Folded.", "Stays.", "Goes."]
    assert typed(read("gemini", chat(tmp_path, *before, {"$rewindTo": "u2"}))) == ["Folded.", "Stays."]


def test_what_the_client_puts_in_a_persons_place_is_not_theirs(tmp_path: Path) -> None:
    path = chat(
        tmp_path,
        user("u0", "<session_context>\nThis is the Gemini CLI.\n</session_context>"),
        user("u1", "Look at @a.py\n--- Content from referenced files ---\nsecret = 1"),
        user("u2", "<state_snapshot>so far</state_snapshot>"),
        user("u3", "<system-reminder>x</system-reminder>"),
    )
    items = read("gemini", path)
    assert typed(items) == ["Look at @a.py"]
    assert [origin for _, origin in injected(items)] == ["environment", "ide", "reminder"]
    assert len(of(items, Compaction)) == 1


def test_the_prompt_of_a_sub_agent_is_its_parents_word(tmp_path: Path) -> None:
    path = lines(tmp_path / "chats" / "parent-id" / "child.jsonl", [HEAD, user("u", "Search."), answer("a", "Found.")])
    items = read("gemini", path)
    assert typed(items) == []
    assert injected(items) == [("Search.", "agent")]
    assert of(items, Facts)[0].parent == "parent-id"


@pytest.mark.parametrize(
    ("status", "output", "outcome", "code"),
    [
        ("success", "fine", "ok", None),
        ("success", "no\nExit Code: 2", "error", 2),
        ("success", "no\nExit Code: 0", "ok", 0),
        ("error", "no", "error", None),
        ("", "printed", "unknown", None),
    ],
)
def test_a_call_ends_as_its_status_and_its_exit_code_say(
    tmp_path: Path, status: str, output: str, outcome: str, code: int | None
) -> None:
    items = read("gemini", chat(tmp_path, answer("a", toolCalls=[shell("c", status, output)])))
    assert [(item.outcome, item.code) for item in of(items, Result)] == [(outcome, code)]


def test_a_call_that_a_person_cancelled_is_a_rejection_and_one_that_ran_is_none(tmp_path: Path) -> None:
    items = read("gemini", chat(tmp_path, answer("a", toolCalls=[shell("c", "cancelled", "x"), shell("d", "success")])))
    assert [item.call for item in of(items, Rejection)] == ["c"]


def test_edits_tell_what_stood_there_and_what_stands_there_now(tmp_path: Path) -> None:
    calls = [
        {"id": "r", "name": "replace", "args": {"file_path": "/a.py", "old_string": "x", "new_string": "y"}},
        {"id": "w", "name": "write_file", "args": {"file_path": "/b.py", "content": "all"}},
        {"id": "g", "name": "read_file", "args": {"absolute_path": "/c.py"}},
    ]
    items = read("gemini", chat(tmp_path, answer("a", toolCalls=calls)))
    assert [(item.path, item.old, item.new, item.whole) for item in of(items, Edit)] == [
        ("/a.py", "x", "y", False),
        ("/b.py", None, "all", True),
    ]
    assert [(item.does, item.paths) for item in of(items, Call)] == [
        ("edit", ("/a.py",)),
        ("edit", ("/b.py",)),
        ("read", ("/c.py",)),
    ]
    assert not of(items, Result)


def test_thoughts_stay_apart_a_stop_is_told_and_an_unknown_type_still_speaks(tmp_path: Path) -> None:
    path = chat(
        tmp_path,
        answer("a", "Aloud.", thoughts=[{"subject": "Plan", "description": "quietly"}]),
        {"id": "i", "type": "info", "content": "Request cancelled."},
        {"id": "n", "type": "novel", "content": "new words"},
    )
    items = read("gemini", path)
    assert [item.text for item in of(items, Thinking)] == ["Plan\nquietly"]
    assert [item.text for item in of(items, AssistantText)] == ["Aloud."]
    assert len(of(items, Interrupt)) == 1
    assert injected(items) == [("new words", "other")]
    assert [item.type for item in of(items, Unknown)] == ["novel"]


def test_files_are_listed_with_the_folder_that_the_client_wrote_down(tmp_path: Path) -> None:
    top = tmp_path / ".gemini" / "tmp"
    lines(top / "abc" / "chats" / "session-1.jsonl", [HEAD])
    whole(top / "abc" / "chats" / "session-1.json", HEAD)
    lines(top / "named" / "chats" / "session-2.jsonl", [HEAD])
    whole(top / "hash" / "chats" / "session-3.json", HEAD)
    (top / "abc" / ".project_root").write_text("/home/ada/app\n")
    whole(tmp_path / ".gemini" / "projects.json", {"projects": {"/home/ada/other": "named"}})
    found = list(gemini.files({}, str(tmp_path)))
    assert [(Path(each.path).name, each.folders) for each in found] == [
        ("session-1.jsonl", ("/home/ada/app",)),
        ("session-3.json", ()),
        ("session-2.jsonl", ("/home/ada/other",)),
    ]
    assert list(gemini.files({"GEMINI_CLI_HOME": str(tmp_path)}, "/nowhere")) == found
    assert list(gemini.files({}, str(tmp_path / "empty"))) == []
