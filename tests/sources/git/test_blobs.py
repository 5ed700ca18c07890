"""Contents, tracked files and settings."""

import os
from pathlib import Path

import pytest

from backstory.sources.git import blobs
from backstory.sources.git.blobs import blob_known, show, tracked, user_email, user_name

from .conftest import Repository, make


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_a_content_is_known_once_git_holds_it(tmp_path: Path, kind: str) -> None:
    """Staged is enough, and it stays known after the file changed; asking stores nothing."""
    project = make(tmp_path / "project", f"--object-format={kind}")
    assert not blob_known(str(project), b"text\r\n\xff\0")
    assert not blob_known(str(project), b"text\r\n\xff\0")
    project.write("file", b"text\r\n\xff\0")
    project.git("add", "file")
    assert blob_known(str(project), b"text\r\n\xff\0")
    project.commit(file="other")
    assert blob_known(str(project), b"text\r\n\xff\0")
    assert not blob_known(str(project), b"text\n\xff\0")
    assert not blob_known(str(project), b"")


def test_a_content_that_is_no_blob_here_is_not_known(project: Repository, clone, tmp_path: Path) -> None:
    """A blob that a partial clone left out, and any content where there is no repository."""
    project.commit(file="text")
    partial = clone(project, "--filter=blob:none", "--no-checkout")
    assert blob_known(str(project), b"text")
    assert not blob_known(str(partial), b"text")
    assert show(str(partial), "HEAD:file") is None
    assert not blob_known(str(tmp_path), b"text")


def test_show_gives_the_content_of_a_version(project: Repository) -> None:
    """By commit, from the index, or by id; None for what is not there."""
    first = project.commit(file="one")
    project.commit(file="two")
    project.write("file", "three")
    project.git("add", "file")
    root = str(project)
    assert show(root, f"{first}:file") == b"one"
    assert show(root, "HEAD:file") == b"two"
    assert show(root, ":file") == b"three"
    assert show(root, project.git("rev-parse", "HEAD:file")) == b"two"
    for name in ("HEAD:nowhere", "HEAD:", "HEAD", "nowhere:file", "--batch", "-p", "", "HEAD:a\0b"):
        assert show(root, name) is None, name
    assert show(root, "HEAD:file", limit=3) == b"two"
    assert show(root, "HEAD:file", limit=2) is None


@pytest.mark.skipif(os.name == "nt", reason="the system refuses such names")
def test_odd_names(project: Repository) -> None:
    """Patterns, line breaks, dashes and bytes that are not UTF-8 are plain names."""
    names = ["*", "a[b]", ":(top)x", "line\nbreak", "-dash", "grün", "latin-\udce9", 'quo"te']
    for name in names:
        project.write(name, name.encode("utf-8", "surrogateescape"))
    project.commit()
    assert tracked(str(project), [*names, "a", "b"]) == set(names)
    for name in names:
        assert show(str(project), f"HEAD:{name}") == name.encode("utf-8", "surrogateescape")


def test_tracked_are_files_in_the_index(project: Repository, tmp_path: Path) -> None:
    """Not folders, not new files, nothing outside; removed from disk is still tracked."""
    project.commit(a="1", **{"sub/b": "1", "__gitignore": "ignored"})
    project.write("new", "1")
    project.write("ignored", "1")
    (project.root / "a").unlink()
    odd = ["sub", "sub/", "new", "ignored", "", "../project/a", "/etc/hosts", str(project.root / "a"), "A/../a"]
    assert tracked(str(project), ["a", "sub/b", *odd]) == {"a", "sub/b"}
    assert tracked(str(project.root / "sub"), ["b", "a"]) == {"b"}
    assert tracked(str(project), []) == set()
    assert tracked(str(tmp_path), ["a"]) == set()


def test_any_number_of_paths(project: Repository, monkeypatch) -> None:
    """More than a command line holds."""
    project.commit(**{f"file{number}": "1" for number in range(20)})
    paths = [f"file{number}" for number in range(20_000)]
    assert len(tracked(str(project), paths)) == 20
    monkeypatch.setattr(blobs, "_ARGUMENTS", 1)
    assert len(tracked(str(project), paths[:30])) == 20


def test_the_person_that_git_knows(project: Repository, monkeypatch) -> None:
    """The repository's own setting wins; an empty or missing one is None."""
    assert user_name(str(project)) == "Test Person"
    project.git("config", "user.name", "Ünï  ")
    project.git("config", "user.email", "")
    assert user_name(str(project)) == "Ünï"
    assert user_email(str(project)) is None
    project.git("config", "--unset", "user.email")
    assert user_email(str(project)) == "person@example.org"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    assert user_email(str(project)) is None
