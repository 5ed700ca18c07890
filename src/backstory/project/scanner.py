"""A second look for secrets, by a scanner of others where one is installed: betterleaks or gitleaks.

It reads the text of the entries, one per line, on its standard input; it is told to be silent about the values.
"""

from __future__ import annotations

import json
import shutil
import subprocess

import msgspec

from backstory.project.opened import Project
from backstory.records.codec import read_event
from backstory.records.event import Entry

SECONDS = 120
_COMMANDS = {
    "betterleaks": ["stdin", "--no-banner", "--jsonl", "--redact", "--exit-code", "0"],
    "gitleaks": ["stdin", "--no-banner", "--redact", "-f", "json", "-r", "-", "--exit-code", "0"],
}


class Scan(msgspec.Struct, frozen=True):
    """`tool` is "" when none is installed; `found` are (entry id, rule) pairs; `failed` says why it did not run."""

    tool: str = ""
    found: tuple[tuple[str, str], ...] = ()
    failed: str = ""


def scan(project: Project) -> Scan:
    """Scan the text of every event with the first scanner that is installed."""
    for tool, arguments in _COMMANDS.items():
        path = shutil.which(tool)
        if path:
            return _run(project, tool, [path, *arguments])
    return Scan()


def _run(project: Project, tool: str, command: list[str]) -> Scan:
    ids, texts = _texts(project)
    try:
        done = subprocess.run(
            command,
            input="\n".join(texts).encode("utf-8", "replace"),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Scan(tool, (), str(error))
    if done.returncode != 0:
        return Scan(tool, (), f"it ended with code {done.returncode}")
    try:
        findings = _findings(done.stdout)
    except (ValueError, TypeError, AttributeError) as error:
        return Scan(tool, (), f"its output is not understood ({error})")
    found = {(ids[line - 1], rule) for line, rule in findings if 0 < line <= len(ids)}
    return Scan(tool, tuple(sorted(found)))


def _texts(project: Project) -> tuple[list[str], list[str]]:
    """One line of text per entry, and the id that it belongs to."""
    ids, texts = [], []
    rows = project.db.execute(
        "SELECT v.id, v.body FROM events AS v JOIN entries AS e ON e.entry = v.event"
        " WHERE e.source = 'log' ORDER BY v.id"
    )
    for id_, body in rows:
        entry = read_event(body.encode("utf-8", "surrogatepass"))
        if isinstance(entry, Entry):
            ids.append(id_)
            texts.append(" ".join(" ".join(entry.prose().values()).split()))
    return ids, texts


def _findings(out: bytes) -> list[tuple[int, str]]:
    """(line, rule) of each finding: betterleaks writes an object a line, gitleaks one list."""
    text = out.decode("utf-8", "replace").strip()
    items = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines() if line]
    found = []
    for item in items:
        if item is None:  # gitleaks writes null for an empty list
            continue
        inner = item.get("finding", item)
        line = inner.get("location", {}).get("start_line") or inner.get("StartLine") or inner.get("start_line")
        if line:
            found.append((int(line), str(inner.get("rule_id") or inner.get("RuleID"))))
    return found
