"""Where HEAD is, without a process."""

from pathlib import Path

import pytest

from backstory.sources.git.head import branch_name, head_commit, head_id, head_signature, in_progress

from .conftest import Repository


def signature(repository: Repository) -> str:
    """The signature of a repository, which must not be the empty one."""
    value = head_signature(repository.git_dir, repository.common_dir)
    assert value
    return value


def test_each_new_head_has_another_signature(project: Repository) -> None:
    """Unborn, first commit, next commit, amended, reset, other branch, detached: all differ as they should."""
    unborn = signature(project)
    first = project.commit("one")
    at_first = signature(project)
    assert at_first == signature(project)
    project.commit("two")
    at_second = signature(project)
    project.git("commit", "-q", "--allow-empty", "--amend", "-m", "other")
    amended = signature(project)
    project.git("checkout", "-q", "-b", "side")
    side = signature(project)
    project.git("checkout", "-q", "--detach")
    detached = signature(project)
    assert len({unborn, at_first, at_second, amended, side, detached}) == 6
    project.git("checkout", "-q", "main")
    project.git("reset", "-q", "--hard", first)
    assert signature(project) == at_first


def test_packed_refs_are_noticed(project: Repository) -> None:
    """A ref that is not loose is judged by the packed file, and a later loose one wins over it."""
    project.git("pack-refs", "--all")
    project.commit("one")
    project.git("pack-refs", "--all")
    assert not (Path(project.git_dir) / "refs/heads/main").exists()
    packed = signature(project)
    assert "packed " in packed
    second = project.commit("two")
    assert signature(project) not in (packed, "")
    project.git("pack-refs", "--all")
    assert signature(project) != packed
    assert head_commit(str(project)) == second


def test_linked_work_trees_have_signatures_of_their_own(project: Repository, tmp_path: Path) -> None:
    """The branch lies in the common dir, HEAD in the work tree's own git dir."""
    project.commit("one")
    project.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    linked = Repository(tmp_path / "linked")
    assert linked.git_dir != linked.common_dir
    before = signature(project), signature(linked)
    linked.commit("two")
    assert signature(project) == before[0]
    assert signature(linked) != before[1]
    assert branch_name(linked.git_dir) == "other"
    assert branch_name(project.git_dir) == "main"
    assert head_commit(str(linked)) == linked.git("rev-parse", "HEAD")


def test_a_submodule_and_a_bare_repository(project: Repository, tmp_path: Path) -> None:
    """Their git dir lies elsewhere or is the folder itself."""
    project.commit("one", file="1")
    bare = Repository(tmp_path / "bare.git")
    project.git("clone", "-q", "--bare", ".", str(bare))
    assert signature(bare)
    assert branch_name(bare.git_dir) == "main"
    project.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(bare), "lib")
    inside = Repository(project.root / "lib")
    assert "modules" in inside.git_dir
    before = signature(inside)
    inside.commit("two")
    assert signature(inside) != before


def test_branch_names(project: Repository) -> None:
    """An unborn branch has its name, a detached HEAD has none, and slashes and other scripts stay."""
    assert branch_name(project.git_dir) == "main"
    assert head_commit(str(project)) is None
    project.commit("one")
    project.git("checkout", "-q", "-b", "fix/ärger")
    assert branch_name(project.git_dir) == "fix/ärger"
    project.git("checkout", "-q", "--detach")
    assert branch_name(project.git_dir) is None
    assert head_commit(str(project)) == project.git("rev-parse", "HEAD")


def test_a_branch_that_is_a_symbolic_ref_is_followed(project: Repository) -> None:
    """The commit behind it decides; a circle ends."""
    project.commit("one")
    project.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    (Path(project.git_dir) / "HEAD").write_text("ref: refs/heads/alias\n")
    before = signature(project)
    project.git("update-ref", "refs/heads/main", project.git("commit-tree", "-m", "x", "HEAD^{tree}"))
    assert signature(project) != before
    (Path(project.git_dir) / "refs/heads/alias").write_text("ref: refs/heads/alias\n")
    assert signature(project)


def test_a_head_that_is_a_symbolic_link(project: Repository) -> None:
    """Old versions of git wrote it so."""
    project.commit("one")
    expected = signature(project)
    head = Path(project.git_dir) / "HEAD"
    head.unlink()
    head.symlink_to("refs/heads/main")
    assert signature(project) == expected
    assert branch_name(project.git_dir) == "main"


@pytest.mark.parametrize("content", [b"", b"\n", None])
def test_no_readable_head_has_no_signature(project: Repository, content: bytes | None) -> None:
    """It never equals the signature of a repository that has one."""
    head = Path(project.git_dir) / "HEAD"
    head.unlink()
    if content is not None:
        head.write_bytes(content)
    common = str(project.root / ".git")
    assert head_signature(common, common) == ""
    assert branch_name(common) is None


@pytest.mark.parametrize("content", [b"ref: refs/heads/../../config\n", b"ref: /etc/hosts\n", b"ref: refs/h\0x\n"])
def test_a_damaged_head_leads_to_no_file_outside_the_refs(project: Repository, content: bytes) -> None:
    """Only the name itself goes into the signature, or that the ref is unborn."""
    common = project.git_dir
    (Path(common) / "HEAD").write_bytes(content)
    assert "bare" not in head_signature(common, common)
    assert "localhost" not in head_signature(common, common)


def test_a_branch_name_that_is_not_utf8_can_be_stored(project: Repository) -> None:
    """It is spelled out, since the log holds UTF-8 only."""
    (Path(project.git_dir) / "HEAD").write_bytes(b"ref: refs/heads/latin-\xe9\n")
    name = branch_name(project.git_dir)
    assert name == "latin-\\xe9"
    assert name.encode()


def test_reftable_is_judged_by_its_list_of_tables(tmp_path: Path, fake_git) -> None:
    """HEAD is a stub there; the lists of the work tree and of the clone name every state of the refs."""
    own, common = tmp_path / "own", tmp_path / "common"
    for folder in (own, common):
        (folder / "reftable").mkdir(parents=True)
        (folder / "reftable/tables.list").write_text("0x01-0x01-aaaa.ref\n")
    (own / "HEAD").write_text("ref: refs/heads/.invalid\n")
    first = head_signature(str(own), str(common))
    (own / "reftable/tables.list").write_text("0x01-0x02-bbbb.ref\n")
    second = head_signature(str(own), str(common))
    (common / "reftable/tables.list").write_text("0x01-0x01-aaaa.ref\n0x02-0x02-cccc.ref\n")
    assert len({first, second, head_signature(str(own), str(common)), ""}) == 4
    fake_git("echo refs/heads/topic")
    assert branch_name(str(own)) == "topic"


def test_what_git_is_in_the_middle_of(project: Repository) -> None:
    """Merge, cherry-pick, revert, rebase and bisect are told apart, and none is none."""
    base = project.commit(file="base\n")
    project.git("checkout", "-qb", "side")
    side = project.commit(file="side\n")
    project.git("checkout", "-q", "main")
    project.commit(file="main\n")
    assert in_progress(project.git_dir) is None
    for command, state in {
        ("merge", "side"): "merge",
        ("cherry-pick", side): "cherry-pick",
        ("revert", "--no-edit", base): "revert",
        ("rebase", "side"): "rebase",
        ("rebase", "--apply", "side"): "rebase",
    }.items():
        project.git(*command, check=False)
        assert in_progress(project.git_dir) == state, command
        project.git(command[0], "--abort")
    patch = project.git("format-patch", "--stdout", "-1", "side").encode()
    project.git("am", stdin=patch + b"\n", check=False)
    assert in_progress(project.git_dir) == "am"
    project.git("am", "--abort")
    project.git("bisect", "start")
    assert in_progress(project.git_dir) == "bisect"


def test_a_repository_that_git_cannot_read_has_no_head_commit(tmp_path: Path, monkeypatch) -> None:
    """Neither a folder without git nor a machine without git is an error here."""
    assert head_commit(str(tmp_path)) is None
    monkeypatch.setenv("PATH", "")
    assert head_commit(str(tmp_path)) is None


def test_the_id_read_from_files_is_the_one_that_git_gives(project: Repository) -> None:
    """Unborn, loose, packed, detached, and a ref that the files do not hold plainly."""

    def same() -> str | None:
        found = head_id(project.git_dir, project.common_dir, str(project))
        assert found == head_commit(str(project))
        return found

    assert same() is None
    first = project.commit(a="1")
    assert same() == first
    project.git("pack-refs", "--all")
    assert same() == first
    second = project.commit(a="2")
    assert same() == second
    project.git("checkout", "-q", "--detach", first)
    assert same() == first
    project.git("symbolic-ref", "HEAD", "refs/heads/missing")
    assert same() is None
