"""A run record is begun and filled in with what git and the clock know, and nothing that stands in it is touched."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from backstory.errors import BackstoryError, Exit
from backstory.project import running_records
from backstory.project.running_records import RunOutcome
from backstory.project.setup import init
from backstory.records.times import format_instant
from backstory.sources import run_records
from backstory.sources.frontmatter import scalar
from backstory.sources.run_records import RunRecord
from backstory.sources.skipped import Warned
from tests.project.memory import Memory

NOBODY: dict[str, str] = {}
MINUTES = 1 / (24 * 60)


def start(memory: Memory, name: str = "a", env: dict[str, str] | None = None, **fields: Any) -> RunOutcome:
    memory.tick()
    with memory.open() as project:
        return running_records.start(project, name, fields, env=NOBODY if env is None else env)


def finish(memory: Memory, name: str = "a", env: dict[str, str] | None = None, **fields: Any) -> RunOutcome:
    memory.tick()
    with memory.open() as project:
        return running_records.finish(project, name, fields, env=NOBODY if env is None else env)


def records(memory: Memory) -> list[RunRecord]:
    return [item for item in run_records.read(str(memory.root)) if isinstance(item, RunRecord)]


def text(memory: Memory, path: str) -> str:
    return (memory.root / path).read_bytes().decode("utf-8")


@pytest.fixture
def a(memory: Memory) -> Memory:
    """A memory with the ticket `a`, committed."""
    memory.put("tickets/a.md", "# A\n")
    memory.commit("The ticket")
    return memory


# --- start -----------------------------------------------------------------------------------------------------


def test_a_start_writes_what_is_known_beside_the_ticket_and_leaves_the_headings_empty(a: Memory) -> None:
    done = start(a, predicted_files=3, predicted_minutes=45, predicted_complexity="low", wall_time_estimate="1h",
                 model_exact="some-model-1.5")  # fmt: skip
    assert (done.status, done.ticket, done.path, done.attempt) == ("started", "a", "tickets/a.run.md", 1)
    head = scalar(a.git("rev-parse", "HEAD"))
    assert text(a, done.path) == (
        '---\nwall_time_estimate: "1h"\nstarted_at: 2026-01-05T12:00:03Z\npredicted_complexity: low\n'
        f"predicted_files: 3\npredicted_minutes: 45\nbase_commit: {head}\nmodel_exact: some-model-1.5\n---\n"
        "\n## Surprises / judgment calls\n\n## Dead ends\n\n## Predicted vs actual\n"
    )
    [record] = records(a)
    assert (record.started_at, record.base_commit) == (a.now, a.git("rev-parse", "HEAD"))
    assert (record.predicted_files, record.predicted_minutes, record.wall_time_minutes) == (3, 45.0, 60.0)
    assert (record.outcome, record.surprises_text, record.ended_at) == (None, None, None)
    assert done.notes == ()


def test_a_second_start_changes_nothing_and_says_so(a: Memory) -> None:
    start(a)
    before = text(a, "tickets/a.run.md")
    again = start(a, predicted_files=9)
    assert (again.status, again.path, again.fields) == ("open", "tickets/a.run.md", {})
    assert again.notes == ("it is under way since 2026-01-05T12:00Z; nothing was changed",)
    assert text(a, "tickets/a.run.md") == before
    assert len(records(a)) == 1


def test_after_a_finished_run_the_next_attempt_begins(a: Memory) -> None:
    for attempt, path in (
        (1, "tickets/a.run.md"),
        (2, "tickets/a/attempts/2/run.md"),
        (3, "tickets/a/attempts/3/run.md"),
    ):
        done = start(a)
        assert (done.status, done.attempt, done.path) == ("started", attempt, path)
        assert finish(a, outcome="failed").path == path
    assert [record.attempt for record in records(a)] == [2, 3, None]
    assert {record.ticket_stem for record in records(a)} == {"a"}


def test_a_ticket_with_a_folder_has_its_records_in_it(memory: Memory) -> None:
    memory.put("tickets/in progress/b's 日本/ticket.md", "# B\n")
    assert start(memory, "b's 日本").path == "tickets/in progress/b's 日本/run.md"
    finish(memory, "b's 日本")
    assert start(memory, "b's 日本").path == "tickets/in progress/b's 日本/attempts/2/run.md"
    assert {record.ticket_stem for record in records(memory)} == {"b's 日本"}


def test_beside_a_task_of_backlog_md_no_file_is_put_that_the_tool_takes_for_a_task(memory: Memory) -> None:
    memory.put("backlog/tasks/back-1 - Do it.md", "---\nid: BACK-1\ntitle: Do it\n---\n")
    done = start(memory, "back-1")
    assert (done.path, done.id) == ("backlog/tasks/back-1 - Do it/run.md", "BACK-1")
    assert [path.name for path in (memory.root / "backlog/tasks").glob("*.md")] == ["back-1 - Do it.md"]
    assert [record.ticket_stem for record in records(memory)] == ["back-1 - Do it"]
    finish(memory, "BACK-1")
    assert start(memory, "1").path == "backlog/tasks/back-1 - Do it/attempts/2/run.md"


def test_a_record_made_by_hand_is_filled_in_where_it_is_empty(a: Memory) -> None:
    a.put("tickets/a.run.md", "---\nmine: 1 # kept\npredicted_files: 7\nstarted_at:\n---\n\n## Dead ends\n")
    done = start(a, predicted_files=3)
    assert (done.status, done.path) == ("started", "tickets/a.run.md")
    assert done.notes[-1] == "predicted_files stands there already and was left as it is"
    assert text(a, "tickets/a.run.md") == (
        "---\nmine: 1 # kept\npredicted_files: 7\nstarted_at: 2026-01-05T12:00:03Z\n"
        f"base_commit: {scalar(a.git('rev-parse', 'HEAD'))}\n---\n\n## Dead ends\n"
    )


def test_what_is_changed_before_the_start_is_named_but_not_the_ticket_itself(a: Memory) -> None:
    a.put("tickets/a.md", "# A, better said\n")
    assert start(a).notes == ()
    finish(a)
    a.put("new.py", "x\n")
    assert start(a).notes == (
        "1 file differs from the base commit already and will count; commit or stash what is not of this run",
    )


def test_the_model_is_what_the_environment_says_exactly(a: Memory) -> None:
    agent = {"CLAUDECODE": "1"}
    for env, model in (
        ({}, None), ({"ANTHROPIC_MODEL": "claude-opus-4-1"}, None), (agent | {"ANTHROPIC_MODEL": "opus"}, None),
        (agent | {"ANTHROPIC_MODEL": "claude-opus-4-1"}, "claude-opus-4-1"), ({"BACKSTORY_MODEL": "mine"}, "mine"),
        (agent | {"ANTHROPIC_MODEL": "claude-opus-4-1", "BACKSTORY_MODEL": "mine"}, "mine"),
    ):  # fmt: skip
        assert start(a, env=env).fields.get("model_exact") == model
        finish(a)
    assert start(a, env={"BACKSTORY_MODEL": "mine"}, model_exact="said").fields["model_exact"] == "said"


def test_starts_at_once_make_one_record(a: Memory) -> None:
    def one(_: int) -> str:
        with a.open() as project:
            return running_records.start(project, "a", {}, env=NOBODY).status

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(one, range(6))) == ["open"] * 5 + ["started"]
    assert len(records(a)) == 1


# --- finish ----------------------------------------------------------------------------------------------------


def test_a_finish_fills_in_end_minutes_and_files(a: Memory) -> None:
    start(a)
    a.commit("Work", src__one_py="1\n", src__two_py="2\n")
    a.put("src/three.py", "3\n")
    a.tick(days=42 * MINUTES)
    done = finish(a, outcome="done", surprises_text="It was cold.\nVery.", tokens_in=1200, review_iterations=0)
    assert done.status == "finished" and done.outcome_known
    assert done.files == ("src/one.py", "src/three.py", "src/two.py")
    [record] = records(a)
    assert (record.outcome, record.ended_at, record.actual_files, record.actual_minutes) == ("done", a.now, 3, 42)
    assert (record.surprises_text, record.tokens_in, record.review_iterations) == ("It was cold.\nVery.", 1200, 0)
    assert (record.tokens_out, record.tool_calls, record.dead_ends_text) == (None, None, None)
    assert not [item for item in run_records.read(str(a.root)) if isinstance(item, Warned)]


def test_finishing_twice_changes_nothing_and_only_adds_what_is_still_empty(a: Memory) -> None:
    start(a)
    first = finish(a, dead_ends_text="A lock file.")
    assert not first.outcome_known
    before = text(a, "tickets/a.run.md")
    a.put("later.py", "x\n")
    again = finish(a, dead_ends_text="A lock file.")
    assert (again.status, again.fields) == ("unchanged", {})
    assert again.notes == (f"it was finished at {format_instant(a.now - 1_000_000)[:16]}Z already",)
    assert text(a, "tickets/a.run.md") == before
    added = finish(a, outcome="done", dead_ends_text="Another one.")
    assert (added.status, added.fields) == ("finished", {"outcome": "done"})
    assert added.notes == ("dead_ends_text stands there already and was left as it is",)
    assert text(a, "tickets/a.run.md") == before.replace("\n---\n", "\noutcome: done\n---\n", 1)


def test_nothing_that_a_person_wrote_is_touched(a: Memory) -> None:
    written = (
        "\ufeff---\r\n# a comment\r\nmine: [a, b]\r\nOutcome: 'done'   # really\r\nstarted_at: 2026-01-05T11:00:00Z\r\n"
        'actual minutes: "12"\r\ntool_calls:\r\nbase_commit: null\r\n---\r\n\r\n# Run\r\n\r\n'
        "## Dead ends\r\n\r\nOurs.\r\n\r\n## Surprises / judgment calls\r\n<!-- what surprised? -->\r\n"
        "\r\n## Other\r\nstays \r\nno end"
    )
    (a.root / "tickets/a.run.md").write_bytes(written.encode())
    done = finish(a, outcome="failed", dead_ends_text="Theirs.", surprises_text="One.\nTwo.", tool_calls=5)
    assert set(done.fields) == {"ended_at", "surprises_text", "tool_calls"}
    assert "outcome stands there already and was left as it is" in done.notes
    assert "dead_ends_text stands there already and was left as it is" in done.notes
    after = (a.root / "tickets/a.run.md").read_bytes().decode()
    assert after == written.replace("tool_calls:", "tool_calls: 5").replace(
        "base_commit: null\r\n", f"base_commit: null\r\nended_at: {format_instant(a.now)[:19]}Z\r\n"
    ).replace("## Surprises / judgment calls\r\n", "## Surprises / judgment calls\r\n\r\nOne.\r\nTwo.\r\n")


def test_fields_in_the_body_and_under_other_names_count_as_said(a: Memory) -> None:
    written = "# Run\n\n- Started: 2026-01-05T11:00:00Z\n- Files changed: 4\n\n## Outcome\n\nfailed, sadly\n"
    a.put("tickets/a.run.md", written)
    done = finish(a, outcome="done")
    assert set(done.fields) == {"ended_at", "actual_minutes"}
    assert text(a, "tickets/a.run.md").endswith(written)
    [record] = records(a)
    assert (record.outcome, record.actual_files, record.actual_minutes) == ("failed", 4, 60)


def test_a_field_that_cannot_be_read_is_left_as_it_was_written(a: Memory) -> None:
    a.put(
        "tickets/a.run.md", "---\nstarted_at: 2026-01-05T11:00:00Z\nactual_minutes: a while\nended_at: yesterday\n---\n"
    )
    done = finish(a, outcome="done")
    assert done.fields == {"outcome": "done"}
    assert "ended_at: yesterday" in text(a, "tickets/a.run.md")
    assert start(a).attempt == 2


def test_what_was_never_started_gets_a_record_with_what_is_known(a: Memory) -> None:
    done = finish(a, outcome="done")
    assert (done.status, done.path, set(done.fields)) == ("finished", "tickets/a.run.md", {"ended_at", "outcome"})
    assert "never started" in done.notes[0]
    [record] = records(a)
    assert (record.started_at, record.base_commit, record.actual_files) == (None, None, None)


def test_the_ticket_its_records_and_the_memory_do_not_count_as_files_even_when_they_move(a: Memory) -> None:
    start(a)
    a.put("tickets/other.md", "# Other\n")
    a.record("note", "Something learned on the way")
    a.put("tickets/done/.keep", "")
    a.git("add", "-A")
    a.git("commit", "-q", "-m", "On the way")
    (a.root / "tickets/a.md").rename(a.root / "tickets/done/a.md")
    (a.root / "tickets/done/a.md").write_text("# A, done and said in other words\n", encoding="utf-8")
    (a.root / "tickets/a.run.md").rename(a.root / "tickets/done/a.run.md")
    done = finish(a)
    assert done.path == "tickets/done/a.run.md"
    assert done.files == ("tickets/done/.keep", "tickets/other.md")


def test_a_clock_that_goes_back_leaves_the_minutes_empty(a: Memory) -> None:
    start(a)
    a.now -= 3_600_000_000
    done = finish(a)
    assert "actual_minutes" not in done.fields and "ended_at" in done.fields
    assert done.notes == ("the start lies in the future: actual_minutes stays empty",)


def test_minutes_are_whole_from_ten_on(a: Memory) -> None:
    for seconds, minutes in ((1, 0), (89, 1.5), (599, 10), (600, 10), (3_660, 61)):
        start(a)
        a.tick(days=(seconds - 2) / 86_400)
        assert finish(a).fields["actual_minutes"] == minutes


@pytest.mark.parametrize("base", ["main", "0123456789", "HEAD"])
def test_a_base_that_git_does_not_know_leaves_the_files_empty_and_says_so(a: Memory, base: str) -> None:
    a.put("tickets/a.run.md", f"---\nstarted_at: 2026-01-05T11:00:00Z\nbase_commit: {base}\n---\n")
    done = finish(a)
    assert "actual_files" not in done.fields and "actual_minutes" in done.fields
    assert [note for note in done.notes if note.endswith("actual_files stays empty")]


def test_a_detached_head_and_a_moved_branch_are_counted_or_said(a: Memory) -> None:
    a.git("switch", "-q", "--detach")
    assert start(a).fields["base_commit"] == a.git("rev-parse", "HEAD")
    a.commit("Work", one_py="1\n")
    assert finish(a).files == ("one.py",)
    start(a)
    a.git("reset", "-q", "--hard", "HEAD~1")
    done = finish(a)
    assert "does not descend" in done.notes[0] and "actual_files" not in done.fields


def test_without_git_or_without_a_commit_the_clock_alone_is_known(tmp_path: Path) -> None:
    for folder, git in (("plain", False), ("unborn", True)):
        root = tmp_path / folder
        root.mkdir()
        memory = Memory(root, started=True)
        if git:
            memory.git("init", "-q")
        init(str(root), now=1)
        memory.put("tickets/a.md", "# A\n")
        begun = start(memory)
        assert set(begun.fields) == {"started_at"} and "base_commit stays empty" in begun.notes[0]
        done = finish(memory)
        assert set(done.fields) == {"ended_at", "actual_minutes"} and "actual_files stays empty" in done.notes[-1]


def test_secrets_do_not_reach_a_record(a: Memory) -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    start(a, wall_time_estimate=secret)
    done = finish(a, surprises_text=f"It is {secret}", escalation_reason=f"line {secret}\nsecond", outcome=secret)
    assert secret not in text(a, "tickets/a.run.md") and "second" in text(a, "tickets/a.run.md")
    assert done.redacted


# --- refusals --------------------------------------------------------------------------------------------------


def refused(memory: Memory, act: Any, name: str = "a", **fields: Any) -> BackstoryError:
    before = {path: path.read_bytes() for path in (memory.root / "tickets").rglob("*") if path.is_file()}
    with pytest.raises(BackstoryError) as caught:
        act(memory, name, **fields)
    assert caught.value.hint
    after = {path: path.read_bytes() for path in (memory.root / "tickets").rglob("*") if path.is_file()}
    assert after == before
    return caught.value


def test_an_unknown_ticket_is_refused_with_the_nearest_one(a: Memory) -> None:
    a.put("tickets/retry-the-upload.md", "# Retry\n")
    for act in (start, finish):
        said = refused(a, act, "retry-teh-upload")
        assert "There is no ticket" in said.message and "`retry-the-upload`" in said.hint
        assert refused(a, act, "../../etc/passwd") and refused(a, act, "")
    assert start(a, "retry").ticket == "retry-the-upload"


def test_a_beginning_that_several_share_is_refused_with_their_names(a: Memory) -> None:
    a.put("tickets/one-x.md", "# X\n")
    a.put("tickets/one-y.md", "# Y\n")
    assert "one-x" in refused(a, start, "one").message
    assert start(a, "one-y").ticket == "one-y"
    assert start(a, "tickets/one-x.md").ticket == "one-x"


def test_a_record_in_which_no_field_can_be_set_is_left_alone(a: Memory) -> None:
    for data, why in (
        (b"---\nmine: \xe9\n---\n", "not UTF-8"), (b"---\n{mine: 1}\n---\n", "no field can be set"),
        (b"---\nmine: \0\n---\n", "no text"), (b"---\nmine: 1\n---\n" + b"long " * 300_000, "larger than 1 MiB"),
    ):  # fmt: skip
        (a.root / "tickets/a.run.md").write_bytes(data)
        for act in (start, finish):
            assert why in refused(a, act).message


def test_no_record_is_written_through_a_link(a: Memory, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "run.md").write_text("theirs\n", encoding="utf-8")
    (a.root / "tickets/a.run.md").symlink_to(outside / "run.md")
    for act in (start, finish):
        said = refused(a, act)
        assert "symbolic link" in said.message and said.code == Exit.REFUSED
    (a.root / "tickets/a.run.md").unlink()
    finish(a, outcome="done")
    (a.root / "tickets/a").mkdir()
    (a.root / "tickets/a/attempts").symlink_to(outside, target_is_directory=True)
    assert "symbolic link" in refused(a, start).message
    assert [path.name for path in outside.iterdir()] == ["run.md"]
    assert (outside / "run.md").read_text(encoding="utf-8") == "theirs\n"


def test_a_record_that_cannot_be_replaced_or_changed_meanwhile_stays(
    a: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(a)
    with monkeypatch.context() as patch:
        patch.setattr("backstory.project.tree_files.os.access", lambda path, mode: False)
        assert "read-only" in refused(a, finish).message
    path = a.root / "tickets/a.run.md"

    def meanwhile(*_: object) -> None:
        path.write_text(path.read_text(encoding="utf-8") + "\nMine.\n", encoding="utf-8")

    with monkeypatch.context() as patch:
        patch.setattr("backstory.project.tree_files.os.chmod", meanwhile)
        with pytest.raises(BackstoryError, match="changed meanwhile"):
            finish(a)
    assert path.read_text(encoding="utf-8").endswith("\nMine.\n")
    assert [item.name for item in (a.root / "tickets").iterdir() if item.name.endswith(".tmp")] == []
    assert finish(a).status == "finished"
    assert path.read_text(encoding="utf-8").endswith("\nMine.\n")


def test_mode_bits_of_a_record_stay(a: Memory) -> None:
    start(a)
    (a.root / "tickets/a.run.md").chmod(0o640)
    finish(a)
    assert (a.root / "tickets/a.run.md").stat().st_mode & 0o777 == 0o640


def test_of_two_tickets_with_one_stem_each_has_its_own_records(a: Memory) -> None:
    a.put("tickets/archive/a.md", "# A, long ago\n")
    a.put("tickets/archive/a.run.md", "---\noutcome: done\n---\n")
    assert start(a).path == "tickets/a.run.md"
    assert start(a, "tickets/archive/a.md").path == "tickets/archive/a/attempts/2/run.md"
