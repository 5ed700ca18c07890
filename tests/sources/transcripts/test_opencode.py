"""OpenCode: the database and the older folders, whose words they are, how calls end, and that nothing is touched."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from backstory.sources.transcripts import opencode
from backstory.sources.transcripts.contract import Cursor, Found
from backstory.sources.transcripts.known import open_reader
from backstory.sources.transcripts.stream import (
    AssistantText,
    Call,
    Compaction,
    Edit,
    Facts,
    Interrupt,
    Lost,
    Rejection,
    Result,
    Spent,
    Thinking,
    Unknown,
)
from tests.sources.transcripts.other_clients import (
    MICROS,
    MILLIS,
    OPENCODE_SCHEMA,
    add_opencode,
    folder_bytes,
    injected,
    of,
    opencode_database,
    read,
    typed,
    whole,
)

USER = {"role": "user", "time": {"created": MILLIS}}
AGENT = {"role": "assistant", "modelID": "m-1", "providerID": "p-1", "path": {"cwd": "/home/ada/app/sub"}}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def tool(name: str, given: dict[str, Any], **state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": name, "callID": f"c-{name}", "state": {"input": given, **state}}


def session(tmp_path: Path, *parts: dict[str, Any], **message: Any) -> list[Any]:
    path = opencode_database(tmp_path / "opencode.db", [(USER, [text("Do it.")]), ({**AGENT, **message}, list(parts))])
    return read("opencode", path, "s1")


def stored(top: Path) -> Path:
    storage = top / "opencode" / "storage"
    whole(storage / "message" / "s2" / "m1.json", {"id": "m1", **USER})
    whole(storage / "message" / "s2" / "m2.json", {"id": "m2", "time": {"created": MILLIS + 1}, **AGENT})
    whole(storage / "part" / "m1" / "p1.json", text("Old words."))
    whole(storage / "part" / "m2" / "p2.json", text("Old answer."))
    about = {"id": "s2", "directory": "/home/ada/old", "version": "0.9", "parentID": None, "title": "T"}
    return whole(storage / "session" / "p" / "ses_2.json", about)


def test_a_session_tells_its_facts_its_words_and_its_tokens(tmp_path: Path) -> None:
    items = session(tmp_path, text("I do."), tokens={"input": 7, "output": 2, "reasoning": 1, "cache": {"read": 3}})
    first, _, second = of(items, Facts)[:3] if len(of(items, Facts)) > 2 else (*of(items, Facts), of(items, Facts)[-1])
    assert (first.session, first.cwd, first.version, first.title, first.at) == (
        "s1",
        "/home/ada/app",
        "1.2.0",
        "A title",
        MICROS,
    )
    assert (second.model, second.provider, second.cwd) == ("m-1", "p-1", "/home/ada/app/sub")
    assert typed(items) == ["Do it."]
    assert [item.text for item in of(items, AssistantText)] == ["I do."]
    assert [(item.read, item.written, item.cached) for item in of(items, Spent)] == [(10, 3, 3)]


def test_the_older_folders_give_the_same_with_or_without_the_file_of_the_session(tmp_path: Path) -> None:
    path = stored(tmp_path)
    items = read("opencode", path)
    assert of(items, Facts)[0].cwd == "/home/ada/old"
    assert typed(items) == ["Old words."]
    assert [item.text for item in of(items, AssistantText)] == ["Old answer."]
    messages = read("opencode", tmp_path / "opencode" / "storage" / "message" / "s2")
    assert typed(messages) == ["Old words."]
    assert of(messages, Facts)[0].session == "s2"


def test_parts_in_one_folder_for_all_messages_are_found_by_their_message(tmp_path: Path) -> None:
    path = stored(tmp_path)
    storage = tmp_path / "opencode" / "storage"
    (storage / "part" / "m1" / "p1.json").unlink()
    whole(storage / "part" / "p9.json", text("Flat words.", messageID="m1"))
    assert typed(read("opencode", path)) == ["Flat words."]


@pytest.mark.parametrize(
    ("state", "outcome", "code"),
    [
        ({"status": "completed", "output": "x", "metadata": {"exit": 0}}, "ok", 0),
        ({"status": "completed", "output": "x", "metadata": {"exit": 1}}, "error", 1),
        ({"status": "completed", "output": "x"}, "ok", None),
        ({"status": "error", "error": "boom"}, "error", None),
        ({"status": "novel", "output": "x"}, "unknown", None),
    ],
)
def test_a_call_ends_as_its_state_and_its_exit_code_say(
    tmp_path: Path, state: dict[str, Any], outcome: str, code: int | None
) -> None:
    items = session(tmp_path, tool("bash", {"command": "make", "workdir": "/w"}, **state))
    assert [(item.does, item.command, item.cwd) for item in of(items, Call)] == [("shell", "make", "/w")]
    assert [(item.outcome, item.code) for item in of(items, Result)] == [(outcome, code)]


def test_a_call_that_still_runs_has_no_result(tmp_path: Path) -> None:
    items = session(tmp_path, tool("bash", {"command": "make"}, status="running"), tool("read", {}, status="completed"))
    assert [item.call for item in of(items, Call)] == ["c-bash", "c-read"]
    assert [item.call for item in of(items, Result)] == ["c-read"]


def test_a_refusal_is_told_with_its_reason_and_a_failure_is_no_refusal(tmp_path: Path) -> None:
    refused = "The user rejected permission to use this specific tool call with the following feedback: use uv"
    items = session(
        tmp_path,
        tool("bash", {"command": "pip"}, status="error", error=refused),
        tool("edit", {"filePath": "/a"}, status="error", error="oldString not found"),
    )
    assert [(item.call, item.reason) for item in of(items, Rejection)] == [("c-bash", "use uv")]
    assert [item.outcome for item in of(items, Result)] == ["error", "error"]


def test_edits_are_told_with_what_was_there(tmp_path: Path) -> None:
    items = session(
        tmp_path,
        tool("edit", {"filePath": "/a", "oldString": "x", "newString": "y"}, status="completed"),
        tool("write", {"filePath": "/b", "content": "all"}, status="completed"),
    )
    assert [(item.path, item.old, item.new, item.whole) for item in of(items, Edit)] == [
        ("/a", "x", "y", False),
        ("/b", None, "all", True),
    ]


def test_what_no_person_typed_is_not_theirs(tmp_path: Path) -> None:
    path = opencode_database(
        tmp_path / "o.db",
        [(USER, [text("Mine."), text("a file's text", synthetic=True), text("<system-reminder>r</system-reminder>")])],
    )
    items = read("opencode", path, "s1")
    assert typed(items) == ["Mine."]
    assert [origin for _, origin in injected(items)] == ["other", "reminder"]


def test_the_prompt_of_a_sub_agent_is_its_parents_word(tmp_path: Path) -> None:
    items = read("opencode", opencode_database(tmp_path / "o.db", [(USER, [text("Search.")])], parent="s0"), "s1")
    assert typed(items) == []
    assert injected(items) == [("Search.", "agent")]
    assert of(items, Facts)[0].parent == "s0"


def test_summaries_thoughts_stops_and_unknown_parts_are_told_as_such(tmp_path: Path) -> None:
    aborted = {"error": {"name": "MessageAbortedError"}}
    items = session(tmp_path, {"type": "reasoning", "text": "hm"}, {"type": "novel", "text": "new"}, **aborted)
    assert [item.text for item in of(items, Thinking)] == ["hm"]
    assert [item.type for item in of(items, Unknown)] == ["novel"]
    assert [item.text for item in of(items, AssistantText)] == ["new"]
    assert len(of(items, Interrupt)) == 1
    (tmp_path / "opencode.db").unlink()
    summary = session(tmp_path, text("All so far."), summary=True)
    assert [item.text for item in of(summary, Compaction)] == ["All so far."]
    assert not of(summary, AssistantText) and not of(summary, Interrupt)


def test_a_session_that_did_not_change_gives_nothing_and_one_that_did_begins_anew(tmp_path: Path) -> None:
    path = opencode_database(tmp_path / "o.db", [(USER, [text("One.")])])
    first = open_reader(Found("opencode", str(path), "s1"))
    assert typed(first) == ["One."]
    again = open_reader(Found("opencode", str(path), "s1"), first.cursor)
    assert (list(again), again.began_anew, again.cursor) == ([], False, first.cursor)
    with closing(sqlite3.connect(path)) as connection:
        add_opencode(connection, 1, USER, [text("Two.")])
        connection.commit()
    third = open_reader(Found("opencode", str(path), "s1"), first.cursor)
    assert third.began_anew
    assert typed(third) == ["One.", "Two."]


@pytest.mark.parametrize("mode", ["delete", "wal"])
@pytest.mark.parametrize("live", [False, True])
def test_the_database_and_its_folder_stay_as_they_are_byte_for_byte(tmp_path: Path, mode: str, live: bool) -> None:
    path = opencode_database(tmp_path / "data" / "o.db", [(USER, [text("One.")])])
    writer = sqlite3.connect(path)
    writer.execute(f"PRAGMA journal_mode={mode}")
    add_opencode(writer, 1, USER, [text("Two.")])
    writer.commit()
    if not live:
        writer.close()
    before = folder_bytes(path.parent)
    assert typed(read("opencode", path, "s1")) == ["One.", "Two."]
    # The shared memory of a living writer holds the marks of its readers.
    assert {name: kept for name, kept in folder_bytes(path.parent).items() if not name.endswith("-shm")} == {
        name: kept for name, kept in before.items() if not name.endswith("-shm")
    }
    assert folder_bytes(path.parent).keys() == before.keys()
    writer.close()


def test_a_log_without_its_shared_memory_is_read_and_nothing_is_made_beside_it(tmp_path: Path) -> None:
    path = opencode_database(tmp_path / "live" / "o.db", [(USER, [text("One.")])])
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=wal")
    add_opencode(writer, 1, USER, [text("In the log.")])
    writer.commit()
    copied = tmp_path / "copied"
    copied.mkdir()
    for name in ("o.db", "o.db-wal"):
        (copied / name).write_bytes((path.parent / name).read_bytes())
    writer.close()
    before = folder_bytes(copied)
    assert typed(read("opencode", copied / "o.db", "s1")) == ["One.", "In the log."]
    assert folder_bytes(copied) == before


def test_a_locked_database_is_lost_for_now_and_read_when_it_is_free(tmp_path: Path) -> None:
    path = opencode_database(tmp_path / "o.db", [(USER, [text("One.")])])
    known = Cursor(stamp="before")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        reader = open_reader(Found("opencode", str(path), "s1"), known)
        items = list(reader)
        assert [type(item) for item in items] == [Lost]
        assert (reader.began_anew, reader.cursor) == (False, known)
        writer.execute("COMMIT")
    assert typed(read("opencode", path, "s1")) == ["One."]


def test_a_newer_schema_and_a_broken_row_cost_themselves_only(tmp_path: Path) -> None:
    path = opencode_database(tmp_path / "o.db", [(USER, [text("One."), text("Two.")])])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE part SET data = '{cut' WHERE id = 'p0.0'")
        connection.execute("ALTER TABLE session ADD COLUMN novel TEXT")
        connection.commit()
    items = read("opencode", path, "s1")
    assert typed(items) == ["Two."]
    assert len(of(items, Lost)) == 1
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE part RENAME TO part_v2")
        connection.commit()
    assert [type(item) for item in read("opencode", path, "s1")] == [Lost]


def test_sessions_are_listed_of_every_database_and_of_folders_that_no_database_has(tmp_path: Path) -> None:
    data = tmp_path / ".local" / "share"
    stored(data)
    opencode_database(data / "opencode" / "opencode.db", [(USER, [text("One.")])])
    (data / "opencode" / "opencode-bad.db").write_bytes(b"no database")
    found = list(opencode.files({}, str(tmp_path)))
    assert [(Path(each.path).name, each.part, each.folders) for each in found] == [
        ("opencode.db", "s1", ("/home/ada/app",)),
        ("ses_2.json", "s2", ()),
    ]
    assert list(opencode.files({"XDG_DATA_HOME": str(data)}, "/nowhere")) == found
    with closing(sqlite3.connect(tmp_path / "empty.db")) as connection:
        connection.executescript(OPENCODE_SCHEMA)
    assert list(opencode.files({"OPENCODE_DB": str(tmp_path / "empty.db")}, "/nowhere")) == []


@pytest.mark.parametrize(
    ("name", "given", "does"),
    [
        ("backstory_record_project_memory", {"kind": "note"}, "memory"),
        ("mcp_backstory_brief", {}, "memory"),
        ("mcp--backstory--brief", {}, "memory"),
        ("backstory-search_project_memory", {}, "memory"),
        ("use_mcp_tool", {"server_name": "backstory", "tool_name": "brief"}, "memory"),
        ("bash", {"command": "backstory note 'always use wool'"}, "memory"),
        ("mcp_pangolin_brief", {}, "other"),
        ("mcp_my_backstory_clone", {}, "other"),
        ("use_mcp_tool", {"server_name": "pangolin", "tool_name": "brief"}, "other"),
        ("bash", {"command": "backstory note x && pytest -q"}, "shell"),
    ],
)
def test_calls_of_backstory_itself_are_told_apart(tmp_path: Path, name: str, given: dict[str, Any], does: str) -> None:
    (call,) = of(session(tmp_path, tool(name, given, status="completed", output="done")), Call)
    assert call.does == does
