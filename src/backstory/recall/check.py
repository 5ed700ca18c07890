"""The check: which failed trials a change is like, and what binds its files. Light: a hook imports it.

Promise: a shared file alone never warns. A failed trial is shown as a warning only where it shares a file with the
change and either its patch comes back or the change says that it does the same thing again; measured on seven
repositories (`make bench`, foresight). Everything else that is known about the files is information.

Looked up through indexes and bounded, so that it costs the same at any size of the log.
"""

from __future__ import annotations

from math import log

from backstory.recall import live
from backstory.records.likeness import coverage, other_number, patch_share, subject_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Sequence

DAY = 86_400_000_000
INFO, WARN, BLOCK = "info", "warn", "block"
LEVELS = (INFO, WARN, BLOCK)
# So much of a failed patch comes back that it is the same attempt; where it is of fewer lines than this, the subject
# has to say so too.
PATCH_SHARE, FEW_LINES, HALF_SAID = 0.6, 4, 0.5
# The subject says the same again: of the weight of its words, and of those of the failed one (more where a patch is at
# hand and does not come back); of the failed trial's files; and how long ago it failed.
ASKED_SHARE, KNOWN_SHARE, KNOWN_SHARE_WITH_PATCH, FILE_SHARE, RECENT = 0.75, 0.5, 0.85, 0.3, 90 * DAY
# Bounds of the look-ups.
MAX_PATHS, PER_PATH, MAX_TRIALS, MAX_LINES = 5_000, 100, 2_000, 20_000
BEST = 3


class Patch:
    """The lines that a change adds: hashes of those that are looked up, and how many there are in all."""

    __slots__ = ("lines", "size")

    def __init__(self, lines: Collection[int] = (), size: int = 0) -> None:
        self.lines, self.size = lines, size or len(lines)


class Change:
    """What is about to change: paths (both names of a rename), what it is for, and what it adds if that is known."""

    __slots__ = ("intent", "patch", "paths")

    def __init__(self, paths: Sequence[str], intent: str = "", patch: Patch | None = None) -> None:
        self.paths, self.intent, self.patch = tuple(dict.fromkeys(paths))[:MAX_PATHS], intent, patch or Patch()


class Match:
    """A failed trial that a change is like: how much, and by what (`patch` or `words`)."""

    __slots__ = ("by", "entry", "files", "share")

    def __init__(self, entry: int, by: str, share: float, files: tuple[str, ...]) -> None:
        self.entry, self.by, self.share, self.files = entry, by, share, files


def present_names(db: sqlite3.Connection, paths: Iterable[str]) -> dict[str, str]:
    """What each path is called now, by the renames that git saw."""
    names = {}
    query = "SELECT new FROM renames WHERE old = ? ORDER BY landed DESC LIMIT 1"
    for path in paths:
        now, seen = path, {path}
        while row := db.execute(query, (now,)).fetchone():
            if row[0] in seen:
                break
            now = row[0]
            seen.add(now)
        # A path that is cited under its own name was not renamed away, or came back.
        known = db.execute("SELECT 1 FROM entry_files WHERE path = ? LIMIT 1", (path,)).fetchone()
        names[path] = path if known else now
    return names


def like_failed(db: sqlite3.Connection, change: Change, now: int) -> list[Match]:
    """The failed trials that a change is like, the surest first; at most three."""
    trials = _trials_on(db, list(dict.fromkeys(present_names(db, change.paths).values())), now)
    if not trials:
        return []
    _weigh_words(db, change, trials)
    back = _lines_back(db, change, trials)
    found = []
    for entry, trial in trials.items():
        share = patch_share(back.get(entry, 0), trial.lines, change.patch.size)
        if share >= PATCH_SHARE and (back[entry] >= FEW_LINES or trial.asked >= HALF_SAID):
            found.append(Match(entry, "patch", share, tuple(trial.files)))
        elif _says_the_same(db, change, entry, trial, now):
            found.append(Match(entry, "words", trial.asked, tuple(trial.files)))
    found.sort(key=lambda match: (-match.share, -trials[match.entry].last_at, match.entry))
    return found[:BEST]


class _Trial:
    """A failed trial that shares files with the change; `asked` and `known` are the weight of shared words."""

    __slots__ = ("asked", "files", "known", "last_at", "lines", "other", "words")

    def __init__(self, last_at: int, words: str, lines: int) -> None:
        self.last_at, self.words, self.lines = last_at, words.split(), lines
        self.files: list[str] = []
        self.asked = self.known = 0.0
        self.other = False


def _trials_on(db: sqlite3.Connection, paths: Sequence[str], now: int) -> dict[int, _Trial]:
    """The live failed trials that cite one of the files, the newest of each file; chores are left out."""
    found: dict[int, _Trial] = {}
    query = (
        "SELECT e.entry, e.last_at, f.words, f.lines FROM (SELECT DISTINCT entry, last_at FROM entry_files"
        " WHERE path = :path ORDER BY last_at DESC) AS c CROSS JOIN failed AS f ON f.entry = c.entry AND f.routine = 0"
        f" CROSS JOIN live AS e ON e.entry = c.entry WHERE {live.conditions(here=True)} LIMIT {PER_PATH}"
    )
    for path in paths:
        for entry, last_at, words, lines in db.execute(query, {"path": path, "now": now}):
            trial = found.get(entry)
            if trial is None:
                if len(found) >= MAX_TRIALS:
                    continue
                trial = found[entry] = _Trial(last_at, words, lines)
            trial.files.append(path)
    return found


def _lines_back(db: sqlite3.Connection, change: Change, trials: Collection[int]) -> dict[int, int]:
    """How many lines of each failed patch the change adds."""
    shared: dict[int, int] = {}
    for line in list(change.patch.lines)[:MAX_LINES]:
        for (entry,) in db.execute("SELECT entry FROM failed_lines WHERE line = ?", (line,)):
            if entry in trials:
                shared[entry] = shared.get(entry, 0) + 1
    return shared


def _weigh_words(db: sqlite3.Connection, change: Change, trials: dict[int, _Trial]) -> None:
    """Set how much of the words of the intent each trial has, and the other way round."""
    asked = subject_words(change.intent)
    if not asked:
        return
    total = int(db.execute("SELECT count(*) FROM failed").fetchone()[0])
    rarity = {word: _rarity(db, word, total) for word in {*asked, *(w for t in trials.values() for w in t.words)}}
    for trial in trials.values():
        trial.asked = coverage(asked, trial.words, rarity)
        trial.known = coverage(trial.words, asked, rarity)
        trial.other = other_number(asked, trial.words)


def _says_the_same(db: sqlite3.Connection, change: Change, entry: int, trial: _Trial, now: int) -> bool:
    known = KNOWN_SHARE_WITH_PATCH if change.patch.size else KNOWN_SHARE
    if trial.asked < ASKED_SHARE or trial.known < known or trial.other or trial.last_at + RECENT < now:
        return False
    cited = int(db.execute("SELECT count(DISTINCT path) FROM entry_files WHERE entry = ?", (entry,)).fetchone()[0])
    return len(trial.files) >= FILE_SHARE * cited


def _rarity(db: sqlite3.Connection, word: str, total: int) -> float:
    """The weight of a word: more, the fewer failed trials have it."""
    having = int(db.execute("SELECT count(*) FROM failed_words WHERE word = ?", (word,)).fetchone()[0])
    return log(1 + (total + 1 - having + 0.5) / (having + 0.5))
