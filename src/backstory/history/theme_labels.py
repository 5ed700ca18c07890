"""What a theme is called: its heaviest terms, as people wrote them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

MOST_TERMS = 8
# A label has three terms, and a fourth that stands in at least half of the texts.
_IN_LABEL = 3
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af]{2,}\\Z")
# Pairs of characters are put together again where so many of the texts have them in a row.
_LONGEST_RUN = 8


def named(
    weights: Mapping[str, int], texts: Sequence[tuple[str, ...]], forms: Mapping[str, str], prose: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """The label and the heaviest terms. `weights` is the theme's centre; `texts` and `prose` are those of its members.

    A term in one text only is no term of the theme, and one that is part of another says nothing more.
    """
    ranked = sorted(weights, key=lambda term: (-weights[term], term))
    chosen: list[str] = []
    often: list[bool] = []
    for term in ranked:
        count = sum(term in text for text in texts)
        form = _run(term, ranked, prose) if _UNSPACED.match(term) else forms.get(term, term)
        if count < 2 or any(_twins(form, other) for other in chosen):
            continue
        chosen.append(form)
        often.append(2 * count >= len(texts))
        if len(chosen) == MOST_TERMS:
            break
    shown = chosen[: _IN_LABEL + (often[_IN_LABEL : _IN_LABEL + 1] == [True])]
    return ", ".join(shown), tuple(chosen)


def _twins(one: str, other: str) -> bool:
    one, other = one.casefold(), other.casefold()
    return one in other or other in one


def _run(pair: str, ranked: Sequence[str], prose: Sequence[str]) -> str:
    """The longest run of pairs around a pair that half of the texts with the pair have: its word, most likely."""
    holding = [text for text in prose if pair in text]
    pairs = [term for term in ranked[: 4 * MOST_TERMS] if _UNSPACED.match(term) and len(term) == 2]
    run, grown = pair, True
    while grown and len(run) < _LONGEST_RUN:
        grown = False
        for other in pairs:
            for longer in (other[0] + run, run + other[1]):
                joined = longer[:2] == other or longer[-2:] == other
                if joined and 2 * sum(longer in text for text in holding) >= len(holding) > 0:
                    run, grown = longer, True
                    break
            if grown:
                break
    return run
