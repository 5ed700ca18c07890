"""What the tests of the clients beside Claude Code and Codex share: writing a transcript, and reading it."""

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from backstory.sources.transcripts.contract import Cursor, Found
from backstory.sources.transcripts.known import open_reader
from backstory.sources.transcripts.stream import Injected, Item, UserText

AT = "2026-03-01T10:00:00Z"
MICROS = 1_772_359_200_000_000
MILLIS = MICROS // 1_000


def lines(path: Path, records: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


def whole(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def read(client: str, path: Path, part: str = "", cursor: Cursor | None = None) -> list[Item]:
    return list(open_reader(Found(client, str(path), part), cursor))


def of(items: Iterable[Item], kind: type) -> list[Any]:
    return [item for item in items if isinstance(item, kind)]


def typed(items: Iterable[Item]) -> list[str]:
    return [item.text for item in of(items, UserText)]


def injected(items: Iterable[Item]) -> list[tuple[str, str]]:
    return [(item.text, item.origin) for item in of(items, Injected)]


def folder_bytes(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


OPENCODE_SCHEMA = """
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
  time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER,
  data TEXT);
"""


def opencode_database(
    path: Path, messages: list[tuple[dict[str, Any], list[dict[str, Any]]]], parent: str = ""
) -> Path:
    """A database with one session `s1` in `/home/ada/app`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(OPENCODE_SCHEMA)
    row = ("s1", "p", parent or None, "/home/ada/app", "A title", "1.2.0", MILLIS, MILLIS)
    connection.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?,?)", row)
    for number, (message, parts) in enumerate(messages):
        add_opencode(connection, number, message, parts)
    connection.commit()
    connection.close()
    return path


def add_opencode(
    connection: sqlite3.Connection, number: int, message: dict[str, Any], parts: list[dict[str, Any]]
) -> None:
    at = MILLIS + number * 1_000
    connection.execute("INSERT INTO message VALUES (?,?,?,?,?)", (f"m{number}", "s1", at, at, json.dumps(message)))
    for index, part in enumerate(parts):
        row = (f"p{number}.{index}", f"m{number}", "s1", at + index, at + index, json.dumps(part))
        connection.execute("INSERT INTO part VALUES (?,?,?,?,?,?)", row)


def cursor_database(path: Path, session: dict[str, Any], bubbles: dict[str, Any]) -> Path:
    """A database of Cursor's editor with the session `c1`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    connection.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    rows = {"composerData:c1": session, **{f"bubbleId:c1:{key}": bubble for key, bubble in bubbles.items()}}
    for key, value in rows.items():
        connection.execute("INSERT INTO cursorDiskKV VALUES (?,?)", (key, json.dumps(value)))
    connection.commit()
    connection.close()
    return path
