"""`gc`: gives back what derived files no longer need. Log and journal are never touched, only measured."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping

import msgspec

from backstory.config import state_dir
from backstory.index import build
from backstory.log.names import files, stem
from backstory.project.opened import Project

_LEFT_OVER = re.compile(r"^(writer|index\.sqlite)\.\d+$|\.redact$")
_HOUR, _KEPT_DAYS = 3_600, 30
# Below this a VACUUM costs more than it gives back.
_WORTH_BYTES = 1 << 20


class Cleaned(msgspec.Struct, frozen=True):
    """Bytes of derived files before and after, what was removed, and how the log grew, by month.

    `sessions` are those that the archive no longer has because their transcripts are gone, `resting_entries` how many
    entries rest on them.
    """

    derived_before: int
    derived_after: int
    removed: tuple[str, ...]
    log_bytes: int
    journal_bytes: int
    log_growth: dict[str, int]
    sessions: tuple[str, ...] = ()
    resting_entries: int = 0


def clean(project: Project, env: Mapping[str, str], home: str) -> Cleaned:
    """Shrink the index, write its WAL back, drop left-over files, and sessions that have no transcript any more."""
    from backstory.project.sessions import cleaning

    places = project.config.places
    before = _size(places.derived_dir)
    free, page = (project.db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_size"))
    if free * page >= _WORTH_BYTES:
        build.wipe_freed_pages(project.db)
    else:
        project.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    dropped = cleaning.clean(project.config, env, home)
    removed = [*_drop_left_over(places.derived_dir), *_drop_old_faults(os.path.join(state_dir(), "faults"))]
    growth = _by_month(places.log_dir) or _by_month(places.journal_dir)
    return Cleaned(
        derived_before=before + dropped.before,
        derived_after=_size(places.derived_dir) + dropped.after,
        removed=tuple(sorted(removed)),
        log_bytes=sum(_by_month(places.log_dir).values()),
        journal_bytes=sum(_by_month(places.journal_dir).values()),
        log_growth=growth,
        sessions=dropped.sessions,
        resting_entries=sum(
            project.db.execute("SELECT count(*) FROM entries WHERE session = ?", (id_,)).fetchone()[0]
            for id_ in dropped.sessions
        ),
    )


def _by_month(folder: str) -> dict[str, int]:
    """Bytes of each month's shards: a shard's name begins with its month."""
    found: dict[str, int] = {}
    for path in files(folder) if folder else ():
        month = f"{stem(path)[:4]}-{stem(path)[4:6]}"
        found[month] = found.get(month, 0) + _file_size(path)
    return dict(sorted(found.items()))


def _size(folder: str) -> int:
    """Bytes of the index and its companions; the writer's id and the lock are no derived files."""
    return sum(_file_size(os.path.join(folder, name)) for name in _names(folder) if name.startswith("index."))


def _drop_left_over(folder: str) -> list[str]:
    """Files that a killed process left behind: no one writes such a file for an hour."""
    found = [os.path.join(folder, name) for name in _names(folder) if _LEFT_OVER.search(name)]
    return _drop([path for path in found if _age(path) > _HOUR])


def _drop_old_faults(folder: str) -> list[str]:
    found = [os.path.join(folder, name) for name in _names(folder)]
    return _drop([path for path in found if _age(path) > _KEPT_DAYS * 24 * _HOUR])


def _drop(paths: list[str]) -> list[str]:
    gone = []
    for path in paths:
        try:
            os.unlink(path)
            gone.append(path)
        except OSError:
            continue
    return gone


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _age(path: str) -> float:
    try:
        return time.time() - os.stat(path).st_mtime
    except OSError:
        return 0.0


def _file_size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
