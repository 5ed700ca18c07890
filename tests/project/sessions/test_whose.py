"""Whose a session is: nothing of another project enters, whatever the folders are called."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from backstory.project.sessions import answers, reading

from .conftest import made_project, opened, refresh
from .transcripts import Claude, red_edit_green


def texts(project: Path) -> str:
    """All that the archive of a project says, and what it finds."""
    with opened(project) as memory:
        found = answers.listed(memory, limit=50, agents=True).sessions
        details = [answers.shown(memory, row.id) for row in found]
        path = reading.archive_path(memory.config)
    data = Path(path).read_bytes() if os.path.exists(path) else b""
    wal = Path(f"{path}-wal")
    return repr(details) + data.decode("latin-1") + (wal.read_bytes().decode("latin-1") if wal.exists() else "")


def finds(project: Path, word: str) -> int:
    with opened(project) as memory:
        return len(answers.found(memory, word, limit=20).passages)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return made_project(tmp_path / "other")


def test_two_projects_with_the_same_files_and_overlapping_words_stay_apart(project: Path, other: Path) -> None:
    red_edit_green(Claude(project, folder="-tmp-other").user("the pangolin of the store"))
    red_edit_green(Claude(other, folder="-tmp-proj").user("the okapi of the store"))
    refresh(project), refresh(other)
    assert finds(project, "pangolin") == 1
    assert finds(other, "okapi") == 1
    assert finds(project, "okapi") == finds(other, "pangolin") == 0
    assert "okapi" not in texts(project)
    assert "pangolin" not in texts(other)


def test_a_session_that_changes_its_folder_gives_each_project_its_own_part(project: Path, other: Path) -> None:
    session = Claude(project).user("pangolin work").says("pangolin done").edits("src/store.py", "a", "b")
    session.cwd = str(other)
    session.user("okapi work").says("okapi done").edits("src/store.py", "c", "d").runs("make okapi", "err", code=2)
    session.cwd = str(project / "src")
    session.user("back to the pangolin")
    refresh(project), refresh(other)
    assert (finds(project, "pangolin"), finds(project, "okapi")) == (2, 0)
    assert (finds(other, "pangolin"), finds(other, "okapi")) == (0, 1)
    assert "okapi" not in texts(project)
    assert "pangolin" not in texts(other)
    with opened(project) as memory:
        detail = answers.shown(memory, session.session)
        assert [file.edits for file in detail.files] == [1]
        assert detail.failures == ()


def test_an_edit_in_another_project_is_that_projects_whatever_the_folder(project: Path, other: Path) -> None:
    session = Claude(project).user("pangolin").edits(other / "src" / "store.py", "a", "b").edits("src/own.py", "a", "b")
    refresh(project), refresh(other)
    with opened(project) as memory:
        assert [file.path for file in answers.shown(memory, session.session).files] == ["src/own.py"]
    with opened(other) as memory:
        detail = answers.shown(memory, session.session)
        assert [file.path for file in detail.files] == ["src/store.py"]
        assert all(not turn.asked for turn in detail.turns)
    assert "pangolin" not in texts(other)


def test_a_command_that_goes_into_another_project_is_that_projects(project: Path, other: Path) -> None:
    Claude(project).user("go").runs(f"cd {other} && make okapi", "boom", code=2).runs("make pangolin", "boom", code=2)
    refresh(project), refresh(other)
    assert (finds(project, "pangolin"), finds(project, "okapi")) == (1, 0)
    assert (finds(other, "okapi"), finds(other, "pangolin")) == (1, 0)
    assert "okapi" not in texts(project)


def test_a_session_in_a_sub_folder_or_through_a_link_is_this_projects(project: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(project)
    one = Claude(project / "src").user("pangolin one").edits("store.py", "a", "b")
    two = Claude(link / "src").user("pangolin two").edits(link / "src" / "store.py", "a", "b")
    refresh(project)
    assert finds(project, "pangolin") == 2
    with opened(project) as memory:
        for session in (one, two):
            assert [file.path for file in answers.shown(memory, session.session).files] == ["src/store.py"]


def test_a_linked_work_tree_is_the_same_project_also_when_it_is_gone(project: Path, tmp_path: Path) -> None:
    tree = tmp_path / "trees" / "feature"
    subprocess.run(["git", "worktree", "add", "-q", str(tree), "-b", "feature"], cwd=project, check=True)
    session = Claude(tree).user("pangolin").edits("src/store.py", "a", "b")
    refresh(project)
    assert finds(project, "pangolin") == 1
    refresh(tree)
    assert finds(tree, "pangolin") == 1
    with opened(project) as memory:
        os.unlink(reading.archive_path(memory.config))
    shutil.rmtree(tree)
    refresh(project)
    assert finds(project, "pangolin") == 1
    with opened(project) as memory:
        assert [file.path for file in answers.shown(memory, session.session).files] == ["src/store.py"]


def test_a_folder_that_is_gone_and_was_never_this_projects_is_nobodys(project: Path, tmp_path: Path) -> None:
    Claude(tmp_path / "gone" / "proj").user("okapi")
    Claude(project / "src" / "gone").user("pangolin")
    refresh(project)
    assert finds(project, "okapi") == 0
    assert finds(project, "pangolin") == 1


def test_another_project_in_the_old_place_of_a_moved_one_keeps_its_own(project: Path, tmp_path: Path) -> None:
    refresh(project)
    moved = tmp_path / "moved"
    shutil.move(project, moved)
    made_project(project)
    Claude(project).user("okapi of the new one")
    Claude(moved).user("pangolin of the moved one")
    refresh(moved), refresh(project)
    assert (finds(moved, "pangolin"), finds(moved, "okapi")) == (1, 0)
    assert (finds(project, "okapi"), finds(project, "pangolin")) == (1, 0)


def test_a_repository_inside_of_the_project_is_not_the_project(project: Path) -> None:
    inner = project / "vendor" / "lib"
    inner.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=inner, check=True)
    Claude(inner).user("okapi")
    Claude(project / "vendor").user("pangolin")
    refresh(project)
    assert finds(project, "okapi") == 0
    assert finds(project, "pangolin") == 1


def test_a_session_above_several_projects_gives_files_and_no_words(project: Path, other: Path, tmp_path: Path) -> None:
    session = Claude(tmp_path).user("okapi in both").edits(project / "src" / "store.py", "a", "b")
    refresh(project)
    assert finds(project, "okapi") == 0
    with opened(project) as memory:
        assert [file.path for file in answers.shown(memory, session.session).files] == ["src/store.py"]


def test_a_second_clone_of_the_project_is_the_project(project: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "add", "-A"], cwd=project, check=True)
    subprocess.run(["git", "commit", "-qm", "Memory"], cwd=project, check=True)
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(project), str(clone)], check=True)
    Claude(clone).user("pangolin")
    refresh(project)
    assert finds(project, "pangolin") == 1


def test_names_that_begin_alike_and_paths_that_climb_out_are_other_folders(project: Path, tmp_path: Path) -> None:
    beside = made_project(tmp_path / "proj-two")
    Claude(beside).user("okapi")
    session = (
        Claude(project).user("pangolin").edits("../proj-two/src/store.py", "a", "b").edits("../../etc/x", "a", "b")
    )
    refresh(project)
    assert finds(project, "okapi") == 0
    with opened(project) as memory:
        assert answers.shown(memory, session.session).files == ()
