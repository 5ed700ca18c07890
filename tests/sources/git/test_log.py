"""The history as one stream of commits."""

import os
import threading
from pathlib import Path

import pytest

from backstory.errors import BackstoryError
from backstory.sources.git import log, stream
from backstory.sources.git.log import Change, commits, is_shallow
from backstory.sources.git.run import git
from backstory.sources.git.stream import GitFailed, safe_directory_problem

from .conftest import Repository, make

TEXT = "".join(f"line {number}\n" for number in range(40))
ODD_SUBJECTS = ["pipe | and \x01\x02 control", "M", "R100", "a" * 40, "grün 日本 \u2028 x", "", "\x1b[31mred"]


def changes(root: object, **options: str) -> dict[str, tuple[Change, ...]]:
    """The changes of each commit by its subject."""
    return {commit.subject: commit.changes for commit in commits(str(root), **options)}


def test_commits_come_newest_first_with_all_their_fields(project: Repository) -> None:
    """Ids, parents, both times, the subject and the changed files are what git says."""
    first = project.commit("Add a\n\nwith a body", a="1")
    second = project.commit("Edit a,\nadd b", a="2", b="1")
    third = project.commit("nothing")
    listed = list(commits(str(project)))
    assert [commit.sha for commit in listed] == [third, second, first]
    assert [commit.parents for commit in listed] == [(second,), (first,), ()]
    assert [commit.subject for commit in listed] == ["nothing", "Edit a, add b", "Add a"]
    assert listed[1].changes == (Change("M", "a"), Change("A", "b"))
    assert listed[0].changes == ()
    assert all(commit.changes_known for commit in listed)
    times = [tuple(map(int, project.git("log", "-1", "--format=%ct %at", c.sha).split())) for c in listed]
    assert [(commit.time, commit.author_time) for commit in listed] == times


def test_renames_copies_deletions_and_type_changes(project: Repository) -> None:
    """A rename names both paths; a copy is an addition, as git looks for renames only."""
    other = TEXT.upper()
    project.commit("add", old=TEXT, link="target", gone="1", kept=other)
    project.git("mv", "old", "new")
    project.write("new", TEXT + "more\n")
    project.write("copy", other)
    (project.root / "gone").unlink()
    if os.name != "nt":
        (project.root / "link").unlink()
        (project.root / "link").symlink_to("new")
    project.commit("move")
    found = set(changes(project)["move"])
    assert Change("R", "new", "old") in found
    assert {Change("A", "copy"), Change("D", "gone")} <= found
    if os.name != "nt":
        assert Change("T", "link") in found


@pytest.mark.parametrize("subject", ODD_SUBJECTS)
def test_no_subject_breaks_the_stream(project: Repository, subject: str) -> None:
    """Whatever a subject holds, it is not taken for a field, a status or an id."""
    project.commit("before", a="1")
    project.commit(subject, a="2")
    project.commit("after", a="3")
    listed = list(commits(str(project)))
    assert [commit.subject for commit in listed] == ["after", subject, "before"]
    assert [commit.changes[0].status for commit in listed] == ["M", "M", "A"]


def test_subjects_of_any_encoding(project: Repository) -> None:
    """A declared encoding is converted; bytes that fit none become the replacement character."""
    project.git("config", "i18n.logOutputEncoding", "ISO-8859-1")
    project.commit("first")
    project.git("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "--allow-empty", "-F", "-", stdin=b"gr\xfcn")
    tree = project.git("rev-parse", "HEAD^{tree}")
    raw = f"tree {tree}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\n".encode() + b"bad \xff\xfe \xed\xa0\x80"
    sha = project.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw)
    assert [commit.subject for commit in commits(str(project))] == ["grün", "first"]
    (odd,) = commits(str(project), include=sha)
    assert odd.subject.startswith("bad \ufffd\ufffd ")
    assert odd.subject.encode()


def test_a_commit_without_a_usable_date(project: Repository) -> None:
    """A damaged identity line, as old importers wrote, reads as time zero."""
    tree = project.git("mktree")
    raw = f"tree {tree}\nauthor nobody\ncommitter nobody\n\nodd".encode()
    sha = project.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=raw)
    (commit,) = commits(str(project), include=sha)
    assert (commit.time, commit.author_time, commit.subject) == (0, 0, "odd")


@pytest.mark.skipif(os.name == "nt", reason="the system refuses such names")
def test_paths_come_back_as_they_are(project: Repository) -> None:
    """No quoting; line breaks, quotes and bytes that are not UTF-8 survive; short names are no status."""
    names = ["M", "R100", "\nA", "line\nbreak", 'quo"te', "grün/日本", "latin-\udce9", "tab\t", "c" * 40]
    for name in names:
        project.write(name, name.encode("utf-8", "surrogateescape") * 99)
    project.commit("add")
    project.git("mv", "M", "\nD")
    project.commit("move")
    found = changes(project)
    assert {change.path for change in found["add"]} == set(names)
    assert found["move"] == (Change("R", "\nD", "M"),)


def test_a_merge_has_parents_and_no_changes(project: Repository) -> None:
    """Also one that resolved a conflict, and one with three parents; also if the settings ask for more."""
    project.git("config", "log.diffMerges", "first-parent")
    project.commit("base", file="1")
    sides = []
    for side in "ab":
        project.git("checkout", "-q", "-b", side, "main")
        sides.append(project.commit(side, **{side: "1"}))
    project.git("checkout", "-q", "main")
    own = project.commit("own", own="1")
    project.git("merge", "-q", "-m", "octopus", *sides)
    merge = next(commits(str(project)))
    assert merge.parents == (own, *sides)
    assert (merge.changes, merge.changes_known) == ((), True)
    assert set(changes(project)) == {"base", "a", "b", "own", "octopus"}


def test_settings_of_a_person_change_nothing(project: Repository) -> None:
    """The same history reads the same under any configuration."""
    project.commit("first", **{"sub/a": TEXT, "b": "1"})
    project.git("mv", "sub/a", "sub/c")
    project.commit("second")
    project.git("notes", "add", "-m", "a note")
    expected = list(commits(str(project)))
    order = project.write(".git/order", "b\nsub*\n")
    for name, value in {
        "log.showSignature": "true",
        "log.showRoot": "false",
        "log.follow": "true",
        "log.decorate": "full",
        "diff.renames": "copies",
        "diff.relative": "true",
        "diff.noprefix": "true",
        "diff.orderFile": str(order),
        "diff.renameLimit": "1",
        "diff.external": "false",
        "format.pretty": "oneline",
        "color.ui": "always",
        "core.quotepath": "true",
    }.items():
        project.git("config", name, value)
    assert list(commits(str(project))) == expected
    assert list(commits(str(project.root / "sub"))) == expected


def test_replacements_and_a_submodule(project: Repository, tmp_path: Path) -> None:
    """History is what was committed, not a local replacement; a submodule's move is one path."""
    library = make(tmp_path / "library")
    library.commit(file="1")
    project.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    first = project.commit("add lib")
    Repository(project.root / "lib").commit("inside")
    project.git("config", "diff.ignoreSubmodules", "all")
    project.git("add", "lib")
    second = project.commit("move lib")
    project.git("replace", second, first)
    assert changes(project)["move lib"] == (Change("M", "lib"),)


def test_a_range_and_a_count(project: Repository) -> None:
    """What `exclude` reaches is left out, so catching up after one commit reads one commit."""
    shas = [project.commit(str(number)) for number in range(5)]
    assert list(changes(project, exclude=shas[2])) == ["4", "3"]
    assert list(changes(project, include=shas[2], exclude=shas[0])) == ["2", "1"]
    assert list(changes(project, exclude="HEAD")) == []
    assert len(list(commits(str(project), max_count=2))) == 2


def test_after_an_amend_or_a_rebase_the_old_commits_are_left_out(project: Repository) -> None:
    """Only what is reachable now is read."""
    project.commit("base", base="1")
    project.git("checkout", "-q", "-b", "side")
    old = [project.commit("one", one="1"), project.commit("two", two="1")]
    project.git("commit", "-q", "--amend", "-m", "two again")
    project.git("checkout", "-q", "main")
    project.commit("main", main="1")
    project.git("checkout", "-q", "side")
    project.git("rebase", "-q", "main")
    assert list(changes(project)) == ["two again", "one", "main", "base"]
    assert not any(log.is_ancestor(str(project), sha, "HEAD") for sha in old)
    assert log.known_commits(str(project), old) == dict.fromkeys(old, True)


def test_an_unborn_branch_has_no_commits(project: Repository) -> None:
    """It is no error, but an unknown revision is."""
    assert list(commits(str(project))) == []
    with pytest.raises(GitFailed, match="does not know the commit nowhere"):
        list(commits(str(project), include="nowhere"))


@pytest.mark.parametrize("name", ["--output=x", "-1", "", "HEAD\nHEAD", "a\0b", "HEAD:a", "HEAD^{tree}"])
def test_a_revision_is_never_an_option_or_several(project: Repository, name: str) -> None:
    """Names reach git as one name each."""
    project.commit(a="1")
    with pytest.raises(GitFailed):
        list(commits(str(project), exclude=name))
    assert not (project.root / "x").exists()


@pytest.mark.parametrize("length", [None, 3])
def test_every_way_to_look_at_a_repository(project: Repository, tmp_path: Path, length: int | None) -> None:
    """Linked work tree, bare repository, submodule and detached HEAD read the same history."""
    for number in range(3):
        project.commit(str(number), file=str(number))
    expected = list(commits(str(project)))
    project.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    project.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    outer = make(tmp_path / "outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(project), "lib")
    for place in (tmp_path / "linked", tmp_path / "bare.git", outer.root / "lib", project.root / ".git"):
        assert list(commits(str(place), max_count=length)) == expected


def test_sha256_repositories(tmp_path: Path) -> None:
    """Longer ids change nothing."""
    project = make(tmp_path / "long", "--object-format=sha256")
    first = project.commit("first", a=TEXT)
    project.git("mv", "a", "b")
    second = project.commit("second")
    assert len(first) == 64
    assert changes(project, exclude=first) == {"second": (Change("R", "b", "a"),)}
    assert log.known_commits(str(project), [first, second[:12]]) == {first: True, second[:12]: True}


class TestCutOffClones:
    """A clone that lacks a part says so, guesses nothing and fetches nothing."""

    def test_a_shallow_boundary_did_not_add_every_file(self, project: Repository, clone, tmp_path: Path) -> None:
        """The commits behind it are whole."""
        for number in range(4):
            project.commit(str(number), **{f"file{number}": "1"})
        shallow = clone(project, "--depth", "2")
        listed = list(commits(str(shallow)))
        assert [(c.subject, c.changes, c.changes_known) for c in listed] == [
            ("3", (Change("A", "file3"),), True),
            ("2", (), False),
        ]
        assert listed[1].parents == ()
        assert is_shallow(shallow.common_dir)
        assert not is_shallow(project.common_dir)
        shallow.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
        assert list(commits(str(tmp_path / "linked"))) == listed
        shallow.git("fetch", "-q", "--unshallow")
        assert not is_shallow(shallow.common_dir)
        assert len(list(commits(str(shallow)))) == 4

    def test_a_clone_without_blobs_gives_exact_renames(self, project: Repository, clone) -> None:
        """Paths need trees only; a rename with an edit would need contents, so it is a removal and an addition."""
        project.commit("add", one=TEXT, two=TEXT + "two")
        project.git("mv", "one", "one2")
        project.git("mv", "two", "two2")
        project.write("two2", TEXT + "edited")
        project.commit("move")
        partial = clone(project, "--filter=blob:none", "--no-checkout")
        missing = partial.git("rev-list", "--objects", "--all", "--missing=print")
        assert "?" in missing
        assert set(changes(partial)["move"]) == {
            Change("R", "one2", "one"),
            Change("D", "two"),
            Change("A", "two2"),
        }
        assert partial.git("rev-list", "--objects", "--all", "--missing=print") == missing

    def test_a_clone_without_trees_knows_no_changes(self, project: Repository, clone) -> None:
        """The commits are there, and each says that its changes are not known."""
        shas = [project.commit(str(number), file=str(number)) for number in range(3)]
        partial = clone(project, "--filter=tree:0", "--no-checkout")
        listed = list(commits(str(partial)))
        assert [commit.sha for commit in listed] == shas[::-1]
        assert not any(commit.changes or commit.changes_known for commit in listed)
        assert log.branch_files(str(partial)) == ()

    def test_asking_for_commits_never_fetches(self, project: Repository, clone) -> None:
        """A shallow and partial clone lacks a commit of which it knows that it exists."""
        shas = [project.commit(str(number), file=str(number)) for number in range(3)]
        partial = clone(project, "--filter=blob:none", "--depth=1", "--no-checkout")
        blob = project.git("rev-parse", "HEAD:file")
        known = log.known_commits(str(partial), [*shas, blob, "0" * 40])
        assert known == {shas[0]: False, shas[1]: False, shas[2]: True, blob: False, "0" * 40: False}
        assert not log.is_ancestor(str(partial), shas[0], "HEAD")


class TestFailures:
    """Every failure is typed, in words, and comes after what could be read."""

    def test_a_folder_without_git(self, tmp_path: Path) -> None:
        """The words are git's own."""
        with pytest.raises(GitFailed, match="not a git repository"):
            list(commits(str(tmp_path)))
        assert issubclass(GitFailed, BackstoryError)

    def test_git_missing(self, project: Repository, monkeypatch) -> None:
        """The hint tells what to do; the questions that need no exception answer with nothing."""
        sha = project.commit(a="1")
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(GitFailed, match="could not be started") as caught:
            list(commits(str(project)))
        assert "PATH" in caught.value.hint
        with pytest.raises(GitFailed):
            log.first_parent(str(project))
        assert log.known_commits(str(project), [sha]) == {}
        assert not log.is_ancestor(str(project), sha, sha)
        assert log.branch_commits(str(project)) == []
        assert log.branch_files(str(project)) == ()
        with pytest.raises(GitFailed):
            list(stream.fields_of(["log"], str(project)))

    def test_a_repository_of_someone_else(self, project: Repository, fake_git) -> None:
        """git's refusal is told apart, and its own remedy is the hint."""
        project.commit(a="1")
        real = os.popen("command -v git").read().strip()
        fake_git(f'GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"')
        result = git(["rev-parse", "HEAD"], str(project))
        assert safe_directory_problem(result)
        with pytest.raises(GitFailed, match="belongs to another user") as caught:
            list(commits(str(project)))
        assert f"safe.directory {project}" in caught.value.hint

    def test_other_failures_are_not_a_matter_of_ownership(self, tmp_path: Path) -> None:
        """The control of the test above."""
        assert not safe_directory_problem(git(["rev-parse", "HEAD"], str(tmp_path)))

    def test_a_damaged_history_raises_after_what_could_be_read(self, project: Repository) -> None:
        """A stream that broke off must not pass for a short history."""
        first = project.commit("first", a="1")
        project.commit("second", a="2")
        project.commit("third", a="3")
        project.commit("fourth", a="4")
        tree = project.git("rev-parse", f"{first}^{{tree}}")
        (Path(project.git_dir) / "objects" / tree[:2] / tree[2:]).unlink()
        seen = []
        with pytest.raises(GitFailed, match="could not read the history"):
            seen.extend(commit.subject for commit in commits(str(project)))
        stream = commits(str(project))
        assert next(stream).subject == "fourth"
        with pytest.raises(GitFailed):
            list(stream)

    def test_a_missing_content_costs_renames_and_no_commit(self, project: Repository) -> None:
        """git gives up over it; the rest of the history is then read with exact renames."""
        project.commit("add", one=TEXT, two=TEXT.upper())
        project.git("mv", "one", "one2")
        project.git("mv", "two", "two2")
        project.write("two2", TEXT.upper() + "edited")
        project.commit("move")
        project.git("mv", "two2", "two3")
        project.write("two3", TEXT.upper() + "edited again")
        project.commit("move again")
        project.commit("last")
        blob = project.git("rev-parse", "HEAD~3:two")
        (Path(project.git_dir) / "objects" / blob[:2] / blob[2:]).unlink()
        assert project.git("log", "-M", "--name-status", "HEAD", check=False).count("\ncommit ") < 3
        found = changes(project)
        assert list(found) == ["last", "move again", "move", "add"]
        assert set(found["move"]) == {Change("R", "one2", "one"), Change("D", "two"), Change("A", "two2")}

    def test_a_stream_cut_inside_a_commit_does_not_yield_half_of_it(self, fake_git, tmp_path: Path) -> None:
        """The commit before it is whole and comes through."""
        one, two = "1" * 40, "2" * 40
        fields = f"{one}||1|1|one|\nM|a|{two}||1|1|two|\nM|a|M|b"
        fake_git(
            f'case "$*" in *batch-check*) read line; echo "{one} commit 1";;\n'
            f" *' log '*) printf '%s' '{fields}' | tr '|' '\\0'; exit 3;; esac"
        )
        stream = commits(str(tmp_path))
        assert next(stream).changes == (Change("M", "a"),)
        with pytest.raises(GitFailed, match="exit code 3"):
            next(stream)

    def test_git_writes_on_while_its_reader_is_busy(self, fake_git, tmp_path: Path) -> None:
        """What a pipe does not hold is taken in meanwhile, up to a bound; all of it comes out in the end."""
        trace = fake_git(
            "head -c 3000000 /dev/zero | tr '\\0' 'x'; printf '\\0'; : >\"$trace/written\"; printf 'last\\0'"
        )
        fields = stream.fields_of(["log"], str(tmp_path))
        first = threading.Thread(target=lambda: got.append(next(fields)))
        got: list[str] = []
        first.start()
        for _ in range(1_000):
            if (trace / "written").exists():
                break
            first.join(0.01)
        first.join()
        assert (trace / "written").exists()
        assert [len(got[0]), *fields] == [3_000_000, "last"]

    def test_a_reader_that_stops_early_lets_its_thread_go(self, fake_git, tmp_path: Path) -> None:
        """Positive control: the thread is there while git writes more than may wait."""
        fake_git("while :; do head -c 4000000 /dev/zero; done")

        def reading() -> list[threading.Thread]:
            return [thread for thread in threading.enumerate() if thread.name == "reads git"]

        fields = stream.fields_of(["log"], str(tmp_path))
        assert next(fields) == ""
        assert reading()
        fields.close()
        for thread in reading():
            thread.join(10)
        assert not reading()

    def test_a_reader_that_stops_early_ends_git(self, fake_git, tmp_path: Path) -> None:
        """No process is left behind the stream."""
        one = "1" * 40
        trace = fake_git(
            'case "$*" in *batch-check*) read line; echo "' + one + ' commit 1";;\n'
            f" *' log '*) echo $$ >\"$trace/pid\"; while :; do printf '{one}\\0\\0001\\0001\\0one\\0'; done;; esac"
        )
        stream = commits(str(tmp_path))
        assert next(stream).sha == one
        stream.close()
        with pytest.raises(ProcessLookupError):
            os.kill(int((trace / "pid").read_text()), 0)


def test_fields_that_span_chunks_are_joined(project: Repository, monkeypatch) -> None:
    """The same commits come out whatever the size of a read, multi-byte characters included."""
    project.commit("grün 日本", **{"日本": "1", "b": "2"})
    project.commit("x" * 300, b="3")
    expected = list(commits(str(project)))
    for size in (1, 2, 3, 7, 64):
        monkeypatch.setattr(stream, "_PIPE", size)
        assert list(commits(str(project))) == expected
