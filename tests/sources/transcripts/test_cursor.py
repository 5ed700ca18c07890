"""Cursor: transcripts of lines without ids and flags, and the editor's database."""

from pathlib import Path
from typing import Any

import pytest

from backstory.sources.transcripts import cursor
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
    Thinking,
    Unknown,
)
from tests.sources.transcripts.other_clients import (
    AT,
    MICROS,
    cursor_database,
    folder_bytes,
    injected,
    lines,
    of,
    read,
    typed,
    whole,
)


def line(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(parts)}, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


def session(tmp_path: Path, *records: Any) -> list[Any]:
    return read("cursor", lines(tmp_path / "s1.jsonl", records))


def test_a_person_is_who_speaks_in_the_query_and_nobody_else_in_that_line(tmp_path: Path) -> None:
    items = session(
        tmp_path,
        line(
            "user",
            text(
                "<open_and_recently_viewed_files>a.py</open_and_recently_viewed_files>\n<user_query>\nFix.\n</user_query>"
            ),
        ),
        line("user", text("<user_query>Again.</user_query> Follow the rules.")),
        line("user", text("Plain words.")),
        line("user", text("<system_reminder>r</system_reminder>")),
    )
    assert typed(items) == ["Fix.", "Again.", "Plain words."]
    assert injected(items) == [("a.py", "ide"), ("Follow the rules.", "other"), ("r", "reminder")]


def test_the_mark_of_left_out_thoughts_is_nobodys_word(tmp_path: Path) -> None:
    items = session(tmp_path, line("assistant", text("I look.\n\n[REDACTED]"), {"type": "thinking", "thinking": "hm"}))
    assert [item.text for item in of(items, AssistantText)] == ["I look."]
    assert [item.text for item in of(items, Thinking)] == ["hm"]
    assert not of(session(tmp_path, line("assistant", text("[REDACTED]"))), AssistantText)


def test_results_go_to_calls_without_ids_in_turn_also_over_a_cursor(tmp_path: Path) -> None:
    calls = line("assistant", use("Shell", command="ls"), use("Read", path="/a"))
    result = line("user", {"type": "tool_result", "tool_use_id": "t1", "content": [text("out")]})
    path = lines(tmp_path / "s.jsonl", [calls])
    first = open_reader(Found("cursor", str(path)))
    known = [item.call for item in of(list(first), Call)]
    assert len(set(known)) == 2
    lines(path, [calls, result])
    rest = list(open_reader(Found("cursor", str(path)), first.cursor))
    assert [(item.call, item.outcome, item.text) for item in of(rest, Result)] == [(known[0], "unknown", "out")]
    assert not of(rest, Facts)


@pytest.mark.parametrize(("flag", "outcome"), [(True, "error"), (False, "ok"), (None, "unknown"), ("yes", "unknown")])
def test_a_result_without_a_flag_is_no_success(tmp_path: Path, flag: object, outcome: str) -> None:
    items = session(tmp_path, line("user", {"type": "tool_result", "content": "x", "is_error": flag}))
    assert [item.outcome for item in of(items, Result)] == [outcome]


def test_edits_of_a_file_and_of_a_place_in_it_are_told(tmp_path: Path) -> None:
    items = session(
        tmp_path,
        line(
            "assistant",
            use("Write", path="/a", contents="all"),
            use("StrReplace", path="/b", old_string="x", new_string="y"),
            use("Delete", path="/c"),
            use("ApplyPatch", input="*** Begin Patch\n*** Add File: /d\n+new\n*** End Patch"),
        ),
    )
    assert [(item.path, item.old, item.new, item.whole, item.gone) for item in of(items, Edit)] == [
        ("/a", None, "all", True, False),
        ("/b", "x", "y", False, False),
        ("/c", None, "", False, True),
        ("/d", None, "new", True, False),
    ]


def test_a_sub_agents_prompt_is_its_parents_word(tmp_path: Path) -> None:
    path = lines(tmp_path / "p1" / "subagents" / "c.jsonl", [line("user", text("Search."))])
    items = read("cursor", path)
    assert (typed(items), injected(items)) == ([], [("Search.", "agent")])
    assert of(items, Facts)[0].parent == "p1"


def test_unknown_parts_and_lines_still_speak_and_a_turn_ends(tmp_path: Path) -> None:
    items = session(
        tmp_path,
        line("assistant", {"type": "novel", "text": "new"}),
        {"type": "strange", "content": "words"},
        {"type": "turn_ended", "status": "success"},
    )
    assert [item.text for item in of(items, AssistantText)] == ["new"]
    assert injected(items) == [("words", "other")]
    assert [item.type for item in of(items, Unknown)] == ["assistant/novel", "strange"]
    assert [item.outcome for item in of(items, Ended)] == ["done"]


BUBBLES = {
    "b2": {
        "type": 2,
        "text": "I run it.",
        "thinking": {"text": "hm"},
        "createdAt": AT,
        "toolFormerData": {
            "toolCallId": "t",
            "name": "run_terminal_cmd",
            "rawArgs": '{"command": "make"}',
            "status": "completed",
            "result": '{"output": "no", "exitCode": 2}',
        },
    },
    "b1": {
        "type": 1,
        "text": "Build it.",
        "bubbleId": "b1",
        "createdAt": AT,
        "workspaceUris": ["file:///home/ada/app"],
    },
}
SESSION = {"composerId": "c1", "name": "Title", "fullConversationHeadersOnly": [{"bubbleId": "b1"}, {"bubbleId": "b2"}]}


def tool_bubble(**tool: Any) -> dict[str, Any]:
    return {"b1": {"type": 2, "bubbleId": "b1", "toolFormerData": {"name": "edit_file", "toolCallId": "t", **tool}}}


def test_the_editors_session_is_told_in_the_order_of_its_list(tmp_path: Path) -> None:
    items = read("cursor", cursor_database(tmp_path / "state.vscdb", SESSION, BUBBLES), "c1")
    assert typed(items) == ["Build it."]
    assert [type(item).__name__ for item in items] == [
        "Facts", "Facts", "UserText", "Thinking", "AssistantText", "Call", "Result",
    ]  # fmt: skip
    assert (of(items, Facts)[0].title, of(items, Facts)[1].cwd) == ("Title", "/home/ada/app")
    assert of(items, Call)[0].command == "make"
    assert (of(items, Result)[0].outcome, of(items, Result)[0].code, of(items, Result)[0].at) == ("error", 2, MICROS)


def test_an_edit_that_a_person_rejected_is_told_as_such_and_an_accepted_one_is_not(tmp_path: Path) -> None:
    given = '{"target_file": "a.py", "old_string": "x", "new_string": "y"}'
    no = cursor_database(
        tmp_path / "no.vscdb", {}, tool_bubble(rawArgs=given, status="completed", userDecision="rejected")
    )
    items = read("cursor", no, "c1")
    assert [(item.path, item.old, item.new) for item in of(items, Edit)] == [("a.py", "x", "y")]
    assert [item.call for item in of(items, Rejection)] == ["t"]
    assert [item.outcome for item in of(items, Result)] == ["error"]
    yes = cursor_database(
        tmp_path / "yes.vscdb", {}, tool_bubble(rawArgs=given, status="completed", userDecision="accepted")
    )
    assert not of(read("cursor", yes, "c1"), Rejection)


def test_a_call_of_the_editor_without_a_status_is_no_success(tmp_path: Path) -> None:
    path = cursor_database(tmp_path / "s.vscdb", {"status": "aborted"}, tool_bubble(result='{"output": "x"}'))
    items = read("cursor", path, "c1")
    assert [item.outcome for item in of(items, Result)] == ["unknown"]
    assert len(of(items, Interrupt)) == 1


def test_the_editors_database_stays_as_it_is_and_a_foreign_one_is_lost(tmp_path: Path) -> None:
    path = cursor_database(tmp_path / "data" / "state.vscdb", SESSION, BUBBLES)
    before = folder_bytes(path.parent)
    assert typed(read("cursor", path, "c1")) == ["Build it."]
    assert folder_bytes(path.parent) == before
    (tmp_path / "x.vscdb").write_bytes(b"")
    assert [type(item) for item in read("cursor", tmp_path / "x.vscdb", "c1")] == [Lost]


def test_files_are_the_transcripts_and_the_editors_sessions_with_their_folders(tmp_path: Path) -> None:
    project = tmp_path / ".cursor" / "projects" / "work-app"
    whole(project / ".workspace-trusted", {"workspacePath": "/home/ada/app"})
    lines(project / "agent-transcripts" / "a" / "a.jsonl", [])
    lines(project / "agent-transcripts" / "a" / "subagents" / "b.jsonl", [])
    user = tmp_path / ".config" / "Cursor" / "User"
    cursor_database(user / "globalStorage" / "state.vscdb", SESSION, BUBBLES)
    window = user / "workspaceStorage" / "h"
    whole(window / "workspace.json", {"folder": "file:///home/ada/ide"})
    import json
    import sqlite3
    from contextlib import closing

    cursor_database(window / "state.vscdb", {}, {})
    with closing(sqlite3.connect(window / "state.vscdb")) as connection:
        known = json.dumps({"allComposers": [{"composerId": "c1"}]})
        connection.execute("INSERT INTO ItemTable VALUES ('composer.composerData', ?)", (known,))
        connection.commit()
    found = list(cursor.files({}, str(tmp_path)))
    assert [(Path(each.path).name, each.part, each.folders) for each in found] == [
        ("a.jsonl", "", ("/home/ada/app",)),
        ("b.jsonl", "", ("/home/ada/app",)),
        ("state.vscdb", "c1", ("/home/ada/ide",)),
    ]
    assert [Path(each.parent).name for each in found] == ["", "a.jsonl", ""]
