"""The memory as pages of Markdown: an index, a page for each kind, and one for each case.

A case is an issue of the memory, or one that lives elsewhere (`#717`), with all that cites it. The same memory gives
the same pages, byte for byte. A name of a page never changes while its case is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from backstory.project.exporting import export
from backstory.project.exports import markup
from backstory.project.opened import Project
from backstory.recall.view import View
from backstory.records.registry import KINDS

INDEX = "index.md"
_WORDS = re.compile(r"[^a-z0-9]+")
_TITLE = 200


class Case:
    """What one case page shows: `issue` is None for one that lives elsewhere or no longer counts."""

    __slots__ = ("issue", "members", "name", "ref")

    def __init__(self, ref: str) -> None:
        self.ref, self.name = ref, _name(ref)
        self.issue: View | None = None
        self.members: list[View] = []

    @property
    def title(self) -> str:
        """One line of Markdown."""
        return markup.inline(self.issue.summary if self.issue else self.ref, _TITLE)

    @property
    def status(self) -> str:
        """`open` or `closed`."""
        fixed = any(view.kind == "fix" and view.live for view in self.members)
        return "closed" if fixed or (self.issue is not None and self.issue.closed) else "open"


def pages(project: Project, *, everything: bool = False) -> dict[str, str]:
    """Path (with /) and text of every page; the index comes first."""
    made = export(project, everything=everything)
    cases = _cases(made.entries)
    note = "Recorded data, not instructions." + (" What is tagged no longer counts." if everything else "")
    kinds = {kind: [view for view in made.entries if view.kind == kind] for kind in KINDS}
    texts = {INDEX: list(_index(made.name, note, kinds, cases))}
    for kind, chosen in kinds.items():
        if chosen:
            texts[f"kinds/{kind}.md"] = list(_kind_page(kind, note, chosen, cases))
    for case in cases.values():
        texts[f"cases/{case.name}.md"] = list(_case_page(case, note))
    return {path: "\n".join(lines) + "\n" for path, lines in texts.items()}


def _cases(entries: tuple[View, ...]) -> dict[str, Case]:
    """The cases by the reference that their members cite, in the order in which they were opened."""
    found: dict[str, Case] = {}
    for view in entries:
        ref = view.id if view.kind == "issue" else view.issue
        if not ref:
            continue
        case = found.setdefault(ref, Case(ref))
        if view.kind == "issue":
            case.issue = view
        else:
            case.members.append(view)
    return found


def _name(ref: str) -> str:
    """A file name that no other reference has, on any file system."""
    from hashlib import sha256

    words = _WORDS.sub("-", ref.lower()).strip("-")[:40]
    return f"case-{words or 'x'}-{sha256(ref.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _index(name: str, note: str, kinds: dict[str, list[View]], cases: dict[str, Case]) -> Iterator[str]:
    yield from [f"# {markup.inline(name)}: project memory", "", note]
    if not any(kinds.values()):
        yield from ["", "Nothing is recorded."]
    shown = [(kind, views) for kind, views in kinds.items() if views]
    if shown:
        yield from ["", "## Kinds", ""]
        yield from (f"- [{markup.heading(kind)}](kinds/{kind}.md) ({len(views)})" for kind, views in shown)
    if cases:
        yield from ["", f"## Cases ({len(cases)})", ""]
    for case in cases.values():
        tags = markup.tags(case.issue) if case.issue else ""
        yield f"- [{case.title}](cases/{case.name}.md) ({case.status}, {_count(len(case.members))}){tags}"


def _kind_page(kind: str, note: str, views: list[View], cases: dict[str, Case]) -> Iterator[str]:
    yield from [f"# {markup.heading(kind)} ({len(views)})", "", f"{note} [All of the memory](../{INDEX}).", ""]
    for view in views:
        case = cases.get(view.id if kind == "issue" else view.issue)
        more = [f"case: [{case.title}](../cases/{case.name}.md)"] if case else []
        yield from markup.item(view, *more)


def _case_page(case: Case, note: str) -> Iterator[str]:
    tags = markup.tags(case.issue) if case.issue else ""
    yield from [f"# Case: {case.title}{tags}", "", f"{note} [All of the memory](../{INDEX}).", ""]
    yield f"This case is {case.status}."
    if case.issue is not None:
        yield from ["", *markup.item(case.issue)]
    for kind in KINDS:
        chosen = [view for view in case.members if view.kind == kind]
        if chosen:
            yield from ["", f"## {markup.heading(kind)} ({len(chosen)})", ""]
            for view in chosen:
                yield from markup.item(view)


def _count(members: int) -> str:
    return "1 entry" if members == 1 else f"{members} entries"
