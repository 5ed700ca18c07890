"""A new ticket lands where the project keeps its tickets, under a name of its own, and says what it was given."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from backstory.errors import BackstoryError, Exit
from backstory.project import slugs, tree_files
from backstory.project.setup import init
from backstory.project.ticket_writing import NewTicket, new_ticket
from backstory.sources import tickets
from backstory.sources.tickets import Ticket
from tests.project.memory import Memory


def new(memory: Memory, title: str, *, stem: str = "", folder: str = "", cwd: str = "", **fields: Any) -> NewTicket:
    memory.tick()
    with memory.open() as project:
        return new_ticket(project, title, fields, stem=stem, folder=folder, cwd=cwd)


def tree(memory: Memory) -> list[Path]:
    return sorted(path for path in memory.root.rglob("*") if ".git" not in path.relative_to(memory.root).parts[:1])


def refused(memory: Memory, title: str, **options: Any) -> BackstoryError:
    """The refusal, after which the tree is as it was."""
    before = tree(memory)
    with pytest.raises(BackstoryError) as caught:
        new(memory, title, **options)
    assert tree(memory) == before
    assert caught.value.hint
    return caught.value


def read(memory: Memory, *patterns: str) -> dict[str, Ticket]:
    return {item.stem: item for item in tickets.read(str(memory.root), patterns) if isinstance(item, Ticket)}


def settings(memory: Memory, *places: str) -> None:
    path = memory.root / ".backstory" / "project.toml"
    listed = ", ".join(f'"{place}"' for place in places)
    path.write_text(path.read_text(encoding="utf-8") + f"\n[history]\ntickets = [{listed}]\n", encoding="utf-8")


# --- what is written -------------------------------------------------------------------------------------------


def test_a_ticket_says_everything_it_was_given_and_the_readers_read_it_back(memory: Memory) -> None:
    (memory.root / "src").mkdir()
    first = new(memory, "Limit the store")
    made = new(
        memory, 'Retry: the "upload"', goal="None is lost.\n\n```sh\n## no heading\n```", why="They vanish", scope="x",
        acceptance=["10 tries", "then: an error"], verification="make test", kind="bug", priority="high",
        source="#717", touches=["./src/upload/", "src\\store.py", "src/**/*.py"], depends_on=["LIMIT-the-store"],
        cwd=str(memory.root),
    )  # fmt: skip
    assert (first.stem, made.stem, made.path) == ("limit-the-store", "retry-the-upload", "tickets/retry-the-upload.md")
    found = read(memory)["retry-the-upload"]
    assert (found.title, found.state, found.kind, found.priority) == ('Retry: the "upload"', "open", "bug", "high")
    assert found.goal == "None is lost.\n\n```sh\n## no heading\n```"
    assert (found.why, found.scope, found.verification) == ("They vanish", "x", "make test")
    assert found.acceptance == "- 10 tries\n- then: an error"
    assert found.touches_prefixes == ("src/upload/", "src/store.py", "src/")
    assert (found.depends_on_stems, found.source) == (("limit-the-store",), "#717")
    assert found.created_at == memory.now // 1_000_000 * 1_000_000
    assert made.notes == () and made.redacted == ()


def test_what_is_not_given_leaves_headings_and_no_fields(memory: Memory) -> None:
    new(memory, "Bare")
    text = (memory.root / "tickets" / "bare.md").read_bytes().decode()
    assert text == (
        "---\ntitle: Bare\nstate: open\ncreated: 2026-01-05T12:00:02Z\n---\n\n## Goal\n\n## Why\n\n## Scope\n"
        "\n## Acceptance criteria\n\n## Context files\n\n## Verification\n"
    )


def test_secrets_are_taken_out_of_every_text_and_of_the_name(memory: Memory) -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    made = new(
        memory, f"Drop {secret}", goal=f"with {secret}", acceptance=[secret], source=secret, depends_on=[secret],
        touches=[f"https://me:{secret}@example.org/x"],
    )  # fmt: skip
    written = (memory.root / made.path).read_text(encoding="utf-8")
    assert secret not in written + made.path + made.title + "".join(made.notes)
    assert made.redacted and "redacted" in written
    assert made.stem.startswith("drop-redacted")


def test_paths_are_taken_from_the_folder_one_stands_in_and_never_from_outside(memory: Memory) -> None:
    (memory.root / "src" / "deep").mkdir(parents=True)
    made = new(memory, "Here", touches=["a.py", "../b.py"], cwd=str(memory.root / "src" / "deep"))
    assert read(memory)[made.stem].touches_prefixes == ("src/deep/a.py", "src/b.py")
    assert refused(memory, "There", touches=["../../etc/passwd"]).code == Exit.REFUSED
    assert refused(memory, "All", touches=["."])


def test_an_unknown_dependency_is_kept_and_said(memory: Memory) -> None:
    made = new(memory, "Waits", depends_on=["nobody", "nobody"])
    assert made.notes[0] == "it depends on nobody, which is no ticket here: kept as written"
    assert read(memory)["waits"].depends_on_stems == ("nobody",)


def test_control_characters_and_broken_text_cannot_make_a_file_that_is_no_text(memory: Memory) -> None:
    made = new(memory, "A\0 title\x1b[31m\nin two \udcff lines", goal="one\0\r\ntwo\rthree")
    found = read(memory)[made.stem]
    assert found.title == "A title[31m in two ? lines"
    assert found.goal == "one\ntwo\nthree"


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "~~~~~", "``` sh"])
def test_code_that_is_never_closed_does_not_take_in_what_follows(memory: Memory, fence: str) -> None:
    made = new(memory, "Code", goal=f"See\n{fence}\nx = 1", why="Because")
    assert read(memory)[made.stem].why == "Because"
    assert f"{fence}\nx = 1\n" in str(read(memory)[made.stem].goal)
    whole = new(memory, "Whole", goal="```\nx\n```")
    assert read(memory)[whole.stem].goal == "```\nx\n```"


@pytest.mark.parametrize("title", ["", "   ", "\0", "\n\t"])
def test_a_title_without_text_is_refused(memory: Memory, title: str) -> None:
    assert "title" in refused(memory, title).message


def test_what_is_too_long_is_refused_with_what_would_help(memory: Memory) -> None:
    assert "300 is the limit" in refused(memory, "x" * 301).message
    assert "1 MiB" in refused(memory, "Long", goal="word " * 300_000).message
    assert new(memory, "x" * 300).stem


# --- the name --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("Don't retry, ever!", "dont-retry-ever"),
        ("アップロードを直す", "アップロードを直す"),
        ("Größe   prüfen (v1.2)", "größe-prüfen-v1-2"),
        ("ความจำของโครงการ", "ความจำของโครงการ"),
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "con-ticket"),
        ("lpt1", "lpt1-ticket"),
        ("README", "readme-ticket"),
        ("Templates", "templates-ticket"),
        ("run", "run-ticket"),
        ("x.run", "x-run"),
        ("🚀 🚀", "ticket-2026-01-05"),
        ("Ａ　Ｂ", "ａ-ｂ"),
        ("word " * 30, "word-word-word-word-word-word-word-word-word-word-word-word"),
    ],
)
def test_the_name_is_made_of_the_title_in_any_script(memory: Memory, title: str, stem: str) -> None:
    made = new(memory, title)
    assert (made.stem, made.path) == (stem, f"tickets/{stem}.md")
    assert stem in read(memory)


def test_a_long_title_of_wide_letters_makes_a_name_that_fits_every_file_system(memory: Memory) -> None:
    made = new(memory, "長" * 200)
    assert len(f"{made.stem}.run.md".encode()) <= 143
    assert set(made.stem) == {"長"}


def test_the_same_title_twice_makes_two_tickets(memory: Memory) -> None:
    stems = [new(memory, title).stem for title in ("Fix it", "fix IT!", "Fix it")]
    assert stems == ["fix-it", "fix-it-2", "fix-it-3"]
    assert new(memory, "Fix it").notes == ("fix-it is the name of another ticket",)


def test_a_name_is_taken_by_an_id_by_another_place_and_by_records_of_a_ticket_that_is_gone(memory: Memory) -> None:
    memory.put("tickets/done/fix.md", "# Fix\n")
    memory.put("tickets/other.md", "---\nid: cache\n---\n# Other\n")
    memory.put("tickets/gone.run.md", "---\noutcome: done\n---\n")
    assert [new(memory, title).stem for title in ("Fix", "Cache", "Gone", "Free")] == [
        "fix-2", "cache-2", "gone-2", "free",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "stem",
    ["../out", "a/b", "a\\b", "/abs", "..", ".hidden", "nul", "aux.txt", "x.run", "dot.", "tab\tbed", "a:b", "readme",
     "x" * 201, "ticket", "-rf", "#1", "[[x]]", "`x`", "x.md", "COM¹"],
)  # fmt: skip
def test_a_stem_that_is_no_name_everywhere_is_refused(memory: Memory, stem: str) -> None:
    assert "cannot be the stem" in refused(memory, "Title", stem=stem).message


def test_a_chosen_stem_is_kept_as_it_is_and_refused_where_it_is_taken(memory: Memory) -> None:
    made = new(memory, "Anything", stem="Ada's ticket 2")
    assert made.path == "tickets/Ada's ticket 2.md"
    said = refused(memory, "Other", stem="ada's TICKET 2")
    assert said.code == Exit.REFUSED and "another ticket" in said.message


def test_many_at_once_get_names_of_their_own(memory: Memory) -> None:
    memory.tick()

    def one(number: int) -> str:
        with memory.open() as project:
            return new_ticket(project, "Same", {"goal": str(number)}).stem

    with ThreadPoolExecutor(8) as pool:
        stems = list(pool.map(one, range(16)))
    assert len(set(stems)) == 16
    assert {ticket.goal for ticket in read(memory).values()} == {str(number) for number in range(16)}


# --- the place -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("existing", "places", "path"),
    [
        ((), (), "tickets/a.md"),
        (("docs/tickets",), (), "docs/tickets/a.md"),
        ((".tickets", "docs/tickets"), (), ".tickets/a.md"),
        (("backlog",), (), "backlog/a.md"),
        (("plans",), ("work/items", "plans"), "plans/a.md"),
        ((), ("work/items", "plans"), "work/items/a.md"),
        (("spec",), ("spec/**/*.md",), "spec/a.md"),
        ((), ("work/{open,done}",), "work/open/a.md"),
    ],
)
def test_it_goes_to_the_first_place_that_exists(
    memory: Memory, existing: tuple[str, ...], places: tuple[str, ...], path: str
) -> None:
    for folder in existing:
        (memory.root / folder).mkdir(parents=True)
    if places:
        settings(memory, *places)
    assert new(memory, "A").path == path
    assert "a" in read(memory, *places)


def test_a_folder_named_is_used_where_tickets_are_read_and_refused_elsewhere(memory: Memory) -> None:
    made = new(memory, "A", folder="tickets/in-progress")
    assert (made.path, made.state) == ("tickets/in-progress/a.md", "in-progress")
    assert "state:" not in (memory.root / made.path).read_text(encoding="utf-8")
    said = refused(memory, "B", folder="planning/deep")
    assert "would not be read" in said.message and "project.toml" in said.hint
    settings(memory, "planning")
    assert new(memory, "B", folder="planning/deep").path == "planning/deep/b.md"


@pytest.mark.parametrize("folder", ["..", "../elsewhere", "/tmp", ".git/hooks", ".backstory", ".", "src/../../x"])
def test_a_folder_outside_of_the_project_or_of_git_is_refused(memory: Memory, folder: str) -> None:
    refused(memory, "A", folder=folder)
    assert new(memory, "A", folder="tickets").path == "tickets/a.md"


def test_most_tickets_with_a_folder_each_make_the_new_one_so(memory: Memory) -> None:
    for stem in ("one", "two"):
        memory.put(f"tickets/{stem}/ticket.md", f"# {stem}\n")
    assert new(memory, "Three").path == "tickets/three/ticket.md"
    assert set(read(memory)) == {"one", "two", "three"}


def test_nothing_is_written_through_a_link(memory: Memory, tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", memory.root / "real"
    outside.mkdir()
    inside.mkdir()
    (memory.root / "tickets").symlink_to(outside, target_is_directory=True)
    (memory.root / "backlog").symlink_to(inside, target_is_directory=True)
    assert "symbolic link" in refused(memory, "A").message
    refused(memory, "A", folder="tickets")
    assert "symbolic link" in refused(memory, "A", folder="backlog").message
    assert list(outside.iterdir()) == list(inside.iterdir()) == []
    (memory.root / "docs" / "tickets").mkdir(parents=True)
    assert new(memory, "A").path == "docs/tickets/a.md"


def test_a_dangling_link_in_the_way_is_not_written_through(memory: Memory, tmp_path: Path) -> None:
    (memory.root / "tickets").mkdir()
    (memory.root / "tickets" / "a.md").symlink_to(tmp_path / "target")
    assert "symbolic link" in refused(memory, "A").message
    assert not (tmp_path / "target").exists()


def test_a_place_that_cannot_be_written_is_said(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.put("tickets", "a file\n")
    assert "cannot be written" in refused(memory, "A").message
    (memory.root / "tickets").unlink()
    real = os.open

    def denied(path: Any, *more: Any, **named: Any) -> int:
        if str(path).endswith("a.md"):
            raise PermissionError(13, "Permission denied")
        return real(path, *more, **named)

    with monkeypatch.context() as patch:
        patch.setattr(tree_files.os, "open", denied)
        said = refused(memory, "A")
    assert said.message == "Nothing was written: tickets/a.md cannot be written (Permission denied)."
    assert said.code == Exit.REFUSED
    assert new(memory, "A").path == "tickets/a.md"


def test_a_full_disk_leaves_no_half_of_a_ticket(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(tree_files.os, "fsync", full)
        assert "No space left" in refused(memory, "A").message
    assert new(memory, "A").stem == "a"


def test_a_project_without_git_has_tickets_too(tmp_path: Path) -> None:
    folder = tmp_path / "プロジェクト it's mine"
    folder.mkdir()
    init(str(folder), now=1)
    assert new(Memory(folder, started=True), "A").path == "tickets/a.md"


# --- a tree of Backlog.md --------------------------------------------------------------------------------------


@pytest.fixture
def backlog(memory: Memory) -> Callable[[str], Memory]:
    def make(config: str) -> Memory:
        memory.put("backlog/config.yml", config)
        memory.put("backlog/tasks/back-9 - Nine.md", "---\nid: BACK-9\ntitle: Nine\n---\n")
        memory.put("backlog/archive/tasks/back-11.2 - Eleven.md", "---\nid: BACK-11.2\ntitle: Eleven\n---\n")
        memory.put("backlog/drafts/draft-4 - Draft.md", "---\nid: DRAFT-4\ntitle: Draft\n---\n")
        return memory

    return make


def test_a_tree_of_backlog_md_gets_a_task_as_that_tool_writes_it(backlog: Callable[[str], Memory]) -> None:
    memory = backlog('task_prefix: "back"\ndefault_status: "To Do"\nstatuses: ["To Do", "Done"]\n')
    made = new(
        memory, "Fix: what's (odd) / here?", goal="A goal", why="A reason", acceptance=["one", "two"], kind="bug",
        priority="low", touches=["src/a.py"], depends_on=["9", "back-11.2"],
    )  # fmt: skip
    assert (made.id, made.state) == ("BACK-12", "To Do")
    assert made.path == "backlog/tasks/back-12 - Fix-whats-odd-here.md"
    assert (memory.root / made.path).read_text(encoding="utf-8") == (
        '---\nid: BACK-12\ntitle: "Fix: what\'s (odd) / here?"\nstatus: To Do\nassignee: []\n'
        'created_date: "2026-01-05 12:00"\nlabels: []\ndependencies:\n  - BACK-9\n  - BACK-11.2\n'
        "modified_files:\n  - src/a.py\npriority: low\ntype: bug\n---\n\n"
        "## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nA goal\n<!-- SECTION:DESCRIPTION:END -->\n\n"
        "## Why\n\nA reason\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [ ] #1 one\n- [ ] #2 two\n<!-- AC:END -->\n"
    )
    found = read(memory)[made.stem]
    assert (found.id, found.goal, found.why, found.kind) == ("BACK-12", "A goal", "A reason", "bug")
    assert found.depends_on_stems == ("back-9 - Nine", "back-11.2 - Eleven")
    assert new(memory, "日本語").path == "backlog/tasks/back-13 - 日本語.md"
    assert new(memory, "???").path == "backlog/tasks/back-14 - untitled.md"


def test_settings_of_backlog_md_give_digits_and_state_and_its_drafts_count_apart(
    backlog: Callable[[str], Memory],
) -> None:
    memory = backlog("task_prefix: back\nzero_padded_ids: 3\ndefault_status: Icebox\n")
    assert (new(memory, "A").path, new(memory, "B", state="Doing").state) == ("backlog/tasks/back-012 - A.md", "Doing")
    draft = new(memory, "C", folder="backlog/drafts")
    assert (draft.path, draft.id, draft.state) == ("backlog/drafts/draft-005 - C.md", "DRAFT-005", "Draft")
    assert "by id and title" in refused(memory, "D", stem="d").message
    assert new(memory, "D", stem="d", folder="tickets").path == "tickets/d.md"


@pytest.mark.parametrize("config", ["", ": [\n", "task_prefix: 'x-1'\nzero_padded_ids: many\n", "\0"])
def test_settings_that_make_no_sense_leave_the_usual_ones(backlog: Callable[[str], Memory], config: str) -> None:
    made = new(backlog(config), "A")
    assert made.path in ("backlog/tasks/task-1 - A.md", "backlog/a.md")
    assert (made.path == "backlog/a.md") == ("\0" in config)


def test_many_tasks_at_once_get_numbers_of_their_own(backlog: Callable[[str], Memory]) -> None:
    memory = backlog("task_prefix: back\n")

    def one(number: int) -> str:
        with memory.open() as project:
            return new_ticket(project, f"Task {number}", {}).id

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(one, range(8))) == [f"BACK-{number}" for number in range(12, 20)]


def test_slugs_are_names_on_every_system() -> None:
    for title in ("a" * 500, "é" * 200, "e\u0301" * 200, "nul", "COM¹", "a.b.", "-x-", "İstanbul", "\u202eevil"):
        name = slugs.slug(title)
        assert name and slugs.checked(name) == name, title
    assert slugs.slug("...") == ""


def test_a_text_that_cannot_be_checked_for_secrets_is_withheld(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> None:
        raise RuntimeError(text)

    with monkeypatch.context() as patch:
        patch.setattr("backstory.project.prose.secrets.redact", broken)
        made = new(memory, "Key", goal="hunter2", stem="key")
    assert "hunter2" not in (memory.root / made.path).read_text(encoding="utf-8")
    assert made.redacted == ("withheld",)
    again = new(memory, "Key two", goal="hunter2")
    assert "hunter2" in (memory.root / again.path).read_text(encoding="utf-8")
