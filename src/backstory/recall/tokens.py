"""How many tokens a text may cost, from above. Light: a hook imports it.

No tokenizer is at hand where a brief is made, and each model has its own. The estimate must not be too low: one
token for four letters of a plain word, one for two of an odd one (digits, mixed case, no vowels), one for each mark,
and the bytes themselves for other scripts. `tests/recall/test_tokens.py` holds it against a real tokenizer.
"""

from __future__ import annotations

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_VOWELS = frozenset("aeiouyAEIOUY")


def estimate(text: str) -> int:
    """Tokens of `text`, an upper estimate; 0 for an empty text."""
    total, start, length = 0, 0, len(text)
    while start < length:
        letter = text[start]
        end = start + 1
        if letter in _LETTERS:
            while end < length and text[end] in _LETTERS:
                end += 1
            total += _word(text[start:end])
        elif letter.isdigit() and letter.isascii():
            while end < length and text[end].isdigit() and end - start < 2:
                end += 1
            total += 1
        elif letter == " ":
            # A single space goes with the word behind it; every further one counts.
            total += 1 if end < length and text[end] == " " else 0
        elif letter.isascii():
            total += 1
        else:
            total += _foreign(letter)
        start = end
    return total


def _word(word: str) -> int:
    lower = word.lower()
    plain = (word in (lower, word.upper()) or word[1:] == lower[1:]) and not (len(word) > 4 and word.isupper())
    if plain and _VOWELS.intersection(word):
        return (len(word) + 4) // 5 if len(word) <= 5 else (len(word) + 3) // 4 + 1
    return (len(word) + 1) // 2


def _foreign(letter: str) -> int:
    """Other scripts: two tokens for a letter of two bytes at the most, the bytes beyond."""
    return min(3, len(letter.encode("utf-8", "replace")))
