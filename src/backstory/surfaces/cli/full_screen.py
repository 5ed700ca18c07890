"""A full screen with the standard library alone: keys in, lines out, and the terminal as it was afterwards.

The alternate screen is drawn whole each time; the size is looked at while waiting for a key, so that no signal handler
is needed. Lines may hold our own colours and nothing else that acts: the caller cleans stored text.
"""

from __future__ import annotations

import codecs
import os
import re
import select
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

LEAST_COLUMNS, LEAST_ROWS = 40, 12
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_SEQUENCE = re.compile(rb"\x1b(?:\[[0-9;?]*[A-Za-z~]|O[A-Za-z])")
_NAMES = {
    b"\x1b[A": "up", b"\x1b[B": "down", b"\x1bOA": "up", b"\x1bOB": "down", b"\x1b[5~": "page up",
    b"\x1b[6~": "page down", b"\x1b[H": "home", b"\x1b[F": "end", b"\r": "enter", b"\n": "enter", b"\x7f": "back",
    b"\x08": "back", b"\x15": "clear", b"\x04": "eof", b"\x1b": "escape",
}  # fmt: skip
# How often the size is looked at, and how long the rest of an arrow key may take.
_LOOK_SECONDS, _ESCAPE_SECONDS = 0.25, 0.05


def possible() -> bool:
    """Whether both streams are a terminal that is large enough and can be set, as on every Unix."""
    try:
        import termios  # noqa: F401
    except ImportError:
        return False
    if os.environ.get("TERM", "dumb") == "dumb" or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    columns, rows = size()
    return columns >= LEAST_COLUMNS and rows >= LEAST_ROWS


def size() -> tuple[int, int]:
    """(columns, rows) as they are now."""
    try:
        return tuple(os.get_terminal_size(sys.stdout.fileno()))  # type: ignore[return-value]
    except OSError:
        return LEAST_COLUMNS, LEAST_ROWS


class Terminal(AbstractContextManager["Terminal"]):
    """Inside `with`, the alternate screen; whatever ends it, the terminal is set back."""

    def __init__(self) -> None:
        self.handle = sys.stdin.fileno()
        self.before: list[Any] | None = None
        self.waiting = b""
        # The size that was drawn for: a window that grows in between is drawn anew as well.
        self.drawn = size()

    def __enter__(self) -> Terminal:
        self.enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def enter(self) -> None:
        """Take the screen, and keys one by one, unseen."""
        import termios
        import tty

        self.before = termios.tcgetattr(self.handle)
        # Ctrl-C stays a signal: it ends the run as everywhere.
        tty.setcbreak(self.handle, termios.TCSADRAIN)
        self._write("\x1b[?1049h\x1b[?25l")

    def leave(self) -> None:
        """Set the terminal back; nothing when that was done."""
        import termios

        if self.before is not None:
            before, self.before = self.before, None
            try:
                self._write("\x1b[?25h\x1b[?1049l")
            finally:
                termios.tcsetattr(self.handle, termios.TCSADRAIN, before)

    def draw(self, lines: Sequence[str]) -> None:
        """Show these lines, which fit, from the top."""
        columns, rows = self.drawn = size()
        shown = [fold(line, columns)[0] for line in lines[:rows]]
        self._write("\x1b[H" + "\r\n".join(f"{line}\x1b[0m\x1b[K" for line in shown) + "\x1b[J")

    def key(self) -> str:
        """The next key: a letter, or a word such as `up`; "resized" when the size changed, "eof" at the end."""
        while not self.waiting:
            if select.select([self.handle], [], [], _LOOK_SECONDS)[0]:
                self.waiting = os.read(self.handle, 1024) or b"\x04"
            elif size() != self.drawn:
                return "resized"
        return self._next()

    def _next(self) -> str:
        if self.waiting == b"\x1b" and select.select([self.handle], [], [], _ESCAPE_SECONDS)[0]:
            self.waiting += os.read(self.handle, 1024)
        found = _SEQUENCE.match(self.waiting)
        first = found[0] if found else self.waiting[: _letter_size(self.waiting[0])]
        while not found and len(first) < _letter_size(first[0]):
            more = os.read(self.handle, 1)
            if not more:
                break
            self.waiting += more
            first = self.waiting[: _letter_size(first[0])]
        self.waiting = self.waiting[len(first) :]
        name = _NAMES.get(first)
        if name is not None:
            return name
        letter = codecs.decode(first, "utf-8", "ignore")
        return letter if letter.isprintable() else ""

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _letter_size(first: int) -> int:
    """The bytes of a letter in UTF-8, by its first one."""
    return 1 if first < 0xC0 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4


def fold(text: str, columns: int) -> list[str]:
    """`text` in pieces of at most `columns`, colours carried along and not counted; at least one piece."""
    pieces, room, place, colour = [""], columns, 0, ""
    while place < len(text):
        found = _COLOUR.match(text, place)
        if found:
            colour = "" if found[0] == "\x1b[0m" else found[0]
            pieces[-1] += found[0]
            place = found.end()
            continue
        letter = text[place]
        wide = width(letter)
        if wide > room:
            pieces.append(colour)
            room = columns
        pieces[-1] += letter
        room -= wide
        place += 1
    return pieces


def width(letter: str) -> int:
    """The columns that a letter takes."""
    if letter.isascii():
        return 1
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def folded(lines: Iterable[str], columns: int) -> list[str]:
    """Lines, some of them of several, folded to the width; a tab is a few blanks."""
    return [piece for text in lines for line in text.expandtabs(4).split("\n") for piece in fold(line, columns)]
