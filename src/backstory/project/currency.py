"""Whether the index is current: a handful of `stat` calls. Light: a hook asks this first."""

from __future__ import annotations

import os

from backstory.sources.git.head import head_signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.config import Places


def state(places: Places, sizes: dict[tuple[str, str], tuple[int, str]], meta: dict[str, str]) -> str:
    """What the index is behind on: "" when it is current, else log, settings or git."""
    if meta.get("marker") != places.marker_signature():
        return "settings"
    found = 0
    for place, folder in (("log", places.log_dir), ("journal", places.journal_dir)):
        if not folder:
            continue
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if not entry.name.endswith(".jsonl") or not entry.is_file(follow_symlinks=False):
                        continue
                    status = entry.stat(follow_symlinks=False)
                    known = sizes.get((place, entry.name[:-6]))
                    if known is None or known[1] != stamp(status):
                        return "log"
                    found += 1
        except OSError:
            continue
    if found != len(sizes):
        return "log"
    if places.git_dir and meta.get("head_signature") != head_signature(places.git_dir, places.common_dir):
        return "git"
    return ""


def stamp(status: os.stat_result) -> str:
    """What changes with every append, replacement or edit in place of a file."""
    return f"{status.st_ino}:{status.st_mtime_ns}:{status.st_size}"


def has_pending(places: Places) -> bool:
    """Whether a writer was killed between journal and log: a writer's or reader's next turn finishes its work."""
    return os.path.exists(os.path.join(places.derived_dir, "pending"))
