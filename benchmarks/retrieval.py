"""How often the right document is among the first ones, on histories and questions of real projects.

A set is `<name>.jsonl` in the folder `retrieval` of the data beside the checkout (`../shared/data`, or BENCH_DATA): for
each question what is asked, which documents were there then, and which of them answer it. The texts come from clones
(the folder TEST_CLONES, by the first word of the set's name). A set without its clone is left out.
"""

import gzip
import json
import os
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from subprocess import run
from typing import Any

import yaml

from backstory.index import build, documents
from backstory.index.documents import Row as Document
from backstory.index.search import search
from backstory.records.times import MICROS
from benchmarks.bench import ROOT, Bench
from benchmarks.measure import Failed
from benchmarks.report import Part, Row, say

# The least part of the questions whose answer is to be among the first five.
BARS = {"curl": 0.50, "istio": 0.58, "beads": 0.57, "alt_adr": 0.73}
FIRST, SHOWN = 5, 10
COMMITS, RECORDS = "commit", "entry"
_WORD = re.compile(r"[a-z0-9]+")
_NOTES = re.compile(r"releasenotes/notes/.*\.ya?ml")


@dataclass(eq=False)
class Least(Row):
    """A row whose bar is the least that is good enough."""

    @property
    def verdict(self) -> str:
        """Whether the bar is reached."""
        if self.limit is None or not self.measured:
            return ""
        value = min(self.measured.values())
        return "met" if value >= self.limit else f"missed ({value / self.limit:.2f} times the bar)"


@dataclass(frozen=True)
class Question:
    """What is asked, for which files, when, of the first so many documents; the answers by their numbers."""

    text: str
    paths: tuple[str, ...]
    now: int | None
    before: int
    answers: frozenset[int]


@dataclass
class Found:
    """How many questions there were, how many had an answer among the first five, the sum of 1 / its rank."""

    questions: int = 0
    first: int = 0
    ranks: float = 0.0

    def add(self, hits: Sequence[int], answers: frozenset[int]) -> None:
        """Count one question with the numbers of its first ten hits."""
        self.questions += 1
        rank = next((place for place, hit in enumerate(hits, 1) if hit in answers), None)
        if rank is not None:
            self.first += rank <= FIRST
            self.ranks += 1 / rank

    @property
    def recall(self) -> float:
        """The part of the questions with an answer among the first five, in %."""
        return 100 * self.first / self.questions

    @property
    def reciprocal(self) -> float:
        """The mean of 1 / rank within the first ten."""
        return self.ranks / self.questions


@dataclass
class Set:
    """One set: the documents in their order, and the questions as they are in the file."""

    name: str
    clone: Path
    rows: list[Document]
    asked: list[dict[str, Any]]
    numbers: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.numbers = {row[1]: number for number, row in enumerate(self.rows)}


def measure(bench: Bench) -> Part:
    """Each set whose data and clone are there, beside plain FTS5 in the same run."""
    part = Part(
        "Retrieval",
        "The texts of a project's commits or decision records, in the order of its history, and questions with known"
        " answers: for a commit which earlier one it follows up, for a release note or a ticket which commit made it"
        " so, for a decision record which one it cites. Asked through `backstory.index.search.search` as the tool asks"
        f" it, with the files of the asking commit where it is known; an answer counts among the first {FIRST}. Plain"
        " FTS5 is unicode61 over subject and body, any word, bm25. The figures have nothing to do with the size of the"
        " log: they stand in the first place.",
    )
    folder = Path(os.environ.get("BENCH_DATA") or ROOT.parent / "shared" / "data") / "retrieval"
    clones = os.environ.get("TEST_CLONES", "")
    for path in sorted(folder.glob("*.jsonl")):
        name = path.stem.removeprefix("retrieval_")
        clone = _clone(clones, name)
        if clone is None:
            part.notes.append(f"Without {name}: TEST_CLONES names no folder with a clone of it.")
            continue
        say(f"retrieval from {name}")
        part.rows += _rows(_load(name, path, clone), min(bench.sizes))
    if not part.rows:
        part.notes.append("Not measured: the questions (BENCH_DATA or ../shared/data) or the clones are not here.")
        say("retrieval: no questions with their clone here")
    return part


def _rows(data: Set, size: int) -> list[Row]:
    bar = BARS.get(data.name)
    limit = None if bar is None else 100 * bar
    ours, alone, plain = _measure(data)
    where = f"{data.name}, {ours.questions:,} questions"
    rows: list[Row] = [
        Least(f"{where}, recall@{FIRST}", "%", "for information" if limit is None else f">= {limit:g} %", limit),
        Row(f"{data.name}, plain FTS5, recall@{FIRST}", "%"),
        Row(f"{data.name}, MRR@{SHOWN}", "mean of 1 / rank"),
        Row(f"{data.name}, plain FTS5, MRR@{SHOWN}", "mean of 1 / rank"),
    ]
    figures = [ours.recall, plain.recall, ours.reciprocal, plain.reciprocal]
    if alone.first != ours.first:
        # Several lines of the file ask the same, each with one of the answers.
        rows.append(Row(f"{data.name}, recall@{FIRST} of the one answer of each line", "%"))
        figures.append(alone.recall)
    for row, figure in zip(rows, figures, strict=True):
        row.measured[size] = figure
    return rows


def _measure(data: Set) -> tuple[Found, Found, Found]:
    """Ours; ours if only the answer of a question's own line counts; plain FTS5."""
    db, plain = build.in_memory(), _plain(data.rows)
    documents.append_many(db, data.rows)
    first = documents.rowid_range(data.rows[0][0])[0] + 1
    ours, alone, theirs = Found(), Found(), Found()
    questions = list(_questions(data))
    together: dict[tuple[str, int], frozenset[int]] = defaultdict(frozenset)
    for question in questions:
        together[question.text, question.before] |= question.answers
    for question in questions:
        answers = together[question.text, question.before]
        hits = search(
            db, question.text, limit=SHOWN, where="d.rowid < ?", params=(first + question.before,),
            boost_paths=question.paths, now=question.now,
        )  # fmt: skip
        numbers = [data.numbers[hit.ref] for hit in hits]
        ours.add(numbers, answers)
        alone.add(numbers, question.answers)
        theirs.add(_ask_plain(plain, question), answers)
    return ours, alone, theirs


def _plain(rows: Sequence[Document]) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE plain USING fts5(subject, body, tokenize = unicode61)")
    numbered = ((number, row[4], row[5]) for number, row in enumerate(rows))
    db.executemany("INSERT INTO plain (rowid, subject, body) VALUES (?, ?, ?)", numbered)
    return db


def _ask_plain(db: sqlite3.Connection, question: Question) -> list[int]:
    words = dict.fromkeys(re.findall(r"\w+", question.text.lower()))
    sql = "SELECT rowid FROM plain WHERE plain MATCH ? AND rowid < ? ORDER BY bm25(plain), rowid LIMIT ?"
    match = " OR ".join(f'"{word}"' for word in words)
    return [rowid for (rowid,) in db.execute(sql, (match, question.before, SHOWN))] if words else []


# -- what is asked


def _questions(data: Set) -> Iterator[Question]:
    notes = _release_notes(data)
    for line in data.asked:
        answers = frozenset(data.numbers[ref] for ref in line["answers"] if ref in data.numbers)
        text = line.get("q_subject") or line.get("q_title") or _nearest(data, line, notes)
        yield Question(text, tuple(line.get("q_paths", ())), _now(data, line), line["before"], answers)


def _now(data: Set, line: Mapping[str, Any]) -> int | None:
    """When it was asked: the time of the asking commit, else of the newest document."""
    number = data.numbers.get(line.get("q_sha", ""))
    if number is not None and data.rows[number][3] is not None:
        return data.rows[number][3]
    return max((row[3] for row in data.rows[: line["before"]] if row[3] is not None), default=None)


def _release_notes(data: Set) -> dict[str, list[str]]:
    """The release notes that came with the answers to questions that have no text of their own, by commit."""
    wanted = [
        (ref, path)
        for line in data.asked
        if not (line.get("q_subject") or line.get("q_title"))
        for ref in line["answers"]
        for path in (data.rows[data.numbers[ref]][6] if ref in data.numbers else ())
        if _NOTES.fullmatch(path)
    ]
    found: dict[str, list[str]] = defaultdict(list)
    for (ref, _), text in zip(wanted, _blobs(data.clone, wanted), strict=True):
        try:
            note = yaml.safe_load(text)
        except yaml.YAMLError:
            continue
        if isinstance(note, dict):
            found[ref] += [str(one) for one in note.get("releaseNotes") or () if str(one) not in found[ref]]
    return found


def _nearest(data: Set, line: Mapping[str, Any], notes: Mapping[str, Sequence[str]]) -> str:
    """Of several notes that came with one commit the one that repeats as much of its subject as the line says."""
    (ref, *_) = line["answers"]
    subject = set(_WORD.findall(data.rows[data.numbers[ref]][4].lower()))
    candidates = notes.get(ref, ())

    def away(note: str) -> float:
        return abs(len(subject & set(_WORD.findall(note.lower()))) / max(1, len(subject)) - float(line["copy"]))

    return min(candidates, key=away) if candidates else ""


# -- the documents


def _clone(folder: str, name: str) -> Path | None:
    wanted = (name.lower(), name.partition("_")[0].lower())
    found = [path for path in Path(folder).iterdir() if path.name.lower() in wanted] if folder else []
    return next((path for path in sorted(found) if (path / ".git").exists() or (path / "HEAD").exists()), None)


def _load(name: str, path: Path, clone: Path) -> Set:
    asked = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    listed = path.with_name(f"{path.stem}_docs.tsv.gz")
    rows = _commits(clone, listed) if listed.exists() else _records(clone, asked)
    return Set(name, clone, rows, asked)


def _commits(clone: Path, listed: Path) -> list[Document]:
    """The commits of the list, in its order, with their whole messages; both names of a renamed file."""
    form = "--format=%x01%H%x02%at%x02%s%x02%b%x02"
    words = ["-c", "core.quotepath=off", "log", "--no-renames", "--no-merges", "--name-only", "-z", form, "HEAD"]
    log = _git(clone, words)
    found: dict[str, Document] = {}
    for record in log.decode("utf-8", "replace").split("\x01")[1:]:
        sha, at, subject, rest = record.split("\x02", 3)
        body, _, names = rest.rpartition("\x02")
        paths = tuple(path for path in names.lstrip("\n\0").split("\0") if path)
        found[sha[:12]] = (COMMITS, sha, "commit", int(at) * MICROS, subject, body, paths)
    with gzip.open(listed, "rt", encoding="utf-8", newline="\n") as lines:
        shas = [line.partition("\t")[0] for line in lines]
    missing = [sha for sha in shas if sha not in found]
    if missing:
        raise Failed(f"{clone} lacks {len(missing):,} of {len(shas):,} commits, the first {missing[0]}")
    return [found[sha] for sha in shas]


def _records(clone: Path, asked: Sequence[Mapping[str, Any]]) -> list[Document]:
    """The Markdown files beside the answers, by name."""
    (folder,) = {Path(ref).parent for line in asked for ref in line["answers"]}
    rows: list[Document] = []
    for path in sorted((clone / folder).glob("*.md")):
        text = path.read_text("utf-8", errors="replace")
        title = re.search(r"^(?:title:|#)\s*(.+)$", text, re.MULTILINE)
        day = re.search(r"^date:\s*['\"]?(\d{4}-\d\d-\d\d)", text, re.MULTILINE)
        at = int(datetime.fromisoformat(day[1]).replace(tzinfo=UTC).timestamp()) * MICROS if day else None
        ref = (folder / path.name).as_posix()
        rows.append((RECORDS, ref, "decision", at, title[1] if title else path.stem, text, (ref,)))
    return rows


def _blobs(clone: Path, wanted: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The text of each file as of a commit; "" where it is not there."""
    data = _git(clone, ["cat-file", "--batch"], "".join(f"{ref}:{path}\n" for ref, path in wanted).encode())
    at = 0
    for _ in wanted:
        end = data.index(b"\n", at)
        *_, size = data[at:end].split()
        at = end + 1
        if size == b"missing":
            yield ""
        else:
            yield data[at : at + int(size)].decode("utf-8", "replace")
            at += int(size) + 1


def _git(clone: Path, arguments: Sequence[str], given: bytes = b"") -> bytes:
    done = run(["git", "-C", str(clone), *arguments], input=given, capture_output=True, check=False)
    if done.returncode:
        raise Failed(f"git {arguments[0]} in {clone}: {done.stderr.decode('utf-8', 'replace').strip()[-500:]}")
    return done.stdout
