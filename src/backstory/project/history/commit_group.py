"""Git's group of a refresh: commits into history and search, in one pass where both were read equally far.

Then what was backed out, as computed entries: from the pass that saw everything, or, when a new commit says that it
takes another back, from all commits that the history holds.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from backstory.history import build
from backstory.index import computed, documents
from backstory.project.catching_up import put_computed
from backstory.project.history import backed_out, git_pass, inputs
from backstory.project.history.git_pass import Ground, Pass, Progress
from backstory.project.opened import Project

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLES = ("commits", "commit_files")


def refresh(
    project: Project,
    ground: Ground,
    history: DuckDBPyConnection,
    *,
    tables: str | None,
    index: str | None,
    stack: ExitStack,
    progress: Progress | None = None,
) -> list[str] | None:
    """Bring the tables and search up to `ground`; each is given by what it was made from, None where it is current.

    The answer are the commits that were added to the tables, None where those were made anew. Documents may still be
    on their way when this returns: they are there when `stack` is closed.
    """
    root = project.root
    since_tables = ground.since(root, tables) if tables is not None else None
    since_index = ground.since(root, index) if index is not None else None
    together = tables is not None and index is not None and since_tables == since_index
    if tables is not None and since_tables is None:
        build.create(history, TABLES)
    if index is not None:
        _begin(project, since_index)
    work = Pass(
        project,
        ground,
        tables=history if tables is not None else None,
        index=project.db if together else None,
        reverts=together and since_index is None,
        progress=progress,
        stack=stack,
    )
    if tables is not None:
        # One transaction: each would be synced to the disk by itself.
        history.begin()
        git_pass.read(project, ground, since_tables, work)
        git_pass.count_lines(project, ground, since_tables, history)
        history.commit()
    if index is not None:
        seen = work if together else _catch_up(project, ground, history, since_index, stack, progress)
        _write_reverts(project, ground, history, seen)
    return work.added if tables is None or since_tables is not None else None


def _begin(project: Project, since: str | None) -> None:
    """Until the end search is noted as made from nothing: what a crash leaves half done is then made anew."""
    inputs.note(project.db, "git", "")
    if since is None:
        documents.remove_source(project.db, git_pass.COMMIT)


def _catch_up(
    project: Project,
    ground: Ground,
    history: DuckDBPyConnection,
    since: str | None,
    stack: ExitStack,
    progress: Progress | None,
) -> Pass:
    """Give search the commits that the history has already."""
    again = Pass(project, ground, index=project.db, reverts=since is None, progress=progress, stack=stack)
    if since is None:
        git_pass.reread(history, again)
    else:
        git_pass.read(project, ground, since, again)
    return again


def _write_reverts(project: Project, ground: Ground, history: DuckDBPyConnection, seen: Pass) -> None:
    if not seen.reverts and not seen.claimed:
        return
    if not seen.reverts:
        seen = Pass(project, ground, reverts=True)
        git_pass.reread(history, seen)
    originals = sorted({found.original_sha for found in seen.found if found.original_sha})
    bodies = build.bodies(history, originals)
    kept = computed.patches(project.db, backed_out.SOURCE)
    items = backed_out.entries(project.root, seen.found, seen.names, bodies, kept)
    put_computed(project, backed_out.SOURCE, list(items))
