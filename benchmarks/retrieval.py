"""Does search find the document that a later one rests on? Real questions over real histories, beside plain full text.

The questions lie outside of the repository (`BENCH_DATA`, else `../shared/data/retrieval`), the texts in clones of the
projects (`TEST_CLONES`): a set whose clone is not there is left out. Any set of the same form is measured.
"""

import gzip
import json
import os
import re
import sqlite3
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from backstory.index import build, documents
from backstory.index.documents import Row as Document
from backstory.index.search import search
from backstory.sources.git.log import commits
from benchmarks.bench import ROOT, Bench
from benchmarks.report import Part, Row, say

BARS = {"curl": 0.50, "istio": 0.58, "beads": 0.57, "alt_adr": 0.73}
CLONES = {"alt_adr": "Alt"}
ADRS = "docs/ADR"
_DAY = re.compile(r"^date:\s*['\"]?(\d{4})-(\d\d)-(\d\d)|(\d{4})-(\d\d)-(\d\d)", re.MULTILINE)
_TITLE = re.compile(r"^title:\s*['\"]?(.+?)['\"]?\s*$|^#\s+(.+)$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_SECOND = 1_000_000


class Question(NamedTuple):
    """Words, files of the asking change, its time, how many documents were there, and which of them are right."""

    text: str
    paths: tuple[str, ...]
    now: int
    before: int
    right: frozenset[str]


def measure(bench: Bench) -> Part:
    """Recall at 5 and the mean reciprocal rank at 10 for each set."""
    part = Part(
        "Finding what a change rests on",
        "Each question is the subject of a change, with its files and its time; only older documents may be found, and"
        " a later fix, its cause or a cited record is right (of several that one change rests on, any). `search` is"
        " asked as `history search --for` does. Plain is one FTS5 table over the same texts, any word, by bm25.",
    )
    folder = Path(os.environ.get("BENCH_DATA", ROOT.parent / "shared" / "data" / "retrieval"))
    clones = Path(os.environ.get("TEST_CLONES", "/nonexistent"))
    for file in sorted(folder.glob("retrieval_*.jsonl")):
        name = file.stem.removeprefix("retrieval_")
        clone = clones / CLONES.get(name, name)
        if clone.is_dir():
            say(f"retrieval: {name}")
            part.rows += _rows(name, file, clone, part)
        else:
            part.notes.append(f"{name} is left out: there is no clone of it.")
    if not part.rows:
        part.notes.append("Nothing was measured: neither questions nor clones are at hand.")
    return part


def _rows(name: str, file: Path, clone: Path, part: Part) -> list[Row]:
    texts = list(_decision_records(clone) if name.endswith("adr") else _commits(file, clone))
    asked = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    questions = list(_questions(asked, texts))
    if len(questions) < len(asked):
        part.notes.append(f"{name}: {len(asked) - len(questions)} of {len(asked)} questions have no text in the data.")
    ours, plain = _ours(texts), _plain(texts)
    took: list[float] = []
    found, beside = _score(questions, ours, took), _score(questions, plain, [])
    size, bar = len(texts), BARS.get(name)
    recall = Row(
        f"{name}: recall at 5", f"of {len(questions)} questions", f">= {bar:.2f}" if bar else "for information"
    )
    recall.measured[size], recall.note = found[0], ""
    recall.limit = None
    rank, other, speed = (
        Row(f"{name}: mean reciprocal rank at 10", ""),
        Row(f"{name}: plain full text, recall at 5", ""),
        Row(f"{name}: a search", "ms CPU"),
    )
    rank.measured[size], other.measured[size], speed.measured[size] = found[1], beside[0], median(took) * 1e3
    verdict = "" if bar is None else f", {'met' if found[0] >= bar else 'missed'} (bar {bar:.2f})"
    part.notes.append(
        f"{name}, {size:,} documents: recall at 5 {found[0]:.3f}{verdict}, reciprocal rank {found[1]:.3f};"
        f" plain {beside[0]:.3f} and {beside[1]:.3f}; {median(took) * 1e3:.0f} ms a search."
    )
    return [recall, rank, other, speed]


def _commits(file: Path, clone: Path) -> Iterator[Document]:
    """The commits of the set, in its order, with their full texts."""
    with gzip.open(file.with_name(f"{file.stem}_docs.tsv.gz"), "rt", encoding="utf-8", newline="\n") as lines:
        order = [line.split("\t", 1)[0] for line in lines]
    known = {commit.sha[:12]: commit for commit in commits(str(clone), messages=True)}
    for sha in order:
        commit = known.get(sha)
        if commit is None:
            yield "commit", sha, "commit", None, "", "", ()
            continue
        paths = [path for change in commit.changes for path in (change.path, change.old_path) if path]
        yield "commit", commit.sha, "commit", commit.author_time * _SECOND, commit.subject, commit.body, paths


def _decision_records(clone: Path) -> Iterator[Document]:
    listed = subprocess.run(
        ["git", "-C", str(clone), "ls-files", "-z", ADRS], check=True, capture_output=True
    ).stdout.decode()
    for path in sorted(name for name in listed.split("\0") if name):
        text = (clone / path).read_text(encoding="utf-8", errors="replace")
        day, title = _DAY.search(text), _TITLE.search(text)
        parts = [int(part) for part in day.groups() if part] if day else []
        at = int(datetime(parts[0], parts[1], parts[2], tzinfo=UTC).timestamp()) * _SECOND if parts else None
        yield "ticket", path, "adr", at, next(filter(None, title.groups()), path) if title else path, text, (path,)


def _questions(asked: list[dict[str, Any]], texts: list[Document]) -> Iterator[Question]:
    when = {row[1]: row[3] for row in texts}
    together: defaultdict[str, set[str]] = defaultdict(set)
    for one in asked:
        together[one.get("q_sha") or one["qid"]].update(one["answers"])
    for one in asked:
        text = one.get("q_subject") or one.get("q_title")
        if not text:
            continue
        earlier = [row[3] for row in texts[max(0, one["before"] - 50) : one["before"]] if row[3]]
        now = when.get(one.get("q_sha", "")) or max(earlier, default=0)
        right = frozenset(together[one.get("q_sha") or one["qid"]])
        yield Question(text, tuple(one.get("q_paths", ())), now, one["before"], right)


Asking = Callable[[Question], list[str]]


def _ours(texts: list[Document]) -> Asking:
    db = build.in_memory()
    db.execute("BEGIN")
    first = documents.rowid_range(texts[0][0])[0] + 1
    documents.append_many(db, texts, first=first)
    db.execute("COMMIT")

    def ask(one: Question) -> list[str]:
        older = ("d.rowid < ?", (first + one.before,))
        hits = search(db, one.text, limit=10, where=older[0], params=older[1], boost_paths=one.paths, now=one.now)
        return [hit.ref for hit in hits]

    return ask


def _plain(texts: list[Document]) -> Asking:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE plain USING fts5(title, body)")
    db.executemany(
        "INSERT INTO plain (rowid, title, body) VALUES (?, ?, ?)",
        ((number, _storable(row[4]), _storable(row[5])) for number, row in enumerate(texts)),
    )

    def ask(one: Question) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in _WORD.findall(one.text))
        if not match:
            return []
        query = "SELECT rowid FROM plain WHERE plain MATCH ? AND rowid < ? ORDER BY bm25(plain) LIMIT 10"
        return [texts[number][1] for (number,) in db.execute(query, (match, one.before))]

    return ask


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _score(questions: Iterable[Question], ask: Asking, took: list[float]) -> tuple[float, float]:
    """Recall at 5 and the mean reciprocal rank at 10."""
    recall = rank = count = 0.0
    for one in questions:
        started = time.process_time()
        found = ask(one)
        took.append(time.process_time() - started)
        place = next((place for place, ref in enumerate(found) if ref in one.right), None)
        count += 1
        if place is not None:
            recall += place < 5
            rank += 1 / (place + 1)
    return recall / count, rank / count
