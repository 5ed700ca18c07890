"""Writes a candidate through the gateway: once, with its evidence, as old as what it saw happen."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.index.archive.asking import Session
from backstory.project import gateway, validation
from backstory.project.authority import hook
from backstory.project.capture.candidate import Candidate, Evidence
from backstory.project.opened import Project
from backstory.recall import live
from backstory.recall.conflicts import Clash
from backstory.records.codec import read_fields
from backstory.records.event import BY_ITSELF, CAPTURE, MARK, SUMMARY_LIMIT, By
from backstory.records.hostile import one_line
from backstory.records.times import format_instant
from backstory.records.value import similarity, value_key
from backstory.sources.git.log import commit_before

# How alike two texts are when one says the other again.
SAYS_AGAIN = 0.85
_MOST_EVIDENCE = 6
_MOST_COMPARED = 400
# Words that turn what is said into its opposite.
_TURNS = frozenset(
    "not no never none without don dont doesn cannot cant stop avoid except unless instead longer nicht kein keine nie"
    " ohne pas jamais sans aucun nunca sin ningun".split()
)
_AGAINST = ("opposite", "different", "turned down")


class Written(msgspec.Struct, frozen=True):
    """What became of a candidate."""

    status: str
    id: str = ""
    standing: str = ""
    why: str = ""
    contested: bool = False


class Writer:
    """Writes the candidates of one run."""

    def __init__(self, project: Project, dry_run: bool) -> None:
        self.project, self.dry_run = project, dry_run
        self.marks = _marks(project)
        self._commits: dict[int, str] = {}

    def write(self, candidate: Candidate, session: Session) -> Written:
        """Record it, or confirm what says the same; nothing for what this very place gave before."""
        mark = _mark(candidate, session)
        if mark in self.marks:
            return Written("known", self.marks[mark])
        self.marks[mark] = ""
        by = hook(CAPTURE, session.id)
        fields = self._fields(candidate, session, mark)
        try:
            again = self._said_again(candidate)
            if again:
                return self._confirm(by, again)
            if self.dry_run:
                validation.prepare(self.project, candidate.kind, dict(fields))
                active = candidate.detector in BY_ITSELF
                return Written("planned", "", "active" if active else "proposed")
            outcome = gateway.record(self.project, by, candidate.kind, fields, detector=candidate.detector)
        except BackstoryError as error:
            if error.code not in (Exit.REFUSED, Exit.USAGE):
                raise
            return Written("refused", why=error.message)
        if outcome.status != "recorded":
            status = {"corroborated": "confirmed"}.get(outcome.status, outcome.status)
            return Written(status, outcome.id, outcome.standing, "; ".join(outcome.notes))
        self.marks[mark] = outcome.id
        return Written("recorded", outcome.id, outcome.standing, contested=self._contest(by, outcome))

    def _fields(self, candidate: Candidate, session: Session, mark: str) -> dict[str, Any]:
        fields = {name: list(value) if isinstance(value, tuple) else value for name, value in candidate.fields.items()}
        fields["summary"] = one_line(str(fields.get("summary", "")), SUMMARY_LIMIT)
        shown = [_place(one, session) for one in candidate.evidence[:_MOST_EVIDENCE]]
        fields["evidence"] = [mark, *shown]
        if candidate.at is not None and candidate.at < self.project.now:
            fields["valid_from"] = format_instant(candidate.at)
            fields["commit"] = self._commit(candidate.at)
        return fields

    def _commit(self, at: int) -> str:
        """The commit that the tree stood on when it happened, to the hour; "" where git does not know."""
        hour = at // 3_600_000_000
        if hour not in self._commits:
            places = self.project.config.places
            self._commits[hour] = commit_before(self.project.root, at) if places.git_dir else ""
        return self._commits[hour]

    def _said_again(self, candidate: Candidate) -> str:
        """A live decision that this one says again."""
        if candidate.kind != "decision":
            return ""
        text = str(candidate.fields.get("summary", ""))
        rows = self.project.db.execute(
            "SELECT e.id, v.body FROM live AS e JOIN events AS v ON v.event = e.entry WHERE e.kind = 'decision'"
            f" AND e.source = 'log' AND e.in_tree = 1 AND {live.IN_FORCE} ORDER BY e.last_at DESC LIMIT :most",
            {"now": self.project.now, "most": _MOST_COMPARED},
        )
        for id_, body in rows:
            if says_again(text, str(read_fields(body.encode("utf-8", "surrogatepass")).get("summary", ""))):
                return str(id_)
        return ""

    def _confirm(self, by: By, id_: str) -> Written:
        if gateway.spoke(self.project, by.session, id_):
            return Written("known", id_)
        if not self.dry_run:
            fields = {"kind": "confirm", "target": id_, "reason": "said again in a later session"}
            gateway.write(self.project, [gateway.operation(self.project, by, fields)])
        return Written("confirmed", id_, gateway.standing_of(self.project, id_))

    def _contest(self, by: By, outcome: gateway.Outcome) -> bool:
        """What a person said now puts in doubt what is recorded and says otherwise, unless a person confirmed that."""
        against = [clash for clash in outcome.clashes if clash.sign in _AGAINST] if outcome.kind == "decision" else []
        for clash in against:
            self._doubt(by, clash, outcome.id)
        return bool(against)

    def _doubt(self, by: By, clash: Clash, id_: str) -> None:
        if gateway.spoke(self.project, by.session, clash.id):
            return
        reason = one_line(f"a later session says otherwise: {clash.why}", 300)
        fields = {"kind": "contest", "target": clash.id, "against": id_, "reason": reason}
        gateway.write(self.project, [gateway.operation(self.project, by, fields)])


def says_again(one: str, other: str) -> bool:
    """Whether two texts say the same: nearly all words are shared, and only one of them has any more.

    One word for another may be all the difference there is (`use tabs`, `use spaces`), and so may a `not`.
    """
    if similarity(one, other) < SAYS_AGAIN:
        return False
    words, others = set(value_key(one).split()), set(value_key(other).split())
    more, less = words - others, others - words
    return not (more and less) and not (more | less) & _TURNS


def _mark(candidate: Candidate, session: Session) -> str:
    """What makes a candidate the same when its transcript is read again."""
    first = candidate.evidence[0]
    several = any(one.session for one in candidate.evidence)
    place = f"{session.client} {session.id} {first.offset}"
    what = candidate.key if several and candidate.key else f"{place} {candidate.which}".rstrip()
    return f"{MARK}{candidate.detector} {blake2b(what.encode(), digest_size=8).hexdigest()}"


def _place(one: Evidence, session: Session) -> str:
    return one_line(f"session {one.session or session.id}#{one.offset}: {one.shows}", 300)


def _marks(project: Project) -> dict[str, str]:
    """The marks of all that capture ever wrote here, with the entries' ids."""
    rows = project.db.execute(
        "SELECT e.id, v.body FROM entries AS e JOIN events AS v ON v.event = e.entry WHERE e.by_kind = 'hook'"
        " AND e.by_name = ? AND e.source = 'log'",
        (CAPTURE,),
    )
    found: dict[str, str] = {}
    for id_, body in rows:
        for text in read_fields(body.encode("utf-8", "surrogatepass")).get("evidence", ()):
            if str(text).startswith(MARK):
                found[str(text)] = str(id_)
    return found
