"""`history refresh`: brings the DuckDB history and the documents of search up to what the sources hold.

Both are derived, and each knows by a signature per group what it was made from, so that one that was lost is made
again without the other. Only groups whose signature changed are read. The history is a copy built aside and swapped in
whole; search gets its documents in transactions of their own, the signature of a group last.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from backstory.history import build, store
from backstory.history.schema import TABLES, VERSION
from backstory.index import documents
from backstory.log import lock
from backstory.project.catching_up import put_computed
from backstory.project.history import (
    commit_group,
    git_pass,
    inputs,
    memory_rows,
    recorded_decisions,
    session_rows,
    sources,
    theme_group,
)
from backstory.project.history.sources import Read
from backstory.project.opened import Project
from backstory.project.refresh import bring_up_to_date

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from backstory.project.history.meaning import Meaning

Progress = Callable[[str, int, int], None]

# The tables of each group, and the sources of `skipped` that it writes.
GROUPS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "git": (commit_group.TABLES, ()),
    "tickets": (("tickets", "run_records"), ("tickets", "run_records")),
    "prs": (("prs",), ("prs",)),
    "states": (("state_events",), ("state_events",)),
    "decisions": ((), ("decision_records",)),
    "memory": (("entries", "events", "sessions", "session_files"), ()),
    "themes": (("themes", "run_record_themes"), ()),
}
_READERS: dict[str, Callable[[Project], Read]] = {
    "tickets": sources.read_tickets,
    "prs": sources.read_pull_requests,
    "states": sources.read_states,
    "decisions": recorded_decisions.read,
}
_LOCK_SECONDS = 600.0


class Refreshed(msgspec.Struct, frozen=True):
    """What a refresh did: the groups that were read again, rows by table, problems, and the seconds it took.

    `words_owed` is True where the words of the commits are left to the first search.
    """

    groups: tuple[str, ...]
    rebuilt: bool
    rows: dict[str, int]
    skipped: int
    warnings: int
    seconds: float
    notes: tuple[str, ...] = ()
    words_owed: bool = False


@dataclass
class _Work:
    """One refresh: what is there, and what is wanted."""

    project: Project
    ground: git_pass.Ground
    wanted: dict[str, str]
    in_history: dict[str, str]
    in_index: dict[str, str]
    # Whether search gets the words of commits however many they are, or is owed them.
    all_words: bool = True
    reads: dict[str, Read] = field(default_factory=dict)

    def behind(self, group: str) -> bool:
        return self.in_history.get(group) != self.wanted[group]

    def unindexed(self, group: str) -> bool:
        known = self.in_index.get(group)
        if group == commit_group.WORDS and known == inputs.OWED and not self.all_words:
            return False
        return known != (self.ground.signature if group == commit_group.REVERTS else self.wanted[group])

    def read(self, group: str) -> Read:
        """What a group's files say, read once."""
        if group not in self.reads:
            self.reads[group] = _READERS[group](self.project)
        return self.reads[group]


def refresh(
    project: Project,
    *,
    rebuild: bool = False,
    all_words: bool = False,
    progress: Progress | None = None,
    meaning: Meaning | None = None,
) -> Refreshed:
    """Bring history and search up to date; from nothing with `rebuild`. One at a time: a second one waits.

    The words of a long history are left to the first search, unless `all_words` are wanted now. With `meaning` the
    vectors are brought up to date too.
    """
    started = time.perf_counter()
    folder = project.config.places.history_dir
    with lock.held(folder, _LOCK_SECONDS):
        bring_up_to_date(project)
        if rebuild:
            inputs.forget(project.db)
        # Readers have the old one until the new one is whole.
        pointer = None if rebuild else store.current(folder)
        try:
            groups, notes = _bring(_work(project, pointer, all_words), folder, pointer, progress, meaning)
        except store.Damaged as error:
            project.notices.append(f"the history was damaged ({error}) and was read again")
            pointer = None
            groups, notes = _bring(_work(project, None, all_words), folder, None, progress, meaning)
        now = store.current(folder)
    assert now is not None
    meta = now.meta
    return Refreshed(
        groups=groups,
        rebuilt=pointer is None,
        rows={name: int(meta[f"hash:{name}"].partition(":")[0]) for name in TABLES if f"hash:{name}" in meta},
        skipped=int(meta["skipped"]),
        warnings=int(meta["warnings"]),
        seconds=round(time.perf_counter() - started, 3),
        notes=notes,
        words_owed=inputs.of_index(project.db).get(commit_group.WORDS) == inputs.OWED,
    )


def is_current(project: Project) -> bool:
    """Whether neither history nor search is behind."""
    pointer = store.current(project.config.places.history_dir)
    if pointer is None:
        return False
    work = _work(project, pointer, all_words=False)
    work.wanted["memory"] = _memory_signature(project)
    return not any(map(work.behind, work.wanted)) and not any(map(work.unindexed, inputs.INDEXED))


def _work(project: Project, pointer: store.Pointer | None, all_words: bool) -> _Work:
    ground = git_pass.ground(project)
    known = pointer.inputs if pointer else {}
    return _Work(project, ground, inputs.wanted(project, ground), known, inputs.of_index(project.db), all_words)


def _bring(
    work: _Work,
    folder: str,
    pointer: store.Pointer | None,
    progress: Progress | None,
    meaning: Meaning | None,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read what is behind into search and history; the groups that were, and what has to be said."""
    db = work.project.db
    behind = {group for group in work.wanted if work.behind(group)}
    unindexed = {group for group in inputs.INDEXED if work.unindexed(group)}
    if not behind | unindexed:
        work.wanted["memory"] = _memory_signature(work.project)
        if not work.behind("memory") and (meaning is None or _knows_meaning(work, meaning)):
            return (), _notes(meaning)
    building = store.Building(folder, pointer)
    from_git = {commit_group.WORDS, commit_group.REVERTS}
    git = None
    with ExitStack() as stack, building as history:
        if pointer is None:
            build.create(history)
        if from_git & (behind | unindexed):
            git = _commits(work, history, stack, progress)
        for group in sorted(unindexed - from_git):
            _index(work, group)
        for group in sorted(behind & _READERS.keys()):
            _replace(history, group, work.read(group))
        work.wanted["memory"] = _memory_signature(work.project)
        if work.behind("memory"):
            behind.add("memory")
            _write_memory(history, work.project)
        behind |= theme_group.refresh(history, work.in_history, work.wanted)
        new_vectors, notes = _meaning(work, history, folder, progress, meaning)
        if behind or new_vectors:
            changed = {name for group in behind for name in GROUPS[group][0]} | {"skipped"}
            grown = commit_group.TABLES if git and not git.tables_anew else ()
            build.write_meta(history, _facts(work, history), changed if pointer else TABLES, grown)
            building.publish(work.wanted, build.read_meta(history))
    for group in unindexed & from_git:
        owed = git is not None and git.owed and group == commit_group.WORDS
        inputs.note(db, group, inputs.OWED if owed else work.ground.signature)
    return tuple(group for group in GROUPS if group in behind | unindexed), notes


def _meaning(
    work: _Work, history: DuckDBPyConnection, folder: str, progress: Progress | None, meaning: Meaning | None
) -> tuple[bool, tuple[str, ...]]:
    """Vectors for what is new, where they are wanted; whether there are new ones, and what has to be said."""
    if meaning is None or meaning.embedder is None:
        return False, _notes(meaning)
    from backstory.project.history.meaning import refresh as refresh_meaning

    changed, note = refresh_meaning(history, folder, meaning, progress)
    if not note:
        work.wanted["meaning"] = _meaning_signature(work, meaning)
    return changed or not note, (note,) if note else ()


def _knows_meaning(work: _Work, meaning: Meaning) -> bool:
    return meaning.embedder is None or work.in_history.get("meaning") == _meaning_signature(work, meaning)


def _meaning_signature(work: _Work, meaning: Meaning) -> str:
    made_from = sorted((group, value) for group, value in work.wanted.items() if group != "meaning")
    model = meaning.embedder.model_id if meaning.embedder else ""
    return blake2b(repr((made_from, model, meaning.commits)).encode(), digest_size=12).hexdigest()


def _notes(meaning: Meaning | None) -> tuple[str, ...]:
    return (meaning.note,) if meaning is not None and meaning.note else ()


def _commits(
    work: _Work, history: DuckDBPyConnection, stack: ExitStack, progress: Progress | None
) -> commit_group.Done:
    counter = None if progress is None else lambda done, total: progress("commits", done, total)
    words, reverts = (
        work.in_index.get(group, "") if work.unindexed(group) else None
        for group in (commit_group.WORDS, commit_group.REVERTS)
    )
    return commit_group.refresh(
        commit_group.Git(
            work.project,
            work.ground,
            history,
            tables=work.in_history.get("git", "") if work.behind("git") else None,
            words=words,
            reverts=reverts,
            all_words=work.all_words,
            stack=stack,
            progress=counter,
        )
    )


def _index(work: _Work, group: str) -> None:
    """Give search the documents and entries of a group, in place of those that it had."""
    db, read = work.project.db, work.read(group)
    db.execute("BEGIN IMMEDIATE")
    try:
        for source, rows in read.documents.items():
            documents.remove_source(db, source)
            documents.append_many(db, rows)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    for source, items in read.computed.items():
        put_computed(work.project, source, items)
    inputs.note(db, group, work.wanted[group])


def _replace(history: DuckDBPyConnection, group: str, read: Read) -> None:
    tables, sources = GROUPS[group]
    build.create(history, tables)
    for name, rows in read.rows.items():
        build.add(history, name, rows)
    build.replace_skipped(history, sources, read.skipped)


def _write_memory(history: DuckDBPyConnection, project: Project) -> None:
    db = project.db
    build.create(history, GROUPS["memory"][0])
    build.add(history, "entries", memory_rows.entries(db))
    ids = {row[0] for row in db.execute("SELECT id FROM entries WHERE source = 'log'")}
    rows = list(memory_rows.events(db))
    build.add(history, "events", rows)
    build.add(history, "sessions", session_rows.sessions(project, rows, ids))
    build.add(history, "session_files", session_rows.session_files(project))


def _memory_signature(project: Project) -> str:
    return f"{memory_rows.signature(project.db)} {session_rows.signature(project)}"


def _facts(work: _Work, history: DuckDBPyConnection) -> dict[str, str]:
    """What `index_meta` says beside the hashes: what was read, how far, and how much was not."""
    return {
        "version": str(VERSION),
        "project": work.project.config.project,
        "git_head": work.ground.head,
        "git_repository": work.ground.repository,
        "tickets_read_from": ", ".join(work.project.config.settings.tickets) or "the usual places",
        **build.count_skipped(history),
    }
