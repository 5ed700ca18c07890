"""The brief for a session that starts, for a hook that the host waits for. Light: standard library, no `json`, no `re`.

Current index: answered from the live view with `sqlite3` alone. Behind, or a cited file changed: brought up to date
within the time budget, with everything that takes, or answered from what there is, and that is said in a notice.
"""

from __future__ import annotations

import os
import time

from backstory.config import Settings, find, load
from backstory.index import store
from backstory.project import currency
from backstory.project.session_file import mark
from backstory.project.working_set import working_set
from backstory.recall import brief
from backstory.recall.stamps import file_moved

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from backstory.config import Places

STATUS_SECONDS = 1.0
LOCK_SECONDS = 0.5


class Said:
    """What a session is told at its start: the brief ("" for nothing), a mark of each entry in it, notices for stderr.

    `places` is None where there is no project.
    """

    __slots__ = ("marks", "notices", "places", "text", "tokens")

    def __init__(
        self, places: Places | None, text: str = "", marks: Sequence[str] = (), notices: Sequence[str] = (),
        tokens: int = 0,
    ) -> None:  # fmt: skip
        self.places, self.text, self.marks, self.notices = places, text, list(marks), list(notices)
        self.tokens = tokens


def session_brief(cwd: str, session: str, now: int) -> tuple[str, list[str]]:
    """The brief ("" for nothing to say, or no project here) and notices for stderr."""
    said = at_start(cwd, session, now)
    return said.text, said.notices


def at_start(cwd: str, session: str, now: int) -> Said:
    """What a session that starts is told; nothing where there is no project."""
    places = find(cwd)
    if places is None:
        return Said(None)
    db = store.open_ready(places.index_path)
    if db is not None:
        known = store.meta(db)
        if not currency.state(places, store.file_sizes(db), known) and not currency.has_pending(places):
            made = _make(db, places, known, session, now)
            if not ground_moved(db, places.root, [*made.ids, *brief.withheld(db)]):
                return Said(places, made.text, _marks(db, made.ids), _damage(db), made.tokens)
        db.close()
    return _slow(places, cwd, session, now)


def _marks(db: sqlite3.Connection, ids: Sequence[str]) -> list[str]:
    query = "SELECT last_at, standing FROM entries WHERE id = ?"
    rows = [(id_, *db.execute(query, (id_,)).fetchone()) for id_ in ids]
    return [mark(id_, last_at, standing == "contested") for id_, last_at, standing in rows]


def _make(db: sqlite3.Connection, places: Places, known: dict[str, str], session: str, now: int) -> brief.Brief:
    files = working_set(db, places.root, places.git_dir, seconds=STATUS_SECONDS, session=session)
    return brief.make(db, known.get("name", "project"), files, kept_settings(known), now, session=session)


def kept_settings(known: dict[str, str]) -> Settings:
    """The settings that the last refresh left in the index."""
    settings = Settings()
    for name in Settings.BRIEF:
        value = known.get(f"setting:{name}")
        if value is not None:
            kind = type(getattr(settings, name))
            setattr(settings, name, value if kind is str else kind(float(value)))
    return settings


def ground_moved(db: sqlite3.Connection, root: str, ids: list[str]) -> bool:
    """Whether a file that one of the entries cites is no longer as it was when it was judged."""
    marks = ",".join("?" * len(ids))
    rows = db.execute(
        "SELECT DISTINCT f.path, f.stamp FROM entries AS e CROSS JOIN entry_files AS f ON f.entry = e.entry"
        f" WHERE e.id IN ({marks})",
        ids,
    )
    return any(file_moved(os.path.join(root, path), mark) for path, mark in rows)


def _slow(places: Places, cwd: str, session: str, now: int) -> Said:
    """Everything heavier: refresh, then the same brief."""
    started = time.monotonic()
    bring_packages()
    from backstory.project import briefing, refresh

    config = load(cwd)
    seconds = max(0.1, config.settings.hook_seconds - (time.monotonic() - started) - 0.3)
    with refresh.open_config(config, now=now, seconds=seconds) as project:
        answer = briefing.brief(project, session=session)
        marks = _marks(project.db, answer.ids)
        return Said(places, answer.text, marks, [*project.notices, *_damage(project.db)], answer.tokens)


def hurry() -> None:
    """Give up on a locked index soon, in this whole process: while SQLite waits no alarm is heard."""
    store.BUSY_SECONDS = LOCK_SECONDS


def bring_packages() -> None:
    """Let installed packages be imported: a hook's interpreter starts without them."""
    try:
        import msgspec  # noqa: F401
    except ImportError:
        import site

        site.main()


def _damage(db: sqlite3.Connection) -> list[str]:
    """A session that starts on a damaged log is told so, as every other reader is."""
    count = store.problem_count(db)
    return [f"the log has {count} problem(s); run `backstory verify`"] if count else []
