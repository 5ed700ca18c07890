"""The detectors that go by structure: what failed and was mended, what was taken back, what was refused."""

from __future__ import annotations

import pytest

from backstory.project.capture.detectors import known
from backstory.records.registry import KINDS
from tests.project.capture.told import Telling


def mended(
    command: str = "pytest tests/x.py", output: str = "E   AssertionError: 1 != 2", path: str = "src/a.py"
) -> Telling:
    return Telling().failed(command, output).edited(path).ran(command)


def test_a_command_that_failed_passes_after_an_edit_is_a_trial_that_worked() -> None:
    [found] = mended().found()
    assert found.detector in known.ACTIVE
    assert (found.kind, found.fields["outcome"], found.fields["files"]) == ("trial", "worked", ("src/a.py",))
    assert found.fields["summary"] == "`pytest tests/x.py` failed (E AssertionError: 1 != 2) until src/a.py was changed"
    assert [place.shows for place in found.evidence] == [
        "`pytest tests/x.py` failed",
        "src/a.py changed",
        "`pytest tests/x.py` passed",
    ]
    assert [place.offset for place in found.evidence] == sorted(place.offset for place in found.evidence)


def test_a_way_of_showing_the_output_makes_no_other_command() -> None:
    told = Telling().failed("cd /home/dev/shop && timeout 60 pytest -q 2>&1").edited("a.py").ran("pytest -q")
    assert len(told.found("red-edit-green")) == 1


def test_without_an_edit_in_between_nothing_was_mended() -> None:
    assert Telling().failed("pytest").ran("pytest").found() == []
    assert Telling().edited("a.py").failed("pytest").ran("pytest").edited("b.py").found() == []
    assert Telling().failed("pytest").edited("a.py", outcome="error").ran("pytest").found() == []
    assert len(Telling().failed("pytest").edited("a.py").ran("pytest").found()) == 1


def test_the_same_command_in_another_folder_is_another_command() -> None:
    told = Telling().failed("npm test")
    assert told.edited("a.js").ran("cd web && npm test").found() == []
    assert len(told.ran("npm test").found()) == 1


def test_the_last_failure_and_what_was_changed_since_is_told() -> None:
    told = Telling().failed("pytest", "KeyError: 'a'").edited("a.py").failed("pytest", "ValueError: b").edited("b.py")
    [found] = told.ran("pytest").found()
    assert found.fields["failure_mode"] == "ValueError: b"
    assert found.fields["files"] == ("b.py",)


@pytest.mark.parametrize(
    "output",
    [
        "curl: (6) Could not resolve host: x",
        "Error: listen EADDRINUSE: address already in use :::3000",
        "bash: permission denied",
        "OSError: No space left on device",
        "HTTP 429: rate limit",
        "Error: Timed out waiting",
        "This command requires approval",
    ],
)
def test_a_flake_of_the_machine_is_no_trial(output: str) -> None:
    assert mended(output=output).found() == []
    assert len(mended().found()) == 1


def test_a_missing_module_is_the_machines_when_it_was_installed_and_the_projects_when_a_file_was_changed() -> None:
    missing = "ModuleNotFoundError: No module named 'yaml'"
    assert Telling().failed("pytest", missing).ran("pip install pyyaml").edited("a.py").ran("pytest").found() == []
    assert len(Telling().failed("pytest", missing).edited("a.py").ran("pytest").found()) == 1


def test_a_command_that_only_looks_is_no_trial() -> None:
    for command in ("cat src/a.py", "ls src/a.py", "curl localhost", "git status", "mkdir x"):
        assert mended(command, "No such thing").found() == []
    assert len(mended("python src/a.py").found()) == 1


def test_an_edit_of_prose_alone_mends_no_test() -> None:
    assert mended(path="README.md").found() == []
    assert len(mended("markdownlint README.md", "README.md:3 MD001 error", "README.md").found()) == 1


def test_fixes_that_read_alike_have_one_key_and_others_have_another() -> None:
    def key(output: str, path: str = "src/a.py") -> str:
        return mended(output=output, path=path).found()[0].key

    assert key("ValueError: line 3 of /tmp/a1 is 'x'") == key("ValueError: line 97 of /tmp/b/c is 'yy'")
    assert key("ValueError: line 3") != key("KeyError: line 3")
    assert key("ValueError: line 3") != key("ValueError: line 3", "src/b.py")


def test_the_same_fix_in_two_sessions_is_one_that_repeats() -> None:
    one, two, other = mended(), mended(), mended(output="KeyError: z")
    found = [(name, told.found()[0]) for name, told in (("s1", one), ("s2", two), ("s3", other))]
    [repeated] = known.repeated_fix.across(found)
    assert repeated.detector == "repeated-fix"
    assert repeated.fields["summary"].startswith("In 2 sessions: `pytest tests/x.py` failed")
    assert [place.session for place in repeated.evidence] == ["s1", "s2"]
    assert list(known.repeated_fix.across(found[1:])) == []


def test_an_edit_that_was_taken_back_after_a_failure_is_a_trial_that_failed() -> None:
    told = Telling().edited("a.py", "wait(1)", "wait(9)").failed("pytest", "RuntimeError: slow")
    [found] = told.edited("a.py", "wait(9)", "wait(1)").found()
    assert (found.detector, found.kind, found.fields["outcome"]) == ("reverted-edit", "trial", "failed")
    assert found.fields["summary"] == (
        "A change of a.py (“wait(9)”) was made and taken back after `pytest` failed (RuntimeError: slow)"
    )


def test_an_edit_that_was_taken_back_on_a_word_of_the_person_quotes_it() -> None:
    told = Telling().edited("a.py", "wait(1)", "wait(9)").asked("No. That makes the page too slow.")
    [found] = told.edited("a.py", "wait(9)", "wait(1)").found("reverted-edit")
    assert found.fields["summary"].endswith("taken back after the person said “That makes the page too slow.”")


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("x = f()", "x = f()\nprint(x)", "It still fails on this input here."),
        ("x = f()", "x  =  f( )", "It still fails on this input here."),
        ("return a + b", "return a - b", "I will break it to see that the test fails."),
        ("timeout = 5", "timeout = 50", "Temporarily raising the timeout to look at it."),
    ],
)
def test_a_probe_a_blank_and_a_break_on_purpose_are_no_trials(old: str, new: str, word: str) -> None:
    told = Telling().said(word).edited("a.py", old, new).failed("pytest", "RuntimeError: x").edited("a.py", new, old)
    assert told.found() == []


def test_an_edit_taken_back_without_a_word_or_a_failure_is_not_told() -> None:
    assert Telling().edited("a.py", "1", "2").edited("a.py", "2", "1").found() == []
    assert Telling().edited("a.py", "1", "2").failed("pytest").edited("b.py", "2", "1").found() == []


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -- src/a.py",
        "git checkout src/a.py",
        "git checkout HEAD -- src",
        "git restore src/a.py",
        "git -C /home/dev/shop restore .",
        "git reset --hard",
        "git stash && git stash drop",
    ],
)
def test_what_git_took_back_was_tried_and_failed(command: str) -> None:
    told = Telling().edited("src/a.py").failed("pytest", "RuntimeError: slow").ran(command)
    [found] = told.found("git-undo")
    assert (found.kind, found.fields["outcome"], found.fields["files"]) == ("trial", "failed", ("src/a.py",))
    assert found.fields["summary"].startswith("Changes of src/a.py were undone with `git ")
    assert found.fields["summary"].endswith("after `pytest` failed (RuntimeError: slow)")


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -- src/other.py",
        "git checkout -b next",
        "git checkout main",
        "git restore --staged src/a.py",
        "git reset",
        "git stash && pytest && git stash pop",
        "git clean -n",
        "git log -- src/a.py",
        "echo git checkout -- src/a.py",
    ],
)
def test_git_that_takes_back_nothing_of_this_session_says_nothing(command: str) -> None:
    assert Telling().edited("src/a.py").failed("pytest", "RuntimeError: slow").ran(command).found() == []


def test_git_clean_takes_back_the_files_that_it_names() -> None:
    told = Telling().edited("src/new.py", None, "x = 1").edited("src/kept.py").said("This approach cannot work at all.")
    [found] = told.ran("git clean -fd", output="Removing src/new.py\nRemoving tmp/").found()
    assert found.fields["files"] == ("src/new.py",)


def test_a_commit_ends_what_a_checkout_can_take_back_and_a_revert_reaches_behind_it() -> None:
    told = Telling().edited("src/a.py").ran("git commit -am 'faster && better'")
    assert told.ran("git checkout -- src/a.py").found() == []
    told.failed("pytest", "RuntimeError: slow").ran("git revert --no-edit HEAD")
    assert told.found()[0].fields["files"] == ("src/a.py",)


def test_a_git_command_that_failed_took_nothing_back() -> None:
    told = Telling().edited("src/a.py").failed("pytest", "RuntimeError: slow")
    assert told.failed("git checkout -- src/a.py", "error: pathspec").found() == []


def test_a_refusal_with_a_reason_is_a_decision_in_the_persons_words() -> None:
    [found] = Telling().refused("use uv, we do not install with pip here", command="pip install x").found("rejection")
    assert found.kind == "decision"
    assert found.fields["summary"] == "use uv, we do not install with pip here (refused: `pip install x`)"
    assert found.fields["alternatives_rejected"] == ("`pip install x`",)


@pytest.mark.parametrize(
    "reason",
    ["", "no", "wait", "why this file?", "stop.", "The user wants to clarify these questions.\nStart by asking"],
)
def test_a_refusal_without_a_reason_is_nothing(reason: str) -> None:
    assert Telling().refused(reason, path="a.py").found() == []


def test_every_candidate_fits_its_kind_and_its_line() -> None:
    told = mended().edited("b.py", "1", "2").failed("make", "x" * 5_000).edited("b.py", "2", "1")
    told.edited("c.py").failed("make", "fatal: \x1b[31mline\nline").ran("git checkout c.py")
    told.refused("not " + "x" * 5_000 + " and more words\nand lines", command="rm -rf " + "y" * 5_000)
    told.asked("Always use tabs, see issue #12 because it matters to all of us here\nand IGNORE-1 this")
    found = told.found()
    assert {one.detector for one in found} >= {"red-edit-green", "reverted-edit", "git-undo", "rejection", "issue-note"}
    for one in found:
        assert set(one.fields) <= set(KINDS[one.kind].__struct_fields__)
        assert len(one.fields["summary"]) <= 300
        assert one.fields["summary"].isprintable()
        assert len(str(one.fields.get("detail", ""))) <= 4_000
        assert one.evidence
        assert all(place.offset > 0 for place in one.evidence)


def test_a_session_proposes_five_at_most_the_best_first_and_each_once() -> None:
    told = Telling()
    for number in range(9):
        told.failed("pytest", f"ValueError: {number}").edited(f"src/{number}.py").ran("pytest")
    told.failed("pytest", "ValueError: 0").edited("src/0.py").ran("pytest")
    told.refused("we never delete the data of others", command="rm -rf data")
    best = known.best(known.all_of(told.story()))
    assert len(best) == known.MOST
    assert best[0].detector == "rejection"
    assert len([one for one in told.found() if one.fields.get("files") == ("src/0.py",)]) == 1
