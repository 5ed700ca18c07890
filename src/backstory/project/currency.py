"""Whether the index is current: a handful of `stat` calls. Light: a hook asks this first."""

from __future__ import annotations

import os

from backstory.config import machine_dir
from backstory.sources.git.head import head_signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from backstory.config import Places


def state(places: Places, sizes: dict[tuple[str, str], tuple[int, str]], meta: dict[str, str]) -> str:
    """What the index is behind on: "" when it is current, else log, settings, git or lessons."""
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
    return "lessons" if lessons_moved(places, meta) else ""


def lessons_moved(places: Places, meta: dict[str, str]) -> bool:
    """Whether lessons of other projects, or the dependencies that they are chosen by, may have changed."""
    if places.root == machine_dir():
        return False
    if meta.get("machine", "") != machine_stamp():
        return True
    kept = meta.get("manifests", "")
    return bool(kept) and kept != manifest_stamps(places.root, [line.partition("\t")[0] for line in kept.split("\n")])


def machine_stamp() -> str:
    """What changes with every write to the machine-wide log; "" where there is none."""
    try:
        with os.scandir(os.path.join(machine_dir(), "log")) as entries:
            return " ".join(sorted(f"{e.name}:{stamp(e.stat())}" for e in entries if e.name.endswith(".jsonl")))
    except OSError:
        return ""


def manifest_stamps(root: str, paths: Iterable[str]) -> str:
    """A line for each path from the root with what changes when the file, or what lies in the folder, does."""
    lines = []
    for path in paths:
        try:
            status = os.stat(os.path.join(root, path))
            lines.append(f"{path}\t{status.st_mtime_ns}:{status.st_size}")
        except OSError:
            lines.append(f"{path}\t-")
    return "\n".join(lines)


def stamp(status: os.stat_result) -> str:
    """What changes with every append, replacement or edit in place of a file."""
    return f"{status.st_ino}:{status.st_mtime_ns}:{status.st_size}"


def has_pending(places: Places) -> bool:
    """Whether a writer was killed between journal and log: a writer's or reader's next turn finishes its work."""
    return os.path.exists(os.path.join(places.derived_dir, "pending"))
