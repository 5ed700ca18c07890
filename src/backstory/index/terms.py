"""Words: what the index stores beside a text, how a query becomes match strings, how a match is shown.

User text is never query syntax: every term is built from letters, digits and marks and is quoted, so that
quotes, AND, NEAR(, *, -word, NUL or lone surrogates neither raise nor mean anything. Work is bounded whatever
the length of the text. Pure: no I/O.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

MAX_TERMS = 32
MAX_QUERY_CHARS = 4096
MAX_EXTRA_TERMS = 50_000
MAX_PARTS = 12
SNIPPET_CHARS = 240
BEGIN, END = "\x02", "\x03"  # set by FTS5 around matches; `clean` keeps them out of texts

_STOP_WORDS = """
    a about after all an and any are as at be because been but by can could did do does for from had has have how i
    if in into is it its me my no not of on or our should so some than that the their them then there these they
    this to was we were what when where which who why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Scripts written without spaces, by block. Hangul has spaces, but particles cling to its words.
_UNSPACED = (
    (0x0E01, 0x0E3A), (0x0E40, 0x0E4E), (0x0E81, 0x0EDF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17D3),
    (0x17DC, 0x17DD), (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3041, 0x3096), (0x309D, 0x309F),
    (0x30A1, 0x30FA), (0x30FC, 0x318E), (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
    (0xA960, 0xA97C), (0xA9E0, 0xA9FE), (0xAA60, 0xAA7F), (0xAC00, 0xD7FB), (0xF900, 0xFAFF), (0x20000, 0x323AF),
)  # fmt: skip
_JOINERS = ".-/:'\\_"

# Invisible characters that would split or colour a word: soft hyphen, zero-width ones, variation selectors,
# the keycap. SQLite would take a variation selector for a letter, so that "⚠️Fix" hid "Fix".
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff\ufe00-\ufe0f\u20e3\U000e0100-\U000e01ef]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# Vowel points of Hebrew and Arabic, and tatweel: written by some, left out by most.
_POINTS = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]")

_ACCENTED = re.compile("[\u0370-\u052f\u1f00-\u1fff]")

# These read the shape of a text: u capital, l other letter or mark, d digit, x unspaced script.
_DOTTED = r"\.(?<![uldx_.\-]\.)[uld_]+"
_SIGN = r"(?:\+\+(?!\+)|#(?![uldx#]))"
_TOKEN = re.compile(rf"(?P<symbol>{_DOTTED}|[uld]+{_SIGN})|(?P<run>x+)|(?P<word>[uld]+(?:[.\-/:'\\_]+[uld]+)*)")
# Over whole texts: only the telling place is looked for, `_word_start` goes back from it (5 us a text, 34 when
# each word is tried from its start).
_HUMP = re.compile(r"(?:lu|uul|d[ul])[uld]*")
_SIGNED = re.compile(rf"[uld]{_SIGN}")
_NAME = re.compile(_DOTTED)
_RUN = re.compile(r"(?P<run>x+)|(?P<beside>(?<=x)[uld]+|(?<![uld])[uld]+(?=x))")
_PART = re.compile(r"(?:u+(?=ul)|u?l+|u+)d*|d+")
_SEGMENT = re.compile(r"[uld]+")
_HASH = re.compile(r"(?=.*\d)[0-9a-f]{7,}\Z")


class _Shapes(dict[int, str]):
    """Code point -> one shape character, so that a text and its shape have the same length."""

    def __missing__(self, point: int) -> str:
        shape = _shape_of(point)
        if len(self) < 1 << 16:  # all of Unicode would be 100 MB
            self[point] = shape
        return shape


def _shape_of(point: int) -> str:
    char = chr(point)
    if char in _JOINERS or char in "+#":
        return char
    if char == "\u2019":
        return "'"
    if any(low <= point <= high for low, high in _UNSPACED) and unicodedata.category(char)[0] in "LMN":
        return "x"
    category = unicodedata.category(char)
    if category in ("Lu", "Lt"):
        return "u"
    if category[0] in "LM" or category == "Co":
        return "l"
    return "d" if category[0] == "N" else " "


_SHAPES = _Shapes()


def clean(text: str) -> str:
    """The text as it is stored: NFC, storable by SQLite, no invisible characters, spaces for control characters."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
        text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    return _CONTROL.sub(" ", text)


def without_diacritics(text: str) -> str:
    """Lower case without marks, as the tokeniser stores Latin letters."""
    return "".join(char for char in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(char))


def _fold(text: str) -> str:
    """Clean text with compatibility forms (full-width, ligatures) and vowel points folded away."""
    if text.isascii():
        return text
    return _POINTS.sub("", unicodedata.normalize("NFKC", text))


def _accentless(word: str) -> str:
    """A Greek or Cyrillic word without accents, as many write it; '' for others: the tokeniser folds Latin only."""
    return without_diacritics(word.casefold()) if _ACCENTED.search(word) else ""


def _symbol_name(text: str) -> str:
    """A word for a name made of symbols: C++ cplusplus, C# csharp, .NET dotnet."""
    if text.startswith("."):
        return "dot" + text[1:].replace("_", "").lower()
    return text.rstrip("+#").lower() + ("sharp" if text.endswith("#") else "plusplus")


def _parts(word: str, shape: str) -> list[str]:
    """The lower-case parts of one identifier without separators: HTTPServer, parse2Json."""
    return [word[m.start() : m.end()].lower() for m in _PART.finditer(shape)]


def extra_terms(*texts: str) -> str:
    """What the tokeniser does not see by itself, as words joined by spaces, each once, at most MAX_EXTRA_TERMS.

    Parts of camelCase words (it splits snake_case and paths itself), pairs of characters of unspaced scripts
    with the last character of each run, names made of symbols, and folded spellings.
    """
    found: dict[str, None] = {}
    for raw in texts:
        text = clean(raw)
        folded = _fold(text)
        if folded != text:
            seen = set(text.split())
            found.update((word, None) for word in folded.split() if word not in seen)
        if _ACCENTED.search(folded):
            found.update((other, None) for word in folded.split() if (other := _accentless(word)) not in ("", word))
        for term in _extra(folded):
            found[term] = None
            if len(found) >= MAX_EXTRA_TERMS:
                return " ".join(found)
    return " ".join(found)


def _extra(text: str) -> Iterator[str]:
    shape = text.translate(_SHAPES)
    for match in _HUMP.finditer(shape):
        start = _word_start(shape, match.start())
        word = text[start : match.end()]
        parts = _parts(word, shape[start : match.end()])
        if len(parts) <= MAX_PARTS and not _HASH.match(word):
            yield from (part for part in parts if len(part) > 1)
    if "x" in shape:
        for match in _RUN.finditer(shape):
            piece = text[match.start() : match.end()]
            if match.lastgroup == "run":
                yield from _pairs(piece)
            yield piece[-1] if match.lastgroup == "run" else piece.lower()
    if "." in shape:
        for match in _NAME.finditer(shape):
            yield _symbol_name(text[match.start() : match.end()])
    if "#" in shape or "++" in shape:
        for match in _SIGNED.finditer(shape):
            yield _symbol_name(text[_word_start(shape, match.start()) : match.end()])


def _word_start(shape: str, at: int) -> int:
    while at and shape[at - 1] in "uld":
        at -= 1
    return at


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


@dataclass(frozen=True, slots=True)
class Term:
    """One thing asked for. `match` is its FTS5 expression, `loose` a wider one, `literals` what to mark in a text."""

    word: str
    match: str
    literals: tuple[str, ...]
    loose: str = ""
    plain: bool = False  # one word of letters, so that a misspelling of it can be looked up


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: at most MAX_TERMS distinct terms, none for empty or symbol-only text."""

    terms: tuple[Term, ...]

    @property
    def exact_terms(self) -> str:
        """Every term, words and identifiers whole."""
        return " AND ".join(term.match for term in self.terms)

    @property
    def all_terms(self) -> str:
        """Every term, identifiers also by their parts, the last word also as the beginning of one."""
        return " AND ".join(term.loose or term.match for term in self.terms)

    @property
    def any_term(self) -> str:
        """At least one term."""
        return " OR ".join(term.loose or term.match for term in self.terms)


def parse_query(text: str) -> Query:
    """Never raises. Only the first MAX_QUERY_CHARS characters are read; stop words stay only when alone."""
    folded = _fold(clean(text[:MAX_QUERY_CHARS]))
    shape = folded.translate(_SHAPES)
    terms: dict[str, Term] = {}
    last: re.Match[str] | None = None
    for match in _TOKEN.finditer(shape):
        last = match
        for term in _terms_of(folded, match):
            terms.setdefault(term.word, term)
    kept = [term for word, term in terms.items() if word not in STOP_WORDS] or list(terms.values())
    kept = kept[:MAX_TERMS]
    if last is not None and last.lastgroup == "word" and kept:
        kept = [_with_prefix(term) if term.word == _word(folded, last) else term for term in kept]
    return Query(tuple(kept))


def _word(text: str, match: re.Match[str]) -> str:
    return text[match.start() : match.end()].lower()


def _terms_of(text: str, match: re.Match[str]) -> Iterator[Term]:
    piece = text[match.start() : match.end()]
    if match.lastgroup == "run":
        if len(piece) == 1:  # the index holds pairs, and the last character of a run alone
            yield Term(piece, f'"{piece}" *', (piece,))
        for pair in _pairs(piece):
            yield Term(pair, f'"{pair}"', (pair,))
    elif match.lastgroup == "word":
        yield _word_term(piece, match.group())
    else:
        yield Term(piece.lower(), f'"{_symbol_name(piece)}"', (piece,))


def _word_term(piece: str, shape: str) -> Term:
    """A word, or an identifier: whole, as a phrase, and loosely all its parts."""
    parts: list[str] = []
    for segment in _SEGMENT.finditer(shape):
        parts += _parts(piece[segment.start() : segment.end()], segment.group())
    word, folded = piece.lower(), _accentless(piece)
    match = f'"{piece}"' if folded in ("", word) else f'("{piece}" OR "{folded}")'
    distinct = list(dict.fromkeys(parts))
    if sum(len(part) > 1 for part in distinct) > 1 and len(parts) <= MAX_PARTS:
        joined = " AND ".join(f'"{part}"' for part in distinct)
        return Term(word, match, (word, *(part for part in distinct if len(part) > 1)), f"({match} OR ({joined}))")
    return Term(word, match, (word,), plain=len(word) > 3 and word.isalpha())


def _with_prefix(term: Term) -> Term:
    """Let a word of three letters or more stand for the beginning of a longer one.

    Not a short inflected one: the stemmer runs first, so that uses* would become us* and find "user".
    """
    word = term.word
    short = len(word) < 6 and word.endswith(("s", "ed", "ing"))
    if len(word) < 3 or short or not word[-1].isalnum():
        return term
    return replace(term, loose=f'({term.loose or term.match} OR "{word}" *)')


# What the stemmer takes off; the longer ones only from longer stems, or "timous" would be a form of "tim".
_ENDINGS = ("", "s", "e", "es", "ed", "er", "ers", "y", "ing", "ings")
_LONG = """
    or ly al ion ions ation ations ment ments able ible ability ity ness ful ence ance ent ant ive ous ate ated ates
    ating ize ized izes izer izers izing ization
"""
_LONG_ENDINGS = tuple(_LONG.split())


def closest(word: str, vocabulary: Iterable[tuple[str, int]], most: int = 3) -> list[str]:
    """Words with stems of the vocabulary (stem, documents) that the word misspells: the nearest, commonest first.

    One slip for 4 to 7 letters, two for 8 and more, none for less; a swap of neighbours is one slip.
    """
    if len(word) < 4:
        return []
    limit = 2 if len(word) >= 8 else 1
    letters = set(word)
    best: list[tuple[int, int, str]] = []
    for stem, documents in vocabulary:
        # A slip brings in one letter at most: this spares nine stems of ten the counting.
        if len(stem) < 3 or len(set(stem) - letters) > limit:
            continue
        if edit_distance(word[: len(stem)], stem, limit + 1) <= limit + 1:
            best += [(slips, -documents, form) for slips, form in [_nearest(word, stem, limit)] if slips <= limit]
    best.sort()
    return [form for slips, _, form in best if slips == best[0][0]][:most]


def _nearest(word: str, stem: str, limit: int) -> tuple[int, str]:
    """The slips to the nearest word with this stem, and that word. The word itself is known to be none."""
    return min(
        ((edit_distance(word, form, limit), form) for form in _forms(stem) if form != word), key=lambda found: found[0]
    )


def _forms(stem: str) -> Iterator[str]:
    """Words that may have this stem, of two equally near the likelier first."""
    yield from (stem + stem[-1] + ending for ending in ("ed", "er", "ing"))
    yield from (stem + ending for ending in _ENDINGS)
    if stem.endswith("i"):
        yield stem[:-1] + "y"
    if len(stem) > 4:
        yield from (stem + ending for ending in _LONG_ENDINGS)


def edit_distance(a: str, b: str, limit: int) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours between two words; above the limit, limit + 1."""
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, char in enumerate(a, 1):
        before, row, above = row, [i], before
        for j, other in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (char != other))
            if i > 1 and j > 1 and char == b[j - 2] and a[i - 2] == other:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
        if min(row) > limit and min(before) > limit:
            return limit + 1
    return min(row[-1], limit + 1)


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
