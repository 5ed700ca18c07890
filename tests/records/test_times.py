"""Instants are aware, UTC, and the same wherever the program runs."""

import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.records.times import DAY, format_date, format_instant, month_of, parse_instant, to_micros
from tests.storekit import environment

_FIRST = -62_135_596_800_000_000  # the year 1
micros = st.integers(min_value=_FIRST, max_value=253_402_300_799_999_999)


@given(micros)
def test_what_is_written_is_read_back_and_sorts_as_text(instant: int) -> None:
    text = format_instant(instant)
    assert parse_instant(text) == instant
    assert len(text) == 27 and text.endswith("Z")
    assert instant == _FIRST or format_instant(instant - 1) < text


@given(st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29)), st.integers(-1439, 1439))  # noqa: DTZ001
def test_a_zone_is_reckoned_with(moment: datetime, minutes: int) -> None:
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert to_micros(aware) == to_micros(moment.replace(tzinfo=UTC)) - minutes * 60_000_000
    assert parse_instant(aware.isoformat()) == to_micros(aware)


@pytest.mark.parametrize("text", ["2026-01-01T00:00:00", "2026-01-01", "", "now", "2026-13-01T00:00:00Z", "1e9"])
def test_a_naive_or_impossible_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_instant(text)


def test_a_naive_datetime_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        to_micros(datetime(2026, 1, 1))  # noqa: DTZ001


def test_days_and_months_are_utc() -> None:
    instant = parse_instant("2026-01-31T23:30:00-01:00")
    assert (format_date(instant), month_of(instant)) == ("2026-02-01", "202602")
    assert DAY == 86_400_000_000


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles", "Asia/Kolkata", "UTC"])
def test_the_zone_of_the_machine_changes_nothing(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert format_instant(1_772_000_000_000_000) == "2026-02-25T06:13:20.000000Z"
        assert parse_instant("2026-03-08T02:30:00-08:00") == 1_772_965_800_000_000
    finally:
        monkeypatch.undo()
        time.tzset()


STORY = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.storekit import PERSON_BY, Store, agent, tables
from backstory.project import answers
from backstory.records.times import DAY

store = Store(Path(sys.argv[2]))
project = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
folder = store.root / ".backstory"
folder.mkdir()
(folder / "project.toml").write_text(f'id = "{project}"')
(store.root / "code.py").write_text("def one(): pass")
# Around midnight UTC, where a local day would be another, and over the change to summer time in California.
store.clock.now = 1_772_841_595_000_000
made = [store.record(f"entry {n}", kind="issuenote", issue="7", files=["code.py"]) for n in range(4)]
made.append(store.record("valid", valid_from="2026-03-08", valid_until="2026-03-09"))
made.append(store.record("later", revisit_when="2026-03-08"))
store.do("confirm", made[0])
said = []
for hours in (0, 2, 20, 26, 44, 14 * 24 - 1, 14 * 24 + 1, 31 * 24):
    store.clock.now = 1_772_841_595_000_000 + hours * 3_600_000_000
    with store.open() as project:
        views = answers.timeline(project)
        said.append([(v.summary, v.standing, v.fresh, v.stale_reasons) for v in views])
print(said)
"""


def test_standing_and_staleness_are_the_same_in_every_zone(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Expiry, age and `revisit_when` around midnight and a change of clocks, in processes of four zones."""
    said = {}
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
    for zone in ("UTC", "Pacific/Auckland", "America/Los_Angeles", "Asia/Kolkata"):
        folder = tmp_path_factory.mktemp("zone")
        done = subprocess.run(
            [sys.executable, "-c", STORY, root, str(folder)],
            env=environment() | {"TZ": zone}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said[zone] = done.stdout
    assert len(set(said.values())) == 1, said
    assert "expired" in said["UTC"] and "confirmed" in said["UTC"]
