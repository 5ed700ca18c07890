"""States that an orchestrator wrote, in any of the usual shapes."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backstory.sources.orchestrator import STATES, SUBJECTS, StateEvent, read
from backstory.sources.skipped import Skipped, Warned

SECOND = 1_000_000
DAY = 1_767_225_600 * SECOND  # 2026-01-01
EVENT: dict[str, Any] = {"at": "2026-01-01T00:00:00Z", "state": "running", "ticket": "a-1", "worker": 3}


def load(folder: Path, content: object, **mapping: str) -> tuple[list[StateEvent], list[Skipped | Warned]]:
    """The events and the problems of a file with this content."""
    file = folder / "state.json"
    data = content if isinstance(content, bytes | str) else json.dumps(content)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    found = list(read(str(file), **mapping))
    events = [item for item in found if isinstance(item, StateEvent)]
    return events, [item for item in found if not isinstance(item, StateEvent)]


def test_an_event_has_time_state_subject_and_the_rest(tmp_path: Path) -> None:
    """What is not one of the three is kept as compact JSON."""
    events, problems = load(tmp_path, [EVENT])
    assert problems == []
    assert events == [StateEvent(DAY, "running", "a-1", '{"worker":3}', str(tmp_path / "state.json"), 1)]


@pytest.mark.parametrize("time", ["at", "time", "timestamp", "ts", "created_at"])
@pytest.mark.parametrize("state", STATES)
def test_the_usual_names_are_known(tmp_path: Path, time: str, state: str) -> None:
    """Each name for a time with each for a state, and each for a subject."""
    for subject in SUBJECTS:
        (event,), problems = load(tmp_path, [{time: "2026-01-01T00:00:00Z", state: "done", subject: "x"}])
        assert (event.at, event.state, event.subject, event.detail, problems) == (DAY, "done", "x", "{}", [])


def test_earlier_names_go_before_later_ones(tmp_path: Path) -> None:
    """The order of the names decides, not that of the file; a name that holds nothing is passed over."""
    both = {
        "event": "e",
        "status": "s",
        "id": "i",
        "ticket": "",
        "ts": "2025-01-01T00:00:00Z",
        "at": "2026-01-01T00:00:00Z",
    }
    (event,), _ = load(tmp_path, [both])
    assert (event.at, event.state, event.subject) == (DAY, "s", "i")
    assert json.loads(event.detail) == {"event": "e", "ticket": "", "ts": "2025-01-01T00:00:00Z"}


def test_settings_name_the_fields_by_path(tmp_path: Path) -> None:
    """A path leads into objects and lists; a key may hold dots; the usual names then mean nothing."""
    odd = {"meta": {"when": 1_767_225_600}, "steps": [{"to": "ok"}], "who.am": "me", "state": "no"}
    mapping = {"time": "meta.when", "state": "steps.0.to", "subject": "who.am"}
    (event,), problems = load(tmp_path, [odd], **mapping)
    assert (event.at, event.state, event.subject, problems) == (DAY, "ok", "me", [])
    events, problems = load(tmp_path, [EVENT], state="phase.name")
    assert (events, len(problems)) == ([], 1)
    assert "phase.name" in problems[0].why


@pytest.mark.parametrize("factor", [1, 1_000, 1_000_000, 1_000_000_000])
def test_numbers_are_instants_by_their_size(tmp_path: Path, factor: int) -> None:
    """Seconds, milli-, micro- and nanoseconds, as numbers and as text."""
    for value in (1_767_225_600 * factor, str(1_767_225_600 * factor), 1_767_225_600.0 * factor):
        (event,), problems = load(tmp_path, [{**EVENT, "at": value}])
        assert (event.at, problems) == (DAY, [])


def test_a_time_without_a_zone_is_read_as_utc_with_a_warning(tmp_path: Path) -> None:
    """A zone is kept to and warns of nothing."""
    (event,), (problem,) = load(tmp_path, [{**EVENT, "at": "2026-01-01T00:00:00"}])
    assert (event.at, type(problem), problem.line) == (DAY, Warned, 1)
    (event,), problems = load(tmp_path, [{**EVENT, "at": "2026-01-01T02:00:00+02:00"}])
    assert (event.at, problems) == (DAY, [])


def test_every_way_to_hold_events_is_read(tmp_path: Path) -> None:
    """Lists, lines, an object around a list, and an object with an object per subject."""
    two = [EVENT, {**EVENT, "ticket": "a-2"}]
    keyed = {event["ticket"]: {key: event[key] for key in ("at", "state")} for event in two}
    for way in (
        two,
        "\n".join(map(json.dumps, two)),
        {"events": two},
        {"run": {"log": two}},
        keyed,
        {"tickets": keyed},
    ):
        events, problems = load(tmp_path, way)
        assert ([event.subject for event in events], problems) == (["a-1", "a-2"], []), way


def test_the_state_of_a_run_and_those_of_its_tasks_are_all_read(tmp_path: Path) -> None:
    """The only object of a file may have a state of its own beside the list; one of several lines is just an event."""
    run = {"status": "busy", "at": EVENT["at"], "name": "run", "tasks": [EVENT]}
    events, problems = load(tmp_path, run)
    assert ([event.state for event in events], problems) == (["busy", "running"], [])
    events, problems = load(tmp_path, json.dumps(run) + "\n" + json.dumps(EVENT))
    assert ([event.state for event in events], problems) == (["busy", "running"], [])
    assert '"tasks"' in events[0].detail


def test_one_bad_event_costs_only_itself(tmp_path: Path) -> None:
    """Without a time or a state, with a time that is none, no object, a broken line: each is named by its line."""
    bad = [{"state": "x"}, {"at": EVENT["at"], "state": ""}, {**EVENT, "at": "soon"}, {**EVENT, "at": True}]
    lines = [json.dumps(item) for item in [EVENT, *bad, EVENT]]
    lines[5:5] = ["7", "{oops", '{"state": "cut']
    events, problems = load(tmp_path, "\n".join(lines))
    assert [event.line for event in events] == [1, 9]
    assert [(type(problem), problem.line) for problem in problems] == [(Skipped, line) for line in range(2, 9)]


def test_states_and_subjects_may_be_objects_numbers_or_flags(tmp_path: Path) -> None:
    """Of an object its name counts; white space is squeezed."""
    (one, two), problems = load(
        tmp_path, [{**EVENT, "state": {"id": 4, "name": " In\nprogress "}, "ticket": 17}, {**EVENT, "state": True}]
    )
    assert (one.state, one.subject, two.state, problems) == ("In progress", "17", "true", [])


def test_the_detail_is_bounded_and_stays_json(tmp_path: Path) -> None:
    """Long values are cut, and what finds no room is left out; a short one is kept whole."""
    many = {f"key{number}": "x" * number for number in range(3_000)}
    (event,), _ = load(tmp_path, [{**EVENT, **many, "deep": [[["\ud800"]]]}])
    detail = json.loads(event.detail)
    assert len(event.detail) <= 4_000
    assert detail["key5"] == "xxxxx"
    (event,), _ = load(tmp_path, [{**EVENT, "big": "y" * 10_000, "small": [1, None, float("nan")]}])
    detail = json.loads(event.detail)
    assert detail["big"].endswith("\u2026")
    assert detail["small"] == [1, None, None]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["at", "state", "status", "id", "events", "a"]), inner, max_size=6)
    ),
    max_leaves=20,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(
    value=JSON, extra=st.binary(max_size=20), cut=st.integers(0, 200), path=st.sampled_from(["", "a.b.0", "at", "."])
)
def test_nothing_raises(tmp_path: Path, value: Any, extra: bytes, cut: int, path: str) -> None:
    """Any JSON, whole, cut off or with bytes in it, with any mapping, yields events that can be stored."""
    data = json.dumps(value).encode()
    events, _ = load(tmp_path, data[:cut] + extra + data[cut:], time=path, subject=path)
    for event in events:
        json.loads(event.detail)
        (event.state + event.subject + event.detail).encode()
        assert event.state
