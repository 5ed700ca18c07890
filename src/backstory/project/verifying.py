"""`verify`: reads every file afresh, trusting no index, and says what is wrong, with file and line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import msgspec

from backstory.config import Config
from backstory.errors import BackstoryError
from backstory.index import build
from backstory.log import heads
from backstory.log.lock import held
from backstory.log.names import files, stem
from backstory.log.reader import WHY, tail_of
from backstory.project import integrity
from backstory.project.opened import NOTES, Project
from backstory.project.reading import read_files

FIXES = {
    "marker": "`backstory doctor --fix` removes the markers; no event is lost",
    "torn": "the next write ends it and goes on",
    "leftover": "kept as it is: the event was never confirmed to its writer, and none that follows is missing",
    "corrupt": "kept as it is; repair it by hand, or restore the file from git",
    "hash": "restore the line from git or from another clone, and supersede an entry instead of editing it; if two"
    " memories were joined, name the other id under `also` in project.toml",
    "shard": "put the line back into the file whose name it carries",
    "prev": "`backstory doctor --fix` puts back what the journal has; else restore the file from git",
    "order": "restore the file from git",
    "fork": "compare the two events with `backstory show`; reject the one that nobody wrote",
    "forged": "compare it with `backstory show`; retire it if nobody here wrote it",
    "twice": "restore the file from git",
    "lost": "`backstory doctor --fix` puts back what the journal has; else restore the file from git or a backup",
    "committed": "`git checkout -- .backstory/log` or `backstory doctor --fix` puts them back",
    "journal": "restore the folder from a backup; `backstory doctor --fix` accepts what is there",
    "rollback": "restore the folder from a backup; `backstory doctor --fix` accepts what is there",
    "shape": "kept as it is and counted for nothing; supersede it, or use the version that wrote it",
    "long": "remove the line; events have at most 64 KiB",
    "unreadable": "make the file readable",
}


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong: where, what (`why` is a slug), in words, and what helps."""

    file: str
    line: int
    why: str
    message: str
    fix: str
    id: str = ""


class Report(msgspec.Struct, frozen=True):
    """What `verify` read and found. `sound` when there are no `problems`; `notes` need no repair."""

    sound: bool
    files: int
    lines: int
    events: int
    problems: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    not_in_tree: int
    folded: int
    unknown_kinds: dict[str, int]


class Afresh(NamedTuple):
    """Every line read into an index in memory, which nothing is folded in yet: `touched` are the events to fold."""

    project: Project
    touched: set[int]
    torn: list[Finding]


def read_afresh(config: Config, now: int) -> Afresh:
    """Read the whole log and journal of a project. Takes the writers' lock, so that no line is half written.

    The caller closes the project.
    """
    db = build.in_memory()
    project = Project(config, db, now)
    with _quiet(config):
        db.execute("BEGIN")
        seen = heads.read(config)
        touched, _ = read_files(config, db)
        integrity.find_forged(project, touched)
        integrity.compare(project, seen, structural=True)
        return Afresh(project, touched, _torn_tails(config))


def verify(config: Config, now: int) -> Report:
    """Check the whole log and journal of a project."""
    read = read_afresh(config, now)
    try:
        return report_of(read)
    finally:
        read.project.close()


def report_of(read: Afresh) -> Report:
    """What is wrong with the lines that were read."""
    project, db = read.project, read.project.db
    found = read.torn + problems(project)
    lines, events = (
        db.execute("SELECT coalesce(sum(lines), 0) FROM files").fetchone()[0],
        db.execute("SELECT count(*) FROM events WHERE in_tree + in_journal > 0").fetchone()[0],
    )
    kept = db.execute("SELECT count(*) FROM lines").fetchone()[0]
    bad = db.execute(
        "SELECT count(*) FROM problems WHERE line > 0 AND why IN ('hash', 'shard', 'corrupt', 'leftover', 'marker')"
    )
    return Report(
        sound=not any(item.why not in NOTES for item in found),
        files=db.execute("SELECT count(*) FROM files").fetchone()[0],
        lines=lines,
        events=events,
        problems=tuple(item for item in found if item.why not in NOTES),
        notes=tuple(item for item in found if item.why in NOTES),
        not_in_tree=db.execute("SELECT count(*) FROM events WHERE in_tree = 0 AND in_journal = 1").fetchone()[0],
        folded=max(0, lines - kept - bad.fetchone()[0]),
        unknown_kinds=unknown_kinds(project),
    )


@contextmanager
def _quiet(config: Config) -> Iterator[None]:
    """The writers' lock; without it where it cannot be had, for a store that nobody can write may still be checked."""
    with ExitStack() as stack:
        try:
            stack.enter_context(held(config.places.shared_dir))
        except BackstoryError:
            pass
        yield


def problems(project: Project) -> list[Finding]:
    """What the last read of the files found wrong, as the index has it."""
    rows = project.db.execute("SELECT file, line, why, detail, id FROM problems ORDER BY file, line, why, id")
    return [finding(*row) for row in rows]


def finding(file: str, line: int, why: str, detail: str, id_: str = "") -> Finding:
    """A problem in words."""
    words = WHY.get(why, why)
    return Finding(f"{file}.jsonl", line, why, f"{words} ({detail})" if detail else words, FIXES.get(why, ""), id_)


def _torn_tails(config: Config) -> list[Finding]:
    found = []
    for place, folder in (("log", config.places.log_dir), ("journal", config.places.journal_dir)):
        for path in files(folder) if folder else ():
            try:
                offset, rest = tail_of(path)
            except OSError:
                continue
            if rest:
                with open(path, "rb") as file:
                    number = file.read(offset).count(b"\n") + 1
                found.append(finding(f"{place}/{stem(path)}", number, "torn", f"{len(rest)} bytes without a line end"))
    return found


def unknown_kinds(project: Project) -> dict[str, int]:
    """Events of kinds that this version does not know, by kind."""
    from backstory.records.registry import KINDS, OPERATIONS

    rows = project.db.execute("SELECT kind, count(*) FROM events GROUP BY kind ORDER BY kind")
    return {kind: count for kind, count in rows if kind not in KINDS and kind not in OPERATIONS}


def folder_size(folder: str) -> int:
    """Bytes of the files of a folder, without its subfolders."""
    try:
        with os.scandir(folder) as entries:
            return sum(entry.stat().st_size for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return 0
