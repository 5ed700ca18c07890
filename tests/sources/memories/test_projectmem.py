"""projectmem: its log, and what it keeps for all projects of a machine."""

import json
from pathlib import Path

from backstory.sources.memories import projectmem
from tests.sources.memories.told import Told, put, told


def lines(*records: object) -> str:
    return "".join(f"{record if isinstance(record, str) else json.dumps(record)}\n" for record in records)


def machine(folder: Path) -> Path:
    put(folder / ".projectmem" / "global", {
        "library_gotchas.jsonl": lines(
            {"id": "got_1", "library": "httpx", "version_range": ">=0.27", "gotcha": "The pool keeps dead sockets",
             "tags": ["net"], "source_project": "mailer", "discovered": "2026-01-02T00:00:00Z"},
            {"id": "got_2", "library": "", "gotcha": "Never trust the clock", "discovered": "one day"},
            {"id": "got_3", "library": "httpx"},
            "{broken"),
        "patterns.jsonl": lines({"id": "pat_1", "pattern": "Retry with jitter", "created": "2026-01-03T00:00:00Z"}),
        "stack_preferences.md": "No list of lines.\n",
    })  # fmt: skip
    return folder / ".projectmem" / "global"


def read(path: Path) -> Told:
    return told(projectmem.read(projectmem.takes(str(path))))


def test_gotchas_of_libraries_are_lessons_and_patterns_are_patterns(tmp_path: Path) -> None:
    found = read(machine(tmp_path))
    assert found.kinds() == {"lesson": 2, "pattern": 1}
    gotcha = found.item("The pool keeps dead sockets")
    assert gotcha.fields["libraries"] == ["httpx@>=0.27"]
    assert (gotcha.fields["aliases"], gotcha.told) == (["net"], ("learned in mailer",))
    assert (gotcha.key, gotcha.place) == ("global got_1", "global/library_gotchas.jsonl:1")
    assert "libraries" not in found.item("Never trust the clock").fields


def test_what_is_odd_about_them_is_said_with_file_and_line(tmp_path: Path) -> None:
    found = read(machine(tmp_path))
    assert [(Path(one.file).name, one.line) for one in found.skipped] == [
        ("library_gotchas.jsonl", 3), ("library_gotchas.jsonl", 4),
    ]  # fmt: skip
    assert [(one.line, one.why) for one in found.warned] == [(2, "no date: 'one day'; it was left out")]


def test_one_of_its_files_is_read_by_itself(tmp_path: Path) -> None:
    assert read(machine(tmp_path) / "patterns.jsonl").kinds() == {"pattern": 1}


def test_the_folder_in_the_home_stands_for_what_is_machine_wide_where_it_has_no_log(tmp_path: Path) -> None:
    folder = machine(tmp_path)
    assert projectmem.takes(str(tmp_path / ".projectmem")) == str(folder)
    put(tmp_path, {".projectmem/events.jsonl": lines({"id": "e1", "type": "note", "summary": "Here"})})
    assert projectmem.takes(str(tmp_path / ".projectmem")).endswith("events.jsonl")


def test_the_log_of_a_project_is_read_and_not_what_is_machine_wide(tmp_path: Path) -> None:
    machine(tmp_path)
    put(
        tmp_path, {".projectmem/events.jsonl": lines({"id": "e1", "type": "note", "summary": "Here"}, {"type": "note"})}
    )
    found = read(tmp_path)
    assert (found.kinds(), [one.why for one in found.skipped]) == ({"note": 1}, ["it has no summary"])


def test_an_empty_log_is_said(tmp_path: Path) -> None:
    put(tmp_path, {".projectmem/events.jsonl": ""})
    assert [one.why for one in read(tmp_path).skipped] == ["an empty file"]
