"""One plain line of a text with what was found in [ ]. Pure: no I/O."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

SNIPPET_CHARS = 240
BEGIN, END = "\x02", "\x03"  # set by FTS5 around matches; `terms.clean` keeps them out of texts


def spans_of(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """One line of text without the marks that FTS5 set, and where the marked parts are."""
    text, spans = "", []
    for index, piece in enumerate(re.split(f"[{BEGIN}{END}]", " ".join(marked.split()))):
        if index % 2:
            spans.append((len(text), len(text) + len(piece)))
        text += piece
    return text, spans


def excerpt(text: str, spans: list[tuple[int, int]]) -> str:
    """At most SNIPPET_CHARS characters from a little before the first span, spans in [ ], touching ones as one."""
    start = max(0, spans[0][0] - SNIPPET_CHARS // 4) if spans else 0
    end = min(len(text), start + SNIPPET_CHARS)
    out, at = "\u2026" if start else "", start
    merged: list[tuple[int, int]] = []
    for low, high in spans:
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    for low, high in merged:
        if low >= end:
            break
        out += f"{text[at:low]}[{text[low : min(high, end)]}]"
        at = min(high, end)
    return out + text[at:end] + ("\u2026" if end < len(text) else "")


def literal_excerpt(texts: Iterable[str], words: Iterable[str]) -> str:
    """An excerpt of the first text with any of the words in it, even inside a word; else of the first text."""
    lines = [line for text in texts if (line := " ".join(text.split()))]
    alternatives = "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))
    pattern = re.compile(f"(?=({alternatives}))", re.IGNORECASE)
    for line in lines:
        spans = [match.span(1) for match in itertools.islice(pattern.finditer(line), 50)]
        if spans:
            return excerpt(line, spans)
    return excerpt(lines[0], []) if lines else ""
