"""Makes git projects with a memory of so many events, in seconds.

Lines are sealed and written straight into shard and journal, as one writer of ours would have written them over 400
days; `verify` finds nothing wrong with them. The same seed gives the same events, but for the project's identity.
"""

import os
import random
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from backstory.config import Config, load
from backstory.index.folding import value_hash
from backstory.log.lock import held
from backstory.log.names import SUFFIX, journal_name, shard_name, writer_id
from backstory.project.setup import init
from backstory.records.anchors import fingerprint
from backstory.records.codec import Fields, canonical, first_prev, seal
from backstory.records.ids import new_id
from backstory.records.times import DAY, MICROS, format_instant, month_of
from benchmarks.words import Words

SEED = 20_260_415
DAYS, SESSION_EVENTS = 400, 20
PATHS, FILES, FILE_LINES, COMMITS = 2_000, 300, 60, 60
BRANCH = "topic"
# Kinds in a hundred events; the operations are shared out below.
MIX = {
    "trial": 25, "decision": 20, "pattern": 10, "issuenote": 10, "note": 10,
    "hotfile": 5, "issue": 5, "fix": 5, "hypothesis": 5, "operation": 5,
}  # fmt: skip
OPERATION_MIX = {"confirm": 50, "retire": 25, "contest": 10, "approve": 5, "reject": 10}
WRITERS = {"agent": 70, "person": 20, "hook": 5, "import": 5}
OF_A_PERSON = ("approve", "reject")
PERSON = {"kind": "person", "name": "Ada"}
OF_AN_ISSUE = ("issuenote", "fix", "hypothesis")
SUPERSEDING_SHARE = 0.04
ANCHOR_SHARE = 0.1
_FOLDERS = ("src", "lib", "tests", "docs", "packages", "tools")
_ENDINGS = (".py", ".ts", ".rs", ".md", ".sql", ".go")


@dataclass(frozen=True)
class Made:
    """A project: its folder, how many events it has, some words of its texts and some paths that it cites."""

    root: Path
    events: int
    words: tuple[str, ...]
    paths: tuple[str, ...]


def make(folder: Path, events: int, *, seed: int = SEED) -> Made:
    """A project of `events` events in `folder/<events>`, made unless it is there."""
    root = folder / str(events)
    maker = _Maker(root, random.Random(seed))
    if not (root / ".backstory").exists():
        maker.work_tree()
        maker.log(events)
        maker.end()
    return Made(root, events, tuple(maker.words.all), tuple(maker.paths[:FILES]))


class _Maker:
    def __init__(self, root: Path, rng: random.Random) -> None:
        self.root, self.rng = root, rng
        self.words = Words(rng)
        self.paths = _paths(self.words, rng)
        self.weights = [1 / (rank + 5) for rank in range(PATHS)]
        self.now = time.time_ns() // 1000
        self.commits: list[tuple[int, str]] = []
        self.entries: list[str] = []
        self.issues: list[str] = []
        self.by_kind: dict[str, list[str]] = {}

    def work_tree(self) -> None:
        """Files and their history; then a branch of its own with changes that are not committed yet."""
        self.root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        for path in self.paths[:FILES]:
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("".join(f"{self.words.text(3, 9)}\n" for _ in range(FILE_LINES)), "utf-8")
        self.git("add", "-A")
        self.commit("Begin", DAYS + 1)
        for number in range(COMMITS):
            if number == COMMITS - 3:
                self.git("switch", "-q", "-c", BRANCH)
            for path in self.rng.sample(self.paths[:FILES], 3):
                self.change(path)
            self.git("add", "-A")
            self.commit(self.words.text(3, 8), DAYS * (COMMITS - number) / COMMITS)

    def end(self) -> None:
        """The memory is committed, and the next change has begun."""
        self.git("add", "-A")
        self.commit("Keep the memory", 0)
        for path in self.paths[:2]:
            self.change(path)
        (self.root / "src" / "begun.py").write_text("begun = True\n", "utf-8")

    def change(self, path: str) -> None:
        with (self.root / path).open("a", encoding="utf-8") as file:
            file.write(f"{self.words.text(3, 9)}\n")

    def commit(self, message: str, days_ago: float) -> None:
        at = self.now - int(days_ago * DAY)
        stamp = f"{at // MICROS} +0000"
        self.git("commit", "-q", "-m", message, GIT_AUTHOR_DATE=stamp, GIT_COMMITTER_DATE=stamp)
        self.commits.append((at, self.git("rev-parse", "HEAD").strip()))

    def git(self, *arguments: str, **variables: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env={**os.environ, **variables}, check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        return done.stdout

    def log(self, events: int) -> None:
        """The shard and the journal, line for line the same."""
        init(str(self.root), name="benchmark", now=self.now)
        config = load(str(self.root))
        with held(config.places.shared_dir):
            writer = writer_id(config.places)
        month = month_of(self.now)
        shard = shard_name(month, writer, BRANCH)
        block = b"".join(self._lines(config, shard, events))
        targets = (
            Path(config.places.log_dir, shard + SUFFIX),
            Path(config.places.journal_dir, journal_name(month, writer) + SUFFIX),
        )
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(block)
            # Older than git's index: else git takes the file for one that may have changed, and hashes it each time.
            os.utime(target, times=(self.now / MICROS - 60, self.now / MICROS - 60))

    def _lines(self, config: Config, shard: str, events: int) -> list[bytes]:
        prev, lines = first_prev(config.project, shard), []
        step, by, commit = DAYS * DAY // (events + 1), {}, 0
        for number in range(events):
            at = self.now - DAYS * DAY + step * (number + 1) - self.rng.randrange(max(step // 2, 1))
            if number % SESSION_EVENTS == 0:
                by = self._writer(f"session-{number // SESSION_EVENTS:06d}")
            while commit + 1 < len(self.commits) and self.commits[commit + 1][0] <= at:
                commit += 1
            fields = self._event(at, by)
            if "target" not in fields:
                fields["commit"] = self.commits[commit][1]
            event = seal(fields, config.project, shard, prev)
            prev = str(event["h"])
            lines.append(canonical(event) + b"\n")
        return lines

    def _writer(self, session: str) -> Fields:
        kind = self._draw(WRITERS)
        if kind == "person":
            return {"kind": kind, "name": self.rng.choice(("Ada", "Grace", "Edsger", "Barbara"))}
        name = {"agent": "claude-code", "hook": "claude-code", "import": "notes.md"}[kind]
        return {"kind": kind, "name": name, "session": session}

    def _draw(self, mix: dict[str, int]) -> str:
        return self.rng.choices(list(mix), list(mix.values()))[0]

    def _event(self, at: int, by: Fields) -> Fields:
        kind = self._draw(MIX)
        id_ = new_id(at, self.rng.randbytes(10))
        common = {"id": id_, "at": format_instant(at), "by": by, "branch": BRANCH}
        if kind == "operation" and self.entries:
            return {**common, **self._operation()}
        kind = "note" if kind == "operation" else kind
        fields = {**common, "kind": kind, "summary": self.words.text(6, 14), **self._own(kind)}
        files = self._files()
        if files:
            fields["files"] = files
        if self.rng.random() < 0.3:
            fields["detail"] = self.words.text(20, 60)
        older = self.by_kind.setdefault(kind, [])
        if older and self.rng.random() < SUPERSEDING_SHARE:
            fields["supersedes"] = [self.rng.choice(older[-200:])]
        older.append(id_)
        self.entries.append(id_)
        if kind == "issue":
            self.issues.append(id_)
        return fields

    def _own(self, kind: str) -> Fields:
        """The fields of a kind."""
        text, rng = self.words.text, self.rng
        if kind == "decision":
            turned_down = {"alternatives_rejected": [text(2, 6)]} if rng.random() < 0.2 else {}
            return {"rationale": text(6, 16), **turned_down} if rng.random() < 0.8 else turned_down
        if kind == "trial":
            outcome = rng.choices(("failed", "partial", "worked"), (70, 10, 20))[0]
            fields = {"failure_mode": text(4, 12)} if outcome == "failed" else {"outcome": outcome}
            if self.issues and rng.random() < 0.3:
                fields["issue"] = rng.choice(self.issues[-30:])
            return fields
        if kind == "hotfile":
            return {"path": self._path(), "why_hot": text(5, 12)}
        if kind == "pattern":
            return {"name": self.words.identifier(), "description": text(6, 14)}
        if kind in OF_AN_ISSUE and self.issues:
            return {"issue": rng.choice(self.issues[-30:])}
        return {}

    def _operation(self) -> Fields:
        kind = self._draw(OPERATION_MIX)
        fields: Fields = {"kind": kind, "reason": self.words.text(2, 6)}
        if kind in OF_A_PERSON:
            fields["by"] = PERSON
        if kind == "reject":
            value = self.words.text(4, 8)
            return {**fields, "value": value, "key": value_hash(value)}
        return {**fields, "target": self.rng.choice(self.entries[-2_000:])}

    def _path(self) -> str:
        return self.rng.choices(self.paths, self.weights)[0]

    def _files(self) -> list[Fields]:
        files: dict[str, Fields] = {}
        for _ in range(self.rng.choices((0, 1, 2, 3), (15, 50, 25, 10))[0]):
            path = self._path()
            files[path] = {"path": path, **self._anchor(path)}
        return list(files.values())

    def _anchor(self, path: str) -> Fields:
        if self.rng.random() >= ANCHOR_SHARE or not (self.root / path).exists():
            return {}
        first = self.rng.randint(1, FILE_LINES - 10)
        lines = (self.root / path).read_text("utf-8").splitlines()
        prints = fingerprint(lines[first - 1 : first + 9])
        return {"lines": [first, first + 9], "prints": list(prints)}


def _paths(words: Words, rng: random.Random) -> list[str]:
    """`PATHS` different ones, in a few dozen folders, the most cited first; the first of them exist."""
    folders = [f"{top}/{words.name()}" for top in _FOLDERS for _ in range(8)]
    folders += [f"{folder}/{words.name()}" for folder in folders[::3]]
    found: dict[str, None] = {}
    while len(found) < PATHS:
        found[f"{rng.choice(folders)}/{words.identifier()}{rng.choice(_ENDINGS)}"] = None
    return list(found)
