"""A session as detectors see it: the steps of one project, in order, with paths from its root.

Built from the stream of a transcript. What is not this project's, what backstory itself put there, and what is a copy
of another session is left out, so a detector cannot propose it.
"""

from __future__ import annotations

import msgspec

from backstory.sources.transcripts.commands import Line


class Step(msgspec.Struct, frozen=True):
    """Where it stands in the transcript, when it happened, and in which turn."""

    offset: int
    at: int | None
    turn: int


class Asked(Step, frozen=True):
    """What the person said."""

    text: str


class Said(Step, frozen=True):
    """What the agent said."""

    text: str


class Ran(Step, frozen=True):
    """A command that ran. `outcome` is ok, failed or unknown, as far as its exit tells (`is_failure`, `exit_tells`)."""

    call: str
    command: str
    line: Line
    outcome: str
    code: int | None
    output: str
    # The most telling line of the output of one that failed.
    error: str = ""
    # The folder it ran in, from the project's root; "" for the root.
    folder: str = ""


class Changed(Step, frozen=True):
    """A file was changed, and the change was made: calls that failed or were refused are left out."""

    call: str
    path: str
    old: str | None
    new: str
    whole: bool = False
    gone: bool = False


class Looked(Step, frozen=True):
    """A file was read."""

    path: str


class Refused(Step, frozen=True):
    """The person did not let a call run. `what` says which, in a few words; `path` and `command` if it had them."""

    reason: str
    what: str
    path: str = ""
    command: str = ""


class Stopped(Step, frozen=True):
    """The person stopped the agent."""


class Story(msgspec.Struct, frozen=True):
    """One session of one project."""

    session: str
    client: str
    branch: str
    steps: tuple[Step, ...]
    # Short ids of commits that the session made, with their offsets.
    commits: tuple[tuple[str, int], ...] = ()
