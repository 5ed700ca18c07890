"""Folders of decision records: each a decision with the whole text, and who decided."""

from pathlib import Path

from backstory.sources.memories import records
from tests.sources.memories.told import put, told

RECORD = """\
---
status: accepted
date: 2026-02-03
deciders: Mona, Karl
---
# 7. Use WAL

## Context

Readers wait for writers.

## Decision

Switch the journal to WAL.

## Consequences

Two more files beside the database.
"""


def test_a_record_is_a_decision_with_all_its_text_once_and_with_who_decided(tmp_path: Path) -> None:
    folder = put(tmp_path / "adr", {"0007-wal.md": RECORD})
    (item,) = told(records.read(str(folder))).items
    assert (item.kind, item.fields["summary"], item.fields["rationale"]) == (
        "decision", "Use WAL", "Switch the journal to WAL.",
    )  # fmt: skip
    assert "Readers wait" in item.fields["detail"]
    assert "Two more files" in item.fields["detail"]
    assert "Switch the journal" not in item.fields["detail"]
    assert item.told == ("status there: accepted", "decided there by Mona, Karl")
    assert item.approved_by == "Mona, Karl"
    assert (item.key, item.at) == ("0007-wal.md", 1_770_076_800_000_000)


def test_who_wrote_a_record_and_who_discussed_a_proposal_approved_nothing(tmp_path: Path) -> None:
    folder = put(tmp_path / "adr", {
        "0001-a.md": RECORD.replace("deciders:", "author:"),
        "0002-b.md": RECORD.replace("accepted", "proposed"),
        "0003-c.md": RECORD.replace("deciders:", "approved by:"),
        "0004-d.md": RECORD.replace("deciders: Mona, Karl\n", ""),
    })  # fmt: skip
    found = {item.key: item.approved_by for item in told(records.read(str(folder))).items}
    assert found == {"0001-a.md": "", "0002-b.md": "", "0003-c.md": "Mona, Karl", "0004-d.md": ""}


def test_what_was_superseded_or_rejected_has_ended_and_what_is_no_record_is_said(tmp_path: Path) -> None:
    folder = put(tmp_path / "decisions", {
        "0001-a.md": "# A\n\nStatus: superseded by 0002-b.md\n\n## Context\n\nx\n\n## Decision\n\ny\n",
        "0002-b.md": "# B\n\nStatus: accepted\n\n## Context\n\nx\n\n## Decision\n\nz\n",
        "0003-c.md": "# C\n\nStatus: rejected\n\n## Context\n\nx\n\n## Decision\n\nw\n",
        "template.md": "# Template\n", "prose.md": "Only prose.\n",
    })  # fmt: skip
    found = told(records.read(str(folder)))
    assert {item.fields["summary"]: bool(item.ended) for item in found.items} == {"A": True, "B": False, "C": True}
    assert {Path(one.file).name for one in found.skipped} == {"template.md", "prose.md"}


def test_it_knows_folders_by_their_name(tmp_path: Path) -> None:
    assert records.takes(str(put(tmp_path / "docs" / "ADR", {"a.md": "x"}))) != ""
    assert records.takes(str(put(tmp_path / "docs" / "guide", {"a.md": "x"}))) == ""
    assert [one.why for one in told(records.read(str(tmp_path / "none"))).skipped] == ["no folder of decision records"]


def test_a_date_that_is_none_is_said_with_its_line_and_another_is_taken(tmp_path: Path) -> None:
    folder = put(tmp_path / "adr", {"1.md": RECORD.replace("2026-02-03", "last spring"), "2.md": RECORD})
    found = told(records.read(str(folder)))
    assert [(Path(one.file).name, one.line, one.why) for one in found.warned] == [
        ("1.md", 3, "no date: 'last spring'; it was left out")
    ]
    assert [item.at for item in found.items] == [None, 1_770_076_800_000_000]
