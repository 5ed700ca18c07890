"""The memory at work, in counts: only what was really given and really followed."""

import os
from pathlib import Path

import pytest

from backstory.project import snoozing
from backstory.project.gateway import record
from backstory.project.opened import now_micros
from backstory.project.operations import operate
from backstory.project.refresh import open_project
from backstory.project.session_file import WARNED, SessionFile
from backstory.project.stats import Stats, stats
from backstory.records.event import PERSON, By
from backstory.surfaces.hooks import events
from tests.project.sessions.conftest import made_project

ME = By(PERSON, "Test Person")
DAY = 86_400_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made_project(tmp_path / "proj")


def counted(folder: Path) -> Stats:
    with open_project(str(folder)) as project:
        return stats(project)


def say(folder: Path, text: str, **fields: object) -> str:
    with open_project(str(folder)) as project:
        return record(project, ME, "decision", {"summary": text, **fields}).id


def test_before_anything_happened_all_is_zero(folder: Path) -> None:
    found = counted(folder)
    assert (found.sessions, found.lines, found.warnings, found.dismissed, found.entries) == (0, 0, 0, 0, {})
    assert found.age_days_median is None


def test_what_sessions_were_given_is_counted_once_with_its_age_and_its_fate(folder: Path) -> None:
    one, two = say(folder, "Use wool", files=["src/store.py"]), say(folder, "Use silk", files=["src/store.py"])
    later = now_micros() + 2 * DAY
    for session in ("s1", "s2"):
        assert "Use wool" in events.started(str(folder), session, "startup", later).text
        events.started(str(folder), session, "resume", later)
    found = counted(folder)
    assert (found.sessions, found.lines) == (2, 4)
    assert found.tokens.keys() == {"brief"}
    assert found.tokens_most == found.tokens_median == found.tokens["brief"] // 2 > 20
    assert found.age_days_median == 2.0
    assert (found.confirmed_since, found.withdrawn_since) == (0, 0)
    with open_project(str(folder), now=later + DAY) as project:
        operate(project, ME, "confirm", one)
        operate(project, ME, "retire", two, reason="it tears")
    found = counted(folder)
    assert (found.confirmed_since, found.withdrawn_since) == (2, 2)
    assert found.entries == {"decision": {"confirmed": 1, "retired": 1}}


def test_notes_of_a_file_count_as_given(folder: Path) -> None:
    say(folder, "Use wool", files=["src/store.py"])
    assert events.looked_at(str(folder), "s1", ["src/store.py"], now_micros()).text
    found = counted(folder)
    assert (found.sessions, found.lines) == (1, 1)
    assert found.tokens["notes"] > 10


def test_a_warning_is_followed_by_another_edit_of_its_file_and_by_no_other(folder: Path) -> None:
    with open_project(str(folder)) as project:
        places = project.config.places
    for session in ("s1", "s2"):
        SessionFile(places, session).add(WARNED, f"{now_micros()} 01ABC src/store.py")
    events.edited(str(folder), "s1", ["src/other.py"], "x = 1\n", now_micros())
    assert (counted(folder).warnings, counted(folder).followed) == (2, 0)
    events.edited(str(folder), "s1", ["src/store.py"], "x = 1\n", now_micros())
    events.edited(str(folder), "s1", ["src/store.py"], "x = 2\n", now_micros())
    assert (counted(folder).warnings, counted(folder).followed) == (2, 1)


def test_a_dismissal_is_counted_with_its_reason(folder: Path) -> None:
    with open_project(str(folder)) as project:
        snoozing.keep(project.config.project, snoozing.Snooze("01ABC", now_micros() + DAY, now_micros(), "me", "on it"))
    found = counted(folder)
    assert (found.dismissed, found.dismissals) == (1, ("on it",))


def test_a_broken_session_file_costs_itself(folder: Path) -> None:
    say(folder, "Use wool")
    events.started(str(folder), "s1", "startup", now_micros())
    with open_project(str(folder)) as project:
        place = os.path.join(project.config.places.derived_dir, "sessions", "broken.txt")
    Path(place).write_bytes(b"\xff\xfe\ngiven\nwarned\tx\ngiven\ta b c\ntold\n\0")
    found = counted(folder)
    assert (found.sessions, found.lines, found.warnings) == (1, 1, 0)
