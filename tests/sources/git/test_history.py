"""How commits hang together: ancestry, landing positions and the branch's own commits."""

import random
from pathlib import Path

import pytest

from backstory.sources.git import log
from backstory.sources.git.log import commits, first_parent, landing_positions
from backstory.sources.git.stream import GitFailed

from .conftest import Repository


def landed(root: object) -> dict[str, int]:
    """Landing positions of the whole history."""
    history = list(commits(str(root)))
    return landing_positions(reversed(history), first_parent(str(root)))


def merge(project: Repository, branch: str) -> None:
    """Merge a branch as a hosting service does, whatever the conflicts."""
    project.git("merge", "-q", "--no-ff", "-X", "ours", "-m", f"merge {branch}", branch)


def random_history(project: Repository, seed: int) -> list[str]:
    """Branches that fork and land in any order, some from each other; returns the paths."""
    dice = random.Random(seed)
    paths = [f"file{number}" for number in range(4)]
    project.commit("root", **dict.fromkeys(paths, "0\n"))
    branches = ["main"]
    for step in range(40):
        action = dice.random()
        if action < 0.2:
            branches.append(f"b{step}")
            project.git("checkout", "-q", "-b", branches[-1], dice.choice(branches[:-1]))
        elif action < 0.4:
            project.git("checkout", "-q", dice.choice(branches))
            merge(project, dice.choice(branches))
        else:
            project.git("checkout", "-q", dice.choice(branches))
            project.commit(str(step), **{dice.choice(paths): f"{step}\n"})
    project.git("checkout", "-q", "main")
    for branch in branches[1:]:
        merge(project, branch)
    return paths


@pytest.mark.parametrize("seed", range(2))
def test_commits_since_a_base_are_counted_by_landing_position(project: Repository, seed: int) -> None:
    """For every base on the mainline and every path the count is what git itself counts."""
    paths = random_history(project, seed)
    history = list(commits(str(project)))
    mainline = first_parent(str(project))
    positions = landing_positions(reversed(history), mainline)
    assert len(positions) == len(history)
    assert [positions[sha] for sha in mainline] == list(range(len(mainline)))
    bases = mainline[:: max(1, len(mainline) // 6)]
    for base in bases:
        for path in paths:
            counted = sum(
                positions[commit.sha] > positions[base] and any(change.path == path for change in commit.changes)
                for commit in history
                if len(commit.parents) < 2
            )
            asked = ("rev-list", "--count", "--no-merges", "--full-history", f"{base}..HEAD", "--", path)
            assert counted == int(project.git(*asked)), (base, path)


@pytest.mark.parametrize("seed", range(2))
def test_catching_up_gives_the_positions_of_a_full_pass(project: Repository, seed: int) -> None:
    """From any point of the mainline on, the new commits alone lead to the same positions."""
    random_history(project, seed)
    whole, mainline = landed(project), first_parent(str(project))
    for point in (0, len(mainline) // 2, len(mainline) - 2):
        new = list(commits(str(project), exclude=mainline[point]))
        line = first_parent(str(project), "HEAD", mainline[point])
        assert line == mainline[point + 1 :]
        by_sha = {commit.sha: commit for commit in new}
        assert by_sha[line[0]].parents[0] == mainline[point]
        caught_up = landing_positions(reversed(new), line, start=point + 1)
        assert caught_up == {sha: at for sha, at in whole.items() if at > point}


def test_a_merge_made_elsewhere_does_not_continue_the_line(project: Repository) -> None:
    """After a fast-forward to it the old positions no longer hold, and the first parent shows it."""
    project.commit("base")
    project.git("checkout", "-q", "-b", "side")
    project.commit("side", side="1")
    project.git("checkout", "-q", "main")
    old = project.commit("main", main="1")
    project.git("checkout", "-q", "side")
    merge(project, "main")
    project.git("checkout", "-q", "main")
    project.git("merge", "-q", "--ff-only", "side")
    assert log.is_ancestor(str(project), old, "HEAD")
    line = first_parent(str(project), "HEAD", old)
    by_sha = {commit.sha: commit for commit in commits(str(project), exclude=old)}
    assert by_sha[line[0]].parents[0] != old


def test_commits_that_never_landed_have_no_position(project: Repository) -> None:
    """What was passed but is not reachable from the mainline is left out."""
    base = project.commit("base")
    project.git("checkout", "-q", "-b", "side")
    side = project.commit("side")
    assert landing_positions(commits(str(project)), [base]) == {base: 0}
    assert landing_positions([], [base, side]) == {}


def test_ancestry(project: Repository) -> None:
    """A commit is its own ancestor; an unknown one, or an option, is none."""
    first, second = project.commit("first"), project.commit("second")
    root = str(project)
    assert log.is_ancestor(root, first, second)
    assert log.is_ancestor(root, second, "HEAD")
    assert not log.is_ancestor(root, second, first)
    assert not log.is_ancestor(root, "0" * 40, second)
    assert not log.is_ancestor(root, "--all", second)


def test_known_commits(project: Repository) -> None:
    """One call judges any number; only what is an id of a commit is known."""
    sha = project.commit("first", file="1")
    tree, blob = project.git("rev-parse", "HEAD^{tree}", "HEAD:file").split()
    project.git("tag", "-a", "-m", "x", "v1")
    tag = project.git("rev-parse", "v1")
    unknown = [tree, blob, tag, "HEAD", "main", "0" * 40, "-x", "abc\ndef", sha + "0", "grün"]
    expected = {sha: True, sha[:10]: True, sha.upper(): True, **dict.fromkeys(unknown, False)}
    assert log.known_commits(str(project), [*expected, ""]) == expected
    many = [f"{number:040x}" for number in range(5_000)]
    assert log.known_commits(str(project), [*many, sha])[sha]
    assert log.known_commits(str(project), []) == {}


def test_known_commits_cannot_be_judged_without_a_repository(tmp_path: Path) -> None:
    """Nothing is said rather than that they are gone."""
    assert log.known_commits(str(tmp_path), ["a" * 40]) == {}
    assert log.known_commits(str(tmp_path), ["no id"]) == {"no id": False}


def test_the_first_parent_line(project: Repository) -> None:
    """Oldest first; nothing for an unborn HEAD; an unknown revision is an error."""
    assert first_parent(str(project)) == []
    first = project.commit("first")
    project.git("checkout", "-q", "-b", "side")
    project.commit("side")
    project.git("checkout", "-q", "main")
    second = project.commit("second")
    merge(project, "side")
    assert first_parent(str(project)) == [first, second, project.git("rev-parse", "HEAD")]
    assert first_parent(str(project), second, first) == [second]
    assert first_parent(str(project), "HEAD", "HEAD") == []
    with pytest.raises(GitFailed):
        first_parent(str(project), "HEAD", "0" * 40)


class TestBranch:
    """The branch's own commits and the files that they touched."""

    def test_on_the_default_branch_there_are_none(self, project: Repository) -> None:
        """Also with commits that were not pushed, and on an unborn branch."""
        root = str(project)
        assert (log.branch_commits(root), log.branch_files(root)) == ([], ())
        project.commit("base", a="1")
        assert (log.branch_commits(root), log.branch_files(root)) == ([], ())

    @pytest.mark.parametrize("default", ["main", "master", "trunk", "develop"])
    def test_a_branch_off_a_local_default(self, project: Repository, default: str) -> None:
        """Its commits come newest first; both sides of a rename and files of merged work count."""
        project.git("checkout", "-q", "-b", default) if default != "main" else None
        project.commit("base", a="1", b="1")
        project.git("checkout", "-q", "-b", "topic")
        one = project.commit("one", a="2")
        project.git("mv", "b", "c\nc")
        two = project.commit("two")
        assert log.branch_commits(str(project)) == [two, one]
        assert log.branch_files(str(project)) == ("a", "b", "c\nc")
        project.git("checkout", "-q", "--detach")
        assert log.branch_commits(str(project)) == [two, one]
        project.git("checkout", "-q", default)
        assert log.branch_commits(str(project)) == []

    def test_what_the_default_branch_brought_is_not_the_branchs_own(self, project: Repository) -> None:
        """After merging main into the branch only the merge is added."""
        project.commit("base")
        project.git("checkout", "-q", "-b", "topic")
        own = project.commit("own", own="1")
        project.git("checkout", "-q", "main")
        project.commit("other", other="1")
        project.git("checkout", "-q", "topic")
        merge(project, "main")
        assert log.branch_commits(str(project)) == [project.git("rev-parse", "HEAD"), own]
        assert log.branch_files(str(project)) == ("own",)

    def test_origin_head_names_the_default_branch(self, project: Repository, clone) -> None:
        """Whatever its name; its local and its remote state both count."""
        project.git("checkout", "-q", "-b", "release")
        project.commit("base")
        cloned = clone(project)
        assert cloned.git("symbolic-ref", "refs/remotes/origin/HEAD") == "refs/remotes/origin/release"
        cloned.commit("not pushed", local="1")
        assert log.branch_commits(str(cloned)) == []
        cloned.git("checkout", "-q", "-b", "main")
        own = cloned.commit("own", own="1")
        assert log.branch_commits(str(cloned)) == [own]
        cloned.git("branch", "-q", "-D", "release")
        assert len(log.branch_commits(str(cloned))) == 2

    def test_a_dangling_origin_head_is_passed_over(self, project: Repository, clone) -> None:
        """After the remote renamed its default branch the usual names are looked for."""
        project.commit("base")
        cloned = clone(project)
        cloned.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")
        cloned.git("checkout", "-q", "-b", "topic")
        own = cloned.commit("own")
        assert log.branch_commits(str(cloned)) == [own]

    def test_without_a_default_branch_there_are_none(self, project: Repository) -> None:
        """There is nothing to compare with, detached or not."""
        project.git("checkout", "-q", "-b", "odd")
        project.commit("base", a="1")
        assert log.branch_commits(str(project)) == []
        project.git("checkout", "-q", "--detach")
        assert log.branch_files(str(project)) == ()

    def test_in_a_linked_work_tree_its_own_branch_counts(self, project: Repository, tmp_path: Path) -> None:
        """The main work tree may be on the default branch at the same time."""
        project.commit("base")
        project.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "linked"))
        linked = Repository(tmp_path / "linked")
        own = linked.commit("own", own="1")
        assert log.branch_commits(str(linked)) == [own]
        assert log.branch_commits(str(project)) == []

    def test_the_answer_is_bounded(self, project: Repository, monkeypatch) -> None:
        """A branch that lives for years gives its newest commits."""
        monkeypatch.setattr(log, "_BRANCH_LIMIT", 3)
        project.commit("base")
        project.git("checkout", "-q", "-b", "topic")
        shas = [project.commit(str(number), **{f"f{number}": "1"}) for number in range(5)]
        assert log.branch_commits(str(project)) == shas[:1:-1]
        assert log.branch_files(str(project)) == ("f2", "f3", "f4")
