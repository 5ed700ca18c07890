"""The working set at a session's start: changed files, the branch's own files, the last session's. Light."""

from __future__ import annotations

from backstory.config import FOLDER
from backstory.sources.git.status import changed_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

MAX_BRANCH, MAX_SESSION = 200, 50


def working_set(
    db: sqlite3.Connection, root: str, git_dir: str, *, seconds: float, session: str = ""
) -> tuple[str, ...]:
    """Paths that the present work touches, sorted; untracked folders end with `/`. One git call, at most."""
    found: set[str] = set()
    if git_dir:
        found.update(changed_paths(root, timeout=seconds, leave_out=FOLDER).paths)
    found.update(row[0] for row in db.execute(f"SELECT path FROM branch_files ORDER BY path LIMIT {MAX_BRANCH}"))
    last = db.execute(
        "SELECT session FROM session_files WHERE session <> ? ORDER BY last_at DESC, session LIMIT 1", (session,)
    ).fetchone()
    if last:
        query = f"SELECT path FROM session_files WHERE session = ? ORDER BY path LIMIT {MAX_SESSION}"
        found.update(row[0] for row in db.execute(query, last))
    return tuple(sorted(found))
