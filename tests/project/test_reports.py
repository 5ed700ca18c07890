"""The memory as a table and as a page: what counts, with its tags, and stored text is nothing but text."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from backstory.errors import BackstoryError
from backstory.project import reports
from backstory.project.gateway import record
from backstory.project.opened import Project
from backstory.project.operations import operate
from backstory.project.refresh import open_project
from backstory.records.event import PERSON, By
from tests.project.sessions.conftest import made_project

ME = By(PERSON, "Test Person")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Project]:
    with open_project(str(made_project(tmp_path / "proj"))) as project:
        for text in ("Use wool", "=cmd|'/c calc'!A0", '<script>alert(1)</script> "x", y', "Use silk"):
            made = record(project, ME, "decision", {"summary": text, "rationale": "it\nis so"})
        operate(project, ME, "retire", made.id, reason="it tears")
        yield project


def rows(memory: Project, **options: bool) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("\n".join(reports.table(memory, **options)))))


def test_the_table_has_what_counts_and_with_all_the_rest_tagged(memory: Project) -> None:
    assert sorted(row["summary"] for row in rows(memory)) == [
        "'=cmd|'/c calc'!A0", '<script>alert(1)</script> "x", y', "Use wool",
    ]  # fmt: skip
    (gone,) = [row for row in rows(memory, everything=True) if row["summary"] == "Use silk"]
    assert gone["standing"] == "retired"
    assert gone["tags"].startswith("[retired")
    assert rows(memory)[0]["why"] == "it is so"


def test_parquet_holds_the_same_rows(memory: Project, tmp_path: Path) -> None:
    path = tmp_path / "it's" / "memory.parquet"
    assert reports.parquet(memory, str(path)) == 3
    with duckdb.connect(":memory:") as db:
        found = db.execute("SELECT summary FROM read_parquet(?)", [str(path)]).fetchall()
    assert ("Use wool",) in found
    with pytest.raises(BackstoryError, match="cannot be written"):
        reports.parquet(memory, str(tmp_path / "it's" / "memory.parquet" / "x"))


def test_the_page_shows_hostile_text_as_text_and_loads_nothing(memory: Project) -> None:
    text = "\n".join(reports.page(memory))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert "Use silk" not in text
    assert "[retired" in "\n".join(reports.page(memory, everything=True))
