"""Several sessions at once on one store, and an index that somebody else holds or that must first be made."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

from backstory.surfaces.mcp.replies import Reply
from tests.mcp.wire import Wire

Serve = Callable[..., Wire]
SERVERS, WRITES = 6, 15


def test_six_servers_that_write_at_once_lose_nothing(serve: Serve, project: Path) -> None:
    wires = [serve(project) for _ in range(SERVERS)]
    for wire in wires:
        wire.handshake()
    # Every request is sent before any answer is read, so that all six work at the same time.
    for number in range(WRITES):
        for name, wire in enumerate(wires):
            given = {"kind": "note", "summary": f"Server {name} writes remark number {number}"}
            params = {"name": "record_project_memory", "arguments": given}
            wire.send({"jsonrpc": "2.0", "id": f"w{number}", "method": "tools/call", "params": params})
    ids = set()
    for wire in wires:
        for _ in range(WRITES):
            result = wire.next()["result"]
            assert not result["isError"], result
            ids.add(result["structuredContent"]["id"])
    assert len(ids) == SERVERS * WRITES
    lines = [
        line for path in (project / ".backstory" / "log").glob("*.jsonl") for line in path.read_text().splitlines()
    ]
    assert {json.loads(line)["id"] for line in lines} == ids
    for name, wire in enumerate(wires):
        found = wire.ok("search_project_memory", query=f"server {name} remark", limit=50)["hits"]
        assert len([hit for hit in found if f"Server {name} " in hit["summary"]]) == WRITES
        assert "Traceback" not in wire.stderr


def test_an_index_held_by_another_process_is_said_and_nothing_is_lost(ask: Callable[..., Reply], project: Path) -> None:
    ask(project, "record_project_memory", kind="note", summary="Before the lock")
    index = project / ".git" / "backstory" / "index.sqlite"
    holder = sqlite3.connect(index, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        written = ask(project, "record_project_memory", kind="note", summary="Under the lock")
        assert not written.failed, written.text
        assert written.data["notices"], "that the index could not be used is said"
    finally:
        holder.execute("ROLLBACK")
        holder.close()
    found = ask(project, "get_project_memory").data
    assert [entry["summary"] for entry in found["entries"]] == ["Under the lock", "Before the lock"]
    assert "notices" not in found


def test_an_index_that_goes_or_changes_between_two_calls_is_made_anew(ask: Callable[..., Reply], project: Path) -> None:
    for number in range(30):
        ask(project, "record_project_memory", kind="note", summary=f"Remark {number} about subject {number}")
    index = project / ".git" / "backstory" / "index.sqlite"

    def delete() -> None:
        for path in index.parent.glob("index.sqlite*"):
            path.unlink()

    def scribble() -> None:
        index.write_bytes(b"no database at all" * 100)

    def exchange() -> None:
        delete()
        scribble()

    def upgrade() -> None:
        db = sqlite3.connect(index)
        db.execute("PRAGMA user_version=999")
        db.close()

    def clear() -> None:
        db = sqlite3.connect(index)
        db.execute("DELETE FROM entries")
        db.execute("DELETE FROM files")
        db.commit()
        db.close()

    before = ask(project, "get_project_memory").data["entries"]
    assert len(before) == 30
    # What is scribbled over may stand whole in the write-ahead log beside it; then there is nothing to say.
    for harm, said in ((delete, False), (scribble, None), (exchange, True), (upgrade, True), (clear, False)):
        harm()
        after = ask(project, "get_project_memory").data
        assert after["entries"] == before, harm.__name__
        assert said is None or bool(after.get("notices")) is said, (harm.__name__, after.get("notices"))
        again = ask(project, "record_project_memory", kind="note", summary=f"Remark after {harm.__name__}").data
        assert "notices" not in again, (harm.__name__, again)
        before = ask(project, "get_project_memory").data["entries"]
    shutil.rmtree(project / ".backstory" / "log")
    # Positive control: the log is what is read; without it in the tree its entries are no longer plain.
    assert ask(project, "get_project_memory").data["entries"] != before
