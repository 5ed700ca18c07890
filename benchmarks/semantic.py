"""Search by meaning: fifty questions whose answers share no word with them, among the project's own paragraphs."""

import ast
import hashlib
import random
import re
import resource
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb

from backstory.history import semantic, vectors
from backstory.history.embedders.contract import Embedder
from backstory.history.embedders.local import local
from backstory.index import build, documents
from backstory.index.search import search as search_words
from benchmarks.bench import ROOT, Bench
from benchmarks.generate import SEED
from benchmarks.measure import Command, interleave, wall
from benchmarks.pairs import OFF_TOPIC, OTHER_LANGUAGES, PAIRS, Pair
from benchmarks.report import Part, Row, say

LIMIT = 50
SHORTEST, LONGEST = 50, 700
TIMED_TEXTS = 1_000
Key = tuple[str, str]
Ranking = Callable[[str], list[Key]]

# A whole process: start, model, one question.
_COLD = """
from backstory.history.embedders.local import local
local().embedder.embed_queries(["why do identifiers sort by age"])
"""


def measure(bench: Bench) -> Part:
    """Ranks of the answers by words, by meaning and by both; what is answered that should not be; and the costs."""
    part = Part(
        "Search by meaning",
        "The questions and answers of `benchmarks/pairs.py`, which share no word (a test compares stems), the answers"
        " among paragraphs of this project's documentation and code. By words: full-text search as `search` does it. By"
        " meaning: the local model, without a floor for the ranks. Both: reciprocal rank fusion, with the floor.",
    )
    found = local()
    if found.embedder is None:
        part.notes.append(f"Not measured. {found.note}")
        return part
    others = paragraphs()
    say(f"semantic: {len(PAIRS)} questions among {len(others):,} paragraphs")
    size = max(bench.sizes)
    with duckdb.connect() as db, build.in_memory() as words:
        texts = [(key, pair.answer) for key, pair in _answers()] + [
            (("other", str(n)), t) for n, t in enumerate(others)
        ]
        documents.put_many(
            words, [("entry", ref, source, None, "", text, ()) for (source, ref), text in _numbered(texts)]
        )
        vectors.embed_missing(db, found.embedder, [(*key, text) for key, text in texts])
        part.notes += [
            *_quality(db, words, found.embedder, dict(_numbered_keys(texts))),
            _off_topic(db, found.embedder),
        ]
        part.rows = [*_costs(found.embedder, others, size), _query(db, found.embedder, size), _cold(bench, size)]
    part.notes.append(f"The process held {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB at most.")
    return part


def paragraphs() -> list[str]:
    """Paragraphs of the documentation and docstrings of the code, each once, in an order that means nothing."""
    found = {text for raw in _raw() if SHORTEST <= len(text := " ".join(raw.split())) <= LONGEST}
    return sorted(found, key=lambda text: hashlib.sha256(text.encode()).digest())


def _raw() -> Iterator[str]:
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]):
        yield from re.split(r"\n\s*\n|\n(?=[-*|] )", path.read_text("utf-8"))
    for path in sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]):
        yield from _docstrings(path)


def _docstrings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield from re.split(r"\n\s*\n", ast.get_docstring(node) or "")


def _answers() -> list[tuple[Key, Pair]]:
    return [(("answer", pair.query), pair) for pair in (*PAIRS, *OTHER_LANGUAGES)]


def _numbered(texts: Sequence[tuple[Key, str]]) -> list[tuple[Key, str]]:
    """The texts under running numbers, since the search index has sources of its own."""
    return [((key[0], str(number)), text) for number, (key, text) in enumerate(texts)]


def _numbered_keys(texts: Sequence[tuple[Key, str]]) -> Iterator[tuple[str, Key]]:
    return ((str(number), key) for number, (key, _) in enumerate(texts))


def _quality(
    db: duckdb.DuckDBPyConnection, words: sqlite3.Connection, embedder: Embedder, keys: dict[str, Key]
) -> list[str]:
    def by_words(query: str) -> list[Key]:
        return [keys[hit.ref] for hit in search_words(words, query, limit=LIMIT)]

    def by_meaning(query: str) -> list[Key]:
        [vector] = embedder.embed_queries([query])
        return [(source, ref) for source, ref, _ in vectors.nearest(db, vector, LIMIT)]

    def by_both(query: str) -> list[Key]:
        found = semantic.search(db, embedder, query, LIMIT, full_text=by_words(query))
        return [(hit.source, hit.ref) for hit in found.hits]

    lines = ["| found by | first | in the first five | mean reciprocal rank |", "| --- | --- | --- | --- |"]
    lines += [_row(name, ranking, PAIRS) for name, ranking in
              (("words", by_words), ("meaning", by_meaning), ("both", by_both))]  # fmt: skip
    lines.append(_row(f"meaning, {len(OTHER_LANGUAGES)} in other languages", by_meaning, OTHER_LANGUAGES))
    return ["\n".join(lines)]


def _row(name: str, ranking: Ranking, pairs: Sequence[Pair]) -> str:
    ranks = [place + 1 if (place := _place(ranking(pair.query), pair)) >= 0 else 0 for pair in pairs]
    first, five = sum(rank == 1 for rank in ranks), sum(0 < rank <= 5 for rank in ranks)
    mean = statistics.fmean(1 / rank if rank else 0.0 for rank in ranks)
    return f"| {name} | {first} of {len(pairs)} | {five} | {mean:.2f} |"


def _place(found: list[Key], pair: Pair) -> int:
    key = ("answer", pair.query)
    return found.index(key) if key in found else -1


def _off_topic(db: duckdb.DuckDBPyConnection, embedder: Embedder) -> str:
    answered = sum(bool(semantic.search(db, embedder, query, 1).hits) for query in OFF_TOPIC)
    asked = sum(bool(semantic.search(db, embedder, pair.query, 1).hits) for pair in PAIRS)
    return (
        f"The floor ({embedder.floor}) lets {answered} of {len(OFF_TOPIC)} questions about other things (whales, bread,"
        f" football) find something by meaning, and {asked} of the {len(PAIRS)} questions."
    )


def _costs(embedder: Embedder, others: Sequence[str], size: int) -> list[Row]:
    texts = random.Random(SEED).choices(others, k=TIMED_TEXTS)
    start, used = time.perf_counter(), time.process_time()
    embedder.embed(texts)
    took, cpu = time.perf_counter() - start, time.process_time() - used
    mean = statistics.fmean(map(len, texts))
    return [
        Row(
            f"embed one paragraph of {mean:.0f} characters in the mean",
            "ms CPU",
            measured={size: cpu / len(texts) * 1e3},
        ),
        Row("paragraphs embedded in a second", "on all cores", measured={size: len(texts) / took}),
    ]


def _query(db: duckdb.DuckDBPyConnection, embedder: Embedder, size: int) -> Row:
    took = []
    for pair in PAIRS:
        used = time.process_time()
        semantic.search(db, embedder, pair.query, 10)
        took.append((time.process_time() - used) * 1e3)
    return Row("ask once the model is loaded, p50", "ms CPU", measured={size: statistics.median(took)})


def _cold(bench: Bench, size: int) -> Row:
    found: dict[str, Any] = interleave(
        [Command("cold", [sys.executable, "-c", _COLD], ROOT)], max(3, bench.rounds // 3)
    )
    return Row(
        "start a process, load the model, embed a question",
        "ms",
        "<= 1,000 ms",
        1_000.0,
        measured={size: wall(found["cold"])},
    )
