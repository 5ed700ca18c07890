"""What is about to change: staged, in the work tree, on a branch, or in a diff that is handed over."""

import pytest

from backstory.errors import BackstoryError
from backstory.project import changes
from backstory.records.likeness import line_hashes
from tests.project.memory import Memory


def test_staged_is_what_a_commit_would_take(memory: Memory) -> None:
    memory.put("a.py", "first_line_of_a = 1\n")
    memory.git("add", "a.py")
    memory.put("b.py", "first_line_of_b = 1\n")
    found = changes.staged(str(memory.root))
    assert found.paths == ("a.py",)
    assert found.lines == line_hashes(["first_line_of_a = 1"])


def test_inside_a_hook_it_is_the_index_of_that_commit(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.put("a.py", "first_line_of_a = 1\n")
    index = memory.root / ".git" / "index-of-a-commit"
    monkeypatch.setenv("GIT_INDEX_FILE", str(index))
    memory.git("read-tree", "HEAD")
    memory.git("add", "a.py")
    assert changes.staged(str(memory.root)).paths == ("a.py",)
    assert changes.staged(str(memory.root)).lines == line_hashes(["first_line_of_a = 1"])
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert changes.staged(str(memory.root)) == changes.Changes()


def test_the_work_tree_is_all_that_differs(memory: Memory) -> None:
    memory.put("README.md", "# Another project\n")
    memory.put("new file.py", "x = 1\n")
    found = changes.working(str(memory.root))
    assert set(found.paths) == {"README.md", "new file.py"}
    assert found.lines == line_hashes(["# Another project"])


def test_both_names_of_a_rename_are_named(memory: Memory) -> None:
    memory.commit("Add", a_py="line number one\nline number two\nline number three\n")
    memory.git("mv", "a.py", "b.py")
    assert set(changes.staged(str(memory.root)).paths) == {"a.py", "b.py"}


def test_a_branch_is_held_against_where_it_left(memory: Memory) -> None:
    base = memory.git("rev-parse", "HEAD")
    memory.git("checkout", "-q", "-b", "feature")
    memory.commit("Mine", mine_py="the_line_of_mine = 1\n")
    found = changes.since(str(memory.root), base)
    assert found.paths == ("mine.py",) and found.lines == line_hashes(["the_line_of_mine = 1"])
    for wrong in ("nowhere", "--output=x", ""):
        with pytest.raises(BackstoryError, match="knows no commit"):
            changes.since(str(memory.root), wrong)


def test_before_the_first_commit_there_are_changes_too(tmp_path, monkeypatch) -> None:
    import subprocess

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, stdin=subprocess.DEVNULL)
    (tmp_path / "a.py").write_text("the_first_line = 1\n")
    assert changes.working(str(tmp_path)).paths == ("a.py",)
    subprocess.run(["git", "add", "a.py"], cwd=tmp_path, check=True, stdin=subprocess.DEVNULL)
    assert changes.staged(str(tmp_path)).paths == ("a.py",)


GIT = """\
diff --git a/src/old.py b/src/new.py
similarity index 90%
rename from src/old.py
rename to src/new.py
--- a/src/old.py
+++ b/src/new.py
@@ -1,2 +1,3 @@
 kept line of the file
-the removed line
+the added line one
+--- this is no header
diff --git "a/gr\\303\\274n.py" "b/gr\\303\\274n.py"
--- "a/gr\\303\\274n.py"
+++ "b/gr\\303\\274n.py"
@@ -0,0 +1 @@
+another added line
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-its only line
"""
PLAIN = """\
--- src/plain.c\t2026-01-01 10:00:00
+++ src/plain.c\t2026-01-02 10:00:00
@@ -1 +1 @@
-int before;
+int afterwards;
"""


def test_a_diff_of_git_is_read_with_quotes_renames_and_lines_like_headers() -> None:
    found = changes.of_diff(GIT)
    assert set(found.paths) == {"src/old.py", "src/new.py", "grün.py", "gone.py"}
    assert found.lines == line_hashes(["the added line one", "--- this is no header", "another added line"])


def test_a_plain_diff_and_no_diff_at_all() -> None:
    assert changes.of_diff(PLAIN) == changes.Changes(("src/plain.c",), line_hashes(["int afterwards;"]))
    for text in ("", "hello\nworld\n", "@@ -1 +1 @@\n", "+++ \n", "@@ what @@\n+x\n"):
        assert changes.of_diff(text).paths == ()


def test_outside_of_git_one_sentence_says_so(tmp_path) -> None:
    with pytest.raises(BackstoryError, match="git could not say what changed"):
        changes.staged(str(tmp_path))
