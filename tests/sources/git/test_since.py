"""What differs from a commit is counted once each, wherever the change is, and what git cannot say is said."""

import shutil
import subprocess
from pathlib import Path

import pytest

from backstory.sources.git.since import Change, changed_since

from .conftest import Repository


def paths(repository: Repository, base: str) -> list[str]:
    return [change.path for change in changed_since(str(repository.root), base).changes]


@pytest.fixture
def begun(project: Repository) -> Repository:
    """A repository whose first commit holds five files."""
    for name in ("kept", "staged", "unstaged", "deleted", "committed"):
        project.write(f"{name}.py", f"{name}\n" * 20)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "Begin")
    return project


def head(repository: Repository) -> str:
    return repository.git("rev-parse", "HEAD")


def commit(repository: Repository, message: str = "Change", **files: str) -> str:
    for name, text in files.items():
        repository.write(f"{name}.py", text)
    repository.git("add", "-A")
    repository.git("commit", "-q", "--allow-empty", "-m", message)
    return head(repository)


def test_committed_staged_unstaged_deleted_and_untracked_files_count_and_ignored_ones_do_not(begun: Repository) -> None:
    base = head(begun)
    assert changed_since(str(begun.root), base).changes == ()
    commit(begun, committed="other\n")
    begun.write("staged.py", "other\n")
    begun.git("add", "staged.py")
    begun.write("unstaged.py", "other\n")
    (begun.root / "deleted.py").unlink()
    begun.write("新しい ファイル.py", "new\n")
    begun.write("folder/deep.py", "new\n")
    begun.write("ignored/one.py", "new\n")
    begun.write(".gitignore", "ignored/\n")
    since = changed_since(str(begun.root), base)
    assert since.base == base and since.why == ""
    assert [change.path for change in since.changes] == [
        ".gitignore", "committed.py", "deleted.py", "folder/deep.py", "staged.py", "unstaged.py", "新しい ファイル.py",
    ]  # fmt: skip
    assert [change.path for change in since.changes if change.gone] == ["deleted.py"]


def test_a_renamed_file_counts_once_whether_git_knows_of_it_or_not(begun: Repository) -> None:
    base = head(begun)
    begun.git("mv", "kept.py", "moved.py")
    (begun.root / "staged.py").rename(begun.root / "by hand.py")
    assert changed_since(str(begun.root), base).changes == (
        Change("by hand.py", "staged.py"), Change("moved.py", "kept.py"),
    )  # fmt: skip
    begun.write("by hand.py", "something else\n")
    assert paths(begun, base) == ["by hand.py", "moved.py", "staged.py"]


def test_a_file_put_back_as_it_was_does_not_count(begun: Repository) -> None:
    base = head(begun)
    commit(begun, kept="other\n")
    assert paths(begun, base) == ["kept.py"]
    commit(begun, kept="kept\n" * 20)
    assert paths(begun, base) == []


def test_settings_of_a_person_do_not_change_the_list(begun: Repository) -> None:
    base = head(begun)
    for name, value in (
        ("diff.noprefix", "true"), ("diff.renames", "false"), ("diff.relative", "true"),
        ("status.showUntrackedFiles", "no"), ("log.showSignature", "true"), ("core.quotePath", "true"),
        ("diff.external", "false"), ("color.ui", "always"),
    ):  # fmt: skip
        begun.git("config", name, value)
    begun.git("mv", "kept.py", "日本.py")
    begun.write("new.py", "new\n")
    assert paths(begun, base) == ["new.py", "日本.py"]


def test_a_base_that_was_rebased_is_followed(begun: Repository) -> None:
    fork = head(begun)
    begun.git("switch", "-q", "-c", "work")
    base = commit(begun, "Prepare", staged="prepared\n")
    commit(begun, "Work", unstaged="worked\n")
    begun.git("switch", "-q", "main")
    commit(begun, "Others go on", deleted="other\n")
    begun.git("switch", "-q", "work")
    assert paths(begun, base) == ["unstaged.py"]
    begun.git("rebase", "-q", "main")
    since = changed_since(str(begun.root), base)
    assert since.base not in (base, fork, "") and since.why == ""
    assert [change.path for change in since.changes] == ["unstaged.py"]
    assert "was rebased" in since.notes[0]


def test_a_base_that_was_amended_is_the_one_to_compare_with(begun: Repository) -> None:
    base = commit(begun, "Prepare", staged="prepared\n")
    begun.write("unstaged.py", "worked\n")
    begun.git("commit", "-q", "-a", "--amend", "--no-edit")
    since = changed_since(str(begun.root), base)
    assert ([change.path for change in since.changes], since.base) == (["unstaged.py"], base)
    assert "amended" in since.notes[0]


def test_a_base_that_head_does_not_descend_from_is_said(begun: Repository) -> None:
    start = head(begun)
    base = commit(begun, "Prepare", staged="prepared\n")
    begun.git("reset", "-q", "--hard", start)
    since = changed_since(str(begun.root), base)
    assert since.changes == () and "HEAD does not descend" in since.why
    assert changed_since(str(begun.root), start).why == ""
    begun.git("switch", "-q", "--orphan", "fresh")
    assert changed_since(str(begun.root), start).why


def test_two_commits_that_a_base_may_have_become_are_not_chosen_between(begun: Repository) -> None:
    start = head(begun)
    begun.git("switch", "-q", "-c", "work")
    base = commit(begun, "Same", staged="one\n")
    begun.git("switch", "-q", "main")
    commit(begun, "Others", deleted="other\n")
    begun.git("cherry-pick", base)
    assert changed_since(str(begun.root), base).why == ""
    begun.git("revert", "--no-edit", "HEAD")
    begun.git("cherry-pick", base)
    assert "does not descend" in changed_since(str(begun.root), base).why
    assert changed_since(str(begun.root), start).why == ""


def test_a_base_that_is_gone_or_no_commit_is_said(begun: Repository) -> None:
    base = head(begun)
    for text in ("main", "--all", "", "zzzz", "HEAD~1"):
        assert "no commit id" in changed_since(str(begun.root), text).why
    assert "has no commit" in changed_since(str(begun.root), "0123456789" * 4).why
    tree = begun.git("rev-parse", "HEAD^{tree}")
    assert "has no commit" in changed_since(str(begun.root), tree).why
    assert changed_since(str(begun.root), base[:10].upper()).base == base


def test_a_shallow_clone_that_lacks_the_base_says_so(begun: Repository, tmp_path: Path) -> None:
    base = head(begun)
    commit(begun, kept="other\n")
    for depth, why in (("1", "shallow clone"), ("2", "")):
        clone = tmp_path / f"clone{depth}"
        begun.git("clone", "-q", "--depth", depth, begun.root.as_uri(), str(clone))
        found = changed_since(str(clone), base)
        assert why in found.why and bool(found.why) == bool(why)
        assert [change.path for change in found.changes] == ([] if why else ["kept.py"])


def test_a_partial_clone_counts_without_fetching(begun: Repository, tmp_path: Path) -> None:
    base = head(begun)
    begun.git("mv", "kept.py", "moved.py")
    begun.write("moved.py", "kept\n" * 19)
    commit(begun)
    begun.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    begun.git("clone", "-q", "--filter=blob:none", begun.root.as_uri(), str(clone))
    since = changed_since(str(clone), base)
    assert [change.path for change in since.changes] == ["kept.py", "moved.py"]
    assert "counts twice" in since.notes[0]
    assert paths(begun, base) == ["moved.py"]


def test_commits_of_others_since_are_named(begun: Repository) -> None:
    base = head(begun)
    commit(begun, kept="mine\n")
    assert changed_since(str(begun.root), base).notes == ()
    begun.git("-c", "user.email=other@example.org", "commit", "-q", "--allow-empty", "-m", "Theirs")
    assert changed_since(str(begun.root), base).notes == (
        "1 of the 2 commits since are by others, and their files count too",
    )


def test_submodules_conflicts_and_linked_work_trees_are_counted_as_git_counts_them(
    begun: Repository, tmp_path: Path
) -> None:
    base = head(begun)
    begun.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    (tmp_path / "linked" / "new.py").write_text("new\n", encoding="utf-8")
    assert [change.path for change in changed_since(str(tmp_path / "linked"), base).changes] == ["new.py"]
    begun.git("switch", "-q", "-c", "other")
    commit(begun, kept="theirs\n")
    begun.git("switch", "-q", "main")
    commit(begun, kept="ours\n")
    begun.git("merge", "other", check=False)
    assert "kept.py" in begun.git("diff", "--name-only", "--diff-filter=U")
    assert paths(begun, base) == ["kept.py"]
    inner = begun.root / "inner"
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    (inner / "a.py").write_text("a\n", encoding="utf-8")
    assert paths(begun, base) == ["inner/", "kept.py"]


def test_without_git_or_without_a_repository_the_reason_is_said(
    begun: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = head(begun)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "git failed" in changed_since(str(empty), base).why
    monkeypatch.setenv("PATH", str(empty))
    assert changed_since(str(begun.root), base).why == "git cannot be run"


def test_a_git_that_takes_too_long_is_ended_and_said(begun: Repository, fake_git) -> None:  # type: ignore[no-untyped-def]
    base = head(begun)
    real = shutil.which("git")
    fake_git(f'case "$*" in *" diff "*) sleep 60;; *) exec {real} "$@";; esac')
    since = changed_since(str(begun.root), base, timeout=1.0)
    assert (since.changes, since.why) == ((), "git did not answer in time")
