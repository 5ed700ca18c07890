"""What each git hook does.

Promises: it reads the work tree and never writes there, not even what another process left half done; it waits for
no lock; it stages nothing. Light: everything heavy is imported where there is something to do.
"""

from __future__ import annotations

import _sqlite3 as sqlite3
import os

from backstory.config import find
from backstory.index import store
from backstory.project import currency
from backstory.project.git_hooks import rewritten
from backstory.sources.git.head import in_progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from backstory.config import Places
    from backstory.project.checking import Checked

# What is read of a log that has grown; with more the refresh is left to the next command.
UNREAD_BYTES = 4 << 20
# The refresh may take this long; the entry ends the process a little later.
WARM_SECONDS = 0.5
SHOWN = 10
CURRENT, BEHIND = "current", "behind"
_UNDER_WAY = ("rebase", "am")
_FILE_CHECKOUT = "0"


class Ran:
    """What a hook has to say on stderr, and whether it found what `--block` is to stop."""

    __slots__ = ("blocked", "notices")

    def __init__(self, notices: list[str], blocked: bool = False) -> None:
        self.notices, self.blocked = notices, blocked


def run(name: str, args: list[str], stdin: bytes, cwd: str, *, block: bool = False) -> Ran:
    """Do what the hook `name` does for the project around `cwd`; nothing where there is none."""
    places = find(cwd)
    if places is None or not places.git_dir:
        return Ran([])
    if name == "pre-commit":
        return _check(places, block)
    if name == "post-checkout" and args[2:3] == [_FILE_CHECKOUT]:
        return Ran([])
    if name == "post-rewrite":
        rewritten.keep(places.derived_dir, stdin)
        # `post-commit` has just run for a commit that was amended; a rebase ends here, and git cleans up behind it.
        return Ran(warm(places) if args[:1] == ["rebase"] else [])
    return Ran([] if in_progress(places.git_dir) in _UNDER_WAY else warm(places))


def warm(places: Places) -> list[str]:
    """Bring the index up to date if that is quick and touches nothing but derived files; what has to be said.

    Left to the next command: what a killed writer began, a redaction from elsewhere (it blanks lines in the tree), a
    long log. `Busy` while another process writes the index.
    """
    if _state(places) != BEHIND:
        return []
    refresh, config = _heavy(places.root)
    with refresh.open_config(config, seconds=WARM_SECONDS) as project:
        return list(project.notices)


def _state(places: Places) -> str:
    """Whether the index is current, behind, or not to be touched by a hook, and then why in words."""
    if currency.has_pending(places):
        return "another command has not finished its write"
    known, sizes = _index_state(places)
    if known is not None and known.get("unredacted", "[]") == "[]" and not currency.state(places, sizes, known):
        return CURRENT
    if (known or {}).get("unredacted", "[]") != "[]" or not _harmless(places, sizes):
        return "the index is far behind" if known is not None else "there is no index yet"
    return BEHIND


def _index_state(places: Places) -> tuple[dict[str, str] | None, dict[tuple[str, str], tuple[int, str]]]:
    """What the index knows and has read; (None, {}) without one that is sound. `Busy` while it is being written."""
    db = store.open_ready(places.index_path)
    if db is None:
        return None, {}
    try:
        known, sizes = store.meta(db), store.file_sizes(db)
        db.execute("PRAGMA busy_timeout = 0")
        db.execute("BEGIN IMMEDIATE")
        db.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise Busy from error
        return None, {}
    except sqlite3.DatabaseError:
        return None, {}
    finally:
        db.close()
    return known, sizes


class Busy(Exception):
    """Another process writes the index; it will leave it current."""


def _harmless(places: Places, sizes: dict[tuple[str, str], tuple[int, str]]) -> bool:
    """Whether what the index has not read of the log is little and carries no redaction."""
    left = UNREAD_BYTES
    for place, folder in (("log", places.log_dir), ("journal", places.journal_dir)):
        try:
            names = os.listdir(folder) if folder else []
        except OSError:
            continue
        for file in names:
            if not file.endswith(".jsonl"):
                continue
            with open(os.path.join(folder, file), "rb") as stream:
                stream.seek(sizes.get((place, file[:-6]), (0, ""))[0])
                unread = stream.read(left + 1)
            left -= len(unread)
            if left < 0 or b'"redact"' in unread:
                return False
    return True


def _check(places: Places, block: bool) -> Ran:
    state = in_progress(places.git_dir)
    if state in _UNDER_WAY:
        # Its commits were checked when they were made; stopping half-way leaves a person in the middle of nowhere.
        return Ran([f"nothing is checked while git is in a {state}"] if block else [])
    ready = _state(places)
    if ready not in (CURRENT, BEHIND):
        return Ran([f"not checked: {ready}; run `backstory status` once"])
    refresh, config = _heavy(places.root)
    from backstory.project.git_hooks.staged import staged_patch, staged_paths

    paths = staged_paths(places.root)
    if paths is None:
        return Ran(["not checked: git could not say what is staged"])
    if not paths:
        return Ran([])
    with refresh.open_config(config, seconds=WARM_SECONDS) as project:
        from backstory.project.checking import check

        found = check(project, paths, diff=staged_patch(places.root))
    return Ran(_said(found), block and found.worst == "block")


def _said(found: Checked) -> list[str]:
    """The warnings as lines for a person: what, why, and where to read more. What only binds the files is not said."""
    from backstory.records.hostile import one_line

    warnings = [one for one in found.findings if one.level != "info"]
    lines = []
    for one in warnings[:SHOWN]:
        lines.append(one_line(f"{one.level}: {one.text}", 300))
        lines += [f"  why: {one_line(one.why, 300)}"] if one.why else []
        lines.append(f"  `backstory show {one.short}`")
    if len(warnings) > SHOWN:
        lines.append(f"{len(warnings) - SHOWN} more: `backstory check --staged`")
    lines += [one_line(text, 300) for text in found.snoozed[:SHOWN]]
    return [*lines, *(f"not all was checked: {one_line(text, 300)}" for text in found.problems[:3])]


def _heavy(root: str) -> tuple[Any, Any]:
    """What a refresh takes. The interpreter may have been started without site-packages."""
    try:
        from backstory.project import refresh
        from backstory.records import codec  # noqa: F401 (the first that needs a package from outside)
    except ImportError:
        import site

        site.main()
        from backstory.project import refresh
    from backstory.config import load

    return refresh, load(root)
