"""A memory of the present, since the page reads the clock itself, and a visitor of its page."""

from pathlib import Path

import pytest

from backstory.project.opened import now_micros
from tests.project.memory import AGENT, DAY, HOOK, PERSON, Memory
from tests.web.client import Client


@pytest.fixture
def memory(repo: Path) -> Memory:
    """A memory that began two days ago."""
    found = Memory(repo)
    found.now = now_micros() - 2 * DAY
    found.commit("Start the memory", src__pool_py="x = 1\n", src__wal_py="y = 2\n")
    return found


@pytest.fixture
def page(memory: Memory) -> Client:
    """The page of that memory, started by a person."""
    return Client(str(memory.root), PERSON)


@pytest.fixture
def filled(memory: Memory) -> dict[str, str]:
    """Something of everything, by name: ids."""
    ids = {
        "decision": memory.add("decision", "Chose WAL mode", PERSON, rationale="readers go on", files=["src/wal.py"]),
        "trial": memory.add(
            "trial", "Pool of fifty", outcome="failed", failure_mode="no handles", files=["src/pool.py"]
        ),
        "hotfile": memory.add("hotfile", "Breaks the nightly", PERSON, path="src/pool.py"),
        "pattern": memory.add(
            "pattern", "Open, use, close", PERSON, name="short handles", description="no handle waits"
        ),
        "issue": memory.add("issue", "The nightly hangs", PERSON, location="src/pool.py"),
        "note": memory.add("note", "Кэш не очищается 缓存未清空", detail="one\n    indented"),
        "retired": memory.add("note", "An old remark"),
        "rejected": memory.add("decision", "Use a global lock"),
        "proposed": memory.add("decision", "Log in UTC alone", HOOK),
    }
    issue = ids["issue"]
    ids["hypothesis"] = memory.add("hypothesis", "Two lock orders", issue=issue)
    ids["worked"] = memory.add("trial", "Sort the locks", outcome="worked", issue=issue, files=["src/pool.py"])
    ids["fix"] = memory.add("fix", "Locks in order of ids", PERSON, issue=issue, location="src/pool.py")
    ids["old"] = memory.add("decision", "Deploy on Friday", AGENT)
    ids["new"] = memory.add("decision", "Deploy on Monday", AGENT, supersedes=[ids["old"]])
    memory.act("retire", ids["retired"], AGENT, reason="over and done")
    memory.act("reject", ids["rejected"], PERSON, reason="it deadlocked")
    return ids
