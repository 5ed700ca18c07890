"""A project with a memory in a real repository, and a clock of its own, for the tests of recall and the use cases."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from backstory.project import gateway, operations
from backstory.project.gateway import Outcome
from backstory.project.opened import Project
from backstory.project.refresh import open_project
from backstory.project.setup import init
from backstory.records.event import By
from backstory.records.ids import new_id
from backstory.records.times import format_instant

DAY = 86_400_000_000
SECOND = 1_000_000
# 2026-01-05T12:00:00Z, a Monday.
START = 1_767_614_400_000_000

PERSON = By(kind="person", name="Ada")
AGENT = By(kind="agent", name="claude-code", session="s-1")
OTHER_AGENT = By(kind="agent", name="claude-code", session="s-2")
HOOK = By(kind="hook", name="capture", session="s-1")
OTHER_HOOK = By(kind="hook", name="capture", session="s-2")
IMPORT = By(kind="import", name="notes")


class Memory:
    """The memory of the folder `root`. Every step moves the clock on by a second."""

    def __init__(self, root: Path, *, started: bool = False, private: bool = False, name: str = "demo") -> None:
        self.root, self.now = root, START
        if not started:
            init(str(root), name=name, private=private, now=self.now)

    def tick(self, days: float = 0.0) -> int:
        """Move the clock on and return it."""
        self.now += int(days * DAY) + SECOND
        return self.now

    def git(self, *arguments: str, check: bool = True) -> str:
        """Run git at the memory's time."""
        moment = f"{self.now // SECOND} +0000"
        env = {**os.environ, "GIT_COMMITTER_DATE": moment, "GIT_AUTHOR_DATE": moment}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env=env,
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert not check or done.returncode == 0, f"git {arguments}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def put(self, path: str, text: str) -> Path:
        """Write a file of the project."""
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8", newline="\n")
        return full

    def commit(self, message: str = "Change", /, **files: str) -> str:
        """Commit everything, `files` written first (`a__b` is `a/b`, `_py` the suffix)."""
        for name, text in files.items():
            self.put(name.replace("__", "/").replace("_py", ".py"), text)
        self.tick()
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def open(self, now: int | None = None) -> Project:
        """The open project at the memory's time; use it with `with`."""
        return open_project(str(self.root), now=self.now if now is None else now)

    def record(self, kind: str, summary: str, by: By = AGENT, *, cwd: str = "", **fields: Any) -> Outcome:
        """Write an entry through the gateway."""
        self.tick()
        with self.open() as project:
            return gateway.record(project, by, kind, {"summary": summary, **fields}, cwd=cwd)

    def add(self, kind: str, summary: str, by: By = AGENT, **fields: Any) -> str:
        """Write an entry and return its id."""
        outcome = self.record(kind, summary, by, **fields)
        assert outcome.status == "recorded", outcome
        return outcome.id

    def act(self, action: str, target: str, by: By = PERSON, *, reason: str = "because", **extra: Any) -> Outcome:
        """Do an operation."""
        self.tick()
        with self.open() as project:
            return operations.operate(project, by, action, target, reason=reason, **extra)

    def bulk(self, rows: list[dict[str, Any]], by: dict[str, str] | None = None) -> list[str]:
        """Append entries as they are, past the gateway, in one write."""
        self.tick()
        events = []
        for place, row in enumerate(rows):
            moment = self.now + place
            events.append(
                {
                    "id": new_id(moment),
                    "at": format_instant(moment),
                    "by": by or {"kind": "agent", "session": "bulk"},
                    **row,
                }
            )
        self.now += len(rows)
        with self.open() as project:
            gateway.write(project, events)
        return [str(event["id"]) for event in events]
