"""Decision records of the project, as decisions of the memory: computed from their files, in no log.

They are proposed: somebody wrote them for people, and nobody said yet that they hold for agents. One that its file
calls rejected, deprecated or superseded does not count, and says so.
"""

from __future__ import annotations

from hashlib import blake2b

from backstory.index.computed import Computed
from backstory.project.history.sources import Read
from backstory.project.opened import Project
from backstory.records import secrets
from backstory.records.codec import canonical, to_fields
from backstory.records.event import DETAIL_LIMIT, IMPORT, SUMMARY_LIMIT, By, FileRef
from backstory.records.hostile import is_directive, one_line
from backstory.records.ids import new_id
from backstory.records.kinds.decision import Decision
from backstory.records.times import format_instant
from backstory.sources.decision_records import DecisionRecord
from backstory.sources.decision_records import read as read_records

SOURCE = "adr"
_WITHDRAWN = ("rejected", "deprecated", "superseded")
_RATIONALE = 2_000
_MARGIN = 500


def read(project: Project) -> Read:
    """The records of the usual folders and of those that the settings name."""
    found = Read()
    records: list[DecisionRecord] = []
    for item in read_records(project.root, project.config.settings.decisions):
        if isinstance(item, DecisionRecord):
            records.append(item)
        else:
            found.skip("decision_records", item)
    ids = {record.path: entry_id(record) for record in records}
    found.computed[SOURCE] = [_computed(record, ids) for record in records]
    return found


def entry_id(record: DecisionRecord) -> str:
    """The id of the entry that a record makes: from its path and the day it gives."""
    return new_id(record.date or 0, blake2b(f"adr:{record.path}".encode("utf-8", "replace"), digest_size=10).digest())


def _computed(record: DecisionRecord, ids: dict[str, str]) -> Computed:
    entry = _decision(record, ids[record.path])
    gone = record.status in _WITHDRAWN
    successors = tuple(ids[path] for path in record.superseded_by if path in ids) if gone else ()
    return Computed(
        id=entry.id,
        at=entry.at,
        kind=entry.kind,
        body=canonical(to_fields(entry)),
        level="retired" if gone and not successors else "proposed",
        why=f"its file says: {one_line(_plain(record.status_raw), 200) or record.status}" if gone else "",
        successors=successors,
    )


def _decision(record: DecisionRecord, id_: str) -> Decision:
    title, context = _clean(record.title, SUMMARY_LIMIT), _clean(record.context, DETAIL_LIMIT)
    decision = _clean(record.decision, _RATIONALE)
    rejected = tuple(one_line(_clean(option, 300), 300) for option in record.rejected)
    held = "directive" if is_directive("\n".join((title, context, decision))) else ""
    said = f"; status there: {record.status}" if record.status else ""
    return Decision(
        id=id_,
        kind="decision",
        at=format_instant(record.date or 0),
        by=By(kind=IMPORT, name=SOURCE),
        summary=one_line(title, SUMMARY_LIMIT),
        detail=context,
        rationale=decision,
        alternatives_rejected=tuple(option for option in rejected if option)[:20],
        files=tuple(FileRef(_plain(path)) for path in record.files),
        evidence=(f"decision record {_plain(record.path)}{said}",),
        held=held,
    )


def _clean(text: str, limit: int) -> str:
    """The beginning of a text without secrets; one that stands at the cut is seen whole first."""
    return secrets.redact(_plain(text[: limit + _MARGIN])).text.strip()[:limit]


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
