"""Words for made-up projects: real ones, and thousands of invented ones, each as frequent as its rank allows (Zipf).

Four of five drawn are real. Search over a log that repeats ten words, or that never repeats one, measures nothing;
real text has both ends.
"""

import itertools
import random
from collections.abc import Iterator

SIZE = 6_000
_COMMON = """the to a is in of for and not it on with that be as are we this from by when because an or which at was
before after only without one no all must but each every than into so if""".split()
_TECHNICAL = """cache index query request response parser lexer token session cookie header retry timeout queue worker
thread lock mutex socket stream buffer chunk page cursor schema migration rollback journal commit branch merge rebase
build release deploy container image volume config setting flag option default error warning exception trace log metric
counter gauge alert test fixture mock snapshot benchmark profile memory heap stack leak pointer reference handle file
folder path symlink permission owner user group role policy secret key certificate signature hash digest checksum
encoding decoder encoder unicode locale zone clock date instant duration interval schedule job task batch import export
backup restore replica shard partition cluster node leader quorum election heartbeat lease router gateway proxy client
server endpoint handler middleware controller service repository adapter factory registry plugin hook event listener
signal callback promise future channel pipeline stage filter sorter reader writer loader saver printer renderer layout
widget button dialog form field label validator formatter serializer schema payload envelope message topic offset
invoice order price amount currency customer account balance ledger payment refund shipment product stock
discount""".split()
_STARTS = "b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sc sh sp st str t th tr v w z".split()
_MIDDLES = "a e i o u ai ea ee io oa ou".split()
_ENDS = "b ck d ft g l ld lm m n nd ng nt p r rd rm rn s sh sk st t th x".split()


class Words:
    """Draws words, identifiers and sentences; the same seed gives the same ones."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        invented = itertools.islice(_invent(random.Random(0)), SIZE - len(_COMMON) - len(_TECHNICAL))
        technical = list(dict.fromkeys(_TECHNICAL))
        self.all = [*_COMMON, *technical, *invented]
        weights = [(rank + 3) ** -1.2 for rank in range(len(self.all))]
        self._weights = list(itertools.accumulate(weights))
        self._drawn: list[str] = []

    def word(self) -> str:
        """One word. Drawn in bulk, since a draw alone costs more than the use."""
        if not self._drawn:
            self._drawn = self._rng.choices(self.all, cum_weights=self._weights, k=20_000)
        return self._drawn.pop()

    def name(self) -> str:
        """A word that says something: never one of the commonest."""
        word = self.word()
        while word in _COMMON_SET:
            word = self.word()
        return word

    def identifier(self) -> str:
        """Two or three names as code writes them."""
        names = [self.name() for _ in range(self._rng.choice((2, 2, 3)))]
        if self._rng.random() < 0.6:
            return "_".join(names)
        return names[0] + "".join(name.capitalize() for name in names[1:])

    def text(self, low: int, high: int) -> str:
        """A line of `low` to `high` words, one in twelve an identifier."""
        words = [self.word() for _ in range(self._rng.randint(low, high))]
        for place in range(self._rng.randrange(12), len(words), 12):
            words[place] = self.identifier()
        words[0] = words[0].capitalize()
        return " ".join(words)


_COMMON_SET = frozenset(_COMMON)


def _invent(rng: random.Random) -> Iterator[str]:
    seen = {*_COMMON, *_TECHNICAL}
    while True:
        word = rng.choice(_STARTS) + rng.choice(_MIDDLES) + rng.choice(_ENDS)
        if rng.random() < 0.6:
            word += rng.choice(_MIDDLES) + rng.choice(_ENDS)
        if word not in seen:
            seen.add(word)
            yield word
