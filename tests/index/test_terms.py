"""What the index stores beside a text, and that a query is words, whatever it looks like."""

import sqlite3
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.index.documents import TOKENIZER
from backstory.index.terms import (
    MAX_EXTRA_TERMS,
    MAX_TERMS,
    clean,
    extra_terms,
    parse_query,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
SYNTAX = st.sampled_from(
    [
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        '"',
        "'",
        "*",
        "-word",
        "title:",
        "^",
        "{title}",
        "+",
        "(",
        ")",
        "C++",
        "\0",
        "\ud800",
    ]
)


def words(*texts: str) -> set[str]:
    return set(extra_terms(*texts).split())


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("parseConfigFile", {"parse", "config", "file"}),
        ("ParseConfig", {"parse", "config"}),
        ("HTTPServer", {"http", "server"}),
        ("v2Api", {"v2", "api"}),
        ("sha256Sum", {"sha256", "sum"}),
        ("module.parseConfig", {"parse", "config"}),
        ("src/someFile.py", {"some", "file"}),
        ("get_httpServer", {"http", "server"}),
        ("разобратьФайл", {"разобрать", "файл"}),
    ],
)
def test_an_identifier_is_stored_by_its_parts(identifier: str, parts: set[str]) -> None:
    assert words(f"see {identifier}, please") >= parts


def test_what_the_tokeniser_splits_itself_and_plain_words_add_nothing() -> None:
    assert words("resolve_file_path reads a plain sentence in index.py") == set()


def test_a_hash_is_no_identifier() -> None:
    assert words("reverts 3f2a9cd1b7e") == set()
    assert words("reverts parse2Config") == {"parse2", "config"}


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("数据库", {"数据", "据库", "库"}),
        ("タイムアウト", {"タイ", "ウト", "ト"}),
        ("데이터를", {"데이", "이터", "터를"}),
        ("ข้อมูล", {"ข้", "ูล"}),
        ("ខ្មែរ", {"ខ្", "ែរ"}),
        ("မြန်မာ", {"မြ", "မာ"}),
        ("ຂໍ້ມູນ", {"ຂໍ", "ູນ"}),
    ],
)
def test_an_unspaced_script_is_stored_by_pairs_of_characters(text: str, pairs: set[str]) -> None:
    assert words(text) >= pairs


def test_a_latin_word_that_touches_an_unspaced_script_is_stored_alone() -> None:
    assert "python" in words("用Python写")


@pytest.mark.parametrize(
    ("text", "name"),
    [("C++", "cplusplus"), ("C#", "csharp"), (".NET", "dotnet"), ("(.env)", "dotenv"), ("g++ -O2", "gplusplus")],
)
def test_a_name_made_of_symbols_is_stored_as_a_word(text: str, name: str) -> None:
    assert name in words(f"the {text} one")


@pytest.mark.parametrize("text", ["issue#12", "end. Next", "a.b", "../up", "# Title", "x = 1 + 2"])
def test_ordinary_punctuation_is_no_name(text: str) -> None:
    assert words(text) == set()


def test_extra_terms_are_bounded_and_each_stored_once() -> None:
    assert extra_terms("数据 数据", "数据") == "数据 据"
    many = "".join(chr(0x4E00 + (i * 7919) % 20000) for i in range(120_000))
    assert len(extra_terms(many).split()) <= MAX_EXTRA_TERMS


def test_text_is_made_storable() -> None:
    assert clean("cafe\u0301") == "café"
    assert clean("a\0b\x1b[31m\ud800") == "a b [31m?"
    assert clean("⚠\ufe0fFix soft\u00adware") == "⚠Fix software"


def test_each_term_is_quoted_and_syntax_is_words() -> None:
    query = parse_query('title:foo AND "bar* NEAR(baz -qux')
    assert [term.word for term in query.terms] == ["title:foo", "bar", "near", "baz", "qux"]
    assert query.exact_terms == '"title:foo" AND "bar" AND "NEAR" AND "baz" AND "qux"'


def test_stop_words_are_dropped_unless_nothing_else_remains() -> None:
    assert [term.word for term in parse_query("how do we fix the timeout").terms] == ["fix", "timeout"]
    assert [term.word for term in parse_query("to be or not to be").terms] == ["to", "be", "or", "not"]


def test_an_identifier_is_asked_for_whole_first_and_then_by_its_parts() -> None:
    query = parse_query("resolve_file_path now")
    assert query.exact_terms.startswith('"resolve_file_path" AND')
    assert '"resolve" AND "file" AND "path"' in query.all_terms


def test_the_last_word_is_also_a_beginning_when_long_enough() -> None:
    assert '"config" *' in parse_query("read config").all_terms
    assert "*" not in parse_query("config go").all_terms
    assert "*" not in parse_query("config uses").all_terms, "the stemmer makes us* of uses*, which finds user"
    assert "*" not in parse_query("read config").exact_terms


def test_symbols_alone_ask_for_nothing() -> None:
    for text in ("", "  ", "!!! --- ***", "😀🎉", "\0", '""', "\ud800"):
        assert parse_query(text).terms == (), text
    assert parse_query("😀 fix").terms


@pytest.mark.parametrize("text", ["word " * 4_000_000, "w" * 20_000_000, '"' * 20_000_000, "数据库" * 6_000_000])
def test_a_query_of_20_megabytes_is_bounded(text: str) -> None:
    started = time.process_time()
    query = parse_query(text)
    assert len(query.terms) <= MAX_TERMS
    assert len(query.all_terms) < 100_000
    assert time.process_time() - started < 5


@given(st.lists(st.one_of(ANY_TEXT, SYNTAX), max_size=12).map(" ".join))
def test_sqlite_accepts_every_query_and_every_extra_text(text: str) -> None:
    db = sqlite3.connect(":memory:")
    db.execute(f'CREATE VIRTUAL TABLE t USING fts5(title, body, tokenize = "{TOKENIZER}")')
    db.execute("INSERT INTO t VALUES (?, ?)", (clean(text), extra_terms(text)))
    query = parse_query(text)
    if query.terms:
        for match in (query.exact_terms, query.all_terms, query.any_term):
            db.execute("SELECT count(*) FROM t WHERE t MATCH ?", (match,)).fetchone()


@pytest.mark.parametrize("char", string.printable)
def test_a_word_with_any_printable_character_on_it_is_still_the_word(char: str) -> None:
    for text in (f"{char}timeout", f"timeout {char}", f"{char} timeout {char}"):
        assert any("timeout" in term.literals or "timeout" in term.word for term in parse_query(text).terms)
