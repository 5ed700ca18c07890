"""Takes one transcript into the archive: the part of it that is this project's, item by item.

What belongs to the project is decided for each item by the folder it happened in, or by the file it touched. Every text
that is kept, or whose words are, went through redaction first. Reading goes on where it stopped: `Going` holds what the
archive has to remember of a transcript in between.
"""

from __future__ import annotations

import os
import sqlite3
from functools import lru_cache
from hashlib import blake2b

import msgspec

from backstory.index.archive import writing
from backstory.project.sessions.owning import Owner
from backstory.project.sessions.placing import folder_inside, placed
from backstory.records.hostile import one_line
from backstory.records.secrets import redact
from backstory.sources.transcripts import stream
from backstory.sources.transcripts.commands import commits_told, is_failure
from backstory.sources.transcripts.failures import error_line

TITLE, ASKED, SAID, COMMAND, ERROR = 120, 200, 300, 300, 300
# A piece of a turn becomes a document of its own at this many characters, and longer single texts are cut.
PASSAGE, LONGEST_TEXT, WORDS = 12_000, 100_000, 2_000
MOST_PENDING = 500


class Pending(msgspec.Struct, array_like=True):
    """A call that has no result yet."""

    call: int
    does: str
    command: str
    edits: tuple[str, ...] = ()
    # Where it ran: what it edits is named from there.
    folder: str = ""


class Going(msgspec.Struct, array_like=True):
    """What is known of a transcript between two readings."""

    facts: stream.Facts
    cwd: str = ""
    began: int | None = None
    ended: int | None = None
    tokens: tuple[int, int, int] = (0, 0, 0)
    turn: int = 0
    number: int = 0
    turns: int = 0
    piece: int = 0
    # 1: what follows is a copy of what another transcript has.
    copied: bool = False
    title: str = ""
    outcome: str = "unknown"
    calls: int = 0
    failed: int = 0
    edits: int = 0
    lost: int = 0
    unknown: int = 0
    ours: bool = False
    pending: dict[str, Pending] = {}


class _Turn:
    """What was read of the present turn and is not written yet."""

    def __init__(self) -> None:
        # Where it begins and where the last of it does; -1 while there is nothing.
        self.offset = self.until = -1
        self.at: int | None = None
        self.asked: list[str] = []
        self.rest: list[str] = []
        self.paths: dict[str, None] = {}
        self.size = 0
        self.said = ""
        self.calls = self.failed = self.edits = 0


class Taker:
    """Takes the items of one transcript. Call `take` for each, then `finish`."""

    def __init__(self, db: sqlite3.Connection, owner: Owner, place: writing.Place, going: Going) -> None:
        self.db, self.owner, self.place, self.going = db, owner, place, going
        self.session = place.transcript
        self.now, self.calls = _Turn(), writing.Calls(db, place.transcript)
        self.folder = going.facts.cwd
        self.here = owner.owns(self.folder)
        self._handlers = {
            stream.Facts: self._facts,
            stream.UserText: self._user,
            stream.AssistantText: self._assistant,
            stream.Call: self._call,
            stream.Edit: self._edit,
            stream.Result: self._result,
            stream.Rejection: self._rejection,
            stream.Interrupt: self._interrupt,
            stream.Spent: self._spent,
            stream.Ended: self._end,
            stream.Lost: self._lost,
            stream.Unknown: self._unknown,
        }

    def take(self, item: stream.Item) -> None:
        """Take the next item."""
        handler = self._handlers.get(type(item))
        if handler is not None:
            handler(item)  # type: ignore[operator]

    def finish(self) -> bytes:
        """Write what is left; what to remember."""
        self._flush()
        self.calls.write()
        if self.going.ours:
            self._write_session()
        return msgspec.json.encode(self.going)

    def _facts(self, item: stream.Facts) -> None:
        self.going.facts = _plain(stream.merged(self.going.facts, item))
        if item.cwd and item.cwd != self.folder:
            self.folder = item.cwd
            here = self.owner.owns(item.cwd)
            if here != self.here:
                self._flush()
                self.here = here
        if item.title:
            self.going.title = one_line(redact(item.title).text, TITLE)

    def _user(self, item: stream.UserText) -> None:
        self._flush()
        self.going.copied = False
        if not self.here:
            return self._outside()
        if item.key and writing.is_copy(self.db, key_of(item.key), self.session):
            self.going.copied = True
            return None
        self._own(item)
        self._start(item)
        text = redact(item.text[:LONGEST_TEXT]).text
        self.now.asked.append(text)
        self._add("", item)
        # Of a long text the beginning is enough, and it is looked at letter by letter.
        shown = one_line(text[: 2 * ASKED], ASKED)
        writing.put(self.db, "turns", "turn", self.going.turn, {"asked": shown})
        if not self.going.title:
            self.going.title = one_line(text[: 2 * TITLE], TITLE)
        self.going.outcome = "unknown"
        return None

    def _assistant(self, item: stream.AssistantText) -> None:
        if self._taken(item):
            text = redact(item.text[:LONGEST_TEXT]).text
            self._add(text, item)
            self.now.said = text
            self.going.outcome = "done"

    def _call(self, item: stream.Call) -> None:
        if self.going.copied:
            return
        place = placed(self.owner, item, self.folder)
        if not place.is_own and not place.paths:
            return
        self._own(item)
        self._begin_if_none(item)
        # A command in another project's folder that only names a file of this one says nothing of it.
        command, words = _clean_call(item) if place.is_own else ("", "")
        number = self.calls.add(
            self.going.turn,
            item.offset,
            item.at,
            one_line(item.tool, 80),
            item.does,
            one_line(command[: 2 * COMMAND], COMMAND),
        )
        if len(self.going.pending) < MOST_PENDING:
            self.going.pending[item.call] = Pending(number, item.does, command, (), place.folder)
        self.going.calls += 1
        self.now.calls += 1
        self.going.outcome = "unknown"
        self._add("\n".join(filter(None, (command, words))), item)
        if item.does == stream.READ:
            for path in place.paths:
                self._touched(path, item, edit=False)

    def _edit(self, item: stream.Edit) -> None:
        pending = self.going.pending.get(item.call)
        folder = (pending and pending.folder) or self.folder
        inside = "" if self.going.copied else self.owner.relative(item.path, folder)
        if not inside:
            return
        self._own(item)
        self._begin_if_none(item)
        self._seen(item)
        if pending is None:
            self._edited(inside, item)
        else:
            pending.edits = (*pending.edits, _clean_path(inside))

    def _result(self, item: stream.Result) -> None:
        pending = self.going.pending.pop(item.call, None)
        if pending is None or self.going.copied:
            return
        self._seen(item)
        failed = item.outcome == stream.ERROR
        if pending.does == stream.SHELL:
            failed = is_failure(pending.command, item.outcome, item.code)
            for sha in commits_told(pending.command, item.text):
                writing.committed(self.db, self.session, sha, item.at, item.offset)
        error = one_line(redact(error_line(item.text)).text, ERROR) if failed else ""
        self.calls.ended(pending.call, item.outcome, item.code, error)
        if failed:
            self.going.failed += 1
            self.now.failed += 1
            self._add(error, item)
        else:
            for path in pending.edits if item.outcome != stream.ERROR else ():
                self._edited(path, item)

    def _edited(self, path: str, item: stream.Item) -> None:
        self.going.edits += 1
        self.now.edits += 1
        self._touched(path, item, edit=True)

    def _touched(self, path: str, item: stream.Item, *, edit: bool) -> None:
        clean = _clean_path(path)
        self.now.paths[clean] = None
        writing.touch(self.db, self.session, clean, item.at, item.offset, edit=edit)

    def _rejection(self, item: stream.Rejection) -> None:
        if self._taken(item):
            self._add(redact(item.reason[:LONGEST_TEXT]).text, item)
            self.going.pending.pop(item.call, None)

    def _interrupt(self, item: stream.Interrupt) -> None:
        if self._taken(item):
            self.going.outcome = "interrupted"

    def _spent(self, item: stream.Spent) -> None:
        known = (0, 0, 0) if item.total else self.going.tokens
        self.going.tokens = (known[0] + item.read, known[1] + item.written, known[2] + item.cached)

    def _end(self, item: stream.Ended) -> None:
        self.going.outcome = item.outcome

    def _lost(self, item: stream.Lost) -> None:
        self.going.lost += 1

    def _unknown(self, item: stream.Unknown) -> None:
        self.going.unknown += 1

    def _taken(self, item: stream.Item) -> bool:
        """Whether a text is this project's and nobody has it yet; it has a turn then."""
        if not self.here or self.going.copied:
            return False
        self._own(item)
        self._begin_if_none(item)
        return True

    def _own(self, item: stream.Item) -> None:
        going = self.going
        if not going.ours:
            going.ours = True
            going.cwd = folder_inside(self.owner, self.folder)
        if item.at is not None:
            going.began = item.at if going.began is None else min(going.began, item.at)
            going.ended = item.at if going.ended is None else max(going.ended, item.at)

    def _start(self, item: stream.Item) -> None:
        """A new turn."""
        self.going.number += 1
        self._begin(item)

    def _begin_if_none(self, item: stream.Item) -> None:
        if not self.going.turn:
            self._begin(item)

    def _begin(self, item: stream.Item) -> None:
        going = self.going
        going.turns += 1
        going.piece = 0
        going.turn = writing.insert(
            self.db, "turns",
            {"session": self.session, "number": going.number, "offset": item.offset, "until": item.offset,
             "at": item.at, "asked": "", "said": "", "calls": 0, "failed": 0, "edits": 0},
        )  # fmt: skip
        self.now = _Turn()
        self._seen(item)

    def _outside(self) -> None:
        """Somebody spoke about another project: what follows is no part of the turn before."""
        self.going.turn = 0
        self.going.number += 1

    def _add(self, text: str, item: stream.Item) -> None:
        turn = self.now
        if turn.at is None:
            turn.at = item.at
        self._seen(item)
        if text:
            turn.rest.append(text)
            turn.size += len(text)
        if turn.size > PASSAGE:
            self._flush()

    def _seen(self, item: stream.Item) -> None:
        """A place in the transcript that belongs to the present turn."""
        if self.now.offset < 0:
            self.now.offset = item.offset
        self.now.until = max(self.now.until, item.offset)

    def _flush(self) -> None:
        """Write what was gathered of the present turn as a passage, and count it."""
        turn, going = self.now, self.going
        if not going.turn:
            return
        if turn.asked or turn.rest or turn.paths:
            going.piece += 1
            reference = f"{self.session}:{going.number}" + (f".{going.piece}" if going.piece > 1 else "")
            row = self.db.execute("SELECT asked FROM turns WHERE turn = ?", (going.turn,)).fetchone()
            title = row[0] or going.title or "(nobody asked)"
            writing.add_passage(
                self.db, self.session, going.turn, (turn.offset, turn.until),
                (reference, self.place.client, turn.at, title),
                writing.Words("\n".join(turn.asked), "\n".join(turn.rest), tuple(turn.paths)),
            )  # fmt: skip
        self.db.execute(
            "UPDATE turns SET until = max(until, ?), calls = calls + ?, failed = failed + ?, edits = edits + ?,"
            " said = coalesce(nullif(?, ''), said), at = coalesce(at, ?) WHERE turn = ?",
            (turn.until, turn.calls, turn.failed, turn.edits, _end_of(turn.said), turn.at, going.turn),
        )
        self.now = _Turn()

    @property
    def id(self) -> str:
        """The client's id; of a sub-agent with its name behind it; of one that has none the file's name."""
        facts = self.going.facts
        base = facts.session or os.path.splitext(os.path.basename(self.place.part or self.place.path))[0]
        return one_line(f"{base}/{facts.agent}" if facts.agent else base, 200)

    def _write_session(self) -> None:
        going, facts = self.going, self.going.facts
        writing.put_session(self.db, self.session, {
            "id": self.id, "client": self.place.client, "parent": facts.parent, "agent": one_line(facts.agent, 100),
            "title": going.title, "provider": one_line(facts.provider, 80), "model": one_line(facts.model, 120),
            "version": one_line(facts.version, 40), "branch": one_line(redact(facts.branch).text, 200),
            "cwd": going.cwd, "began": going.began, "ended": going.ended, "tokens_read": going.tokens[0],
            "tokens_written": going.tokens[1], "tokens_cached": going.tokens[2], "turns": going.turns,
            "calls": going.calls, "failed": going.failed, "edits": going.edits, "outcome": going.outcome,
            "lost": going.lost, "unknown": going.unknown,
        })  # fmt: skip


def _clean_call(item: stream.Call) -> tuple[str, str]:
    """The command and the other words of a call without secrets. One look at both finds nothing in most."""
    command, words = item.command[:LONGEST_TEXT], item.words[:WORDS]
    if not (command or words) or not redact(f"{command}\n{words}").kinds:
        return command, words
    return redact(command).text, redact(words).text


@lru_cache(maxsize=8_192)
def _clean_path(path: str) -> str:
    """A path without secrets; a session has few, and touches each many times."""
    return redact(path).text


def _plain(facts: stream.Facts) -> stream.Facts:
    """The facts without secrets: they are kept between two readings."""
    told = {name: redact(value).text for name in stream.Facts.__struct_fields__[2:] if (value := getattr(facts, name))}
    return msgspec.structs.replace(facts, **told)


def _end_of(text: str) -> str:
    """The end of what was said, from a whole word on, in one line."""
    if len(text) <= SAID:
        return one_line(text, SAID)
    return f"\u2026 {one_line(text[-SAID:].partition(' ')[2], SAID - 2)}"


def key_of(text: str) -> int:
    """The number by which a turn is known."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)
