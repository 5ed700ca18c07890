"""What an entry rests on is followed when a rebase or an amendment replaces its commit."""

from backstory.project.git_hooks import rewritten
from backstory.recall.view import by_ids
from tests.project.memory import Memory


def evidence(memory: Memory, id_: str) -> tuple[str, ...]:
    with memory.open() as project:
        return by_ids(project.db, [id_], project.now)[id_].evidence


def test_the_commit_that_it_became_is_named(memory: Memory) -> None:
    old = memory.commit("Add", a_py="x = 1\n")
    id_ = memory.add("decision", "Keep it", commit=old)
    assert f"commit {old[:12]}" in evidence(memory, id_)
    memory.git("commit", "-q", "--amend", "-m", "Add it")
    new = memory.git("rev-parse", "HEAD")
    memory.git("commit", "-q", "--amend", "-m", "Add it well")
    last = memory.git("rev-parse", "HEAD")
    with memory.open() as project:
        folder = project.config.places.derived_dir
    rewritten.keep(folder, f"{old} {new}\n".encode())
    rewritten.keep(folder, f"{new} {last}\n".encode())
    memory.commit("Another", b_py="x = 2\n")
    assert f"commit {old[:12]}, now {last[:12]}" in evidence(memory, id_)
    assert rewritten.pairs(folder) == {old: last, new: last}


def test_a_circle_ends_and_rubbish_is_no_pair(memory: Memory) -> None:
    with memory.open() as project:
        folder = project.config.places.derived_dir
    a, b = "a" * 40, "b" * 40
    rewritten.keep(folder, f"{a} {b}\n{b} {a}\nnonsense\n{a} {a}\n".encode())
    assert set(rewritten.pairs(folder)) == {a, b}
