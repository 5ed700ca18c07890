"""Where a memory starts, where it is refused, and how a work tree finds it."""

import os
import subprocess
from pathlib import Path

import pytest

from backstory.config import find, load
from backstory.errors import BackstoryError
from backstory.project import answers
from backstory.project.refresh import open_project
from backstory.project.setup import init
from tests.project.memory import START, Memory


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def test_from_a_subfolder_the_memory_starts_at_the_top_of_the_work_tree(repo: Path) -> None:
    (repo / "src/deep").mkdir(parents=True)
    started = init(str(repo / "src/deep"), now=START)
    assert started.root == str(repo)
    assert set(started.files) == {".git/backstory/project.toml", ".backstory/project.toml", ".backstory/.gitattributes"}
    assert load(str(repo / "src/deep")).project == started.project
    assert not started.existed


def test_running_it_again_changes_nothing(repo: Path) -> None:
    first = init(str(repo), name="demo", now=START)
    before = {path: path.read_bytes() for path in (repo / ".backstory").rglob("*") if path.is_file()}
    again = init(str(repo), name="other", now=START + 1)
    assert (again.project, again.name, again.existed, again.files) == (first.project, "demo", True, ())
    assert {path: path.read_bytes() for path in (repo / ".backstory").rglob("*") if path.is_file()} == before


def test_a_folder_without_git_gets_a_memory_and_is_told_what_it_lacks(tmp_path: Path, isolated: Path) -> None:
    (tmp_path / "plain/sub").mkdir(parents=True)
    started = init(str(tmp_path / "plain"), now=START)
    assert started.root == str(tmp_path / "plain")
    assert "no git" in started.notes[0]
    assert load(str(tmp_path / "plain/sub")).project == started.project


def test_a_bare_repository_is_refused_and_its_work_tree_is_not(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    with pytest.raises(BackstoryError) as caught:
        init(str(tmp_path / "bare.git"), now=START)
    assert "bare" in caught.value.message
    assert not (tmp_path / "bare.git/.backstory").exists()
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "tree"))
    assert init(str(tmp_path / "tree"), now=START).root == str(tmp_path / "tree")


def test_a_bare_repository_in_dot_git_is_refused_in_its_folder(repo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "layout"
    folder.mkdir()
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(folder / ".git"))
    with pytest.raises(BackstoryError) as caught:
        init(str(folder), now=START)
    assert "bare" in caught.value.message
    git(folder, "worktree", "add", "-q", str(folder / "main"), "main")
    assert init(str(folder / "main"), now=START).root == str(folder / "main")


@pytest.mark.parametrize("place", ["home", "root", "a file", "missing"])
def test_what_is_no_project_is_refused(tmp_path: Path, isolated: Path, place: str) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    start = {"home": str(isolated), "root": "/", "a file": str(tmp_path / "file"), "missing": str(tmp_path / "no")}[
        place
    ]
    with pytest.raises(BackstoryError) as caught:
        init(start, now=START)
    assert caught.value.hint
    (isolated / "project").mkdir()
    assert init(str(isolated / "project"), now=START).root == str(isolated / "project")


def test_a_home_that_is_a_repository_is_refused_from_below_too(isolated: Path) -> None:
    git(isolated, "init", "-q")
    (isolated / "notes").mkdir()
    with pytest.raises(BackstoryError):
        init(str(isolated / "notes"), now=START)
    assert find(str(isolated / "notes")) is None


def test_a_folder_above_several_projects_is_refused_with_the_list(tmp_path: Path, isolated: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "work" / name).mkdir(parents=True)
        git(tmp_path / "work" / name, "init", "-q")
        init(str(tmp_path / "work" / name), now=START)
    for action in (lambda: init(str(tmp_path / "work"), now=START), lambda: load(str(tmp_path / "work"))):
        with pytest.raises(BackstoryError) as caught:
            action()
        assert str(tmp_path / "work/one") in caught.value.message and str(tmp_path / "work/two") in caught.value.message


def test_a_folder_above_several_repositories_without_a_memory_is_refused_too(tmp_path: Path, isolated: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "work" / name).mkdir(parents=True)
        git(tmp_path / "work" / name, "init", "-q")
    with pytest.raises(BackstoryError, match="above several projects"):
        init(str(tmp_path / "work"), now=START)
    assert not (tmp_path / "work/.backstory").exists()


def test_a_private_memory_leaves_nothing_in_the_tree(repo: Path) -> None:
    memory = Memory(repo, private=True)
    id_ = memory.add("note", "for me alone")
    assert not (repo / ".backstory").exists()
    assert memory.git("status", "--porcelain") == ""
    with memory.open() as project:
        assert [item.id for item in answers.get(project)] == [id_]
        assert answers.brief(project).ids == (id_,)
    with pytest.raises(BackstoryError):
        init(str(repo.parent / "missing"), private=True, now=START)


def test_a_shared_memory_cannot_become_private(repo: Path) -> None:
    init(str(repo), now=START)
    with pytest.raises(BackstoryError) as caught:
        init(str(repo), private=True, now=START)
    assert "private" in caught.value.message
    assert (repo / ".backstory/project.toml").exists()


def test_a_work_tree_on_an_older_commit_finds_the_project_through_the_twin(repo: Path, tmp_path: Path) -> None:
    memory = Memory(repo)
    trial = memory.add("trial", "tried something")
    memory.commit("Start the memory")
    memory.git("worktree", "add", "-q", "--detach", str(tmp_path / "old"), "HEAD~1")
    assert not (tmp_path / "old/.backstory").exists()
    assert load(str(tmp_path / "old")).project == load(str(repo)).project
    with open_project(str(tmp_path / "old"), now=memory.now) as project:
        assert "not in this tree" in answers.show(project, trial).entry.tags[-1]
        assert answers.brief(project).ids == (trial,)
    again = init(str(tmp_path / "old"), now=memory.now)
    assert again.existed and again.project == load(str(repo)).project


def test_links_moves_and_clones_reach_the_same_project(repo: Path, tmp_path: Path) -> None:
    memory = Memory(repo)
    memory.add("note", "a remark")
    memory.commit("Start the memory")
    (tmp_path / "link").symlink_to(repo, target_is_directory=True)
    git(tmp_path, "clone", "-q", str(repo), "clone")
    ids = {load(str(tmp_path / name)).project for name in ("link", "repo", "clone")}
    repo.rename(tmp_path / "moved")
    ids.add(load(str(tmp_path / "moved")).project)
    assert len(ids) == 1
    with open_project(str(tmp_path / "moved"), now=memory.now) as project:
        assert len(answers.get(project)) == 1


def test_an_inner_repository_is_a_project_of_its_own(repo: Path) -> None:
    init(str(repo), now=START)
    (repo / "inner").mkdir()
    git(repo / "inner", "init", "-q")
    assert find(str(repo / "inner")) is None
    assert init(str(repo / "inner"), now=START).root == str(repo / "inner")


def test_a_folder_that_cannot_be_written_is_refused_in_words(repo: Path) -> None:
    if os.geteuid() == 0:
        (repo / ".backstory").write_text("a file is in the way", encoding="utf-8")
    else:
        repo.chmod(0o555)
    with pytest.raises(BackstoryError) as caught:
        init(str(repo), now=START)
    assert "cannot be written" in caught.value.message
    repo.chmod(0o755)
