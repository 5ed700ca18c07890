"""Where entries come from, what stands behind a file, and what is left when a transcript is gone."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from backstory.project import answers
from backstory.project.capture.running import capture
from backstory.project.cleaning import clean
from backstory.project.gateway import record
from backstory.project.history.asking import ensure
from backstory.project.opened import Project
from backstory.project.sessions import reading
from backstory.project.sessions.answers import listed
from backstory.records.event import By
from backstory.records.times import parse_instant

from .conftest import opened, refresh
from .transcripts import Claude, red_edit_green


@pytest.fixture
def memory(project: Path) -> Iterator[Project]:
    with opened(project) as found:
        yield found


def tidy(memory: Project) -> object:
    return clean(memory, os.environ, os.environ["HOME"])


def test_what_capture_found_is_followed_to_the_bytes_that_show_it(memory: Project) -> None:
    session = red_edit_green(Claude(memory.root))
    capture(memory, os.environ, os.environ["HOME"])
    (entry,) = answers.get(memory, "trial")
    places = answers.show(memory, entry.id).comes_from
    assert [place.state for place in places] == ["here"] * len(places)
    first = places[0]
    assert (first.session, first.turn) == (session.session, 1)
    assert first.asked == "The test of the store fails. Fix it."
    assert first.transcript == str(session.path)
    assert ("command", "pytest -q tests/test_store.py") in first.lines
    assert b"pytest -q" in session.path.read_bytes()[first.offset :].split(b"\n")[0]


def test_what_an_agent_recorded_is_followed_to_the_turn_by_its_time(memory: Project) -> None:
    session = Claude(memory.root).user("first thing").says("ok").user("second thing").says("recorded it")
    memory.now = parse_instant("2026-11-20T10:00:03.500000Z")
    one = record(memory, By("agent", "claude-code", session.session), "note", {"summary": "about it"})
    refresh(Path(memory.root))
    (place,) = answers.show(memory, one.id).comes_from
    assert (place.state, place.turn, place.asked) == ("here", 2, "second thing")
    assert ("person", "second thing") in place.lines
    other = record(memory, By("agent", "codex", "nowhere"), "note", {"summary": "of another machine"})
    (unknown,) = answers.show(memory, other.id).comes_from
    assert unknown.state == "not known here"
    persons = record(memory, By("person", "me"), "note", {"summary": "by hand"})
    assert answers.show(memory, persons.id).comes_from == ()


def test_behind_a_file_and_a_line_stand_commits_and_the_sessions_that_made_them(memory: Project, project: Path) -> None:
    (project / "src" / "store.py").write_text("def rows():\n    return self.rows\n", encoding="utf-8")
    subprocess.run(["git", "commit", "-qam", "Return the rows"], cwd=project, check=True)
    done = subprocess.run(["git", "log", "-1", "--format=%H"], cwd=project, check=True, capture_output=True, text=True)
    sha = done.stdout.strip()
    session = red_edit_green(Claude(project)).runs(
        "git commit -m 'Return the rows'", f"[main {sha[:7]}] Return the rows"
    )
    other = Claude(project).user("look at it").reads("src/store.py")
    refresh(project)
    found = answers.why(memory, "src/store.py").behind
    assert found is not None
    assert (found.commits[0].sha, found.commits[0].subject) == (sha, "Return the rows")
    assert found.commits[0].sessions == (session.session,)
    assert [one.id for one in found.sessions] == [session.session, other.session]
    assert (found.sessions[0].edits, found.sessions[1].reads) == (1, 1)
    line = answers.why(memory, "src/store.py", line=2).behind
    assert line is not None
    assert [one.sha for one in line.commits] == [sha]
    assert [one.id for one in line.sessions] == [session.session]
    first = answers.why(memory, "src/store.py", line=1).behind
    assert first is not None
    assert [one.subject for one in first.commits] == ["Begin"]
    assert first.sessions == ()
    nowhere = answers.why(memory, "src/none.py", line=7).behind
    assert nowhere is not None
    assert (nowhere.commits, nowhere.sessions) == ((), ())


def test_search_has_sessions_in_its_one_list_and_memory_comes_first_where_both_fit(
    memory: Project, project: Path
) -> None:
    record(memory, By("agent", "a", "s"), "decision", {"summary": "The pangolin cache uses WAL mode"})
    session = Claude(project).user("please explain the pangolin cache").says("the pangolin cache is WAL")
    refresh(project)
    hits = answers.search(memory, "pangolin cache").hits
    assert {hit.source for hit in hits} == {"entry", "session"}
    assert hits[-1].ref == f"{session.session} turn 1"
    assert [hit.source for hit in answers.search(memory, "pangolin", sources=("session",)).hits] == ["session"]
    assert [hit.source for hit in answers.search(memory, "pangolin", sources=("entry",)).hits] == ["entry"]
    assert [hit.source for hit in answers.search(memory, "pangolin", kinds=("decision",)).hits] == ["entry"]


def test_the_session_that_asks_does_not_find_its_own_question(
    memory: Project, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Claude(project).user("where is the pangolin")
    other = Claude(project).user("the pangolin is in the store")
    refresh(project)
    refs = {hit.ref for hit in answers.search(memory, "pangolin").hits}
    assert refs == {f"{session.session} turn 1", f"{other.session} turn 1"}
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session.session)
    assert {hit.ref for hit in answers.search(memory, "pangolin").hits} == {f"{other.session} turn 1"}


def test_gc_takes_out_what_has_no_transcript_and_marks_what_rests_on_it(memory: Project, project: Path) -> None:
    gone = red_edit_green(Claude(project).user("the okapi"))
    stays = Claude(project).user("the pangolin stays")
    capture(memory, os.environ, os.environ["HOME"])
    (entry,) = answers.get(memory, "trial")
    gone.path.unlink()
    done = tidy(memory)
    assert (done.sessions, done.resting_entries) == ((gone.session,), 1)  # type: ignore[attr-defined]
    assert [row.id for row in listed(memory, limit=5).sessions] == [stays.session]
    data = b"".join(file.read_bytes() for file in Path(memory.config.places.shared_dir).glob("sessions.sqlite*"))
    assert b"okapi" not in data
    assert b"pangolin" in data
    (place, *_) = answers.show(memory, entry.id).comes_from
    assert (place.state, place.transcript) == ("transcript gone", str(gone.path))
    assert answers.search(memory, "okapi").hits == ()
    assert len(answers.search(memory, "pangolin").hits) == 1
    again = tidy(memory)
    assert again.sessions == ()  # type: ignore[attr-defined]
    assert answers.show(memory, entry.id).comes_from[0].state == "transcript gone"
    assert capture(memory, os.environ, os.environ["HOME"]).recorded == 0


def test_the_history_has_sessions_that_can_be_joined(memory: Project, project: Path) -> None:
    session = red_edit_green(Claude(project)).runs("git commit -m x", "[main 1a2b3c4] x")
    capture(memory, os.environ, os.environ["HOME"])
    ensure(memory, up_to_date=True)
    from backstory.project.history.asking import query

    sql = (
        "SELECT s.client, s.turns, s.failed_calls, s.edits, s.commits, s.entry_count, f.path, f.edits, f.cited"
        f" FROM sessions s JOIN session_files f USING (session) WHERE session = '{session.session}'"
    )
    result = query(memory, sql)
    assert [tuple(row) for row in result.rows] == [("claude-code", 1, 1, 1, ["1a2b3c4"], 1, "src/store.py", 1, True)]


def test_nothing_of_a_session_that_is_off_is_found(memory: Project, project: Path) -> None:
    Claude(project).user("the pangolin")
    refresh(project)
    assert len(answers.search(memory, "pangolin").hits) == 1
    reading.switch(memory.config, False)
    assert answers.search(memory, "pangolin").hits == ()
