"""Edits of JSON with comments: what is asked for happens, every other byte stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.errors import BackstoryError, Exit
from backstory.project.clients.contract import Hook
from backstory.project.clients.shapes import JsonHooks
from backstory.project.merging.file_text import FileText, packed, unpacked
from backstory.project.merging.json_edit import JsonText

from .conftest import commands

ENTRY = {"command": "backstory", "args": ["mcp"]}
LAYOUTS = [
    "{}",
    '{"a":1}',
    '{ "a" : 1 }\n',
    '{\n\t"a": 1, // note\n\t// "b": 2\n}\n',
    '{\r\n    "a": [\r\n        1,\r\n    ],\r\n}\r\n',
    '{\n  "servers": {\n    "x": {"command": "y"}\n  }\n}',
    "{\n // only a comment\n}",
    '{"servers": {"x": 1 /* c */}}',
    '{\n  "servers": {\n  },\n  "z": [{\n   "q": 1}]\n}',
    '{\n  "servers": { "x": 1, },\n}\n',
    '// before\n{ /* in */ "a": "}" }\n// behind\n',
    '{"a": "// no comment, \\" nor /* this */", "servers": {"x": {}}}',
    '{\n"a": 1\n}',
    '{"servers":{ // a comment, in a file of one line\n}}',
    '\n\n  {\n      "a": {},\n      "b": 2\n  }\n\n',
]


def edit(text: str) -> JsonText:
    return JsonText(unpacked(text.encode(), "settings.json"))


@pytest.mark.parametrize("text", LAYOUTS)
def test_an_entry_put_in_and_taken_out_leaves_the_bytes_as_they_were(text: str) -> None:
    json_text = edit(text)
    had = json_text.get("servers")
    json_text.put(("servers", "backstory"), ENTRY)
    assert json_text.get("servers", "backstory") == ENTRY and json_text.text != text
    json_text.remove(("servers", "backstory"))
    if had is None:
        json_text.remove(("servers",))
    # An object that held nothing but space is closed again without it.
    assert json_text.text == text.replace("{\n  }", "{}")


@pytest.mark.parametrize("text", LAYOUTS)
def test_no_line_of_others_is_lost_or_moved(text: str) -> None:
    json_text = edit(text)
    json_text.put(("servers", "backstory"), ENTRY)
    json_text.append(("hooks", "Stop"), {"command": "backstory-hook codex Stop"})
    place = 0
    # Every character but the commas and the space that we add stands in the same order.
    for letter in text:
        if not letter.isspace() and letter != ",":
            place = json_text.text.index(letter, place) + 1


def test_a_second_put_of_the_same_changes_nothing() -> None:
    json_text = edit('{"servers": {"backstory": {"args": ["mcp"], "command": "backstory"}}}')
    json_text.put(("servers", "backstory"), ENTRY)
    assert not json_text.changed
    json_text.put(("servers", "backstory"), {**ENTRY, "command": "other"})
    assert json_text.changed


def test_true_is_not_taken_for_1() -> None:
    json_text = edit('{"version": true}')
    json_text.put(("version",), 1)
    assert json_text.text == '{"version": 1}'


def test_only_the_value_that_differs_is_written_anew() -> None:
    text = '{\n  "servers": {\n    "backstory": {\n      "command": "old", // mine\n      "env": {}\n    }\n  }\n}\n'
    json_text = edit(text)
    json_text.put(("servers", "backstory", "command"), "new")
    assert json_text.text == text.replace('"old"', '"new"')


def test_of_a_key_given_twice_the_last_is_edited_since_it_counts() -> None:
    json_text = edit('{"servers": {"x": 1}, "servers": {"y": 2}}')
    json_text.put(("servers", "backstory"), 3)
    assert json_text.text == '{"servers": {"x": 1}, "servers": {"y": 2, "backstory": 3}}'


def test_items_are_taken_from_the_middle_and_comments_around_them_stay() -> None:
    text = '{"a": [\n  1, // one\n  2, // two\n  3 // three\n]}'
    json_text = edit(text)
    json_text.remove(("a", 1))
    assert json_text.data == {"a": [1, 3]}
    assert all(word in json_text.text for word in ("// one", "// two", "// three"))
    json_text.remove(("a", 1))
    json_text.remove(("a", 0))
    assert json_text.data == {"a": []} and "// one" in json_text.text


def test_a_removal_that_would_end_in_a_comment_keeps_its_line() -> None:
    json_text = edit('{"a": [ 1, // one\n 2, 3]}')
    json_text.remove(("a", 1))
    assert json_text.data == {"a": [1, 3]}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('{\n  "a": 1,,\n}', 2, "','"),
        ('{\n  "a": 1\n  "b": 2\n}', 3, "a comma"),
        ("{\n  'a': 1\n}", 2, "double quotes"),
        ('{\n  "a": yes\n}', 2, "a JSON value"),
        ('{"a": 1}\n\n{"b": 2}', 3, "goes on"),
        ('{"a": 01}', 1, "a JSON value"),
        ('{\n"a": [1, 2', 2, "ends where"),
        ("[1, 2]", 1, "no object"),
        ('{"a": NaN}', 1, "a JSON value"),
        ("{" + '"a": {' * 300 + "}" * 301, 1, "too deeply"),
        ('{"a": /* open', 1, "a JSON value"),
    ],
)
def test_what_is_no_json_is_refused_with_its_file_and_line(text: str, line: int, what: str) -> None:
    with pytest.raises(BackstoryError) as caught:
        edit(text)
    assert caught.value.message.startswith(f"settings.json: line {line} ") and what in caught.value.message
    assert caught.value.code == Exit.REFUSED


@pytest.mark.parametrize(("text", "path"), [('{"servers": []}', "servers"), ('{\n"servers": "x"}', "servers")])
def test_something_else_where_the_object_belongs_is_refused(text: str, path: str) -> None:
    with pytest.raises(BackstoryError, match=f"has {path} as something else than an object"):
        edit(text).put((path, "backstory"), ENTRY)


def test_bytes_that_are_no_utf8_are_refused_and_a_byte_order_mark_stays() -> None:
    with pytest.raises(BackstoryError, match="line 2 is no UTF-8"):
        unpacked(b'{\n"a": "\xff"}', "settings.json")
    with pytest.raises(BackstoryError):
        unpacked('{"a": 1}'.encode("utf-16"), "settings.json")
    data = b'\xef\xbb\xbf{"a": 1}\r\n'
    file = unpacked(data, "settings.json")
    assert file.bom and file.newline == "\r\n" and packed(file, file.text) == data


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab"\\/*,:{}[]\n\u00fc', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/*", max_size=3), inner, max_size=3),
    max_leaves=8,
)
SPACES = st.sampled_from(["", " ", "\n", "\n    ", "\t", "/* c, } */", " // d, ]\n", "\r\n  "])


@st.composite
def documents(draw: Any) -> tuple[str, dict[str, Any]]:
    """A JSON object as text, with space and comments of all kinds between its tokens."""
    data = draw(st.dictionaries(st.sampled_from(["a", "b", "servers", "hooks"]), VALUES, max_size=4))

    def write(value: Any) -> str:
        space = lambda: draw(SPACES)  # noqa: E731
        if isinstance(value, dict):
            inner = [f"{space()}{json.dumps(name)}{space()}:{write(item)}" for name, item in value.items()]
        elif isinstance(value, list):
            inner = [write(item) for item in value]
        else:
            return f"{space()}{json.dumps(value)}{space()}"
        comma = "," if inner and draw(st.booleans()) else ""
        opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
        return f"{space()}{opening}{','.join(inner)}{comma}{space()}{closing}{space()}"

    return write(data), data


@given(documents())
def test_any_document_takes_and_loses_an_entry_and_says_the_same_as_before(
    document: tuple[str, dict[str, Any]],
) -> None:
    text, data = document
    json_text = JsonText(FileText(text, "any.json"))
    assert json_text.data == data
    name = "servers" if isinstance(data.get("servers"), dict) else "new"
    json_text.put((name, "backstory"), ENTRY)
    assert json_text.data == {**data, name: {**data.get(name, {}), "backstory": ENTRY}}
    json_text.remove((name, "backstory"))
    if name == "new":
        json_text.remove((name,))
    assert json_text.data == data


@given(documents(), st.data())
def test_any_member_can_be_taken_out_of_any_document(document: tuple[str, dict[str, Any]], data: st.DataObject) -> None:
    text, said = document
    json_text = JsonText(FileText(text, "any.json"))
    while json_text.data:
        name = data.draw(st.sampled_from(sorted(json_text.data)))
        json_text.remove((name,))
        said.pop(name)
        assert json_text.data == said


@given(documents(), st.sampled_from([True, False]))
def test_hooks_go_into_any_document_that_can_take_them_and_come_out_whole(
    document: tuple[str, dict[str, Any]], grouped: bool
) -> None:
    text, said = document
    hooks = JsonHooks("codex", (Hook("Stop"), Hook("a", "Read|Edit")), grouped=grouped, beside=(("version", 1),))
    file = FileText(text, "any.json")
    try:
        made = hooks.put(file, commands(True))
    except BackstoryError as error:
        assert "as something else than" in error.message
        return
    after = JsonText(file._replace(text=made)).data
    assert len(after["hooks"]["Stop"]) == len(said.get("hooks", {}).get("Stop", [])) + 1
    assert hooks.put(file._replace(text=made), commands(True)) == made
    assert JsonText(file._replace(text=hooks.drop(file._replace(text=made), said))).data == said


def test_a_value_inside_an_item_of_a_list_is_replaced_in_place() -> None:
    text = '{"hooks": {"Start": [{"matcher": "a", "hooks": [\n  {"command": "old", "timeout": 9} // mine\n]}]}}\n'
    json_text = edit(text)
    json_text.put(("hooks", "Start", 0, "hooks", 0, "command"), "new")
    assert json_text.text == text.replace('"old"', '"new"')
    with pytest.raises(BackstoryError, match="something else than"):
        json_text.put(("hooks", "Start", "x", "y"), 1)
