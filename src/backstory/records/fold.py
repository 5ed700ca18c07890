"""From events to standing: one pure function.

`fold` takes the entries of one group, the operations on them and the tombstones, and says what each entry counts
for. It reads no clock: expiry and age are instants that readers compare. Who may do what is decided here once more,
from `by.kind` of each event, because a log can be merged from anywhere:

| who | entries land as | confirm | retire | approve, reject, lift, resolve, undo | contest | supersede |
|---|---|---|---|---|---|---|
| person | confirmed | confirms | yes | yes | yes | yes |
| agent | active | counts once per session | what no person confirmed, else contests | no | yes | likewise |
| hook, import | proposed | counts once per session | no | no | capture, of what no person confirmed | when approved |
| capture, by structure alone | active | | | | | |

What a person's `undo` names is passed over as if it had not been said, redact, reject and lift aside; an entry that it
names is retired and what that replaced stands again.
An operation that is only in the journal does not move an entry of this tree, except reject, lift and redact.
What was computed from a source that we only read (`Given`) begins where that source puts it; then the same rules hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from backstory.records import operations as ops
from backstory.records.event import AGENT, BY_ITSELF, CAPTURE, HOOK, PERSON, Entry
from backstory.records.times import parse_instant

EVERYWHERE = (ops.Reject, ops.Lift, ops.Redact)


class Seen(msgspec.Struct, frozen=True):
    """An operation and whether it is in this tree (else only in the journal)."""

    op: ops.Operation
    in_tree: bool = True


class Given(msgspec.Struct, frozen=True):
    """Where an entry of a source begins: active, proposed or retired (with the reason), or replaced by `successors`."""

    source: str
    level: str
    why: str = ""
    successors: tuple[str, ...] = ()


class Held(msgspec.Struct, frozen=True):
    """An entry, its value key, whether it is in this tree; `given` for one that was computed, not logged."""

    entry: Entry
    key: str
    in_tree: bool = True
    given: Given | None = None


class Standing(msgspec.Struct, frozen=True):
    """What an entry counts for. Instants are microseconds, 0 for never."""

    standing: str
    confirmed_at: int = 0
    sessions: int = 0
    superseded_by: tuple[str, ...] = ()
    contested_with: tuple[str, ...] = ()
    ended_at: int = 0
    ended_by: str = ""
    reason: str = ""


class Tombstone(msgspec.Struct, frozen=True):
    """A value that was rejected: the operation that did it, when, by whom and why."""

    key: str
    op: str
    at: int
    by: str
    reason: str
    target: str = ""
    value: str = ""


def order(event: ops.Operation | Entry) -> tuple[str, str]:
    """The order of the log: time, then id; never position in a file."""
    return (event.at, event.id)


def tombstones(operations: Iterable[ops.Operation]) -> dict[str, Tombstone]:
    """The values rejected by a person and not lifted since, by key."""
    found: dict[str, Tombstone] = {}
    for op in sorted(operations, key=order):
        if op.by.kind != PERSON:
            continue
        if isinstance(op, ops.Reject) and op.key:
            found[op.key] = Tombstone(op.key, op.id, parse_instant(op.at), op.by.name, op.reason, op.target, op.value)
        elif isinstance(op, ops.Lift):
            found.pop(op.key, None)
    return found


def fold(
    entries: Mapping[str, Held], operations: Mapping[str, Sequence[Seen]], rejected: Mapping[str, Tombstone]
) -> dict[str, Standing]:
    """The standing of each of `entries` (id to entry; whole groups linked by `supersedes` and `resolve`)."""
    concerning = _both_sides(entries, operations)
    own = {id_: _Own(held, concerning[id_]) for id_, held in entries.items()}
    # Only these can close a circle: an operation that names a successor, or a supersession against the clocks.
    backwards = any(state.superseded_by for state in own.values())
    for state in sorted(own.values(), key=lambda one: order(one.entry)):
        if state.speaks and state.key not in rejected:
            backwards |= _supersede(state, own)
    if backwards:
        _break_cycles(own)
    return {id_: state.result(rejected.get(state.key)) for id_, state in own.items()}


def _both_sides(entries: Mapping[str, Held], operations: Mapping[str, Sequence[Seen]]) -> dict[str, list[Seen]]:
    """The operations that concern each entry: those on it, and the resolutions in which it is the other side."""
    found: dict[str, list[Seen]] = {id_: [] for id_ in entries}
    for target in found.keys() & operations.keys():
        found[target] += _standing_words(operations[target])
    for target in found.keys() & operations.keys():
        for item in _standing_words(operations[target]):
            over = item.op.over if isinstance(item.op, ops.Resolve) else target
            if over != target and over in found:
                found[over].append(item)
    return found


def _standing_words(seen: Sequence[Seen]) -> Sequence[Seen]:
    """The operations on one entry without those that a person took back."""
    undos = [item for item in seen if isinstance(item.op, ops.Undo) and item.op.by.kind == PERSON]
    if not undos:
        return seen
    # Like every operation: one that is only in the journal moves nothing of this tree.
    undone = {(item.op.undoes, in_tree) for item in undos for in_tree in {False, item.in_tree}}  # type: ignore[attr-defined]
    kept = (*EVERYWHERE, ops.Undo)
    return [item for item in seen if isinstance(item.op, kept) or (item.op.id, item.in_tree) not in undone]


class _Own:
    """The state of one entry while its operations are applied in order."""

    def __init__(self, held: Held, seen: Sequence[Seen]) -> None:
        self.entry, self.key, self.in_tree = held.entry, held.key, held.in_tree
        writer = self.entry.by.kind
        self.level = {PERSON: "confirmed", AGENT: "active"}.get(writer, "proposed")
        if writer == HOOK and self.entry.by.name == CAPTURE and self.entry.detector in BY_ITSELF:
            self.level = "active"
        if self.entry.held and writer != PERSON:
            self.level = "proposed"
        self.confirmed_at = 0
        self.confirmers: set[str] = set()
        self.sessions = {self.entry.by.session} - {""}
        self.ended: tuple[str, ops.Operation] | None = None
        self.redacted = self.turned_down = self.unsaid = False
        # Entries of which a person said how they and this one stand.
        self.settled_with: set[str] = set()
        self.superseded_by: list[str] = []
        self.contested_with: set[str] = set()
        self.contested = False
        if held.given is not None:
            self.begin(held.given)
        for op in sorted((item.op for item in seen if self.moved_by(item)), key=order):
            self.apply(op)

    def begin(self, given: Given) -> None:
        """Start where the source puts the entry."""
        self.superseded_by += given.successors
        if given.level == "retired":
            entry = self.entry
            self.ended = (
                "retired",
                ops.Retire(id=entry.id, kind="retire", at=entry.at, by=entry.by, target=entry.id, reason=given.why),
            )
        elif not self.entry.held:
            self.level = given.level

    def moved_by(self, item: Seen) -> bool:
        return item.in_tree or not self.in_tree or isinstance(item.op, EVERYWHERE)

    def apply(self, op: ops.Operation) -> None:
        person, agent = op.by.kind == PERSON, op.by.kind == AGENT
        if isinstance(op, ops.Redact) and person:
            self.redacted = True
            self.ended = ("retired", op)
        elif isinstance(op, (ops.Reject, ops.Lift)) and person:
            self.turned_down = isinstance(op, ops.Reject)
        elif isinstance(op, ops.Resolve) and person:
            self.resolve(op)
        elif isinstance(op, ops.Confirm):
            self.confirm(op)
        elif isinstance(op, ops.Approve) and person:
            self.settle(op)
        elif isinstance(op, ops.Undo) and person and op.undoes == self.entry.id:
            self.unsaid, self.ended = True, ("retired", op)
        elif isinstance(op, ops.Retire) and (person or agent):
            self.retire(op, person)
        elif isinstance(op, ops.Contest) and (person or agent or self._doubted_by_capture(op)):
            self.contested = True
            self.contested_with |= {op.against} - {""}

    def _doubted_by_capture(self, op: ops.Operation) -> bool:
        """What a person said in a later session counts against what no person confirmed."""
        return op.by.kind == HOOK and op.by.name == CAPTURE and self.level != "confirmed"

    def retire(self, op: ops.Retire, person: bool) -> None:
        """An agent may retire what no person confirmed; otherwise its word puts the entry in doubt."""
        if not person and self.level == "confirmed":
            self.contested = True
            self.contested_with |= {op.successor} - {""}
        elif op.successor:
            self.superseded_by.append(op.successor)
        else:
            self.ended = ("retired", op)

    def resolve(self, op: ops.Resolve) -> None:
        """A person said how two entries stand: this one is kept, or gives way to the target."""
        kept = op.target == self.entry.id
        self.settled_with.add(op.over if kept else op.target)
        if kept or op.both:
            self.settle(op)
        else:
            self.superseded_by.append(op.target)

    def confirm(self, op: ops.Operation) -> None:
        if op.by.kind == PERSON:
            self.settle(op)
            return
        if self.renews(op):
            self.confirmers |= {op.by.session}
            self.confirmed_at = parse_instant(op.at)
        self.sessions |= {op.by.session} - {""}
        if self.level == "proposed" and not self.entry.held and len(self.sessions) > 1:
            self.level = "active"

    def renews(self, op: ops.Operation) -> bool:
        """Whether a confirmation restarts the age: once per session. A source that is read again confirms nothing."""
        if op.by.kind == AGENT:
            # Sessions without an id cannot be told apart: each of their confirmations counts.
            return not op.by.session or op.by.session not in self.confirmers
        return op.by.session not in {"", self.entry.by.session} | self.confirmers

    def settle(self, op: ops.Operation) -> None:
        """A person's word: it stands, whatever was said against it before."""
        self.level, self.contested, self.confirmed_at = "confirmed", False, parse_instant(op.at)
        self.contested_with.clear()
        self.superseded_by.clear()
        if not self.redacted:
            self.ended, self.unsaid = None, False

    @property
    def speaks(self) -> bool:
        """Whether its own words have effect on others: not proposed. What a redacted entry replaced stays replaced."""
        return not self.unsaid and self.level != "proposed" and not (self.redacted and self.turned_down)

    def result(self, tombstone: Tombstone | None) -> Standing:
        standing, at, by, reason = self.level, 0, "", ""
        if tombstone is not None and not self.redacted:
            standing, at, by, reason = "rejected", tombstone.at, tombstone.by, tombstone.reason
        elif self.ended is not None:
            standing, op = self.ended
            at, by, reason = parse_instant(op.at), op.by.name or op.by.kind, op.reason
        elif self.superseded_by:
            standing = "superseded"
        elif self.level != "proposed" and (self.contested or self.contested_with):
            standing = "contested"
        return Standing(
            standing,
            self.confirmed_at,
            len(self.sessions),
            tuple(self.superseded_by),
            tuple(sorted(self.contested_with)),
            at,
            by,
            reason,
        )


def _supersede(state: _Own, own: dict[str, _Own]) -> bool:
    """What the entry of `state` replaces gives way; a confirmed one contests an agent's word instead.

    True when it replaces an entry that the clocks call later: only then can there be a cycle.
    """
    backwards = False
    for id_ in state.entry.supersedes:
        old = own.get(id_)
        if old is None or old is state or (old.in_tree and not state.in_tree):
            continue
        if id_ in state.settled_with or state.entry.id in old.settled_with:
            continue
        backwards |= order(old.entry) > order(state.entry)
        if old.level == "confirmed" and state.level != "confirmed":
            if state.entry.id not in old.superseded_by:
                old.contested_with.add(state.entry.id)
                state.contested_with.add(id_)
        elif state.entry.id not in old.superseded_by:
            old.superseded_by.append(state.entry.id)
    return backwards


def _break_cycles(own: dict[str, _Own]) -> None:
    """Entries that replace each other in a circle (merged from two clones) are a conflict: all show, contested."""
    circles = {
        id_: {other for other in state.superseded_by if _reaches(other, id_, own)}
        for id_, state in own.items()
        if state.superseded_by
    }
    for id_, others in circles.items():
        own[id_].contested_with |= others
        own[id_].superseded_by = [other for other in own[id_].superseded_by if other not in others]


def _reaches(start: str, goal: str, own: dict[str, _Own]) -> bool:
    """Whether following `superseded_by` from `start` comes to `goal` again."""
    todo, seen = list(own[start].superseded_by) if start in own else [], set()
    while todo:
        id_ = todo.pop()
        if id_ == goal:
            return True
        if id_ in own and id_ not in seen:
            seen.add(id_)
            todo.extend(own[id_].superseded_by)
    return False
