"""Words that a misspelt one may stand for, found among the stems of the index. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
