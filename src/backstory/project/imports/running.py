"""Takes in what another tool remembers: through the gateway, proposed, with its place as evidence, and only once.

What the source itself no longer holds is not taken; what was rejected, retired or superseded here does not come back.
An entry that belongs to a case is taken with the case. A text that is too long for one entry goes on in notes. Reading
the same source again adds nothing, and a dry run says the same numbers as the run.

What the source says somebody approved is approved here as well, by the person who runs the import and with the name of
who did it there. For anybody else it is proposed like the rest: what a file says gives nobody a right.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.project.authority import importer
from backstory.project.batching import Batch
from backstory.project.gateway import Outcome
from backstory.project.imports import in_place
from backstory.project.imports.pieces import fitted
from backstory.project.opened import Project
from backstory.project.operations import approve_all
from backstory.project.paths import relative
from backstory.records.codec import read_fields, shape_of
from backstory.records.event import PERSON, By
from backstory.records.hostile import one_line
from backstory.records.registry import KINDS, kind_name
from backstory.records.times import format_instant
from backstory.sources.memories.item import Item
from backstory.sources.memories.known import READERS, found
from backstory.sources.skipped import Skipped, Warned

_MARK = "import "
_NOTES = 5_000

Progress = Callable[[str, int, int], None]


class TakenIn(msgspec.Struct, frozen=True):
    """What became of a source: items by kind that were `added`, and counts of the others.

    `approved` of the added were approved there, and so by the person who ran this; `waiting` were approved there, and
    no person ran this. `continued` are notes that hold the rest of long texts. `present` were taken in before, `same`
    say what an entry says already, `in_place` are read where they are, `ended` no longer hold in the source, `refused`
    were rejected here or break a rule, `dropped` were withdrawn here, `unreadable` could not be read or are nothing to
    take, `odd` were read with a doubt, `naive` gave a time without a zone (read as UTC), `redacted` held a secret.
    `notes` say which and why, with file and line, at most 5,000.
    """

    file: str
    source: str
    read: int
    added: dict[str, int]
    approved: int = 0
    waiting: int = 0
    continued: int = 0
    present: int = 0
    same: int = 0
    in_place: int = 0
    ended: int = 0
    refused: int = 0
    dropped: int = 0
    unreadable: int = 0
    odd: int = 0
    naive: int = 0
    redacted: int = 0
    dry_run: bool = False
    notes: tuple[str, ...] = ()


def source_of(path: str, name: str = "") -> tuple[str, str] | None:
    """(source, what to read) for a path; None where nothing of ours knows it. `BackstoryError` where it is unclear."""
    if name:
        if name not in READERS:
            raise BackstoryError(f"{name[:60]!r} is no source.", hint=f"Sources are: {', '.join(READERS)}.")
        if not os.path.exists(path):
            raise BackstoryError(f"{path} is not there.", hint="Name a file or a folder that exists.")
        return name, READERS[name].takes(path) or path
    places = found(path)
    if len(places) > 1:
        raise BackstoryError(
            f"{path} could be {' or '.join(places)}.",
            hint=f"Say which: `--from {next(iter(places))}`.",
            code=Exit.USAGE,
        )
    if not places and os.path.isdir(path):
        raise BackstoryError(
            f"{path} is a folder in which no source is known.",
            hint=f"Say what it holds: `--from notes` for Markdown; sources are {', '.join(READERS)}.",
            code=Exit.USAGE,
        )
    return next(iter(places.items())) if places else None


def take_in(
    project: Project,
    path: str,
    source: str,
    *,
    by: By | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> TakenIn:
    """Read `path` as `source` and propose what is in it. `by` is who runs it."""
    work = _Work(project, source, path, dry_run)
    items = _read(work, READERS[source].read(path))
    # An issue comes before what belongs to it.
    items.sort(key=lambda item: (item.kind != "issue", item.at or 0))
    for number, item in enumerate(items):
        if progress is not None:
            progress("items", number, len(items))
        work.take(item)
    work.batch.flush()
    _approve(work, by)
    counts = {name: work.counts[name] for name in _COUNTED}
    name, added = os.path.basename(path.rstrip(os.sep)), dict(sorted(work.added.items()))
    return TakenIn(name, source, len(items), added, dry_run=dry_run, notes=tuple(work.notes), **counts)


_COUNTED = ("approved", "waiting", "continued", "present", "same", "in_place", "ended", "refused", "dropped",
            "unreadable", "odd", "naive", "redacted")  # fmt: skip


def _approve(work: _Work, by: By | None) -> None:
    """Approve what was approved in the source, where a person runs this."""
    person = by is not None and by.kind == PERSON
    work.counts["approved" if person else "waiting"] = len(work.approved)
    if by is None or not person or work.batch.dry_run:
        return
    approve_all(work.project, by, work.approved)


def _read(work: _Work, read: Iterable[Item | Skipped | Warned]) -> list[Item]:
    items = []
    for one in read:
        if isinstance(one, Item):
            items.append(one)
        else:
            work.count("unreadable" if isinstance(one, Skipped) else "odd", f"{work.place(one)}: {one.why}")
    return items


class _Work:
    """One import."""

    def __init__(self, project: Project, source: str, path: str, dry_run: bool) -> None:
        self.project, self.source = project, source
        self.folder = path if os.path.isdir(path) else os.path.dirname(path)
        self.batch = Batch(project, importer(source), dry_run=dry_run)
        self.here = in_place.files(project, path, source)
        self.known = _known(project)
        self.seen: dict[str, str] = {}
        self.cases: dict[str, str] = {}
        self.added: Counter[str] = Counter()
        self.approved: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self.notes: list[str] = []

    def count(self, what: str, note: str = "") -> None:
        self.counts[what] += 1
        if note and len(self.notes) < _NOTES:
            self.notes.append(one_line(note, 300))

    def place(self, one: Skipped | Warned) -> str:
        """Where something stands: its path in the source, and the line."""
        whole = one.file if os.path.isabs(one.file) else os.path.join(self.folder, one.file)
        shown = os.path.relpath(whole, self.folder).replace(os.sep, "/")
        return f"{shown}:{one.line}" if one.line else shown

    def take(self, item: Item) -> None:
        """One item, with the notes that hold the rest of it."""
        if item.file and os.path.realpath(item.file) in self.here:
            return self.count("in_place")
        mark = f"{_MARK}{self.source} {item.key}"[:900]
        if mark in self.seen:
            return self.count("odd", f"{item.place}: the same id or text as {self.seen[mark]}, which was taken")
        self.seen[mark] = item.place
        if item.ended and mark not in self.known:
            return self.count("ended", f"{item.place}: {item.ended}")
        kind = kind_name(item.kind) or ""
        if kind not in KINDS:
            return self.count("unreadable", f"{item.place}: {item.kind[:40]!r} is no kind of entry")
        fields, rest, secrets = fitted(self._fields(item, kind))
        self.counts["naive"] += item.naive and mark not in self.known
        id_ = self.known.get(mark, "")
        if id_:
            self.count("present")
        else:
            id_ = self._write(item, kind, {**fields, "evidence": self._evidence(item, mark)}, secrets)
        if id_ and kind == "issue" and item.case:
            self.cases.setdefault(item.case, id_)
        if id_ and not item.ended:
            self._continue(item, mark, id_ if kind == "issue" else str(fields.get("issue", "")), rest)
        return None

    def _continue(self, item: Item, mark: str, case: str, rest: list[dict[str, Any]]) -> None:
        """The notes that hold the rest of an item: those of an issue belong to its case."""
        for number, fields in enumerate(rest, 2):
            part = f"{mark} part {number}"
            if part not in self.known:
                given = {**fields, "issue": case, "evidence": self._evidence(item, part)}
                self._write(item, "note", {**given, **self._moment(item)}, part=True)

    def _write(
        self, item: Item, kind: str, fields: dict[str, Any], secrets: tuple[str, ...] = (), *, part: bool = False
    ) -> str:
        """Its id, or that of the entry that says it already; "" where neither is there."""
        try:
            outcome = self.batch.take(kind, fields)
        except BackstoryError as error:
            if error.code not in (Exit.REFUSED, Exit.USAGE):
                raise
            self.count("refused", f"{item.place}: {error.message}")
            return ""
        if found := dict.fromkeys((*secrets, *outcome.redacted)):
            self.count("redacted", f"{item.place}: redacted before writing: {', '.join(found)}")
        return self._counted(item, kind, outcome, part)

    def _counted(self, item: Item, kind: str, outcome: Outcome, part: bool) -> str:
        if outcome.status == "dropped":
            self.count("dropped", f"{item.place}: {outcome.notes[0]}")
            return ""
        if outcome.status != "recorded":
            self.counts["same"] += not part
        elif part:
            self.counts["continued"] += 1
        else:
            self.added[kind] += 1
            # What reads like an order is looked at by itself, whoever approved it.
            if item.approved_by and not outcome.notes:
                self.approved[outcome.id] = f"approved there by {item.approved_by} ({item.place})"
        return outcome.id

    def _fields(self, item: Item, kind: str) -> dict[str, Any]:
        known = shape_of(kind)
        fields = {name: value for name, value in item.fields.items() if name in known and value}
        fields["files"] = [path for path in fields.get("files", ()) if self._inside(path)]
        if item.case and kind != "issue" and "issue" in known:
            fields["issue"] = self.cases.get(item.case, item.case)
        if item.at is not None and item.at >= self.project.now:
            self.count("odd", f"{item.place}: its time lies ahead ({format_instant(item.at)[:10]}) and was left out")
        return {**fields, **self._moment(item)}

    def _moment(self, item: Item) -> dict[str, str]:
        held = item.at is not None and item.at < self.project.now
        return {"valid_from": format_instant(item.at)} if held and item.at is not None else {}

    def _evidence(self, item: Item, mark: str) -> list[str]:
        return [mark, f"imported from {self.source}, {item.place}"[:1_000], *item.told]

    def _inside(self, path: str) -> bool:
        """Whether a path of another tree can be cited: one that leads out of this project is left out."""
        try:
            return bool(relative(self.project.root, path))
        except BackstoryError:
            return False


def _known(project: Project) -> dict[str, str]:
    """The marks of all that was imported, whatever became of it, with the entries' ids."""
    rows = project.db.execute(
        "SELECT e.id, v.body FROM entries AS e JOIN events AS v ON v.event = e.entry WHERE e.by_kind = 'import'"
    )
    marks: dict[str, str] = {}
    for id_, body in rows:
        for text in read_fields(body.encode("utf-8", "surrogatepass")).get("evidence", ()):
            if str(text).startswith(_MARK):
                marks[str(text)] = str(id_)
    return marks
