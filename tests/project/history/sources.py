"""A small project that wrote something into every source of the history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backstory.history import build, store
from backstory.history.schema import TABLES
from backstory.project.history.refresh import Refreshed, refresh
from tests.project.memory import Memory

TICKET = """\
---
title: Retry the upload
state: open
depends_on: [limits]
touches: [src/upload.py]
created: 2026-01-02T10:00:00Z
---

## Goal
Uploads survive a dropped connection.

## Why
Customers lose an hour of work.
"""
RUN = """\
---
outcome: done
predicted_files: 2
actual_files: 5
started_at: 2026-01-03T10:00:00Z
ended_at: 2026-01-03T11:30:00Z
model_exact: model-1
---

## Surprises / judgment calls
The multipart library swallows the broken pipe.

## Dead ends
Tried to resume by offset; the server forgets the upload.
"""
DECISION = """\
# Use one queue for all uploads

Status: {status}

Date: 2025-11-02

## Context
Two queues starved each other.

## Decision
We use one queue with priorities.
"""
PULL_REQUESTS = [
    {
        "number": 7,
        "title": "Stream the parser",
        "body": "Memory halves.",
        "state": "MERGED",
        "createdAt": "2026-01-04T10:00:00Z",
        "mergedAt": "2026-01-04T12:00:00Z",
        "files": [{"path": "src/parse.py"}],
    }
]
STATES = [{"at": "2026-01-05T10:00:00Z", "state": "running", "ticket": "retry"}]


class Sources(Memory):
    """A memory with everything around it that a history reads."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.put("tickets/retry.md", TICKET)
        self.put("tickets/retry.run.md", RUN)
        self.put("docs/adr/0001-one-queue.md", DECISION.format(status="Accepted"))
        self.put(".backstory/pull_requests.json", json.dumps(PULL_REQUESTS))
        self.put(".backstory/states.json", json.dumps(STATES))
        self.commit("Add the project", src__upload_py="def upload():\n    pass\n")

    def refresh(self, **options: Any) -> Refreshed:
        """Read what changed."""
        with self.open() as project:
            return refresh(project, **options)

    @property
    def folder(self) -> str:
        """Where the history lies."""
        with self.open() as project:
            return project.config.places.history_dir

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What the history answers."""
        reader = store.open_reader(self.folder)
        try:
            return reader.execute(query).fetchall()
        finally:
            reader.close()

    def hashes(self) -> dict[str, str]:
        """The hash of each table, counted anew."""
        reader = store.open_reader(self.folder)
        try:
            return {name: build.table_hash(reader, name) for name in TABLES}
        finally:
            reader.close()

    def documents(self) -> set[tuple[str, str]]:
        """What search knows of the sources: (source, ref)."""
        with self.open() as project:
            rows = project.db.execute("SELECT source, ref FROM documents WHERE source <> 'entry'")
            return set(rows.fetchall())

    def revert(self, subject: str, reason: str, path: str = "src/cache.py") -> tuple[str, str]:
        """Make a change and take it back; both commits."""
        self.put(path, "def cached_answer_for(key):\n    return table_of_answers[key]\n")
        made = self.commit(subject)
        self.put(path, "")
        back = self.commit(f'Revert "{subject}"\n\nThis reverts commit {made}.\n\n{reason}')
        return made, back
