"""Pairs of sentences that say different things about one subject, and ordinary pairs that do not."""

import pytest

from backstory.recall.clashes import Side, compare, words_of

# (one, other, alternatives that one turned down); the sign must be one of a conflict.
CLASHES = [
    # one side denied
    ("Use mocks in unit tests", "Do not use mocks in unit tests"),
    ("Commit generated files", "Never commit generated files"),
    ("Retry on timeout", "Don't retry on timeout"),
    ("Retry on timeout", "Don’t retry on timeout"),
    ("Log request bodies", "Avoid logging request bodies"),
    ("Cache the parsed config", "The parsed config must not be cached"),
    ("Validate input at the edge", "We no longer validate input at the edge"),
    ("Support Python 3.8", "Drop support for Python 3.8"),
    ("Write tests before the code", "Never write tests before the code"),
    ("Readers take the lock", "Readers do not take the lock"),
    ("Use global state", "Use no global state"),
    ("Vendor third-party code", "Avoid vendoring third-party code"),
    # opposites
    ("Allow wildcard imports", "Forbid wildcard imports"),
    ("Enable strict mode in mypy", "Disable strict mode in mypy"),
    ("Keep the legacy endpoint", "Drop the legacy endpoint"),
    ("Keep the legacy endpoint", "Remove the legacy endpoint"),
    ("The client API is synchronous", "The client API is asynchronous"),
    ("Feature flags are on by default", "Feature flags are off by default"),
    ("Merge feature branches", "Rebase feature branches"),
    ("Tests run in parallel", "Tests run serially"),
    ("Config loading is lazy", "Config loading is eager"),
    ("Type hints are required", "Type hints are optional"),
    ("Always squash commits", "Never squash commits"),
    ("Telemetry is opt-in", "Telemetry is opt-out"),
    ("Include the tests in the wheel", "Exclude the tests from the wheel"),
    ("Add a trailing newline", "Remove the trailing newline"),
    ("Migrations run before the deploy", "Migrations run after the deploy"),
    ("Use tabs", "Use spaces"),
    ("Stored paths are relative", "Stored paths are absolute"),
    ("Log times are UTC", "Log times are local"),
    # one slot that holds one value
    ("Use tabs for indentation", "Use spaces for indentation"),
    ("Use Postgres for storage", "Use MySQL for storage"),
    ("Use pytest for tests", "Use unittest for tests"),
    ("For storage use Postgres", "For storage use SQLite"),
    ("Use SQLite as the index", "Use DuckDB as the index"),
    ("The timeout is 30 seconds", "The timeout is 60 seconds"),
    ("Indent with 2 spaces", "Indent with 4 spaces"),
    ("Retry three times", "Retry five times"),
    ("The default port is 8080", "The default port is 9090"),
    ("Line length is 100", "Line length is 120"),
    ("Python 3.11 is the minimum version", "Python 3.12 is the minimum version"),
    ("The default branch is main", "The default branch is trunk"),
    ("The log format is JSON lines", "The log format is msgpack"),
    ("Store sessions in Redis", "Store sessions in Memcached"),
    ("Write the parser in Rust", "Write the parser in C"),
    ("Set the pool size to 10", "Set the pool size to 20"),
    # turned down
    ("Chose WAL over rollback journal", "Chose rollback journal over WAL"),
    ("Chose WAL over rollback journal", "Use rollback journal"),
    ("Use argparse instead of click", "Use click instead of argparse"),
    ("Use dataclasses rather than attrs for records", "Use attrs for records"),
    ("Use tabs, not spaces", "Use spaces, not tabs"),
    ("Use Postgres for storage", "Use MongoDB for storage", "MongoDB"),
    ("The index is SQLite", "Move the index to tantivy", "tantivy: needs a compiler"),
    ("Build the CLI with argparse", "Build the CLI with click", "click"),
    ("Queue jobs in the database", "Use RabbitMQ", "RabbitMQ"),
]

ORDINARY = [
    # one topic, two scopes
    ("Use tabs in Makefiles", "Use spaces in Python files"),
    ("Use Redis for sessions", "Use Postgres for reports"),
    ("Use pytest for unit tests", "Use Playwright for browser tests"),
    ("Retry GET requests", "Do not retry POST requests"),
    ("Use mocks in unit tests", "Do not use mocks in integration tests"),
    ("Enable caching in production", "Disable caching in tests"),
    ("Cache responses", "Do not cache error responses"),
    ("Commit lock files of applications", "Never commit lock files of libraries"),
    ("Log errors to stderr", "Log requests to a file"),
    ("Store sessions in Redis", "Store secrets in Vault"),
    ("The API of the server is async", "The API of the client is sync"),
    ("Allow HTTP in tests", "Forbid HTTP in production"),
    ("Include tests in the sdist", "Exclude tests from the wheel"),
    ("Use UTC in the log", "Use local time in the web page"),
    ("Run migrations before the deploy", "Run backups after the deploy"),
    ("Telemetry is opt-in for users", "Crash reports are opt-out for staff"),
    ("Type hints are required in src", "Type hints are optional in tests"),
    ("Public methods have docstrings", "Private methods have docstrings"),
    ("Sync clients use a pool", "Async clients use a pool"),
    ("Required fields come from the schema", "Optional fields come from the schema"),
    ("Mutable defaults are a bug", "Immutable defaults are fine"),
    ("Write the parser in Rust", "Write the docs in Markdown"),
    ("Write the parser in Rust", "Write the parser in small steps when it grows"),
    ("Keep the legacy endpoint", "Drop the legacy database"),
    ("Merge feature branches by hand", "Rebase release branches by script"),
    ("Use Redis for rate limits", "Use Postgres for storage", "Redis"),
    # numbers of different things
    ("Retry 3 times", "Retry after 5 seconds"),
    ("The timeout is 30 seconds", "The batch size is 100 rows"),
    ("Connect timeout is 5 seconds", "Read timeout is 30 seconds"),
    ("The connect timeout is 5 seconds", "The read timeout is 30 seconds"),
    ("Use 2 workers in CI", "Use 8 workers in production"),
    ("Workers in CI: 2", "Workers in production: 8"),
    ("Fix for issue 123", "Fix for issue 124"),
    ("Plan of phase 1", "Plan of phase 2"),
    ("Step 1 reads the log", "Step 2 folds the log"),
    ("Decision 4 about the layout of module 4", "Decision 5 about the layout of module 5"),
    ("Layer 3 imports nothing", "Layer 4 imports nothing"),
    ("Ids have 26 characters", "Suffixes have 6 characters"),
    ("Keep 30 days of logs", "Keep 7 backups"),
    ("Port 8080 serves the API", "Port 9090 serves metrics"),
    ("Summaries hold 300 characters", "Details hold 4000 characters"),
    ("See PR 11 for the parser", "See PR 12 for the parser"),
    ("Milestone 1 ships the log", "Milestone 2 ships the log"),
    # similar beginnings, other subjects
    ("Use structlog for logging", "Use click for the command line"),
    ("Use pytest for tests", "Use pytest for fixtures"),
    ("Use msgspec for records", "Use msgspec for settings"),
    ("Use type hints in tests", "Use fixtures in tests"),
    ("Use pathlib in the importer", "Use dataclasses in the importer"),
    ("Index entries by id", "Index commits by id"),
    ("Validate paths at the gateway", "Validate sizes at the gateway"),
    ("Log errors to stderr", "Log notices to stderr"),
    ("Readers yield Skipped lines", "Writers yield sealed lines"),
    ("Prefer composition over inheritance", "Prefer early returns over nesting"),
    ("Prefer tuples over lists", "Prefer tuples over dicts"),
    ("Chose SQLite over Postgres for the index", "Chose SQLite over DuckDB for the index"),
    ("The parser is recursive", "The parser is tested by fuzzing"),
    ("The parser is fast", "The parser is small"),
    ("Tests live beside the code", "Tests run on every push"),
    ("The lock is per clone", "The lock is released on exit"),
    ("Hooks never fail the host", "Hooks never import json"),
    ("Never log secrets", "Never log tokens"),
    ("Do not edit generated files", "Do not commit generated files"),
    ("Enable gzip", "Disable telemetry"),
    ("Add an index on email", "Remove an index on phone"),
    ("Add tests for the reader", "Remove tests for the writer"),
    ("Keep the changelog", "Drop Python 3.8"),
    ("Always sort imports", "Never sort fixtures"),
    ("Put settings in TOML", "Put fixtures in conftest"),
    ("Run the linter in CI", "Run the linter in pre-commit"),
    ("Name branches after tickets", "Name tags after versions"),
    ("Errors carry a hint", "Errors carry an exit code"),
    ("Split the module by kind", "Split the module by surface"),
    ("Build wheels in CI", "Build wheels in the release job"),
    ("Import heavy modules inside functions", "Import typing at the top"),
    ("Sort rows by id", "Sort rows by time"),
    ("One file per command", "One file per kind"),
    ("Close the file before renaming it", "Close the socket before exiting"),
    # agreement in other words
    ("Chose WAL over rollback journal", "Use WAL instead of the rollback journal"),
    ("Use Postgres for storage", "Do not use MongoDB for storage", "MongoDB"),
    ("Use Postgres for storage", "Use Postgres, not MongoDB", "MongoDB"),
    ("Use Postgres", "Use Postgres for all storage"),
    ("Do not drop support for Python 3.8", "Support Python 3.8"),
    ("Never commit secrets", "Do not commit secrets"),
    ("Use tabs for indentation", "Use tabs for indentation."),
    ("Use WAL because readers must not block", "Use WAL because it is faster"),
    ("Retry on timeout because the host is slow", "Do not lower the timeout since the host is slow"),
    ("We decided against threads", "We use processes"),
]


def side(id_: str, summary: str, down: tuple[str, ...] = (), *, path: str = "", scope: str = "") -> Side:
    return Side(id_, "decision", summary, down, frozenset([path] if path else []), scope)


def sign(pair: tuple[str, ...], *, swap: bool = False) -> str:
    one, other = side("a", pair[0], pair[2:]), side("b", pair[1])
    return compare(other, one)[0] if swap else compare(one, other)[0]


@pytest.mark.parametrize("pair", CLASHES, ids=" | ".join)
def test_a_pair_that_says_different_things_clashes_from_both_sides(pair: tuple[str, ...]) -> None:
    assert sign(pair) in ("opposite", "different", "turned down")
    assert sign(pair, swap=True) == sign(pair)


@pytest.mark.parametrize("pair", ORDINARY, ids=" | ".join)
def test_an_ordinary_pair_does_not_clash(pair: tuple[str, ...]) -> None:
    assert sign(pair) in ("", "similar")
    assert sign(pair, swap=True) in ("", "similar")


def test_the_tables_are_as_large_as_promised() -> None:
    assert len({pair[:2] for pair in CLASHES}) >= 40
    assert len({pair[:2] for pair in ORDINARY}) >= 80


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Use tabs", "Use spaces", "opposite"),
        ("Commit generated files", "Never commit generated files", "opposite"),
        ("Use Postgres for storage", "Use MySQL for storage", "different"),
        ("Chose WAL over rollback journal", "Use rollback journal", "turned down"),
        ("Readers never take the lock of the log", "Readers never take the lock of the journal", "similar"),
        ("Readers never take the lock", "Ship weekly", ""),
    ],
)
def test_each_sign_has_its_name(one: str, other: str, expected: str) -> None:
    assert compare(side("a", one), side("b", other))[0] == expected


def test_what_only_resembles_is_a_suggestion_that_can_be_left_out() -> None:
    one, other = side("a", "Readers never take the lock of the log"), side("b", "Readers never take the journal's lock")
    assert compare(one, other)[0] == "similar"
    assert compare(one, other, suggest=False) == ("", "")
    assert compare(side("a", "Use tabs"), side("b", "Use spaces"), suggest=False)[0] == "opposite"


def test_two_packages_may_decide_differently() -> None:
    one = side("a", "Use tabs", scope="packages/api")
    assert compare(one, side("b", "Use spaces", scope="packages/web")) == ("", "")
    assert compare(one, side("b", "Use spaces", scope="packages/api"))[0] == "opposite"
    assert compare(one, side("b", "Use spaces"))[0] == "opposite"


def test_a_shared_file_lets_a_narrower_sentence_clash() -> None:
    one, other = "Edit the table by hand", "Never edit the table by hand here"
    assert compare(side("a", one), side("b", other))[0] != "opposite"
    assert compare(side("a", one, path="t.py"), side("b", other, path="t.py"))[0] == "opposite"
    assert compare(side("a", one, path="t.py"), side("b", other, path="u.py"))[0] != "opposite"


def test_a_sentence_without_words_clashes_with_nothing() -> None:
    for text in ("", "…", "-", "the", "not", "over", "1"):
        assert compare(side("a", text), side("b", "Use tabs")) == ("", "")
    assert words_of("Don't use C++!")[0] == "dont"
