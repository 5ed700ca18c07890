"""Which paths a work tree changed."""

import os
import time
from pathlib import Path

import pytest

from backstory.sources.git.status import changed_paths

from .conftest import Repository

ODD_NAMES = ["tab\there", "line\nbreak", 'quo"te', "back\\slash", "grün/日本.txt", " lead", "trail ", "-dash", "a -> b"]


def changed(root: object) -> tuple[str, ...]:
    """The paths of a status that was complete."""
    result = changed_paths(str(root), timeout=30)
    assert result.complete
    return result.paths


def test_staged_unstaged_untracked_and_deleted_paths_are_listed(project: Repository) -> None:
    """Every kind of change counts, an untouched or ignored file does not."""
    project.commit(kept="1", staged="1", edited="1", gone="1", __gitignore="ignored\n")
    assert changed(project) == ()
    project.write("staged", "2")
    project.git("add", "staged")
    project.write("edited", "2")
    (project.root / "gone").unlink()
    project.write("new.txt", "")
    project.write("folder/new.txt", "")
    project.write("ignored", "")
    assert changed(project) == ("edited", "folder/", "gone", "new.txt", "staged")


def test_settings_of_a_person_change_nothing(project: Repository) -> None:
    """Untracked files, renames and relative paths are asked for, whatever the configuration says."""
    project.commit(a="some text\n" * 9)
    for name, value in {
        "status.showUntrackedFiles": "no",
        "status.renames": "false",
        "status.relativePaths": "true",
        "status.branch": "true",
        "status.showStash": "true",
        "core.quotepath": "true",
        "color.ui": "always",
    }.items():
        project.git("config", name, value)
    project.git("mv", "a", "b")
    project.write("sub/new", "")
    result = changed_paths(str(project.root / "sub"), timeout=30)
    assert result.paths == ("a", "b", "sub/")
    assert result.renames == (("a", "b"),)


def test_both_sides_of_a_rename_are_listed(project: Repository) -> None:
    """Staged, edited after staging, and only announced to the index."""
    project.commit(one="one\n" * 20, two="two\n" * 20, three="three\n" * 20)
    project.git("mv", "one", "one2")
    project.git("mv", "two", "two2")
    project.write("two2", "two\n" * 20 + "more\n")
    (project.root / "three").rename(project.root / "three2")
    project.git("add", "-N", "three2")
    result = changed_paths(str(project), timeout=30)
    assert result.paths == ("one", "one2", "three", "three2", "two", "two2")
    assert result.renames == (("one", "one2"), ("three", "three2"), ("two", "two2"))


def test_the_origin_of_a_copy_did_not_change(project: Repository) -> None:
    """With copies switched on git names the origin too."""
    project.commit(one="one\n" * 20)
    project.git("config", "status.renames", "copies")
    project.write("copy", "one\n" * 20)
    project.write("one", "one\n" * 21)
    project.git("add", "-A")
    assert changed(project) == ("copy", "one")
    project.git("mv", "-f", "copy", "moved")
    assert changed_paths(str(project), timeout=30).renames == ()


@pytest.mark.skipif(os.name == "nt", reason="the system refuses such names")
def test_names_come_back_as_they_are(project: Repository) -> None:
    """No quoting, whatever is in a name; bytes that are not UTF-8 survive a round trip."""
    project.commit()
    for name in ODD_NAMES:
        project.write(name, "1")
    raw = os.path.join(os.fsencode(project.root), b"latin-\xe9")
    Path(os.fsdecode(raw)).write_text("1")
    project.git("add", "-A")
    assert set(changed(project)) == {*ODD_NAMES, "latin-\udce9"}
    assert os.path.exists(project.root / "latin-\udce9")


def test_an_unborn_branch_lists_what_is_staged(project: Repository) -> None:
    """There is no HEAD to compare with."""
    project.write("first", "")
    project.git("add", "first")
    project.write("second", "")
    assert changed(project) == ("first", "second")


def test_an_unresolved_merge_is_listed_once(project: Repository) -> None:
    """The path in conflict is one path."""
    project.commit(file="base\n")
    project.git("checkout", "-qb", "side")
    project.commit(file="side\n")
    project.git("checkout", "-q", "main")
    project.commit(file="main\n")
    project.git("merge", "side", check=False)
    assert changed(project) == ("file",)


def test_a_linked_work_tree_has_its_own_changes(project: Repository, tmp_path: Path) -> None:
    """Paths are relative to the top of the work tree that was asked."""
    project.commit(file="1")
    project.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    (tmp_path / "linked" / "file").write_text("2")
    assert changed(tmp_path / "linked") == ("file",)
    assert changed(project) == ()


def test_a_work_tree_of_a_bare_repository(project: Repository, tmp_path: Path) -> None:
    """The bare folder has no work tree, and the answer says that it is not complete."""
    project.commit(file="1")
    bare = tmp_path / "bare.git"
    project.git("clone", "-q", "--bare", ".", str(bare))
    Repository(bare).git("worktree", "add", "-q", str(tmp_path / "tree"), "main")
    (tmp_path / "tree" / "file").write_text("2")
    assert changed(tmp_path / "tree") == ("file",)
    assert not changed_paths(str(bare), timeout=30).complete


def test_of_a_submodule_only_another_commit_counts(project: Repository, tmp_path: Path) -> None:
    """Its own edited and new files are its own affair."""
    library = Repository(tmp_path / "library")
    library.root.mkdir()
    library.git("init", "-q", "-b", "main")
    library.commit(file="1")
    project.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    project.commit()
    inside = Repository(project.root / "lib")
    inside.write("file", "2")
    inside.write("new", "")
    assert changed(project) == ()
    inside.commit()
    assert changed(project) == ("lib",)
    assert changed(inside) == ()


def test_a_folder_without_git_is_not_complete(tmp_path: Path) -> None:
    """No answer is not the answer that nothing changed."""
    result = changed_paths(str(tmp_path), timeout=30)
    assert (result.paths, result.renames, result.complete) == ((), (), False)


def test_a_slow_git_is_not_complete(fake_git, tmp_path: Path) -> None:
    """The time limit holds for the whole call."""
    fake_git("sleep 60")
    start = time.monotonic()
    assert not changed_paths(str(tmp_path), timeout=0.3).complete
    assert time.monotonic() - start < 10


def test_a_record_that_was_cut_off_is_left_out(fake_git, tmp_path: Path) -> None:
    """A half path must not be taken for a path."""
    fake_git(r"printf ' M whole\0R  new\0ol'; exit 1")
    result = changed_paths(str(tmp_path), timeout=30)
    assert (result.paths, result.complete) == (("new", "whole"), False)


def test_a_partial_clone_falls_back_to_no_renames(project: Repository, clone) -> None:
    """Comparing contents that are not here would fetch them."""
    project.commit(a="some text\n" * 20)
    partial = clone(project, "--filter=blob:none", "--no-checkout")
    partial.git("read-tree", "HEAD")
    partial.git("update-index", "--skip-worktree", "a")
    partial.git("rm", "-q", "--cached", "--sparse", "a")
    partial.write("b", "some text\n" * 21)
    partial.git("add", "b")
    result = changed_paths(str(partial), timeout=30)
    assert (result.paths, result.renames, result.complete) == (("a", "b"), (), True)


def test_status_writes_nothing(project: Repository) -> None:
    """git would refresh the index; an optional lock could disturb a person's command."""
    file = project.write("file", "1")
    project.commit()
    os.utime(file, (1, 1))
    index = Path(project.git_dir) / "index"
    before = index.read_bytes(), index.stat().st_mtime_ns
    assert changed(project) == ()
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before
    project.git("status")
    assert index.read_bytes() != before[0]  # the control: without our settings it is written


def test_a_folder_that_is_left_out_is_not_looked_at(project: Repository) -> None:
    root = project.root
    for name in ("kept.txt", ".memory/a.txt", ".memory-x.txt"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("x\n", encoding="utf-8")
    assert set(changed(root)) == {"kept.txt", ".memory/", ".memory-x.txt"}
    assert changed_paths(str(root), timeout=30, leave_out=".memory").paths == (".memory-x.txt", "kept.txt")
