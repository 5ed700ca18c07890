"""Transcripts: reading and archiving beside `json.loads`; one huge damaged file; thousands of sessions, searched."""

import json
import os
import random
import re
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from backstory.config import Config, load
from backstory.project.sessions import reading
from backstory.sources.transcripts import known
from backstory.sources.transcripts.contract import Cursor, Found
from benchmarks.bench import BACKSTORY, Bench
from benchmarks.made_transcripts import MB, Maker
from benchmarks.measure import Command, Failed, run
from benchmarks.report import Part, Row, say
from benchmarks.words import Words

# Of which each session has half to one and a half: 10,000 of them are 2 GB.
SESSION = 200_000
OF_LOADS, LONG_LINE, MORE = 30 * MB, 50 * MB, 2 * MB
REPEATS, QUESTIONS = 3, 50
CLIENT = "claude-code"

# What it prints: the report of the reading, its seconds, CPU seconds, and the peak of the process in MB.
ARCHIVE = """
import json, os, resource, sys, time
from backstory.config import load
from backstory.project.sessions import reading
from backstory.sources.transcripts.contract import Found
only = [Found("claude-code", sys.argv[3])] if sys.argv[3:] else None
wall, cpu = time.perf_counter(), time.process_time()
report = reading.refresh(load(sys.argv[1]), dict(), sys.argv[2], only=only, seconds=36_000)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
# Not `ru_maxrss` where it can be helped: a process inherits that of the one which started it.
try:
    peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024
except (OSError, StopIteration):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
told = {"read": report.read, "bytes": report.bytes_read, "sessions": report.sessions, "lost": report.lost}
print(json.dumps({"wall": wall, "cpu": cpu, "peak": peak, **told, "stopped": report.stopped}))
"""
# What it prints: the milliseconds of each question, how many found something, those of a list of sessions.
ASK = """
import json, sys, time
from backstory.project.refresh import open_project
from backstory.project.sessions import answers
took, cpu, found, listed = [], [], 0, []
with open_project(sys.argv[1]) as project:
    project.db
    for query in json.loads(sys.argv[2]):
        start, used = time.perf_counter(), time.process_time()
        passages = answers.found(project, query, limit=10).passages
        took.append((time.perf_counter() - start) * 1e3)
        cpu.append((time.process_time() - used) * 1e3)
        found += bool(passages) and all(one.snippet for one in passages)
    for _ in range(9):
        start = time.perf_counter()
        answers.listed(project, limit=20)
        listed.append((time.perf_counter() - start) * 1e3)
print(json.dumps({"took": took, "cpu": cpu, "found": found, "listed": listed}))
"""


def measure(bench: Bench) -> Part:
    """Made-up transcripts of `bench.gigabytes` twice over: in one file, and in as many sessions as they make."""
    folder = bench.folder / "transcripts"
    shutil.rmtree(folder, ignore_errors=True)
    sessions, size = round(bench.gigabytes * 1_000 * MB / SESSION), round(bench.gigabytes * 1_000 * MB)
    part = Part(
        "Transcripts",
        "Made up as Claude Code writes them (`benchmarks/made_transcripts.py`). Reading: every item of every record, in"
        f" this process, beside `json.loads` of the same lines, interleaved, {REPEATS} times; archiving: the same into"
        " a new archive, redaction and full text included. Then, each in a process of its own: one file of"
        f" {bench.gigabytes:g} GB with a line of {LONG_LINE // MB} MB in its middle and broken UTF-8 in each 500th"
        f" line, and again after {MORE // MB} MB more; and {sessions:,} sessions of {SESSION / MB:g} MB in the mean,"
        f" {bench.gigabytes:g} GB in all, and {QUESTIONS} questions of one to three words, the snippets read from the"
        " transcripts. Figures stand under the megabytes of each.",
    )
    try:
        place = _Place(folder)
        part.rows += _beside_loads(place, size // MB, part.notes)
        part.rows += _one_huge(place, size, part.notes)
        part.rows += _many(place, sessions, size // MB, part.notes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return part


class _Place:
    """A project without anything in it, and a home folder with transcripts of work in it."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home = folder / "project", folder / "home"
        self.transcripts = self.home / ".claude/projects/-project"
        self.root.mkdir(parents=True)
        self.transcripts.mkdir(parents=True)
        run(Command("git", ["git", "init", "-q", "-b", "main", str(self.root)], folder))
        run(Command("init", [BACKSTORY, "init", "--private"], self.root))
        self.maker = Maker(self.root)
        for path in self.maker.paths:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)

    @property
    def config(self) -> Config:
        return load(str(self.root))

    def forget(self) -> None:
        """No archive."""
        from backstory.index.archive import store

        store.delete(reading.archive_path(self.config))

    def archived_bytes(self) -> int:
        path = Path(reading.archive_path(self.config))
        return sum(one.stat().st_size for one in path.parent.glob(f"{path.name}*") if not one.name.endswith("-shm"))

    def archive(self, only: Path | None = None) -> dict[str, Any]:
        """What a process says that archived all transcripts, or one."""
        words = [sys.executable, "-c", ARCHIVE, str(self.root), str(self.home), *([str(only)] if only else [])]
        told: dict[str, Any] = json.loads(run(Command("archive", words, self.root)).output)
        if told["stopped"]:
            raise Failed(f"archiving stopped: {told['stopped']}")
        return told


def _beside_loads(place: _Place, key: int, notes: list[str]) -> list[Row]:
    """The ratios on generated transcripts, and on real ones where they are."""
    path = place.transcripts / "reading.jsonl"
    with path.open("wb") as file:
        for line in place.maker.session(OF_LOADS):
            file.write(line)
    rows = [*_ratios("generated", [Found(CLIENT, str(path))], place, key, 1)]
    path.unlink()
    if real := list(_real(place)):
        rows += _ratios("real", real, place, key, 3)
        total = sum(os.path.getsize(one.path) for one in real)
        notes.append(f"The real ones: {len(real)} files of Claude Code and Codex, {total / MB:.1f} MB.")
    else:
        notes.append("No real ones were read: `TEST_TRANSCRIPTS` names no folder of them.")
    return rows


def _ratios(which: str, found: Sequence[Found], place: _Place, key: int, times: int) -> Iterator[Row]:
    say(f"transcripts: {which}, beside json.loads")
    ways: dict[str, Callable[[], None]] = {
        "loads": lambda: _loads(found),
        "read": lambda: _read(found),
        "archive": lambda: _archive(found, place.config),
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(REPEATS):
        for name, way in ways.items():
            spent = 0.0
            for _ in range(times):
                place.forget()
                start = time.process_time()
                way()
                spent += time.process_time() - start
            took[name].append(spent)
    base = statistics.median(took["loads"])
    for name, what, bar in (("read", "reading", 5.0), ("archive", "archiving", 5.0)):
        ratio = statistics.median(took[name]) / base
        yield Row(f"{what} {which} transcripts / `json.loads`, CPU", "times", f"<= {bar:g}", bar, measured={key: ratio})


def _loads(found: Sequence[Found]) -> None:
    for one in found:
        with open(one.path, "rb") as file:
            for line in file:
                try:
                    json.loads(line)
                except ValueError:
                    continue


def _read(found: Sequence[Found]) -> None:
    for one in found:
        for _ in known.open_reader(one, Cursor()):
            pass


def _archive(found: Sequence[Found], config: Config) -> None:
    report = reading.refresh(config, {}, "/nonexistent", only=found)
    if report.unreadable or report.stopped or not report.sessions:
        raise Failed(f"nothing was archived: {report}")


def _real(place: _Place) -> Iterator[Found]:
    """Copies of the transcripts below `TEST_TRANSCRIPTS`, as if the work in them had been done in our project."""
    folder = Path(os.environ.get("TEST_TRANSCRIPTS", "/nonexistent"))
    for client in (CLIENT, "codex"):
        for number, path in enumerate(sorted((folder / client).rglob("*.jsonl"))):
            raw = path.read_bytes()
            for cwd in sorted(set(re.findall(rb'"cwd"\s*:\s*"([^"\\]{2,})"', raw)), key=len, reverse=True):
                raw = raw.replace(cwd, str(place.root).encode())
            copy = place.home / "real" / client / str(number) / path.name
            copy.parent.mkdir(parents=True)
            copy.write_bytes(raw)
            yield Found(client, str(copy))


def _one_huge(place: _Place, size: int, notes: list[str]) -> list[Row]:
    key = size // MB
    path = place.transcripts / "huge.jsonl"
    say("transcripts: making one huge file")
    written = place.maker.damaged(path, max(size, 2 * LONG_LINE), LONG_LINE)
    place.forget()
    say(f"transcripts: archiving {written / MB:,.0f} MB")
    told = place.archive(path)
    with path.open("ab") as file:
        more = sum(file.write(line) for line in place.maker.session(MORE))
    again = place.archive(path)
    if told["bytes"] != written or told["lost"] != 1:
        raise Failed(f"of {written} bytes with one line too long: {told}")
    path.unlink()
    notes.append(
        f"One huge file: {told['wall']:.0f} s ({told['cpu']:.0f} s CPU); {more / MB:.1f} MB more:"
        f" {again['wall']:.2f} s."
    )
    peak = max(told["peak"], again["peak"])
    return [
        Row("peak memory of reading one huge file", "MB", "<= 200", 200.0, measured={key: peak}),
        Row("bytes read again when it has grown", "bytes", "0", 0.0, measured={key: float(again["bytes"] - more)}),
    ]


def _many(place: _Place, sessions: int, key: int, notes: list[str]) -> list[Row]:
    say(f"transcripts: making {sessions:,} sessions")
    written = place.maker.write(place.transcripts, sessions, SESSION)
    place.forget()
    say(f"transcripts: archiving {written / MB:,.0f} MB")
    told = place.archive()
    if told["sessions"] != sessions:
        raise Failed(f"of {sessions} sessions: {told}")
    index = place.archived_bytes()
    nothing_new = place.archive()
    asked = json.loads(
        run(Command("ask", [sys.executable, "-c", ASK, str(place.root), _questions()], place.root)).output
    )
    listing = run(Command("list", [BACKSTORY, "sessions", "list"], place.root, environment={"HOME": str(place.home)}))
    p50, p95 = statistics.median(asked["took"]), statistics.quantiles(asked["took"], n=20)[-1]
    notes.append(
        f"Many sessions: {written / MB:,.0f} MB archived in {told['wall']:.0f} s ({told['cpu']:.0f} s CPU, at most"
        f" {told['peak']:.0f} MB of memory) into {index / MB:,.0f} MB; {asked['found']} of {QUESTIONS} questions found"
        f" something, all of it with a snippet; the longest took {max(asked['took']):.0f} ms."
    )
    figures: list[tuple[str, str, str, float | None, float]] = [
        ("archiving sessions", "s CPU for 100 MB", "for information", None, told["cpu"] / written * 100 * MB),
        ("archive / transcripts", "bytes", "<= 1", 1.0, index / written),
        ("search in process (10 hits), snippets read, p50", "ms", "<= 20", 20.0, p50),
        ("the same", "ms CPU", "for information", None, statistics.median(asked["cpu"])),
        ("search in process (10 hits), snippets read, p95", "ms", "for information", None, p95),
        ("list of sessions in process", "ms", "for information", None, statistics.median(asked["listed"])),
        ("looking for new transcripts where there are none", "s", "for information", None, nothing_new["wall"]),
        ("`sessions list`, whole process", "s", "for information", None, listing.wall / 1e3),
    ]
    return [Row(what, unit, bar, limit, measured={key: value}) for what, unit, bar, limit, value in figures]


def _questions() -> str:
    rng = random.Random(7)
    words = Words(rng)
    made = [" ".join(words.name() for _ in range(rng.choice((1, 2, 2, 3)))) for _ in range(QUESTIONS)]
    return json.dumps(made)
