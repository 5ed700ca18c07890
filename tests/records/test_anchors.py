"""Anchors: a place is known again after edits around it, moves and re-indentation, and not after it changed."""

import random

import pytest

from backstory.records.anchors import KNOWN_SHARE, MAX_PRINTS, find, fingerprint, line_print
from backstory.records.symbols import symbol_lines

SOURCE = '''\
import os


class Store:
    """Keeps things."""

    limit = 10

    def put(self, key, value):
        """Put it."""
        if key in self.data:
            raise KeyError(key)

        self.data[key] = value
        return value

    async def get(self, key):
        return self.data[key]


def put_all(store, items):
    for key, value in items:
        store.put(key, value)
    return len(items)


LIMIT: int = 7
handler = lambda event: event
'''.splitlines()


def place(symbol: str) -> tuple[str, ...]:
    span = symbol_lines(SOURCE, symbol)
    assert span is not None
    return fingerprint(SOURCE[span[0] - 1 : span[1]])


@pytest.mark.parametrize(
    ("symbol", "span"),
    [("Store", (4, 18)), ("put", (9, 15)), ("Store.put", (9, 15)), ("get", (17, 18)), ("put_all", (21, 24)),
     ("LIMIT", (27, 27)), ("handler", (28, 28)), ("Store::get", (17, 18))],
)  # fmt: skip
def test_a_symbol_is_found_with_its_body(symbol: str, span: tuple[int, int]) -> None:
    assert symbol_lines(SOURCE, symbol) == span


@pytest.mark.parametrize("symbol", ["nothing", "os.path", "pu", "limit.x", "(", ".*", "key"])
def test_what_is_not_defined_is_none(symbol: str) -> None:
    assert symbol_lines(SOURCE, symbol) is None


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("fn parse(input: &str) -> u8 {", "parse"), ("pub struct Parser {", "Parser"), ("type Key = string;", "Key"),
        ("func (s *Store) Get(k int) {", "Get"), ("export const limit = 3;", "limit"),
        ("static int parse(char *s) {", "parse"),
        ("export default function render() {", "render"), ("interface Shape {", "Shape"),
    ],
)  # fmt: skip
def test_definitions_of_other_languages(line: str, name: str) -> None:
    assert symbol_lines(["// before", line, "    body();", "}"], name) is not None


def test_an_unchanged_place_is_wholly_known() -> None:
    assert find(place("put"), SOURCE) == 1.0
    assert find((), SOURCE) == 1.0
    assert find(place("put"), []) == 0.0


def test_edits_around_moves_and_indentation_do_not_matter() -> None:
    prints = place("put")
    noise = [f"line {number} of noise" for number in range(300)]
    assert find(prints, noise + SOURCE + noise) == 1.0
    assert find(prints, ["\t\t" + line.strip() + "  " for line in SOURCE]) == 1.0
    assert find(prints, [line for line in SOURCE if line.strip()]) == 1.0
    assert find(prints, [half for line in SOURCE for half in (line, "")]) == 1.0


def test_a_place_that_changed_is_not_known() -> None:
    prints = place("put")
    assert find(prints, [line.replace("key", "name").replace("value", "thing") for line in SOURCE]) < KNOWN_SHARE
    assert find(prints, SOURCE[20:]) < KNOWN_SHARE


def test_one_changed_line_of_many_is_forgiven() -> None:
    prints = place("Store")
    changed = [line.replace("raise KeyError(key)", "return None") for line in SOURCE]
    assert KNOWN_SHARE <= find(prints, changed) < 1.0


def test_the_same_lines_scattered_over_a_long_file_are_not_the_place() -> None:
    prints = place("put")
    body = [SOURCE[number] for number in range(8, 15)]
    scattered: list[str] = []
    for line in body:
        scattered += [line, *(f"noise {number} {line}" for number in range(60))]
    assert find(prints, scattered) < KNOWN_SHARE


def test_lines_that_say_nothing_count_for_nothing() -> None:
    assert [line_print(line) for line in ("", "   ", "}", "});", "----", "a", "\u00a0")] == [""] * 7
    assert line_print("x = 1") == line_print("  x=1 ") != line_print("x = 2")
    assert line_print("naïve \udcff text")


def test_a_long_place_is_thinned_out_and_still_known() -> None:
    lines = [f"statement number {number}" for number in range(1_000)]
    prints = fingerprint(lines)
    assert len(prints) <= MAX_PRINTS
    assert find(prints, ["before"] * 50 + lines, len(lines)) == 1.0
    assert find(prints, [line.replace("number", "no.") for line in lines], len(lines)) < KNOWN_SHARE


def test_giant_lines_and_repeats_stay_fast() -> None:
    """A minified file: one line of a megabyte, and ten thousand equal ones."""
    prints = fingerprint(["same line"] * 30)
    assert find(prints, ["same line"] * 10_000) == 1.0
    assert symbol_lines(["a b " * 250_000], "name") is None
    shuffled = SOURCE * 200
    random.Random(1).shuffle(shuffled)
    assert 0 <= find(place("put"), shuffled) <= 1
