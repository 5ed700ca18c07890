"""The hook that a session waits for at its start, as a whole process."""

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backstory.config import load
from benchmarks.bench import HOOK, Bench
from benchmarks.measure import Command, Failed, Usage, cpu, interleave, run
from benchmarks.report import Part, Row, say

BAR = 3.5
# The notes of one file, and the look for a failed patch in an edit.
NOTES_BAR = 2.8


def measure(bench: Bench) -> Part:
    """Against the bare interpreter, with a warm index; git is called once for the working set."""
    part = Part(
        "The hook at session start",
        "`python -I -S src/backstory/surfaces/hooks/entry.py claude-code SessionStart` with what Claude Code sends on"
        " stdin, against `python -I -S -c pass`, against the same with `sqlite3` imported, and against the one call of"
        " `git status` that it makes.",
    )
    ratio = Row("SessionStart, whole process", "times `-c pass`", f"<= {BAR} x, flat", BAR, flat=True)
    floor = Row("`import sqlite3` alone", "times `-c pass`")
    aged = Row("SessionStart, entries aged since the refresh", "times `-c pass`", ratio.bar, BAR, flat=True)
    notes = Row(
        "PostToolUse of a Read, whole process", "times `-c pass`", f"<= {NOTES_BAR} x, flat", NOTES_BAR, flat=True
    )
    edit = Row(
        "PostToolUse of an Edit, whole process", "times `-c pass`", f"<= {NOTES_BAR} x, flat", NOTES_BAR, flat=True
    )
    took, git, bare = Row("SessionStart", "ms CPU"), Row("`git status` alone", "ms CPU"), Row("`-c pass`", "ms CPU")
    waited = Row("SessionStart, start to end", "times `-c pass`")
    for size in bench.sizes:
        say(f"hook at {size:,}")
        commands = _commands(bench, size)
        _check(run(commands[0]))
        found = interleave(commands, 2 * bench.rounds)
        took.measured[size] = cpu(found["hook"])
        bare.measured[size], git.measured[size] = cpu(found["pass"]), cpu(found["git"])
        ratio.measured[size] = cpu(found["hook"]) / cpu(found["pass"])
        floor.measured[size] = cpu(found["sqlite3"]) / cpu(found["pass"])
        notes.measured[size] = cpu(found["read"]) / cpu(found["pass"])
        edit.measured[size] = cpu(found["edit"]) / cpu(found["pass"])
        waited.measured[size] = _wall_ratio(found)
        with _aged(bench.project(size).root):
            found = interleave(commands[:2], bench.rounds)
        aged.measured[size] = cpu(found["hook"]) / cpu(found["pass"])
    part.rows = [ratio, aged, notes, edit, took, bare, git, floor, waited]
    return part


@contextmanager
def _aged(root: Path) -> Iterator[None]:
    """As if so much time had gone by that the figures about age, kept with the index, hold no longer."""
    with sqlite3.connect(load(str(root)).places.index_path) as db:
        (known,) = db.execute("SELECT value FROM index_meta WHERE key = 'stale_until'").fetchone()
        db.execute("UPDATE index_meta SET value = '0' WHERE key = 'stale_until'")
    try:
        yield
    finally:
        db.execute("UPDATE index_meta SET value = ? WHERE key = 'stale_until'", (known,))
        db.commit()
        db.close()


def _wall_ratio(found: dict[str, list[Usage]]) -> float:
    quickest = {name: min(usage.wall for usage in usages) for name, usages in found.items()}
    return quickest["hook"] / quickest["pass"]


def _commands(bench: Bench, size: int) -> list[Command]:
    root = bench.project(size).root
    payload = {
        "session_id": "benchmark",
        "transcript_path": str(root / "transcript.jsonl"),
        "cwd": str(root),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    bare = [sys.executable, "-I", "-S"]
    return [
        Command("hook", [*bare, HOOK, "claude-code", "SessionStart"], root, json.dumps(payload).encode()),
        Command("pass", [*bare, "-c", "pass"], root),
        Command("sqlite3", [*bare, "-c", "import sqlite3"], root),
        Command("read", [*bare, HOOK, "claude-code", "PostToolUse"], root, _tool(bench, size, "Read")),
        Command("edit", [*bare, HOOK, "claude-code", "PostToolUse"], root, _tool(bench, size, "Edit")),
        Command("git", ["git", "--no-optional-locks", "status", "--porcelain=v1", "-z"], root),
    ]


def _tool(bench: Bench, size: int, tool: str) -> bytes:
    """What Claude Code sends after a tool; a session without a name is told everything each time."""
    root = bench.project(size).root
    with sqlite3.connect(load(str(root)).places.index_path) as db:
        query = "SELECT path FROM entry_files GROUP BY path ORDER BY count(*) DESC, path LIMIT 1"
        (path,) = db.execute(query).fetchone()
    added = "".join(f"    value_{number} = compute_something({number})\n" for number in range(40))
    given = {"file_path": str(root / path), "old_string": "x", "new_string": added}
    payload = {"session_id": "", "cwd": str(root), "hook_event_name": "PostToolUse", "tool_name": tool}
    return json.dumps({**payload, "tool_input": given}).encode()


def _check(usage: Usage) -> None:
    """The hook exits with 0 whatever happens: only its answer shows that it did its work."""
    try:
        text = json.loads(usage.output)["hookSpecificOutput"]["additionalContext"]
    except (ValueError, KeyError) as error:
        raise Failed(f"the hook answered {usage.output[:200]!r}") from error
    if "<project-memory" not in text or "\n- " not in text:
        raise Failed(f"the hook gave no brief with entries: {text[:300]}")
