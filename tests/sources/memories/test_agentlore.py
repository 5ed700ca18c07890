"""agentlore: an entry for each heading, by its type, with what it rests on."""

from pathlib import Path

import pytest

from backstory.sources.memories import agentlore, known
from tests.sources.memories.told import Told, put, told

DEAD = """\
# Dead ends

<!-- agentlore: one entry per '## ' heading -->

## Caching by host: it mixes tenants
<!-- agentlore
id: DEAD-1
type: dead-end
status: accepted
anchors: src/cache.py, src/api/**
evidence: PR 12
author: Mona
created: 2026-03-04
resolved_by: PR 13
-->

Two tenants share a host.

```
## no heading in code
```

## Words only
Nothing was written down about it.
"""
HAZARDS = """\
## The clock may go back
<!-- rmem
id: HAZ-1
type: hazard
status: superseded
anchors: src/clock.py
created: lately
-->
Compare with care.

## Locks are per process
<!-- agentlore
id: HAZ-2
type: hazard
status: accepted
anchors: src/lock.py
-->
So workers wait.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    empty = "# Decisions\n\n<!-- agentlore: one entry per '## ' heading -->\n"
    return put(tmp_path / ".memory", {"dead-ends.md": DEAD, "hazards.md": HAZARDS, "decisions.md": empty})


def read(folder: Path) -> Told:
    return told(agentlore.read(str(folder)))


def test_each_heading_is_an_entry_by_its_type(folder: Path) -> None:
    found = read(folder)
    assert found.kinds() == {"hotfile": 2, "note": 1, "trial": 1}
    dead = found.item("Caching by host: it mixes tenants")
    assert (dead.key, dead.place, dead.fields["outcome"]) == ("DEAD-1", "dead-ends.md:5", "failed")
    assert dead.fields["files"] == ["src/cache.py"]
    assert "Two tenants share a host." in dead.fields["detail"]
    assert "## no heading in code" in dead.fields["detail"]
    assert "id: DEAD-1" not in dead.fields["detail"]
    assert {"recorded there by: Mona", "evidence there: PR 12", "settled there by: PR 13"} <= set(dead.told)
    assert dead.at == 1_772_582_400_000_000
    assert found.item("Locks are per process").fields["path"] == "src/lock.py"


def test_what_was_superseded_has_ended_and_what_is_odd_is_said_with_its_line(folder: Path) -> None:
    found = read(folder)
    assert found.item("The clock may go back").ended == "superseded there"
    assert found.item("Locks are per process").ended == ""
    assert [(Path(one.file).name, one.line, one.why) for one in found.warned] == [
        ("dead-ends.md", 23, "it has no id; its heading was taken for one"),
        ("hazards.md", 1, "no date: 'lately'; it was left out"),
    ]
    assert [(Path(one.file).name, one.why) for one in found.skipped] == [("decisions.md", "no entry in it")]


def test_a_folder_of_that_name_without_such_entries_holds_notes(folder: Path, tmp_path: Path) -> None:
    assert known.found(str(folder)) == {"agentlore": str(folder)}
    assert agentlore.takes(str(tmp_path)) == str(folder)
    other = put(tmp_path / "other" / ".memory", {"decisions.md": "# Use WAL\n\nFor readers.\n"})
    assert known.found(str(other)) == {"notes": str(other)}


def test_unknown_types_and_states_and_an_id_that_stands_twice_are_said(tmp_path: Path) -> None:
    def entry(title: str, id_: str, **fields: str) -> str:
        said = "".join(f"{name}: {value}\n" for name, value in {"id": id_, **fields}.items())
        return f"## {title}\n<!-- agentlore\n{said}-->\nText\n\n"

    text = entry("A", "X-1", type="omen", status="accepted") + entry("B", "X-1", type="decision", status="simmering")
    found = read(put(tmp_path / ".memory", {"decisions.md": text + entry("C", "X-2", type="hazard", anchors="src/**")}))
    assert [(one.line, one.why) for one in found.warned] == [
        (1, "the type 'omen' is unknown; read as a note"),
        (9, "the id X-1 is also that of decisions.md:1; each counts by itself"),
        (9, "the status 'simmering' is unknown; read as if it held"),
    ]
    assert [(item.kind, item.key) for item in found.items] == [
        ("note", "X-1"), ("decision", "X-1 b"), ("pattern", "X-2"),
    ]  # fmt: skip
