"""Markdown and frontmatter as people write them are read without fail, and filled in without touching the prose."""

from collections.abc import Iterator

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from backstory.errors import BackstoryError
from backstory.sources import frontmatter
from backstory.sources.frontmatter import block, fill, read_page
from backstory.sources.markdown import name_of, read_body, split_lines

PIECES = ["---", "a: 1", "a: @x", "# T", "## Goal", "text", "", "```", "~~~", "<!--", "-->", "===", "- item", "\tx"]
PIECES += [
    "b:",
    "<<<<<<< HEAD",
    "=======",
    ">>>>>>> other",
    "| a | b |",
    "**Status:** Done",
    "a: [",
    "  - x",
    "# c",
    "...",
]
markdown_like = st.builds(
    lambda lines, end: end.join(lines),
    st.lists(st.sampled_from(PIECES), max_size=20),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
texts = st.text() | markdown_like


def sections(text: str) -> list[tuple[int, str]]:
    return [(section.level, section.title) for section in read_body(split_lines(text)).sections]


def fields(text: str) -> dict[str, object]:
    return {name: field.value for name, field in read_page(text).fields.items()}


def problems(text: str) -> list[tuple[int, str]]:
    return [(line, why.split(" (")[0]) for line, why in read_page(text).problems]


@given(texts)
def test_lines_joined_are_the_text(text: str) -> None:
    assert "".join(split_lines(text)) == text


@given(texts)
def test_nothing_that_is_written_makes_reading_fail(text: str) -> None:
    for variant in (text, "---\n" + text, f"---\n{text}\n---\n{text}"):
        page = read_page(variant)
        for section in page.body.sections:
            page.body.find((section.name,))
            assert section.head < section.start <= max(section.start, section.end) <= len(page.body.lines)


# --- headings --------------------------------------------------------------------------------------------------


def test_headings_may_be_underlined_or_closed_with_hashes() -> None:
    text = "Title\n=====\n\nGoal\n----\ntext\n\n## Why ##\n#hash\n####### seven\n    # code\n"
    assert sections(text) == [(1, "Title"), (2, "Goal"), (2, "Why")]


def test_a_rule_below_prose_a_list_or_a_table_is_no_heading() -> None:
    assert sections("one\ntwo\n---\n\n- item\n---\n\n| a |\n---\n\n---\n---\n===\n---\n") == []
    assert sections("one\n---\n") == [(2, "one")]


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "- ```", "1. ~~~~"])
def test_a_heading_inside_a_fence_is_none(fence: str) -> None:
    mark = fence.lstrip("-1. ")
    inner = "```" if mark != "```" else "~~~"
    text = f"## a\n{fence}sh\n## b\n{inner}\n## c\n{mark}\n## d\n"
    assert sections(text) == [(2, "a"), (2, "d")]


def test_a_fence_that_is_never_closed_hides_the_rest_and_one_in_a_word_nothing() -> None:
    assert sections("## a\n```\n## b\n") == [(2, "a")]
    assert sections("## a\n``` x ``` y\n## b\n") == [(2, "a"), (2, "b")]


def test_comments_hide_what_is_in_them_unless_they_never_end() -> None:
    assert sections("<!--\n## a\n-->\n## b <!-- optional -->\n") == [(2, "b")]
    assert sections("<!-- one\n## a\n") == [(2, "a")]
    body = read_body(split_lines("## Acceptance criteria\n<!-- AC:BEGIN -->\n- [ ] one\n<!-- AC:END -->\n"))
    assert body.prose(("acceptance criteria",)) == "- [ ] one"


def test_a_section_between_markers_may_hold_headings_of_its_level() -> None:
    marked = "## Description\n\n<!-- SECTION:D:BEGIN -->\nx\n## Findings\ny\n<!-- SECTION:D:END -->\n## Next\nz\n"
    assert read_body(split_lines(marked)).prose(("description",)) == "x\n## Findings\ny"
    assert read_body(split_lines(marked.replace("SECTION:D", "D:"))).prose(("next",)) == "z"


def test_a_section_reaches_to_the_next_heading_of_its_level() -> None:
    body = read_body(split_lines("# T\r\n## Goal\r\na\r\n### Sub\r\nb\r\n## Why\r\nc\r\n"))
    assert body.prose(("goal",)) == "a\n### Sub\nb"
    assert body.prose(("why",)) == "c"
    assert body.prose(("scope",)) is None


@pytest.mark.parametrize(
    "title", ["Goal", "GOAL", "**Goal**", "1. Goal", "0.1 Goal", "Goal:", "`Goal`", "[Goal](#x)", "Goal <!-- x -->"]
)
def test_a_heading_is_found_however_it_is_decorated(title: str) -> None:
    assert read_body(split_lines(f"## {title}\ntext\n")).prose(("goal",)) == "text"


def test_the_contract_s_own_heading_wins_then_the_first_with_text() -> None:
    body = read_body(split_lines("## Summary\ns\n## Context\n\n## Goal\ng\n"))
    assert body.prose(("goal", "context", "summary")) == "g"
    assert body.prose(("missing", "context", "summary")) == "s"
    assert body.prose(("context",)) is None


# --- frontmatter -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_bom_and_line_ends_make_no_difference(end: str, bom: str) -> None:
    text = bom + end.join(["--- ", "a: x", "b: [1, no]", "---\t", "# T", "## Goal", "g", ""])
    page = read_page(text)
    assert {name: field.value for name, field in page.fields.items()} == {"a": "x", "b": ["1", "no"]}
    assert (page.body.title, page.body.prose(("goal",)), page.problems) == ("T", "g", ())


def test_values_stay_the_text_that_was_written() -> None:
    text = "---\na: no\nb: 012\nc: 12:30:00\nd: 2026-01-01\ne:\nf: ~\ng: |\n  one\n  two\n---\n"
    want = {"a": "no", "b": "012", "c": "12:30:00", "d": "2026-01-01", "e": "", "f": "~", "g": "one\ntwo\n"}
    assert fields(text) == want
    assert problems(text) == []


def test_a_file_without_frontmatter_is_all_body() -> None:
    for text in (
        "# T\n",
        "text\n---\na: b\n---\n",
        " ---\na: b\n---\n",
        "\n---\na: b\n---\n",
        "",
        "---",
        "---\n- x\n---\n",
    ):
        page = read_page(text)
        assert (page.fields, page.problems, "".join(page.body.lines)) == ({}, (), text)
    assert read_page("---\n---\nx\n").body.lines == ["x\n"]


def test_an_unquoted_at_sign_costs_only_the_guess_of_that_line() -> None:
    text = "---\ntitle: 'a: b'\nassignee: @me # c\nlabels: [a, @b]\nlist:\n- @x\n- 'y'\nno: yes\n---\n# T\n"
    assert fields(text) == {
        "title": "a: b",
        "assignee": "@me",
        "labels": ["a", "@b"],
        "list": ["@x", "y"],
        "no": "yes",
    }
    assert problems(text) == [(3, "this is not valid YAML")]


@pytest.mark.parametrize(
    ("lines", "want"),
    [
        ("a: x\n\tb: y\n", {"a": "x\nb: y"}),
        ("a:\n\t- x\n\t- y\nb: z\n", {"a": ["x", "y"], "b": "z"}),
        ("a: b: c\nd: e\n", {"a": "b: c", "d": "e"}),
        ('a: "unclosed\nb: y\n', {"a": '"unclosed', "b": "y"}),
        ("a: x\njunk\nb: y\n", {"a": "x\njunk", "b": "y"}),
        ("a: \x07x\nb: y\n", {"a": "\x07x", "b": "y"}),
    ],
)
def test_invalid_yaml_is_read_line_by_line_and_reported(lines: str, want: dict[str, object]) -> None:
    text = f"---\n{lines}---\n# T\n"
    assert fields(text) == want
    assert [why for _, why in problems(text)] and read_page(text).body.title == "T"


def test_of_a_key_that_stands_twice_the_last_counts() -> None:
    text = "---\na: 1\nb: 2\nA: 3\n---\n"
    assert fields(text) == {"a": "3", "b": "2"}
    assert problems(text) == [(4, "the key `A` stands here again")]


def test_of_a_merge_conflict_the_first_side_is_read() -> None:
    text = "---\n<<<<<<< HEAD\na: 1\n||||||| base\na: 0\n=======\na: 2\n>>>>>>> other\nb: 3\n---\n## G\n"
    assert fields(text) == {"a": "1", "b": "3"}
    assert problems(text) == [(2, "a merge conflict is not resolved")]
    below = "# T\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n```\n<<<<<<< HEAD\n```\n"
    assert problems(below) == [(2, "a merge conflict is not resolved")]
    assert sections(below) == [(1, "T")]


def test_frontmatter_that_is_never_closed_ends_where_prose_begins() -> None:
    text = "---\na: 1\nb: 2\n\nProse begins here.\n\n---\nc: 3\n"
    assert fields(text) == {"a": "1", "b": "2"}
    assert problems(text) == [(1, "the frontmatter is never closed")]
    assert "".join(read_page(text).body.lines).startswith("\nProse")
    assert read_page("---\nA rule, then prose.\n").fields == {}


HOSTILE = [
    "a: " + "[" * 5000,
    "a: " + "{a: " * 5000,
    "a: &x [" + "1, " * 50 + "]\n" + "\n".join(f"b{n}: &y{n} [" + "*x, " * 50 + "]" for n in range(50)),
    "a: &a [*a]",
    "? [x]\n: y\na: 1",
    "a: {{date}}",
    'a: "\\0\\ud800"',
    "a: !!python/object/apply:os.system [echo]",
]


@pytest.fixture(params=["parser in C", "parser in Python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """PyYAML as it is, and as it is built without libyaml."""
    if request.param == "parser in Python":
        monkeypatch.delattr(yaml, "CBaseLoader", raising=False)
    frontmatter._compose.cache_clear()
    yield
    frontmatter._compose.cache_clear()


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_yaml_is_survived(hostile: str) -> None:
    assert "a" in fields(f"---\n{hostile}\n---\n")


@pytest.mark.usefixtures("parser")
def test_both_parsers_of_yaml_give_the_same() -> None:
    text = "---\na: no\nb: [1, {c: 012}]\nd: |\n  x\ne: 'f'\n---\n"
    assert fields(text) == {"a": "no", "b": ["1", {"c": "012"}], "d": "x\n", "e": "f"}
    assert problems("---\na: @x\n---\n") == [(2, "this is not valid YAML")]


# --- filling ---------------------------------------------------------------------------------------------------

plain_values = st.text() | st.integers() | st.lists(st.text(), max_size=4)
some_fields = st.dictionaries(st.sampled_from(["outcome", "a b", "tokens_in", "x"]), plain_values, max_size=4)


def clean(value: object) -> object:
    if isinstance(value, list):
        return [clean(item) for item in value]
    return "".join("\ufffd" if char == "\0" or "\ud800" <= char <= "\udfff" else char for char in str(value))


@given(some_fields)
def test_what_is_written_is_read_back(given_fields: dict[str, object]) -> None:
    page = read_page(block(given_fields) + "# T\n")
    assert {name: field.value for name, field in page.fields.items()} == {
        name_of(key): clean(value) for key, value in given_fields.items()
    }
    assert page.problems == () and page.body.title == "T"


@given(texts | markdown_like.map(lambda text: f"---\na: 1\n{text}\n---\nprose\n"), some_fields)
def test_filling_keeps_every_line_of_the_body_and_fills_once(text: str, given_fields: dict[str, object]) -> None:
    try:
        filled = fill(text, given_fields)
    except BackstoryError:
        return
    assert filled.endswith("".join(read_page(text).body.lines))
    assert fill(filled, given_fields) == filled
    read = read_page(filled).fields
    for key, value in given_fields.items():
        assert read[name_of(key)].value == clean(value), filled


def test_filling_keeps_order_comments_unknown_keys_and_line_ends() -> None:
    text = (
        "\ufeff---\r\n# head\r\nOutcome:   open   # for now\r\nmine: @x\r\nlist: [a, b]  # two\r\n"
        "tokens-in:\r\n  - 1\r\n  # kept\r\n  - 2\r\n\r\nlast: 'q # q' # c\r\n---\r\nprose\t\r\n\r\n\r\n"
    )
    assert fill(text, {"outcome": "done", "list": ["c"], "tokens in": 5, "last": "a: b", "new": ["x", "y z"]}) == (
        "\ufeff---\r\n# head\r\nOutcome: done   # for now\r\nmine: @x\r\nlist:  # two\r\n  - c\r\n"
        'tokens-in: 5\r\n  # kept\r\n\r\nlast: "a: b" # c\r\nnew:\r\n  - x\r\n  - y z\r\n---\r\nprose\t\r\n\r\n\r\n'
    )


def test_filling_closes_what_was_left_open_and_begins_what_is_missing() -> None:
    assert fill("---\na: 1\n\nProse.\n", {"b": 2}) == "---\na: 1\nb: 2\n---\n\nProse.\n"
    assert fill("---\na: 1", {"a": 2}) == "---\na: 2\n---\n"
    assert fill("\ufeffProse.", {"b": "x"}) == "\ufeff---\nb: x\n---\nProse."
    assert fill("", {"b": "x"}) == "---\nb: x\n---\n"
    assert fill("Prose.", {}) == "Prose."


def test_filling_a_conflict_changes_the_side_that_is_read() -> None:
    text = "---\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> o\n---\n"
    assert fill(text, {"a": 3}) == text.replace("a: 1", "a: 3")


def test_frontmatter_in_braces_is_refused_with_a_way_out() -> None:
    assert fields("---\n{a: b}\n---\n") == {"a": "b"}
    with pytest.raises(BackstoryError) as error:
        fill("---\n{a: b}\n---\n", {"c": "d"})
    assert "key: value" in error.value.hint


@pytest.mark.parametrize(
    "value", ["no", "1", "1e5", "null", "~", "", " a", "a: b", "- a", "@a", "a #b", "'", "2026-01-01"]
)
def test_text_that_other_readers_would_take_for_something_else_is_quoted(value: str) -> None:
    assert f'a: "{value}"' in block({"a": value})
    assert "a: Fix the brief\n" in block({"a": "Fix the brief"})
