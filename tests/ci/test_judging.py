"""The check of a branch: what the memory says about it, the anchors that it breaks, and the reports."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from backstory.errors import BackstoryError
from backstory.project.checking import Checked
from backstory.project.ci.judging import judge, write
from tests.project.memory import PERSON, Memory

LOAD = "def load(path):\n    text = open(path).read()\n    return text.strip()\n"


def asked(memory: Memory, base: str = "main") -> Checked:
    memory.tick()
    with memory.open() as project:
        return judge(project, base)


@pytest.fixture
def branch(memory: Memory) -> Memory:
    """A branch that took the ground from under one decision; another one, pinned and confirmed, is next."""
    memory.put("src/store.py", LOAD)
    memory.put("src/other.py", LOAD)
    memory.commit("code")
    memory.add("decision", "Load strips the text", files=["src/store.py#load"])
    pinned = memory.add("decision", "Other loads too", PERSON, files=["src/other.py#load"], pinned=True)
    memory.act("confirm", pinned)
    memory.commit("decisions")
    memory.git("switch", "-q", "-c", "feature")
    memory.put("src/store.py", "nothing = 1\n")
    memory.commit("away with it")
    return memory


def test_a_broken_anchor_is_a_warning_and_an_intact_branch_passes(branch: Memory) -> None:
    found = asked(branch)
    [broken] = [one for one in found.findings if one.level == "warn"]
    assert "Load strips the text" in broken.text and "anchor: load is gone" in broken.why
    assert broken.files == ("src/store.py",) and found.reaches("warn")
    assert not asked(branch).reaches("block")
    branch.put("src/store.py", LOAD)
    branch.commit("back again")
    calm = asked(branch)
    assert not calm.reaches("warn") and not [one for one in calm.findings if one.level != "info"]


def test_what_a_person_pinned_and_confirmed_is_at_block_level(branch: Memory) -> None:
    branch.put("src/other.py", "nothing = 1\n")
    branch.commit("that too")
    found = asked(branch)
    assert found.reaches("block") and found.findings[0].level == "block" and "Other loads too" in found.findings[0].text
    assert len([one for one in found.findings if one.level == "warn"]) == 1


def test_a_fresh_clone_warns_of_what_was_backed_out(memory: Memory) -> None:
    lines = [
        "first = open(path).read(4096)",
        "second = open(path).read()",
        "both = first + second",
        "return both.strip()",
    ]
    tried = "def load(path):\n" + "".join(f"    {line}\n" for line in lines)
    memory.put("src/store.py", LOAD)
    memory.commit("code")
    memory.put("src/store.py", tried)
    memory.commit("Read in two steps")
    memory.git("revert", "--no-edit", "HEAD")
    memory.git("switch", "-q", "-c", "feature")
    memory.put("src/store.py", LOAD + "# more\n")
    memory.commit("Say more")
    assert asked(memory).findings == ()
    memory.put("src/store.py", tried)
    memory.commit("A better way")
    [warning] = asked(memory).findings
    assert warning.level == "warn" and "backed out" in warning.text and "Read in two steps" in warning.text


def test_the_reports_are_written_where_they_are_asked_for(branch: Memory, tmp_path: Path) -> None:
    names = {"markdown": "a b/comment.md", "sarif": "x.sarif", "junit": ""}
    paths = {form: str(tmp_path / name) if name else "" for form, name in names.items()}
    found = asked(branch)
    assert write(found, paths) == (paths["markdown"], paths["sarif"])
    assert "Load strips the text" in Path(paths["markdown"]).read_text(encoding="utf-8")
    assert json.loads(Path(paths["sarif"]).read_text())["runs"][0]["results"]
    write(found, {"junit": str(tmp_path / "x.xml")})
    assert ElementTree.parse(tmp_path / "x.xml").getroot().get("failures") == "1"
    with pytest.raises(BackstoryError, match="cannot be written"):
        write(found, {"sarif": str(tmp_path)})


def test_an_unknown_base_and_a_damaged_memory_are_told(branch: Memory, tmp_path: Path) -> None:
    with pytest.raises(BackstoryError, match="git knows no commit"):
        asked(branch, base="nowhere")
    assert asked(branch).problems == ()
    [shard, *_] = (branch.root / ".backstory/log").glob("*.jsonl")
    shard.write_bytes(shard.read_bytes().replace(b"Load strips", b"Load keeps "))
    report = tmp_path / "x.sarif"
    found = asked(branch)
    write(found, {"sarif": str(report)})
    assert found.problems
    assert json.loads(report.read_text())["runs"][0]["invocations"][0]["executionSuccessful"] is False
