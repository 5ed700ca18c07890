"""Anchors: a cited place in a file, and how its text is recognised again.

The fingerprint is one short hash for each line that says something (white space squeezed, lines of mere punctuation
left out), at most `MAX_PRINTS`. The place is still there when at least `KNOWN_SHARE` of those lines stand close
together somewhere in the file: edits around it, a move within the file and re-indentation do not matter.
"""

from __future__ import annotations

from hashlib import blake2b

MAX_PRINTS = 40
KNOWN_SHARE = 0.6
# A symbol that nothing defines any more was renamed when this much of its text still stands.
RENAMED_SHARE = 0.8


def line_print(line: str) -> str:
    """The hash of one line, "" for one that says nothing by itself (blank, braces)."""
    squeezed = "".join(line.split())
    if len(squeezed) < 2 or not any(letter.isalnum() for letter in squeezed):
        return ""
    return blake2b(squeezed.encode("utf-8", "replace"), digest_size=4).hexdigest()


def fingerprint(lines: list[str]) -> tuple[str, ...]:
    """The prints of a place; every second, third ... line where it is longer than `MAX_PRINTS`."""
    prints = [mark for mark in map(line_print, lines) if mark]
    step = -(-len(prints) // MAX_PRINTS) or 1
    return tuple(prints[::step])


def find(prints: tuple[str, ...], lines: list[str], span: int = 0) -> float:
    """How much of the fingerprint stands together in `lines`: the best share over all windows, 0 to 1.

    `span` is the number of lines that the place had, where that is known: the fingerprint of a long one is thinned.
    """
    if not prints:
        return 1.0
    wanted: dict[str, int] = {}
    for mark in prints:
        wanted[mark] = wanted.get(mark, 0) + 1
    hits = [(number, mark) for number, mark in enumerate(map(line_print, lines)) if mark in wanted]
    # Room for as many strange lines between as the place itself has, or ten.
    reach = max(2 * len(prints) * _stretch(prints), 2 * span) + 10
    best, start = 0, 0
    have: dict[str, int] = {}
    count = 0
    for end, (number, mark) in enumerate(hits):
        have[mark] = have.get(mark, 0) + 1
        count += have[mark] <= wanted[mark]
        while hits[start][0] < number - reach:
            old = hits[start][1]
            count -= have[old] <= wanted[old]
            have[old] -= 1
            start += 1
        best = max(best, count)
        if end and best == len(prints):
            break
    return best / len(prints)


def _stretch(prints: tuple[str, ...]) -> int:
    """A full fingerprint may have been thinned out: its place may be far longer than its prints."""
    return 4 if len(prints) >= MAX_PRINTS // 2 else 1
