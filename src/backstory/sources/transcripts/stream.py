"""What happened in a session, whichever client wrote it down: one stream of items, in the order of the file.

Every reader yields these and nothing else. An item says what a record means, never what it looks like. What is not
known is not made up: a result that carries no mark of success is `unknown`, a time that nobody wrote is None.

`offset` is where the record begins that an item comes from: a byte of the file, or, where the client keeps no lines
(JSON as a whole, SQLite), the running number of the record. One record may give several items, all with its offset.
"""

from __future__ import annotations

import msgspec

OK, ERROR, UNKNOWN = "ok", "error", "unknown"
# What a call does, whatever the client calls its tool.
SHELL, READ, SEARCH, EDIT, FETCH, AGENT, PLAN, MEMORY, OTHER = (
    "shell", "read", "search", "edit", "fetch", "agent", "plan", "memory", "other",
)  # fmt: skip


class Item(msgspec.Struct, frozen=True, gc=False):
    """Where it stands, and when it happened: microseconds since the epoch, UTC."""

    offset: int
    at: int | None


class Facts(Item, frozen=True, gc=False):
    """What holds from here on. A field that is "" says nothing; the others replace what was said before.

    `session` is the client's id, `parent` the session that this one was started by (a sub-agent) or taken from (a fork
    or a resumed copy), `agent` the sub-agent's name or kind. `cwd` is an absolute path as the client wrote it.
    """

    session: str = ""
    cwd: str = ""
    branch: str = ""
    commit: str = ""
    model: str = ""
    provider: str = ""
    version: str = ""
    parent: str = ""
    agent: str = ""
    title: str = ""


class UserText(Item, frozen=True, gc=False):
    """What a person typed. `key` is the record's own id: a copy of it in another file is the same turn."""

    text: str
    key: str = ""


class AssistantText(Item, frozen=True, gc=False):
    """What the agent said aloud."""

    text: str


class Thinking(Item, frozen=True, gc=False):
    """What the agent thought: never indexed, never taken for a fact."""

    text: str


class Call(Item, frozen=True, gc=False):
    """A tool was called. `does` is one of the words above, `command` the line of a shell, `paths` as written.

    `cwd` is the folder that this call alone ran in, "" for the session's. `words` are other arguments worth finding:
    the pattern of a search, the address of a fetch, the task of a sub-agent.
    """

    call: str
    tool: str
    does: str
    command: str = ""
    paths: tuple[str, ...] = ()
    cwd: str = ""
    words: str = ""


class Result(Item, frozen=True, gc=False):
    """What a call gave. `outcome` is ok, error or unknown; `code` is the exit code where one was written.

    A command that still ran when it gave something may have a second result later, which says how it ended.
    """

    call: str
    outcome: str
    text: str = ""
    code: int | None = None


class Edit(Item, frozen=True, gc=False):
    """A file was changed: `old` became `new`. `old` is None where the client does not say what stood there before.

    `whole` says that `new` is the whole file, `gone` that the file was deleted, `moved` where it went to. Given when
    the call is, so its `Result` tells whether it was done.
    """

    call: str
    path: str
    old: str | None
    new: str
    whole: bool = False
    gone: bool = False
    moved: str = ""


class Compaction(Item, frozen=True, gc=False):
    """What was said before was folded into a summary; `text` is the summary, which is nobody's word."""

    text: str = ""


class Interrupt(Item, frozen=True, gc=False):
    """A person stopped the agent."""

    call: str = ""


class Rejection(Item, frozen=True, gc=False):
    """A person did not let a call run; `reason` is what they said about it, "" where they said nothing."""

    call: str
    reason: str = ""


class Injected(Item, frozen=True, gc=False):
    """Text that stands where a person speaks and is not theirs: a hook, a reminder, a file of rules, output.

    `origin` names what put it there: hook, reminder, command, environment, instructions, ide, summary, agent, other.
    """

    text: str
    origin: str


class Spent(Item, frozen=True, gc=False):
    """Tokens of one answer. Added up over a session; `total` says that these are the session's so far instead.

    `read` counts all that went in; `cached` is how much of it came from a cache.
    """

    read: int
    written: int
    cached: int = 0
    total: bool = False


class Ended(Item, frozen=True, gc=False):
    """The client said how it ended: done, interrupted or failed."""

    outcome: str


class Unknown(Item, frozen=True, gc=False):
    """A record, or a part of one, that has a type unknown to the reader; what texts it has were given."""

    type: str


class Lost(Item, frozen=True, gc=False):
    """A record that could not be read; it cost itself only."""

    why: str


def merged(known: Facts, new: Facts) -> Facts:
    """The facts that hold after `new`, as of `new`."""
    told = {name: getattr(new, name) or getattr(known, name) for name in Facts.__struct_fields__[2:]}
    return Facts(new.offset, new.at, **told)
