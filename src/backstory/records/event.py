"""What every line of the log carries, and what every entry adds.

Types are frozen. A field that does not apply holds its default and is left out of the written line. Fields this
version does not know stay in the line itself: lines are copied as bytes, never rewritten from these types.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

SUMMARY_LIMIT = 300
DETAIL_LIMIT = 4_000
LINE_LIMIT = 64 * 1024
VERSION = 1

PERSON, AGENT, HOOK, IMPORT = "person", "agent", "hook", "import"
# The name of the writer that reads transcripts; it writes as a hook.
CAPTURE = "capture"
# How the piece of evidence begins by which it knows again what it wrote; it says nothing to a reader.
MARK = "capture "
# Detectors of capture that look at structure alone, right so often that what they find counts by itself
# (docs/sessions.md has the figures). What the others find is proposed.
BY_ITSELF = frozenset({"red-edit-green", "reverted-edit", "git-undo", "rejection", "repeated-fix"})
WRITERS = (PERSON, AGENT, HOOK, IMPORT)


class By(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who wrote an event: `kind` is person, agent, hook or import; `session` is the client's session id."""

    kind: str
    name: str = ""
    session: str = ""


class FileRef(msgspec.Struct, frozen=True, omit_defaults=True):
    """A cited file. With `lines` (first, last, from 1) or `symbol` it is an anchor, and `prints` is its fingerprint."""

    path: str
    lines: tuple[int, int] | None = None
    symbol: str = ""
    prints: tuple[str, ...] = ()

    @property
    def span(self) -> int:
        """How many lines the cited place had; 0 for a whole file."""
        return self.lines[1] - self.lines[0] + 1 if self.lines else 0

    @property
    def anchored(self) -> bool:
        """Whether a place in the file is cited and its text was fingerprinted."""
        return bool(self.prints)


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One immutable line. `h` is its content hash, `prev` the hash of the writer's previous event in `shard`."""

    id: str
    kind: str
    at: str
    by: By
    v: int = VERSION
    shard: str = ""
    prev: str = ""
    h: str = ""
    branch: str = ""
    # Set on a copy that `publish` brought from another shard: where the event was first written.
    origin: str = ""


class Entry(Event, frozen=True, kw_only=True, omit_defaults=True):
    """An event that says something. Own fields of each kind are in its subclass."""

    # Names of this kind's own prose fields, searched, redacted and compared like `summary`.
    PROSE: ClassVar[tuple[str, ...]] = ()
    # Days after which an entry is stale by age; None: never by age.
    DECAY_DAYS: ClassVar[int | None] = 30
    # Heading in a brief.
    HEADING: ClassVar[str] = "Notes"

    summary: str
    detail: str = ""
    aliases: tuple[str, ...] = ()
    pinned: bool = False
    files: tuple[FileRef, ...] = ()
    issue: str = ""
    ticket: str = ""
    commit: str = ""
    scope: str = ""
    supersedes: tuple[str, ...] = ()
    valid_from: str = ""
    valid_until: str = ""
    decay_days: int | None = None
    revisit_when: str = ""
    evidence: tuple[str, ...] = ()
    # Of an entry that capture wrote: which of its detectors found it.
    detector: str = ""
    # Why the gateway held the entry back for a person (it reads like an instruction, resembles a rejected value ...).
    held: str = ""
    redacted: bool = False

    @property
    def decay(self) -> int | None:
        """Days until stale by age, the entry's own figure before its kind's."""
        return self.decay_days if self.decay_days is not None else self.DECAY_DAYS

    def prose(self) -> dict[str, str]:
        """Every non-empty prose field, in reading order, lists joined by newlines."""
        texts = {"summary": self.summary, "detail": self.detail, "aliases": "\n".join(self.aliases)}
        for name in self.PROSE:
            value = getattr(self, name)
            texts[name] = value if isinstance(value, str) else "\n".join(value)
        texts["revisit_when"] = self.revisit_when
        return {name: text for name, text in texts.items() if text}


class UnknownEvent(Event, frozen=True, kw_only=True, omit_defaults=True):
    """An event of a kind this version does not know: kept, counted, shown by `status`."""
