"""A ticket is found by whatever people call it and shown with all that belongs to it, however odd the tree."""

import os
import subprocess
from pathlib import Path

import pytest

from backstory.errors import BackstoryError
from backstory.project.ticketing import TicketDetail, TicketList, is_open, list_tickets, show_ticket
from tests.project.memory import AGENT, HOOK, PERSON, Memory


def listed(memory: Memory, **options: object) -> TicketList:
    with memory.open() as project:
        return list_tickets(project, **options)  # type: ignore[arg-type]


def shown(memory: Memory, name: str, cwd: str = "") -> TicketDetail:
    with memory.open() as project:
        return show_ticket(project, name, cwd=cwd)


@pytest.fixture
def tree(memory: Memory) -> Memory:
    """Five tickets, one of them with two runs."""
    memory.put(
        "tickets/todo/upload.md",
        "---\ntitle: Retry\nkind: Bug\ndepends_on: [store, back-12, gone]\n---\n## Goal\nMore\n",
    )
    memory.put("tickets/done/store.md", "---\ntitle: Limit\nstatus: ✔ Done\n---\n")
    memory.put("tickets/back-12 - Cache it.md", "---\nid: BACK-12\ntitle: Cache\nstate: In Progress\n---\n")
    memory.put("tickets/back-2 - First.md", "---\nid: BACK-2\ntitle: First\n---\n")
    memory.put("tickets/アップ's ticket/ticket.md", "# 直す\n\nこれを直す\n")
    memory.put("tickets/todo/upload.run.md", "---\noutcome: failed\nended_at: 2026-01-02\nactual_files: 2\n---\n")
    memory.put("tickets/todo/upload/attempts/2/run.md", "---\nstarted_at: 2026-01-03\n---\n## Dead ends\nA lock\n")
    return memory


def test_a_list_has_the_open_ones_first_and_says_what_they_wait_for(tree: Memory) -> None:
    found = listed(tree).tickets
    assert [item.stem for item in found] == [
        "back-2 - First", "back-12 - Cache it", "upload", "アップ's ticket", "store",
    ]  # fmt: skip
    upload = found[2]
    assert (upload.state, upload.open, upload.runs, upload.outcome) == ("todo", True, 2, "")
    assert upload.depends_on == ("store", "back-12 - Cache it", "gone")
    assert upload.waits_for == ("back-12 - Cache it",)
    assert (found[4].state, found[4].open) == ("Done", False)


def test_a_list_can_be_narrowed_in_any_spelling(tree: Memory) -> None:
    assert [item.stem for item in listed(tree, states=["in-progress"]).tickets] == ["back-12 - Cache it"]
    assert [item.stem for item in listed(tree, states=["TODO", "done"]).tickets] == ["upload", "store"]
    assert [item.stem for item in listed(tree, kinds=["bug"]).tickets] == ["upload"]
    assert "store" not in [item.stem for item in listed(tree, open_only=True).tickets]
    assert listed(tree, states=["nothing"]).tickets == ()


@pytest.mark.parametrize(
    ("state", "open_"),
    [("Done", False), ("Won't Do", False), ("wont-fix", False), ("Archived", False), ("To Do", True), (None, True),
     ("", True), ("in review", True), ("Draft", True), ("cancelled", False), ("Completed", False)],
)  # fmt: skip
def test_a_state_is_open_unless_it_says_that_nothing_is_left_to_do(state: str | None, open_: bool) -> None:
    assert is_open(state) is open_


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("upload", "upload"), ("UPLOAD", "upload"), ("upl", "upload"), ("tickets/todo/upload.md", "upload"),
        ("./tickets/todo/upload.run.md", "upload"), ("tickets/todo/upload/attempts/2/run.md", "upload"),
        ("[[upload]]", "upload"), ("back-12", "back-12 - Cache it"), ("BACK-012", "back-12 - Cache it"),
        ("12", "back-12 - Cache it"), ("アップ's ticket", "アップ's ticket"), ("アップ", "アップ's ticket"),
        ("tickets/アップ's ticket/ticket.md", "アップ's ticket"), ("back-2", "back-2 - First"),
    ],
)  # fmt: skip
def test_a_ticket_is_found_by_whatever_it_is_called(tree: Memory, name: str, stem: str) -> None:
    if name in ("12",):
        # A number alone means the usual prefix of the tree, which two of five tickets do not make.
        tree.put("tickets/back-3 - Third.md", "---\nid: BACK-3\n---\n")
        tree.put("tickets/back-4 - Fourth.md", "---\nid: BACK-4\n---\n")
    assert shown(tree, name).ticket.stem == stem


def test_a_path_is_taken_from_the_folder_one_stands_in(tree: Memory) -> None:
    tree.put("docs/tickets/upload.md", "# Another one\n")
    assert shown(tree, "upload.md", str(tree.root / "docs/tickets")).ticket.path == "docs/tickets/upload.md"
    assert shown(tree, "upload.md", str(tree.root / "tickets/todo")).ticket.path == "tickets/todo/upload.md"


@pytest.mark.parametrize(
    "name", ["", " ", "nobody", "../../etc/passwd", "/etc/passwd", "*", "%", "back-", "\0", "store/x"]
)
def test_a_name_that_none_or_several_have_is_refused_with_a_next_step(tree: Memory, name: str) -> None:
    with pytest.raises(BackstoryError) as caught:
        shown(tree, name)
    assert caught.value.hint


def test_a_ticket_is_shown_with_all_that_belongs_to_it(tree: Memory) -> None:
    found = shown(tree, "upload")
    assert found.texts == {"goal": "More"}
    assert [(run.attempt, run.finished, run.path) for run in found.runs] == [
        (1, True, "tickets/todo/upload.run.md"), (2, False, "tickets/todo/upload/attempts/2/run.md"),
    ]  # fmt: skip
    assert found.runs[0].fields == {"outcome": "failed", "ended_at": "2026-01-02T00:00:00.000000Z", "actual_files": 2}
    assert found.runs[1].fields["dead_ends_text"] == "A lock"
    assert [(place.file, place.why) for place in found.warnings] == [
        ("tickets/todo/upload.md", "it depends on gone, which is no ticket here"),
        ("tickets/todo/upload.run.md", "`ended_at` is a date without a zone, read as UTC"),
        ("tickets/todo/upload/attempts/2/run.md", "`started_at` is a date without a zone, read as UTC"),
    ]
    assert shown(tree, "store").needed_by == ("upload",)
    assert shown(tree, "store").warnings == ()


def test_the_live_entries_that_cite_a_ticket_in_any_way_are_shown_and_no_others(tree: Memory) -> None:
    ids = {
        name: tree.add("decision", f"Decide {name}", AGENT, **fields)
        for name, fields in {
            "stem": {"ticket": "upload"}, "path": {"ticket": "tickets/todo/upload.md"}, "case": {"ticket": "Upload"},
            "file": {"files": ["tickets/todo/upload.md"]}, "record": {"files": ["tickets/todo/upload.run.md"]},
            "other": {"ticket": "store"}, "unknown": {"ticket": "upload-2"}, "none": {},
            "rejected": {"ticket": "upload"}, "retired": {"ticket": "upload"}, "old": {"ticket": "upload"},
        }.items()
    }  # fmt: skip
    tree.record("note", "Proposed by a hook", HOOK, ticket="upload")
    tree.act("reject", ids["rejected"], PERSON)
    tree.act("retire", ids["retired"], PERSON)
    new = tree.add("decision", "Decide anew", AGENT, supersedes=[ids["old"]], ticket="upload")
    found = shown(tree, "upload").entries
    assert [item.id for item in found] == [new, *(ids[name] for name in ("record", "file", "case", "path", "stem"))]
    assert all(item.live for item in found)
    assert [item.id for item in shown(tree, "store").entries] == [ids["other"]]
    by_id = tree.add("decision", "By its number", AGENT, ticket="BACK-12")
    assert [item.id for item in shown(tree, "back-12").entries] == [by_id]
    assert shown(tree, "アップ").entries == ()


def test_entries_whose_cited_file_is_gone_are_shown_stale(tree: Memory) -> None:
    tree.put("src/a.py", "a\n")
    tree.add("decision", "Rests on a file", AGENT, ticket="upload", files=["src/a.py"])
    assert shown(tree, "upload").entries[0].fresh
    (tree.root / "src/a.py").unlink()
    assert not shown(tree, "upload").entries[0].fresh


def test_an_odd_tree_is_listed_whole_and_each_ticket_shown(memory: Memory) -> None:
    odd = {
        "bom.md": "\ufeff---\r\ntitle: BOM\r\n---\r\n".encode(),
        "tabs.md": b"---\ntitle:\tTabs\n\tstate: open\n---\n",
        "yaml.md": b"---\nassignee: @me\ntitle: a: b: c\n---\n",
        "none.md": b"no frontmatter at all",
        "empty.md": b"",
        "conflict.md": b"---\n<<<<<<< ours\ntitle: A\n=======\ntitle: B\n>>>>>>> theirs\n---\n",
        "latin.md": b"---\ntitle: caf\xe9\n---\n",
        "dates.md": b"---\ncreated: soon\nupdated: 2026-13-45\n---\n",
        "一つ 二つ.md": "# 題\n".encode(),
        "list.md": b"# T\n\n- Status: Done\n- Priority: high\n",
        "dup.md": b"---\nid: X-1\n---\n",
        "dup2.md": b"---\nid: X-1\n---\n",
    }
    for name, data in odd.items():
        memory.put(f"tickets/{name}", "").write_bytes(data)
    memory.put("tickets/binary.md", "").write_bytes(b"\0\1")
    os.symlink("/etc/hostname", memory.root / "tickets" / "link.md")
    memory.put("tickets/README.md", "# How we work\n")
    found = listed(memory)
    assert {item.path.removeprefix("tickets/") for item in found.tickets} == set(odd)
    assert [place.file for place in found.skipped] == ["tickets/binary.md", "tickets/link.md"]
    for item in found.tickets:
        assert shown(memory, item.path).ticket == item
    with pytest.raises(BackstoryError, match="holds a NUL"):
        shown(memory, "binary")
    assert [place.why for place in shown(memory, "dup2").warnings] == ["the id X-1 is also that of tickets/dup.md"]


def test_a_project_without_tickets_lists_none(memory: Memory) -> None:
    assert listed(memory) == TicketList((), ())
    with pytest.raises(BackstoryError) as caught:
        shown(memory, "a")
    assert "ticket new" in caught.value.hint


# A folder of clones by name, for whoever has them.
CLONES = os.environ.get("TEST_CLONES", "")
REAL = [
    ("Backlog.md", "6286bf972ce376cf7b9c30b3cf329d856c08285b", 680),
    ("ariadne", "61c25ea39979d64a1fe4ea79a6ab4be15b958e2e", 902),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "commit", "count"), REAL)
def test_every_ticket_of_a_real_tree_is_found_by_stem_and_by_path(
    tmp_path: Path, name: str, commit: str, count: int
) -> None:
    source, root = Path(CLONES) / name, tmp_path / "clone"
    if not CLONES or not source.is_dir():
        pytest.skip(f"TEST_CLONES names no folder that holds a clone of {name}")
    for args in (["clone", "-q", "-n", str(source), str(root)], ["-C", str(root), "checkout", "-q", "-b", "x", commit]):
        subprocess.run(["git", *args], check=True, stdin=subprocess.DEVNULL)
    memory = Memory(root)
    from backstory.project.ticket_tree import TicketTree

    with memory.open() as project:
        tickets = list_tickets(project).tickets
        tree = TicketTree(project.config)
        assert len(tickets) == count
        for item in tickets:
            assert tree.ticket(item.path).path == item.path
            assert tree.ticket(item.stem).stem == item.stem
        for item in tickets[::100]:
            assert show_ticket(project, item.path).ticket == item
