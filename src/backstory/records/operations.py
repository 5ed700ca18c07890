"""Operations: events that change the standing of an entry. Which writer may do which is in `fold.py`."""

from __future__ import annotations

from backstory.records.event import Event


class Operation(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Acts on the entry `target` (a whole id), for `reason`."""

    target: str = ""
    reason: str = ""


class Confirm(Operation, frozen=True, kw_only=True, omit_defaults=True):
    """Says that the target still holds; restarts its age. A duplicate write becomes one."""


class Retire(Operation, frozen=True, kw_only=True, omit_defaults=True):
    """Says that the target no longer holds. `successor` names the entry that takes its place, if there is one."""

    successor: str = ""


class Reject(Operation, frozen=True, kw_only=True, omit_defaults=True):
    """Says that a value was wrong and must not come back: the tombstone. `key` is the hash of the normalised value."""

    key: str = ""
    # The rejected text when no entry carries it; an entry's text stays in its own line, where redaction reaches it.
    value: str = ""


class Lift(Operation, frozen=True, kw_only=True, omit_defaults=True):
    """Takes a rejection back."""

    key: str = ""


class Approve(Operation, frozen=True, kw_only=True, omit_defaults=True):
    """A person's yes to what waited."""


class Contest(Operation, frozen=True, kw_only=True, omit_defaults=True):
    """Says that the target is in doubt; `against` names the entry it clashes with, if there is one."""

    against: str = ""


class Resolve(Operation, frozen=True, kw_only=True, omit_defaults=True):
    """Ends a conflict: `target` stands. `over` gave way; with `both`, the two are no conflict and both stand."""

    over: str = ""
    both: bool = False


class Redact(Operation, frozen=True, kw_only=True, omit_defaults=True):
    """The text of the target was blanked in place. `blank` is the hash that its line has since."""

    blank: str = ""


class Undo(Operation, frozen=True, kw_only=True, omit_defaults=True):
    """Takes one word back: `undoes` is an operation on the target, or the target itself, an entry said by mistake.

    What it undoes stays in the log and has no effect. Reject has its own opposite, Lift; a redaction has none.
    """

    undoes: str = ""


class Snooze(Operation, frozen=True, kw_only=True, omit_defaults=True):
    """Keeps a warning quiet for one person until `until`; `path` instead of a target for a whole file."""

    path: str = ""
    until: str = ""


class Share(Operation, frozen=True, kw_only=True, omit_defaults=True):
    """Offers the target, a lesson, to the other projects of this machine; with `undo`, takes that back."""

    undo: bool = False
