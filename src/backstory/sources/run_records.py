"""Run records: what working on a ticket took, what surprised, and what did not work.

A run record is `<stem>.run.md` beside its ticket, `<stem>/run.md`, or `<stem>/attempts/N/run.md`. `read` yields a
`RunRecord` for every one, `Skipped` for what it left out and `Warned` for what it had to guess; it raises nothing and
always yields the same in the same order. The contract is in `docs/history.md`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backstory.sources import values
from backstory.sources.frontmatter import Field, Given, Page, block, fill, read_page
from backstory.sources.markdown import Section, line_end, name_of, plain, split_lines
from backstory.sources.skipped import Skipped, Warned, bounded
from backstory.sources.ticket_names import Names
from backstory.sources.ticket_places import RUN, TICKET, Found, discover, read_text, shown
from backstory.sources.tickets import instant_text

SURPRISES = (
    "surprises judgment calls",
    "surprises",
    "judgment calls",
    "surprises judgement calls",
    "judgement calls",
    "surprises and judgment calls",
)
DEAD_ENDS = ("dead ends", "dead end", "what did not work", "failed attempts")
PREDICTED_VS_ACTUAL = ("predicted vs actual", "predicted versus actual", "prediction vs actual", "estimate vs actual")

_TEXTS = (
    "outcome",
    "complexity",
    "wall_time_estimate",
    "escalation_reason",
    "predicted_complexity",
    "base_commit",
    "model_exact",
)
_COUNTS = ("actual_files", "predicted_files", "tokens_in", "tokens_out", "tool_calls", "review_iterations")
_MINUTES = ("actual_minutes", "predicted_minutes")
_TIMES = ("started_at", "ended_at")
_ALSO = {
    "wall_time_estimate": ("wall time", "estimated wall time"),
    "escalation_reason": ("escalation",),
    "model_exact": ("model",),
    "started_at": ("started",),
    "ended_at": ("ended", "finished at", "finished"),
    "actual_files": ("files changed",),
}
_ONE_WORD = ("outcome", "complexity", "predicted_complexity")
_ROWS = {"files": "files", "minutes": "minutes", "time": "minutes", "wall time": "minutes", "complexity": "complexity"}
_PAIR = re.compile(r"predicted\W{1,3}(.{1,80}?)[,;|/\s]{1,3}actual\W{1,3}(.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of one ticket. Texts and numbers are None where it says nothing; times are microseconds."""

    ticket_stem: str
    path: str
    attempt: int | None = None
    outcome: str | None = None
    complexity: str | None = None
    wall_time_estimate: str | None = None
    wall_time_minutes: float | None = None
    escalation_reason: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    actual_files: int | None = None
    actual_minutes: float | None = None
    predicted_complexity: str | None = None
    predicted_files: int | None = None
    predicted_minutes: float | None = None
    base_commit: str | None = None
    model_exact: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tool_calls: int | None = None
    review_iterations: int | None = None
    surprises_text: str | None = None
    dead_ends_text: str | None = None


def read(root: str, patterns: Sequence[str] = ()) -> Iterator[RunRecord | Skipped | Warned]:
    """Every run record below `root`, by path; `patterns` are folders and globs, none means the usual places.

    Links and folders that cannot be read are reported by the reader of tickets, which passes the same places.
    """
    found, _ = discover(root, patterns)
    names = Names(root, [item for item in found if item.role == TICKET])
    for item in found:
        if item.role != RUN:
            continue
        text = read_text(root, item.path)
        if isinstance(text, Skipped):
            yield text
            continue
        stem = names.resolve(shown(item.stem))
        record, warnings = parse_run_record(text[0], item, stem)
        yield record
        yield from text[1]
        yield from bounded(warnings)
        if stem is None:
            yield Warned(record.path, 0, f"there is no ticket {record.ticket_stem}")


def parse_run_record(text: str, item: Found, stem: str | None = None) -> tuple[RunRecord, list[Warned]]:
    """The run record that a text is, of the ticket `stem` if that is known."""
    page = read_page(text)
    path = shown(item.path)
    warnings = [Warned(path, line, why) for line, why in page.problems]
    said = _said(page)
    fields: dict[str, Any] = {name: values.words(said[name].value) for name in _TEXTS if name in said}
    fields |= _typed(said, _COUNTS, values.integer, path, warnings)
    fields |= _typed(said, _MINUTES, values.minutes, path, warnings)
    fields |= _typed(said, _TIMES, values.instant, path, warnings)
    estimate = {"wall_time_minutes": said["wall_time_estimate"]} if "wall_time_estimate" in said else {}
    fields |= _typed(estimate, ("wall_time_minutes",), values.minutes, path, warnings)
    fields |= {"surprises_text": _all_prose(page, SURPRISES), "dead_ends_text": _all_prose(page, DEAD_ENDS)}
    return RunRecord(stem or shown(item.stem), path, item.attempt, **fields), warnings


def stated(text: str) -> frozenset[str]:
    """The fields and the prose that a text says anything about, whether or not what it says can be read as a value."""
    page = read_page(text)
    prose = {"surprises_text": SURPRISES, "dead_ends_text": DEAD_ENDS}
    return frozenset((*_said(page), *(name for name, names in prose.items() if _all_prose(page, names))))


def _typed(
    said: Mapping[str, Field],
    names: Sequence[str],
    read_value: Callable[[str], tuple[float | None, str | None]],
    path: str,
    warnings: list[Warned],
) -> dict[str, float | None]:
    """The numbers among the fields. A list of files counts as their number."""
    typed: dict[str, float | None] = {}
    for name in names:
        field = said.get(name)
        if field is None:
            continue
        if isinstance(field.value, str):
            typed[name], problem = read_value(field.value)
        else:
            typed[name], problem = (
                (len(list(values.strings(field.value))), None) if name in _COUNTS else (None, "a list")
            )
        if problem:
            warnings.append(Warned(path, field.line, f"`{name}` is {problem}"))
    return typed


# --- what a page says under which name -------------------------------------------------------------------------


def _said(page: Page) -> dict[str, Field]:
    """Every field that the page states: in its frontmatter, else in its body, else in the table of predictions."""
    in_body = _body_fields(page)
    said: dict[str, Field] = {}
    for name in (*_TEXTS, *_COUNTS, *_MINUTES, *_TIMES):
        names = (name.replace("_", " "), *_ALSO.get(name, ()))
        field = page.field(names) or next((in_body[key] for key in names if key in in_body), None)
        if field is not None:
            said[name] = field
    for name, field in _compared(page):
        said.setdefault(name, field)
    return said


def _body_fields(page: Page) -> dict[str, Field]:
    """Lines such as `- Outcome: done` outside of prose, and headings such as `## Outcome` with the word below."""
    body = page.body
    prose = [section for name in (*SURPRISES, *DEAD_ENDS) for section in body.by_name.get(name, ())]
    found: dict[str, Field] = {}
    for name, value, at in body.values(0, len(body.lines)):
        if not any(section.start <= at < section.end for section in prose):
            found.setdefault(name, Field(value, body.line_number(at)))
    for section in body.sections:
        said = section.inline or _first_line(page, section)
        if said:
            text = _word(said) if section.name.replace(" ", "_") in _ONE_WORD else said
            found.setdefault(section.name, Field(text, body.line_number(section.head)))
    return found


def _first_line(page: Page, section: Section) -> str:
    lines = (plain(line).lstrip("-+> ") for line in page.body.text(section.start, section.end).split("\n"))
    return next((line for line in lines if line), "")


def _word(text: str) -> str:
    """`done` of `done, after a second look`."""
    return re.split(r"[.,;:(\u2013\u2014]|\s-\s", text, maxsplit=1)[0].strip() or text


def _compared(page: Page) -> Iterator[tuple[str, Field]]:
    """What `## Predicted vs actual` says, as a table or as lines `files: predicted 3, actual 5`."""
    body = page.body
    section = body.find(PREDICTED_VS_ACTUAL)
    columns: list[str] = []
    for at in range(section.start, section.end) if section else ():
        line = body.text(at, at + 1)
        if line.lstrip().startswith("|"):
            cells = [plain(cell) for cell in line.strip().strip("|").split("|")]
            if not columns:
                columns = [name_of(cell) for cell in cells]
            elif kind := _ROWS.get(name_of(cells[0])):
                for column, cell in zip(columns[1:], cells[1:], strict=False):
                    if column in ("predicted", "actual") and cell.strip("-: "):
                        yield f"{column}_{kind}", Field(cell, body.line_number(at))
        elif pair := _PAIR.search(plain(line)):
            kind = _ROWS.get(name_of(line[: line.lower().index("predicted")]))
            for column, text in zip(("predicted", "actual"), pair.groups(), strict=True) if kind else ():
                yield f"{column}_{kind}", Field(text, body.line_number(at))


def _all_prose(page: Page, names: Sequence[str]) -> str | None:
    """The texts of all sections of these names, those inside of one another once."""
    body = page.body
    sections = sorted((s for name in names for s in body.by_name.get(name, ())), key=lambda s: s.head)
    texts, end = [], 0
    for section in sections:
        if section.head >= end:
            end = section.end
            texts += [section.inline, body.text(section.start, section.end)]
    return "\n\n".join(filter(None, texts)) or None


# --- writing ---------------------------------------------------------------------------------------------------

# As the frontmatter of a new record lists them.
_ORDER = """outcome complexity wall_time_estimate escalation_reason started_at ended_at actual_files actual_minutes
predicted_complexity predicted_files predicted_minutes base_commit model_exact tokens_in tokens_out tool_calls
review_iterations""".split()
_PROSE = {
    "surprises_text": ("Surprises / judgment calls", SURPRISES),
    "dead_ends_text": ("Dead ends", DEAD_ENDS),
    "predicted_vs_actual": ("Predicted vs actual", PREDICTED_VS_ACTUAL),
}


def run_record_text(fields: Mapping[str, Given | None], existing: str | None = None) -> str:
    """A run record with the fields set; None leaves a field as it is. Times may be microseconds.

    Of an existing one only the lines of the given keys change: unknown keys, comments, order, line ends and every
    character of the prose stay. Given prose is put where a heading has none yet, else it is left out. `existing` is
    the text as it lies on disk, line ends and BOM included.
    """
    given = {key: value for key in (*_ORDER, *fields) if (value := fields.get(key)) is not None and key not in _PROSE}
    given |= {key: instant_text(given[key]) for key in _TIMES if key in given}
    prose = {key: str(fields.get(key) or "").strip() for key in _PROSE}
    if existing is None:
        bodies = (f"\n## {title}\n" + (f"\n{prose[key]}\n" if prose[key] else "") for key, (title, _) in _PROSE.items())
        return block(given) + "".join(bodies)
    text = fill(existing, given)
    for key, (title, names) in _PROSE.items():
        if prose[key]:
            text = _with_prose(text, title, names, prose[key])
    return text


def _with_prose(text: str, title: str, names: Sequence[str], prose: str) -> str:
    """The prose below its heading if nothing stands there yet, or with a new heading at the end."""
    page = read_page(text)
    lines = split_lines(text)
    end = line_end(lines)
    added = prose.replace("\r\n", "\n").replace("\n", end)
    section = page.body.find(names)
    if section is not None:
        if section.inline or page.body.text(section.start, section.end):
            return text
        at = page.body.first_line - 1 + section.start
        lead = "" if lines[at - 1].endswith(("\n", "\r")) else end
        return "".join([*lines[:at], lead, end, added, end, *lines[at:]])
    lead = "" if not text or text.endswith(("\n", "\r")) else end
    return f"{text}{lead}{end}## {title}{end}{end}{added}{end}"
