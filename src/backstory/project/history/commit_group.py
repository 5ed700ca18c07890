"""Git's group of a refresh: commits into history and search, in one pass where both were read equally far.

Then what was backed out, as computed entries: from the pass that saw everything, or, when a new commit says that it
takes another back, from all commits that the history holds.

The words of a long history take as long as all the rest. A refresh leaves them to the first search, and notes that
search is owed them, so that nobody waits for words who asks for rows.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backstory.history import build
from backstory.index import computed
from backstory.project.catching_up import put_computed
from backstory.project.history import backed_out, git_pass, inputs
from backstory.project.history.git_pass import Ground, Pass, Progress
from backstory.project.opened import Project

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLES = ("commits", "commit_files")
# The groups of search that come from git: the words of commits, and what was backed out.
WORDS, REVERTS = "git", "reverts"


@dataclass
class Git:
    """What there is to do: `tables`, `words` and `reverts` are what each was made from, None where it is current.

    `all_words` is whether search gets its words however many they are.
    """

    project: Project
    ground: Ground
    history: DuckDBPyConnection
    tables: str | None
    words: str | None
    reverts: str | None
    all_words: bool
    stack: ExitStack = field(default_factory=ExitStack)
    progress: Progress | None = None

    def since(self, known: str | None) -> str | None:
        """The head from which a part goes on that was made from `known`."""
        return None if known is None else self.ground.since(self.project.root, known)

    def pass_over(self, *, tables: bool = False, words: bool = False, reverts: bool = False) -> Pass:
        """A pass that feeds these parts; `reverts` looks for all of them, which only a whole pass can."""
        return Pass(
            self.project,
            self.ground,
            tables=self.history if tables else None,
            index=self.project.db if words else None,
            anew=self.since(self.words) is None,
            all_words=self.all_words,
            reverts=reverts,
            progress=self.progress,
            stack=self.stack,
        )


@dataclass(frozen=True)
class Done:
    """Whether the tables were made from nothing, and whether search is owed words."""

    tables_anew: bool
    owed: bool


def refresh(git: Git) -> Done:
    """Bring the tables and search up to the ground.

    Documents may still be on their way when this returns: they are there when `git.stack` is closed.
    """
    for group, known in ((WORDS, git.words), (REVERTS, git.reverts)):
        if known is not None:
            # What a crash leaves half done is made from nothing.
            inputs.note(git.project.db, group, "")
    words, reverts = git.words is not None, git.reverts is not None
    anew, owed, seen = False, False, git.pass_over()
    if git.tables is not None:
        since = git.since(git.tables)
        words_too = words and git.since(git.words) == since
        reverts_too = reverts and git.since(git.reverts) == since
        seen = git.pass_over(tables=True, words=words_too, reverts=reverts_too and since is None)
        _tables(git, since, seen)
        anew, owed = since is None, seen.owed
        words, reverts = words and not words_too, reverts and not reverts_too
    if words or reverts:
        late = _catch_up(git, words, reverts)
        owed = owed or late.owed
        seen = late if reverts else seen
    if git.reverts is not None:
        _write_reverts(git, seen)
    return Done(anew, owed)


def _tables(git: Git, since: str | None, work: Pass) -> None:
    """One transaction: each would be synced to the disk by itself."""
    if since is None:
        build.create(git.history, TABLES)
    git.history.begin()
    git_pass.read(git.project, git.ground, since, work)
    git_pass.count_lines(git.project, git.ground, since, git.history)
    git.history.commit()


def _catch_up(git: Git, words: bool, reverts: bool) -> Pass:
    """Give search what the history has already; the answer is the pass from which reverts are told."""
    since_words, since_reverts = git.since(git.words), git.since(git.reverts)
    all_words, all_reverts = words and since_words is None, reverts and since_reverts is None
    seen = git.pass_over(words=all_words, reverts=all_reverts)
    if all_words or all_reverts:
        git_pass.reread(git.history, seen)
    if words and not all_words:
        git_pass.read(git.project, git.ground, since_words, git.pass_over(words=True))
    if reverts and not all_reverts:
        new = git.pass_over()
        git_pass.read(git.project, git.ground, since_reverts, new)
        new.owed = seen.owed
        return new
    return seen


def _write_reverts(git: Git, seen: Pass) -> None:
    if not seen.reverts and not seen.claimed:
        return
    if not seen.reverts:
        seen = git.pass_over(reverts=True)
        git_pass.reread(git.history, seen)
    db = git.project.db
    originals = sorted({found.original_sha for found in seen.found if found.original_sha})
    bodies = build.bodies(git.history, originals)
    kept = computed.patches(db, backed_out.SOURCE)
    items = backed_out.entries(git.project.root, seen.found, seen.names, bodies, kept)
    put_computed(git.project, backed_out.SOURCE, list(items))
