"""Tickets: Markdown files that say what is to be done, in whatever way a project writes them.

`read` yields a `Ticket` for every one, `Skipped` for what it left out and `Warned` for what it had to guess; it raises
nothing and always yields the same in the same order. The contract is in `docs/history.md`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from backstory.records.times import format_instant
from backstory.sources.frontmatter import Field, Given, Page, block, read_page
from backstory.sources.markdown import name_of, plain
from backstory.sources.skipped import Skipped, Warned, bounded
from backstory.sources.ticket_names import Names, bare, id_before_title, name_key
from backstory.sources.ticket_places import TICKET, Found, discover, read_text, shown
from backstory.sources.values import instant, strings, words

# Looked up by `name_of`: the contract's own name first, then what others write.
STATE, PRIORITY = ("state", "status"), ("priority",)
KEYS = {
    "title": ("title", "subject"),
    "source": ("source", "origin"),
    "kind": ("kind", "type", "issue type"),
    "depends_on": ("depends on", "dependson", "dependencies", "depends", "blocked by", "blockedby", "requires"),
    "touches": ("touches", "files", "modified files", "context files"),
    "created": ("created", "created at", "created date", "createdat", "date", "opened"),
    "updated": ("updated", "updated at", "updated date", "updatedat", "modified", "last updated"),
}
_FIELD_NAMES = frozenset((*STATE, *PRIORITY, *(name for names in KEYS.values() for name in names)))
GOAL = (
    *("goal", "goals", "description", "summary", "objective", "objectives", "overview", "context"),
    *("problem", "problem statement"),
)
WHY = ("why", "motivation", "rationale", "background")
SCOPE = ("scope", "in scope")
ACCEPTANCE = ("acceptance criteria", "acceptance", "definition of done", "done when", "success criteria")
VERIFICATION = ("verification", "how to test", "how to verify", "test plan")
CONTEXT_FILES = ("context files", "touches", "files touched")

_PATH = re.compile(r"[\w@.~-]*(?:/[\w@.*~\[\]{}+-]+)+/?|[\w@-][\w@.-]*\.[A-Za-z]\w{0,9}(?![\w/])")
_LINES = re.compile(r"(?:#L|:)\d+(?:-L?\d+)?$")


@dataclass(frozen=True, slots=True)
class Ticket:
    """One ticket. Texts are None where it says nothing; times are microseconds since the epoch.

    `depends_on_stems` are stems, or the text as written where no ticket of that name is known. `id` is what the
    ticket calls itself (`BACK-168`), which need not be its stem.
    """

    stem: str
    path: str
    title: str
    state: str | None = None
    source: str | None = None
    goal: str | None = None
    why: str | None = None
    scope: str | None = None
    acceptance: str | None = None
    touches_prefixes: tuple[str, ...] = ()
    depends_on_stems: tuple[str, ...] = ()
    created_at: int | None = None
    updated_at: int | None = None
    kind: str | None = None
    priority: str | None = None
    id: str | None = None
    verification: str | None = None


def read(root: str, patterns: Sequence[str] = ()) -> Iterator[Ticket | Skipped | Warned]:
    """Every ticket below `root`, by path; `patterns` are folders and globs, none means the usual places."""
    found, problems = discover(root, patterns)
    tickets = [item for item in found if item.role == TICKET]
    yield from problems
    names = Names(root, tickets)
    stems: dict[str, str] = {}
    ids: dict[str, str] = {}
    for item in tickets:
        text = read_text(root, item.path)
        if isinstance(text, Skipped):
            yield text
            continue
        ticket, warnings = parse_ticket(text[0], item, names.resolve)
        yield ticket
        yield from text[1]
        yield from bounded(warnings)
        yield from _twice(stems, ticket.stem, ticket.path, "stem")
        if ticket.id and name_key(ticket.id) != name_key(ticket.stem):
            yield from _twice(ids, ticket.id, ticket.path, "id")


def _twice(seen: dict[str, str], name: str, path: str, what: str) -> Iterator[Warned]:
    first = seen.setdefault(name_key(name), path)
    if first != path:
        yield Warned(path, 0, f"the {what} {name} is also that of {first}")


# --- one ticket ------------------------------------------------------------------------------------------------


def parse_ticket(
    text: str, item: Found, resolve: Callable[[str], str | None] = lambda name: None
) -> tuple[Ticket, list[Warned]]:
    """The ticket that a text is. `resolve` gives the stem for a name by which another ticket is called."""
    page = read_page(text)
    path, stem = shown(item.path), shown(item.stem)
    warnings = [Warned(path, line, why) for line, why in page.problems]
    below = _below_title(page)
    said = {key: _say(page, below, names) for key, names in KEYS.items()}
    times = {key: _instant(said[key], path, warnings) for key in ("created", "updated")}
    body = page.body
    start, end = body.preamble()
    ticket = Ticket(
        stem=stem,
        path=path,
        title=_line(page.field(KEYS["title"])) or _heading(page) or stem,
        state=_label(page, below, STATE) or item.state,
        source=_line(said["source"]),
        goal=body.prose(GOAL) or _prose_of(page, start, end),
        why=body.prose(WHY),
        scope=body.prose(SCOPE),
        acceptance=body.prose(ACCEPTANCE),
        touches_prefixes=_prefixes(page),
        depends_on_stems=_dependencies(page, said["depends_on"], path, resolve, warnings),
        created_at=times["created"],
        updated_at=times["updated"],
        kind=_line(said["kind"]) or ("milestone" if "/milestones/" in path else None),
        priority=_label(page, below, PRIORITY),
        id=_line(page.fields.get("id")) or id_before_title(stem),
        verification=body.prose(VERIFICATION),
    )
    return ticket, warnings


def _say(page: Page, below: Mapping[str, Field], names: Sequence[str]) -> Field | None:
    """What a page says under one of the names, in its frontmatter or below its title."""
    return page.field(names) or next((below[name] for name in names if name in below), None)


def _below_title(page: Page) -> dict[str, Field]:
    """The lines `- Status: Done` above the first heading that is not the title."""
    body = page.body
    below: dict[str, Field] = {}
    for name, value, at in body.values(*body.preamble()):
        below.setdefault(name, Field(value, body.line_number(at)))
    return below


def _line(field: Field | None) -> str | None:
    return words(field.value) if field else None


def _label(page: Page, below: Mapping[str, Field], names: Sequence[str]) -> str | None:
    """A state or a priority without the tick or the remark that some put beside it. It may be a section of its own."""
    if written := _line(page.field(names)):
        return _unmarked(written)
    said, body = _line(_say(page, below, names)), page.body
    section = None if said else body.find(names)
    if section is not None:
        inside = (value for name, value, _ in body.values(section.start, section.end) if name in names)
        lines = (plain(line).lstrip("-+> ") for line in body.text(section.start, section.end).split("\n"))
        said = section.inline or next(inside, None) or next(filter(None, lines), None)
    return _unmarked(re.split(r"[(,;\u2013\u2014]|\s-\s", said, maxsplit=1)[0]) or said if said else None


def _unmarked(text: str) -> str:
    kept = "".join(char for char in plain(text) if unicodedata.category(char) not in ("So", "Sk", "Mn", "Cf"))
    return " ".join(kept.split())


def _instant(field: Field | None, path: str, warnings: list[Warned]) -> int | None:
    text = _line(field)
    if field is None or text is None:
        return None
    micros, problem = instant(text)
    if problem:
        warnings.append(Warned(path, field.line, problem))
    return micros


def _heading(page: Page) -> str | None:
    title = page.body.title
    return title if name_of(title) not in (*GOAL, *WHY, *SCOPE, *ACCEPTANCE) else None


def _prose_of(page: Page, start: int, end: int) -> str | None:
    """The text below the title where nothing has a heading, without lines such as `Status: Done`."""
    body = page.body
    fields = [at for name, _, at in body.values(start, end) if name in _FIELD_NAMES]
    parts = (
        body.text(first, last) for first, last in zip([start, *(at + 1 for at in fields)], [*fields, end], strict=True)
    )
    return "\n".join(filter(None, parts)).strip() or None


def _prefixes(page: Page) -> tuple[str, ...]:
    """The beginnings of the paths that a ticket touches: a pattern up to its first wildcard."""
    field = page.field(KEYS["touches"])
    if field:
        given = list(strings(field.value))
    else:
        given = [match[0] for line in (page.body.prose(CONTEXT_FILES) or "").split("\n") for match in _paths(line)]
    return tuple(dict.fromkeys(filter(None, map(_prefix, given))))


def _paths(line: str) -> list[re.Match[str]]:
    """The paths of a list item: those in code, else the first word if it looks like one."""
    code = [match for part in re.findall(r"`([^`]+)`", line) if (match := _PATH.match(part))]
    if code or "`" in line:
        return code
    first = _PATH.match(plain(line).lstrip("-+* "))
    return [first] if first else []


def _prefix(text: str) -> str | None:
    path = _LINES.sub("", text.strip().strip("`\"'").replace("\\", "/"))
    path = re.split(r"[*?\[{]", path, maxsplit=1)[0]
    while path.startswith("./"):
        path = path[2:]
    outside = "://" in path or path.startswith(("/", "~")) or ".." in path.split("/")
    return None if outside else path or None


# --- what depends on what --------------------------------------------------------------------------------------


def _dependencies(
    page: Page, said: Field | None, path: str, resolve: Callable[[str], str | None], warnings: list[Warned]
) -> tuple[str, ...]:
    """Stems as far as they are known. Below the title people write sentences, so only known names count there."""
    field = page.field(KEYS["depends_on"])
    stems: dict[str, None] = {}
    if field is None:
        names = strings(re.sub(r"\([^()]*\)", "", str(said.value))) if said else iter(())
        return tuple(dict.fromkeys(stem for name in names if (stem := resolve(bare(name)))))
    for name in filter(None, map(bare, _names(field, resolve))):
        stem = resolve(name)
        if stem is None:
            warnings.append(Warned(path, field.line, f"it depends on {name}, which is no ticket here"))
        stems[stem or name] = None
    return tuple(stems)


def _names(field: Field, resolve: Callable[[str], str | None]) -> Iterator[str]:
    """The names in a value; one name with a comma in it is one name if a ticket has it."""
    whole = field.value
    if isinstance(whole, str) and resolve(bare(whole)) is not None:
        yield whole
    else:
        yield from strings(whole)


# --- writing ---------------------------------------------------------------------------------------------------

_FRONTMATTER = ("title", "state", "source", "kind", "priority", "depends_on", "touches", "created", "updated")
_HEADINGS = {
    "goal": "Goal",
    "why": "Why",
    "scope": "Scope",
    "acceptance": "Acceptance criteria",
    "context_files": "Context files",
    "verification": "Verification",
}


def ticket_text(fields: Mapping[str, Given | None]) -> str:
    """A new ticket: the frontmatter of the given fields and all headings, with the prose that is given.

    `created` and `updated` may be microseconds. Unknown fields come last in the frontmatter.
    """
    keys = [*_FRONTMATTER, *(key for key in fields if key not in _FRONTMATTER and key not in _HEADINGS)]
    given = {key: value for key in keys if (value := fields.get(key)) is not None}
    for key in ("created", "updated"):
        given[key] = instant_text(given[key]) if key in given else ""
    parts = [block({key: value for key, value in given.items() if value != ""})]
    for key, heading in _HEADINGS.items():
        prose = fields.get(key) or ""
        listed = prose if isinstance(prose, str) else "\n".join(f"- {item}" for item in _items(prose))
        parts.append(f"\n## {heading}\n" + (f"\n{listed.strip()}\n" if listed.strip() else ""))
    return "".join(parts)


def _items(value: Given) -> Sequence[str]:
    return [str(value)] if isinstance(value, int | float) else value


def instant_text(value: Given) -> Given:
    """Microseconds as an instant with its zone; a text as it is."""
    return format_instant(value).replace(".000000Z", "Z") if isinstance(value, int) else value
