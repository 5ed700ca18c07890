"""Run records are read wherever they lie and however they are written, and filled in without touching the prose."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backstory.records.times import parse_instant
from backstory.sources import run_records
from backstory.sources.run_records import RunRecord, parse_run_record, run_record_text
from backstory.sources.skipped import Skipped, Warned
from backstory.sources.ticket_places import RUN, Found
from backstory.sources.values import minutes

FULL = """\
---
outcome: done
complexity: medium
wall_time_estimate: 1h30
escalation_reason: none of the tests ran
started_at: 2026-03-01T10:00:00Z
ended_at: 2026-03-01T11:00:00Z
actual_files: 7
actual_minutes: 60
predicted_complexity: low
predicted_files: 3
predicted_minutes: 45
base_commit: 0123abc
model_exact: some-model-1.5
tokens_in: 1,200
tokens_out: 3k
tool_calls: 42
review_iterations: 2
---

## Surprises / judgment calls

The cache was cold.

## Dead ends

A lock file.
"""


def parse(text: str) -> RunRecord:
    return parse_run_record(text, Found("tickets/a.run.md", RUN, "a"), "a")[0]


def warnings(text: str) -> list[tuple[int, str]]:
    return [(item.line, item.why) for item in parse_run_record(text, Found("tickets/a.run.md", RUN, "a"), "a")[1]]


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def test_every_field_of_the_contract_is_read() -> None:
    assert warnings(FULL) == []
    assert parse(FULL) == RunRecord(
        ticket_stem="a",
        path="tickets/a.run.md",
        outcome="done",
        complexity="medium",
        wall_time_estimate="1h30",
        wall_time_minutes=90.0,
        escalation_reason="none of the tests ran",
        started_at=parse_instant("2026-03-01T10:00:00Z"),
        ended_at=parse_instant("2026-03-01T11:00:00Z"),
        actual_files=7,
        actual_minutes=60.0,
        predicted_complexity="low",
        predicted_files=3,
        predicted_minutes=45.0,
        base_commit="0123abc",
        model_exact="some-model-1.5",
        tokens_in=1200,
        tokens_out=3000,
        tool_calls=42,
        review_iterations=2,
        surprises_text="The cache was cold.",
        dead_ends_text="A lock file.",
    )


def test_run_records_are_found_beside_below_and_in_attempts(tmp_path: Path) -> None:
    names = ["tickets/a.run.md", "tickets/b/run.md", "tickets/b/attempts/2/run.md", "tickets/done/task-7.run.md"]
    others = [
        "tickets/a.md",
        "tickets/b.md",
        "tickets/done/task-7 - x.md",
        "tickets/b/attempts/x/run.md",
        "tickets/run.md",
    ]
    write(tmp_path, dict.fromkeys([*names, *others], ""))
    found = list(run_records.read(str(tmp_path)))
    assert [(item.path, item.ticket_stem, item.attempt) for item in found if isinstance(item, RunRecord)] == [
        ("tickets/a.run.md", "a", None),
        ("tickets/b/attempts/2/run.md", "b", 2),
        ("tickets/b/run.md", "b", None),
        ("tickets/done/task-7.run.md", "task-7 - x", None),
    ]
    assert len(found) == 4
    by_glob = run_records.read(str(tmp_path), ["tickets/b.md"])
    assert [item.path for item in by_glob if isinstance(item, RunRecord)] == [names[2], names[1]]


def test_a_run_record_of_no_ticket_and_one_that_is_no_text_are_reported(tmp_path: Path) -> None:
    write(tmp_path, {"tickets/a.run.md": "", "tickets/b.run.md": b"\0", "tickets/c.run.md": b"## Dead ends\n\xff\n"})
    write(tmp_path, {"tickets/c.md": ""})
    os.symlink("c.md", tmp_path / "tickets/d.run.md")
    items = list(run_records.read(str(tmp_path)))
    assert [item for item in items if not isinstance(item, RunRecord)] == [
        Warned("tickets/a.run.md", 0, "there is no ticket a"),
        Skipped("tickets/b.run.md", 0, "no text: it holds a NUL"),
        Warned("tickets/c.run.md", 2, "not UTF-8, so marks stand for some characters"),
    ]
    assert [item.path for item in items if isinstance(item, RunRecord)] == ["tickets/a.run.md", "tickets/c.run.md"]


def test_without_frontmatter_the_body_says_it() -> None:
    record = parse(
        "# Run of a\n\n- **Model:** some-model\n- Tool calls: 12\n\n## Outcome\n\n**done**, after a second look\n\n"
        "## Wall time estimate\n~2 hours\n\n## Complexity: high\n\n## Escalation\nThe server was down.\n\n"
        "## Surprises\nOutcome: unclear\n\n## Judgment calls\nNone kept.\n\n## Dead ends\n\n"
    )
    assert (record.outcome, record.complexity, record.wall_time_minutes) == ("done", "high", 120.0)
    assert (record.model_exact, record.tool_calls) == ("some-model", 12)
    assert record.escalation_reason == "The server was down."
    assert record.surprises_text == "Outcome: unclear\n\nNone kept."
    assert record.dead_ends_text is None
    assert parse("---\noutcome: failed\n---\n## Outcome\ndone\n").outcome == "failed"


TABLE = """\
| | predicted | actual |
|---|---|---|
| files | 3 | 5 |
| **Minutes** | 45m | 1h |
| Complexity | low | high |
"""
LIST = """\
- files: predicted 3, actual 5
- time: predicted 45m / actual 1h
- complexity: predicted: low; actual: high
"""


@pytest.mark.parametrize("section", [TABLE, LIST])
def test_predictions_are_read_from_their_section(section: str) -> None:
    record = parse(f"## Predicted vs actual\n\n{section}")
    assert (record.predicted_files, record.actual_files) == (3, 5)
    assert (record.predicted_minutes, record.actual_minutes) == (45.0, 60.0)
    assert record.predicted_complexity == "low"
    assert parse(f"---\nactual_files: 9\n---\n## Predicted vs actual\n\n{section}").actual_files == 9


@pytest.mark.parametrize(
    ("text", "want"),
    [
        *(("45m", 45.0), ("1h30", 90.0), ("1h 30m", 90.0), ("90 min", 90.0), ("~2 hours", 120.0), ("45", 45.0)),
        *(("1.5h", 90.0), ("1,5 h", 90.0), ("about 3 hrs", 180.0), ("1:30", 90.0), ("30s", 0.5), ("PT1H30M", 90.0)),
        *(("1-2h", 90.0), ("30 to 45 min", 37.5), ("half an hour", 30.0), ("1 day", 1440.0), ("≈ 20 minutes", 20.0)),
        *(("2 hours (was 3h)", 120.0), ("1 hour and 5 minutes", 65.0), ("90min", 90.0), ("2H", 120.0)),
        *(("", None), ("soon", None), ("3 months", None), ("a while", None), ("h", None), ("9" * 99 + "h", None)),
    ],
)
def test_durations_are_minutes(text: str, want: float | None) -> None:
    found, problem = minutes(text)
    assert found == want and (problem is None) == (want is not None)


def test_what_is_no_number_is_none_and_reported() -> None:
    text = "---\ntokens_in: many\nactual_files: [a.py, b.py]\nwall_time_estimate: soon\nstarted_at: 2026-01-01\n---\n"
    record = parse(text)
    assert (record.tokens_in, record.actual_files, record.wall_time_estimate) == (None, 2, "soon")
    assert warnings(text) == [
        (2, "`tokens_in` is not a number"),
        (5, "`started_at` is a date without a zone, read as UTC"),
        (4, "`wall_time_minutes` is not a duration"),
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary()
    | st.text().map(lambda text: f"---\ntokens_in: {text}\n---\n## Outcome\n{text}".encode("utf-8", "replace"))
)
def test_arbitrary_bytes_never_raise(tmp_path: Path, data: bytes) -> None:
    write(tmp_path, {"tickets/a.run.md": data, "tickets/a/attempts/1/run.md": data})
    assert len(list(run_records.read(str(tmp_path)))) >= 2


# --- writing ---------------------------------------------------------------------------------------------------

given_fields = st.fixed_dictionaries(
    {},
    optional={
        "outcome": st.sampled_from(["done", "failed", "given up"]),
        "tokens_in": st.integers(0, 10**12),
        "actual_minutes": st.integers(0, 10**6).map(lambda number: number / 2),
        "started_at": st.integers(0, 4_000_000_000_000_000),
        "base_commit": st.sampled_from(["0123abc", "1234567", "12e4567"]),
        "model_exact": st.sampled_from(["some-model-1.5", "a: b"]),
    },
)


@given(given_fields)
def test_a_written_run_record_is_read_back(fields: dict[str, object]) -> None:
    text = run_record_text(fields)
    record = parse(text)
    assert warnings(text) == []
    assert {key: getattr(record, key) for key in fields} == fields
    assert run_record_text(fields, text) == text


@given(st.text(), given_fields)
def test_filling_never_changes_what_stands_below_the_frontmatter(text: str, fields: dict[str, object]) -> None:
    existing = f"---\nmine: @x # c\noutcome:\n---\n{text}"
    filled = run_record_text(fields, existing)
    assert filled.endswith("---\n" + text) and "mine: @x # c\n" in filled
    assert parse(filled).outcome == fields.get("outcome", parse(existing).outcome)


def test_finishing_keeps_prose_comments_and_line_ends() -> None:
    existing = "---\r\noutcome:  # to be filled\r\nmine: 1\r\n---\r\n## Dead ends\r\nA lock.  \r\n\r\n## Surprises\r\n"
    fields = {"outcome": "done", "ended_at": 1_772_000_000_000_000, "dead_ends_text": "B", "surprises_text": "One\nTwo"}
    filled = run_record_text(fields, existing)
    assert filled == (
        "---\r\noutcome: done # to be filled\r\nmine: 1\r\nended_at: 2026-02-25T06:13:20Z\r\n---\r\n"
        "## Dead ends\r\nA lock.  \r\n\r\n## Surprises\r\n\r\nOne\r\nTwo\r\n"
    )
    assert parse(filled).dead_ends_text == "A lock." and parse(filled).surprises_text == "One\nTwo"
    assert run_record_text(fields, filled) == filled


def test_prose_for_a_heading_that_is_missing_comes_last() -> None:
    assert run_record_text({"dead_ends_text": "A lock."}, "Mine.") == "Mine.\n\n## Dead ends\n\nA lock.\n"


def test_a_new_run_record_has_the_three_headings() -> None:
    text = run_record_text({"outcome": "done", "tokens_in": None, "dead_ends_text": "A lock."})
    headings = "\n## Surprises / judgment calls\n\n## Dead ends\n\nA lock.\n\n## Predicted vs actual\n"
    assert text == "---\noutcome: done\n---\n" + headings
