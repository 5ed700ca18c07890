"""What recurs in run records and trials: groups of texts about the same trouble. Pure: no file, no clock, no setting.

Promises:

* The same documents give the same themes, in whatever order they come, on any machine, with either engine.
* A theme has at least three members of at least two tickets (a trial without one counts by itself): what one ticket
  says in each of its attempts is its own business.
* No theme swallows the rest: two groups become one only where their members are alike on average, not by a chain.
* Every member is in one theme. A text of less than four telling terms is in none.

How it drifts is told by the newest document of all, never by the clock. Recent is what happened in the 90 days up to
it; a member without a time counts for nothing. `new`: every member is recent. `quiet`: none is. `growing`: at least
three are, and they came at least twice as often as the earlier ones did, counted from the first member to the begin of
the 90 days, but over 90 days at least. `steady`: all else.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import NamedTuple

from backstory.errors import BackstoryError
from backstory.history import theme_groups, theme_labels, theme_neighbours, theme_scipy
from backstory.history.theme_vectors import Space, Vector, space_of
from backstory.history.theme_words import Words

LEAST_MEMBERS, LEAST_STEMS = 3, 2
# Members less similar to the centre are one in a hundred, and half of them are about something else.
CENTRAL = 0.25
RECENT_MICROS = 90 * 86_400 * 1_000_000
GROWING_LEAST, GROWING_TIMES = 3, 2
# The standard library takes seconds for so many, and four times as long for twice as many.
MOST_WITHOUT_EXTRA = 5_000
# From here on the extra is faster although it has to be loaded.
_EXTRA_FROM = 1_500
NEW, GROWING, STEADY, QUIET = "new", "growing", "steady", "quiet"
AUTO, STDLIB, SCIPY = "auto", "stdlib", "scipy"
_INSTALL = "Install the extra `themes` for all of them: `pip install 'backstory[themes]'`."


@dataclass(frozen=True, slots=True)
class Document:
    """A text. `source` is run_record or trial, `ref` its path or id, `stem` the ticket that it is about."""

    source: str
    ref: str
    stem: str | None
    text: str
    happened_at_micros: int | None = None


@dataclass(frozen=True, slots=True)
class Theme:
    """One row of the table `themes`. Times are microseconds."""

    theme: str
    label: str
    size: int
    terms: tuple[str, ...]
    first_at: int | None
    last_at: int | None
    recent: int
    drift: str


@dataclass(frozen=True, slots=True)
class Member:
    """One row of the table `run_record_themes`."""

    theme: str
    source: str
    ref: str
    ticket_stem: str | None
    happened_at: int | None
    similarity: float


@dataclass(frozen=True, slots=True)
class Themes:
    """Themes, the largest first, and their members, the most typical first. `note` says what was left out, if so."""

    themes: tuple[Theme, ...] = ()
    members: tuple[Member, ...] = ()
    note: str = ""


def find(documents: Sequence[Document], *, engine: str = AUTO) -> Themes:
    """The themes of `documents`. The engine (auto, stdlib, scipy) changes the time it takes, never the result.

    Without the extra only the newest 5,000 are looked at, and the note says so. Of several documents with the same
    source and ref one counts. `BackstoryError` when the engine is unknown, or asked for and not installed.
    """
    wanted = _unique(documents)
    newest = max((item.happened_at_micros for item in wanted if item.happened_at_micros is not None), default=0)
    chosen = _engine(engine, len(wanted))
    kept = wanted
    if chosen == STDLIB and len(wanted) > MOST_WITHOUT_EXTRA:
        kept = sorted(sorted(wanted, key=_age)[:MOST_WITHOUT_EXTRA], key=_order)
    words = Words()
    texts = [words.terms(item.text) for item in kept]
    space = space_of(texts)
    nearest = theme_scipy.neighbours if chosen == SCIPY else theme_neighbours.neighbours
    near = nearest(space, theme_groups.SIMILAR, theme_groups.NEIGHBOURS)
    found = []
    for group in theme_groups.groups(space, near):
        members = _Group([space.vectors[place] for place in group], space, kept)
        if members.is_theme():
            members.shed()
        if members.is_theme():
            found.append(members)
    note = "" if kept is wanted else _left_out(len(kept), len(wanted))
    return _rows(found, _Names(space.terms, words.forms(), texts), newest, note)


def _unique(documents: Sequence[Document]) -> list[Document]:
    unique: dict[tuple[str, str], Document] = {}
    for item in sorted(documents, key=_order):
        unique.setdefault((item.source, item.ref), item)
    return list(unique.values())


def _order(item: Document) -> tuple[str, str, str, str, int]:
    at = item.happened_at_micros
    return item.source, item.ref, item.stem or "", item.text, -1 if at is None else at


def _age(item: Document) -> tuple[bool, int, str, str]:
    """The newest first, those without a time last."""
    at = item.happened_at_micros
    return at is None, -(at or 0), item.source, item.ref


def _engine(wanted: str, count: int) -> str:
    if wanted not in (AUTO, STDLIB, SCIPY):
        raise BackstoryError(f"There is no engine {wanted}.", hint=f"Engines are {AUTO}, {STDLIB} and {SCIPY}.")
    if wanted == SCIPY and not theme_scipy.available():
        raise BackstoryError("The engine scipy is not installed.", hint=_INSTALL)
    if wanted != AUTO:
        return wanted
    return SCIPY if count >= _EXTRA_FROM and theme_scipy.available() else STDLIB


def _left_out(kept: int, all_of_them: int) -> str:
    return f"Themes are those of the newest {kept:,} of {all_of_them:,} records. {_INSTALL}"


class _Group:
    """Vectors that belong together, and the documents that they stand for."""

    def __init__(self, members: Sequence[Vector], space: Space, documents: Sequence[Document]) -> None:
        self._weights, self._documents = space.weights, documents
        self.places = [(place, vector) for vector in members for place in vector.texts]

    @property
    def documents(self) -> list[Document]:
        """What its members say, in the order of `places`."""
        return [self._documents[place] for place, _ in self.places]

    def is_theme(self) -> bool:
        """Whether it recurs: often enough, and in more than one ticket."""
        return len(self.places) >= LEAST_MEMBERS and len(self.stems()) >= LEAST_STEMS

    def stems(self) -> list[str]:
        """Its tickets, each once; a document without one stands for itself."""
        return sorted({f"stem {item.stem}" if item.stem else _key(item) for item in self.documents})

    def centre(self) -> dict[int, int]:
        """The sum of its vectors, by term."""
        total: dict[int, int] = {}
        for _, vector in self.places:
            for term, weight in theme_groups.weighted(vector, self._weights).items():
                total[term] = total.get(term, 0) + weight
        return total

    def similarities(self, centre: dict[int, int]) -> list[float]:
        """How similar each member is to the centre, 0 to 1, rounded to 9 digits."""
        length = isqrt(sum(weight * weight for weight in centre.values()))
        products = (
            sum(weight * centre[term] for term, weight in theme_groups.weighted(vector, self._weights).items())
            for _, vector in self.places
        )
        return [min(1.0, round(product / (theme_groups.SCALE * length), 9)) for product in products]

    def shed(self) -> None:
        """Leave out who came with a neighbour, and is about something else than the others are."""
        alike = self.similarities(self.centre())
        self.places = [place for place, similarity in zip(self.places, alike, strict=True) if similarity >= CENTRAL]

    def members(self, theme: str, centre: dict[int, int]) -> list[Member]:
        """Rows of its documents, the most typical first."""
        rows = [
            Member(theme, item.source, item.ref, item.stem or None, item.happened_at_micros, similarity)
            for item, similarity in zip(self.documents, self.similarities(centre), strict=True)
        ]
        return sorted(rows, key=lambda row: (-row.similarity, row.source, row.ref))


class _Names(NamedTuple):
    """What labels are made of: terms by number, how each is written, and the terms of every text."""

    terms: list[str]
    forms: dict[str, str]
    texts: list[tuple[str, ...]]

    def of(self, group: _Group, centre: dict[int, int]) -> tuple[str, tuple[str, ...]]:
        """The label of a theme and its heaviest terms."""
        weights = {self.terms[term]: weight for term, weight in centre.items()}
        texts = [self.texts[place] for place, _ in group.places]
        return theme_labels.named(weights, texts, self.forms, [item.text for item in group.documents])


def _rows(found: list[_Group], names: _Names, newest: int, note: str) -> Themes:
    rows = []
    for theme, group in sorted(zip(_ids(found), found, strict=True), key=lambda pair: (-len(pair[1].places), pair[0])):
        centre = group.centre()
        label, terms = names.of(group, centre)
        times = sorted(item.happened_at_micros for item in group.documents if item.happened_at_micros is not None)
        first, last = (times[0], times[-1]) if times else (None, None)
        recent = sum(newest - at <= RECENT_MICROS for at in times)
        row = Theme(theme, label, len(group.places), terms, first, last, recent, drift(times, newest))
        rows.append((row, group.members(theme, centre)))
    return Themes(tuple(row for row, _ in rows), tuple(member for _, members in rows for member in members), note)


def drift(times: Sequence[int], newest: int) -> str:
    """How a theme with members at `times` (microseconds) drifts, seen from the newest document of all."""
    begin = newest - RECENT_MICROS
    earlier = [at for at in times if at < begin]
    recent = len(times) - len(earlier)
    if not times:
        return STEADY
    if not earlier:
        return NEW
    if not recent:
        return QUIET
    span = max(begin - min(earlier), RECENT_MICROS)
    grows = recent >= GROWING_LEAST and recent * span >= GROWING_TIMES * len(earlier) * RECENT_MICROS
    return GROWING if grows else STEADY


def _ids(found: list[_Group]) -> list[str]:
    """An id for each theme: a hash of its tickets, so that it outlives a file that moves or a further attempt.

    Themes of the same tickets are told apart by their documents.
    """
    ids = [_hash(group.stems()) for group in found]
    taken = Counter(ids)
    return [
        _hash(sorted(map(_key, group.documents))) if taken[identity] > 1 else identity
        for identity, group in zip(ids, found, strict=True)
    ]


def _key(item: Document) -> str:
    return f"{item.source} {item.ref}"


def _hash(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
