"""The memory in plain Python: lists and sets, no files. What the real one must say after any story."""

from __future__ import annotations

from dataclasses import dataclass, field

PERSON, AGENT, HOOK = "person", "agent", "hook"
LIVE = ("active", "confirmed", "contested")
WHOLE_CLONE = ("reject", "lift", "redact")


@dataclass
class Said:
    """An entry, or an operation on `target`. `number` is the order of the log."""

    number: int
    id: str
    kind: str
    writer: str
    session: str
    value: str = ""
    target: str = ""
    over: str = ""
    both: bool = False
    supersedes: str = ""
    held: bool = False


@dataclass
class Entry:
    """What is known of one entry while its story is told."""

    said: Said
    in_tree: bool
    level: str
    sessions: set[str]
    ended: bool = False
    redacted: bool = False
    doubted: bool = False
    contested_with: set[str] = field(default_factory=set)
    replaced_by: set[str] = field(default_factory=set)
    settled: set[str] = field(default_factory=set)


class Model:
    """All that one clone knows. `journal` is what it wrote itself; `trees` what each branch has."""

    def __init__(self) -> None:
        self.said: dict[str, Said] = {}
        self.journal: set[str] = set()
        self.trees: dict[str, set[str]] = {"main": set()}
        self.branch = "main"

    @property
    def tree(self) -> set[str]:
        return self.trees[self.branch]

    @property
    def known(self) -> list[Said]:
        here = self.tree | self.journal
        return sorted((item for item in self.said.values() if item.id in here), key=lambda item: item.number)

    def add(self, said: Said, *, journal: bool = True, tree: bool = True) -> None:
        self.said[said.id] = said
        if journal:
            self.journal.add(said.id)
        if tree:
            self.tree.add(said.id)

    def entries(self) -> list[Said]:
        return [item for item in self.known if item.value]

    def redacted(self) -> set[str]:
        return {item.target for item in self.known if item.kind == "redact"}

    def rejected(self) -> set[str]:
        """The values that are rejected: the last word on each counts."""
        found: dict[str, bool] = {}
        for item in self.known:
            if item.kind in ("reject", "lift"):
                found[self.said[item.target].value] = item.kind == "reject"
        return {value for value, bad in found.items() if bad}

    def standings(self) -> dict[str, str]:
        entries = {item.id: self._begin(item) for item in self.entries()}
        for item in self.known:
            if not item.value:
                self._tell(entries, item)
        self._replace(entries)
        return {id_: self._standing(entry) for id_, entry in entries.items()}

    def _begin(self, item: Said) -> Entry:
        level = {PERSON: "confirmed", AGENT: "active", HOOK: "proposed"}[item.writer]
        if item.held and item.writer != PERSON:
            level = "proposed"
        return Entry(item, item.id in self.tree, level, {item.session} - {""})

    def _tell(self, entries: dict[str, Entry], item: Said) -> None:
        sides = [(item.target, True)] + ([(item.over, False)] if item.over else [])
        for id_, first in sides:
            entry = entries.get(id_)
            if entry is None or (len(sides) == 2 and not {item.target, item.over} <= set(entries)):
                continue
            if entry.in_tree and item.id not in self.tree and item.kind not in WHOLE_CLONE:
                continue
            self._apply(entry, item, first)

    def _apply(self, entry: Entry, item: Said, first: bool) -> None:
        person = item.writer == PERSON
        if item.kind == "redact":
            entry.redacted = entry.ended = True
        elif item.kind in ("approve", "resolve", "confirm") and person and (first or item.both):
            entry.level, entry.doubted, entry.ended = "confirmed", False, entry.redacted
            entry.contested_with.clear()
            entry.replaced_by.clear()
        elif item.kind == "resolve":
            entry.replaced_by.add(item.target)
        elif item.kind == "confirm":
            entry.sessions |= {item.session} - {""}
            if entry.level == "proposed" and not entry.said.held and len(entry.sessions) > 1:
                entry.level = "active"
        elif item.kind == "contest" or (item.kind == "retire" and not person and entry.level == "confirmed"):
            entry.doubted = True
        elif item.kind == "retire":
            entry.ended = True
        if item.kind == "resolve":
            entry.settled.add(item.over if first else item.target)

    def _replace(self, entries: dict[str, Entry]) -> None:
        rejected = self.rejected()
        for id_, new in entries.items():
            old = entries.get(new.said.supersedes)
            if old is None or new.level == "proposed" or id_ in old.settled or old.said.id in new.settled:
                continue
            if new.said.value in rejected or (old.in_tree and not new.in_tree):
                continue
            if old.level == "confirmed" and new.level != "confirmed" and id_ not in old.replaced_by:
                old.contested_with.add(id_)
                new.contested_with.add(old.said.id)
            else:
                old.replaced_by.add(id_)

    def _standing(self, entry: Entry) -> str:
        if entry.said.value in self.rejected() and not entry.redacted:
            return "rejected"
        if entry.ended:
            return "retired"
        if entry.replaced_by:
            return "superseded"
        if entry.level != "proposed" and (entry.doubted or entry.contested_with):
            return "contested"
        return entry.level
