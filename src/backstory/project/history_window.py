"""The commits that freshness needs: those since the oldest commit that an entry cites, or its branch forked off.

Kept in the index by landing position on the first-parent line; brought forward by `OLD..HEAD`, and built again when
the old head is no longer on that line (rebase, force push, a fast-forward to a foreign merge).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable

from backstory.errors import BackstoryError
from backstory.sources.git.run import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.sources.git.log import Commit


class OutOfTime(Exception):
    """The time budget ran out before git was read; the index keeps what it had."""


def refresh(
    db: sqlite3.Connection, root: str, common_dir: str, head: str | None, folded: set[int], deadline: float
) -> set[str]:
    """Bring commits up to `head`; the paths whose history or content may differ from before. Inside a transaction.

    `folded` are the entries that changed: with the head where it was, only they can cite a commit not seen before.
    `OutOfTime` at `deadline` (monotonic seconds). `BackstoryError` when git cannot read the repository.
    """
    meta = dict(db.execute("SELECT key, value FROM index_meta WHERE key IN ('git_head', 'git_floor')"))
    same_head = (head or "") == meta.get("git_head", "")
    if same_head and not (head and _cite_unknown_commits(db, folded)):
        return set()
    from backstory.sources.git.log import branch_files, first_parent, is_ancestor, is_shallow

    floor = _floor(db, root, head, meta.get("git_floor", ""))
    if same_head and floor == meta.get("git_floor", ""):
        return set()
    _put(
        db,
        "git_note",
        "shallow clone: renames and churn before its cut are not known" if is_shallow(common_dir) else "",
    )
    old = meta.get("git_head", "")
    forward = bool(old and head and floor == meta.get("git_floor") and is_ancestor(root, old, head))
    mainline = first_parent(root, head or "HEAD", old) if forward and head and old != head else []
    touched = _differing(root, old, head)
    if not forward or (mainline and not _continues(db, root, mainline[0], old)):
        touched |= _paths(db, 0)
        for table in ("commits", "commit_files", "renames"):
            db.execute(f"DELETE FROM {table}")
        mainline = first_parent(root, head, floor) if head and floor else []
        _take(db, root, head, floor, mainline, 1, deadline)
        if floor:
            db.execute("INSERT OR IGNORE INTO commits VALUES (?, 0, 0)", (floor,))
        touched |= _paths(db, 0)
    elif mainline:
        start = db.execute("SELECT coalesce(max(landed), 0) + 1 FROM commits").fetchone()[0]
        _take(db, root, head, old, mainline, start, deadline)
        touched |= _paths(db, start)
    db.execute("DELETE FROM branch_files")
    db.executemany("INSERT OR IGNORE INTO branch_files VALUES (?)", ((_text(path),) for path in branch_files(root)))
    _put(db, "git_head", head or "")
    _put(db, "git_floor", floor)
    return touched


def _cite_unknown_commits(db: sqlite3.Connection, folded: set[int]) -> bool:
    query = "SELECT 1 FROM entries WHERE entry = ? AND commit_id <> '' AND commit_id NOT IN (SELECT sha FROM commits)"
    return any(db.execute(query, (number,)).fetchone() for number in folded)


def _paths(db: sqlite3.Connection, start: int) -> set[str]:
    """Paths that commits touched or renamed, from a landing position on."""
    rows = db.execute("SELECT DISTINCT path FROM commit_files WHERE landed >= ?", (start,))
    return {row[0] for row in rows}


def _differing(root: str, old: str, head: str | None) -> set[str]:
    """Paths whose content differs between two heads: what a checkout changed, whatever commits lie between."""
    if not old or not head or old == head:
        return set()
    result = git(["diff-tree", "-r", "--name-only", "--no-renames", "-z", old, head], root, timeout=30.0)
    if result.code != 0:
        return set()
    return {_text(path) for path in result.out.decode("utf-8", "surrogateescape").split("\0") if path}


def _text(path: str) -> str:
    """A path as SQLite can hold it: names that are not UTF-8 lose the bytes that no text has."""
    return path.encode("utf-8", "replace").decode("utf-8")


def _floor(db: sqlite3.Connection, root: str, head: str | None, known: str) -> str:
    """The commit of HEAD's history that all cited ones have behind them; what was the floor stays while it is one.

    A cited commit that is not in HEAD's history (another branch, squashed, rebased) counts with where it forked off.
    """
    from backstory.sources.git.log import is_ancestor, known_commits

    if not head:
        return ""
    if known and not is_ancestor(root, known, head):
        known = ""
    # What was read for another line of history says nothing about this one.
    unread = "AND commit_id NOT IN (SELECT sha FROM commits)" if known else ""
    rows = db.execute(
        f"SELECT commit_id, min(at) FROM entries WHERE commit_id <> '' {unread}"
        " GROUP BY commit_id ORDER BY min(at), commit_id LIMIT 50"
    ).fetchall()
    candidates = [row[0] for row in rows]
    present = known_commits(root, candidates) if candidates else {}
    candidates = [sha for sha in candidates if present.get(sha)]
    return _common(root, [known or head, *candidates]) or known


def _common(root: str, shas: list[str]) -> str:
    """The newest commit that all of `shas` have in their history, the first with any of the others at least."""
    if len(shas) < 2:
        return ""
    result = git(["merge-base", "--octopus", *shas], root)
    if result.code != 0 and len(shas) > 2:
        # One of them shares no history: leave out which do not, one by one.
        related = [sha for sha in shas[1:] if git(["merge-base", shas[0], sha], root).code == 0]
        return _common(root, [shas[0], *related]) if len(related) < len(shas) - 1 else ""
    return result.out.decode("ascii").strip() if result.code == 0 else ""


def _continues(db: sqlite3.Connection, root: str, first: str, old: str) -> bool:
    from backstory.sources.git.log import commits

    parents = next(iter(commits(root, include=first, max_count=1))).parents
    return bool(parents) and parents[0] == old


def _take(
    db: sqlite3.Connection, root: str, head: str | None, exclude: str, mainline: list[str], start: int, deadline: float
) -> None:
    from backstory.sources.git.log import commits, landing_positions

    if not head or not mainline:
        return
    found: list[Commit] = []
    for commit in commits(root, include=head, exclude=exclude or None):
        found.append(commit)
        if time.monotonic() > deadline:
            raise OutOfTime
    landed = landing_positions(reversed(found), mainline, start=start)
    db.executemany(
        "INSERT OR IGNORE INTO commits VALUES (?, ?, ?)",
        ((c.sha, landed[c.sha], c.author_time) for c in found if c.sha in landed),
    )
    _take_files(db, (commit for commit in found if commit.sha in landed), landed)


def _take_files(db: sqlite3.Connection, found: Iterable[Commit], landed: dict[str, int]) -> None:
    for commit in found:
        position = landed[commit.sha]
        rows = {(_text(change.path), position, commit.sha) for change in commit.changes}
        rows |= {(_text(c.old_path), position, commit.sha) for c in commit.changes if c.old_path and c.status == "R"}
        db.executemany("INSERT OR IGNORE INTO commit_files VALUES (?, ?, ?)", sorted(rows))
        db.executemany(
            "INSERT OR IGNORE INTO renames VALUES (?, ?, ?)",
            (
                (_text(change.old_path), _text(change.path), position)
                for change in commit.changes
                if change.status == "R" and change.old_path
            ),
        )


def _put(db: sqlite3.Connection, key: str, value: str) -> None:
    db.execute("INSERT OR REPLACE INTO index_meta VALUES (?, ?)", (key, value))


def no_git(error: BackstoryError) -> str:
    """How a repository that git cannot read is said: the memory works, only without git's evidence."""
    return f"memory without git evidence: {error.message}"
