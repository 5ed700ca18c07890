"""What the hooks of one agent session know of it: what it was told, which files it edited, what failed. Light.

A small text file per session below the derived folder, appended to, never rewritten: one word, a tab, a value. Where it
cannot be written the session is told things twice, and nothing else happens.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from backstory.config import Places

FOLDER = "sessions"
# What a line says: an entry that the session was told of, a file that it edited, a tool that failed, an edit refused.
TOLD, EDITED, FAILED, REFUSED = "told", "edit", "failed", "refused"
# For `stats`: how many tokens it was given (time, what, tokens), a warning (time, entry, file), and an edit of a file
# that it had been warned about (time, file).
GIVEN, WARNED, FOLLOWED = "given", "warned", "followed"
_MOST_BYTES = 1 << 18
_LONGEST = 600
# Files of sessions that ended long ago are swept when a session starts.
KEPT_DAYS = 90
_KEPT_SECONDS = KEPT_DAYS * 86_400
_MOST_SWEPT = 200


class SessionFile:
    """The file of `session` in a project; a session without a name has none, and everything is new to it."""

    def __init__(self, places: Places, session: str) -> None:
        name = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in session)[:100]
        self.folder = os.path.join(places.derived_dir, FOLDER)
        self.path = os.path.join(self.folder, f"{name}.txt") if name else ""
        self._lines: list[tuple[str, str]] | None = None

    def lines(self) -> list[tuple[str, str]]:
        """(word, value) of every line since the session was last told that all is forgotten."""
        if self._lines is None:
            self._lines = []
            for line in self._read().split("\n"):
                word, tab, value = line.partition("\t")
                if word == "forget" and tab:
                    # What was said is out of the session's sight; what it did is not.
                    self._lines = [one for one in self._lines if one[0] not in (TOLD, REFUSED)]
                elif tab:
                    self._lines.append((word, value))
        return self._lines

    def has(self, word: str, value: str) -> bool:
        """Whether the session knows this."""
        return (word, _one_line(value)) in self.lines()

    def add(self, word: str, *values: str) -> bool:
        """Append a line for each value; whether they were kept. Nothing is raised: a hook goes on without."""
        return self.add_all([(word, value) for value in values])

    def add_all(self, pairs: Sequence[tuple[str, str]]) -> bool:
        """As `add`, for lines of several kinds at once."""
        if not self.path or not pairs:
            return False
        kept = [(word, _one_line(value)) for word, value in pairs]
        text = "".join(f"{word}\t{value}\n" for word, value in kept)
        try:
            os.makedirs(self.folder, exist_ok=True)
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                if os.fstat(file).st_size >= _MOST_BYTES:
                    return False
                os.write(file, text.encode("utf-8", "replace"))
            finally:
                os.close(file)
        except OSError:
            return False
        if self._lines is not None:
            self._lines += kept
        return True

    def new(self, what: str, text: str) -> bool:
        """Whether the session has not been given this very text, which from now on it has; True without a file."""
        from backstory.records.likeness import text_hash

        seen = f"{what} {text_hash(text)}"
        if self.path and self.has(TOLD, seen):
            return False
        self.add(TOLD, seen)
        return True

    def forget(self) -> None:
        """The session lost sight of what it was told: it was compacted or cleared."""
        self.add("forget", "all")
        self._lines = None

    def sweep(self, now_seconds: float) -> None:
        """Delete the files of sessions that nobody wrote to for three months."""
        try:
            with os.scandir(self.folder) as entries:
                for _, entry in zip(range(_MOST_SWEPT), entries, strict=False):
                    if entry.stat().st_mtime < now_seconds - _KEPT_SECONDS:
                        os.unlink(entry.path)
        except OSError:
            return

    def _read(self) -> str:
        if not self.path:
            return ""
        try:
            with open(self.path, encoding="utf-8", errors="replace") as file:
                return file.read(_MOST_BYTES + _LONGEST)
        except OSError:
            return ""


def mark(id_: str, last_at: int, contested: bool) -> str:
    """What a session was told, of an entry: another one when it is confirmed, contested or written anew."""
    return f"{id_} {last_at}{' in doubt' if contested else ''}"


def _one_line(value: str) -> str:
    return " ".join(value.split())[:_LONGEST]
