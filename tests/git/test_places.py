"""Where a project can live: the same memory is reached from all of them, before and after a commit."""

import shutil
from pathlib import Path

import pytest

from backstory.errors import Exit
from backstory.project.setup import init
from tests.storekit import START, Store, assert_rebuilt_is_equal, git, new_repo, refused


@pytest.fixture
def store(repo: Path) -> Store:
    made = Store(repo).init()
    made.commit("memory begins")
    return made


def worktree(store: Store, name: str = "linked", branch: str = "side", at: str = "HEAD") -> Store:
    target = store.root.parent / name
    store.git("worktree", "add", "-q", "-b", branch, str(target), at)
    return Store(target, store.clock)


def test_linked_work_trees_see_each_other_at_once(store: Store) -> None:
    linked = worktree(store)
    inside = worktree(store, "repo/inner tree", "inner")
    for one, text in ((store, "main tree"), (linked, "linked tree"), (inside, "tree in the tree")):
        one.record(text)
    for one in (store, linked, inside):
        assert set(one.texts().values()) == {"main tree", "linked tree", "tree in the tree"}
        assert len(one.in_tree()) == 1
        one.assert_sound()
    linked.commit("linked")
    store.git("merge", "-q", "--no-edit", "side")
    for one in (store, linked, inside):
        assert len(one.texts()) == 3
        one.assert_sound()
        assert_rebuilt_is_equal(one)
    assert len(store.in_tree()) == 2


def test_a_removed_work_tree_takes_nothing_with_it(store: Store) -> None:
    linked = worktree(store)
    tried = linked.record("batching by ten", kind="trial")
    store.git("worktree", "remove", "--force", str(linked.root))
    store.git("branch", "-q", "-D", "side")
    assert set(store.texts()) == {tried}
    store.assert_sound()
    again = worktree(store)
    assert set(again.texts()) == {tried}
    again.record("after")
    again.assert_sound()


def test_a_work_tree_killed_between_journal_and_log_hurts_no_other(store: Store) -> None:
    linked = worktree(store)
    linked.record("one")
    note = Path(linked.config.places.derived_dir) / "pending"
    note.write_bytes(linked.shards()[0].stem.encode() + b"\n" + linked.shards()[0].read_bytes())
    store.record("two")
    assert len(store.texts()) == len(linked.texts()) == 2
    assert not note.exists()


def test_a_work_tree_on_a_commit_older_than_the_memory_works_by_the_twin(store: Store) -> None:
    store.record("from now on")
    old = worktree(store, "old", "old", "HEAD~1")
    assert not (old.root / ".backstory").exists()
    assert old.config.project == store.config.project
    old.record("on the old commit")
    for one in (store, old):
        assert set(one.texts().values()) == {"from now on", "on the old commit"}
        one.assert_sound()
    init(str(old.root), now=START)
    assert old.config.project == store.config.project


def test_a_bare_repository_with_work_trees(tmp_path: Path) -> None:
    source = new_repo(tmp_path / "source")
    git(tmp_path, "clone", "-q", "--bare", str(source), "bare.git")
    bare = tmp_path / "bare.git"
    for name in ("one", "two"):
        git(bare, "worktree", "add", "-q", "-b", name, str(tmp_path / name), "main")
    one = Store(tmp_path / "one").init()
    two = Store(tmp_path / "two", one.clock)
    one.record("in one")
    two.record("in two")
    for each in (one, two):
        assert set(each.texts().values()) == {"in one", "in two"}
        each.assert_sound()
    error = refused(init, str(bare), now=START)
    assert error.code == Exit.REFUSED and "bare" in error.message


def test_a_bare_repository_in_a_dot_git_folder(tmp_path: Path) -> None:
    """`git clone --bare . project/.git`, then work trees inside the project's folder."""
    source = new_repo(tmp_path / "source")
    git(tmp_path, "clone", "-q", "--bare", str(source), "project/.git")
    project = tmp_path / "project"
    git(project, "worktree", "add", "-q", "-b", "one", "one", "main")
    git(project, "worktree", "add", "-q", "-b", "two", "two", "main")
    one = Store(project / "one").init()
    two = Store(project / "two", one.clock)
    one.record("in one")
    assert set(two.texts().values()) == {"in one"}
    error = refused(init, str(project), now=START)
    assert error.code == Exit.REFUSED and "bare" in error.message


def test_a_submodule_is_a_project_of_its_own(store: Store, tmp_path: Path) -> None:
    inner = new_repo(tmp_path / "library")
    git(store.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib")
    store.commit("submodule")
    module = Store(store.root / "lib", store.clock)
    assert refused(module.texts).code == Exit.NO_PROJECT
    module.init()
    module.record("in the library")
    store.record("in the whole")
    assert set(module.texts().values()) == {"in the library"}
    assert set(store.texts().values()) == {"in the whole"}
    module.assert_sound()
    store.assert_sound()
    module.commit("memory")
    store.commit("moved on")
    store.assert_sound()


def test_a_folder_without_git(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    (folder / "below").mkdir(parents=True)
    store = Store(folder).init()
    store.record("one")
    assert set(Store(folder / "below").texts().values()) == {"one"}
    assert store.journals() == []
    store.assert_sound()
    assert_rebuilt_is_equal(store)


def test_git_that_comes_later_finds_what_was_there(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    store = Store(folder).init()
    store.record("before git")
    store.git("init", "-q")
    assert set(store.texts().values()) == {"before git"}
    store.record("with git")
    store.commit("all")
    assert set(store.texts().values()) == {"before git", "with git"}
    store.assert_sound()
    shutil.rmtree(folder / ".git")
    assert set(store.texts().values()) == {"before git", "with git"}
    store.record("without again")
    store.assert_sound()


@pytest.mark.parametrize("kind", ["git", "private", "plain"])
def test_a_moved_folder_and_one_reached_by_a_link_are_the_same_project(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "first"
    if kind == "plain":
        folder.mkdir()
        store = Store(folder).init()
    else:
        store = Store(new_repo(folder)).init(private=kind == "private")
    store.record("one")
    moved = Store(tmp_path / "second", store.clock)
    folder.rename(moved.root)
    moved.record("two")
    link = tmp_path / "link"
    link.symlink_to(moved.root)
    linked = Store(link, store.clock)
    linked.record("three")
    for one in (moved, linked):
        assert sorted(one.texts().values()) == ["one", "three", "two"]
        one.assert_sound()
    assert moved.config.project == linked.config.project
    assert linked.config.root == str(moved.root)
    assert_rebuilt_is_equal(moved)


def test_a_changed_remote_changes_nothing(store: Store) -> None:
    store.git("remote", "add", "origin", "https://example.org/old/name.git")
    store.record("one")
    before = store.config.project
    store.git("remote", "set-url", "origin", "https://example.org/new/name.git")
    assert store.config.project == before
    assert set(store.texts().values()) == {"one"}


def test_a_clone_of_a_private_memory_has_none(repo: Path) -> None:
    store = Store(repo).init(private=True)
    store.record("mine alone")
    git(repo.parent, "clone", "-q", str(repo), "clone")
    assert refused(Store(repo.parent / "clone").texts).code == Exit.NO_PROJECT


def test_private_mode_reaches_all_work_trees(repo: Path) -> None:
    store = Store(repo).init(private=True)
    linked = worktree(store)
    store.record("one")
    linked.record("two")
    for one in (store, linked):
        assert set(one.texts().values()) == {"one", "two"}
        assert len(one.in_tree()) == 2
        one.assert_sound()
        assert one.git("status", "--porcelain") == ""


def test_a_lost_derived_folder_costs_nothing(store: Store) -> None:
    """Index, writer id and notes of the work tree, and the heads in the state folder."""
    from backstory.config import state_dir

    store.record("one")
    with store.open() as project:
        place = Path(project.config.places.index_path)
    assert place.exists()
    for path in place.parent.iterdir():
        if path.is_file() and path.name != "project.toml":
            path.unlink()
    shutil.rmtree(state_dir())
    assert set(store.texts().values()) == {"one"}
    store.record("two")
    store.assert_sound()


def test_a_name_of_a_branch_may_hold_anything(store: Store) -> None:
    for number, name in enumerate(("feature/ünï cödé".replace(" ", "-"), "a" * 200, "x/y/z", "-".join("ab") + "'q\"")):
        store.git("switch", "-q", "-c", name)
        store.record(f"on branch {number}")
    store.assert_sound()
    assert len(store.texts()) == 4


def test_a_shallow_clone_reads_and_writes(store: Store) -> None:
    store.record("one")
    store.commit("more")
    git(store.root.parent, "clone", "-q", "--depth", "1", f"file://{store.root}", "shallow")
    shallow = Store(store.root.parent / "shallow", store.clock)
    shallow.record("two")
    assert set(shallow.texts().values()) == {"one", "two"}
    shallow.assert_sound()


def test_a_sha256_repository_works_alike(tmp_path: Path) -> None:
    folder = tmp_path / "modern"
    folder.mkdir()
    git(folder, "init", "-q", "--object-format=sha256")
    store = Store(folder).init()
    store.record("one")
    store.commit("first")
    store.record("two")
    store.git("stash", "-q")
    assert set(store.texts().values()) == {"one", "two"}
    store.assert_sound()


def test_before_the_first_commit(tmp_path: Path) -> None:
    folder = tmp_path / "unborn"
    folder.mkdir()
    git(folder, "init", "-q")
    store = Store(folder).init()
    store.record("one")
    store.assert_sound()
    store.commit("first")
    store.record("two")
    store.assert_sound()
    assert len(store.texts()) == 2
