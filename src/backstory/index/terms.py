"""Words: what the index stores beside a text, and how a query becomes match strings.

User text is never query syntax: every term is built from letters, digits and marks and is quoted, so that
quotes, AND, NEAR(, *, -word, NUL or lone surrogates neither raise nor mean anything. Work is bounded whatever
the length of the text. Pure: no I/O.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

MAX_TERMS = 32
MAX_QUERY_CHARS = 4096
MAX_EXTRA_TERMS = 50_000
MAX_PARTS = 12

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
# Over whole texts: only the telling place is looked for, `_word_start` goes back from it. Each way begins with a
# digit or a capital, since small letters are everywhere: 164,000 texts (41 MB) take 0.3 s, with `lu|uul|d[ul]` 0.9 s.
_HUMP = re.compile(r"(?:d[ul]|u(?:(?<=lu)|(?<=uu)l))[uld]*")
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
_ASCII_SHAPES = "".join(_shape_of(point) for point in range(128)).ljust(256).encode("ascii")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]+")
_ASCII_CONTROL = bytes(point for point in range(128) if _CONTROL.match(chr(point)))


def _shape(text: str) -> str:
    """The shapes of the characters. By way of bytes, since `str.translate` looks each character up anew."""
    shape = text.encode("ascii", "replace").translate(_ASCII_SHAPES)
    if text.isascii():
        return shape.decode("ascii")
    mixed = bytearray(shape)
    for match in _BEYOND_ASCII.finditer(text):
        mixed[match.start() : match.end()] = match.group().translate(_SHAPES).encode("ascii")
    return mixed.decode("ascii")


def clean(text: str) -> str:
    """The text as it is stored: NFC, storable by SQLite, no invisible characters, spaces for control characters."""
    if text.isascii():
        data = text.encode("ascii")
        return text if len(data.translate(None, _ASCII_CONTROL)) == len(data) else _CONTROL.sub(" ", text)
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


@lru_cache(4096)
def _long_parts(word: str, shape: str) -> tuple[str, ...]:
    """The parts of two characters and more; none of a word that is cut into very many."""
    parts = _parts(word, shape)
    return tuple(part for part in parts if len(part) > 1) if len(parts) <= MAX_PARTS else ()


def extra_terms(*texts: str) -> str:
    """What the tokeniser does not see by itself, as words joined by spaces, each once, at most MAX_EXTRA_TERMS.

    Parts of camelCase words (it splits snake_case and paths itself), pairs of characters of unspaced scripts
    with the last character of each run, names made of symbols, and folded spellings.
    """
    return extra_terms_of_clean(*map(clean, texts))


def extra_terms_of_clean(*texts: str) -> str:
    """`extra_terms` of texts that `clean` gave."""
    found: dict[str, None] = {}
    for text in texts:
        folded = text if text.isascii() else _spellings(text, found)
        for term in _extra(folded):
            found[term] = None
            if len(found) >= MAX_EXTRA_TERMS:
                return " ".join(found)
    return " ".join(found)


def _spellings(text: str, found: dict[str, None]) -> str:
    """The folded text; the words that folding or the loss of accents changed are added to `found`."""
    folded = _fold(text)
    if folded != text:
        seen = set(text.split())
        found.update((word, None) for word in folded.split() if word not in seen)
    if _ACCENTED.search(folded):
        found.update((other, None) for word in folded.split() if (other := _accentless(word)) not in ("", word))
    return folded


def _extra(text: str) -> Iterator[str]:
    shape = _shape(text)
    for match in _HUMP.finditer(shape):
        start = _word_start(shape, match.start())
        word = text[start : match.end()]
        if not _HASH.match(word):
            yield from _long_parts(word, shape[start : match.end()])
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
    """One thing asked for.

    `match` is its FTS5 expression, `loose` a wider one, `prefix` one for longer words that begin with it; "" for
    none. `literals` is what to mark in a text.
    """

    word: str
    match: str
    literals: tuple[str, ...]
    loose: str = ""
    prefix: str = ""
    plain: bool = False  # one word of letters, so that a misspelling of it can be looked up

    @property
    def widest(self) -> str:
        """Everything that may be meant."""
        return f"({self.loose or self.match} OR {self.prefix})" if self.prefix else self.loose or self.match


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
        return " AND ".join(term.widest for term in self.terms)

    @property
    def any_term(self) -> str:
        """At least one term."""
        return " OR ".join(term.widest for term in self.terms)


def parse_query(text: str) -> Query:
    """Never raises. Only the first MAX_QUERY_CHARS characters are read; stop words stay only when alone."""
    folded = _fold(clean(text[:MAX_QUERY_CHARS]))
    shape = _shape(folded)
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
    return replace(term, prefix=f'"{word}" *')
