"""Ids that sort by time and are named by any unique suffix.

26 characters of Crockford base 32: 48 bits of milliseconds, then 80 random bits. The random part ends the
id, so a suffix of six characters names an entry among thousands, and two clones never make the same id.
"""

from __future__ import annotations

import os

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 26
SHORT = 6

# What people type for what they read: Crockford's table.
_TYPED = str.maketrans({"O": "0", "I": "1", "L": "1"})


def new_id(at_micros: int, entropy: bytes | None = None) -> str:
    """A fresh id for an event recorded at `at_micros`; `entropy` (10 bytes) is for tests."""
    random_bits = int.from_bytes(entropy if entropy is not None else os.urandom(10), "big")
    number = (max(at_micros, 0) // 1000 & (1 << 48) - 1) << 80 | random_bits
    return "".join(ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def normalise(text: str) -> str | None:
    """The canonical spelling of an id or suffix as typed, or None when it cannot be one (under 6, over 26)."""
    typed = text.strip().lstrip("#").upper().translate(_TYPED)
    if not SHORT <= len(typed) <= LENGTH or any(letter not in ALPHABET for letter in typed):
        return None
    return typed


def is_id(text: str) -> bool:
    """Whether `text` is a whole id in canonical spelling."""
    return len(text) == LENGTH and all(letter in ALPHABET for letter in text)
