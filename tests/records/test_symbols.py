"""Symbols: found where they are defined, not where prose, a prototype or a call names them, and to their last line."""

import pytest

from backstory.records.symbols import definitions, symbol_lines

C_FILE = """\
/*
 * store_put() keeps a value, and
 * store_get (see below) returns it.
 */
static int store_put(struct store *s,
                     const char *key);

#ifdef QUIET
#define store_log(x) 0
#endif

static int store_put(struct store *s,  /* where; not
                                          null */
                     const char *key)
{
  if(!s)
    return store_get(s,
                     key);
#ifdef SLOW
  wait("a } in a string;");
out:
#endif
  return 0;
}

struct store *store_get(struct store *s, const char *key) {
  return store_put(s, key) ? s : NULL;
}

struct store {
  int size;
};

static void store_log(const char *text)
{
  puts(text);
}
""".splitlines()

PYTHON_FILE = '''\
"""The function build() makes all, and
the class Builder keeps
def build(nothing)
"""
from store import Builder


class Reader:
    def load(self, name: str) -> dict[str, int]:
        limits = {
            name: 1,
        }
        return limits


class Builder:
    def load(self) -> None:
        build(self,
              1)


def build(
    one: int,
) -> None:
    pass
'''.splitlines()

RUST_FILE = """\
pub mod render;

struct Page;

impl fmt::Display for Page {
    fn fmt(&self, f: &mut Formatter) -> Result {
        let render = 1;
    }
}

impl Display for Book {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result { todo!() }
}

pub(crate) fn render<F>(page: [u8; 4], f: F) -> Result
where
    F: Fn(),
{
    f()
}
""".splitlines()


@pytest.mark.parametrize(
    ("lines", "symbol", "span"),
    [
        (C_FILE, "store_put", (12, 24)), (C_FILE, "store_get", (26, 28)), (C_FILE, "store", (30, 32)),
        (C_FILE, "store_log", (34, 37)),
        (PYTHON_FILE, "build", (22, 25)), (PYTHON_FILE, "Builder", (16, 19)), (PYTHON_FILE, "load", (9, 13)),
        (PYTHON_FILE, "Builder.load", (17, 19)), (PYTHON_FILE, "Other.load", (9, 13)),
        (RUST_FILE, "render", (15, 20)), (RUST_FILE, "Book::fmt", (12, 12)), (RUST_FILE, "Page::fmt", (6, 8)),
        (RUST_FILE, "Page", (3, 3)),
    ],
)  # fmt: skip
def test_a_symbol_is_found_where_it_is_defined(lines: list[str], symbol: str, span: tuple[int, int]) -> None:
    assert symbol_lines(lines, symbol) == span


def test_a_method_of_a_go_type_is_told_from_its_namesake() -> None:
    lines = [
        "func (s *Store) Get(k int) int {",
        "\treturn 1",
        "}",
        "func (c *Cache) Get(k int) int {",
        "\treturn 2",
        "}",
    ]
    assert symbol_lines(lines, "Cache.Get") == (4, 6)
    assert symbol_lines(lines, "Get") == (1, 3)


def test_every_definition_of_a_name_is_listed() -> None:
    assert definitions(RUST_FILE, "fmt") == [(6, 8), (12, 12)]
    assert definitions(RUST_FILE, "") == definitions(RUST_FILE, "::") == []


def test_a_long_function_is_taken_whole() -> None:
    lines = ["int main(void)", "{", *(f"  step({number});" for number in range(500)), "}"]
    assert symbol_lines(lines, "main") == (1, 503)


def test_a_name_that_is_only_used_is_not_defined() -> None:
    lines = [
        "  return load(name,",
        "              {});",
        "load(name);",
        "  if(load(name)) {",
        "  }",
        "// load() {",
        "/* load() { */",
    ]
    assert symbol_lines(lines, "load") is None


def test_a_generated_file_is_looked_at_within_bounds() -> None:
    many = ["class A:", "    def load(self):", "        pass"] * 5_000
    assert len(definitions(many, "load")) == len(definitions(many, "A.load")) == 50
    assert definitions(["load(first,"] * 20_000, "load") == []
