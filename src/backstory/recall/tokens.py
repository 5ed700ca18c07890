"""How many tokens a text may cost, from above. Light: a hook imports it.

No tokenizer is at hand where a brief is made, and each model has its own. The estimate must not be too low, so it
counts what byte-pair encodings have in common. A word is one token and the breaks in it: a break is likely between
letters that seldom follow each other, and two of three capitals in a row stand alone. A mark is one token, two digits
are one, and another script costs up to its bytes.

Measured against two real vocabularies, the dearer of both counts (`tests/recall/test_tokens.py`): never below, but
for two in a thousand lines of random small letters; 1.5 times on English, 1.9 on paths, 1.2 on the date and id behind
a line, 1.0 to 1.9 on other scripts. A model that gives each digit a token of its own needs four more for a date, which
the slack of an English line covers.
"""

from __future__ import annotations

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset("0123456789")
# Dashes, quotation marks, bullet and ellipsis: they have a token of their own.
_MARKS = frozenset("\u2013\u2014\u2018\u2019\u201c\u201d\u2022\u2026")
# Letters that often follow a letter: the 240 most frequent pairs of the words in commit messages and documentation.
_FOLLOWS = {
    "a": "bcdgiklmnprstuvy", "b": "aeilorsu", "c": "acehiklorstu", "d": "adeilorsu", "e": "abcdefglmnpqrstvwx",
    "f": "aefilortu", "g": "aehinorsu", "h": "aeiot", "i": "abcdefglmnoprstvxz", "j": "", "k": "eis",
    "l": "adeilostuy", "m": "abeimopsu", "n": "acdefgiknostuv", "o": "abcdfgiklmnoprstuvw", "p": "aehiloprstuy",
    "q": "u", "r": "acdegiklmnoprstuvy", "s": "acehilopstuy", "t": "acehiloprstuy", "u": "abcegilmnprst", "v": "aei",
    "w": "aeio", "x": "pt", "y": "ps", "z": "e",
}  # fmt: skip
# In tenths of a token: a word, a common pair in it, a rare one; a run of capitals, each letter of it; a short piece.
_WORD, _COMMON, _RARE, _CAPITALS, _CAPITAL, _STUB = 10, 1, 10, 3, 7, 5


def estimate(text: str) -> int:
    """Tokens of `text`, an upper estimate; 0 for an empty text."""
    return whole(tenths_of(text)) if text else 0


def whole(tenths: int) -> int:
    """Tokens from tenths, rounded up with one to spare: for a whole text, not for each of its parts."""
    return (tenths + 19) // 10


def tenths_of(text: str) -> int:
    """Tenths of a token of a part of a text; parts may be added up."""
    tenths, start, length = 0, 0, len(text)
    while start < length:
        letter = text[start]
        end = start + 1
        if letter in _LETTERS:
            while end < length and text[end] in _LETTERS:
                end += 1
            tenths += _word(text[start:end])
        elif letter == " ":
            while end < length and text[end] == " ":
                end += 1
            tenths += _spaces(end - start, text[end : end + 1])
        else:
            if letter in _DIGITS and text[end : end + 1] in _DIGITS:
                end += 1
            tenths += 10 if letter.isascii() or letter in _MARKS else _foreign(ord(letter))
        start = end
    return tenths


def _word(word: str) -> int:
    lower = word.lower()
    if word[1:] == lower[1:]:
        return _small(lower)
    # Pieces begin at each capital that follows a small letter, or is followed by one: parse|HTML|Document.
    tenths, start = 0, 0
    for place in range(1, len(word) + 1):
        if place == len(word) or (word[place].isupper() and not word[place - 1 : place + 2].isupper()):
            piece = word[start:place]
            capitals = len(piece) > 1 and piece.isupper()
            tenths += _CAPITALS + _CAPITAL * len(piece) if capitals else _small(lower[start:place])
            tenths += _STUB if 1 < len(piece) < 4 else 0
            start = place
    return tenths


def _small(word: str) -> int:
    tenths, before = _WORD, ""
    for letter in word:
        if before:
            tenths += _COMMON if letter in _FOLLOWS[before] else _RARE
        before = letter
    return tenths


def _spaces(count: int, behind: str) -> int:
    """A single space goes with the word or mark behind it, never with a digit, another script or the end."""
    alone = not behind or behind in _DIGITS or not (behind.isascii() or behind in _MARKS)
    return (10 if alone else 0) + (0 if count == 1 else 10 + count // 2)


def _foreign(code: int) -> int:
    """At most a token for each byte; less where the vocabularies were seen to need less."""
    if 0x430 <= code < 0x450:  # Russian small letters
        return 10
    if code < 0x80 * 16 or 0x2000 <= code < 0x2080 or 0x3040 <= code < 0x3100:  # two bytes; punctuation; kana
        return 20
    return 30 if code < 0x10000 or 0x1F300 <= code < 0x1FB00 else 40  # three bytes and emoji; the rest
