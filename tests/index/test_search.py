"""Search finds what was meant in every script, and nothing when nothing is meant."""

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backstory.index.documents import DOCUMENT_TABLES, SOURCES, put, put_many, remove
from backstory.index.search import MAX_LIMIT, Hit, search

DAY = 86_400_000_000


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    for statement in DOCUMENT_TABLES:
        connection.execute(statement)
    yield connection
    connection.close()


def note(db: sqlite3.Connection, ref: str, body: str, *, title: str = "note", **more: object) -> None:
    row = {"source": "entry", "kind": "decision", "at": 0, "paths": (), **more}
    put(db, row["source"], ref, row["kind"], row["at"], title, body, row["paths"])  # type: ignore[arg-type]


def refs(hits: list[Hit]) -> list[str]:
    return [hit.ref for hit in hits]


NOTES = {
    "chinese": "数据库连接超时，需要重试",
    "japanese": "設定ファイルのタイムアウトをのばした",
    "korean": "데이터베이스를 초기화한다",
    "thai": "ฐานข้อมูลหมดเวลา",
    "khmer": "ប្រព័ន្ធទិន្នន័យ",
    "lao": "ຖານຂໍ້ມູນ",
    "burmese": "ဒေတာဘေ့စ်",
    "arabic": "انتهت مُهلة الاتصال",
    "hebrew": "פג הזמן של הַחיבור",
    "russian": "Миграция базы данных отменена",
    "greek": "Η μετάβαση της βάσης απέτυχε",
    "hindi": "हिन्दी में डेटाबेस टूट गया",
    "french": "Le café est fermé",
    "english": "The suspended worker resolves resolve_file_path via parseConfigFile",
}


@pytest.mark.parametrize(
    ("script", "query"),
    [
        ("chinese", "超时"),
        ("chinese", "据库"),
        ("chinese", "数据库"),
        ("chinese", "库"),
        ("japanese", "タイ"),
        ("japanese", "タイムアウト"),
        ("japanese", "のば"),
        ("japanese", "設定"),
        ("japanese", "ﾀｲﾑ"),
        ("korean", "이터"),
        ("korean", "데이터베이스"),
        ("thai", "มู"),
        ("thai", "ข้อมูล"),
        ("khmer", "ទិ"),
        ("lao", "ມູ"),
        ("burmese", "ဘေ"),
        ("arabic", "الاتصال"),
        ("arabic", "مهلة"),
        ("hebrew", "החיבור"),
        ("russian", "миграция"),
        ("russian", "БАЗЫ"),
        ("greek", "βάσης"),
        ("greek", "βασησ"),
        ("greek", "ΒΑΣΗΣ"),
        ("hindi", "डेटाबेस"),
        ("french", "café"),
        ("french", "cafe"),
        ("french", "CAFE\u0301"),
        ("english", "ｗｏｒｋｅｒ"),
    ],
)
def test_a_note_is_found_in_its_script(db: sqlite3.Connection, script: str, query: str) -> None:
    for name, body in NOTES.items():
        note(db, name, body)
    assert refs(search(db, query)) == [script]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("resolve", "resolve_file_path"),
        ("resolve_file_path", "in resolve_file_path there"),
        ("index.py", "see index.py"),
        ("a/b.py", "see a/b.py"),
        ("config", "parseConfigFile"),
        ("parseConfig", "parseConfigFile"),
        ("parseConfig", "parse_config"),
        ("parse_config", "ParseConfig"),
        ("http server", "HTTPServer"),
        ("suspend", "it was suspended"),
        ("cafe", "the café"),
        ("current.md", "see docs/current.md."),
        ("GB/s", "at 3 GB/s now"),
        ("a-b", "the a-b test"),
        ("don't", "we don't retry"),
        ("don’t", "we don't retry"),
        ("-word", "a word"),
        ("std::vector", "a std::vector of"),
        ("Python", "用Python写"),
    ],
)
def test_the_query_finds_the_text(db: sqlite3.Connection, query: str, text: str) -> None:
    note(db, "it", text)
    note(db, "other", "something else entirely")
    assert refs(search(db, query)) == ["it"]


@pytest.mark.parametrize(("query", "found"), [("C++", "cpp"), ("c++", "cpp"), ("C#", "cs"), (".NET", "net")])
def test_a_name_made_of_symbols_is_not_its_letter(db: sqlite3.Connection, query: str, found: str) -> None:
    for ref, text in {"cpp": "C++ templates", "cs": "a C# class", "net": "on .NET", "c": "in C, net of all"}.items():
        note(db, ref, text)
    assert refs(search(db, query)) == [found]
    assert "c" in refs(search(db, "C"))


@pytest.mark.parametrize(
    "query", ["title:worker", "wor*", "worker OR missing", 'NEAR("worker")', "{title}: worker", "^note"]
)
def test_the_user_writes_no_syntax(db: sqlite3.Connection, query: str) -> None:
    note(db, "plain", "some other text", title="worker thing")
    note(db, "said", f"he typed {query} here")
    assert refs(search(db, query))[0] == "said"


TEXT = st.text(st.characters(exclude_categories=()), max_size=40)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXT, stored=TEXT, path=TEXT)
def test_no_text_raises(db: sqlite3.Connection, text: str, stored: str, path: str) -> None:
    put(db, "entry", "E", "note", None, stored, stored, (path,))
    for query in (text, f"{text} {stored}", stored):
        for hit in search(db, query, path=path, boost_paths=(path,), now=1):
            assert hit.ref == "E"
            assert "\n" not in hit.snippet


def test_a_long_query_raises_nothing(db: sqlite3.Connection) -> None:
    note(db, "it", "timeout")
    assert search(db, "timeout " * 2_500_000, limit=10**30)[0].ref == "it"
    assert search(db, '"' * 20_000_000) == []


def test_a_misspelling_is_forgiven_when_the_first_letters_agree(db: sqlite3.Connection) -> None:
    note(db, "it", "The database connection was refused")
    for query in ("databse", "conection", "conneciton refused", "dtaabase"):
        found = search(db, query)
        assert (refs(found), [hit.mode for hit in found]) == (([], []) if query == "dtaabase" else (["it"], ["fuzzy"]))
    note(db, "other", "An optimization of the tokenizer while running")
    for query in ("optimzation", "tokeniser", "runing"):
        assert [(hit.ref, hit.mode) for hit in search(db, query)] == [("other", "fuzzy")], query
    assert search(db, "databse")[0].snippet == "The [database] connection was refused"


def test_a_word_that_exists_is_not_taken_for_a_misspelling(db: sqlite3.Connection) -> None:
    note(db, "form", "the form")
    note(db, "from", "forms fork")
    assert refs(search(db, "fork")) == ["from"]


def test_all_terms_come_before_any_term(db: sqlite3.Connection) -> None:
    note(db, "both", "x " * 300 + "retry with a timeout")
    note(db, "one", "timeout timeout timeout", title="timeout")
    note(db, "none", "nothing of the kind")
    for i in range(10):
        note(db, f"f{i}", f"filler number {i}")
    found = search(db, "retry timeout")
    assert [(hit.ref, hit.mode) for hit in found] == [("both", "all"), ("one", "any")]
    assert found[0].score > found[1].score > 0


def test_an_unrelated_query_finds_nothing(db: sqlite3.Connection) -> None:
    for i in range(30):
        note(db, f"n{i:02}", f"the worker {i} writes its queue to the log")
    note(db, "it", "photosynthesis of whales")
    assert refs(search(db, "photosynthesis")) == ["it"], "positive control"
    assert search(db, "best chocolate cake recipe for the worker") == []
    assert search(db, "mortgage rates") == []
    assert search(db, "workre whales mortgage") == [], "a misspelling and strangers"


def test_the_title_counts_more_than_the_body_and_ties_go_by_ref(db: sqlite3.Connection) -> None:
    note(db, "b", "about many things", title="timeout")
    note(db, "a", "timeout", title="about many things")
    note(db, "d", "the same words")
    note(db, "c", "the same words")
    assert refs(search(db, "timeout")) == ["b", "a"]
    assert refs(search(db, "same words")) == ["c", "d"]


def test_the_order_does_not_depend_on_the_order_of_writing(db: sqlite3.Connection) -> None:
    other = sqlite3.connect(":memory:")
    for statement in DOCUMENT_TABLES:
        other.execute(statement)
    rows = [("commit", f"{i:03}", "c", i, f"fix {i % 7} of {i % 3}", "timeout" * (i % 2), ()) for i in range(60)]
    put_many(db, rows)
    put_many(other, reversed(rows))
    assert search(db, "fix timeout 3", limit=30) == search(other, "fix timeout 3", limit=30)
    other.close()


def test_one_list_holds_every_source_and_filters_choose_among_them(db: sqlite3.Connection) -> None:
    for i, source in enumerate(SOURCES):
        note(db, source, "timeout", source=source, kind=f"k{i}", at=i)
    assert sorted(refs(search(db, "timeout"))) == sorted(SOURCES)
    assert refs(search(db, "timeout", sources=("ticket",))) == ["ticket"]
    assert refs(search(db, "timeout", kinds=("k1",))) == [SOURCES[1]]
    assert sorted(refs(search(db, "timeout", since=2, until=4))) == sorted(SOURCES[2:4])
    assert search(db, "timeout", sources=("nothing",)) == []


def test_a_document_without_a_time_is_in_no_span(db: sqlite3.Connection) -> None:
    note(db, "it", "timeout", at=None)
    assert refs(search(db, "timeout", now=1)) == ["it"]
    assert search(db, "timeout", since=0) == []


def test_the_path_filter_takes_a_file_or_a_folder_and_no_wildcards(db: sqlite3.Connection) -> None:
    paths = {"a": "src/a_b/x.py", "b": "src/a%b/x.py", "c": "src/aXb/x.py", "d": "src/a_b.py", "e": "src/a_b/y/z.py"}
    for ref, path in paths.items():
        note(db, ref, "timeout", paths=(path, "README"))
    for path, found in {
        "src/a_b": ["a", "e"],
        "src/a_b/": ["a", "e"],
        "src/a%b": ["b"],
        "src/a_b/x.py": ["a"],
        "src/%": [],
        "src": list("abcde"),
        "": list("abcde"),
        "s": [],
    }.items():
        assert sorted(refs(search(db, "timeout", path=path))) == found, path


def test_the_path_filter_is_right_for_a_folder_of_many_documents(db: sqlite3.Connection) -> None:
    put_many(db, (("commit", f"{i:05}", "c", i, "timeout", "", (f"src/{i % 2}/f.py",)) for i in range(4_400)))
    found = search(db, "timeout", path="src/1", limit=1000)
    assert len(found) == 1000
    assert all(int(hit.ref) % 2 for hit in found)


def test_the_where_filter_keeps_the_limit_full(db: sqlite3.Connection) -> None:
    for i in range(300):
        note(db, f"n{i:03}", "timeout " * (300 - i))
    found = search(db, "timeout", limit=5, where="d.ref >= ? OR d.ref = ?", params=("n290", "none"))
    assert len(found) == 5
    assert all(hit.ref >= "n290" for hit in found)
    assert search(db, "timeout retry", where="0") == []


def test_the_where_filter_keeps_the_limit_full_among_any_term_hits(db: sqlite3.Connection) -> None:
    for i in range(1500):
        note(db, f"n{i:04}", f"{'alpha' if i % 10 == 0 else 'beta' if i % 10 == 5 else 'gamma'} thing{i}")
    found = search(db, "alpha beta", limit=14, where="d.ref < 'n0070'")
    assert len(found) == 14
    assert {hit.mode for hit in found} == {"any"}


@pytest.mark.slow
def test_a_very_common_word_gives_the_newest_of_every_source_titles_first(db: sqlite3.Connection) -> None:
    put_many(db, (("commit", f"{i:05}", "c", i, f"m{i}", "timeout", ()) for i in range(10_500)))
    note(db, "it", "", title="timeout", source="session")
    note(db, "entry", "timeout")
    found = search(db, "timeout", limit=5)
    assert found[0].ref == "it"
    assert "entry" in refs(search(db, "timeout", limit=MAX_LIMIT))
    assert len(search(db, "timeout", limit=400)) == 400
    assert refs(search(db, "timeout", limit=3, where="d.ref = '00007'")) == ["00007"]


def test_recent_documents_and_shared_paths_are_lifted(db: sqlite3.Connection) -> None:
    note(db, "a", "timeout in the pool", at=0, paths=("src/other.py",))
    note(db, "b", "timeout in the pool", at=400 * DAY, paths=("src/pool.py",))
    note(db, "c", "timeout in the pool", at=0, paths=("lib/pool.py",))
    assert refs(search(db, "timeout")) == ["a", "b", "c"]
    assert refs(search(db, "timeout", now=400 * DAY)) == ["b", "a", "c"]
    assert refs(search(db, "timeout", boost_paths=("lib/pool.py",))) == ["c", "a", "b"]
    assert refs(search(db, "timeout", boost_paths=("src/pool.py",))) == ["b", "a", "c"]


def test_a_lift_does_not_make_a_poor_match_the_best(db: sqlite3.Connection) -> None:
    note(db, "best", "timeout", title="timeout")
    note(db, "poor", "timeout " + "word " * 200, at=10 * DAY, paths=("src/pool.py",))
    for i in range(20):
        note(db, f"f{i}", "filler")
    assert refs(search(db, "timeout", now=10 * DAY, boost_paths=("src/pool.py",))) == ["best", "poor"]


@pytest.mark.parametrize(
    ("query", "snippet"),
    [
        ("retry", "line one [retrying] the [ci] job"),
        ("config", "the parse[Config]File there"),
        ("数据库", "连接[数据库]失败"),
        ("C++", "in [C++] here"),
        ("pool.py", "[src/pool.py]"),
        ("headline", "the [headline]"),
    ],
)
def test_a_snippet_is_one_plain_line_with_the_match_in_brackets(
    db: sqlite3.Connection, query: str, snippet: str
) -> None:
    note(db, "1", "line one\n  retrying the [ci]\n\n job")
    note(db, "2", "the parseConfigFile there")
    note(db, "3", "连接数据库失败")
    note(db, "4", "in C++ here", paths=("src/pool.py",))
    note(db, "5", "", title="the headline")
    assert [hit.snippet.replace("src/[pool.py]", "[src/pool.py]") for hit in search(db, query)] == [snippet]


def test_a_hit_tells_what_was_found(db: sqlite3.Connection) -> None:
    note(db, "E1", "because of readers", title="Use WAL", at=7)
    (hit,) = search(db, "wal readers")
    assert (hit.source, hit.ref, hit.kind, hit.at, hit.title, hit.mode) == (
        "entry",
        "E1",
        "decision",
        7,
        "Use WAL",
        "all",
    )
    assert hit.snippet == "because of [readers]"


def test_nothing_is_asked_nothing_is_found(db: sqlite3.Connection) -> None:
    note(db, "it", "timeout")
    assert refs(search(db, "timeout", limit=1)) == ["it"], "positive control"
    assert [search(db, "", limit=1), search(db, "!?", limit=1), search(db, "timeout", limit=0)] == [[], [], []]


def everything(db: sqlite3.Connection) -> list[list[tuple[object, ...]]]:
    tables = ("documents", "document_paths", "documents_fts", "documents_fts_docsize", "documents_vocabulary")
    return [db.execute(f"SELECT * FROM {table}").fetchall() for table in tables]


def sound(db: sqlite3.Connection) -> None:
    """Raises when the words and the stored text disagree."""
    db.execute("INSERT INTO documents_fts (documents_fts) VALUES ('integrity-check')")


def test_put_replaces_a_document_whole(db: sqlite3.Connection) -> None:
    note(db, "it", "about timeouts", paths=("a.py", "b.py", "a.py"), title="old")
    note(db, "it", "about retries", paths=("c.py",), title="new", at=5)
    assert search(db, "timeout") == []
    assert search(db, "retries", path="a.py") == []
    (hit,) = search(db, "retries", path="c.py")
    assert (hit.title, hit.at) == ("new", 5)
    sound(db)


def test_the_same_ref_in_two_sources_is_two_documents(db: sqlite3.Connection) -> None:
    note(db, "12", "timeout", source="ticket")
    note(db, "12", "timeout", source="pull_request")
    assert len(search(db, "timeout")) == 2
    remove(db, "ticket", "12")
    assert [hit.source for hit in search(db, "timeout")] == ["pull_request"]


def test_remove_leaves_nothing_behind(db: sqlite3.Connection) -> None:
    note(db, "it", "about timeouts 数据库 parseConfig", paths=("a.py",))
    assert all(everything(db)), "positive control"
    remove(db, "entry", "it")
    remove(db, "entry", "never there")
    assert everything(db) == [[], [], [], [], []]
    sound(db)


def test_the_integrity_check_would_notice_a_residue(db: sqlite3.Connection) -> None:
    note(db, "it", "about timeouts")
    db.execute("DELETE FROM documents_fts_content")
    with pytest.raises(sqlite3.DatabaseError):
        sound(db)


def test_many_writes_in_any_order_keep_the_tables_consistent(db: sqlite3.Connection) -> None:
    put_many(db, (("commit", str(i % 40), "c", i, f"t{i}", "body", (f"p{i}",)) for i in range(200)))
    for i in range(0, 40, 2):
        remove(db, "commit", str(i))
    put_many(db, (("entry", str(i), "e", i, f"t{i}", "body", ()) for i in range(3)))
    sound(db)
    assert db.execute("SELECT count(*) FROM documents").fetchone() == (23,)
    assert db.execute("SELECT count(*) FROM documents_fts").fetchone() == (23,)
    assert db.execute("SELECT count(*) FROM document_paths").fetchone() == (20,)


def test_an_unknown_source_is_refused_before_anything_is_written(db: sqlite3.Connection) -> None:
    with pytest.raises(ValueError, match="wiki"):
        note(db, "it", "timeout", source="wiki")
    assert everything(db) == [[], [], [], [], []]
