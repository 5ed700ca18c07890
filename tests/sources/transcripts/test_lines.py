"""Files of lines, damaged in every way, and read in two goes: a bad record costs itself, nothing is told twice."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backstory.sources.transcripts import claude_code, codex, lines, printed
from backstory.sources.transcripts.contract import Cursor, Found, Reader
from backstory.sources.transcripts.stream import Item, Lost, Unknown
from tests.sources.transcripts import test_codex as of_codex
from tests.sources.transcripts.claude_records import assistant, of, read, record, result, tool, typed, user, written

USAGE = {"input_tokens": 1, "cache_read_input_tokens": 3, "output_tokens": 2}
CLAUDE = [
    user("u1", "Fix the test. <system-reminder>x</system-reminder> Please."),
    assistant("u2", {"type": "thinking", "thinking": "Hm."}, id="m1", model="opus", usage=USAGE),
    assistant("u3", tool("t1", "Edit", file_path="/a", old_string="x", new_string="ä"), id="m1", usage=USAGE),
    result("u4", "t1", "The user doesn't want to proceed with this tool use. the user said: no", is_error=True),
    user("u1", "Fix the test."),
    record("system", "u5", subtype="compact_boundary"),
    user("u6", "This session is being continued", isCompactSummary=True),
    record("attachment", "u7", attachment={"type": "hook_additional_context", "content": ["keep"]}),
    assistant("u8", tool("t2", "Bash", command="make")),
    result("u9", "t2", [{"type": "text", "text": "[Request interrupted by user for tool use]"}], is_error=True),
    user("u10", [{"type": "text", "text": "[Request interrupted by user for tool use]"}], cwd="/b"),
    {"type": "novel", "role": "user", "content": "Kept."},
]
CODEX = [
    of_codex.line("session_meta", **of_codex.META),
    of_codex.message("user", of_codex.ENVIRONMENT, "Fix it."),
    of_codex.event("user_message", message="Fix it."),
    of_codex.call("c1", "exec_command", cmd=f"apply_patch <<'EOF'\n{of_codex.PATCH}\nEOF"),
    of_codex.item("FileChange", id="c1", changes={"/a": {"type": "add", "content": "x"}}, status="completed"),
    of_codex.output("c1", "Exit code: 0\nOutput:\nok"),
    of_codex.event("exec_command_end", call_id="c2", exit_code=1, aggregated_output="no", command=["make"]),
    of_codex.event("token_count", info={"total_token_usage": {"input_tokens": 1, "output_tokens": 2}}),
    of_codex.line("compacted", message="So far"),
    of_codex.event("context_compacted"),
    of_codex.event("turn_aborted", reason="interrupted"),
    of_codex.message("assistant", "Dönne."),
    of_codex.item("AgentMessage", content=[{"type": "Text", "text": "Dönne."}]),
]
CLIENTS = pytest.mark.parametrize(("client", "records"), [("claude-code", CLAUDE), ("codex", CODEX)])
HOSTILE = (
    7,
    -1,
    1.5,
    True,
    None,
    "",
    "x",
    [],
    [7],
    [[None]],
    {},
    {"type": 7},
    [{"text": 7}],
    {"a": {"b": []}},
    1 << 70,
)


def opened(path: Path, client: str, cursor: Cursor | None = None) -> Reader:
    module = claude_code if client == "claude-code" else codex
    return module.open_reader(Found(client, str(path)), cursor or Cursor())


@CLIENTS
def test_a_file_cut_anywhere_gives_what_stood_before_the_cut(tmp_path: Path, client: str, records: list[Any]) -> None:
    path = written(tmp_path / "s.jsonl", records)
    data, whole = path.read_bytes(), read(path, client=client)
    assert len(whole) > len(records)
    for cut in range(0, len(data), 2):
        path.write_bytes(data[:cut])
        found = read(path, client=client)
        assert found == whole[: len(found)]
        assert len(found) >= sum(item.offset < data.rfind(b"\n", 0, cut) for item in whole)


@CLIENTS
def test_two_goes_at_a_line_end_and_inside_a_line_give_the_same_as_one(
    tmp_path: Path, client: str, records: list[Any]
) -> None:
    path = written(tmp_path / "s.jsonl", records)
    data, whole = path.read_bytes(), read(path, client=client)
    ends = [place for place, byte in enumerate(data) if byte == ord("\n")]
    for cut in sorted({*range(0, len(data), 7), *ends, *(end + 1 for end in ends), *(end - 1 for end in ends)}):
        path.write_bytes(data[:cut])
        first = opened(path, client)
        before = list(first)
        path.write_bytes(data)
        second = opened(path, client, first.cursor)
        assert not second.began_anew
        assert before + list(second) == whole
    assert list(opened(path, client, second.cursor)) == []


@CLIENTS
def test_a_flipped_byte_costs_no_more_than_its_record(tmp_path: Path, client: str, records: list[Any]) -> None:
    path = written(tmp_path / "s.jsonl", records)
    data = path.read_bytes()
    chance = random.Random(7)
    for place in range(0, len(data), 11):
        for other in (data[place] ^ (1 << chance.randrange(8)), 0xFF, 0x00, 0x0A):
            path.write_bytes(data[:place] + bytes((other,)) + data[place + 1 :])
            found = read(path, client=client)
            assert len(of(found, Lost)) <= 2
            assert len(found) > len(records) // 2


def variants(value: Any) -> Iterator[Any]:
    """The value with each of its parts, in turn, replaced by something of another type."""
    yield from HOSTILE
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(pairs):
        for other in variants(part):
            changed = value.copy()
            changed[key] = other
            yield changed


@CLIENTS
def test_a_field_of_any_type_anywhere_raises_nothing(tmp_path: Path, client: str, records: list[Any]) -> None:
    hostile = [other for each in records for other in variants(each)]
    assert len(hostile) > 1_000
    found = read(written(tmp_path / "s.jsonl", [*hostile, records[0]]), client=client)
    assert {type(item).__name__ for item in found} >= {"Lost", "Unknown", "Call", "Result"}
    for item in found:
        assert item == type(item)(*(getattr(item, name) for name in item.__struct_fields__))
        assert _is_typed(item)


def _is_typed(item: Item) -> bool:
    fields = {name: getattr(item, name) for name in item.__struct_fields__}
    kinds = {"offset": int, "at": int | None, "code": int | None, "old": str | None, "paths": tuple, "read": int,
             "written": int, "cached": int, "total": bool, "whole": bool, "gone": bool}  # fmt: skip
    return all(isinstance(value, kinds.get(name, str)) for name, value in fields.items())  # type: ignore[arg-type]


@CLIENTS
def test_a_file_that_is_no_transcript_gives_nothing_and_raises_nothing(
    tmp_path: Path, client: str, records: list[Any]
) -> None:
    path = tmp_path / "s.jsonl"
    for data in (b"", b"\n\n \n", b"\xef\xbb\xbf", bytes(range(256)) * 64, b"\x00" * 4_096, b"[" * 100_000 + b"\n"):
        path.write_bytes(data)
        assert {type(item) for item in read(path, client=client)} <= {Lost}
    path.unlink()
    with pytest.raises(OSError, match=r"s\.jsonl"):
        read(path, client=client)


def test_raw_controls_and_broken_utf_8_are_read_over(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"type":"user","message":{"role":"user","content":"a\x01b \xff\xfe c"}}\r\n')
    assert typed(read(path)) == ["a\x01b \ufffd\ufffd c"]


def test_a_byte_order_mark_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(user("u1", "a")).encode() + b"\n")
    assert typed(read(path)) == ["a"]


def test_a_line_that_is_too_long_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST", 3 << 20)
    long = user("u2", "x" * (20 << 20))
    path = written(tmp_path / "s.jsonl", [user("u1", "a"), long, user("u3", "b")])
    found = read(path)
    assert typed(found) == ["a", "b"]
    assert [(item.offset > 0, "too" in item.why or "more than" in item.why) for item in of(found, Lost)] == [
        (True, True)
    ]


def test_a_rewritten_file_begins_anew_and_one_that_grew_does_not(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", [user(f"u{number}", "a" * 200) for number in range(20)])
    first = opened(path, "claude-code")
    list(first)
    cursor = first.cursor
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(user("v1", "grown")) + "\n")
    grown = opened(path, "claude-code", cursor)
    assert (grown.began_anew, typed(grown)) == (False, ["grown"])
    for number in (0, 19):
        texts = ["a" * 200] * 20
        texts[number] = "b" * 200
        written(path, [user(f"u{each}", said) for each, said in enumerate(texts)])
        anew = opened(path, "claude-code", cursor)
        assert anew.began_anew
        assert len(typed(anew)) == 20
    written(path, [user("w1", "short")])
    shorter = opened(path, "claude-code", cursor)
    assert (shorter.began_anew, typed(shorter)) == (True, ["short"])


def test_a_cursor_of_another_version_starts_with_nothing_remembered(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", [user("u1", "a")])
    first = opened(path, "claude-code")
    list(first)
    cursor = first.cursor
    written(path, [user("u1", "a"), user("u1", "a"), user("u2", "b")])
    broken = Cursor(cursor.offset, b"\xc1 no state", cursor.stamp)
    assert typed(opened(path, "claude-code", broken)) == ["a", "b"]
    assert typed(opened(path, "claude-code", cursor)) == ["b"]


@pytest.mark.parametrize("shape", ["list", "object", "several", "one line"])
def test_records_that_were_printed_prettily_are_read_as_a_whole(tmp_path: Path, shape: str) -> None:
    records = [user("u1", "a"), user("u2", "b")]
    text = {
        "list": json.dumps(records, indent=2),
        "object": json.dumps({"messages": records}, indent=2),
        "several": "\n".join(json.dumps(each, indent=2) for each in records),
        "one line": json.dumps(records),
    }[shape]
    path = tmp_path / "s.jsonl"
    path.write_text(text, encoding="utf-8")
    first = opened(path, "claude-code")
    found = list(first)
    assert typed(found) == ["a", "b"]
    assert [item.offset for item in found][-1] == 1
    again = opened(path, "claude-code", first.cursor)
    assert (again.began_anew, list(again)) == (False, [])
    path.write_text(text.replace('"a"', '"c"'), encoding="utf-8")
    os.utime(path, ns=(1, 1))
    changed = opened(path, "claude-code", first.cursor)
    assert (changed.began_anew, typed(changed)) == (True, ["c", "b"])


def test_pretty_json_that_is_broken_or_too_large_is_lines_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps([user("u1", "a")], indent=2), encoding="utf-8")
    assert typed(read(path)) == ["a"]
    monkeypatch.setattr(printed, "LARGEST", 10)
    assert {type(item) for item in read(path)} <= {Lost, Unknown}
    monkeypatch.undo()
    path.write_text(json.dumps([user("u1", "a")], indent=2)[:-3], encoding="utf-8")
    assert typed(read(path)) == []
