"""How candidates speak: one plain line, in the past tense, with nothing in it that the transcript does not show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from backstory.project.capture.story import Ran
from backstory.records.hostile import one_line

SUMMARY, COMMAND, ERROR, QUOTE = 300, 80, 120, 160
MOST_FILES = 20

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_VALUE = re.compile(
    r"https?://\S+|[\"'`\u2018\u201c][^\"'`\u2019\u201d]{1,200}[\"'`\u2019\u201d]"
    r"|(?:[A-Za-z]:)?[\w.@~+-]*[/\\][\w./\\@~+-]*"
    r"|0x[0-9a-f]+|\b[0-9a-f]{7,64}\b|\d+"
)
_TEST = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_|[._-](?:test|spec)s?\.\w+$")


def summary(text: str) -> str:
    """The one line of a candidate."""
    return one_line(text, SUMMARY)


def command_of(ran: Ran, limit: int = COMMAND) -> str:
    """A command as it is shown: without the folder it went to first and what only cuts its output."""
    return f"`{one_line(ran.line.same.replace('`', chr(39)) or ran.command, limit)}`"


def because(ran: Ran) -> str:
    """` (the telling line)`, or nothing."""
    return f" ({one_line(ran.error, ERROR)})" if ran.error else ""


def quoted(text: str, limit: int = QUOTE) -> str:
    """The words of somebody, between quotation marks that are not theirs."""
    said = one_line(text, limit).replace("\u201c", "'").replace("\u201d", "'")
    return f"\u201c{said}\u201d"


def listed(paths: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and 3 more files`."""
    if len(paths) <= 2:
        return " and ".join(paths)
    return f"{paths[0]}, {paths[1]} and {len(paths) - 2} more file{'s' if len(paths) > 3 else ''}"


def unique(paths: Iterable[str]) -> tuple[str, ...]:
    """Each once, in the order of their coming, as many as an entry names."""
    return tuple(dict.fromkeys(paths))[:MOST_FILES]


def sentences(text: str) -> list[str]:
    """The sentences of a text; a line end ends one."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def is_test(path: str) -> bool:
    """Whether a file is a test, by its name or its folder."""
    return _TEST.search(path) is not None


def same_failure(error: str, files: Iterable[str]) -> str:
    """Equal for two failures that read alike but for their numbers, paths, hashes and names, in the same files.

    "" for one that says nothing of itself: it would be like any other.
    """
    plain = " ".join(_VALUE.sub("#", error.lower()).split())
    return f"fix:{plain}|{','.join(sorted(set(files)))}" if plain else ""
