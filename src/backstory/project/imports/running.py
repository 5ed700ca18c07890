"""Takes in what another tool remembers: through the gateway, proposed, with its place as evidence, and only once.

What the source itself no longer holds is not taken; what was rejected, retired or superseded here does not come back.
An entry that belongs to a case is taken with the case. Reading the same source again adds nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.project import gateway, validation
from backstory.project.authority import importer
from backstory.project.opened import Project
from backstory.records.codec import event_from, read_fields, shape_of
from backstory.records.event import DETAIL_LIMIT, SUMMARY_LIMIT, Entry
from backstory.records.hostile import one_line
from backstory.records.ids import new_id
from backstory.records.registry import KINDS, kind_name
from backstory.records.times import format_instant
from backstory.sources.memories.item import Item
from backstory.sources.memories.known import READERS, found
from backstory.sources.skipped import Skipped, Warned

_MARK = "import "
_NOTES = 20

Progress = Callable[[str, int, int], None]


class TakenIn(msgspec.Struct, frozen=True):
    """What became of a source: items by kind that were `added`, and counts of the others.

    `present` were taken in before, `same` say what an entry says already, `ended` no longer hold in the source,
    `refused` were rejected here or break a rule, `dropped` were withdrawn here, `unreadable` could not be read, `odd`
    were read with a doubt. `notes` say which and why, at most 20.
    """

    file: str
    source: str
    read: int
    added: dict[str, int]
    present: int = 0
    same: int = 0
    ended: int = 0
    refused: int = 0
    dropped: int = 0
    unreadable: int = 0
    odd: int = 0
    dry_run: bool = False
    notes: tuple[str, ...] = ()


def source_of(path: str, name: str = "") -> tuple[str, str] | None:
    """(source, what to read) for a path; None where nothing of ours knows it. `BackstoryError` where it is unclear."""
    if name:
        if name not in READERS:
            raise BackstoryError(f"{name[:60]!r} is no source.", hint=f"Sources are: {', '.join(READERS)}.")
        return name, READERS[name].takes(path) or path
    places = found(path)
    if len(places) > 1:
        raise BackstoryError(
            f"{path} could be {' or '.join(places)}.",
            hint=f"Say which: `--from {next(iter(places))}`.",
            code=Exit.USAGE,
        )
    return next(iter(places.items())) if places else None


def take_in(
    project: Project, path: str, source: str, *, dry_run: bool = False, progress: Progress | None = None
) -> TakenIn:
    """Read `path` as `source` and propose what is in it."""
    work = _Work(project, source, dry_run)
    items = _read(work, READERS[source].read(path))
    # An issue comes before what belongs to it.
    items.sort(key=lambda item: (item.kind != "issue", item.at or 0))
    for number, item in enumerate(items):
        if progress is not None:
            progress("items", number, len(items))
        work.take(item)
    counts = {name: work.counts[name] for name in _COUNTED}
    name, added = os.path.basename(path.rstrip(os.sep)), dict(sorted(work.added.items()))
    return TakenIn(name, source, len(items), added, dry_run=dry_run, notes=tuple(work.notes), **counts)


_COUNTED = ("present", "same", "ended", "refused", "dropped", "unreadable", "odd")


def _read(work: _Work, read: Iterable[Item | Skipped | Warned]) -> list[Item]:
    items = []
    for one in read:
        if isinstance(one, Item):
            items.append(one)
        else:
            work.count("unreadable" if isinstance(one, Skipped) else "odd", f"{_place(one)}: {one.why}")
    return items


def _place(one: Skipped | Warned) -> str:
    return f"{os.path.basename(one.file)}:{one.line}" if one.line else os.path.basename(one.file)


class _Work:
    """One import."""

    def __init__(self, project: Project, source: str, dry_run: bool) -> None:
        self.project, self.source, self.dry_run = project, source, dry_run
        self.by = importer(source)
        self.known = _known(project)
        self.seen: dict[str, str] = {}
        self.cases: dict[str, str] = {}
        self.added: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.notes: list[str] = []

    def count(self, what: str, note: str = "") -> None:
        self.counts[what] += 1
        if note and len(self.notes) < _NOTES:
            self.notes.append(one_line(note, 300))

    def take(self, item: Item) -> None:
        """One item."""
        mark = f"{_MARK}{self.source} {item.key}"[:900]
        if mark in self.seen:
            return self.count("odd", f"{item.place}: the same id or text as {self.seen[mark]}, which was taken")
        self.seen[mark] = item.place
        if mark in self.known:
            self._is_case(item, self.known[mark])
            return self.count("present")
        if item.ended:
            return self.count("ended", f"{item.place}: {item.ended}")
        kind = kind_name(item.kind) or ""
        if kind not in KINDS:
            return self.count("unreadable", f"{item.place}: {item.kind[:40]!r} is no kind of entry")
        try:
            self._write(item, kind, self._fields(item, kind, mark))
        except BackstoryError as error:
            if error.code not in (Exit.REFUSED, Exit.USAGE):
                raise
            self.count("refused", f"{item.place}: {error.message}")
        return None

    def _write(self, item: Item, kind: str, fields: dict[str, Any]) -> None:
        if self.dry_run:
            twin = self._twin(kind, fields)
            if twin:
                self.count("same")
                self._is_case(item, twin)
            else:
                self.added[kind] += 1
            return
        outcome = gateway.record(self.project, self.by, kind, fields)
        if outcome.status == "recorded":
            self.added[kind] += 1
            self._is_case(item, outcome.id)
        elif outcome.status == "dropped":
            self.count("dropped", f"{item.place}: {outcome.notes[0]}")
        else:
            self.count("same")
            self._is_case(item, outcome.id)

    def _twin(self, kind: str, fields: dict[str, Any]) -> str:
        clean, _ = validation.prepare(self.project, kind, fields)
        now = self.project.now
        placed = {"kind": kind, "by": msgspec.to_builtins(self.by), "id": new_id(now), "at": format_instant(now)}
        entry = event_from({**clean, **placed})
        return gateway.twin_of(self.project, entry) if isinstance(entry, Entry) else ""

    def _is_case(self, item: Item, id_: str) -> None:
        if item.kind == "issue" and item.case and id_:
            self.cases.setdefault(item.case, id_)

    def _fields(self, item: Item, kind: str, mark: str) -> dict[str, Any]:
        known = shape_of(kind)
        fields = {name: value for name, value in item.fields.items() if name in known and value}
        summary, detail = str(fields.get("summary", "")), str(fields.get("detail", ""))
        if len(summary) > SUMMARY_LIMIT:
            fields["summary"], detail = one_line(summary, SUMMARY_LIMIT), f"{summary}\n\n{detail}".strip()
        if len(detail) > DETAIL_LIMIT:
            self.count("odd", f"{item.place}: of {len(detail):,} characters the first {DETAIL_LIMIT:,} were taken")
            detail = f"{detail[: DETAIL_LIMIT - 2]} \u2026"
        fields["detail"] = detail
        fields["files"] = [path for path in fields.get("files", ()) if self._inside(path)]
        if item.case and kind != "issue" and "issue" in known:
            fields["issue"] = self.cases.get(item.case, item.case)
        if item.at is not None and item.at < self.project.now:
            fields["valid_from"] = format_instant(item.at)
        fields["evidence"] = [mark, f"imported from {self.source}, {item.place}"]
        return fields

    def _inside(self, path: str) -> bool:
        """Whether a path of another tree can be cited: one that leads out of this project is left out."""
        from backstory.project.paths import relative

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
