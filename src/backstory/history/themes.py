"""What recurs in run records and trials, without a model, the same on every machine.

Texts become vectors of weighted terms (`theme_words`). Two texts are joined when each is among the nearest of the
other, their cosine is above a fixed threshold, and a third text is joined with both. What is joined, directly or not,
is a theme, unless it hangs together so loosely that it is a chain: that is parted at a higher threshold. Single links
alone chain a growing project into one heap (12,757 of 50,000 texts in a study).

Weights are whole numbers, so that sums are exact in whatever order they are made, by whichever engine; the cosine is
rounded to nine digits before it is compared, and ties go by the text's own name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from backstory.history.theme_nearest import Near, Vector, cosine, nearest, squared
from backstory.history.theme_words import Words

# A text says enough to belong to a theme from so many telling terms on, and so many of its heaviest are kept.
FEWEST_TERMS, MOST_TERMS = 4, 48
# A term in more than this part of the texts tells nothing; of few texts each may hold it.
COMMON_SHARE, COMMON_LEAST = 0.05, 100
NEIGHBOURS = 10
THRESHOLD = 0.25
# What hangs together more loosely than this (the middle similarity to the centre) is no theme but a chain.
COHESION, STEP = 0.45, 0.05
# A theme has this many texts at the least, about more than one ticket: one record told twice recurs nowhere.
FEWEST_MEMBERS, FEWEST_STEMS = 3, 2
LABEL_TERMS, KEPT_TERMS = 4, 12
# Beyond this many texts the standard library takes minutes.
MOST_WITHOUT_SCIPY = 5_000
_UNIT = 1 << 20
_IDF_CAP = 8.0
_DAY = 86_400_000_000
RECENT_DAYS = 90


class Document(NamedTuple):
    """A text: where it stands, the ticket it is about, and when it was written (microseconds, or None)."""

    source: str
    ref: str
    stem: str
    text: str
    happened_at: int | None


class Member(NamedTuple):
    """A document in a theme, and its similarity to the theme's centre, 0 to 1."""

    document: Document
    similarity: float


class Theme(NamedTuple):
    """What recurs. `drift` is new (every dated member is recent), quiet (none is), growing (twice as many as before in
    the same time), else steady; recent are the 90 days before the newest text of all, so that no clock has a part."""

    id: str
    label: str
    terms: tuple[str, ...]
    members: tuple[Member, ...]
    first_at: int | None
    last_at: int | None
    recent: int
    drift: str


class Themes(NamedTuple):
    """All themes, the largest first; a note where texts were left out."""

    themes: tuple[Theme, ...]
    note: str = ""

    def theme_rows(self) -> Iterator[tuple[object, ...]]:
        """Rows of the table `themes`."""
        for one in self.themes:
            size, terms = len(one.members), list(one.terms)
            yield one.id, one.label, size, terms, one.first_at, one.last_at, one.recent, one.drift

    def member_rows(self) -> Iterator[tuple[object, ...]]:
        """Rows of the table `run_record_themes`."""
        for one in self.themes:
            for document, similarity in one.members:
                stem = document.stem if document.source == "run_record" else None
                yield one.id, document.source, document.ref, stem, document.happened_at, similarity


def find(documents: Sequence[Document], *, engine: str = "auto") -> Themes:
    """The themes of `documents`, whatever their order. `engine` is auto, plain or scipy; both give the same."""
    from backstory.history import theme_scipy

    ordered = sorted(documents, key=lambda one: (one.source, one.ref))
    fast = theme_scipy.available() if engine == "auto" else engine == "scipy"
    note = ""
    if not fast and len(ordered) > MOST_WITHOUT_SCIPY:
        left_out = len(ordered) - MOST_WITHOUT_SCIPY
        newest = sorted(ordered, key=lambda one: (-(one.happened_at or 0), one.source, one.ref))[:MOST_WITHOUT_SCIPY]
        ordered = sorted(newest, key=lambda one: (one.source, one.ref))
        note = f"themes leave out the oldest {left_out:,} texts: install the extra `themes` to group them all"
    words = Words()
    vectors = _vectors([frozenset(words.terms(one.text)) for one in ordered])
    near = theme_scipy.nearest(vectors, NEIGHBOURS, THRESHOLD) if fast else nearest(vectors, NEIGHBOURS, THRESHOLD)
    groups = sorted(_groups(near, vectors))
    forms = words.forms() if groups else {}
    newest_at = max((one.happened_at for one in ordered if one.happened_at is not None), default=None)
    made = (_theme([ordered[place] for place in group], [vectors[place] for place in group], forms, newest_at)
            for group in groups if len({ordered[place].stem for place in group}) >= FEWEST_STEMS)  # fmt: skip
    return Themes(tuple(sorted(made, key=lambda one: (-len(one.members), one.id))), note)


def _vectors(texts: Sequence[frozenset[str]]) -> list[Vector]:
    """Vectors of whole-number weights; empty for a text that says too little."""
    frequency: Counter[str] = Counter()
    for one in texts:
        frequency.update(one)
    total = len(texts)
    common = max(COMMON_LEAST, int(COMMON_SHARE * total))
    weight = {
        term: round(_UNIT * min(_IDF_CAP, math.log2(1 + total / seen)))
        for term, seen in frequency.items()
        if 1 < seen <= common
    }
    found: list[Vector] = []
    for one in texts:
        kept = sorted(((weight[term], term) for term in one if term in weight), key=lambda pair: (-pair[0], pair[1]))
        found.append({term: heavy for heavy, term in kept[:MOST_TERMS]} if len(kept) >= FEWEST_TERMS else {})
    return found


def _groups(near: Near, vectors: Sequence[Vector]) -> Iterator[list[int]]:
    """Places that hang together, none more loosely than `COHESION`: what does is parted at a higher threshold."""
    joined = _joined(near)
    todo = [(group, THRESHOLD) for group in _connected(joined, range(len(near)), THRESHOLD)]
    while todo:
        group, threshold = todo.pop()
        if _cohesion([vectors[place] for place in group]) >= COHESION:
            yield sorted(group)
        else:
            higher = round(threshold + STEP, 9)
            todo += [(part, higher) for part in _connected(joined, group, higher)]


def _joined(near: Near) -> list[dict[int, float]]:
    """For each place its mutual neighbours with which it has a third in common, and how near they are."""
    known = [dict(pairs) for pairs in near]
    mutual = [
        {other: value for other, value in mine.items() if place in known[other]} for place, mine in enumerate(known)
    ]
    return [{other: value for other, value in mine.items() if mine.keys() & mutual[other].keys()} for mine in mutual]


def _connected(joined: Sequence[dict[int, float]], places: Iterable[int], threshold: float) -> list[list[int]]:
    """The parts of `places` that hang together by links of the threshold at least, those with enough members."""
    inside, seen, parts = set(places), set[int](), list[list[int]]()
    for start in sorted(inside):
        group, todo = set[int](), [start] if start not in seen else []
        while todo:
            place = todo.pop()
            if place not in group:
                group.add(place)
                todo += [
                    other
                    for other, value in joined[place].items()
                    if value >= threshold and other in inside and other not in group
                ]
        seen |= group
        if len(group) >= FEWEST_MEMBERS:
            parts.append(sorted(group))
    return parts


def _centre(vectors: Sequence[Vector]) -> Vector:
    centre: Counter[str] = Counter()
    for vector in vectors:
        centre.update(vector)
    return centre


def _to_centre(vectors: Sequence[Vector], centre: Vector) -> list[float]:
    length = squared(centre)
    return [
        cosine(sum(weight * centre[term] for term, weight in vector.items()), squared(vector), length)
        for vector in vectors
    ]


def _cohesion(vectors: Sequence[Vector]) -> float:
    """The middle similarity to the centre."""
    values = sorted(_to_centre(vectors, _centre(vectors)))
    return values[len(values) // 2]


def _theme(documents: list[Document], vectors: list[Vector], forms: dict[str, str], newest_at: int | None) -> Theme:
    centre = _centre(vectors)
    members = [Member(*pair) for pair in zip(documents, _to_centre(vectors, centre), strict=True)]
    terms = [forms.get(term, term) for term in sorted(centre, key=lambda term: (-centre[term], term))]
    times = sorted(document.happened_at for document in documents if document.happened_at is not None)
    recent, drift = _drift(times, newest_at)
    name = "\n".join(sorted(f"{document.stem}\0{document.source}\0{document.ref}" for document in documents))
    return Theme(
        id=blake2b(name.encode("utf-8", "replace"), digest_size=8).hexdigest(),
        label=", ".join(_distinct(terms, LABEL_TERMS)),
        terms=tuple(_distinct(terms, KEPT_TERMS)),
        members=tuple(sorted(members, key=lambda one: (-one.similarity, one.document.ref))),
        first_at=times[0] if times else None,
        last_at=times[-1] if times else None,
        recent=recent,
        drift=drift,
    )


def _distinct(terms: Sequence[str], count: int) -> list[str]:
    """The first terms of which none is part of another."""
    kept: list[str] = []
    for term in terms:
        low = term.casefold()
        if not any(low in other.casefold() or other.casefold() in low for other in kept):
            kept.append(term)
        if len(kept) == count:
            break
    return kept


def _drift(times: Sequence[int], newest_at: int | None) -> tuple[int, str]:
    """How many are recent, and what that says about the theme."""
    if not times or newest_at is None:
        return 0, "steady"
    border = newest_at - RECENT_DAYS * _DAY
    recent = sum(moment > border for moment in times)
    earlier = len(times) - recent
    if not earlier:
        return recent, "new"
    if not recent:
        return recent, "quiet"
    spans = max(1.0, (border - times[0]) / (RECENT_DAYS * _DAY))
    return recent, "growing" if recent >= 2 * earlier / spans else "steady"
