"""Writes a new ticket: in the first place that exists, under a name that no other ticket has, and never over a file.

In a tree of Backlog.md it is written as that tool would, with the next id. Everywhere else it is a file of our own
contract, named after its title; a file `ticket.md` in a folder of that name where most tickets of the place are so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from backstory.errors import BackstoryError, Exit
from backstory.log.lock import held
from backstory.project import slugs
from backstory.project.opened import Project
from backstory.project.paths import relative
from backstory.project.prose import Prose
from backstory.project.ticket_tree import TicketTree, create_seen, folder_for_new
from backstory.records.times import format_date
from backstory.sources import backlog_md, tickets
from backstory.sources.backlog_md import Backlog
from backstory.sources.frontmatter import Given
from backstory.sources.ticket_names import bare, name_key
from backstory.sources.ticket_places import RUN, STATES, TICKET, shown

STATE = "open"
_PROSE = ("goal", "why", "scope", "verification")
_LINES = ("state", "kind", "priority", "source")
SECOND = 1_000_000


class NewTicket(msgspec.Struct, frozen=True):
    """A ticket that was written. `stem` is its name everywhere; `id` what Backlog.md calls it, else ""."""

    stem: str
    path: str
    title: str
    state: str
    id: str = ""
    redacted: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def new_ticket(
    project: Project, title: str, fields: Mapping[str, Any], *, stem: str = "", folder: str = "", cwd: str = ""
) -> NewTicket:
    """Write a ticket. `fields` are texts (goal, why, scope, verification, state, kind, priority, source) and lists
    of texts (acceptance, touches, depends_on); empty ones are left out. `BackstoryError`, and nothing written, to
    refuse.
    """
    prose = Prose()
    given: dict[str, Given] = {"title": prose.line(title, "the title")}
    if not given["title"]:
        raise BackstoryError("A ticket needs a title.", hint='`backstory ticket new "What is to be done"`')
    given |= {name: prose.block(fields.get(name) or "") for name in _PROSE}
    given |= {name: prose.line(fields.get(name) or "", name) for name in _LINES}
    given["acceptance"] = [prose.line(text, "a criterion") for text in fields.get("acceptance", ())]
    given["touches"] = [_touched(project, prose.line(path, "a path"), cwd) for path in fields.get("touches", ())]
    names = [prose.line(name, "a stem") for name in fields.get("depends_on", ())]
    chosen = slugs.checked(stem) if stem else ""
    with held(project.config.places.shared_dir):
        tree = TicketTree(project.config)
        given["depends_on"], notes = _dependencies(tree, names)
        place = _place(project, folder, cwd)
        made = _write(project, tree, place, chosen, {name: value for name, value in given.items() if value})
    return msgspec.structs.replace(made, redacted=prose.redacted, notes=(*made.notes, *notes))


def _touched(project: Project, path: str, cwd: str) -> str:
    """A path or pattern relative to the project; a `/` behind a folder stays, as it keeps out `src/uploads`."""
    place = relative(project.root, path, cwd)
    if not place:
        raise BackstoryError("The project's own folder says nothing.", hint="Name files or folders in it.")
    return f"{place}/" if path.rstrip().endswith(("/", "\\")) else place


def _dependencies(tree: TicketTree, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The stems of the tickets that are meant, each once, and notes on names that none has."""
    stems: dict[str, None] = {}
    notes = []
    for name in filter(None, names):
        known = tree.known(name)
        if known is None:
            notes.append(f"it depends on {name}, which is no ticket here: kept as written")
        stems[shown(known.stem) if known else bare(name)] = None
    return list(stems), notes


def _place(project: Project, folder: str, cwd: str) -> str:
    if not folder:
        return folder_for_new(project.config)
    place = relative(project.root, folder, cwd)
    if not place:
        raise BackstoryError("Tickets have a folder of their own.", hint="Use `--folder tickets`.")
    return place


# --- where it goes and how it is written -----------------------------------------------------------------------


def _write(project: Project, tree: TicketTree, place: str, chosen: str, given: dict[str, Given]) -> NewTicket:
    backlog = _backlog_around(project.root, place)
    if backlog is not None:
        return _write_task(project, tree, backlog, place, chosen, given)
    title, notes = str(given["title"]), []
    stem = chosen or slugs.slug(title) or f"ticket-{format_date(project.now)}"
    if chosen and _is_taken(tree, chosen):
        raise _taken(chosen)
    if not chosen and _is_taken(tree, stem):
        notes = [f"{stem} is the name of another ticket"]
        stem = next(name for number in range(2, 100_000) if not _is_taken(tree, name := f"{stem}-{number}"))
    parts = place.lower().split("/")
    if not STATES.intersection((*parts[1:], parts[-1])):  # the readers take the state from such a folder
        given.setdefault("state", STATE)
    # To the second: what a person would write.
    text = tickets.ticket_text(given | {"created": project.now // SECOND * SECOND})
    path = f"{place}/{stem}/ticket.md" if _in_folders(tree, place) else f"{place}/{stem}.md"
    seen = create_seen(project.config, [path], text, TICKET)
    return NewTicket(
        shown(seen.stem), shown(seen.path), title, str(given.get("state", seen.state or "")), notes=tuple(notes)
    )


def _is_taken(tree: TicketTree, stem: str) -> bool:
    """Whether another ticket has the name, or run records of a ticket that is gone."""
    key = name_key(stem)
    return tree.known(stem) is not None or any(item.role == RUN and name_key(item.stem) == key for item in tree.found)


def _taken(stem: str) -> BackstoryError:
    return BackstoryError(
        f"Nothing was written: {stem} is the name of another ticket, or of run records.",
        hint=f"Choose another `--stem`, or leave it out; `backstory ticket show {stem}` shows what has the name.",
        code=Exit.REFUSED,
    )


def _in_folders(tree: TicketTree, place: str) -> bool:
    """Whether most tickets of a place have a folder each."""
    paths = [item.path for item in tree.tickets() if item.path.startswith(f"{place}/")]
    return 2 * sum(os.path.basename(path).lower() == "ticket.md" for path in paths) > len(paths)


def _backlog_around(root: str, place: str) -> Backlog | None:
    """The tree of Backlog.md that a folder is the top of or lies in."""
    parts = place.split("/")
    folders = ("/".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((found for folder in folders if (found := backlog_md.backlog_at(root, folder))), None)


def _write_task(
    project: Project, tree: TicketTree, backlog: Backlog, place: str, chosen: str, given: dict[str, Given]
) -> NewTicket:
    if chosen:
        raise BackstoryError(
            f"Backlog.md names the tickets in {backlog.folder}/ by id and title, not by a stem.",
            hint="Leave `--stem` out, or put the ticket elsewhere with `--folder`.",
        )
    where = f"{backlog.folder}/{backlog_md.TASKS}" if place == backlog.folder else place
    draft = f"{backlog.folder}/{backlog_md.DRAFTS}"
    prefix = "draft" if where == draft else backlog.prefix
    mine = [item.stem for item in tree.tickets() if item.path.startswith(f"{backlog.folder}/")]
    id_ = backlog_md.next_id(prefix, mine, backlog.digits)
    title = str(given["title"])
    given.setdefault("state", "Draft" if where == draft else backlog.state)
    given["depends_on"] = [backlog_md.id_of(stem) for stem in _listed(given.get("depends_on"))]
    text = backlog_md.ticket_text(id_, given, project.now)
    seen = create_seen(project.config, [f"{where}/{backlog_md.stem_of(id_, title)}.md"], text, TICKET)
    return NewTicket(shown(seen.stem), shown(seen.path), title, str(given["state"]), id_)


def _listed(value: Given | None) -> Sequence[str]:
    return value if isinstance(value, list) else ()
