"""Search inside a process, by the number of words asked for."""

import random
import statistics
import time
from pathlib import Path

from backstory.project import answers
from backstory.project.refresh import open_project
from benchmarks.bench import Bench
from benchmarks.generate import SEED
from benchmarks.measure import Failed
from benchmarks.report import Part, Row, say

QUERIES = 100
WORDS = (1, 2, 4)
# Ranks of the words that queries are made of: no stop words, and none that stands nowhere.
RANKS = slice(45, 1_500)


def measure(bench: Bench) -> Part:
    """The median over different queries, each asked once: no answer is remembered from an earlier one."""
    part = Part(
        "Search in process",
        "`backstory.project.answers.search` in an open project, 100 different queries for each number of words, drawn"
        " from those that the log uses; ten hits asked for. The index is warm, the queries are not.",
    )
    rows = {count: Row(f"search for {count} word{'s' * (count > 1)}, p50", "ms CPU") for count in WORDS}
    slow = {count: Row(f"search for {count} word{'s' * (count > 1)}, p95", "ms CPU") for count in WORDS}
    for size in bench.sizes:
        say(f"search at {size:,}")
        made = bench.project(size)
        for count, took in _search(made.root, made.words).items():
            rows[count].measured[size] = statistics.median(took)
            slow[count].measured[size] = statistics.quantiles(took, n=20)[-1]
    part.rows = [row for count in WORDS for row in (rows[count], slow[count])]
    return part


def _search(root: Path, words: tuple[str, ...]) -> dict[int, list[float]]:
    rng = random.Random(SEED)
    found: dict[int, list[float]] = {count: [] for count in WORDS}
    hits = 0
    with open_project(str(root)) as project:
        for number in range(QUERIES + 1):
            for count in WORDS:
                query = " ".join(rng.sample(words[RANKS], count))
                start = time.process_time()
                answer = answers.search(project, query)
                took = (time.process_time() - start) * 1e3
                hits += len(answer.hits)
                if number:  # the first query of each kind warms up
                    found[count].append(took)
    if not hits:
        raise Failed("no query found anything")
    return found
