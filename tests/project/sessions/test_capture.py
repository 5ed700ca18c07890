"""Capture: what sessions learned reaches the log once, as it may, and what was withdrawn stays out."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backstory.project import answers
from backstory.project.authority import hook
from backstory.project.capture.backfill import backfill
from backstory.project.capture.running import Captured, capture
from backstory.project.capture.writing import Writer, says_again
from backstory.project.gateway import record
from backstory.project.opened import Project
from backstory.project.operations import operate
from backstory.project.sessions import reading
from backstory.records.event import CAPTURE, PERSON, By
from backstory.sources.transcripts.failures import error_line

from .conftest import opened
from .transcripts import Claude, red_edit_green

ME = By(PERSON, "Test Person")


@pytest.fixture
def memory(project: Path) -> Iterator[Project]:
    with opened(project) as found:
        yield found


def run(memory: Project, **options: Any) -> Captured:
    return capture(memory, os.environ, os.environ["HOME"], **options)


def log_lines(folder: Path) -> list[dict[str, Any]]:
    files = sorted((folder / ".backstory" / "log").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_failure_that_was_mended_becomes_a_trial_by_itself_with_its_places(memory: Project) -> None:
    session = red_edit_green(Claude(memory.root))
    done = run(memory)
    assert (done.sessions, done.recorded, done.active) == (1, 1, 1)
    (entry,) = answers.get(memory, "trial")
    assert (entry.standing, entry.fields["outcome"]) == ("active", "worked")
    assert entry.fields["detector"] == "red-edit-green"
    assert entry.fields["command"] == "pytest -q tests/test_store.py"
    assert "AssertionError: the store is empty" in entry.fields["failure_mode"]
    assert entry.files == ("src/store.py",)
    assert entry.by["kind"] == "hook" and entry.by["session"] == session.session
    places = [text for text in entry.evidence if text.startswith(f"session {session.session}#")]
    assert len(places) >= 2
    for text in places:
        offset = int(text.partition("#")[2].partition(":")[0])
        assert json.loads(session.path.read_bytes()[offset:].split(b"\n")[0])["sessionId"] == session.session


def test_the_same_transcript_again_adds_nothing_also_after_the_archive_is_lost(memory: Project, project: Path) -> None:
    red_edit_green(Claude(project)).user("from now on use WAL mode instead of the rollback journal, always")
    run(memory)
    before = log_lines(project)
    assert before
    again = run(memory)
    assert (again.sessions, again.recorded) == (0, 0)
    os.unlink(reading.archive_path(memory.config))
    third = run(memory)
    assert third.sessions == 1
    assert (third.recorded, third.confirmed) == (0, 0)
    assert third.known > 0
    assert log_lines(project) == before


def test_a_dry_run_says_the_same_and_writes_nothing(memory: Project, project: Path) -> None:
    red_edit_green(Claude(project))
    planned = run(memory, dry_run=True)
    assert (planned.recorded, planned.active) == (1, 1)
    assert planned.proposals[0].status == "planned"
    assert log_lines(project) == []
    done = run(memory)
    assert [one.summary for one in done.proposals] == [one.summary for one in planned.proposals]
    assert len(log_lines(project)) == 1


def test_what_a_person_rejected_stays_out_and_is_counted_and_its_neighbours_come(
    memory: Project, project: Path
) -> None:
    session = red_edit_green(Claude(project))
    run(memory)
    (entry,) = answers.get(memory, "trial")
    operate(memory, ME, "reject", entry.id, reason="no")
    os.unlink(reading.archive_path(memory.config))
    other = Claude(project)
    for line in session.lines():
        changed = line.replace(session.session, other.session).replace('"uuid": "0', '"uuid": "9')
        other.path.open("a", encoding="utf-8").write(changed + "\n")
    other.user("and now the other one").runs("npm run lint", "src/a.ts: error: unused", code=1)
    other.edits("src/a.ts", "x", "y").runs("npm run lint", "ok")
    done = run(memory)
    assert done.refused + done.dropped == 1
    assert [one.fields["command"] for one in answers.get(memory, "trial")] == ["npm run lint"]
    assert any(one.status in ("refused", "dropped") and one.why for one in done.proposals)


def test_what_backstory_injected_is_never_captured(memory: Project, project: Path) -> None:
    line = "- always use the pangolin instead of the okapi (2026-01-01, 7K3QZP)"
    brief = f'<project-memory project="x">\n{line}\n</project-memory>'
    session = Claude(project)
    session.user(brief + "\nplease go on")
    session.user("from now on use tabs instead of spaces in every file, because the linter wants it")
    attachment = {"type": "hook_additional_context", "content": [brief], "hookName": "SessionStart"}
    session.write(session.base("attachment", attachment=attachment))
    done = run(memory)
    assert any("tabs" in one.summary for one in done.proposals)
    assert not any("pangolin" in one.summary for one in done.proposals)
    assert "pangolin" not in json.dumps(log_lines(project))


def test_two_decisions_and_two_issues_of_one_turn_are_all_proposed_and_once(memory: Project, project: Path) -> None:
    session = Claude(project)
    session.user("From now on use tabs instead of spaces in every file. We never want to log the names of customers.")
    session.user("The reports of issue #717 and issue #718 show that the cache of the store is never emptied at all.")
    done = run(memory)
    assert sorted(one.detector for one in done.proposals) == ["issue-note"] * 2 + ["user-decision"] * 2
    assert done.recorded == 4 and done.known == 0
    before = log_lines(project)
    os.unlink(reading.archive_path(memory.config))
    again = run(memory)
    assert (again.recorded, again.known) == (0, 4)
    assert log_lines(project) == before


def test_a_capture_that_is_stopped_in_the_middle_goes_on_there(
    memory: Project, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = red_edit_green(Claude(project))
    session.user("from now on use WAL mode instead of the rollback journal, always")
    write, written = Writer.write, []

    def stopped(writer: Writer, *given: Any) -> Any:
        if written:
            raise KeyboardInterrupt
        written.append(given)
        return write(writer, *given)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Writer, "write", stopped)
        run(memory)
    assert len(log_lines(project)) == 1
    done = run(memory)
    assert (done.sessions, done.recorded, done.known) == (1, 1, 1)
    assert len(log_lines(project)) == 2
    assert run(memory).sessions == 0


def test_a_decision_said_again_in_a_later_session_is_confirmed_once(memory: Project, project: Path) -> None:
    Claude(project).user("from now on use tabs instead of spaces in every source file")
    first = run(memory)
    assert first.recorded == 1
    (proposal,) = answers.review_queue(memory)
    assert proposal.standing == "proposed"
    operate(memory, ME, "approve", proposal.id)
    Claude(project).user("from now on use tabs instead of spaces in every source file")
    again = run(memory)
    assert (again.recorded, again.confirmed) == (0, 1)
    (decision,) = answers.get(memory, "decision")
    assert (decision.id, decision.standing) == (proposal.id, "confirmed")
    os.unlink(reading.archive_path(memory.config))
    before = log_lines(project)
    assert run(memory).confirmed == 0
    assert log_lines(project) == before


def test_two_sessions_that_say_the_same_make_a_proposal_count(memory: Project, project: Path) -> None:
    Claude(project).user("from now on use tabs instead of spaces in every source file")
    run(memory)
    assert answers.get(memory, "decision") == []
    Claude(project).user("from now on use tabs instead of spaces in every source file")
    run(memory)
    (decision,) = answers.get(memory, "decision")
    assert decision.standing == "active"


def test_a_contradiction_puts_an_agents_decision_in_doubt_and_leaves_a_persons_alone(
    memory: Project, project: Path
) -> None:
    agents = record(memory, By("agent", "claude-code", "s0"), "decision", {"summary": "Use tabs in every source file"})
    persons = record(memory, ME, "decision", {"summary": "Use Redis for the cache of sessions"})
    Claude(project).user("from now on do not use tabs in every source file, always use spaces instead of tabs")
    Claude(project).user("from now on do not use Redis for the cache of sessions, always use memcached instead")
    run(memory)
    assert answers.one_view(memory, agents.id).standing in ("contested", "active")
    assert answers.one_view(memory, persons.id).standing == "confirmed"


def test_at_most_five_are_proposed_of_one_session(memory: Project, project: Path) -> None:
    session = Claude(project)
    for number in range(12):
        session.user(f"fix part {number}").runs(f"make part{number}", f"Error: part {number} broke", code=2)
        session.edits(f"src/part{number}.py", "a", "b").runs(f"make part{number}", "done")
    done = run(memory)
    assert done.recorded == 5


def test_a_fix_that_repeats_in_another_session_is_told_as_a_pattern_of_sessions(memory: Project, project: Path) -> None:
    red_edit_green(Claude(project))
    run(memory)
    second = (
        Claude(project)
        .user("again")
        .runs("pytest -q tests/test_other.py", "E   AssertionError: the store is empty", code=1)
    )
    second.edits("src/store.py", "q", "r").runs("pytest -q tests/test_other.py", "1 passed")
    done = run(memory)
    assert "repeated-fix" in {one.detector for one in done.proposals}
    before = log_lines(project)
    os.unlink(reading.archive_path(memory.config))
    run(memory)
    assert log_lines(project) == before


def test_an_old_find_is_as_old_as_what_it_saw(memory: Project, project: Path) -> None:
    session = red_edit_green(Claude(project))
    text = session.path.read_text(encoding="utf-8").replace("2026-11-20T", "2024-01-20T")
    session.path.write_text(text, encoding="utf-8")
    run(memory)
    (entry,) = answers.get(memory, "trial")
    assert not entry.fresh
    assert any("age" in reason for reason in entry.tags)
    assert entry.fields["valid_from"].startswith("2024-01-20")


def test_only_capture_may_say_what_found_an_entry(memory: Project) -> None:
    from backstory.errors import BackstoryError

    with pytest.raises(BackstoryError, match="no field 'detector'"):
        record(memory, hook(CAPTURE, "s"), "note", {"summary": "x", "detector": "red-edit-green"})
    agent = record(memory, By("agent", "a", "s"), "note", {"summary": "one"}, detector="red-edit-green")
    assert "detector" not in answers.one_view(memory, agent.id).fields
    other = record(memory, hook("ci", "s"), "note", {"summary": "two"}, detector="red-edit-green")
    assert other.standing == "proposed"
    third = record(memory, hook(CAPTURE, "s"), "note", {"summary": "three"}, detector="user-decision")
    assert third.standing == "proposed"
    fourth = record(memory, hook(CAPTURE, "s"), "note", {"summary": "four"}, detector="red-edit-green")
    assert fourth.standing == "active"


def test_secrets_of_a_transcript_reach_neither_log_nor_archive(memory: Project, project: Path) -> None:
    secret = "ghp_" + "Zz9yX8wV7u" * 4
    session = Claude(project).user("fix it").runs(f"TOKEN={secret} make test", f"Error: bad token {secret}", code=2)
    session.edits("src/store.py", "a", secret).runs(f"TOKEN={secret} make test", "ok")
    done = run(memory)
    assert done.recorded >= 1
    for path in [*project.rglob("*")]:
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path
    assert secret not in repr(done)


def test_a_backfill_reports_and_a_second_one_adds_nothing(memory: Project, project: Path) -> None:
    red_edit_green(Claude(project))
    Claude(project).user("from now on use tabs instead of spaces in every source file")
    dry = backfill(memory, os.environ, os.environ["HOME"], dry_run=True)
    assert dry.captured.recorded == 2
    assert log_lines(project) == []
    done = backfill(memory, os.environ, os.environ["HOME"])
    assert done.transcripts == {"claude-code": 2}
    assert (done.captured.sessions, done.captured.recorded) == (2, 2)
    assert done.commits == 1
    before = log_lines(project)
    again = backfill(memory, os.environ, os.environ["HOME"])
    assert again.captured.recorded == 0
    assert log_lines(project) == before


def test_a_stopped_backfill_goes_on_where_it_stopped(
    memory: Project, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        session = Claude(project).user(f"fix {number}").runs(f"make p{number}", f"Error: part {number} broke", code=2)
        session.edits(f"src/p{number}.py", "a", "b").runs(f"make p{number}", "ok")
    from backstory.project.capture import running

    real, seen = running._Capture.look_at, []

    def stops(self: Any, session: Any) -> None:
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(session.id)
        real(self, session)

    monkeypatch.setattr(running._Capture, "look_at", stops)
    with pytest.raises(KeyboardInterrupt):
        backfill(memory, os.environ, os.environ["HOME"])
    assert len(log_lines(project)) == 2
    monkeypatch.undo()
    done = backfill(memory, os.environ, os.environ["HOME"])
    assert done.captured.sessions == 2
    assert len(log_lines(project)) == 4


def end_hook(folder: Path, session: Claude, **env: str) -> subprocess.CompletedProcess[bytes]:
    given = {
        "session_id": session.session, "transcript_path": str(session.path), "cwd": str(folder),
        "hook_event_name": "SessionEnd", "reason": "other",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "backstory.surfaces.hooks.entry", "claude-code", "SessionEnd"],
        input=json.dumps(given).encode(), capture_output=True, cwd=folder, env={**os.environ, **env}, check=False,
    )  # fmt: skip


def test_when_a_session_ends_its_hook_proposes_what_it_learned(project: Path) -> None:
    session = red_edit_green(Claude(project))
    done = end_hook(project, session)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"1 new from this session" in done.stderr
    assert [line["detector"] for line in log_lines(project)] == ["red-edit-green"]
    again = end_hook(project, session)
    assert (again.returncode, again.stdout, again.stderr) == (0, b"", b"")
    assert len(log_lines(project)) == 1


def test_capture_at_the_end_can_be_turned_off(project: Path) -> None:
    marker = project / ".backstory" / "project.toml"
    marker.write_text(marker.read_text(encoding="utf-8") + "\n[sessions]\ncapture = false\n", encoding="utf-8")
    session = red_edit_green(Claude(project))
    done = end_hook(project, session)
    assert (done.returncode, done.stderr) == (0, b"")
    assert log_lines(project) == []
    with opened(project) as memory:
        assert run(memory).recorded == 1


def test_one_word_for_another_or_a_not_is_no_repetition() -> None:
    said = "from now on use tabs for every new table in the store"
    assert says_again(said, said.upper())
    assert says_again(said, f"{said}, please")
    assert not says_again(said, said.replace("tabs", "spaces"))
    assert not says_again(said, said.replace("use", "do not use"))
    assert not says_again(said, "something else entirely")


def test_a_box_around_a_message_is_no_message() -> None:
    top, bottom = "\u256d\u2500\u2500\u256e", "\u2570\u2500\u2500\u256f"
    framed = f"{top}\n\u2502 husky: the linter said no \u2502\n{bottom}\n"
    assert error_line(framed) == "husky: the linter said no"
    assert error_line("\u256d\u2500\u2500\u256e\n\u2570\u2500\u2500\u256f\n") == ""
    assert error_line(f"error: it broke\n{framed}") == "error: it broke"
