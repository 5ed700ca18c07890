"""Tickets are read whole whatever state their tree is in; nothing that is odd is passed over in silence."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backstory.records.times import parse_instant
from backstory.sources import ticket_places, tickets
from backstory.sources.skipped import Skipped, Warned
from backstory.sources.ticket_places import TICKET, Found
from backstory.sources.tickets import Ticket, parse_ticket, ticket_text

FULL = """\
---
title: Retry the upload
state: open
source: meeting
kind: bug
priority: high
depends_on: [store, limits]
touches:
  - src/upload/**
  - ./src/net.py
created: 2026-03-01T10:00:00Z
updated: 2026-03-02T10:00:00+02:00
---

# Another title

## Goal

No upload is lost.

## Why
People lose work.

## Scope
The client.

## Acceptance criteria
- [ ] three tries

## Context files
- `src/other.py`

## Verification
make test
"""


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def read(root: Path, *patterns: str) -> dict[str, Ticket]:
    return {item.path: item for item in tickets.read(str(root), patterns) if isinstance(item, Ticket)}


def notes(root: Path, *patterns: str) -> list[Skipped | Warned]:
    return [item for item in tickets.read(str(root), patterns) if not isinstance(item, Ticket)]


def parse(text: str, stem: str = "t", state: str | None = None) -> Ticket:
    return parse_ticket(text, Found(f"tickets/{stem}.md", TICKET, stem, state=state))[0]


def warnings(text: str) -> list[tuple[int, str]]:
    return [(item.line, item.why) for item in parse_ticket(text, Found("tickets/t.md", TICKET, "t"))[1]]


def test_every_field_of_the_contract_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"tickets/upload.md": FULL, "tickets/store.md": "", "tickets/limits/ticket.md": ""})
    assert read(tmp_path)["tickets/upload.md"] == Ticket(
        stem="upload",
        path="tickets/upload.md",
        title="Retry the upload",
        state="open",
        source="meeting",
        goal="No upload is lost.",
        why="People lose work.",
        scope="The client.",
        acceptance="- [ ] three tries",
        touches_prefixes=("src/upload/", "src/net.py"),
        depends_on_stems=("store", "limits"),
        created_at=parse_instant("2026-03-01T10:00:00Z"),
        updated_at=parse_instant("2026-03-02T08:00:00Z"),
        kind="bug",
        priority="high",
        verification="make test",
    )
    assert notes(tmp_path) == []


# --- where tickets lie -----------------------------------------------------------------------------------------


def test_the_usual_places_are_read_and_their_neighbours_are_not(tmp_path: Path) -> None:
    names = [
        *("backlog/a.md", "backlog/tasks/task-1 - b.md", "backlog/completed/c.md", "backlog/archive/tasks/d.md"),
        *("backlog/drafts/e.md", "tickets/f.md", "tickets/done/g.md", "tickets/h/ticket.md", ".tickets/i.md"),
        *("docs/tickets/j.md", "tickets/deep/er/k.MD", "tickets/l/m.md", "tickets/done/run.md"),
    ]
    others = [
        *("backlog/docs/x.md", "backlog/decisions/x.md", "backlog/milestones/x.md", "backlog/config.yml", "x.md"),
        *("tickets/.hidden/x.md", "tickets/.x.md", "tickets/assets/x.md", "tickets/h/notes.md", "tickets/x.txt"),
        *("tickets/f.run.md", "tickets/f/run.md", "tickets/h/run.md", "tickets/h/attempts/1/run.md"),
        *("tickets/f/attempts/2/run.md", "tickets/f/attempts/2/x.md", "docs/x.md"),
    ]
    write(tmp_path, dict.fromkeys([*names, *others], "# T\n"))
    found = read(tmp_path)
    assert list(found) == sorted(names, key=lambda name: name.split("/"))
    assert found["tickets/h/ticket.md"].stem == "h"
    assert found["backlog/tasks/task-1 - b.md"].id == "task-1"
    assert notes(tmp_path) == []


@pytest.mark.parametrize(
    ("pattern", "want"),
    [
        ("work", ["work/a.md", "work/b/ticket.md", "work/c/d.md"]),
        ("./work/", ["work/a.md", "work/b/ticket.md", "work/c/d.md"]),
        ("work/*.md", ["work/a.md"]),
        ("work/*/ticket.md", ["work/b/ticket.md"]),
        ("**/*.md", ["other/x.md", "work/a.md", "work/b/ticket.md", "work/c/d.md"]),
        ("wor[k]/{a,c/d}.md", ["work/a.md", "work/c/d.md"]),
        ("**/c", ["work/c/d.md"]),
        (".", ["other/x.md", "work/a.md", "work/b/ticket.md", "work/c/d.md"]),
    ],
)
def test_places_are_folders_or_globs(tmp_path: Path, pattern: str, want: list[str]) -> None:
    write(tmp_path, dict.fromkeys(["work/a.md", "work/b/ticket.md", "work/c/d.md", "work/a.run.md", "other/x.md"], ""))
    assert list(read(tmp_path, pattern)) == want
    assert list(read(tmp_path, pattern, pattern, "work")) == sorted({*want, *read(tmp_path, "work")})


@pytest.mark.parametrize("pattern", ["../other", "/etc", "a/../..", "C:\\x", "\\x", "nowhere", "no*where/x", "a\0b"])
def test_a_place_outside_of_the_project_or_not_there_is_reported(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, {"other/x.md": "", "root/a.md": ""})
    (note,) = notes(tmp_path / "root", pattern)
    assert isinstance(note, Warned) and note.file == pattern and "place" in note.why
    assert notes(tmp_path / "root", ".") == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"secret.md": "# Secret\n"})
    root = write(tmp_path / "root", {"tickets/a.md": "# A\n", "work/b.md": "# B\n"})
    (root / "tickets/link.md").symlink_to(outside / "secret.md")
    (root / "tickets/gone.md").symlink_to("nowhere")
    (root / "tickets/self.md").symlink_to("self.md")
    (root / "tickets/folder").symlink_to(outside)
    (root / "tickets/loop").symlink_to("loop")
    (root / "docs").symlink_to(outside)
    (root / "work/b").symlink_to(outside)
    assert list(read(root)) == ["tickets/a.md"]
    skipped = notes(root)
    assert [note.file for note in skipped] == [
        *("docs", "tickets/folder", "tickets/gone.md", "tickets/link.md", "tickets/self.md")
    ]
    assert {type(note) for note in skipped} == {Skipped} and len({note.why for note in skipped}) == 1
    assert list(read(root, "work/*.md")) == ["work/b.md"]


def test_what_is_no_text_is_skipped_with_the_reason(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "tickets/a.md": "# A\n",
            "tickets/binary.md": b"\x89PNG\0\0",
            "tickets/huge.md": b"x" * (ticket_places.MAX_BYTES + 1),
            "tickets/README.md": "# How we work\n",
        },
    )
    os.mkfifo(root / "tickets/pipe.md")
    assert list(read(root)) == ["tickets/a.md"]
    assert {note.file: note.why.split(":")[0] for note in notes(root)} == {
        "tickets/README.md": "no ticket",
        "tickets/binary.md": "no text",
        "tickets/huge.md": "larger than 1 MiB",
        "tickets/pipe.md": "no regular file",
    }


def test_what_may_not_be_read_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path, {"tickets/a.md": "", "tickets/b/c.md": "", "tickets/d.md": ""})
    refuse = {str(root / "tickets/a.md"), str(root / "tickets/b")}

    def guarded(real):
        def call(path, *rest):
            if path in refuse:
                raise PermissionError(13, "Permission denied", path)
            return real(path, *rest)

        return call

    monkeypatch.setattr(ticket_places.os, "open", guarded(os.open))
    monkeypatch.setattr(ticket_places.os, "scandir", guarded(os.scandir))
    why = "it cannot be read (Permission denied)"
    assert notes(root) == [Skipped("tickets/b", 0, why), Skipped("tickets/a.md", 0, why)]
    assert list(read(root)) == ["tickets/d.md"]


def test_names_of_any_script_with_spaces_and_broken_bytes_are_read(tmp_path: Path) -> None:
    root = write(tmp_path, {"tickets/task-1 - Größe ändern — 改善.md": "# T\n", "tickets/ .md": "# S\n"})
    with open(os.path.join(os.fsencode(root), b"tickets/latin-\xe9.md"), "wb") as file:
        file.write(b"# L\n")
    found = read(root)
    assert set(found) == {"tickets/task-1 - Größe ändern — 改善.md", "tickets/ .md", "tickets/latin-\ufffd.md"}
    assert found["tickets/latin-\ufffd.md"].title == "L"


def test_the_order_is_always_the_same(tmp_path: Path) -> None:
    names = [f"tickets/{name}.md" for name in ("b", "a", "c/a", "c", "B", "ä")]
    write(tmp_path, dict.fromkeys(names, "---\ncreated: soon\n---\n"))
    first = list(tickets.read(str(tmp_path)))
    assert first == list(tickets.read(str(tmp_path))) and len(first) >= 12


# --- what they say ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("---\nstate: open\nstatus: x\n---\n# T\n\n- Status: y\n", "open"),
        ("---\nStatus: To Do\n---\n", "To Do"),
        ("---\nstatus: ○ To Do\n---\n", "To Do"),
        ("---\nstatus:\n---\n# T\n\n- **Status:** Done\n", "Done"),
        ("# T\n\n**Status**: `Completed` ✅\n", "Completed"),
        ("# T\nStatus: COMPLETED (2026-01-01)\n", "COMPLETED"),
        ("* State: In Progress — nearly\n", "In Progress"),
        ("# T\n\n| Status | Blocked |\n", "Blocked"),
        ("# T\n\n## Status\n\nPending\n\nmore\n", "Pending"),
        ("# T\n\n## Status\n- **Status**: `Completed`\n- **Priority**: x\n", "Completed"),
        ("# T\n\n## Status: Completed\n", "Completed"),
        ("# T\n\n## Goal\nStatus: none of ours\n", "drafts"),
        ("# T\n", "drafts"),
    ],
)
def test_the_state_is_what_the_ticket_says_else_what_its_folder_says(text: str, state: str) -> None:
    assert parse(text, state="drafts").state == state


@pytest.mark.parametrize(
    ("path", "state"),
    [
        ("tickets/done/a.md", "done"),
        ("tickets/In-Progress/epic/a.md", "In-Progress"),
        ("tickets/a.md", None),
        ("backlog/completed/a.md", "completed"),
        ("backlog/archive/tasks/a.md", None),
        ("backlog/tasks/a.md", None),
        ("backlog/a.md", "backlog"),
    ],
)
def test_only_folders_named_like_a_state_give_one(tmp_path: Path, path: str, state: str | None) -> None:
    assert read(write(tmp_path, {path: ""}))[path].state == state


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: 'A: b'\n---\n# C\n", "A: b"),
        ("---\ntitle: >\n  one\n  two\n---\n", "one two"),
        ("# **C** `d`\n", "C d"),
        ("C\n=\n", "C"),
        ("# Goal\nx\n", "t"),
        ("text\n", "t"),
    ],
)
def test_the_title_is_the_field_the_heading_or_the_stem(text: str, title: str) -> None:
    assert parse(text).title == title


def test_synonyms_are_understood() -> None:
    ticket = parse("# T\n## Summary\ng\n## Motivation\nw\n## Definition of done\na\n## How to test\nv\n")
    assert (ticket.goal, ticket.why, ticket.acceptance, ticket.verification) == ("g", "w", "a", "v")
    assert parse("# T\n\nStatus: open\n\nJust prose.\n\n## Plan\n").goal == "Just prose."
    assert parse("# T\n## Context files\n- x\n").goal is None


@pytest.mark.parametrize(
    ("text", "micros", "why"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z", None),
        ("2026-01-02T03:04:05.25+01:30", "2026-01-02T01:34:05.25Z", None),
        ("2026-01-02 03:04 -0500", "2026-01-02T08:04:00Z", None),
        ("2026-01-02 03:04 UTC", "2026-01-02T03:04:00Z", None),
        ("'2026-01-02 3:04'", "2026-01-02T03:04:00Z", "a date without a zone, read as UTC"),
        ("2026-01-02", "2026-01-02T00:00:00Z", "a date without a zone, read as UTC"),
        ("2026/1/2", "2026-01-02T00:00:00Z", "a date without a zone, read as UTC"),
        ("2026-02-30", None, "not a date"),
        ("last week", None, "not a date"),
        ("1753228800", None, "not a date"),
        ("'2026-01-02T03:04:05+99:99'", "2025-12-28T22:25:05Z", None),
    ],
)
def test_dates_are_instants_and_what_had_to_be_guessed_is_reported(
    text: str, micros: str | None, why: str | None
) -> None:
    content = f"---\ntitle: x\ncreated: {text}\n---\n"
    assert parse(content).created_at == (None if micros is None else parse_instant(micros))
    assert warnings(content) == ([(3, why)] if why else [])


SHAPES = ["[a, b]", "\n  - a\n  - b", "\n- a\n- b", "a, b", '["a", "b"]', "[[[a]], [[b]]]", '"[[a]], [[b]]"', "[A, B]"]
SHAPES += [
    "{a: x, b: y}",
    "\n  - id: a\n  - stem: b",
    "[tickets/a.md, ../tickets/b/ticket.md]",
    "'[A](a.md), [B](b.md)'",
]


@pytest.mark.parametrize("value", SHAPES)
def test_dependencies_are_read_in_every_shape(tmp_path: Path, value: str) -> None:
    files = {"tickets/a.md": "", "tickets/b.md": "", "tickets/c.md": f"---\ndepends_on: {value}\n---\n"}
    assert read(write(tmp_path, files))["tickets/c.md"].depends_on_stems == ("a", "b")
    assert notes(tmp_path) == []


@pytest.mark.parametrize("value", ["", "[]", "~", "null", "none", "None", "N/A", "-"])
def test_no_dependency_is_none(value: str) -> None:
    assert parse(f"---\ndependencies: {value}\n---\n").depends_on_stems == ()
    assert parse(f"# T\n\n**Dependencies:** {value}\n").depends_on_stems == ()


def test_dependencies_by_id_are_resolved_to_stems(tmp_path: Path) -> None:
    deps = "[BACK-2, task-3, back-04.1, 5, T-9, gone-1]"
    write(
        tmp_path,
        {
            "backlog/tasks/back-1 - One.md": f"---\nid: BACK-1\ndependencies: {deps}\n---\n",
            "backlog/tasks/back-2 - Two.md": "",
            "backlog/archive/tasks/back-3 - Old.md": "",
            "backlog/completed/back-3 - Three.md": "",
            "backlog/tasks/back-4.01 - Four.md": "",
            "backlog/tasks/back-5 - Five.md": "",
            "backlog/tasks/nine.md": "---\ntitle: x\nid: 'T-9'\n---\n",
            "backlog/tasks/body.md": "# T\n\n**Depends on:** back-2 (done), the weather\n",
        },
    )
    found = read(tmp_path)
    assert found["backlog/tasks/back-1 - One.md"].depends_on_stems == (
        *("back-2 - Two", "back-3 - Three", "back-4.01 - Four", "back-5 - Five", "nine", "gone-1"),
    )
    assert found["backlog/tasks/body.md"].depends_on_stems == ("back-2 - Two",)
    assert notes(tmp_path) == [
        Warned(
            "backlog/completed/back-3 - Three.md",
            0,
            "the id back-3 is also that of backlog/archive/tasks/back-3 - Old.md",
        ),
        Warned("backlog/tasks/back-1 - One.md", 3, "it depends on gone-1, which is no ticket here"),
    ]


def test_a_stem_or_an_id_that_stands_twice_is_read_twice_and_reported(tmp_path: Path) -> None:
    same = "---\nid: T-1\n---\n"
    write(tmp_path, {"tickets/a.md": same, "tickets/done/A.md": "", "tickets/b.md": same})
    assert len(read(tmp_path)) == 3
    assert notes(tmp_path) == [
        Warned("tickets/b.md", 0, "the id T-1 is also that of tickets/a.md"),
        Warned("tickets/done/A.md", 0, "the stem A is also that of tickets/a.md"),
    ]


def test_touched_paths_are_prefixes() -> None:
    given_paths = "[src/**, 'a/b*.py', ./c.py:12-20, 'https://x.y/z', ../up, /etc, '**', 'd\\e', c.py]"
    assert parse(f"---\ntouches: {given_paths}\n---\n").touches_prefixes == ("src/", "a/b", "c.py", "d/e")
    listed = "# T\n## Context files\n- `src/a.py`: the door\n- docs/b.md (old)\n- see [c](docs/c.md)\n- and so on\n"
    assert parse(listed).touches_prefixes == ("src/a.py", "docs/b.md")


def test_bytes_that_are_not_utf_8_are_marked_and_reported(tmp_path: Path) -> None:
    write(tmp_path, {"tickets/a.md": b"# T\nx\n\n## Goal\ncaf\xe9\n", "tickets/b.md": "# Ü\n".encode("utf-16")})
    found = read(tmp_path)
    assert (found["tickets/a.md"].goal, found["tickets/b.md"].title) == ("caf\ufffd", "Ü")
    assert [(note.file, note.line) for note in notes(tmp_path)] == [("tickets/a.md", 5), ("tickets/b.md", 0)]


def test_a_file_full_of_faults_is_reported_in_part(tmp_path: Path) -> None:
    write(tmp_path, {"tickets/a.md": "---\n" + "a: 1\n" * 100 + "---\n"})
    found = notes(tmp_path)
    assert len(found) == 51 and found[-1] == Warned("tickets/a.md", 0, "49 more of such")


def test_invalid_yaml_still_gives_a_ticket() -> None:
    text = (
        '---\nid: BACK-1\ntitle: "CLI: Setup"\nstatus: Done\nassignee: @me\ndependencies: []\n---\n## Description\nx\n'
    )
    ticket = parse(text)
    assert (ticket.title, ticket.state, ticket.goal, ticket.id) == ("CLI: Setup", "Done", "x", "BACK-1")
    assert [line for line, _ in warnings(text)] == [5]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary()
    | st.lists(st.sampled_from([b"---\n", b"a: ", b"# x\n", b"\xff", b"\r\n", b"[", b"status: "])).map(b"".join)
)
def test_arbitrary_bytes_never_raise(tmp_path: Path, data: bytes) -> None:
    write(tmp_path, {"tickets/a.md": data, "tickets/b/ticket.md": data})
    assert tickets.read(str(tmp_path)) is not None and list(tickets.read(str(tmp_path)))


# --- writing ---------------------------------------------------------------------------------------------------

lines = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1).map(
    lambda text: "x" + text + "x"
)
words = lines.map(lambda text: " ".join(text.replace("<", "").split())).filter(bool)


@given(
    title=words,
    state=st.sampled_from(["open", "in progress", "no"]),
    goal=words,
    acceptance=st.lists(words, max_size=3),
    touches=st.lists(st.sampled_from(["src/a.py", "docs/"]), unique=True),
    created=st.integers(0, 4_000_000_000_000_000),
)
def test_a_written_ticket_is_read_back(
    title: str, state: str, goal: str, acceptance: list[str], touches: list[str], created: int
) -> None:
    text = ticket_text(
        {"title": title, "state": state, "goal": goal, "acceptance": acceptance, "touches": touches, "created": created}
    )
    ticket = parse(text)
    assert warnings(text) == []
    assert (ticket.title, ticket.state, ticket.created_at) == (title, state, created)
    assert (ticket.goal, ticket.touches_prefixes) == (goal, tuple(touches))
    assert ticket.acceptance == ("\n".join(f"- {item}" for item in acceptance) or None)


def test_a_new_ticket_has_every_heading_and_only_the_fields_that_are_known() -> None:
    text = ticket_text(
        {"title": "Retry: again", "updated": None, "created": 1_772_000_000_000_000, "mine": 1, "why": ""}
    )
    assert text == (
        '---\ntitle: "Retry: again"\ncreated: 2026-02-25T06:13:20Z\nmine: 1\n---\n\n## Goal\n\n## Why\n\n## Scope\n'
        "\n## Acceptance criteria\n\n## Context files\n\n## Verification\n"
    )
