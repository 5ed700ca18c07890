"""Whether the check would have put the right failed attempt on the table, on the histories of real projects.

A set is `foresight_<name>.jsonl` in the folder `foresight` of the data beside the checkout (`../shared/data`, or
BENCH_DATA); the history is a clone of that name in the folder TEST_CLONES. Each history is replayed oldest first: at
each commit the check is asked, with what is known by then, for the files and the subject without the words of a second
attempt, and once more with the lines that it adds; then the commit is learnt. The memory is the product's own: what
was backed out, folded into an index.
"""

import json
import os
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backstory.index import build, computed
from backstory.index.folding import Folding
from backstory.project.history import backed_out
from backstory.recall import check
from backstory.recall.render import display_line
from backstory.records.likeness import line_hashes, patch_share
from backstory.records.times import MICROS
from backstory.sources.git.log import Commit, commits
from backstory.sources.git.patches import patches
from backstory.sources.revert_messages import title_key
from backstory.sources.reverts import Revert, find
from benchmarks.bench import ROOT, Bench
from benchmarks.measure import Failed
from benchmarks.report import Part, Row, say
from benchmarks.retrieval import Least

NAMES = ("jax", "mypy", "ember.js", "istio", "deno", "cargo", "curl")
MOST_FILES = 200
# A failed patch of which less than this comes back was written anew.
REWRITTEN = 0.2
_AGAIN = re.compile(r"\b(?:re-?(?:land|apply|vert)\w*|roll(?:ed|ing)?[ -]?(?:back|forward)|undo|take \d+)\b", re.I)
_NUMBER = re.compile(r"\(?[\w./-]*#\d+\)?")


@dataclass
class Found:
    """Counts of one way to ask: questions, second attempts, warnings, and those that named the right trial."""

    asked: int = 0
    positives: int = 0
    warned: int = 0
    right: int = 0
    rewritten: int = 0
    rewritten_right: int = 0

    def add(self, named: list[str], gold: set[str], rewritten: bool) -> None:
        """Count one question: what was named, at most three, and what would be right (nothing: no second attempt)."""
        self.asked += 1
        self.positives += bool(gold)
        self.warned += bool(named)
        hit = not gold.isdisjoint(named)
        self.right += hit
        self.rewritten += rewritten
        self.rewritten_right += rewritten and hit

    def plus(self, other: "Found") -> "Found":
        """The sum of two."""
        return Found(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def precision(self) -> float:
        """Of the warnings the part that named the right trial, in %."""
        return 100 * self.right / self.warned if self.warned else 0.0

    @property
    def recall(self) -> float:
        """Of the second attempts the part that was warned of, in %."""
        return 100 * self.right / self.positives if self.positives else 0.0

    @property
    def rate(self) -> float:
        """Warnings for 100 commits."""
        return 100 * self.warned / self.asked if self.asked else 0.0


@dataclass
class Replay:
    """One history and its labels."""

    root: str
    labels: list[dict[str, Any]]
    commits: dict[str, Commit] = field(default_factory=dict)
    reverts: dict[str, Revert] = field(default_factory=dict)
    added: dict[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)

    def read(self) -> list[str]:
        """Read the history; its order."""
        head = self.labels[0]["last_commit"]
        found = list(commits(self.root, include=head, messages=True))
        self.commits = {commit.sha: commit for commit in found}
        seen = find(found, lambda sha: self.commits[sha].body, repository=self.labels[0]["repo"])
        self.reverts = {revert.revert_sha: revert for revert in seen}
        call = ["git", "rev-list", "--date-order", "--reverse", head]
        return subprocess.run(call, cwd=self.root, capture_output=True, text=True, check=True).stdout.split()

    def read_patches(self, lines: set[int]) -> None:
        """Keep of each commit how many lines it adds, and which of `lines` they are."""
        asked = [sha for sha, commit in self.commits.items() if self.may_ask(commit)]
        for sha, added, _ in patches(self.root, asked):
            hashes = line_hashes(added)
            self.added[sha] = len(hashes), tuple(hashes & lines)

    @staticmethod
    def may_ask(commit: Commit) -> bool:
        """Whether it is a change of its own, of a size that somebody looks at."""
        return len(commit.parents) < 2 and 1 <= len(commit.changes) <= MOST_FILES


class Memory:
    """What was backed out so far, as the product keeps it."""

    def __init__(self) -> None:
        self.db = build.in_memory()
        self._titles: Counter[str] = Counter()
        self._by_title: defaultdict[str, list[str]] = defaultdict(list)
        self.patches: dict[str, frozenset[int]] = {}

    def learn(self, item: computed.Computed, title: str) -> None:
        """Take one trial in."""
        touched = computed.replace(self.db, backed_out.SOURCE, [item], complete=False)
        Folding(self.db, display_line, {}).run(touched)
        self.patches[item.id] = frozenset(item.patch)
        self._by_title[title_key(title)].append(item.id)

    def see(self, commit: Commit) -> None:
        """Follow renames, and count how often a title comes back."""
        for change in commit.changes:
            if change.status == "R" and change.old_path:
                names = (change.path, change.path.rpartition("/")[0], change.old_path)
                self.db.execute("UPDATE OR REPLACE entry_files SET path = ?, folder = ? WHERE path = ?", names)
        key = title_key(commit.subject)
        self._titles[key] += 1
        if self._titles[key] == backed_out.MOST_REPEATS + 1:
            for id_ in self._by_title[key]:
                query = "UPDATE failed SET routine = 1 WHERE entry = (SELECT entry FROM entries WHERE id = ?)"
                self.db.execute(query, (id_,))

    def ask(self, change: check.Change, now: int) -> list[str]:
        """The ids of the trials that the check names."""
        matches = check.like_failed(self.db, change, now)
        query = "SELECT id FROM entries WHERE entry = ?"
        return [str(self.db.execute(query, (match.entry,)).fetchone()[0]) for match in matches]


def measure(bench: Bench) -> Part:
    """Precision, recall and warnings for 100 commits, at plan time (no patch) and at commit time."""
    part = Part(
        "Foresight",
        "Each history is replayed (`benchmarks/foresight.py`); a warning is right when a right trial is among the three"
        " that it names. The bars are over all sets. Words for a second attempt are taken out of the subject.",
    )
    sums = {"plan": Found(), "commit": Found()}
    for name, replay in _replays():
        say(f"foresight {name}")
        found = _replay(replay)
        for moment, one in found.items():
            sums[moment] = sums[moment].plus(one)
            part.notes.append(
                f"{name}, {moment} time: precision {one.precision:.0f} %, recall {one.recall:.0f} % of {one.positives},"
                f" {one.rate:.2f} for 100 of {one.asked:,} commits."
            )
    for moment, precision, recall in (("plan", 55.0, 50.0), ("commit", 90.0, 75.0)):
        one = sums[moment]
        rows = [
            Least(f"precision at {moment} time", "%", f"{precision:g}", precision),
            Least(f"recall at {moment} time", "%", f"{recall:g}", recall),
            Row(f"warnings for 100 commits at {moment} time", "warnings", "0.3", 0.3),
        ]
        for row, value in zip(rows, (one.precision, one.recall, one.rate), strict=True):
            row.measured[one.asked] = value
        part.rows += rows
    anew = sums["commit"]
    row = Least(f"patches written anew, of {anew.rewritten}, that were known", "patches", "7", 7.0)
    row.measured[anew.asked] = anew.rewritten_right
    part.rows.append(row)
    return part


def _replays() -> Iterator[tuple[str, Replay]]:
    data = Path(os.environ.get("BENCH_DATA", ROOT.parent / "shared" / "data")) / "foresight"
    clones = Path(os.environ.get("TEST_CLONES", "/nonexistent"))
    found = False
    for name in NAMES:
        labels = data / f"foresight_{name}.jsonl"
        if labels.is_file() and (clones / name).is_dir():
            found = True
            yield name, Replay(str(clones / name), [json.loads(line) for line in labels.read_text().splitlines()])
    if not found:
        raise Failed(f"no set of {data} has its clone in the folder that TEST_CLONES names")


def _replay(replay: Replay) -> dict[str, Found]:
    order = replay.read()
    known = {line["revert"]: str(line["e"]) for line in replay.labels if line["type"] == "failed_attempt"}
    gold = {line["sha"]: set(line["gold"]) for line in replay.labels if line["type"] == "positive"}
    unsure = {line["sha"] for line in replay.labels if line["type"] == "ambiguous"}
    items = _entries(replay, known)
    names = {item.id: known[sha] for sha, item in items.items()}
    replay.read_patches({line for item in items.values() for line in item.patch})
    memory, found, learnt = Memory(), {"plan": Found(), "commit": Found()}, False
    for sha in order:
        commit = replay.commits[sha]
        is_second = sha in gold
        if learnt and replay.may_ask(commit) and sha not in unsure and (is_second or sha not in replay.reverts):
            _ask(replay, memory, commit, names, gold.get(sha, set()), found)
        memory.see(commit)
        if sha in items:
            learnt = True
            memory.learn(items[sha], replay.reverts[sha].subject_of_original)
    return found


def _ask(
    replay: Replay, memory: Memory, commit: Commit, names: dict[str, str], gold: set[str], found: dict[str, Found]
) -> None:
    paths = [path for change in commit.changes for path in (change.path, change.old_path) if path]
    subject = _NUMBER.sub(" ", _AGAIN.sub(" ", commit.subject))
    count, lines = replay.added.get(commit.sha, (0, ()))
    patch = check.Patch(frozenset(lines), count)
    right = [memory.patches[id_] for id_, name in names.items() if name in gold and id_ in memory.patches]
    shares = [patch_share(len(one & patch.lines), len(one), count) for one in right]
    rewritten = bool(gold) and max(shares, default=0.0) < REWRITTEN
    now = commit.time * MICROS
    for moment, change in (
        ("plan", check.Change(paths, subject)),
        ("commit", check.Change(paths, subject, patch)),
    ):
        found[moment].add([names[id_] for id_ in memory.ask(change, now)], gold, rewritten)


def _entries(replay: Replay, known: dict[str, str]) -> dict[str, computed.Computed]:
    """The trials that the known reverts make, by the commit that reverts. What landed again later counts until then."""
    names = backed_out.FileNames()
    wanted = [replay.reverts[sha] for sha in known if sha in replay.reverts]
    made = backed_out.entries(replay.root, wanted, names, {}, {})
    by_id = {backed_out.entry_id(revert): revert.revert_sha for revert in wanted}
    return {by_id[item.id]: item for item in made if item.level == "active"}
