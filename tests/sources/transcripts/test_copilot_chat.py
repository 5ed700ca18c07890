"""The chats of Copilot that VS Code keeps: as one object and as changes, with and without the model's rounds."""

from pathlib import Path
from typing import Any

from backstory.sources.transcripts import copilot
from backstory.sources.transcripts.contract import Found
from backstory.sources.transcripts.known import open_reader
from backstory.sources.transcripts.stream import (
    AssistantText,
    Call,
    Edit,
    Facts,
    Interrupt,
    Item,
    Lost,
    Result,
    Thinking,
)
from tests.sources.transcripts.other_clients import MICROS, MILLIS, lines, of, read, typed, whole
from tests.sources.transcripts.test_damage_of_others import VALUES, mutations


def node(words: str) -> dict[str, Any]:
    return {"content": [{"value": {"node": {"children": [{"text": words, "children": []}]}}}]}


def call(key: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": key, "name": name, "arguments": arguments}


EDIT = call("e", "replace_string_in_file", '{"filePath": "/a", "oldString": "x", "newString": "y"}')
RUN = call("r", "run_in_terminal", '{"command": "make"}')
ROUNDS = {
    "toolCallRounds": [
        {"response": "I edit.", "thinking": {"text": "hm"}, "toolCalls": [EDIT, RUN]},
        {"response": "Done.", "toolCalls": [call("q", "grep_search", '{"query": "x"}')]},
    ],
    "toolCallResults": {
        "e": node("The following files were successfully edited:\n/a"),
        "r": node("no\nCommand exited with code 2"),
        "q": node("1 match"),
    },
}
REQUEST = {
    "requestId": "q1",
    "timestamp": MILLIS,
    "modelId": "copilot/gpt-5",
    "message": {"text": "Fix it."},
    "result": {"metadata": ROUNDS},
}
CHAT = {"sessionId": "s", "creationDate": MILLIS, "customTitle": "T", "requests": [REQUEST]}


def test_a_chat_tells_what_was_said_called_and_how_it_ended(tmp_path: Path) -> None:
    items = read("copilot", whole(tmp_path / "s.json", CHAT))
    about, model = of(items, Facts)
    assert (about.session, about.title, about.at) == ("s", "T", MICROS)
    assert (model.model, model.provider) == ("gpt-5", "copilot")
    assert typed(items) == ["Fix it."]
    assert [item.text for item in of(items, AssistantText)] == ["I edit.", "Done."]
    assert [item.text for item in of(items, Thinking)] == ["hm"]
    assert [(item.does, item.command) for item in of(items, Call)] == [("edit", ""), ("shell", "make"), ("search", "")]
    assert [(item.path, item.old, item.new) for item in of(items, Edit)] == [("/a", "x", "y")]
    assert [(item.call, item.outcome, item.code) for item in of(items, Result)] == [
        ("e", "ok", None),
        ("r", "error", 2),
        ("q", "unknown", None),
    ]


def test_changes_give_the_chat_that_they_lead_to(tmp_path: Path) -> None:
    changes = [
        {"kind": 0, "v": {**CHAT, "requests": []}},
        {"kind": 2, "k": ["requests"], "v": [{**REQUEST, "message": {"text": "Typo."}}]},
        {"kind": 1, "k": ["requests", 0, "message"], "v": {"text": "Fix it."}},
        {
            "kind": 2,
            "k": ["requests"],
            "v": [{"message": {"text": "More."}, "isCanceled": True}, {"message": {"text": "No."}}],
        },
        {"kind": 2, "k": ["requests"], "i": 2},
        {"kind": 3, "k": ["customTitle"]},
        {"kind": 1, "k": ["nowhere", 7, "x"], "v": 1},
    ]
    path = lines(tmp_path / "s.jsonl", changes)
    items = read("copilot", path)
    assert typed(items) == ["Fix it.", "More."]
    assert of(items, Facts)[0].title == ""
    assert len(of(items, Interrupt)) == 1
    path.write_text(path.read_text() + "{broken}\n")
    damaged = read("copilot", path)
    assert typed(damaged) == ["Fix it.", "More."]
    assert len(of(damaged, Lost)) == 1


def test_an_answer_without_rounds_is_told_as_it_was_shown(tmp_path: Path) -> None:
    terminal = {"commandLine": {"original": "make"}, "terminalCommandState": {"exitCode": 0}}
    shown = [
        {"value": "Look at "},
        {"kind": "inlineReference", "inlineReference": {"path": "/w/a.py"}},
        {"kind": "toolInvocationSerialized", "toolId": "run_in_terminal", "toolCallId": "c", "isComplete": True,
         "toolSpecificData": terminal},
        {"value": "\n```\nDone."},
    ]  # fmt: skip
    items: list[Item] = read("copilot", whole(tmp_path / "s.json", {"requests": [{"response": shown}]}))
    assert [item.text for item in of(items, AssistantText)] == ["Look at `a.py`", "Done."]
    assert [(item.command, item.does) for item in of(items, Call)] == [("make", "shell")]
    assert [(item.outcome, item.code) for item in of(items, Result)] == [("ok", 0)]


def test_fields_of_a_chat_and_of_its_changes_may_have_any_type(tmp_path: Path) -> None:
    for changed in [*mutations(CHAT), *VALUES]:
        list(open_reader(Found("copilot", str(whole(tmp_path / "s.json", changed)))))
    change = {"kind": 2, "k": ["requests", 0], "v": [1], "i": 1}
    changes = [{"kind": 0, "v": CHAT}, *mutations(change), *mutations({**change, "kind": 1}), {"kind": 0, "v": CHAT}]
    assert typed(open_reader(Found("copilot", str(lines(tmp_path / "s.jsonl", changes))))) == ["Fix it."]


def test_a_chat_that_is_there_as_events_is_listed_once(tmp_path: Path) -> None:
    window = tmp_path / ".config" / "Code" / "User" / "workspaceStorage" / "h"
    whole(window / "workspace.json", {"folder": "file:///home/ada/app"})
    whole(window / "chatSessions" / "one.json", CHAT)
    whole(window / "chatSessions" / "two.json", CHAT)
    lines(window / "GitHub.copilot-chat" / "transcripts" / "two.jsonl", [])
    found = {Path(each.path).name: each.folders for each in copilot.files({}, str(tmp_path))}
    assert found == {"one.json": ("/home/ada/app",), "two.jsonl": ("/home/ada/app",)}
