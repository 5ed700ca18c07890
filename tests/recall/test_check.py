"""The check finds what was tried before, and is quiet about everything else."""

import pytest

from backstory.index import failed
from backstory.recall import check
from backstory.recall.check import Change, Patch, like_failed, present_names
from backstory.records.likeness import line_hashes
from tests.project.memory import DAY, Memory

BODY = "".join(f"def cached_answer_number_{number}(key):\n    return table[{number}]\n" for number in range(4))


def reverted(memory: Memory, subject: str = "Cache the parsed answers", path: str = "src/cache.py") -> None:
    """A commit and its revert, read into the memory."""
    from backstory.project.history.refresh import refresh

    memory.put(path, "# nothing yet\n")
    memory.commit("Begin")
    memory.put(path, BODY)
    made = memory.commit(subject)
    memory.put(path, "# nothing yet\n")
    memory.commit(f'Revert "{subject}"\n\nThis reverts commit {made}.\n\nIt went stale under load.')
    with memory.open() as project:
        refresh(project)


def named(memory: Memory, change: Change, days: float = 0.0) -> list[tuple[str, str]]:
    with memory.open() as project:
        found = like_failed(project.db, change, project.now + int(days * DAY))
        query = "SELECT summary FROM entries WHERE entry = ?"
        return [(project.db.execute(query, (match.entry,)).fetchone()[0], match.by) for match in found]


def test_a_shared_file_alone_never_warns_and_the_patch_does(memory: Memory) -> None:
    reverted(memory)
    assert named(memory, Change(["src/cache.py"])) == []
    assert named(memory, Change(["src/cache.py"], "Document the module")) == []
    back = Patch(line_hashes(BODY.splitlines()))
    ((line, by),) = named(memory, Change(["src/cache.py"], patch=back))
    assert line.startswith("Backed out: Cache the parsed answers") and by == "patch"


def test_the_same_lines_in_another_file_are_another_matter(memory: Memory) -> None:
    reverted(memory)
    back = Patch(line_hashes(BODY.splitlines()))
    assert named(memory, Change(["src/other.py"], patch=back)) == []
    assert named(memory, Change(["src/other.py", "src/cache.py"], patch=back)) != []


def test_the_same_words_for_the_same_file_warn_without_a_patch(memory: Memory) -> None:
    reverted(memory)
    assert [by for _, by in named(memory, Change(["src/cache.py"], "Caching of parsed answers, take 2"))] == ["words"]
    assert named(memory, Change(["src/other.py"], "Caching of parsed answers, take 2")) == []
    assert named(memory, Change(["src/cache.py"], "Answers to the questions of the new parser tests")) == []


def test_words_alone_count_for_three_months_and_lines_for_ever(memory: Memory) -> None:
    reverted(memory)
    words, lines = "Cache the parsed answers", Patch(line_hashes(BODY.splitlines()))
    assert named(memory, Change(["src/cache.py"], words), days=80) != []
    assert named(memory, Change(["src/cache.py"], words), days=100) == []
    assert named(memory, Change(["src/cache.py"], patch=lines), days=1_000) != []


def test_a_few_common_lines_do_not_make_a_patch_come_back(memory: Memory) -> None:
    reverted(memory)
    some = BODY.splitlines()[:2] + [f"something_else_entirely({number})" for number in range(30)]
    assert named(memory, Change(["src/cache.py"], patch=Patch(line_hashes(some)))) == []
    most = BODY.splitlines()[:6]
    assert named(memory, Change(["src/cache.py"], patch=Patch(line_hashes(most)))) != []


def test_one_line_needs_the_words_too(memory: Memory) -> None:
    from backstory.project.history.refresh import refresh

    memory.put("ci.yml", "image: freebsd-12\n")
    memory.commit("Begin")
    memory.put("ci.yml", "image: freebsd-thirteen\n")
    made = memory.commit("Test on the newer FreeBSD")
    memory.put("ci.yml", "image: freebsd-12\n")
    memory.commit(f'Revert "Test on the newer FreeBSD"\n\nThis reverts commit {made}.')
    with memory.open() as project:
        refresh(project)
    line = Patch(line_hashes(["image: freebsd-thirteen"]))
    assert named(memory, Change(["ci.yml"], "Rotate the keys", line)) == []
    assert named(memory, Change(["ci.yml"], "Test with the newer FreeBSD image", line)) != []


def test_a_chore_that_comes_back_each_week_warns_nobody(memory: Memory) -> None:
    for number in range(4):
        memory.put("deps.txt", f"typeshed at revision number {number}\n" * 5)
        memory.commit("Sync typeshed")
    reverted(memory, "Sync typeshed", "deps.txt")
    assert named(memory, Change(["deps.txt"], "Sync typeshed")) == []
    reverted(memory, "Sync the stubs by hand", "deps.txt")
    assert named(memory, Change(["deps.txt"], "Sync the stubs by hand")) != []


def test_what_was_withdrawn_or_worked_warns_no_more(memory: Memory) -> None:
    trial = memory.add("trial", "Two writers with a retry", outcome="failed", files=["src/db.py"])
    change = Change(["src/db.py"], "Two writers with retry")
    assert named(memory, change) != []
    memory.act("retire", trial)
    assert named(memory, change) == []
    memory.add("trial", "Three writers with a lock", outcome="worked", files=["src/db.py"])
    assert named(memory, Change(["src/db.py"], "Three writers with a lock")) == []


def test_a_rename_is_followed(memory: Memory) -> None:
    reverted(memory)
    memory.git("mv", "src/cache.py", "src/store.py")
    memory.commit("Rename the cache")
    lines = Patch(line_hashes(BODY.splitlines()))
    with memory.open() as project:
        from backstory.project.history.refresh import refresh

        refresh(project, rebuild=True)
    assert named(memory, Change(["src/store.py"], patch=lines)) != []


def test_names_are_followed_in_circles_without_end(memory: Memory) -> None:
    memory.add("note", "About it", files=["README.md"])
    with memory.open() as project:
        project.db.executemany("INSERT INTO renames VALUES (?, ?, ?)", [("a", "b", 1), ("b", "a", 2), ("x", "y", 3)])
        names = present_names(project.db, ["x", "README.md", "unknown", "a"])
        assert (names["x"], names["README.md"], names["unknown"]) == ("y", "README.md", "unknown")
        assert names["a"] in ("a", "b")


def test_at_most_three_are_named_the_surest_first(memory: Memory) -> None:
    for number in range(5):
        memory.add("trial", f"Cache parsed answers variant{'abcde'[number]}", outcome="failed", files=["src/db.py"])
    found = named(memory, Change(["src/db.py"], "Cache parsed answers varianta"))
    assert 1 <= len(found) <= check.BEST
    assert "varianta" in found[0][0]


def test_what_is_looked_up_follows_the_entries(memory: Memory) -> None:
    reverted(memory)
    with memory.open() as project:
        counts = [project.db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in _TABLES]
        assert all(counts)
        (entry,) = project.db.execute("SELECT entry FROM failed").fetchone()
        failed.forget(project.db, entry)
        assert [project.db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in _TABLES] == [0, 0, 0]


_TABLES = ("failed", "failed_words", "failed_lines")


@pytest.mark.parametrize("intent", ["", "   ", "\0\n", "#12", "(" * 5_000, "日本語" * 500])
def test_no_intent_is_too_odd(memory: Memory, intent: str) -> None:
    reverted(memory)
    assert named(memory, Change(["src/cache.py", "", "../x", "a" * 5_000], intent)) == []
