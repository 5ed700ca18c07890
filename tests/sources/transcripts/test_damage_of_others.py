"""Damage: whatever is cut, flipped or of another type costs itself only, in each of these clients."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backstory.sources.transcripts import aider
from backstory.sources.transcripts.contract import Cursor, Found
from backstory.sources.transcripts.known import all_files, open_reader
from backstory.sources.transcripts.stream import Item, Lost
from backstory.sources.transcripts.whole import LARGEST
from tests.sources.transcripts.other_clients import (
    AT,
    MILLIS,
    cursor_database,
    folder_bytes,
    lines,
    opencode_database,
    typed,
    whole,
)

_TOOL = {"id": "c", "name": "replace", "args": {"file_path": "/a", "old_string": "x", "new_string": "y"}}
_GEMINI = [
    {"sessionId": "s", "projectHash": "h", "startTime": AT, "directories": ["/w"]},
    {"id": "u", "timestamp": AT, "type": "user", "content": [{"text": "Fix."}]},
    {
        "id": "a",
        "timestamp": AT,
        "type": "gemini",
        "content": "Done.",
        "thoughts": [{"subject": "s", "description": "d", "timestamp": AT}],
        "toolCalls": [{**_TOOL, "status": "success", "result": [{"functionResponse": {"response": {"output": "o"}}}]}],
        "tokens": {"input": 1, "output": 1, "cached": 1},
    },
    {"$set": {"messages": [{"id": "v", "type": "user", "content": "More."}]}},
    {"$rewindTo": "v"},
]
_COPILOT = [
    {"type": "session.start", "timestamp": AT, "data": {"sessionId": "s", "context": {"cwd": "/w"}}},
    {
        "type": "user.message",
        "timestamp": AT,
        "id": "e",
        "data": {"content": "Fix.", "transformedContent": "Fix. Now."},
    },
    {
        "type": "assistant.message",
        "data": {
            "content": "Done.",
            "toolRequests": [{"toolCallId": "c", "name": "edit", "arguments": '{"path": "/a", "old_str": "x"}'}],
        },
    },
    {"type": "tool.execution_complete", "data": {"toolCallId": "c", "success": True, "result": {"content": "x"}}},
    {"type": "permission.completed", "data": {"requestId": "r", "result": {"kind": "denied-interactively-by-user"}}},
]
_CURSOR = [
    {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>Fix.</user_query>"}]}},
    {
        "role": "assistant",
        "message": {"content": [{"type": "tool_use", "name": "Write", "input": {"path": "/a", "contents": "x"}}]},
    },
    {"role": "user", "message": {"content": [{"type": "tool_result", "content": [{"text": "x"}], "is_error": False}]}},
    {"type": "turn_ended", "status": "success"},
]
_OPENCODE = [
    ({"role": "user", "time": {"created": MILLIS}}, [{"type": "text", "text": "Fix."}]),
    (
        {"role": "assistant", "modelID": "m", "path": {"cwd": "/w"}, "tokens": {"input": 1, "cache": {"read": 1}}},
        [
            {"type": "tool", "tool": "bash", "callID": "c", "state": {"status": "completed", "input": {"command": "ls"},
             "output": "x", "metadata": {"exit": 1}, "time": {"start": MILLIS, "end": MILLIS}}},
        ],
    ),
]  # fmt: skip
_BUBBLES = {
    "b1": {"type": 1, "text": "Fix.", "bubbleId": "b1", "createdAt": AT, "workspaceUris": ["file:///w"]},
    "b2": {"type": 2, "text": "Done.", "thinking": {"text": "t"}, "tokenCount": {"inputTokens": 1},
           "toolFormerData": {"name": "edit_file", "rawArgs": '{"target_file": "a"}', "result": '{"exitCode": 1}'}},
}  # fmt: skip
_COMPOSER = {
    "composerId": "c1",
    "fullConversationHeadersOnly": [{"bubbleId": "b1"}, {"bubbleId": "b2"}],
    "createdAt": MILLIS,
}
_BLOCK = {"type": "tool_use", "id": "t", "name": "apply_diff", "input": {"path": "a", "diff": "x"}}
_RESULT = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}]}
_CLINE = [
    {"role": "user", "content": [{"type": "text", "text": "<task>Fix.</task>"}], "ts": MILLIS},
    {"role": "assistant", "content": [_BLOCK],
     "modelInfo": {"modelId": "m"}, "metrics": {"inputTokens": 1}},
    {"role": "user", "content": [_RESULT]},
]  # fmt: skip
_AIDER = (
    "# aider chat started at 2026-03-01 10:00:00\n> Aider v1\n#### Fix.\na.py\n```\n<<<<<<< SEARCH\nx\n=======\ny\n"
    ">>>>>>> REPLACE\n```\n> Applied edit to a.py\n> Commit abc1234 x\n"
)


def _aider(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_AIDER)
    return path


MAKERS: dict[str, tuple[str, str, Callable[[Path], Path]]] = {
    "gemini lines": ("gemini", "", lambda top: lines(top / "s.jsonl", _GEMINI)),
    "gemini whole": ("gemini", "", lambda top: whole(top / "s.json", {**_GEMINI[0], "messages": _GEMINI[1:3]})),
    "copilot": ("copilot", "", lambda top: lines(top / "s.jsonl", _COPILOT)),
    "cursor": ("cursor", "", lambda top: lines(top / "s.jsonl", _CURSOR)),
    "cursor ide": ("cursor", "c1", lambda top: cursor_database(top / "state.vscdb", _COMPOSER, _BUBBLES)),
    "opencode": ("opencode", "s1", lambda top: opencode_database(top / "o.db", _OPENCODE)),
    "cline": ("cline", "", lambda top: whole(top / "t" / "api_conversation_history.json", _CLINE)),
    "aider": ("aider", "", lambda top: _aider(top / aider.NAME)),
}
EACH = pytest.mark.parametrize("name", MAKERS)
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    "",
    "text",
    [],
    [None],
    [1],
    ["a"],
    {},
    {"text": 1},
    [[]],
    [{}],
)


def made(name: str, top: Path) -> Found:
    client, part, make = MAKERS[name]
    return Found(client, str(make(top)), part)


def read_all(found: Found) -> list[Item]:
    """Everything, over cursors too: nothing raises, and a cursor that was just given gives nothing new."""
    reader = open_reader(found)
    items = list(reader)
    again = open_reader(found, reader.cursor)
    assert [item for item in again if not isinstance(item, Lost)] == []
    return items


@EACH
def test_an_undamaged_transcript_speaks_and_is_not_lost(name: str, tmp_path: Path) -> None:
    items = read_all(made(name, tmp_path))
    assert typed(items) == ["Fix."]
    assert not [item for item in items if isinstance(item, Lost)]


@EACH
def test_a_transcript_that_is_cut_at_any_byte_raises_nothing(name: str, tmp_path: Path) -> None:
    found = made(name, tmp_path)
    data = Path(found.path).read_bytes()
    step = 1 if len(data) < 2_000 else len(data) // 300
    for end in range(0, len(data), step):
        Path(found.path).write_bytes(data[:end])
        read_all(found)


@EACH
def test_flipped_bytes_raise_nothing(name: str, tmp_path: Path) -> None:
    found = made(name, tmp_path)
    data = Path(found.path).read_bytes()
    chance = random.Random(name)
    for _ in range(150):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 20)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        Path(found.path).write_bytes(broken)
        read_all(found)


@EACH
@pytest.mark.parametrize(
    "data", [b"", b"\0" * 5_000, b"\xff\xfe\x00binary" * 99, b"[]", b"{}", b"null", b'[[[["x', b"[" * 99_999]
)
def test_what_is_no_transcript_is_nothing_or_lost(name: str, data: bytes, tmp_path: Path) -> None:
    found = made(name, tmp_path)
    Path(found.path).write_bytes(data)
    assert typed(read_all(found)) == []


@EACH
def test_a_transcript_that_is_gone_raises_an_os_error_when_it_is_read(name: str, tmp_path: Path) -> None:
    found = made(name, tmp_path)
    Path(found.path).unlink()
    reader = open_reader(found)
    with pytest.raises(OSError, match="No such file"):
        list(reader)


@EACH
def test_reading_leaves_the_folder_as_it_is(name: str, tmp_path: Path) -> None:
    found = made(name, tmp_path)
    before = folder_bytes(tmp_path)
    assert read_all(found)
    assert folder_bytes(tmp_path) == before


@EACH
def test_a_cursor_of_something_else_begins_anew(name: str, tmp_path: Path) -> None:
    found = made(name, tmp_path)
    reader = open_reader(found, Cursor(offset=3, state=b"\xffno state", stamp="other"))
    assert typed(reader) == ["Fix."]
    assert reader.began_anew


def mutations(value: Any) -> list[Any]:
    """The value with one of its places at a time set to something of another type."""
    found: list[Any] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += [{**value, key: other} for other in [*VALUES, *mutations(inner)]]
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += [[*value[:index], other, *value[index + 1 :]] for other in [*VALUES, *mutations(inner)]]
    return found


@pytest.mark.parametrize(
    ("client", "name", "records"),
    [("gemini", "s.jsonl", _GEMINI), ("copilot", "s.jsonl", _COPILOT), ("cursor", "s.jsonl", _CURSOR)],
)
def test_fields_of_lines_may_have_any_type(client: str, name: str, records: list[Any], tmp_path: Path) -> None:
    changed = [line for record in records for line in mutations(record)]
    assert len(changed) > 300
    list(open_reader(Found(client, str(lines(tmp_path / name, changed)))))
    for record in records:
        for index, line in enumerate(mutations(record)):
            if index % 7 == 0:
                list(open_reader(Found(client, str(lines(tmp_path / name, [*records[:2], line])))))


@pytest.mark.parametrize(
    ("client", "name", "value"),
    [
        ("gemini", "s.json", {**_GEMINI[0], "messages": _GEMINI[1:3]}),
        ("cline", "api_conversation_history.json", _CLINE),
        ("cline", "s.messages.json", {"messages": _CLINE}),
    ],
)
def test_fields_of_a_whole_file_may_have_any_type(client: str, name: str, value: Any, tmp_path: Path) -> None:
    for changed in mutations(value):
        list(open_reader(Found(client, str(whole(tmp_path / name, changed)))))


def test_fields_in_databases_may_have_any_type(tmp_path: Path) -> None:
    messages = [(message, [part]) for message, parts in _OPENCODE for part in [*mutations(parts[0]), *VALUES]]
    messages += [(message, []) for first, _ in _OPENCODE for message in [*mutations(first), *VALUES]]
    list(open_reader(Found("opencode", str(opencode_database(tmp_path / "o.db", messages)), "s1")))
    bubbles = {
        f"{index:05}": each
        for index, each in enumerate([*mutations(_BUBBLES["b1"]), *mutations(_BUBBLES["b2"]), *VALUES])
    }
    list(open_reader(Found("cursor", str(cursor_database(tmp_path / "c.vscdb", _COMPOSER, bubbles)), "c1")))
    for index, session in enumerate([*mutations(_COMPOSER), *VALUES]):
        path = cursor_database(tmp_path / f"{index}.vscdb", session, _BUBBLES)
        list(open_reader(Found("cursor", str(path), "c1")))


def test_listing_a_home_full_of_broken_files_raises_nothing(tmp_path: Path) -> None:
    places = (
        ".gemini/tmp/x/chats/session-1.jsonl", ".gemini/projects.json", ".local/share/opencode/opencode.db",
        ".local/share/opencode/storage/session/p/s.json", ".copilot/session-state/x/events.jsonl",
        ".cursor/projects/p/.workspace-trusted", ".cursor/projects/p/agent-transcripts/a.jsonl",
        ".config/Cursor/User/globalStorage/state.vscdb", ".config/Cursor/User/workspaceStorage/h/state.vscdb",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/state/taskHistory.json", ".aider.chat.history.md",
    )  # fmt: skip
    for data in (b"", b"\0\xff", b"[1]", json.dumps({"projects": [1], "workspacePath": 3}).encode()):
        for place in places:
            path = tmp_path / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        found = list(all_files({}, str(tmp_path)))
        assert {each.client for each in found} >= {"gemini", "copilot", "cursor", "cline", "aider"}
    shutil.rmtree(tmp_path / ".gemini")
    assert "gemini" not in {each.client for each in all_files({}, str(tmp_path))}


@pytest.mark.parametrize(("name", "size"), [("cline", LARGEST + 1), ("aider", LARGEST + 1), ("cline", 100)])
def test_a_file_that_is_too_large_is_lost_without_being_read(name: str, size: int, tmp_path: Path) -> None:
    found = made(name, tmp_path)
    with open(found.path, "r+b") as file:
        file.truncate(size)
    (lost,) = read_all(found)
    assert isinstance(lost, Lost)
    assert ("more than 256 MB" in lost.why) == (size > LARGEST)
