"""Results as lines: aligned, exact where that is promised, and harmless whatever they hold."""

import csv as reader
import io
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.history import output
from backstory.history.query import Result
from backstory.history.schema import TABLES
from backstory.records.hostile import one_line

HOSTILE = "a\x1b[31mb\x07\u202ec\u200b\x9b2Jd\u2028e\r\nf\x00\tg|h<i>"


def result(columns: str, *rows: tuple[Any, ...], types: str = "", more: bool = False) -> Result:
    names = tuple(columns.split())
    return Result(names, tuple(types.split() or ["VARCHAR"] * len(names)), list(rows), more, 0.1)


def table(found: Result, width: int = 0) -> list[str]:
    return list(output.table(found, width))


def test_a_table_is_aligned_with_numbers_to_the_right() -> None:
    found = result("path n", ("src/a.py", 7), ("README", 1234), types="VARCHAR BIGINT")
    assert table(found) == [
        "path         n",
        "--------  ----",
        "src/a.py     7",
        "README    1234",
    ]


def test_wide_characters_take_two_cells_and_marks_none() -> None:
    found = result("t u", ("漢字", "x"), ("ｆｕ", "x"), ("e\u0301te\u0301", "x"), ("abcd", "x"))
    assert table(found) == ["t     u", "----  -", "漢字  x", "ｆｕ  x", "e\u0301te\u0301   x", "abcd  x"]


@pytest.mark.parametrize("width", [1, 2, 9, 20, 21, 33, 40, 60, 200])
def test_no_line_of_a_table_is_wider_than_asked(width: int) -> None:
    found = result("sha subject n", ("0" * 40, "漢字" * 30, 12), ("1", "short", 3), types="VARCHAR VARCHAR BIGINT")
    lines = table(found, width)
    assert len(lines) == 4 and max(map(output.display_width, lines)) <= width
    assert (lines[2] == f"{'0' * 40}  {'漢字' * 30}  12") == (width == 200)


def test_the_widest_columns_are_cut_first_and_the_room_is_used() -> None:
    found = result("a b c", ("x" * 10, "y" * 50, "z" * 90))
    line = table(found, 64)[2]
    assert line == f"{'x' * 10}  {'y' * 24}…  {'z' * 24}…" and len(line) == 64


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "NULL"),
        ("", ""),
        (True, "true"),
        (1.5, "1.5"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (2**127, str(2**127)),
        (["a", None, 2], "a, NULL, 2"),
        ([], ""),
        ([["a"], []], '[["a"], []]'),
        ({"k": [1, math.nan]}, '{"k": [1, null]}'),
        ("two\nlines\t here", "two lines here"),
    ],
)
def test_a_value_reads_well_in_a_table(value: Any, shown: str) -> None:
    assert table(result("some_name", (value,)))[2] == shown


def test_a_table_without_rows_says_so() -> None:
    assert table(result("a bb")) == ["a  bb", "-  --", "(no rows)"]
    assert list(output.as_json(result("a bb"))) == ["[]"]
    assert list(output.csv(result("a bb"))) == ["a,bb"]
    assert list(output.markdown(result("a bb"))) == ["| a | bb |", "| --- | --- |"]


def test_rows_left_out_are_announced_and_others_not() -> None:
    assert (
        output.left_out(result("a", ("x",), more=True)) == "Only the first 1 rows are shown: raise `--rows` for more."
    )
    assert output.left_out(result("a", ("x",))) == ""


def test_csv_is_what_readers_of_csv_read() -> None:
    values = ("plain", 'quo"te', "com,ma", "line\r\nfeed", " space ", "", "漢", "a\tb")
    found = result("a b c d e f g h", values)
    assert next(iter(reader.reader(io.StringIO("\r\n".join(output.csv(found)), newline="")))) == list("abcdefgh")
    assert list(reader.reader(io.StringIO("\r\n".join(output.csv(found)), newline="")))[1] == list(values)


def test_csv_keeps_null_apart_from_empty_text_and_a_line_of_nothing_apart_from_none() -> None:
    assert list(output.csv(result("a b", (None, ""), (["x", 1], {"k": True})))) == [
        "a,b",
        ',""',
        '"[""x"", 1]","{""k"": true}"',
    ]
    assert list(output.csv(result("a", (None,), ("x",)))) == ["a", '""', "x"]


def test_csv_lets_everything_through_as_it_is() -> None:
    assert list(output.csv(result("a", ("\x1b[31m",))))[1] == "\x1b[31m"


def test_json_is_a_list_of_objects_with_names_of_their_own() -> None:
    found = result(
        "n n n_2 N n", (1, 2, 3, 4, 5), (math.nan, [math.inf], {"k": -math.inf}, None, "2024-01-01T00:00:00Z")
    )
    assert json.loads("\n".join(output.as_json(found))) == [
        {"n": 1, "n_3": 2, "n_2": 3, "N": 4, "n_4": 5},
        {"n": None, "n_3": [None], "n_2": {"k": None}, "N": None, "n_4": "2024-01-01T00:00:00Z"},
    ]


def test_json_escapes_what_a_terminal_would_obey_and_loses_nothing() -> None:
    found = Result((HOSTILE,), ("VARCHAR",), [(HOSTILE + "漢é\U000e0041😀",)], False, 0.1)
    text = "\n".join(output.as_json(found))
    assert "漢é" in text and "😀" in text
    assert all(char.isprintable() or char == "\n" for char in text) and "\u200b" not in text
    assert json.loads(text) == [{HOSTILE: HOSTILE + "漢é\U000e0041😀"}]


def test_markdown_keeps_every_value_in_its_cell() -> None:
    lines = list(
        output.markdown(result("a n", ("x | y\\|z\nnext", 1), ("<b>[l](u)![i](u)", None), types="VARCHAR BIGINT"))
    )
    assert lines == [
        "| a | n |",
        "| --- | ---: |",
        "| x \\| y\\\\\\|z<br>next | 1 |",
        "| &lt;b>\\[l](u)!\\[i](u) | NULL |",
    ]


@given(st.lists(st.tuples(*[st.text(st.characters(exclude_categories=()), max_size=30)] * 2), max_size=4))
def test_whatever_values_hold_tables_and_markdown_are_one_harmless_line_a_row(rows: list[tuple[str, str]]) -> None:
    found = Result(("x\x1b[0m", HOSTILE), ("VARCHAR", "VARCHAR"), list(rows), False, 0.0)
    for width in (0, 15):
        lines = table(found, width)
        assert len(lines) == 2 + max(1, len(rows))
        assert all(one_line(line, len(line)).replace(" ", "") == line.replace(" ", "") for line in lines)
    marked = list(output.markdown(found))
    assert len(marked) == 2 + len(rows)
    for line in marked:
        assert line.isprintable() or one_line(line, len(line)) == " ".join(line.split())
        assert line.replace("\\\\", "").replace("\\|", "").count("|") == 3


@given(st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=6))
def test_every_name_in_json_is_there_once(names: list[str]) -> None:
    found = Result(tuple(names), ("BIGINT",) * len(names), [tuple(range(len(names)))], False, 0.0)
    assert list(json.loads("\n".join(output.as_json(found)))[0].values()) == list(range(len(names)))


def test_the_schema_reads_in_a_terminal_and_leaves_nothing_out() -> None:
    lines = list(output.schema_text())
    assert max(map(len, lines)) <= 100
    words = " ".join(" ".join(lines).split())
    for found in TABLES.values():
        assert f"{found.name}: {found.about}" in lines
        for column in found.columns:
            assert " ".join(f"{column.name} {column.type} {column.about}".split()) in words


def test_the_schema_as_data_is_the_schema() -> None:
    data = json.loads(json.dumps(output.schema_json()))
    assert [found["name"] for found in data] == list(TABLES)
    assert data[0]["columns"][0] == {
        "name": "stem",
        "type": "VARCHAR",
        "about": "its name: run records and other tickets refer to it",
    }
