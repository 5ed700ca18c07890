"""What commits added and removed, for any number of them by one process."""

import subprocess
from pathlib import Path

import pytest

from backstory.sources.git import patches as module
from backstory.sources.git.patches import patches


def _git(repo: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=repo, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return done.stdout.decode().strip()


def _commit(repo: Path, files: dict[str, bytes]) -> str:
    for name, data in files.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_bytes(data)
    _git(repo, "add", "-A")
    _git(repo, "commit", "-q", "--allow-empty", "-m", "Change")
    return _git(repo, "rev-parse", "HEAD")


def test_added_and_removed_lines_of_each_commit(repo: Path) -> None:
    first = _commit(repo, {"a.py": b"one\ntwo\nthree\n"})
    second = _commit(repo, {"a.py": b"one\n2\nthree\n", "b.py": b"new\n"})
    found = {sha: (added, removed) for sha, added, removed in patches(str(repo), [second, first, second])}
    assert found == {first: (["one", "two", "three"], []), second: (["2", "new"], ["two"])}


def test_lines_that_look_like_headers_are_lines(repo: Path) -> None:
    sha = _commit(repo, {"a.txt": b"-- old\n"})
    other = _commit(repo, {"a.txt": b"++ new\n@@ -1 +1 @@\ndiff --git a/x b/x\n" + sha.encode() + b"\n"})
    found = {commit: (added, removed) for commit, added, removed in patches(str(repo), [other])}
    assert found == {other: (["++ new", "@@ -1 +1 @@", "diff --git a/x b/x", sha], ["-- old"])}


def test_the_first_commit_a_rename_a_binary_file_and_an_empty_commit(repo: Path) -> None:
    root = _git(repo, "rev-list", "--max-parents=0", "HEAD")
    _commit(repo, {"old.py": b"line\n" * 30, "image": b"\0\1\2"})
    _git(repo, "mv", "old.py", "new.py")
    renamed = _commit(repo, {})
    empty = _commit(repo, {})
    found = {sha: added for sha, added, _ in patches(str(repo), [root, renamed, empty])}
    assert found[root] == ["# A project"]
    assert found.get(renamed, []) == [] and found.get(empty, []) == []


def test_unknown_commits_and_nothing_asked_give_nothing(repo: Path) -> None:
    known = _commit(repo, {"a": b"line\n"})
    assert list(patches(str(repo), [])) == []
    assert [sha for sha, *_ in patches(str(repo), ["0" * 40, known])] == [known]


def test_a_huge_commit_is_read_in_part(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LINES", 10)
    sha = _commit(repo, {"big": b"".join(b"line %d\n" % number for number in range(1000))})
    ((_, added, _),) = patches(str(repo), [sha])
    assert len(added) == 10


def test_bytes_that_are_no_text_and_line_ends_of_windows(repo: Path) -> None:
    sha = _commit(repo, {"a": b"caf\xe9\r\nnext\r\n"})
    ((_, added, _),) = patches(str(repo), [sha])
    assert added == ["caf\ufffd", "next"]
