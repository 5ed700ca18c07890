"""Two processes refresh while a third asks in a loop: no error, no answer from half a history."""

import subprocess
import sys
from pathlib import Path

from tests.project.history.sources import Sources

REFRESH = """
import sys
from backstory.project.refresh import open_project
from backstory.project.history.refresh import refresh
for turn in range(int(sys.argv[2])):
    with open_project(sys.argv[1]) as project:
        refresh(project, rebuild=turn % 2 == 1)
    print("done", flush=True)
"""
ASK = """
import sys, time
from backstory.history import store
from backstory.project.refresh import open_project
with open_project(sys.argv[1]) as project:
    folder = project.config.places.history_dir
until = time.monotonic() + float(sys.argv[2])
asked = 0
while time.monotonic() < until:
    reader = store.open_reader(folder)
    commits, files, tickets = reader.execute(
        "SELECT (SELECT count(*) FROM commits), (SELECT count(*) FROM commit_files), (SELECT count(*) FROM tickets)"
    ).fetchone()
    reader.close()
    assert commits >= 12 and files >= 10 and tickets == 1, (commits, files, tickets)
    asked += 1
print(asked)
"""


def _start(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_two_refresh_while_a_third_asks(sources: Sources) -> None:
    for number in range(10):
        sources.commit(f"Change {number}", **{f"src__f{number}_py": "x = 1\n"})
    sources.refresh()
    root = str(sources.root)
    asking = _start(ASK, root, "6")
    refreshing = [_start(REFRESH, root, "3") for _ in range(2)]
    for number in range(3):
        sources.commit(f"Meanwhile {number}", src__other_py=f"y = {number}\n")
    for process in (*refreshing, asking):
        out, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
        assert out.strip()
    sources.refresh()
    hashes = sources.hashes()
    sources.refresh(rebuild=True)
    assert sources.hashes() == hashes
    assert len([path for path in Path(sources.folder).iterdir() if path.suffix == ".duckdb"]) == 1


def test_one_that_records_does_not_wait_for_a_refresh(sources: Sources) -> None:
    for number in range(30):
        sources.commit(f"Change {number}")
    process = _start(REFRESH, str(sources.root), "4")
    noted = [sources.add("note", f"Meanwhile {number}") for number in range(5)]
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0 and out.count("done") == 4, err
    sources.refresh()
    found = {row[0] for row in sources.rows("SELECT id FROM entries WHERE source = 'log'")}
    assert found == set(noted)
