"""What a reader of one client's transcripts has to give.

A module has `CLIENT` (its name, the same as in `project/clients`), `files(env, home)` and `open_reader(found, cursor)`.
A new client is a module of this shape and a line in `known.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import msgspec

from backstory.sources.transcripts.stream import Item


class Found(msgspec.Struct, frozen=True):
    """A transcript on this machine.

    `path` is the file; `part` names one session in a file that holds several (a database). `parent` is the path of the
    transcript that this one belongs to: a sub-agent's, beside its session. `folders` are those that the client says it
    worked in, where it keeps that outside of the records.
    """

    client: str
    path: str
    part: str = ""
    parent: str = ""
    folders: tuple[str, ...] = ()


class Cursor(msgspec.Struct, frozen=True):
    """How far a transcript was read.

    `offset` is the byte behind the last whole record; where the client keeps no lines, 0. `state` is what the reader
    has to remember to go on there, in its own words. `stamp` tells whether what was read before still stands there: a
    hash of the first bytes of a file of lines, size and time of a file that is read as a whole.
    """

    offset: int = 0
    state: bytes = b""
    stamp: str = ""


class Reader(Protocol):
    """Reads one transcript, once, from a cursor on. Iterate it to its end (or stop), then ask for `cursor`.

    `began_anew` says that the cursor did not fit any more and everything is read from the start: what was kept of this
    transcript is to be dropped. True as well for a first read of a file that is read as a whole and has changed.
    """

    began_anew: bool

    def __iter__(self) -> Iterator[Item]: ...

    @property
    def cursor(self) -> Cursor:
        """Where to go on."""
        ...


class Module(Protocol):
    """A client's module."""

    CLIENT: str

    def files(self, env: Mapping[str, str], home: str) -> Iterator[Found]:
        """The transcripts on this machine, sorted by path; never an error: what cannot be listed is not there."""
        ...

    def open_reader(self, found: Found, cursor: Cursor) -> Reader:
        """A reader of one transcript. Iterating it raises `OSError` only where the file cannot be opened at all."""
        ...
