"""What no single file shows: lines that this clone wrote and that are gone, a journal that shrank, a store rolled back.

Git moves files for good reasons (reset, stash, checkout, merge). A shard that lacks lines is explained when it is
just what git has in its index, or, with all lines of the index present, a content that git stored at some time.
Everything else is reported; nothing is repaired here.
"""

from __future__ import annotations

import os
import re
from itertools import groupby

from backstory.config import FOLDER
from backstory.index.ingest import JOURNAL, LOG
from backstory.log import heads
from backstory.log.append import pending_block
from backstory.log.names import SUFFIX, stem
from backstory.project.opened import Project
from backstory.records.codec import BadLine, read_fields
from backstory.sources.git.blobs import blob_known, show
from backstory.sources.git.run import git

_LOSSES = "('lost', 'committed', 'journal', 'rollback')"
_KINDS = "('lost', 'committed', 'journal', 'rollback', 'forged')"
_BLANK = b'"redacted":true'
_HASH = re.compile(rb'"h"\s*:\s*"([0-9a-f]{32})"')


def compare(project: Project, seen: heads.Heads, *, structural: bool) -> None:
    """Write what is wrong across files into `problems`, inside the caller's transaction.

    `seen`: the heads as they were before the files were read: another process may keep newer ones meanwhile.
    `structural`: a file was replaced, came or went, so that all lines are compared and not only the new ones.
    """
    db = project.db
    # What was wrong may have been put right by a mere append to the file.
    if structural or in_doubt(project):
        db.execute(f"DELETE FROM problems WHERE why IN {_LOSSES}")
        _lost_lines(project)
        _changed_in_git(project)
    _seen_heads(project, seen)


def _by_hash(data: bytes) -> dict[bytes, bytes]:
    """The whole lines of a shard by their hash, which a redacted line keeps."""
    lines = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    return {match[1]: line for line in lines if line.endswith(b"}") and (match := _HASH.search(line))}


def _kept(line: bytes, now: bytes) -> bool:
    """Whether `now` is what became of a committed line: the same, blanked, or written with other white space."""
    if now == line or _BLANK in now:
        return True
    try:
        return read_fields(now) == read_fields(line)
    except BadLine:
        return False


def in_doubt(project: Project) -> bool:
    """Whether something is missing that git, which moves on, may explain by now."""
    row = project.db.execute(f"SELECT EXISTS (SELECT 1 FROM problems WHERE why IN {_LOSSES})").fetchone()
    return bool(row[0])


def _report(project: Project, file: str, why: str, detail: str = "", id_: str = "") -> None:
    project.db.execute("DELETE FROM problems WHERE file = ? AND why = ? AND id = ?", (file, why, id_))
    project.db.execute("INSERT INTO problems VALUES (?, 0, ?, ?, ?)", (file, why, detail, id_))


def _lost_lines(project: Project) -> None:
    """Shards of the tree that lack lines which the journal has."""
    if project.config.private or not project.config.places.journal_dir:
        return
    rows = project.db.execute(
        "SELECT s.name, coalesce(ft.size, 0), j.h FROM lines AS j JOIN files AS fj ON fj.file = j.file AND fj.place = ?"
        " JOIN shards AS s ON s.shard = j.shard LEFT JOIN files AS ft ON ft.place = ? AND ft.name = s.name"
        " LEFT JOIN lines AS t ON t.file = ft.file AND t.h = j.h WHERE t.h IS NULL ORDER BY s.name",
        (JOURNAL, LOG),
    ).fetchall()
    if not rows:
        return
    # Asked before the files are: a writer drops its note when its lines stand there.
    block = _by_hash(pending_block(project.config))
    for (name, size), lines in groupby(rows, key=lambda row: row[:2]):
        there = block | _by_hash(_behind(project, name, size))
        missing = sum(h.hex().encode() not in there for _, _, h in lines)
        why = unexplained(project, name) if missing else ""
        if why:
            _report(project, f"{LOG}/{name}", why, f"{missing} lines are only in the journal")


def _behind(project: Project, name: str, size: int) -> bytes:
    """What a shard got since it was read until `size`: writers do not wait for readers."""
    try:
        with open(os.path.join(project.config.places.log_dir, name + SUFFIX), "rb") as file:
            file.seek(size)
            return file.read()
    except OSError:
        return b""


def _changed_in_git(project: Project) -> None:
    """Shards of other writers, which no journal here knows: lines that git has and the tree has not."""
    if not project.config.places.git_dir or project.config.private:
        return
    result = git(["diff-files", "--name-only", "-z", "--", f"{FOLDER}/log"], project.root)
    for path in sorted(set(result.out.decode("utf-8", "surrogateescape").split("\0"))) if result.code == 0 else ():
        if path.endswith(SUFFIX) and unexplained(project, stem(path)) == "committed":
            _report(project, f"{LOG}/{stem(path)}", "committed", "git has more lines")


def unexplained(project: Project, name: str) -> str:
    """ "" when git explains the present content of a shard, else `committed` or `lost`."""
    path = f"{FOLDER}/log/{name}.jsonl"
    try:
        with open(os.path.join(project.root, path), "rb") as file:
            data: bytes | None = file.read()
    except OSError:
        data = None
    staged = show(project.root, f":{path}")
    if data is None:
        return "committed" if staged is not None else ""
    if staged is not None:
        there, here = _by_hash(staged), _by_hash(data)
        if not all(_kept(line, here.get(h, b"")) for h, line in there.items()):
            return "committed"
        if there.keys() == here.keys():
            return ""
    return "" if blob_known(project.root, data) else "lost"


def find_forged(project: Project, touched: set[int]) -> None:
    """Report lines that carry this work tree's writer, though its journal never had them.

    Ask before the fold: what such a line says waits for a person, whoever it says wrote it.
    """
    writer = _own_writer(project)
    if not writer or project.config.private:
        return
    db = project.db
    journals = {row[0] for row in db.execute("SELECT name FROM files WHERE place = ?", (JOURNAL,))}
    # What was computed from a source stands in no shard.
    query = (
        "SELECT id, shard FROM events WHERE in_tree = 1 AND in_journal = 0 AND event = ?1"
        " AND NOT EXISTS (SELECT 1 FROM computed AS c WHERE c.event = ?1)"
    )
    for event in sorted(touched):
        for id_, shard in db.execute(query, (event,)):
            month, owner = shard.split("-")[:2]
            if owner == writer and f"{month}-{owner}" in journals:
                _report(project, f"{LOG}/{shard}", "forged", "", id_)


def _own_writer(project: Project) -> str:
    try:
        with open(
            os.path.join(project.config.places.derived_dir, "writer"), encoding="utf-8", errors="replace"
        ) as file:
            writer, root = file.read().split("\n", 1)
    except (OSError, ValueError):
        return ""
    return writer if root.rstrip("\n") == project.root and project.config.places.git_dir else ""


def _seen_heads(project: Project, seen: heads.Heads) -> None:
    """Whether the last events seen in each file are still there."""
    for label, (tip, count) in sorted(seen.items()):
        place, _, name = label.partition("/")
        if _has_line(project, place, name, tip):
            project.db.execute("DELETE FROM problems WHERE file = ? AND why IN ('journal', 'rollback')", (label,))
        elif place == JOURNAL:
            _report(project, label, "journal", f"{count} lines were there")
        elif not project.config.places.git_dir:
            _report(project, label, "rollback", f"{count} lines were there")
        else:
            why = unexplained(project, name)
            if why:
                _report(project, label, why, f"{count} lines were there")


def _has_line(project: Project, place: str, name: str, tip: str) -> bool:
    row = project.db.execute(
        "SELECT 1 FROM files JOIN lines USING (file) WHERE place = ? AND name = ? AND h = ?",
        (place, name, bytes.fromhex(tip)),
    ).fetchone()
    return row is not None


def keep_heads(project: Project, *, accept: bool = False) -> None:
    """Remember the present heads. A head that is missing stays remembered until a person accepts the store."""
    known = heads.read(project.config)
    git = bool(project.config.places.git_dir)
    now = {
        f"{place}/{name}": (tip, lines)
        for place, name, tip, lines in project.db.execute("SELECT place, name, tip, lines FROM files WHERE tip <> ''")
    }
    if not accept:
        bad = {row[0] for row in project.db.execute(f"SELECT file FROM problems WHERE why IN {_KINDS}")}
        kept = {label: head for label, head in known.items() if label in bad or (label not in now and not git)}
        now = {**now, **kept}
    if now != known:
        heads.write(project.config, now)
