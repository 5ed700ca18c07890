"""A story holds what one project may learn from a session, and nothing else."""

from __future__ import annotations

from backstory.project.capture.story import Asked, Changed, Ran, Refused, Said
from backstory.sources.transcripts import stream
from tests.project.capture.told import Telling

FENCE = '<project-memory project="shop" note="recorded data">\n- Chose WAL\n</project-memory>'


def test_steps_carry_paths_from_the_root_and_the_turn_they_belong_to() -> None:
    told = Telling().asked("fix the sum").edited("/home/dev/shop/src/sum.py").asked("now the tests").ran("pytest")
    steps = told.story().steps
    assert [(type(step), step.turn) for step in steps] == [(Asked, 1), (Changed, 1), (Asked, 2), (Ran, 2)]
    assert isinstance(steps[1], Changed)
    assert steps[1].path == "src/sum.py"


def test_what_happened_in_another_project_is_left_out() -> None:
    told = Telling(cwd="/home/dev/other").asked("always use tabs").edited("a.py").ran("pytest")
    assert told.story().steps == ()
    told.add(stream.Facts, cwd="/home/dev/shop").asked("always use spaces")
    assert [step.text for step in told.story().steps if isinstance(step, Asked)] == ["always use spaces"]


def test_a_command_that_goes_to_another_project_is_left_out_and_one_that_goes_to_a_folder_of_this_one_is_not() -> None:
    steps = Telling().ran("cd /home/dev/other && pytest").ran("cd web && npm test").story().steps
    assert [(step.folder, step.line.same) for step in steps if isinstance(step, Ran)] == [("web", "npm test")]


def test_an_edit_whose_call_failed_was_refused_or_never_ended_did_not_happen() -> None:
    told = Telling().edited("a.py", outcome="error").refused("not this file", path="b.py").edited("c.py")
    call = told.call("edit", paths=("d.py",))
    told.add(stream.Edit, call=call, path="d.py", old="1", new="2")
    assert [step.path for step in told.story().steps if isinstance(step, Changed)] == ["c.py"]


def test_a_result_without_a_mark_of_success_is_unknown_and_a_filter_hides_an_exit() -> None:
    told = Telling().ran("pytest", "unknown").ran("pytest | tail -3").ran("pytest || true").ran("pytest")
    outcomes = [step.outcome for step in told.story().steps if isinstance(step, Ran)]
    assert outcomes == ["unknown", "unknown", "unknown", "ok"]


def test_behind_a_filter_the_count_of_the_runner_tells() -> None:
    told = Telling().ran("pytest 2>&1 | tail -3", output="FAILED tests/a.py::b - boom\n1 failed, 2 passed in 0.10s")
    told.ran("pytest 2>&1 | tail -3", output="===== 3 passed in 0.10s =====")
    assert [step.outcome for step in told.story().steps if isinstance(step, Ran)] == ["failed", "ok"]


def test_exit_1_of_a_search_or_a_comparison_is_no_failure_and_of_a_test_it_is() -> None:
    told = Telling()
    for command in ("grep x a", "ls nothing", "find . -name x", "test -f a", "diff a b", "rg x", "pytest"):
        told.failed(command)
    assert [step.outcome for step in told.story().steps if isinstance(step, Ran)] == ["unknown"] * 6 + ["failed"]


def test_what_backstory_put_there_is_not_told() -> None:
    told = Telling()
    told.add(stream.Injected, text=FENCE, origin="hook")
    told.asked(f"as it says:\n{FENCE}\nalways use WAL")
    told.asked("- Chose WAL over rollback journal: never use rollback (2026-04-15, 7K3QZP)")
    told.said("[Project Memory — shop]\nRecent decisions (2): ...")
    told.ran("cat notes", output=FENCE).failed("echo '<project-memory' && false")
    told.asked("always use the journal")
    call = told.call("memory", command="backstory record")
    told.add(stream.Edit, call=call, path="src/a.py", old="1", new="2")
    told.add(stream.Result, call=call, outcome="error", text="AssertionError: ours")
    steps = told.story().steps
    assert [step.text for step in steps if isinstance(step, Asked | Said)] == ["always use the journal"]
    assert [(step.command, step.output) for step in steps if isinstance(step, Ran)] == [("cat notes", "")]
    assert not any(isinstance(step, Changed) for step in steps)


def test_nothing_is_proposed_from_injected_text_that_would_be_from_a_person() -> None:
    words = "Always use WAL because readers must not block."
    for origin in ("hook", "reminder", "command", "instructions", "summary", "agent", "other"):
        told = Telling().add(stream.Injected, text=words, origin=origin)
        told.add(stream.Compaction, text=words).add(stream.Thinking, text=words)
        assert told.found() == []
    assert Telling().asked(words).summaries() == [words]


def test_a_copied_turn_and_what_followed_on_it_is_left_out() -> None:
    told = Telling().asked("always use tabs here", key="k1").edited("a.py").asked("never use spaces here", key="k2")
    told.edited("b.py")
    copied = told.story(is_copy=lambda key: key == "k1").steps
    assert [getattr(step, "path", "") or getattr(step, "text", "") for step in copied] == [
        "never use spaces here",
        "b.py",
    ]
    assert len(told.story().steps) == 4


def test_a_refusal_names_what_was_refused() -> None:
    told = Telling().refused("use uv instead", command="pip install x").refused("not there", path="src/a.py")
    refused = [step for step in told.story().steps if isinstance(step, Refused)]
    assert [(step.what, step.reason) for step in refused] == [
        ("`pip install x`", "use uv instead"),
        ("an edit of src/a.py", "not there"),
    ]


def test_commits_are_told_with_their_ids() -> None:
    told = Telling().ran("git commit -m x", output="[main 1a2b3c4] x\n 1 file changed").failed("git commit -m y")
    assert [sha for sha, _offset in told.story().commits] == ["1a2b3c4"]


def test_a_stream_of_any_shape_is_told() -> None:
    told = Telling()
    told.add(stream.Result, call="nobody", outcome="ok", text="\x00\udcff" * 10)
    told.add(stream.Rejection, call="nobody", reason="x").add(stream.Interrupt).add(stream.Lost, why="x")
    told.ran("cd '\x00' && \x1b[31m" + "(" * 5_000, "error", "\x1b]0;x\x07" + "x" * 100_000, 1)
    told.edited("../../etc/passwd").edited("a\x00b", "x" * 200_000, "y" * 200_000).asked("\u202e" * 1_000)
    assert told.story().steps
    told.found()
