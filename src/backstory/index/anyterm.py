"""The any-term stage of a search: documents that have enough of what was asked for.

A document is taken when the terms that it has weigh enough of the whole query, rare terms weighing more. Those taken
are scored by bm25 and by that part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from backstory.index import weighing
from backstory.index.filters import Filter
from backstory.index.lifting import PATH_LIFT
from backstory.index.terms import Term
from backstory.index.weighing import Part, Scale

# The part of a query's weight that a hit must have. Messages of curl, 150 queries of three words of one message and
# three of others, recall at 10; and 20 questions about other things, how many were answered:
#              50 messages   500 messages   5,000 messages
#   0.25        100 %, 0       99 %, 0         89 %, 3
#   0.34         96 %, 0       98 %, 0         92 %, 1
#   0.40         81 %, 0       87 %, 0         89 %, 0
#   0.50         33 %, 0       53 %, 0         63 %, 0
FLOOR = 0.34
# Of a long query even the right document has less, but by chance nothing has much of it either, and what has is long.
# So a hit may have less whose part times bm25 (of the query's weight) times length reaches this; the length is the
# query's weight in words that no document has. 60 questions about other things put to samples of 50, 500 and 5,000
# messages of curl, istio and beads, and 80 to 50 and 500 decision records in Japanese (700 in all): how many were
# answered; and recall at 5 of the release notes of istio and of what decision records cite (`benchmarks.retrieval`):
#           answered   istio   records
#   0.42      33       0.598    0.767
#   0.50      28       0.594    0.756
#   FLOOR alone  20    0.48     0.61
FITTING = 0.5
# From this length on a document with less than FLOOR is looked at.
LONG = 3.0
# The part of both floors that a document needs which has all files of the present work. Follow-ups of curl, recall at
# 5 in one half and the other; and how many of 540 questions about other things were answered with the files of some
# commit (50 without):
#   0.3   0.572 0.580   101
#   0.4   0.563 0.562    82
#   0.5   0.555 0.547    69
SHARED = 0.4
# Added to the part of the query that a document has, before bm25 is multiplied by it: recall at 5 of istio, beads
#   0     0.578 0.566
#   0.2   0.585 0.571
#   0.5   0.594 0.558
BASE = 0.2

UBIQUITOUS = 0.25  # a term in more than this part of all documents tells nothing by itself
TERM_ROWS = 5_000  # the newest rows read for one term
WEIGHED = 200  # documents weighed in full; 800 and 3,000 find the same


class AnyTerm:
    """One any-term stage: what terms weigh, the filter, and the documents that share files with the present work."""

    def __init__(self, scale: Scale, kept: Filter, sharers: Mapping[int, float], wanted: int) -> None:
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
        words = whole / self.scale.weight(0)
        scores = {}
        for rowid, weight in weights.items():
            part, fit = weight / whole, fits[rowid] / whole
            needed = self.needed(rowid)
            if part >= FLOOR * needed - 1e-9 or part * fit * words >= FITTING * needed:
                scores[rowid] = fit * (BASE + part)
        return scores

    def weights(self, known: Sequence[Part], whole: float) -> dict[int, float]:
        """rowid -> weight of the terms it has, of documents that may reach the floor and pass the filter."""
        floor = FLOOR * whole * min(1.0, LONG * self.scale.weight(0) / whole)
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

    def needed(self, rowid: int) -> float:
        """The part of the floor that a document must reach: less when it shares files with the present work."""
        return 1.0 - (1.0 - SHARED) * min(1.0, self.sharers.get(rowid, 0.0))

    def reaching(self, weights: dict[int, float], floor: float) -> dict[int, float]:
        """Those that weigh as much as the floor, a little lower for what is lost in adding up."""
        high, low = floor - 1e-9, SHARED * floor - 1e-9
        return {
            rowid: weight
            for rowid, weight in weights.items()
            if weight >= high or (weight >= low and rowid in self.sharers and weight >= high * self.needed(rowid))
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
        """Those that pass the filter, those with the most weight and shared files among them."""
        worth = PATH_LIFT * max(weights.values(), default=0.0)
        order = sorted(weights, key=lambda rowid: (-weights[rowid] - worth * self.sharers.get(rowid, 0.0), -rowid))
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
