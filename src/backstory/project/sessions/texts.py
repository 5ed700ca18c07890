"""The text behind a place in a transcript: read where it stands, cleaned, and given to whoever asked for just that."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence

from backstory.index.archive import asking
from backstory.index.filters import numbers
from backstory.records.secrets import redact
from backstory.sources.transcripts import known as clients
from backstory.sources.transcripts import stream
from backstory.sources.transcripts.contract import Cursor, Found
from backstory.sources.transcripts.failures import error_line
from backstory.sources.transcripts.lines import LineReader, head_stamp

# A passage has no more; what follows in a damaged file is somebody else's.
MOST_BYTES = 64 << 20


def between(found: Found, start: int, until: int, stems: Sequence[str] = ()) -> Iterator[stream.Item]:
    """The items of a transcript from one place to another, both included; none when it is gone.

    With `stems`, those of lines that have none of them may be left out.
    """
    try:
        cursor = Cursor(start, b"", head_stamp(found.path, start)) if start and not found.part else Cursor()
        reader = clients.open_reader(found, cursor)
        if stems and isinstance(reader, LineReader):
            reader.only = (until, tuple(stem.encode("utf-8", "replace") for stem in stems))
        for item in reader:
            if item.offset > until:
                return
            if item.offset >= start:
                yield item
    except OSError:
        return


def lines_of(items: Iterator[stream.Item]) -> Iterator[tuple[str, str]]:
    """(who, text) of what can be quoted: the person, the agent, a command, what failed. Redacted."""
    for item in items:
        who, text = _quoted(item)
        if text:
            yield who, redact(text).text


def _quoted(item: stream.Item) -> tuple[str, str]:
    if isinstance(item, stream.UserText):
        return "person", item.text
    if isinstance(item, stream.AssistantText):
        return "agent", item.text
    if isinstance(item, stream.Call):
        return "command" if item.command else "tool", item.command or " ".join((item.tool, *item.paths, item.words))
    if isinstance(item, stream.Result) and item.outcome == stream.ERROR:
        return "error", error_line(item.text)
    if isinstance(item, stream.Rejection):
        return "refused", item.reason
    return "", ""


def unread(documents: Sequence[int]) -> dict[int, tuple[str, str, str]]:
    """No text at all for passages: for who only wants to know which are found."""
    return dict.fromkeys(documents, ("", "", ""))


def texts_from(
    db: sqlite3.Connection, documents: Sequence[int], words: Sequence[str] = ()
) -> dict[int, tuple[str, str, str]]:
    """(text, title, paths) of passages, as `index.search` wants them: read from the transcripts.

    Of a passage the lines that have one of `words` are read, until all were seen; all of it without any.
    """
    sql = f"""SELECT p.document, p.offset, p.until, d.title, t.client, t.path, t.part
        FROM passages p JOIN documents d ON d.rowid = p.document JOIN transcripts t ON t.transcript = p.session
        WHERE p.document IN ({numbers(documents)})"""
    # About the word without its ending: a filter, not a match.
    stems = [word[: max(4, len(word) - 2)].casefold() for word in words]
    found = {}
    for document, start, until, title, client, path, part in db.execute(sql).fetchall():
        text, place = "", Found(client, path, part)
        # Words may stand in a line as escapes: then all of it is read.
        for sought in ([stems, []] if stems else [[]]) if os.path.exists(path) else []:
            text = text or redact("\n".join(_until_seen(between(place, start, until, sought), stems))).text
        paths = db.execute("SELECT path FROM document_paths WHERE document = ?", (document,)).fetchall()
        found[document] = (text, title, "\n".join(row[0] for row in paths))
    return found


def _until_seen(items: Iterator[stream.Item], stems: list[str]) -> Iterator[str]:
    missing = set(stems)
    for item in items:
        text = _quoted(item)[1]
        if not text:
            continue
        yield text
        if missing:
            folded = text.casefold()
            missing = {stem for stem in missing if stem not in folded}
            if not missing:
                return


def found_of(session: asking.Session) -> Found:
    """Where a session's transcript is."""
    return Found(session.client, session.path, session.part)
