"""Reads what is new in the transcripts on this machine into the project's archive of sessions.

Only what this user's own clients wrote, only on this machine, and only where the person did not turn it off. A
transcript of other projects is looked through once for a folder of this one, and again only in what is added to it.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from backstory.config import Config, state_dir
from backstory.index.archive import store, writing
from backstory.project import known
from backstory.project.sessions.owning import Owner
from backstory.project.sessions.taking import Going, Taker
from backstory.records.secrets import redact
from backstory.sources.transcripts import known as clients
from backstory.sources.transcripts.contract import Cursor, Found
from backstory.sources.transcripts.stream import Facts

_FOLDERS = re.compile(rb'"(?:cwd|workdir|directory|worktree|workspace|root)"\s*:\s*"((?:[^"\\]|\\.){1,4096})"')
_PIECE, _OVERLAP = 4 << 20, 8 << 10
_LINES = (".jsonl", ".json", ".md")

Progress = Callable[[int, int], None]


class Report(msgspec.Struct):
    """What a reading did: transcripts there are, those read now, sessions that have something of this project."""

    transcripts: int = 0
    read: int = 0
    sessions: int = 0
    bytes_read: int = 0
    lost: int = 0
    gone: int = 0
    unreadable: list[str] = []
    # "" when all was read; else why not: off, or time.
    stopped: str = ""
    # Numbers of the sessions that have something new.
    changed: list[int] = []


class Switched(msgspec.Struct, frozen=True):
    """Whether transcripts are read for this project from now on."""

    on: bool


def archive_path(config: Config) -> str:
    """Where the project's archive lies."""
    return store.path_in(config.places.shared_dir)


def is_on(config: Config) -> bool:
    """Whether this user's transcripts are read for this project: yes unless the person said no."""
    return not os.path.exists(_off_path(config))


def switch(config: Config, on: bool) -> None:
    """Turn the reading of transcripts on or off for this user; off deletes what was read."""
    path = _off_path(config)
    if on:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{config.root}\n")
    store.delete(archive_path(config))


def _off_path(config: Config) -> str:
    return os.path.join(state_dir(), "sessions-off", config.project)


def own_files(config: Config, env: Mapping[str, str], home: str) -> Iterator[Found]:
    """The transcripts of this user's clients, and those that clients keep in the project itself."""
    yield from clients.all_files(env, home)
    history = os.path.join(config.root, ".aider.chat.history.md")
    if os.path.isfile(history):
        yield Found("aider", history, folders=(config.root,))


def refresh(
    config: Config,
    env: Mapping[str, str],
    home: str,
    *,
    only: Iterable[Found] | None = None,
    seconds: float = 3_600.0,
    progress: Progress | None = None,
) -> Report:
    """Bring the archive up to date, or what it has of `only`; `Report.stopped` says when it could not be finished."""
    if not is_on(config):
        return Report(stopped="off")
    known.remember(config)
    found = list(own_files(config, env, home) if only is None else only)
    db, _ = store.open_for_writing(archive_path(config))
    try:
        reading = _Reading(db, Owner(config), time.monotonic() + seconds)
        for number, transcript in enumerate(found):
            if progress is not None:
                progress(number, len(found))
            if time.monotonic() > reading.deadline:
                reading.report.stopped = "time"
                break
            reading.look_at(transcript)
        reading.report.gone = sum(
            not os.path.exists(place.path) for place in reading.places.values() if place.ours and only is None
        )
        reading.report.sessions = db.execute("SELECT count(*) FROM sessions").fetchone()[0]
        return reading.report
    finally:
        db.close()


class _Reading:
    """One refresh."""

    def __init__(self, db: sqlite3.Connection, owner: Owner, deadline: float) -> None:
        self.db, self.owner, self.deadline = db, owner, deadline
        self.places = writing.places(db)
        self.report = Report()
        roots = {owner.root, os.path.realpath(owner.root), *owner.former}
        self.needles = [msgspec.json.encode(root)[1:-1] for root in roots]

    def look_at(self, found: Found) -> None:
        self.report.transcripts += 1
        place = self.places.get((found.path, found.part)) or writing.Place(
            0, found.client, found.path, found.part, found.parent
        )
        try:
            size, stamp = _stamp(found.path)
            if place.transcript and place.stamp == stamp:
                return
            if not place.ours and not self._may_be_ours(found, place.size if place.size <= size else 0):
                self._keep(msgspec.structs.replace(place, stamp=stamp, size=size))
                return
            self._read(found, place, stamp, size)
        except OSError as error:
            self.report.unreadable.append(f"{found.path}: {error.strerror or error}")

    def _may_be_ours(self, found: Found, start: int) -> bool:
        """Whether a transcript names a folder of this project anywhere from byte `start` on."""
        if found.part or not found.path.endswith(_LINES) or any(map(self.owner.owns, found.folders)):
            return True
        folders: set[bytes] = set()
        with open(found.path, "rb") as file:
            file.seek(max(0, start - _OVERLAP))
            rest = b""
            while piece := file.read(_PIECE):
                text = rest + piece
                if any(needle in text for needle in self.needles):
                    return True
                folders.update(_FOLDERS.findall(text))
                rest = text[-_OVERLAP:]
        return any(self.owner.owns(_unescaped(folder)) for folder in folders)

    def _read(self, found: Found, place: writing.Place, stamp: str, size: int) -> None:
        db, before = self.db, place.offset
        db.execute("BEGIN IMMEDIATE")
        try:
            number = place.transcript or writing.keep_place(db, place)
            place = msgspec.structs.replace(place, transcript=number)
            reader = clients.open_reader(found, Cursor(place.offset, place.state, place.head))
            going = _going(place)
            if reader.began_anew or going is None:
                writing.forget(db, [number])
                place = msgspec.structs.replace(place, offset=0, state=b"", head="", going=b"")
                if not reader.began_anew:
                    reader = clients.open_reader(found, Cursor())
                going, before = Going(Facts(0, None)), 0
            if found.folders and not going.facts.cwd:
                going.facts = Facts(0, None, cwd=found.folders[0])
            # A reader that can stops at a whole record when time is up.
            if hasattr(reader, "deadline"):
                reader.deadline = self.deadline
            taker = Taker(db, self.owner, place, going)
            for item in reader:
                taker.take(item)
            cursor = reader.cursor
            state = taker.finish()
            done = not hasattr(reader, "deadline") or time.monotonic() <= self.deadline
            self._keep(msgspec.structs.replace(
                place, stamp=stamp if done else "", size=size, ours=going.ours, offset=cursor.offset,
                state=_without_secrets(cursor.state), head=cursor.stamp, going=state,
            ))  # fmt: skip
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        self.report.read += 1
        self.report.bytes_read += max(0, (cursor.offset or size) - before)
        self.report.lost += going.lost
        if going.ours:
            self.report.changed.append(number)
        if not done:
            self.report.stopped = "time"

    def _keep(self, place: writing.Place) -> None:
        number = writing.keep_place(self.db, place)
        self.places[place.path, place.part] = msgspec.structs.replace(place, transcript=number)


def _without_secrets(state: bytes) -> bytes:
    """What a reader remembers, unless it holds a secret: then it has to find out again."""
    return b"" if redact(state.decode("utf-8", "replace")).kinds else state


def _going(place: writing.Place) -> Going | None:
    if not place.going:
        return Going(Facts(0, None)) if not place.offset else None
    try:
        return msgspec.json.decode(place.going, type=Going)
    except msgspec.DecodeError:
        return None


def _stamp(path: str) -> tuple[int, str]:
    """Size and a text that changes when the file, or the log beside a database, does."""
    status = os.stat(path)
    stamp = f"{status.st_size}:{status.st_mtime_ns}"
    try:
        beside = os.stat(f"{path}-wal")
        stamp += f":{beside.st_size}:{beside.st_mtime_ns}"
    except OSError:
        pass
    return status.st_size, stamp


def _unescaped(text: bytes) -> str:
    try:
        return msgspec.json.decode(b'"' + text + b'"', type=str)
    except msgspec.DecodeError:
        return ""
