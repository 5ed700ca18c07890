"""Everything known about a path, and what it rests on."""

from backstory.project import answers
from tests.project.memory import HOOK, Memory


def test_a_file_answers_with_what_cites_it_what_was_withdrawn_and_its_neighbours(memory: Memory) -> None:
    memory.commit("Add files", src__a_py="x = 1\n", src__b_py="y = 1\n", src__deep__c_py="z = 1\n")
    live = memory.add("decision", "about a", files=["src/a.py"])
    proposed = memory.add("note", "perhaps about a", by=HOOK, files=["src/a.py"])
    retired = memory.add("note", "no longer about a", files=["src/a.py"])
    beside = memory.add("note", "about b", files=["src/b.py"])
    deeper = memory.add("note", "about c", files=["src/deep/c.py"])
    memory.act("retire", retired)
    with memory.open() as project:
        found = answers.why(project, "src/a.py")
        assert {item.id for item in found.entries} == {live, proposed}
        assert [item.id for item in found.withdrawn] == [retired]
        assert [item.id for item in found.folder] == [beside]
        assert (found.exists, found.known, found.formerly) == (True, True, ())
        assert f"session {found.entries[0].by['session']}" in found.entries[0].evidence
        folder = answers.why(project, "src")
        assert {item.id for item in folder.entries} == {live, proposed, beside, deeper}
        assert answers.why(project, "src/").path == "src"
        top = answers.why(project, ".")
        assert {item.id for item in top.entries} >= {live, deeper}


def test_an_unknown_path_says_that_nothing_is_known(memory: Memory) -> None:
    memory.put("lonely.py", "x = 1\n")
    with memory.open() as project:
        missing, present = answers.why(project, "nowhere/x.py"), answers.why(project, "lonely.py")
    assert (missing.exists, missing.known, missing.entries) == (False, False, ())
    assert (present.exists, present.known) == (True, False)
    memory.add("note", "about it", files=["lonely.py"])
    with memory.open() as project:
        assert answers.why(project, "lonely.py").known


def test_commits_since_the_oldest_entry_are_counted_under_every_name(memory: Memory) -> None:
    memory.commit("Add a", a_py="x = 1\n" * 20)
    memory.add("note", "about a", files=["a.py"])
    memory.commit("Change a", a_py="x = 1\n" * 20 + "y = 2\n")
    memory.git("mv", "a.py", "b.py")
    memory.commit("Move it")
    with memory.open() as project:
        found = answers.why(project, "b.py")
    assert found.commits == 2
    assert found.formerly == ("a.py",)
    assert len(found.entries) == 1
