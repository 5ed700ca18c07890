"""Decision records in the forms that people use, and the links between them."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backstory.records.times import to_micros
from backstory.sources.decision_records import DecisionRecord, read
from backstory.sources.decision_words import status_of
from backstory.sources.skipped import Skipped, Warned

MADR = """\
---
status: accepted
date: 2026-01-02
decision-makers: [Ada, "Grace, Linus"]
consulted: Nobody
---
# ADR-0004: Keep it in SQLite

## Context and Problem Statement

Where do rows go? See `src/store.py` and [the notes](../../notes.txt).

## Considered Options

* **SQLite** - one file
* Postgres
* Flat files

## Decision Outcome

Chosen option: "SQLite", because it needs no server.

### Consequences

* Bad, because one writer.
"""
NYGARD = """\
# 3. Use threads

Date: 2025-05-06

## Status

Accepted

## 1. Context

We wait for disks.

## 2. Decision

We will use threads.

## 3. Consequences

None.
"""
LOG4BRAINS = """\
# Use hooks

- Status: accepted
- Date: 2020-09-27
- Deciders: Ada, Grace
- Tags: ui

## Decision

We will use hooks.

## Links

- Supersedes [20200101-old](20200101-old.md)
"""
JAPANESE = """\
---
title: キューを使う
---
# ADR-000007: キューを使う

## ステータス

採択（Accepted）

## 背景

遅い。

## 検討した選択肢

- キュー
- 同期呼び出し

## 決定

採用案: キュー

### 結果・影響

速い。
"""


def day(year: int, month: int, date: int) -> int:
    """The first moment of a day."""
    return to_micros(datetime(year, month, date, tzinfo=UTC))


def load(root: Path, files: dict[str, str], *folders: str) -> tuple[dict[str, DecisionRecord], list[Skipped | Warned]]:
    """The records by path and the problems of a tree with these files."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    found = list(read(str(root), folders))
    records = {item.path: item for item in found if isinstance(item, DecisionRecord)}
    return records, [item for item in found if not isinstance(item, DecisionRecord)]


def form(status: str, more: str = "") -> str:
    """A short record with a status."""
    return f"# A title\n\n## Status\n\n{status}\n\n## Context\n\nc\n\n## Decision\n\nd\n{more}"


def test_madr_with_frontmatter(tmp_path: Path) -> None:
    """Every field is read; the chosen option is none of the rejected, and consequences are not the decision."""
    files = {"docs/adr/0004-sqlite.md": MADR, "src/store.py": "", "notes.txt": ""}
    records, problems = load(tmp_path, files)
    assert problems == []
    assert records == {
        "docs/adr/0004-sqlite.md": DecisionRecord(
            path="docs/adr/0004-sqlite.md",
            title="Keep it in SQLite",
            status="accepted",
            status_raw="accepted",
            date=day(2026, 1, 2),
            deciders=("Ada", "Grace, Linus"),
            context="Where do rows go? See `src/store.py` and [the notes](../../notes.txt).",
            decision='Chosen option: "SQLite", because it needs no server.',
            rejected=("Postgres", "Flat files"),
            supersedes=(),
            superseded_by=(),
            files=("src/store.py", "notes.txt"),
            approvers=("Ada", "Grace, Linus"),
        )
    }


def test_nygard_with_numbered_headings(tmp_path: Path) -> None:
    """Numbers before headings and title do not count; the date stands in a line of its own."""
    records, problems = load(tmp_path, {"doc/adr/0003-use-threads.md": NYGARD})
    record = records["doc/adr/0003-use-threads.md"]
    assert (record.title, record.status, record.date) == ("Use threads", "accepted", day(2025, 5, 6))
    assert (record.context, record.decision) == ("We wait for disks.", "We will use threads.")
    assert (record.rejected, problems) == ((), [])


def test_log4brains_with_a_list_at_the_top(tmp_path: Path) -> None:
    """Status, date and deciders are items of a list; without a date the name of the file has it."""
    files = {
        "docs/adr/20200927-use-hooks.md": LOG4BRAINS,
        "docs/adr/20200101-old.md": "# Old\n\n- Status: accepted\n\n## Decision\n\nx\n",
    }
    records, problems = load(tmp_path, files)
    new, old = records["docs/adr/20200927-use-hooks.md"], records["docs/adr/20200101-old.md"]
    assert (new.status, new.date, new.deciders) == ("accepted", day(2020, 9, 27), ("Ada", "Grace"))
    assert (new.supersedes, old.superseded_by) == ((old.path,), (new.path,))
    assert (old.status, old.status_raw, old.date, problems) == ("superseded", "accepted", day(2020, 1, 1), [])


def test_japanese_headings(tmp_path: Path) -> None:
    """The parts are known by their Japanese names, the chosen option too."""
    records, problems = load(tmp_path, {"docs/ADR/000007.md": JAPANESE})
    record = records["docs/ADR/000007.md"]
    assert (record.title, record.status, problems) == ("キューを使う", "accepted", [])
    assert (record.context, record.decision) == ("遅い。", "採用案: キュー")
    assert record.rejected == ("同期呼び出し",)


def test_a_language_that_nobody_taught_is_read_by_its_order(tmp_path: Path) -> None:
    """After the section that holds a status come context and decision; without one nothing is guessed."""
    text = "# Otsikko\n\n## Tila\n\nAccepted\n\n## Tausta\n\nsyy\n\n## Päätös\n\nteemme\n\n## Seuraukset\n\nmuuta\n"
    records, _ = load(tmp_path, {"adr/0001-a.md": text, "adr/0002-b.md": text.replace("Accepted", "Kyllä")})
    (record,) = records.values()
    assert (record.path, record.context, record.decision) == ("adr/0001-a.md", "syy", "teemme")


@pytest.mark.parametrize(
    "status",
    [
        ("Accepted", "accepted"),
        ("**Approved** on 2024-01-01", "accepted"),
        ("Accepted\n\nThis replaces what was rejected before", "accepted"),
        ("Partially superseded by ADR-7, accepted", "accepted"),
        ("承認済み", "accepted"),
        ("已接受", "accepted"),
        ("Akzeptiert", "accepted"),
        ("proposed", "proposed"),
        ("Draft", "proposed"),
        ("on hold", "proposed"),
        ("not yet accepted", "proposed"),
        ("検討中", "proposed"),
        ("REJECTED", "rejected"),
        ("却下", "rejected"),
        ("Deprecated, was accepted", "deprecated"),
        ("廃止", "deprecated"),
        ("superseded by [ADR-0005](0005-x.md)", "superseded"),
        ("Accepted\n\nSuperseded by [5. X](0005-x.md)", "superseded"),
        ("置き換え", "superseded"),
        ("{proposed | rejected | accepted}", None),
        ("proposed | accepted | rejected", None),
        ("purple", None),
        ("", None),
    ],
)
def test_statuses_are_five(status: tuple[str, str | None]) -> None:
    """Whatever people write for a status means one of five, or none."""
    assert status_of(status[0]) == status[1]


def test_a_strange_status_is_reported_and_kept(tmp_path: Path) -> None:
    """The record is read; a known status warns of nothing."""
    records, problems = load(tmp_path, {"adr/1-a.md": form("purple"), "adr/2-b.md": form("accepted")})
    assert [(record.status, record.status_raw) for record in records.values()] == [(None, "purple"), ("accepted",) * 2]
    assert [(type(problem), problem.file, problem.line) for problem in problems] == [(Warned, "adr/1-a.md", 3)]


@pytest.mark.parametrize(
    "words",
    [
        "Superseded by [5. New](0005-new.md)",
        "Superseded by [New](./0005-new.md#part)",
        "superseded by [new](/adr/0005-new.md)",
        "Superseded by [x](https://github.com/o/r/blob/main/adr/0005-new.md)",
        "Superseded by ADR-0005",
        "Superseded-by: ADR 5",
        "**Superseded by [[0005-new]]** (2026-04-28), as 7 of 3 said, and [6](0006-other.md) is near",
        "Superseded by 5.",
        "Replaced by 0005-new.md",
        "[[0005-new]] により置き換え",
    ],
)
def test_a_status_names_its_successor(tmp_path: Path, words: str) -> None:
    """By relative path, by number, by name; only what follows the words is meant, and both ends know the link."""
    files = {"adr/0001-old.md": form(words), "adr/0005-new.md": form("Accepted"), "adr/0006-other.md": form("Accepted")}
    records, problems = load(tmp_path, files)
    assert (records["adr/0001-old.md"].superseded_by, problems) == (("adr/0005-new.md",), [])
    assert records["adr/0001-old.md"].status == "superseded"
    assert records["adr/0005-new.md"].supersedes == ("adr/0001-old.md",)
    assert (records["adr/0006-other.md"].supersedes, records["adr/0006-other.md"].status) == ((), "accepted")


def test_several_are_superseded_by_fields_or_links(tmp_path: Path) -> None:
    """Lists of numbers, wiki links and links are followed."""
    old = {f"adr/{number:06}.md": form("accepted") for number in (1, 2, 3, 4)}
    field = '---\nsupersedes: ["000001", "[[000002]]"]\n---\n' + form("accepted")
    link = form(
        "accepted", "\n## Links\n\n* Supersedes [a](000003.md) and [b](000004.md)\n* Related to [c](000001.md)\n"
    )
    records, problems = load(tmp_path, {**old, "adr/000010.md": field, "adr/000011.md": link})
    assert records["adr/000010.md"].supersedes == ("adr/000001.md", "adr/000002.md")
    assert records["adr/000011.md"].supersedes == ("adr/000003.md", "adr/000004.md")
    assert [records[path].status for path in old] == ["superseded"] * 4
    assert problems == []


def test_only_an_accepted_record_takes_the_place_of_another(tmp_path: Path) -> None:
    """The link is known all the same; what says that it leaves the other standing makes none."""
    words = "Proposed\n\nSupersedes [1](0001-a.md)"
    files = {"adr/0001-a.md": form("accepted"), "adr/0002-b.md": form(words)}
    records, _ = load(tmp_path, files)
    assert (records["adr/0001-a.md"].status, records["adr/0001-a.md"].superseded_by) == ("accepted", ("adr/0002-b.md",))
    for words in ("Accepted\n\nSupersedes [1](0001-a.md) in part", "Accepted\n\n[[0001-a]] を置き換えるものではない"):
        records, _ = load(tmp_path, {"adr/0002-b.md": form(words)})
        assert records["adr/0001-a.md"].superseded_by == ()
    records, _ = load(tmp_path, {"adr/0002-b.md": form("Accepted\n\nSupersedes [1](0001-a.md)")})
    assert records["adr/0001-a.md"].status == "superseded"


def test_a_link_to_nothing_or_to_two_is_reported(tmp_path: Path) -> None:
    """A number that two folders have means the one nearby; two nearby mean none."""
    files = {
        "adr/0001-a.md": form("Superseded by 9"),
        "adr/0002-b.md": form("Superseded by 3"),
        "adr/0003-c.md": form("accepted"),
        "docs/adr/0003-d.md": form("accepted"),
        "docs/adr/0004-e.md": form("Superseded by 5"),
        "docs/adr/0005-f.md": form("accepted"),
        "docs/adr/0005-g.md": form("accepted"),
    }
    records, problems = load(tmp_path, files)
    assert records["adr/0002-b.md"].superseded_by == ("adr/0003-c.md",)
    assert records["docs/adr/0004-e.md"].superseded_by == records["adr/0001-a.md"].superseded_by == ()
    assert [(type(problem), problem.file) for problem in problems] == [
        (Warned, "adr/0001-a.md"),
        (Warned, "docs/adr/0004-e.md"),
    ]


@pytest.mark.parametrize(
    "options",
    [
        ("* A one\n* B two\n", 'Chosen option: "A one", because', ("B two",)),
        ("* Option 1: A one\n* Option 2: B two\n", 'Chosen option: "Option 2: B two"', ("Option 1: A one",)),
        ("- **A one** - long\n- **B two** - talk\n", "Chosen option: **B two**.", ("A one",)),
        ("1. [A one](a.md)\n   - an argument\n2. B two\n", "Chosen option: [A one](a.md), because", ("B two",)),
        ("* MIT\n* No MIT\n* Both\n", 'Chosen option: "MIT"', ("No MIT", "Both")),
        ("* Enable widely\n* B two\n", "Chosen option: **Enabled widely**", ("B two",)),
        ("### A one\n\ntext\n\n### B two\n\n* Good\n", 'Chosen option: "A one"', ("B two",)),
        ("* A one\n* B two\n", "We take A one for its speed.", ("B two",)),
        ("* A one\n* B two\n", "We take A one over B two.", ()),
        ("* A one\n* B two\n", 'Chosen option: "Something else"', ()),
        ("* A one\n* B two\n", "Nothing was said.", ()),
        ("```\n* A one\n```\n", 'Chosen option: "A one"', ()),
    ],
)
def test_rejected_options_are_those_not_chosen(tmp_path: Path, options: tuple[str, str, tuple[str, ...]]) -> None:
    """Where it is not clear which one was chosen none counts as rejected."""
    listed, said, rejected = options
    text = f"# T\n\n## Considered Options\n\n{listed}\n## Decision Outcome\n\n{said}\n"
    records, _ = load(tmp_path, {"adr/0001-a.md": text})
    assert records["adr/0001-a.md"].rejected == rejected


def test_templates_and_texts_about_the_folder_are_left_out(tmp_path: Path) -> None:
    """By name or by what stands for a title; what has no part of a record is none. Each is reported."""
    names = [
        "README.md",
        "index.md",
        "template.md",
        "adr-template.md",
        "0000-template.md",
        "_template.md",
        "template-x.md",
    ]
    files = {f"adr/{name}": form("accepted") for name in names}
    files["adr/0001-x.md"] = form("accepted").replace("A title", "[short title of solved problem]")
    files["adr/notes.md"] = "# Notes\n\nJust words.\n"
    files["adr/0002-templates-for-mail.md"] = form("accepted")
    records, problems = load(tmp_path, files)
    assert list(records) == ["adr/0002-templates-for-mail.md"]
    assert {type(problem) for problem in problems} == {Skipped}
    assert len(problems) == len(files) - 1


def test_the_usual_folders_and_those_of_the_settings(tmp_path: Path) -> None:
    """Case does not count, globs and folders below are followed, dots are not, and nothing outside is read."""
    usual = [
        "docs/adr",
        "docs/adrs",
        "adr",
        "doc/adr",
        "docs/decisions",
        "docs/architecture/decisions",
        "docs/ADRs/web",
    ]
    inside = tmp_path / "project"
    files = {
        f"{folder}/0001-a.md": form("accepted") for folder in [*usual, "packages/x/docs/adr", "own", ".hidden/adr"]
    }
    records, problems = load(inside, {**files, "adr/.git/0001.md": form("accepted")})
    assert sorted(record.rpartition("/")[0] for record in records) == sorted(usual)
    assert problems == []
    (tmp_path / "0001-out.md").write_text(form("accepted"))
    records, problems = load(inside, {}, "own", "packages/*/docs/ADR", "..", "/tmp")
    assert {record.rpartition("/")[0] for record in records} == {*usual, "own", "packages/x/docs/adr"}
    assert [problem.file for problem in problems] == ["..", "/tmp"]


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    """Neither a file nor a folder nor a named file behind a link is read; the real one is."""
    records, _ = load(tmp_path, {"adr/0001-a.md": form("accepted", "\n`x.py` `y.py`\n"), "x.py": ""})
    (tmp_path / "adr/0002-b.md").symlink_to("0001-a.md")
    (tmp_path / "docs").symlink_to("adr")
    (tmp_path / "y.py").symlink_to("x.py")
    records, problems = load(tmp_path, {}, "docs")
    assert list(records) == ["adr/0001-a.md"]
    assert records["adr/0001-a.md"].files == ("x.py",)
    assert [(type(problem), problem.file) for problem in problems] == [(Skipped, "adr/0002-b.md")]


def test_what_people_really_write_is_read(tmp_path: Path) -> None:
    """A BOM, CRLF, a comment marker behind a heading, invalid YAML, setext headings, emphasis: the parts are found."""
    crlf = "\ufeff" + MADR.replace("## Considered Options", "## Considered Options <!-- optional -->").replace(
        "\n", "\r\n"
    )
    yaml = MADR.replace("consulted: Nobody", "consulted: @somebody")
    setext = "Title\n=====\n\n**Status:** Accepted\n\nContext\n-------\n\nc\n\nDecision\n--------\n\nd\n"
    records, problems = load(tmp_path, {"adr/0001-a.md": crlf, "adr/0002-b.md": yaml, "adr/0003-c.md": setext})
    one, two, three = records.values()
    assert (one.title, one.rejected, one.status) == ("Keep it in SQLite", ("Postgres", "Flat files"), "accepted")
    assert (two.title, two.rejected, two.status) == (one.title, one.rejected, one.status)
    assert (three.title, three.status, three.context, three.decision) == ("Title", "accepted", "c", "d")
    assert [(problem.file, problem.line) for problem in problems] == [("adr/0002-b.md", 5)]


def test_a_file_that_is_no_text_is_left_out(tmp_path: Path) -> None:
    """It is reported; the one beside it is read."""
    load(tmp_path, {"adr/0001-a.md": form("accepted")})
    (tmp_path / "adr/0002-b.md").write_bytes(b"# x\n\0\n")
    records, problems = load(tmp_path, {})
    assert list(records) == ["adr/0001-a.md"]
    assert [(type(problem), problem.file) for problem in problems] == [(Skipped, "adr/0002-b.md")]


def test_the_order_is_that_of_the_paths_and_repeats(tmp_path: Path) -> None:
    """Records come by path, then problems by file; a second reading gives the same."""
    load(tmp_path, {f"adr/{number:04}-x.md": form("Superseded by 77") for number in (3, 1, 2)})
    once = list(read(str(tmp_path)))
    assert once == list(read(str(tmp_path)))
    assert [getattr(item, "path", None) or getattr(item, "file", "") for item in once] == [
        f"adr/{number:04}-x.md" for number in (1, 2, 3, 1, 2, 3)
    ]


PIECES = [
    "---\n",
    "status: ",
    "# ",
    "## Status\n",
    "## Decision\n",
    "Superseded by [",
    "](0001-a.md)",
    "[[",
    "```\n",
    "|",
    "\n",
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(parts=st.lists(st.sampled_from(PIECES) | st.text(max_size=8) | st.binary(max_size=8), max_size=30))
def test_nothing_raises(tmp_path: Path, parts: list[str | bytes]) -> None:
    """Any bytes yield a record or a problem, and every text of it can be stored."""
    data = b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)
    load(tmp_path, {"adr/0002-b.md": form("accepted")})
    (tmp_path / "adr/0001-a.md").write_bytes(data)
    found = list(read(str(tmp_path)))
    assert {getattr(item, "path", None) or getattr(item, "file", "") for item in found} >= {"adr/0001-a.md"}
    for item in found:
        repr(item).encode()
        if isinstance(item, DecisionRecord):
            (item.title + item.context + item.decision + item.status_raw + "".join(item.rejected)).encode()
