"""Tables: the sign between the columns, the columns themselves, and what is odd."""

from pathlib import Path

import pytest

from backstory.sources.memories import table
from tests.sources.memories.told import Told, put, told


def read(folder: Path, text: str, name: str = "memory.csv") -> Told:
    return told(table.read(str(put(folder, {name: text}) / name)))


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_columns_are_told_apart_by_whatever_stands_between_them(tmp_path: Path, sign: str) -> None:
    text = f'kind{sign}summary{sign}detail\ndecision{sign}Use WAL{sign}"one{sign} two; three, four"\n'
    item = read(tmp_path, text).item("Use WAL")
    assert (item.kind, item.fields["detail"]) == ("decision", f"one{sign} two; three, four")


def test_a_table_of_one_column_may_hold_any_sign(tmp_path: Path) -> None:
    found = read(tmp_path, "summary\nUse WAL; not a rollback journal\n")
    assert [item.fields["summary"] for item in found.items] == ["Use WAL; not a rollback journal"]


def test_the_names_of_columns_have_no_case_and_unknown_ones_are_said(tmp_path: Path) -> None:
    found = read(tmp_path, "Kind;Summary;Owner\nnote;Something;Mona\n")
    assert found.kinds() == {"note": 1}
    assert [(one.line, one.why) for one in found.warned] == [(1, "columns that nothing is made of: owner")]
    assert read(tmp_path, "kind;summary\nnote;Something\n").warned == []


def test_bad_dates_empty_rows_and_empty_files_are_said(tmp_path: Path) -> None:
    found = read(tmp_path, "summary,at\nGood,2026-01-01\nBad,tomorrow\n,2026-01-01\n")
    assert [(one.line, one.why) for one in found.warned] == [(3, "no date: 'tomorrow'; it was left out")]
    assert [(one.line, one.why) for one in found.skipped] == [(4, "it has no summary")]
    assert (found.item("Good").at, found.item("Bad").at) == (1_767_225_600_000_000, None)
    for name in ("empty.csv", "empty.json"):
        assert [one.why for one in read(tmp_path, "", name).skipped] == ["an empty file"]
