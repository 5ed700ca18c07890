"""Git's part of the history, in one pass of `git log`: rows, documents for search, and what was backed out.

The pass goes on from the commit that was read last where HEAD still has it behind it, and begins anew after a rebase,
a force-push or a change of what can be read. Commits stream by in chunks; nothing here grows with the history but the
ids and the file names of a few.
"""

from __future__ import annotations

import gc
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING

from backstory.history import build
from backstory.index import documents, feeding
from backstory.project.history import backed_out
from backstory.project.opened import Project
from backstory.records.times import MICROS
from backstory.sources.git.head import head_id
from backstory.sources.git.log import Change, Commit, commits, is_ancestor
from backstory.sources.git.run import git
from backstory.sources.revert_messages import may_claim
from backstory.sources.reverts import Revert, find

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CHUNK = 2_000
COMMIT = "commit"
# Raise when commits are read or reverts are found in another way: all is then read again.
_RULES = 1
# Files of a commit that search knows; one that touches more is about no file in particular.
MOST_PATHS = 200
# From so many commits on, their documents are left to the first search, where a process of its own writes them.
_MANY = 5_000
# Room for documents where git did not say how many there will be.
_PLENTY = 1 << 30
_REMOTE = re.compile(r"[/:]([^/:]+/[^/:]+?)(?:\.git)?/*$")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Ground:
    """What a pass reads: the head, and a hash of all else that its content depends on. `head` is "" without commits."""

    head: str
    shape: str
    repository: str

    @property
    def signature(self) -> str:
        """Both in one text."""
        return f"{self.shape} {self.head}"

    def since(self, root: str, known: str) -> str | None:
        """The head from which a pass may go on that last saw the signature `known`; None to begin anew."""
        shape, _, head = known.partition(" ")
        if not head or shape != self.shape or not self.head:
            return None
        return head if head == self.head or is_ancestor(root, head, self.head) else None


def ground(project: Project) -> Ground:
    """What can be read of git now."""
    places = project.config.places
    if not places.git_dir:
        return Ground("", "none", "")
    head = head_id(places.git_dir, places.common_dir, project.root) or ""
    url = git(["config", "--get", "remote.origin.url"], project.root).out.decode("utf-8", "replace").strip()
    match = _REMOTE.search(url)
    repository = match[1] if match else ""
    try:
        with open(f"{places.common_dir}/shallow", "rb") as file:
            cut = file.read()
    except OSError:
        cut = b""
    counted = project.config.settings.line_counts
    shape = blake2b(cut + f"{repository} {counted} {_RULES}".encode(), digest_size=6).hexdigest()
    return Ground(head, shape, repository)


class Pass:
    """One pass over commits, newest first, that feeds tables, documents and the search for reverts."""

    def __init__(
        self,
        project: Project,
        now: Ground,
        *,
        tables: DuckDBPyConnection | None = None,
        index: sqlite3.Connection | None = None,
        anew: bool = False,
        all_words: bool = True,
        reverts: bool = False,
        progress: Progress | None = None,
        stack: ExitStack | None = None,
    ) -> None:
        # What outlives the pass: a process that still writes documents is waited for where this is closed.
        self.stack = stack or ExitStack()
        self.project, self.now, self.tables, self.index, self.reverts = project, now, tables, index, reverts
        # Whether the documents are made from nothing, and however many they are.
        self.anew, self.all_words = anew, all_words
        self.owed = False
        self.progress = progress
        self.names = backed_out.FileNames()
        self.found: list[Revert] = []
        # Whether a commit says that it takes another back, where the search itself is not part of this pass.
        self.claimed = False
        self.seen = 0
        # Of the commit that passes now: its message without the subject, and whether it may claim anything.
        self._body, self._hinted = "", False
        self._feeder: feeding.Feeder | None = None

    def run(self, stream: Iterable[Commit], total: int) -> None:
        """Read `stream`, which has `total` commits; 0 where that is not known."""
        if self.index is not None and total >= _MANY and not self.all_words:
            self.index, self.owed = None, True
        if self.index is not None and self.anew:
            documents.remove_source(self.index, COMMIT)
        first = documents.next_rowid(self.index, COMMIT) if self.index is not None else 0
        if self.index is not None and total >= _MANY and _is_file(self.index):
            self._feeder = self.stack.enter_context(feeding.Feeder(self.project.config.places.index_path))
        with _without_collector(), ThreadPoolExecutor(1, "writes rows") as self._rows:
            passing = self._chunks(iter(stream), first + (total or _PLENTY))
            if self.reverts:
                found = find(
                    passing,
                    lambda _: self._body,
                    may_claim=lambda *_: self._hinted,
                    repository=self.now.repository,
                )
                self.found = list(found)
            else:
                for commit in passing:
                    self.claimed = self.claimed or backed_out.claims(commit, self.now.repository)

    def _chunks(self, stream: Iterator[Commit], top: int) -> Iterator[Commit]:
        """Pass the commits on; what was read is written chunk by chunk."""
        writing: Future[None] | None = None
        while chunk := list(islice(stream, CHUNK)):
            for commit in chunk:
                if self.reverts:
                    self._body, self._hinted = commit.body, may_claim(commit.subject, commit.body)
                    self.names.see(commit, self._hinted)
                yield commit
            self.seen += len(chunk)
            if self.tables is not None:
                # In a thread of its own: the next chunk is read meanwhile, and no more than one waits.
                if writing is not None:
                    writing.result()
                writing = self._rows.submit(_write_rows, self.tables, chunk)
            if self.index is not None:
                # Newer documents have higher numbers, and full text wants each chunk in rising order.
                rows = [_document(commit) for commit in reversed(chunk)]
                if self._feeder is not None:
                    self._feeder.append(rows, top - self.seen)
                else:
                    feeding.write(self.index, rows, top - self.seen)
            if self.progress is not None:
                self.progress(self.seen, top)
        if writing is not None:
            writing.result()


def _write_rows(tables: DuckDBPyConnection, chunk: Sequence[Commit]) -> None:
    build.add(tables, "commits", map(_commit_row, chunk))
    build.add(tables, "commit_files", (row for commit in chunk for row in _file_rows(commit)))


def _is_file(db: sqlite3.Connection) -> bool:
    """Whether another process can write what this connection reads: not where the index had to be made in memory."""
    return bool(db.execute("PRAGMA database_list").fetchone()[2])


@contextmanager
def _without_collector() -> Iterator[None]:
    """A pass makes millions of objects and no garbage; to look for it takes a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read(project: Project, now: Ground, since: str | None, work: Pass) -> None:
    """Run `work` over what git has since a head, or over all of it."""
    if not now.head or since == now.head:
        return
    stream = commits(project.root, include=now.head, exclude=since, messages=True)
    counted = _Count(project.root, now.head, since)
    # git walks the history before it says the first word: the count is made in that time.
    opening = next(stream, None)
    if opening is not None:
        work.run(_again(opening, stream), counted.result())


def count_lines(project: Project, now: Ground, since: str | None, db: DuckDBPyConnection) -> None:
    """Add line counts to the files of the commits since a head, where the settings ask for them."""
    if not project.config.settings.line_counts or not now.head or since == now.head:
        return
    from backstory.sources.git.line_counts import line_counts

    build.count_lines(db, line_counts(project.root, now.head, since))


def reread(db: DuckDBPyConnection, work: Pass) -> None:
    """Run `work` over the commits that a history holds, in git's own order: it finds what a pass over git finds."""
    if not work.now.head:
        return
    order = git(["rev-list", "--topo-order", work.now.head, "--"], work.project.root).out.decode("ascii").split()
    work.run(map(_commit_of, build.stored_commits(db, order)), len(order))


class _Count:
    """How many commits there are, asked in a thread of its own."""

    def __init__(self, root: str, head: str, since: str | None) -> None:
        self._args = ["rev-list", "--count", head, *([f"^{since}"] if since else []), "--"]
        self._root, self._count = root, 0
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        out = git(self._args, self._root).out.strip()
        self._count = int(out) if out.isdigit() else 0

    def result(self) -> int:
        self._thread.join()
        return self._count


def _again(first: Commit, rest: Iterator[Commit]) -> Iterator[Commit]:
    yield first
    yield from rest


def _commit_row(commit: Commit) -> build.Row:
    return (
        commit.sha, list(commit.parents), commit.author, commit.author_time * MICROS, commit.time * MICROS,
        commit.subject, commit.body, len(commit.parents) > 1, len(commit.changes) if commit.changes_known else None,
    )  # fmt: skip


def _file_rows(commit: Commit) -> Iterator[build.Row]:
    for change in commit.changes:
        yield commit.sha, change.path, change.status, change.old_path, None, None


def _document(commit: Commit) -> documents.Row:
    paths = [path for change in commit.changes[:MOST_PATHS] for path in (change.path, change.old_path) if path]
    return COMMIT, commit.sha, COMMIT, commit.author_time * MICROS, commit.subject, commit.body, paths


def _commit_of(row: build.Row) -> Commit:
    sha, parents, authored, committed, subject, body, author, changes = row
    known = tuple(Change(status, path, old) for status, path, old in changes or ())
    return Commit(sha, tuple(parents), committed, authored, subject, known, author=author, body=body)
