"""Freshness: what moves the ground under an entry, what does not, and what cannot be judged."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from backstory.project import answers, status
from backstory.project.session_start import session_brief
from tests.project.memory import DAY, OTHER_AGENT, PERSON, Memory

BODY = """\
def first():
    return 1


def parse(text):
    tokens = split(text)
    tree = build(tokens)
    return simplify(tree)


class Reader:
    def read(self, path):
        with open(path) as file:
            return parse(file.read())
"""


def reasons(memory: Memory, id_: str, now: int | None = None) -> tuple[str, ...]:
    with memory.open(now) as project:
        return answers.show(project, id_).entry.stale_reasons


def cite(memory: Memory, place: str = "src/parser.py#parse", kind: str = "decision", **more: object) -> str:
    memory.commit("Add the parser", src__parser_py=BODY)
    return memory.add(kind, f"about {place}", files=[place], **more)


# -- age

AGES = {
    "decision": 90, "trial": 180, "hotfile": 30, "pattern": 60, "issuenote": 14, "hypothesis": 60, "fix": 180,
    "note": 30, "lesson": 180,
}  # fmt: skip


@pytest.mark.parametrize(("kind", "days"), AGES.items())
def test_each_kind_is_stale_when_its_days_are_over_and_not_before(memory: Memory, kind: str, days: int) -> None:
    extra = (
        {"path": "README.md"}
        if kind == "hotfile"
        else {"issue": "#7"}
        if kind in ("issuenote", "hypothesis", "fix")
        else {}
    )
    id_ = memory.add(kind, "it ages", **extra)
    assert reasons(memory, id_, memory.now + days * DAY - 1) == ()
    assert reasons(memory, id_, memory.now + days * DAY) == (f"age: not confirmed for {days} days",)


def test_an_open_issue_never_ages(memory: Memory) -> None:
    id_, note = memory.add("issue", "it crashes"), memory.add("note", "a remark")
    assert reasons(memory, id_, memory.now + 4_000 * DAY) == ()
    assert reasons(memory, note, memory.now + 4_000 * DAY) != ()


def test_an_entry_may_have_an_age_of_its_own(memory: Memory) -> None:
    id_ = memory.add("decision", "until the release", decay_days=7)
    assert reasons(memory, id_, memory.now + 7 * DAY - 1) == ()
    assert reasons(memory, id_, memory.now + 7 * DAY) == ("age: not confirmed for 7 days",)


def test_a_project_may_have_ages_of_its_own(memory: Memory) -> None:
    with (memory.root / ".backstory/project.toml").open("a", encoding="utf-8") as file:
        file.write("[freshness]\ndecay_days = { decision = 10 }\n")
    decision, pattern = memory.add("decision", "a choice"), memory.add("pattern", "a habit")
    assert reasons(memory, decision, memory.now + 10 * DAY) == ("age: not confirmed for 10 days",)
    assert reasons(memory, pattern, memory.now + 10 * DAY) == ()


def test_a_confirmation_of_another_session_starts_the_age_anew(memory: Memory) -> None:
    id_, other = memory.add("note", "it ages"), memory.add("note", "it ages too")
    memory.tick(days=29)
    memory.act("confirm", id_, OTHER_AGENT)
    memory.tick(days=10)
    assert reasons(memory, id_) == ()
    assert reasons(memory, other) != ()


def test_a_stale_entry_is_fresh_again_after_a_person_confirms_it(memory: Memory) -> None:
    id_ = memory.add("note", "it ages")
    memory.tick(days=40)
    assert reasons(memory, id_) != ()
    memory.act("confirm", id_, PERSON)
    assert reasons(memory, id_) == ()


def test_what_the_author_wants_revisited_is_stale_from_that_day(memory: Memory) -> None:
    id_ = memory.add("decision", "pin the version", revisit_when="2026-02-01")
    words = memory.add("decision", "wait with the upgrade", revisit_when="the next release is out")
    day = 1_769_904_000_000_000  # 2026-02-01T00:00:00Z
    assert reasons(memory, id_, day - 1) == ()
    assert reasons(memory, id_, day) == ("author: to be revisited on 2026-02-01",)
    assert reasons(memory, words, day) == ()


def test_every_reason_is_shown(memory: Memory) -> None:
    id_ = cite(memory, "src/parser.py", kind="note", revisit_when="2026-01-20")
    (memory.root / "src/parser.py").unlink()
    found = reasons(memory, id_, memory.now + 31 * DAY)
    assert [reason.split(":")[0] for reason in found] == ["gone", "author", "age"]


# -- anchors


def test_an_anchor_survives_edits_around_it_moves_within_the_file_and_other_indentation(memory: Memory) -> None:
    id_, control = cite(memory), memory.add("note", "the other", files=["src/parser.py#first"])
    parse = BODY[BODY.index("def parse") : BODY.index("class Reader")]
    for text in (
        "import os\n\n\n" + BODY.replace("return 1", "return 2") + "\n\ndef last():\n    return 3\n",
        BODY.replace(parse, "") + "\n" + parse,
        BODY.replace(
            parse, "class Parser:\n" + "".join(f"    {line}\n" if line else "\n" for line in parse.split("\n"))
        ),
        BODY.replace(parse, parse.replace("    ", "\t")),
        BODY.replace("    tree = build(tokens)\n", "    tree = build(tokens)  \n\n\n"),
    ):
        memory.put("src/parser.py", text)
        assert reasons(memory, id_) == ()
    memory.put("src/parser.py", BODY.replace("def first():\n    return 1\n", ""))
    assert reasons(memory, control) != ()
    assert reasons(memory, id_) == ()


@pytest.mark.parametrize("place", ["src/parser.py#parse", "src/parser.py:5-8"])
def test_an_anchor_is_stale_when_its_text_changed_beyond_recognition(memory: Memory, place: str) -> None:
    id_ = cite(memory, place)
    memory.put("src/parser.py", BODY.replace("simplify(tree)", "tree"))
    assert reasons(memory, id_) == ()
    changed = "def parse(source):\n    lexer = Lexer(source)\n    return Grammar().accept(lexer)\n"
    parse = BODY[BODY.index("def parse") : BODY.index("\n\nclass")]
    memory.put("src/parser.py", BODY.replace(parse, changed))
    (reason,) = reasons(memory, id_)
    assert reason.startswith("anchor: ") and reason.endswith("changed beyond recognition")


def test_an_anchor_is_stale_when_its_symbol_is_gone(memory: Memory) -> None:
    id_ = cite(memory)
    memory.put("src/parser.py", "def first():\n    return 1\n")
    assert reasons(memory, id_) == ("anchor: parse is gone from src/parser.py",)


def test_a_renamed_symbol_with_the_same_body_is_still_there(memory: Memory) -> None:
    id_ = cite(memory)
    memory.put("src/parser.py", BODY.replace("def parse(text)", "def parse_text(text)"))
    assert reasons(memory, id_) == ()


@pytest.mark.parametrize(
    ("name", "text", "symbol", "first", "last"),
    [
        ("a.py", "x = 1\n\n@dec\nasync def f(a):\n    return a\n\n\ny = 2\n", "f", 4, 5),
        ("a.py", "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        pass\n", "A.g", 5, 6),
        ("a.js", "export function go(x) {\n  return x\n}\nlet y = 1\n", "go", 1, 3),
        ("a.ts", "export const go = (x) => {\n  return x\n}\n", "go", 1, 3),
        ("a.go", "func (s *Server) Run(x int) error {\n\treturn nil\n}\n", "Run", 1, 3),
        ("a.rs", "pub(crate) fn run() {\n    go();\n}\n", "run", 1, 3),
        ("a.rs", "pub struct Point {\n    x: i32,\n}\n", "Point", 1, 3),
        ("a.c", "int main(int argc)\n{\n    return 0;\n}\n", "main", 1, 4),
        ("a.java", "public class A {\n    public int size() {\n        return 1;\n    }\n}\n", "size", 2, 4),
        ("a.py", "def f(\n    a: int,\n) -> int:\n    return a\n\n\nx = 1\n", "f", 1, 4),
        ("a.py", "LIMIT = 3\nOTHER = 4\n", "LIMIT", 1, 1),
        ("a.py", "LIMIT: int = 3\n", "LIMIT", 1, 1),
    ],
)
def test_symbols_are_found_in_many_languages(
    memory: Memory, name: str, text: str, symbol: str, first: int, last: int
) -> None:
    memory.put(name, text)
    id_ = memory.add("note", "about it", files=[f"{name}#{symbol}"])
    with memory.open() as project:
        (ref,) = answers.show(project, id_).entry.fields["files"]
    assert ref["lines"] == [first, last]


# -- renames, gone and back


def test_a_committed_rename_is_followed(memory: Memory) -> None:
    anchored = cite(memory)
    plain = memory.add("note", "the file as a whole", files=["src/parser.py"])
    memory.commit("Keep the entries")
    (memory.root / "lib").mkdir()
    memory.git("mv", "src/parser.py", "lib/grammar.py")
    memory.commit("Move the parser")
    assert reasons(memory, anchored) == reasons(memory, plain) == ()
    with memory.open() as project:
        found = answers.why(project, "lib/grammar.py")
        assert {item.id for item in found.entries} == {anchored, plain}
        assert found.formerly == ("src/parser.py",)
        assert answers.brief(project, paths=["lib/grammar.py"]).reasons[0]["file_match"] == 1.0
    memory.git("rm", "-q", "lib/grammar.py")
    memory.commit("Remove it")
    assert reasons(memory, plain) == ("gone: src/parser.py no longer exists",)


def test_a_chain_of_renames_is_followed_and_a_circle_ends(memory: Memory) -> None:
    id_ = cite(memory)
    memory.commit("Keep the entry")
    for old, new in (("src/parser.py", "b.py"), ("b.py", "c.py"), ("c.py", "d.py")):
        memory.git("mv", old, new)
        memory.commit(f"Move to {new}")
    assert reasons(memory, id_) == ()
    memory.git("mv", "d.py", "b.py")
    memory.commit("Back to b")
    assert reasons(memory, id_) == ()
    memory.git("rm", "-q", "b.py")
    memory.commit("Remove it")
    assert reasons(memory, id_) != ()


def test_a_move_that_is_not_committed_is_followed_by_the_anchor(memory: Memory) -> None:
    anchored = cite(memory)
    plain = memory.add("note", "the file as a whole", files=["src/parser.py"])
    (memory.root / "lib").mkdir()
    (memory.root / "src/parser.py").rename(memory.root / "lib/parser.py")
    assert reasons(memory, anchored) == ()
    assert reasons(memory, plain) == ("gone: src/parser.py no longer exists",)


def test_a_file_with_a_new_name_is_followed_before_it_is_committed(memory: Memory) -> None:
    anchored = cite(memory)
    plain = memory.add("note", "the file as a whole", files=["src/parser.py"])
    # Namesakes do not crowd out the file that is new.
    for number in range(25):
        memory.put(f"a{number:02}/parser.py", f"number = {number}\n")
    memory.commit("Namesakes")
    memory.git("mv", "src/parser.py", "src/reader.py")
    assert (reasons(memory, anchored), reasons(memory, plain)) == ((), ())
    with memory.open() as project:
        assert {item.id for item in answers.why(project, "src/reader.py").entries} == {anchored, plain}
    memory.git("reset", "-q", "--hard")
    (memory.root / "src/parser.py").rename(memory.root / "src/scanner.py")
    assert reasons(memory, anchored) == ()
    assert reasons(memory, plain) == ("gone: src/parser.py no longer exists",)


def test_a_renamed_file_that_was_away_for_a_moment_is_fresh_again(memory: Memory) -> None:
    id_ = cite(memory)
    memory.git("mv", "src/parser.py", "src/reader.py")
    memory.commit("Rename")
    text = (memory.root / "src/reader.py").read_text(encoding="utf-8")
    (memory.root / "src/reader.py").unlink()
    assert reasons(memory, id_) == ("gone: src/parser.py no longer exists",)
    memory.put("src/reader.py", text)
    assert reasons(memory, id_) == ()
    # First deleted, then written anew elsewhere.
    (memory.root / "src/reader.py").unlink()
    assert reasons(memory, id_) == ("gone: src/parser.py no longer exists",)
    memory.put("src/other.py", text)
    with memory.open() as project:
        assert answers.stale(project) == []


def test_a_file_that_is_gone_is_said_and_one_that_is_back_is_fresh(memory: Memory) -> None:
    id_ = cite(memory, "src/parser.py")
    (memory.root / "src/parser.py").unlink()
    assert reasons(memory, id_) == ("gone: src/parser.py no longer exists",)
    memory.put("src/parser.py", BODY)
    assert reasons(memory, id_) == ()


# -- churn


def test_three_commits_are_churn_and_two_are_not(memory: Memory) -> None:
    id_ = cite(memory, "src/parser.py")
    other = memory.add("note", "about another file", files=["README.md"])
    for count in (1, 2):
        memory.commit(f"Change {count}", src__parser_py=BODY + f"# {count}\n")
        assert reasons(memory, id_) == ()
    memory.commit("Change 3", src__parser_py=BODY + "# 3\n")
    assert reasons(memory, id_) == ("churn: 3 commits touched src/parser.py since",)
    assert reasons(memory, other) == ()


def test_commits_before_the_entry_are_no_churn(memory: Memory) -> None:
    for count in range(5):
        memory.commit(f"Change {count}", a_py=f"x = {count}\n")
    id_ = memory.add("note", "about a", files=["a.py"])
    memory.commit("Keep the entry")
    assert reasons(memory, id_) == ()


@pytest.mark.parametrize("way", ["squash", "rebase", "left"])
def test_commits_count_though_the_cited_one_is_not_in_the_history_of_head(memory: Memory, way: str) -> None:
    memory.commit("Base", notes_py="0\n", other_py="0\n")
    main = memory.git("branch", "--show-current")
    memory.git("checkout", "-q", "-b", "side")
    for number in range(4):
        memory.commit("Own work", notes_py=f"own {number}\n")
    id_ = memory.add("decision", "about notes", files=["notes.py"])
    memory.commit("Memory")
    memory.git("checkout", "-q", main)
    memory.commit("Elsewhere", other_py="1\n")
    if way == "squash":
        memory.git("merge", "-q", "--squash", "side")
        memory.commit("Squashed")
    if way == "rebase":
        memory.git("rebase", "-q", main, "side")
    assert reasons(memory, id_) == ()
    for number in range(3):
        memory.commit("Change", notes_py=f"change {number}\n")
    assert any(reason.startswith("churn: ") for reason in reasons(memory, id_))


def test_a_cited_commit_without_common_history_does_not_hide_the_others(memory: Memory) -> None:
    first = memory.commit("Base", notes_py="0\n")
    memory.git("checkout", "-q", "--orphan", "pages")
    orphan = memory.commit("Pages")
    memory.git("checkout", "-q", "-B", "main", first)
    memory.add("note", "about the pages", files=["notes.py"], commit=orphan)
    id_ = memory.add("decision", "about notes", files=["notes.py"])
    for number in range(3):
        memory.commit("Change", notes_py=f"change {number}\n")
    assert reasons(memory, id_) == ("churn: 3 commits touched notes.py since",)


def test_commits_under_a_name_in_between_count(memory: Memory) -> None:
    id_ = cite(memory, "src/parser.py")
    memory.commit("Keep the entry")
    memory.git("mv", "src/parser.py", "b.py")
    memory.commit("Move to b")
    memory.commit("Change b", b_py=BODY + "# 1\n")
    assert reasons(memory, id_) == ()
    memory.git("mv", "b.py", "c.py")
    memory.commit("Move to c")
    assert reasons(memory, id_) == ("churn: 3 commits touched c.py since",)


def test_an_anchor_and_a_hot_file_are_not_stale_by_churn(memory: Memory) -> None:
    anchored, plain = cite(memory), memory.add("note", "plain", files=["src/parser.py"])
    hot = memory.add("hotfile", "it bites", path="src/parser.py")
    for count in range(4):
        memory.commit(f"Change {count}", src__parser_py=BODY + f"# {count}\n")
    assert reasons(memory, anchored) == reasons(memory, hot) == ()
    assert reasons(memory, plain) != ()


def test_a_confirmation_counts_commits_anew(memory: Memory) -> None:
    id_ = cite(memory, "src/parser.py")
    for count in range(3):
        memory.commit(f"Change {count}", src__parser_py=BODY + f"# {count}\n")
    assert reasons(memory, id_) != ()
    memory.act("confirm", id_, PERSON)
    assert reasons(memory, id_) == ()
    for count in range(3, 6):
        memory.commit(f"Change {count}", src__parser_py=BODY + f"# {count}\n")
    assert reasons(memory, id_) != ()


def test_old_commits_count_when_they_land(memory: Memory) -> None:
    memory.commit("Add a", a_py="x = 0\n")
    memory.git("checkout", "-q", "-b", "old-work")
    for count in range(3):
        memory.commit(f"Old change {count}", a_py=f"x = {count + 1}\n")
    memory.git("checkout", "-q", "main")
    memory.tick(days=5)
    id_ = memory.add("note", "about a", files=["a.py"])
    memory.commit("Keep the entry")
    assert reasons(memory, id_) == ()
    memory.tick(days=1)
    memory.git("merge", "-q", "--no-ff", "-m", "Merge old work", "old-work")
    assert reasons(memory, id_) == ("churn: 3 commits touched a.py since",)
    memory.git("reset", "-q", "--hard", "HEAD~1")
    assert reasons(memory, id_) == ()


def test_the_number_of_commits_that_make_churn_can_be_set(memory: Memory) -> None:
    with (memory.root / ".backstory/project.toml").open("a", encoding="utf-8") as file:
        file.write("[freshness]\nchurn_commits = 1\n")
    id_ = cite(memory, "src/parser.py")
    memory.commit("Change", src__parser_py=BODY + "# 1\n")
    assert reasons(memory, id_) == ("churn: 1 commits touched src/parser.py since",)


# -- what cannot be judged


def test_a_shallow_clone_says_so_and_does_not_cry_wolf(memory: Memory, tmp_path: Path) -> None:
    id_ = cite(memory, "src/parser.py")
    for count in range(4):
        memory.commit(f"Change {count}", src__parser_py=BODY + f"# {count}\n")
    assert reasons(memory, id_) != ()
    subprocess.run(["git", "clone", "-q", "--depth=1", memory.root.as_uri(), str(tmp_path / "shallow")], check=True)
    clone = Memory(tmp_path / "shallow", started=True)
    clone.now = memory.now
    assert reasons(clone, id_) == ()
    with clone.open() as project:
        assert any("shallow clone" in note for note in status.status(project).notes)
    with memory.open() as project:
        assert not any("shallow" in note for note in status.status(project).notes)


def test_without_git_age_anchor_and_gone_are_judged_and_it_is_said(tmp_path: Path, isolated: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    memory = Memory(folder)
    memory.put("a.py", BODY)
    anchored, plain = memory.add("note", "anchored", files=["a.py#parse"]), memory.add("note", "plain", files=["a.py"])
    assert reasons(memory, anchored) == reasons(memory, plain) == ()
    memory.put("a.py", "nothing\n")
    assert reasons(memory, anchored) != ()
    assert reasons(memory, plain) == ()
    (folder / "a.py").unlink()
    assert reasons(memory, plain) == ("gone: a.py no longer exists",)
    with memory.open() as project:
        assert any("no git" in note for note in status.status(project).notes)


_REPORT = """
import sys
from backstory.project import answers
from backstory.project.refresh import open_project
with open_project(sys.argv[1], now=int(sys.argv[2])) as project:
    print([(item.id, item.stale_reasons) for item in answers.timeline(project)])
    print(answers.brief(project).text)
"""


@pytest.mark.parametrize("folder", ["fresh", "behind"])
def test_the_time_zone_changes_nothing(memory: Memory, folder: str) -> None:
    cite(memory, "src/parser.py")
    memory.add("decision", "revisit it", revisit_when="2026-01-06")
    memory.add("note", "for a day", valid_until="2026-01-07", decay_days=1)
    for count in range(3):
        memory.commit(f"Change {count}", src__parser_py=BODY + f"# {count}\n")
    found = set()
    for zone in ("UTC", "Pacific/Auckland", "America/Los_Angeles", "Asia/Kolkata"):
        with memory.open() as project:
            index = Path(project.config.places.index_path)
        if folder == "fresh":
            for suffix in ("", "-wal", "-shm"):
                index.with_name(index.name + suffix).unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, "-c", _REPORT, str(memory.root), str(memory.now + 20 * 3_600_000_000)],
            env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        found.add(done.stdout)
    assert len(found) == 1
    assert "churn: 3 commits" in next(iter(found))


# -- checkouts and edits after the index is current


def test_checking_out_older_and_newer_commits_moves_freshness(memory: Memory) -> None:
    start = memory.commit("Add the parser", src__parser_py=BODY)
    plain, anchored = (
        memory.add("trial", f"about {place}", files=[place]) for place in ("src/parser.py", "src/parser.py#parse")
    )
    kept = memory.commit("Keep the entries")
    for count in range(3):
        memory.commit(f"Change {count}", src__parser_py=BODY.replace("build(tokens)", f"make_{count}(tokens)"))
    churned = memory.git("rev-parse", "HEAD")
    memory.git("rm", "-q", "src/parser.py")
    gone = memory.commit("Remove the parser")
    expected = {
        kept: ((), ()),
        churned: (("churn: 3 commits touched src/parser.py since",), ()),
        gone: (("gone: src/parser.py no longer exists",), ("gone: src/parser.py no longer exists",)),
    }
    for commit in (gone, kept, churned, gone, churned, kept):
        memory.git("checkout", "-q", commit)
        assert (reasons(memory, plain), reasons(memory, anchored)) == expected[commit]
    memory.git("checkout", "-q", start)
    with memory.open() as project:  # before the entries were written: they are in the journal alone
        assert "not in this tree" in answers.show(project, plain).entry.tags[-1]


def test_an_edit_after_the_index_is_current_is_noticed_everywhere(memory: Memory) -> None:
    id_ = cite(memory)
    memory.add("note", "a control that stays")
    memory.commit("Keep the entry")

    def seen() -> tuple[bool, ...]:
        with memory.open() as project:
            brief = id_ in answers.brief(project).ids
        with memory.open() as project:
            search = next(hit.entry for hit in answers.search(project, "src/parser.py").hits if hit.ref == id_)
        with memory.open() as project:
            why = next(item for item in answers.why(project, "src/parser.py").entries if item.id == id_)
        with memory.open() as project:
            listed = id_ not in [item.id for item in answers.stale(project)]
        text, _ = session_brief(str(memory.root), "", memory.now)
        assert search is not None and "a control that stays" in text
        return brief, search.fresh, why.fresh, listed, id_[-6:] in text

    assert seen() == (True,) * 5
    memory.put("src/parser.py", "def first():\n    return 1\n")
    assert seen() == (False,) * 5
    memory.put("src/parser.py", BODY + "# edited\n")
    assert seen() == (True,) * 5
    (memory.root / "src/parser.py").unlink()
    assert seen() == (False,) * 5


@pytest.mark.parametrize("surface", ["brief", "search", "why", "stale", "hook", "get", "status"])
def test_each_surface_alone_notices_an_edit(memory: Memory, surface: str) -> None:
    id_ = cite(memory)
    memory.commit("Keep the entry")
    with memory.open():
        pass
    memory.put("src/parser.py", "nothing left\n")
    with memory.open() as project:
        if surface == "brief":
            assert answers.brief(project).stale == 1
        elif surface == "search":
            assert [hit.entry.fresh for hit in answers.search(project, "parser").hits if hit.entry] == [False]
        elif surface == "why":
            assert [item.fresh for item in answers.why(project, "src/parser.py").entries] == [False]
        elif surface == "stale":
            assert [item.id for item in answers.stale(project)] == [id_]
        elif surface == "get":
            assert [item.fresh for item in answers.get(project)] == [False]
        elif surface == "status":
            assert status.status(project).stale == 1
    if surface == "hook":
        assert "Stale (1 withheld)" in session_brief(str(memory.root), "", memory.now)[0]


# -- git is asked once


@pytest.fixture
def git_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git on PATH that notes each call in the file that is returned."""
    real = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, text=True, check=True).stdout.strip()
    folder, log = tmp_path / "bin", tmp_path / "calls"
    folder.mkdir()
    log.touch()
    script = folder / "git"
    script.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexec "{real}" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return log


def calls(log: Path) -> list[str]:
    found = log.read_text(encoding="utf-8").splitlines()
    log.write_text("", encoding="utf-8")
    return found


def test_the_number_of_git_processes_of_a_brief_is_flat_in_the_number_of_entries(
    memory: Memory, git_calls: Path
) -> None:
    counts = {}
    for size in (2, 60):
        for number in range(size):
            memory.put(f"src/m{number}.py", BODY.replace("parse", f"parse_{number}_{size}"))
        memory.commit("Add modules")
        memory.bulk(
            [
                {"kind": "note", "summary": f"module {n} of {size}", "files": [{"path": f"src/m{n}.py"}]}
                for n in range(size)
            ]
        )
        memory.commit("Keep the entries")
        calls(git_calls)
        with memory.open() as project:
            answers.brief(project)
        behind = len(calls(git_calls))
        session_brief(str(memory.root), "", memory.now)
        warm = len(calls(git_calls))
        counts[size] = behind, warm
    assert counts[2] == counts[60]
    assert counts[60][1] == 1  # git status alone


def test_many_files_that_are_gone_cost_one_more_call_not_one_each(memory: Memory, git_calls: Path) -> None:
    for number in range(25):
        memory.put(f"src/m{number}.py", BODY.replace("parse", f"parse_{number}"))
    memory.commit("Add modules")
    ids = [memory.add("note", f"module {n}", files=[f"src/m{n}.py#parse_{n}"]) for n in range(25)]
    memory.commit("Keep the entries")
    with memory.open():
        pass
    for number in range(25):
        (memory.root / f"src/m{number}.py").unlink()
    calls(git_calls)
    with memory.open() as project:
        assert {item.id for item in answers.stale(project)} == set(ids)
    assert len(calls(git_calls)) <= 2
