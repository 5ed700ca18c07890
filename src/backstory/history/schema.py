"""The tables of the history, every column with its meaning. Printed into `docs/history.md`.

Raise `VERSION` with every change: a history of another version is built anew. Times are UTC, without a zone in their
type. No column depends on the clock, so that the same inputs give the same content.
"""

from __future__ import annotations

from typing import NamedTuple

# 1: first version.
VERSION = 3

TEXT, TEXTS, NUMBER, REAL, TIME, FLAG = "VARCHAR", "VARCHAR[]", "BIGINT", "DOUBLE", "TIMESTAMP", "BOOLEAN"


class Column(NamedTuple):
    """One column: its name, its type in DuckDB, and what it holds."""

    name: str
    type: str
    about: str


class Table(NamedTuple):
    """One table: its name, what a row is, its columns."""

    name: str
    about: str
    columns: tuple[Column, ...]

    def ddl(self) -> str:
        """The statement that creates it."""
        return f"CREATE TABLE {self.name} ({', '.join(f'{column.name} {column.type}' for column in self.columns)})"


def _table(name: str, about: str, *columns: tuple[str, str, str]) -> Table:
    return Table(name, about, tuple(Column(*column) for column in columns))


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        _table(
            "tickets",
            "what is to be done, one row a ticket",
            ("stem", TEXT, "its name: run records and other tickets refer to it"),
            ("path", TEXT, "the file, from the root"),
            ("id", TEXT, "what it calls itself (`BACK-168`), where that is not its stem"),
            ("title", TEXT, "one line"),
            ("state", TEXT, "as written, else its folder"),
            ("kind", TEXT, "bug, feature, ... as written"),
            ("priority", TEXT, "as written"),
            ("source", TEXT, "where it came from"),
            ("goal", TEXT, "prose"),
            ("why", TEXT, "prose"),
            ("scope", TEXT, "prose"),
            ("acceptance", TEXT, "prose: the acceptance criteria"),
            ("verification", TEXT, "prose"),
            ("touches_prefixes", TEXTS, "files and folders it is about, a pattern up to its first wildcard"),
            ("depends_on_stems", TEXTS, "stems of tickets it waits for; as written where no ticket has the name"),
            ("created_at", TIME, ""),
            ("updated_at", TIME, ""),
        ),
        _table(
            "run_records",
            "what working on a ticket took, one row an attempt",
            ("ticket_stem", TEXT, "tickets.stem"),
            ("path", TEXT, "the file, from the root"),
            ("attempt", NUMBER, "N of `attempts/N/run.md`; NULL for an only one"),
            ("outcome", TEXT, "a word, as written"),
            ("complexity", TEXT, "what it was, a word"),
            ("predicted_complexity", TEXT, "what was expected"),
            ("wall_time_estimate", TEXT, "as written"),
            ("wall_time_minutes", REAL, "what that means"),
            ("escalation_reason", TEXT, "why somebody had to be asked"),
            ("started_at", TIME, ""),
            ("ended_at", TIME, ""),
            ("predicted_files", NUMBER, "how many files were expected to change"),
            ("actual_files", NUMBER, "how many did"),
            ("predicted_minutes", REAL, ""),
            ("actual_minutes", REAL, ""),
            ("base_commit", TEXT, "commits.sha it started from; may be abbreviated"),
            ("model_exact", TEXT, "the model that did it"),
            ("tokens_in", NUMBER, ""),
            ("tokens_out", NUMBER, ""),
            ("tool_calls", NUMBER, ""),
            ("review_iterations", NUMBER, ""),
            ("surprises_text", TEXT, "prose: surprises and judgment calls"),
            ("dead_ends_text", TEXT, "prose: what led nowhere"),
        ),
        _table(
            "commits",
            "the commits that HEAD has behind it",
            ("sha", TEXT, "full id"),
            ("parents", TEXTS, "ids, first parent first"),
            ("author", TEXT, "name"),
            ("authored_at", TIME, "when it was written; a rebase keeps it"),
            ("committed_at", TIME, "when it took its present form"),
            ("subject", TEXT, "first line of the message"),
            ("body", TEXT, "the rest of the message"),
            ("is_merge", FLAG, "more than one parent"),
            ("file_count", NUMBER, "rows in commit_files; NULL where git cannot say (the cut of a shallow clone)"),
        ),
        _table(
            "commit_files",
            "the files of each commit; a merge has none of its own",
            ("sha", TEXT, "commits.sha"),
            ("path", TEXT, "the name after the commit"),
            ("status", TEXT, "A added, M modified, D deleted, R renamed, C copied, T type changed"),
            ("old_path", TEXT, "of R and C: the name before"),
            ("lines_added", NUMBER, "NULL unless line counts were asked for; NULL for a binary file"),
            ("lines_removed", NUMBER, "likewise"),
        ),
        _table(
            "prs",
            "pull and merge requests, from the cached files",
            ("number", NUMBER, ""),
            ("provider", TEXT, "github or gitlab"),
            ("title", TEXT, ""),
            ("body", TEXT, ""),
            ("state", TEXT, "open, closed or merged; as written where it is none of these"),
            ("author", TEXT, ""),
            ("created_at", TIME, ""),
            ("merged_at", TIME, ""),
            ("closed_at", TIME, ""),
            ("branch", TEXT, "the branch it comes from"),
            ("base", TEXT, "the branch it goes to"),
            ("merge_commit", TEXT, "commits.sha, where the file says it"),
            ("url", TEXT, ""),
            ("labels", TEXTS, ""),
            ("paths", TEXTS, "files it changes, where the file says so"),
            ("file", TEXT, "the cached file it was read from"),
        ),
        _table(
            "state_events",
            "states that an orchestrator wrote down",
            ("occurred_at", TIME, ""),
            ("state", TEXT, ""),
            ("subject", TEXT, "what was in the state"),
            ("ticket_stem", TEXT, "tickets.stem, where the subject is one"),
            ("detail", TEXT, "JSON of the other fields"),
            ("file", TEXT, "where it stands"),
            ("line", NUMBER, "where it stands"),
        ),
        _table(
            "entries",
            "what the memory says, with what each entry counts for",
            ("id", TEXT, "26 characters"),
            ("kind", TEXT, "decision, trial, hotfile, pattern, issue, ..."),
            ("source", TEXT, "log; git for a commit that was backed out; adr for a decision record"),
            ("standing", TEXT, "proposed, active, confirmed, contested, superseded, retired or rejected"),
            ("summary", TEXT, "one line; tagged where it does not count, NULL when retired or rejected"),
            ("detail", TEXT, "NULL where the summary has a tag"),
            ("rationale", TEXT, "of a decision; NULL where the summary has a tag"),
            ("outcome", TEXT, "of a trial: failed, partial, worked"),
            ("recorded_at", TIME, ""),
            ("confirmed_at", TIME, "recorded or confirmed last"),
            ("stale_at", TIME, "from when age makes it stale; NULL for never"),
            ("stale_reasons", TEXTS, "why it is stale whatever its age"),
            ("valid_from", TIME, ""),
            ("valid_until", TIME, ""),
            ("by_kind", TEXT, "person, agent, hook or import"),
            ("by_name", TEXT, ""),
            ("session", TEXT, "sessions.session"),
            ("session_count", NUMBER, "how many sessions said it"),
            ("branch", TEXT, ""),
            ("in_tree", FLAG, "false: only this clone's journal has it"),
            ("commit_sha", TEXT, "the commit it was recorded at, or that backed something out"),
            ("ticket", TEXT, "as cited"),
            ("issue", TEXT, "the case it belongs to"),
            ("scope", TEXT, "path prefix"),
            ("files", TEXTS, "paths it cites, by the name they have now"),
            ("superseded_by", TEXTS, "ids"),
            ("contested_with", TEXTS, "ids"),
            ("reason", TEXT, "why it was retired or rejected"),
        ),
        _table(
            "events",
            "every line of log and journal, without the text of entries",
            ("id", TEXT, ""),
            ("recorded_at", TIME, ""),
            ("kind", TEXT, "of the entry or the operation"),
            ("target", TEXT, "of an operation: the entry it acts on"),
            ("by_kind", TEXT, ""),
            ("by_name", TEXT, ""),
            ("session", TEXT, ""),
            ("shard", TEXT, "the file of the log"),
            ("in_tree", FLAG, "in this work tree's log"),
            ("in_journal", FLAG, "in this clone's journal"),
            ("reason", TEXT, "of an operation"),
        ),
        _table(
            "sessions",
            "sessions of agents: what they recorded, and what transcripts on this machine say they did",
            ("session", TEXT, "the client's id; of a sub-agent id/agent"),
            ("agent", TEXT, "the name it gave last, or the client"),
            ("first_at", TIME, "when it began"),
            ("last_at", TIME, "when it ended"),
            ("entry_count", NUMBER, "entries it recorded"),
            ("event_count", NUMBER, "entries and operations"),
            ("client", TEXT, "NULL from here on: no transcript here"),
            ("title", TEXT, "what was asked first"),
            ("parent", TEXT, "the session that started it"),
            ("provider", TEXT, ""),
            ("model", TEXT, "the last one"),
            ("branch", TEXT, "the last one"),
            ("turns", NUMBER, "times that a person spoke"),
            ("calls", NUMBER, "of tools"),
            ("failed_calls", NUMBER, ""),
            ("edits", NUMBER, "changes of files"),
            ("tokens_read", NUMBER, "those from a cache included"),
            ("tokens_written", NUMBER, ""),
            ("outcome", TEXT, "done, interrupted, failed or unknown"),
            ("commits", TEXTS, "short ids of commits it made"),
        ),
        _table(
            "session_files",
            "files that a session read or edited, or that its entries cite",
            ("session", TEXT, "sessions.session"),
            ("path", TEXT, ""),
            ("last_at", TIME, ""),
            ("cited", FLAG, "an entry of the session cites it"),
            ("reads", NUMBER, "NULL: no transcript here"),
            ("edits", NUMBER, ""),
        ),
        _table(
            "themes",
            "what recurs in run records and trials",
            ("theme", TEXT, "id: a hash of its members"),
            ("label", TEXT, "its heaviest terms"),
            ("size", NUMBER, "members"),
            ("terms", TEXTS, "the heaviest first"),
            ("first_at", TIME, "the oldest member"),
            ("last_at", TIME, "the newest member"),
            ("recent", NUMBER, "members of the 90 days before the newest record of all"),
            ("drift", TEXT, "new, growing, steady or quiet"),
        ),
        _table(
            "run_record_themes",
            "the members of each theme",
            ("theme", TEXT, "themes.theme"),
            ("source", TEXT, "run_record or trial"),
            ("ref", TEXT, "run_records.path or entries.id"),
            ("ticket_stem", TEXT, "of a run record"),
            ("happened_at", TIME, ""),
            ("similarity", REAL, "to the theme's centre, 0 to 1"),
        ),
        _table(
            "skipped",
            "what could not be read, or only by a guess",
            ("source", TEXT, "tickets, run_records, prs, state_events, decision_records, git"),
            ("severity", TEXT, "skipped: left out; warning: read by a guess"),
            ("file", TEXT, ""),
            ("line", NUMBER, "0: the file as a whole"),
            ("why", TEXT, ""),
        ),
        _table(
            "index_meta",
            "what was read, how far, and a hash of every table",
            ("key", TEXT, ""),
            ("value", TEXT, ""),
        ),
    )
}
