"""The any-term stage of a search: documents that have enough of what was asked for.

A document is taken when the terms that it has weigh enough of the whole query, rare terms weighing more. Those taken
are scored by bm25 and by that part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from backstory.index import weighing
from backstory.index.filters import Filter
from backstory.index.terms import Term
from backstory.index.weighing import Part, Scale

FLOOR = 0.34
FITTING = 0.42
SHARED = 0.5
LONG = 3.0
# Added to the part of the query that a document has, before bm25 is multiplied by it.
BASE = 0.2

UBIQUITOUS = 0.25  # a term in more than this part of all documents tells nothing by itself
TERM_ROWS = 5_000  # the newest rows read for one term
WEIGHED = 400  # documents weighed in full


class AnyTerm:
    """One any-term stage: what terms weigh, the filter, and the documents that share files with the present work."""

    def __init__(self, scale: Scale, kept: Filter, sharers: Collection[int], wanted: int) -> None:
        self.db, self.scale, self.kept, self.sharers = scale.db, scale, kept, sharers
        self.most = max(WEIGHED, wanted)
        # The documents known to have a part.
        self.having: dict[Part, frozenset[int]] = {}

    def scores(self, terms: Iterable[Term]) -> dict[int, float]:
        """rowid -> score of the documents that reach the floor: 0 to about 2, in parts of what the query weighs."""
        parts = [part for part in map(self.part, terms) if not part.common]
        known = [part for part in parts if part.documents]
        whole = sum(part.weight for part in parts)
        if not known:
            return {}
        weights = self.weights(known, whole)
        fits = self.fits(known, weights)
        words = whole / self.scale.heaviest
        scores = {}
        for rowid, weight in weights.items():
            part, fit = weight / whole, fits[rowid] / whole
            needed = SHARED if rowid in self.sharers else 1.0
            if part >= FLOOR * needed - 1e-9 or part * fit * words >= FITTING * needed:
                scores[rowid] = fit * (BASE + part)
        return scores

    def weights(self, known: Sequence[Part], whole: float) -> dict[int, float]:
        """rowid -> weight of the terms it has, of documents that may reach the floor and pass the filter."""
        floor = FLOOR * whole * min(1.0, LONG * self.scale.heaviest / whole)
        weights = self.listed(known)
        rest = [part for part in known if part.documents > len(self.having.get(part, ()))]
        best = self.heaviest(self.reaching(weights, floor - sum(part.weight for part in rest)))
        for part in rest:
            had = self.having.get(part, frozenset())
            more = weighing.matching(self.db, part, best.keys() - had)
            for rowid in more:
                best[rowid] += part.weight
            self.having[part] = had | more
        return self.reaching(best, floor)

    def part(self, term: Term) -> Part:
        """The term whole or by its parts; as the beginning of a word only if nothing else has it."""
        part = self.scale.part(term.loose or term.match)
        return part if part.documents or not term.prefix else self.scale.part(term.prefix)

    def reaching(self, weights: dict[int, float], floor: float) -> dict[int, float]:
        """Those that weigh as much as the floor, a little lower for what is lost in adding up."""
        high = floor - 1e-9
        low = SHARED * floor - 1e-9
        return {
            rowid: weight
            for rowid, weight in weights.items()
            if weight >= high or (weight >= low and rowid in self.sharers)
        }

    def listed(self, known: Iterable[Part]) -> dict[int, float]:
        """rowid -> weight, of the newest documents of each part that is not ubiquitous."""
        weights: dict[int, float] = {}
        for part in known:
            if part.documents <= max(3.0, UBIQUITOUS * self.scale.documents):
                self.having[part] = frozenset(weighing.matched(self.db, self.kept, part.match, TERM_ROWS))
                for rowid in self.having[part]:
                    weights[rowid] = weights.get(rowid, 0.0) + part.weight
        return weights

    def heaviest(self, weights: dict[int, float]) -> dict[int, float]:
        """Those that pass the filter, the heaviest of them, documents that share files first."""
        order = sorted(weights, key=lambda rowid: (rowid not in self.sharers, -weights[rowid], -rowid))
        return {rowid: weights[rowid] for rowid in weighing.passing(self.db, self.kept, order, self.most)}

    def fits(self, known: Sequence[Part], rowids: Collection[int]) -> dict[int, float]:
        """rowid -> bm25 of the rarer terms and the weight of the others."""
        rare = weighing.rarer(known)
        others = [part for part in known if part not in rare]
        fits = weighing.fits(self.db, rare, rowids) if rowids and rare else {}
        return {
            rowid: fits.get(rowid, 0.0) + sum(part.weight for part in others if rowid in self.having[part])
            for rowid in rowids
        }
