"""The piece of a document that shows why it was found.

Full text can say that itself, but looks the words up in the whole index again and weighs every place of long texts:
9 ms for ten commits, 90 ms for ten long documents. Here the part of each text that has most of the words goes through
the same tokeniser in a table of its own.
"""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping

from backstory.index.documents import TOKENIZER
from backstory.index.excerpts import BEGIN, END, excerpt, literal_excerpt, spans_of

TOKENS = 24
# Characters of a longer text that are looked at, from a little before the place with most of the words.
WINDOW = 1_500
# How close together words are to be.
CLOSE = 200
# Places of words that are compared in one text.
PLACES = 1_000

_SPACE = re.compile(r"\s")

Texts = tuple[str, ...]


class Snippets:
    """Makes snippets, in a table that lives as long as this."""

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.execute(f'CREATE VIRTUAL TABLE shown USING fts5(body, title, paths, tokenize = "{TOKENIZER}")')

    def close(self) -> None:
        """Give the table up."""
        self.db.close()

    def of(self, documents: Mapping[int, Texts], match: str, words: Iterable[str]) -> dict[int, str]:
        """A line for each document, given by its texts, the best to show first, with what matches in [ ].

        `words` are what to look for where the tokeniser sees no match: inside of words, and without spaces.
        """
        words = list(dict.fromkeys(words))
        self.db.execute("DELETE FROM shown")
        rows = ((number, *(window(text, words) for text in texts)) for number, texts in documents.items())
        self.db.executemany("INSERT INTO shown (rowid, body, title, paths) VALUES (?, ?, ?, ?)", rows)
        columns = ", ".join(f"snippet(shown, {column}, ?, ?, '\u2026', {TOKENS})" for column in range(3))
        found = {}
        sql = f"SELECT rowid, {columns} FROM shown WHERE shown MATCH ?"
        for number, *texts in self.db.execute(sql, (*(BEGIN, END) * 3, match)):
            marked = next((text for text in texts if BEGIN in text), None)
            if marked is not None:
                found[number] = excerpt(*spans_of(marked))
        for number, texts in documents.items():
            if number not in found:
                found[number] = literal_excerpt(texts, words)
        return found


def window(text: str, words: Iterable[str]) -> str:
    """The text, or of a long one the piece where most of the words begin close together, cut at white space."""
    if len(text) <= WINDOW:
        return text
    start = max(0, _densest(text, words) - WINDOW // 3)
    end = start + WINDOW
    piece = text[start:end]
    if start:
        piece = "\u2026" + _SPACE.split(piece, maxsplit=1)[-1]
    return piece + "\u2026" if end < len(text) else piece


def _densest(text: str, words: Iterable[str]) -> int:
    """Where the CLOSE characters with the most different words begin; 0 where there are none."""
    # The first letters stand for the stem, which is about the word without its ending.
    beginnings = {re.escape(word[: max(3, len(word) - 3)]) for word in words if word}
    stems = sorted(beginnings, key=lambda stem: (-len(stem), stem))
    if not stems:
        return 0
    found = re.finditer("|".join(stems), text, re.IGNORECASE)
    places = [(match.start(), match.group().casefold()) for match in itertools.islice(found, PLACES)]
    best, most, first = 0, 0, 0
    inside: Counter[str] = Counter()
    for start, word in places:
        inside[word] += 1
        while places[first][0] < start - CLOSE:
            gone = places[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            first += 1
        if len(inside) > most:
            best, most = places[first][0], len(inside)
    return best
