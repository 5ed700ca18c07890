"""What the project wrote elsewhere, read whole: tickets, run records, pull requests, orchestrator states.

Each group comes as rows of the history's tables, as documents for search, and as rows of `skipped`. Paths are relative
to the project; a place outside of it is not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from backstory.index.computed import Computed
from backstory.index.documents import Row as Document
from backstory.project.opened import Project
from backstory.sources import orchestrator, pull_requests, run_records, tickets
from backstory.sources.pull_requests import PullRequest
from backstory.sources.run_records import RunRecord
from backstory.sources.skipped import Skipped, Warned
from backstory.sources.ticket_names import Names, bare, name_key
from backstory.sources.ticket_places import TICKET, discover
from backstory.sources.tickets import Ticket

Row = tuple[Any, ...]

TICKET_SOURCE, RUN_SOURCE, PR_SOURCE = "ticket", "run_record", "pull_request"
# Where cached files are looked for, beside what the settings name.
PULL_REQUESTS = ("pull_requests.json", "pull_requests.jsonl", "merge_requests.json", "merge_requests.jsonl")
STATES = ("states.json", "states.jsonl")


@dataclass
class Read:
    """What a group gave: rows by table, documents by source, rows of `skipped`, computed entries by source."""

    rows: dict[str, list[Row]] = field(default_factory=dict)
    documents: dict[str, list[Document]] = field(default_factory=dict)
    skipped: list[Row] = field(default_factory=list)
    computed: dict[str, list[Computed]] = field(default_factory=dict)

    def skip(self, source: str, item: Skipped | Warned, root: str = "") -> None:
        """Keep what could not be read, or only by a guess. A path below `root` is made relative to it."""
        severity = "skipped" if isinstance(item, Skipped) else "warning"
        file = os.path.relpath(item.file, root) if root and os.path.isabs(item.file) else item.file
        self.skipped.append((source, severity, file.replace(os.sep, "/"), item.line, item.why))


def read_tickets(project: Project) -> Read:
    """Tickets and run records."""
    read = Read({"tickets": [], "run_records": []}, {TICKET_SOURCE: [], RUN_SOURCE: []})
    patterns = project.config.settings.tickets
    stems: set[str] = set()
    for item in tickets.read(project.root, patterns):
        if isinstance(item, Ticket):
            read.rows["tickets"].append(ticket_row(item))
            ref = item.path if name_key(item.stem) in stems else item.stem
            stems.add(name_key(item.stem))
            read.documents[TICKET_SOURCE].append(ticket_document(item, ref))
        else:
            read.skip("tickets", item)
    seen = {row[2:] for row in read.skipped}
    for record in run_records.read(project.root, patterns):
        if isinstance(record, RunRecord):
            read.rows["run_records"].append(run_row(record))
            read.documents[RUN_SOURCE].append(run_document(record))
        elif (record.file, record.line, record.why) not in seen:
            read.skip("run_records", record)
    return read


def ticket_row(item: Ticket) -> Row:
    """The row of a ticket."""
    return (
        item.stem, item.path, item.id, item.title, item.state, item.kind, item.priority, item.source, item.goal,
        item.why, item.scope, item.acceptance, item.verification, list(item.touches_prefixes),
        list(item.depends_on_stems), item.created_at, item.updated_at,
    )  # fmt: skip


def ticket_document(item: Ticket, ref: str) -> Document:
    """What search finds a ticket by."""
    texts = (item.goal, item.why, item.scope, item.acceptance, item.stem, item.id)
    body = "\n".join(text for text in texts if text)
    when = item.updated_at or item.created_at
    return TICKET_SOURCE, ref, TICKET_SOURCE, when, item.title, body, item.touches_prefixes


def run_row(item: RunRecord) -> Row:
    """The row of a run record."""
    return (
        item.ticket_stem, item.path, item.attempt, item.outcome, item.complexity, item.predicted_complexity,
        item.wall_time_estimate, item.wall_time_minutes, item.escalation_reason, item.started_at, item.ended_at,
        item.predicted_files, item.actual_files, item.predicted_minutes, item.actual_minutes, item.base_commit,
        item.model_exact, item.tokens_in, item.tokens_out, item.tool_calls, item.review_iterations,
        item.surprises_text, item.dead_ends_text,
    )  # fmt: skip


def run_document(item: RunRecord) -> Document:
    """What search finds a run record by."""
    body = "\n".join(text for text in (item.surprises_text, item.dead_ends_text, item.escalation_reason) if text)
    title = f"Run of {item.ticket_stem}" + (f": {item.outcome}" if item.outcome else "")
    return RUN_SOURCE, item.path, RUN_SOURCE, item.ended_at or item.started_at, title, body, ()


def read_pull_requests(project: Project) -> Read:
    """Pull and merge requests of the cached files; one that stands in several counts as the last file has it."""
    read = Read()
    found: dict[tuple[str, int], tuple[PullRequest, str]] = {}
    for path, full in cached_files(project, PULL_REQUESTS, project.config.settings.pull_requests, read, "prs"):
        for item in pull_requests.read(full):
            if isinstance(item, PullRequest):
                found[(item.provider, item.number)] = (item, path)
            else:
                read.skip("prs", item, project.root)
    read.rows["prs"] = [_pr_row(item, path) for item, path in found.values()]
    read.documents[PR_SOURCE] = [_pr_document(item) for item, _ in _oldest_first(found.values())]
    return read


def _oldest_first(found: Iterable[tuple[PullRequest, str]]) -> list[tuple[PullRequest, str]]:
    return sorted(found, key=lambda pair: (pair[0].created_at or 0, pair[0].provider, pair[0].number))


def _pr_row(item: PullRequest, path: str) -> Row:
    return (
        item.number, item.provider, item.title, item.body, item.state, item.author, item.created_at, item.merged_at,
        item.closed_at, item.branch, item.base, item.merge_commit, item.url, list(item.labels), list(item.paths), path,
    )  # fmt: skip


def _pr_document(item: PullRequest) -> Document:
    mark = "!" if item.provider == pull_requests.GITLAB else "#"
    body = "\n".join(text for text in (item.body, " ".join(item.labels), item.branch) if text)
    when = item.merged_at or item.closed_at or item.created_at
    return PR_SOURCE, f"{mark}{item.number}", PR_SOURCE, when, item.title, body, item.paths


def read_states(project: Project) -> Read:
    """States that an orchestrator wrote down, each with the ticket that its subject names."""
    read = Read({"state_events": []})
    settings = project.config.settings
    mappings = {item["path"]: item for item in settings.states}
    found, _ = discover(project.root, settings.tickets)
    names = Names(project.root, [item for item in found if item.role == TICKET])
    for path, full in cached_files(project, STATES, list(mappings), read, "state_events"):
        mapping = {name: mappings.get(path, {}).get(name, "") for name in ("time", "state", "subject")}
        for item in orchestrator.read(full, **mapping):
            if isinstance(item, orchestrator.StateEvent):
                stem = names.resolve(bare(item.subject)) if item.subject else None
                row = (item.at, item.state, item.subject, stem, item.detail, path, item.line)
                read.rows["state_events"].append(row)
            else:
                read.skip("state_events", item, project.root)
    return read


def cached_files(
    project: Project, usual: Sequence[str], named: Sequence[str], read: Read | None = None, source: str = ""
) -> Iterator[tuple[str, str]]:
    """(path, full path) of the cached files that are there: the usual ones, then those of the settings."""
    top = os.path.realpath(project.root)
    for path in [*(f".backstory/{name}" for name in usual), *named]:
        full = os.path.realpath(os.path.join(top, path))
        if os.path.commonpath([top, full]) != top:
            problem = "it is outside of the project"
        elif os.path.isfile(full):
            yield path, full
            continue
        elif path in named:
            problem = "it is not there"
        else:
            continue
        if read is not None:
            read.skip(source, Warned(path, 0, problem))
