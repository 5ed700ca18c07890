"""What waits for a person, and the decisions about it: one use case for the terminal, for scripts and for the web page.

Every decision is a few events in the log. `Review.undo` takes back the last decision of this run by one event for each
of them: a rejection by a `lift`, all else by an `undo`. Nothing is removed, and what a run before this one decided is
left alone: it may have been built on since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.index.folding import value_hash, value_of
from backstory.project import answers
from backstory.project.gateway import Outcome, operation, standing_of, write
from backstory.project.opened import Project
from backstory.project.operations import load, operate
from backstory.project.sessions.provenance import Place, of_entry
from backstory.project.succession import supersede
from backstory.recall import conflicts, live
from backstory.recall.conflicts import Clash
from backstory.recall.view import View
from backstory.records.codec import read_fields
from backstory.records.event import PERSON, By
from backstory.records.registry import KINDS
from backstory.records.value import similarity, value_key

__all__ = (
    "WAITS", "Candidate", "Clash", "Decision", "Review", "added", "candidate", "order", "queue", "standing",
    "take_back", "waiting",
)  # fmt: skip

WAITS = ("proposed", "contested")
MOST_SIMILAR, MOST_COMPARED, ALIKE = 9, 400, 0.6
# Text around evidence is read from transcripts for so many of a list; one candidate by itself always has it.
MOST_TEXTS = 50
UNDONE = "undone in review"


class Candidate(View, frozen=True, kw_only=True):
    """An entry of the queue: where it comes from, what resembles it, what it clashes with, the calls that settle it."""

    comes_from: tuple[Place, ...] = ()
    similar: tuple[Clash, ...] = ()
    against: tuple[Clash, ...] = ()
    calls: tuple[str, ...] = ()


def queue(project: Project) -> list[Candidate]:
    """What waits for a person, oldest first."""
    return _candidates(project, answers.review_queue(project))


def waiting(project: Project) -> int:
    """How many entries wait for a person."""
    query = f"SELECT count(*) FROM entries AS e WHERE e.standing IN ('proposed', 'contested') AND {live.LOGGED}"
    return int(project.db.execute(query).fetchone()[0])


def order(project: Project) -> list[str]:
    """The ids of what waits for a person, oldest first."""
    where = f"e.standing IN ('proposed', 'contested') AND {live.LOGGED} ORDER BY e.at, e.id LIMIT 1000"
    return [row[0] for row in project.db.execute(f"SELECT e.id FROM entries AS e WHERE {where}")]


def standing(project: Project, id_: str) -> str:
    """What an entry (its whole id) counts for now."""
    return standing_of(project, id_)


def added(project: Project, *, since: int | None = None, session: str = "", limit: int = 1_000) -> list[Candidate]:
    """What was written since an instant or in one session, newest first, whatever it counts for now."""
    return _candidates(project, answers.timeline(project, since=since, session=session, limit=limit))


def candidate(project: Project, id_: str, *, texts: bool = True) -> Candidate:
    """One entry (whole id) as a person judges it."""
    view = answers.one_view(project, id_)
    fields = {name: getattr(view, name) for name in View.__struct_fields__}
    similar, against = _resembling(project, view)
    return Candidate(
        **fields,
        comes_from=of_entry(project, view, texts=texts),
        similar=similar,
        against=against,
        calls=_calls(view, similar),
    )


def _candidates(project: Project, views: Iterable[View]) -> list[Candidate]:
    return [candidate(project, view.id, texts=place < MOST_TEXTS) for place, view in enumerate(views)]


def _resembling(project: Project, view: View) -> tuple[tuple[Clash, ...], tuple[Clash, ...]]:
    """What says nearly the same, and what says something else; the entries that it is contested with come first."""
    entry, _ = load(project, view.id)
    found = conflicts.against(project.db, conflicts.side_of(entry), project.now, view.contested_with)
    sides = [answers.one_view(project, id_) for id_ in view.contested_with]
    known = [Clash(one.id, "contested", "contested", one.summary, one.standing) for one in sides]
    # Only decisions and patterns are compared for conflicts; what else says the same is found by its words.
    near = [clash for clash in found if clash.sign == "similar"] or _alike(project, view, view.summary)
    return tuple(near[:MOST_SIMILAR]), (*known, *(clash for clash in found if clash.sign != "similar"))


def _alike(project: Project, view: View, text: str) -> list[Clash]:
    """Other live entries of the kind of `view` that say `text` in nearly the same words, the most alike first."""
    where = (
        f"e.kind = :kind AND e.id <> :id AND e.standing IN ('active', 'confirmed') AND {live.LOGGED} AND"
        f" {live.IN_FORCE} ORDER BY e.last_at DESC, e.id LIMIT {MOST_COMPARED}"
    )
    query = f"SELECT e.id, e.standing, e.summary FROM entries AS e WHERE {where}"
    rows = project.db.execute(query, {"kind": view.kind, "id": view.id, "now": project.now}).fetchall()
    words = value_key(text)
    found = [(similarity(words, value_key(other)), id_, standing, other) for id_, standing, other in rows]
    near = sorted((one for one in found if one[0] >= ALIKE), key=lambda one: (-one[0], one[1]))
    return [Clash(id_, "similar", "nearly the same words", other, standing) for _, id_, standing, other in near]


def _calls(view: View, similar: Sequence[Clash]) -> tuple[str, ...]:
    """The exact calls that settle it; none for what does not wait."""
    name = view.short
    if view.standing not in WAITS:
        return ()
    if view.contested_with:
        pairs = [f"--over {other[-6:]}" for other in view.contested_with]
        first = [f"backstory resolve {name} {pair}{both}" for pair in pairs for both in ("", " --both")]
    else:
        first = [f"backstory approve {name}"]
    merges = [f"backstory supersede {name} --by {clash.id[-6:]}" for clash in similar]
    return (*first, f'backstory reject {name} --why "REASON"', f'backstory supersede {name} "NEW TEXT"', *merges)


@dataclass(frozen=True)
class Decision:
    """One decision of a run: on which entry, what was done in words, and the events that it wrote, oldest first."""

    id: str
    what: str
    outcome: Outcome | None
    events: tuple[str, ...] = ()


class Review:
    """One run of a person through the queue. Each action raises `BackstoryError` when it is refused."""

    def __init__(self, project: Project, by: By) -> None:
        if by.kind != PERSON:
            raise BackstoryError(
                "Only a person may review.", hint="Run `backstory review` at a terminal.", code=Exit.REFUSED
            )
        self.project, self.by = project, by
        self.done: list[Decision] = []

    @property
    def decided(self) -> int:
        """How many decisions stand."""
        return sum(decision.outcome is not None for decision in self.done)

    def approve(self, id_: str) -> Decision:
        """A yes. Of a contested entry: it stands, and each entry that it is contested with gives way."""
        return self._settle(id_, both=False)

    def both(self, id_: str) -> Decision:
        """A contested entry and all that it is contested with stand."""
        return self._settle(id_, both=True)

    def _settle(self, id_: str, *, both: bool) -> Decision:
        others = answers.one_view(self.project, id_).contested_with
        start = self._mark()
        outcome = None if others else operate(self.project, self.by, "approve", id_)
        for other in others:
            outcome = operate(self.project, self.by, "resolve", id_, over=other, both=both)
        words = f"{id_[-6:]} and the other side stand" if both else f"{id_[-6:]} stands"
        return self._decided(start, id_, words if others else f"approved {id_[-6:]}", outcome)

    def reject(self, id_: str, reason: str) -> Decision:
        """A no, with its reason: the value does not come back."""
        start = self._mark()
        return self._decided(
            start, id_, f"rejected {id_[-6:]}", operate(self.project, self.by, "reject", id_, reason=reason)
        )

    def edit(self, id_: str, text: str, fields: dict[str, Any] | None = None) -> Decision:
        """The person's own text takes the place of the candidate, with the evidence and the places that it cites.

        What another live entry says already is not said twice: the candidate is merged into that.
        """
        view = answers.one_view(self.project, id_)
        twins = [clash.id for clash in _alike(self.project, view, text) if value_key(clash.summary) == value_key(text)]
        if twins:
            return self.merge(id_, twins[0])
        old, _ = load(self.project, id_)
        start = self._mark()
        outcome = supersede(self.project, self.by, id_, text, {"evidence": list(old.evidence), **(fields or {})})
        return self._decided(start, id_, f"replaced {id_[-6:]} by {outcome.id[-6:]}", outcome)

    def merge(self, id_: str, into: str) -> Decision:
        """The candidate says what `into` says: that is confirmed, and the candidate gives way to it.

        What `into` cites stays as it is. The candidate stays findable behind it with its own evidence.
        """
        start = self._mark()
        operate(self.project, self.by, "supersede", id_, successor=into, reason="says the same")
        outcome = operate(self.project, self.by, "confirm", into, reason=f"said again by {id_}")
        return self._decided(start, id_, f"merged {id_[-6:]} into {into[-6:]}", outcome)

    def skip(self, id_: str) -> Decision:
        """Nothing is written; the entry waits on."""
        decision = Decision(id_, f"skipped {id_[-6:]}", None)
        self.done.append(decision)
        return decision

    def undo(self) -> Decision | None:
        """Take the last decision of this run back; None when there is none. What was skipped is only shown again."""
        if not self.done:
            return None
        last = self.done[-1]
        for id_ in reversed(last.events):
            take_back(self.project, self.by, id_)
        self.done.pop()
        return last

    def _mark(self) -> int:
        return int(self.project.db.execute("SELECT coalesce(max(event), 0) FROM events").fetchone()[0])

    def _decided(self, start: int, id_: str, what: str, outcome: Outcome | None) -> Decision:
        rows = self.project.db.execute(
            "SELECT id, body FROM events WHERE event > ? ORDER BY event", (start,)
        ).fetchall()
        # What another wrote meanwhile is no part of it.
        ours = [name for name, body in rows if _written_by(body, self.by) and _concerns(body, id_, outcome)]
        decision = Decision(id_, what, outcome, tuple(ours))
        self.done.append(decision)
        return decision


def _written_by(body: str, by: By) -> bool:
    return bool(read_fields(body.encode("utf-8", "surrogatepass")).get("by") == msgspec.to_builtins(by))


def _concerns(body: str, id_: str, outcome: Outcome | None) -> bool:
    fields = read_fields(body.encode("utf-8", "surrogatepass"))
    return bool({fields.get("target"), fields["id"]} & {id_, outcome.id if outcome else id_})


def take_back(project: Project, by: By, event: str) -> str:
    """Write the opposite of one event (its whole id), by a person; the standing of the entry since.

    A rejection is lifted, any other operation undone, and an entry withdrawn so that what it replaced stands again.
    """
    if by.kind != PERSON:
        raise BackstoryError(
            "Only a person may undo.", hint="Ask a person to take it back in `backstory review`.", code=Exit.REFUSED
        )
    row = project.db.execute("SELECT kind, target FROM events WHERE id = ?", (event,)).fetchone()
    if row is None or row[0] in ("redact", "lift", "undo", "snooze", "share"):
        raise BackstoryError(f"{event} cannot be undone.", hint="`backstory timeline` lists what was recorded.")
    kind, target = row[0], row[1] or event
    if kind in KINDS:
        target = event
    if kind == "reject":
        entry, _ = load(project, target)
        fields = {"kind": "lift", "target": target, "key": value_hash(value_of(entry)), "reason": UNDONE}
    else:
        fields = {"kind": "undo", "target": target, "undoes": event, "reason": UNDONE}
    write(project, [operation(project, by, fields)])
    return standing_of(project, target)
