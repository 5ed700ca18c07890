"""The gate: decisions that cite a file of the change still point at something."""

from pathlib import Path

from backstory.project.ci.gate import BrokenAnchor, broken_anchors
from tests.project.memory import HOOK, Memory

LOAD = "def load(path):\n    text = open(path).read()\n    return text.strip()\n"
CODE = f"{LOAD}\n\ndef save(path, text):\n    open(path, 'w').write(text)\n"


def gate(memory: Memory, *files: str) -> tuple[BrokenAnchor, ...]:
    memory.tick()
    with memory.open() as project:
        return broken_anchors(project, files)


def test_an_anchor_that_the_change_breaks_is_found_and_an_intact_one_is_not(memory: Memory) -> None:
    memory.put("src/store.py", CODE)
    memory.commit("code")
    loads = memory.add("decision", "Load strips the text", files=["src/store.py#load"])
    memory.add("decision", "Save overwrites", files=["src/store.py#save"])
    memory.add("note", "A note on load", files=["src/store.py#load"])
    assert gate(memory, "src/store.py") == ()
    memory.put("src/store.py", CODE.replace(LOAD, ""))
    [broken] = gate(memory, "src/store.py", "README.md")
    assert (broken.id, broken.kind, broken.files) == (loads, "decision", ("src/store.py",))
    assert broken.why == "anchor: load is gone from src/store.py"
    assert gate(memory, "README.md") == ()
    memory.put("src/store.py", CODE)
    assert gate(memory, "src/store.py") == ()


def test_a_renamed_file_breaks_nothing_and_a_removed_one_does(memory: Memory) -> None:
    memory.put("src/store.py", CODE)
    memory.commit("code")
    id_ = memory.add("pattern", "Both ways are symmetric", files=["src/store.py:1-3"])
    memory.git("mv", "src/store.py", "src/disk.py")
    memory.commit("rename")
    assert gate(memory, "src/store.py", "src/disk.py") == ()
    (memory.root / "src/disk.py").unlink()
    memory.commit("remove")
    for name in ("src/store.py", "src/disk.py"):
        [broken] = gate(memory, name)
        assert broken.id == id_ and broken.why.startswith("gone: ")


def test_what_does_not_count_does_not_stop_anybody(memory: Memory) -> None:
    memory.put("src/store.py", CODE)
    memory.commit("code")
    retired = memory.add("decision", "Load strips", files=["src/store.py#load"])
    memory.act("retire", retired)
    memory.add("decision", "Proposed by capture", HOOK, files=["src/store.py#load"])
    old = memory.add("decision", "Save overwrites", files=["src/store.py#save"])
    memory.add("decision", "Save appends", supersedes=[old])
    live = memory.add("decision", "Text is stripped", files=["src/store.py#load"])
    memory.put("src/store.py", "nothing = 1\n")
    assert [broken.id for broken in gate(memory, "src/store.py")] == [live]
    memory.put("src/none.py", "x = 1\n")
    memory.add("decision", "No anchor, only a file", files=["src/none.py"])
    memory.put("src/none.py", "y = 2\n")
    assert gate(memory, "src/none.py") == ()


def test_many_files_and_odd_names_are_asked_for_at_once(memory: Memory, tmp_path: Path) -> None:
    memory.put("src/it's odd.py", CODE)
    memory.commit("code")
    memory.add("decision", "Odd", files=["src/it's odd.py#load"])
    memory.put("src/it's odd.py", "pass\n")
    names = [f"src/{number}.py" for number in range(2_000)]
    assert [broken.summary for broken in gate(memory, *names, "src/it's odd.py")] == ["Odd"]
    assert gate(memory) == ()
