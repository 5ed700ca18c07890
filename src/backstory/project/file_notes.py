"""What an agent is told while it works: about a file when it reads it, about an edit that brings a failed one back.

Light: a hook waits for it. A note is given once per session and entry; again only when the entry changed, or when the
session lost sight of it. What the index has is enough: it is brought up to date only where the log itself moved on.
"""

from __future__ import annotations

import os

from backstory.config import FOLDER, find
from backstory.index import store
from backstory.project import currency
from backstory.project.session_file import GIVEN, REFUSED, TOLD, WARNED, SessionFile, mark
from backstory.project.session_start import bring_packages, ground_moved, kept_settings
from backstory.recall import check, notes
from backstory.recall.tokens import estimate
from backstory.records.likeness import line_hashes

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from backstory.config import Places, Settings

# A search that names more files than these says nothing about any of them in particular.
MOST_FILES = 3
_MOST_WORDS = 400
_QUOTES = "\"'`()[]{}<>,;:!?*@"


class Session:
    """One session in one project: its index, open, and its file. `name` is "" where there is no project."""

    def __init__(self, cwd: str, session: str, now: int) -> None:
        self.now, self.notices = now, list[str]()
        self.places = find(cwd)
        self.cwd = os.path.realpath(cwd)
        self.file = SessionFile(self.places, session) if self.places else None
        self._db: sqlite3.Connection | None = None
        self.name = ""
        self.settings: Settings | None = None

    def open(self) -> sqlite3.Connection | None:
        """The index, current as far as the log goes; None where there is none, or it could not be made in time."""
        if self._db is None and self.places is not None:
            db = store.open_ready(self.places.index_path)
            if db is not None:
                known = store.meta(db)
                behind = currency.state(self.places, store.file_sizes(db), known)
                # New commits change no entry; what they do to freshness is seen by the next refresh.
                if behind == "git":
                    behind = "lessons" if currency.lessons_moved(self.places, known) else ""
                if behind or currency.has_pending(self.places):
                    db.close()
                    db = None
            if db is None:
                db = self._refreshed(self.places)
                known = store.meta(db) if db is not None else {}
            if db is not None:
                self._db, self.name, self.settings = db, known.get("name", "project"), kept_settings(known)
        return self._db

    def _refreshed(self, places: Places) -> sqlite3.Connection | None:
        """The index after a refresh within the time of a hook."""
        bring_packages()
        from backstory.config import read_marker
        from backstory.project import refresh

        config = read_marker(places)
        project = refresh.open_config(config, now=self.now, seconds=max(0.1, config.settings.hook_seconds - 0.5))
        self.notices += project.notices
        return project.db

    def inside(self, path: str) -> str:
        """The path relative to the project, with /, or "" for one outside of it."""
        if self.places is None or not path or "\0" in path:
            return ""
        text = path.replace("\\", "/") if os.name == "nt" else path
        root = self.places.root.rstrip(os.sep) + os.sep
        # Where links lead first: what is known is known of the file itself.
        for full in (os.path.realpath(os.path.join(self.cwd, text)), os.path.normpath(os.path.join(self.cwd, text))):
            if full.startswith(root):
                found = full[len(root) :].replace(os.sep, "/")
                return "" if found.split("/", 1)[0] in (FOLDER, ".git") else found
        return ""


def about(session: Session, paths: Sequence[str]) -> str:
    """What is known about files that the agent reads or that a person names, as far as the session was not told."""
    inside = list(dict.fromkeys(filter(None, map(session.inside, paths))))
    if not inside or len(inside) > MOST_FILES:
        return ""
    db = session.open()
    if db is None or session.file is None or session.settings is None:
        return ""
    blocks = []
    for path in inside:
        present = check.present_names(db, [path])[path]
        fresh = [note for note in notes.about(db, [present], session.now) if not _was_told(session, note)]
        fresh = _still_true(session, db, fresh)
        said = [(_mark(note), notes.line_of(db, note)) for note in fresh]
        said += _of_others(session, db, path)
        text, count = notes.fit([line for _, line in said], session.name, path, session.settings.note_tokens)
        if text:
            told = [(TOLD, known) for known, _ in said[:count]]
            session.file.add_all([*told, (GIVEN, f"{session.now} notes {estimate(text)}")])
            blocks.append(text)
    return "\n".join(blocks)


def _of_others(session: Session, db: sqlite3.Connection, path: str) -> list[tuple[str, str]]:
    """(mark, line) of lessons of other projects on the libraries that the file uses, as far as it was not told.

    Few projects have any, and the rest pay one look-up: only then the file is read.
    """
    if session.file is None or not db.execute("SELECT 1 FROM lessons LIMIT 1").fetchone():
        return []
    bring_packages()
    from backstory.project.sharing.applying import fresh_about

    assert session.places is not None
    found = fresh_about(db, session.places.root, path, session.now)
    return [(id_, line) for id_, line in found if not session.file.has(TOLD, id_)]


def _was_told(session: Session, note: notes.Note) -> bool:
    return session.file is not None and session.file.has(TOLD, _mark(note))


def _mark(note: notes.Note) -> str:
    return mark(note.id, note.last_at, note.contested)


def _still_true(session: Session, db: sqlite3.Connection, found: list[notes.Note]) -> list[notes.Note]:
    """Without those whose cited text is no longer as it was when it was judged: the next refresh judges them anew."""
    if session.places is None or not ground_moved(db, session.places.root, [note.id for note in found]):
        return found
    return [note for note in found if not ground_moved(db, session.places.root, [note.id])]


def named_in(session: Session, prompt: str) -> list[str]:
    """The files that a prompt names, at most three: words that are paths of this project."""
    if session.places is None:
        return []
    found: dict[str, None] = {}
    for word in prompt.split(None, _MOST_WORDS)[:_MOST_WORDS]:
        text = word.lstrip(_QUOTES).rstrip(_QUOTES + ".")
        if ("/" in text or "." in text) and not text.startswith(("http:", "https:", "/*")):
            text = text.split("#", 1)[0].partition(":")[0] if ":" in text[2:] else text.split("#", 1)[0]
            path = session.inside(text)
            if path and os.path.lexists(os.path.join(session.places.root, path)):
                found[text] = None
    return list(found) if len(found) <= MOST_FILES else []


def comes_back(session: Session, paths: Sequence[str], added: str, intent: str = "") -> list[str]:
    """Warnings for lines of a failed patch that an edit adds, each once per session."""
    inside = list(dict.fromkeys(filter(None, map(session.inside, paths))))
    db = session.open() if inside else None
    if db is None or session.file is None:
        return []
    lines = line_hashes(added.splitlines())
    warnings = []
    for match in check.like_failed(db, check.Change(inside, intent, check.Patch(lines)), session.now):
        id_, line = db.execute("SELECT id, summary FROM entries WHERE entry = ?", (match.entry,)).fetchone()
        again = f"{id_} again"
        if not session.file.has(TOLD, again):
            pairs = [(WARNED, f"{session.now} {id_} {path}") for path in match.files[:2]]
            session.file.add_all([(TOLD, again), *pairs, (GIVEN, f"{session.now} warning {estimate(line)}")])
            where = ", ".join(map(notes.inert, match.files[:2]))
            warnings.append(f"This was tried before: {line} ({where}; `backstory show {id_[-6:]}`)")
    return warnings


def refusal(session: Session, paths: Sequence[str], added: str) -> str:
    """Why an edit is refused, once per session and finding; "" where the project did not ask for that (`hooks.refuse`).

    Only then the whole check is made, which costs what a command costs.
    """
    inside = list(dict.fromkeys(filter(None, map(session.inside, paths))))
    db = session.open() if inside else None
    if db is None or session.file is None or session.places is None or session.settings is None:
        return ""
    if not session.settings.hook_refuses:
        return ""
    bring_packages()
    from backstory.project import refusing

    found = refusing.reasons(session.places, inside, added, session.settings.hook_refuses, session.now)
    new = [(id_, text) for id_, text in found if not session.file.has(REFUSED, id_)]
    # A refusal that cannot be remembered would never end.
    if not session.file.add(REFUSED, *(id_ for id_, _ in new)):
        return ""
    return "\n".join(text for _, text in new)
