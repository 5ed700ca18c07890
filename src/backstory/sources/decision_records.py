"""Decision records in a folder of Markdown files: MADR, Nygard, log4brains and what people make of them.

Nothing here raises over what a file holds. Headings are known in several languages; in others the order of Nygard's
form (status, context, decision) tells. Links between records are followed by path, number or name.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain
from urllib.parse import unquote

from backstory.sources.decision_places import FILE_NUMBER, Places, discover, targets_after, targets_in
from backstory.sources.decision_words import (
    APPROVERS,
    ARGUMENTS,
    BY,
    CONSEQUENCES,
    CONTEXT,
    DATE,
    DECIDERS,
    DECISION,
    FILES,
    FIRST_WORDS,
    IN_PART,
    LINKS,
    OPTIONS,
    OVER,
    STATUS,
    status_of,
)
from backstory.sources.frontmatter import Page, read_page
from backstory.sources.markdown import TEXT, Body, Section, name_of, plain
from backstory.sources.skipped import Skipped, Warned
from backstory.sources.ticket_places import read_text, shown
from backstory.sources.values import instant, strings, words

_LONGEST_PROSE = 20_000
_MOST_FILES = 50
# Two names of options that differ in a letter or an ending are one.
_NEARLY = 0.85
_PARAGRAPH = "\n\n"
_PLACEHOLDER = re.compile(r"[\[{<]\s*(?:short |the )?(?:title|name)\b.*|.*\{\{.*|NUMBER\b.*", re.I)
_TITLE_NUMBER = re.compile(r"(?:ADR[-\s#]*)?\d+\s*[.:)\u2013\u2014-]+\s*|ADR[-\s#]*\d+\s+", re.I)
_FILE_DAY = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)[-_]")
_CHOSEN = re.compile(
    r"(?:chosen (?:option|alternative)s?|selected option|選択(?:した|された)?(?:案|オプション|肢)?|採用(?:した)?案|"
    r"gewählte option|选择的?(?:选项|方案)|option retenue|opción elegida|opção escolhida)"
    r"[\s:*_\uff1a]*(?P<rest>[^\n]+)",
    re.I,
)
_QUOTED = re.compile(r"[\"\u201c\u300c](.+?)[\"\u201d\u300d](?=\W|$)|\*\*(.+?)\*\*|\[(.+?)\]\(|`(.+?)`")
_ITEM = re.compile(r"(\s{0,3})(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)")
_LINK = re.compile(r"\]\(<?([^()<>\s]{1,400})")
_REFERENCE_LINK = re.compile(r"\[([^\[\]]+)\](?:\[[^\[\]]*\])?")
_BOLD = re.compile(r"\*\*(.+?)\*\*|__(.+?)__")
_DASH = re.compile(r"\s+[-\u2013\u2014]+\s+|\s*\uff1a\s*")
_CODE = re.compile(r"`([^`\n]{3,200})`")


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """One decision record. `path`, `supersedes`, `superseded_by` and `files` are relative to the project.

    `status` is accepted, proposed, rejected, deprecated or superseded, None if the record does not say; one that an
    accepted record supersedes counts as superseded whatever it says itself. `date` is in microseconds, a day its
    first moment. `rejected` are the considered options without the chosen one, empty where it is not clear which
    that is; `files` are those of the project that the record names; `approvers` are those of the `deciders`
    who are named as more than authors or owners.
    """

    path: str
    title: str
    status: str | None
    status_raw: str
    date: int | None
    deciders: tuple[str, ...]
    context: str
    decision: str
    rejected: tuple[str, ...]
    supersedes: tuple[str, ...]
    superseded_by: tuple[str, ...]
    files: tuple[str, ...]
    approvers: tuple[str, ...] = ()


def read(root: str, folders: Sequence[str] = ()) -> Iterator[DecisionRecord | Skipped | Warned]:
    """The records in the usual folders and in `folders`, by path, then what was left out or read by a guess.

    Folders are relative to `root`; their parts may be globs, case does not count, and all folders below are read.
    """
    paths, problems = discover(root, folders)
    records: list[DecisionRecord] = []
    links: list[_Links] = []
    for path in paths:
        text = read_text(root, path)
        if isinstance(text, Skipped):
            problems.append(text)
            continue
        found = _record(root, path, text[0])
        if isinstance(found, Skipped):
            problems.append(found)
            continue
        records.append(found[0])
        links.append(found[1])
        problems += [*text[1], *found[2]]
    yield from _linked(records, links, problems)
    yield from sorted(set(problems), key=lambda item: (item.file, item.line, item.why))


@dataclass(frozen=True, slots=True)
class _Links:
    """What a record says about others: each set of targets as written, and the line."""

    over: list[tuple[list[str], int]]
    under: list[tuple[list[str], int]]


def _record(root: str, path: str, text: str) -> tuple[DecisionRecord, _Links, list[Warned]] | Skipped:
    page, name = read_page(text), shown(path)
    title = _title(page, path)
    if _PLACEHOLDER.match(title):
        return Skipped(name, 0, "no decision record: a template")
    status_raw, status_line = _status(page)
    context, decision = _prose(page.body)
    if not status_raw and context is None and decision is None:
        return Skipped(name, 0, "no decision record: neither a status nor a context nor a decision")
    status = status_of(status_raw)
    problems = [Warned(name, line, why) for line, why in page.problems]
    if status_raw and status is None:
        problems.append(Warned(name, status_line, f"a status that is none of the five: {status_raw[:60]}"))
    record = DecisionRecord(
        path=name,
        title=title,
        status=status,
        status_raw=status_raw,
        date=_date(page, path),
        deciders=_people(page, DECIDERS),
        context=(context or "")[:_LONGEST_PROSE],
        decision=(decision or "")[:_LONGEST_PROSE],
        rejected=_rejected(page.body, decision or ""),
        supersedes=(),
        superseded_by=(),
        files=_files(root, path, page),
        approvers=_people(page, APPROVERS),
    )
    return record, _links(page, status_raw, status_line), problems


def _title(page: Page, path: str) -> str:
    field = page.field(("title",))
    title = (words(field.value) if field else None) or page.body.title
    bare = _TITLE_NUMBER.sub("", title, count=1) if _TITLE_NUMBER.match(title) else title
    stem = os.path.splitext(posixpath.basename(shown(path)))[0]
    return bare or title or re.sub(r"[-_]+", " ", FILE_NUMBER.sub("", stem)).strip() or stem


def _status(page: Page) -> tuple[str, int]:
    """What stands under the status, and its line."""
    field = page.field(STATUS)
    if field:
        return (words(field.value) or "")[:1_000], field.line
    body = page.body
    section = body.find(STATUS)
    if section:
        text = body.text(section.start, min(section.end, section.start + 20))
        return "\n".join(filter(None, [section.inline, text]))[:1_000], body.line_number(section.head)
    value = _value(body, STATUS)
    return (value[0][:1_000], value[1]) if value else ("", 0)


def _value(body: Body, names: Sequence[str]) -> tuple[str, int] | None:
    """The value and the line of `- Name: value` above the first heading but the title."""
    found = ((value, body.line_number(at)) for name, value, at in body.values(*body.preamble()) if name in names)
    return next(found, None)


def _prose(body: Body) -> tuple[str | None, str | None]:
    """Context and decision; where no heading is known those that follow the status."""
    context = body.find(CONTEXT)
    decision = body.find(DECISION)
    if context is None and decision is None:
        top = [section for section in body.sections if section.level == 2]
        after = next((at for at, section in enumerate(top) if _is_status(body, section)), len(top))
        context, decision = (*top[after + 1 : after + 3], None, None)[:2]
    return _text(body, context), _text(body, decision)


def _is_status(body: Body, section: Section) -> bool:
    text = body.text(section.start, section.end)
    return section.name in STATUS or (len(text) < 200 and status_of(text) is not None)


def _text(body: Body, section: Section | None) -> str | None:
    """The text of a section without its consequences."""
    if section is None:
        return None
    inside = (other for other in body.sections if section.head < other.head < section.end)
    end = next((other.head for other in inside if other.name in CONSEQUENCES), section.end)
    return "\n\n".join(filter(None, [section.inline, body.text(section.start, end)])) or None


def _date(page: Page, path: str) -> int | None:
    field = page.field(DATE)
    section = page.body.find(DATE)
    value = _value(page.body, DATE)
    texts = [
        words(field.value) if field else None,
        value[0] if value else None,
        (section.inline or page.body.text(section.start, section.end)) if section else None,
    ]
    day = _FILE_DAY.match(posixpath.basename(path))
    texts.append("-".join(day.groups()) if day else None)
    moments = (instant(text)[0] for text in texts if text)
    return next((moment for moment in moments if moment is not None), None)


def _people(page: Page, labels: Sequence[str]) -> tuple[str, ...]:
    field = page.field(labels)
    value = _value(page.body, labels)
    names = strings(field.value) if field else value[0].split(",") if value else ()
    plain_names = (plain(name).strip() for name in names)
    return tuple(dict.fromkeys(name for name in plain_names if name and name[0] not in "[{"))


def _rejected(body: Body, decision: str) -> tuple[str, ...]:
    """The considered options but the chosen; none where it is not clear which was chosen."""
    options = _options(body)
    chosen = _CHOSEN.search(decision)
    if chosen:
        taken = _chosen_of(options, chosen["rest"].lstrip())
    else:
        said = f" {name_of(decision.split(_PARAGRAPH, 1)[0])} "
        taken = [option for option in options if len(_option_key(option)) > 3 and f" {_option_key(option)} " in said]
        taken = taken if len(taken) == 1 else []
    return tuple(option for option in options if option not in taken) if taken else ()


def _chosen_of(options: list[str], rest: str) -> list[str]:
    """The options that the text after "Chosen option:" begins with: by name, by a part of it, or nearly by name."""
    quoted = _QUOTED.match(rest)
    said = next(filter(None, quoted.groups())) if quoted else re.split(r",|\.\s|\bbecause\b", rest)[0]
    key = _option_key(_lead(said)) or _option_key(said)
    same = [option for option in options if _option_key(option) == key]
    part = [option for option in options if len(key) > 2 and (key in _option_key(option) or _option_key(option) in key)]
    near = [option for option in options if SequenceMatcher(None, key, _option_key(option)).ratio() >= _NEARLY]
    return same or part or (near if len(near) == 1 else [])


def _options(body: Body) -> list[str]:
    """The considered options, each once: headings, else list items."""
    section = body.find(OPTIONS)
    items: list[str] = []
    if section:
        lines = zip(body.lines[section.start : section.end], body.kinds[section.start : section.end], strict=True)
        matches = [match for line, kind in lines if kind == TEXT and (match := _ITEM.match(line))]
        items = [match[2] for match in matches if len(match[1]) == len(matches[0][1])]
    heads = _inside(body, section or body.find(ARGUMENTS))
    return list(dict.fromkeys(option for option in map(_lead, heads or items) if option))


def _inside(body: Body, section: Section | None) -> list[str]:
    """The headings directly below that of a section, without those of the decision, which some put there too."""
    if section is None:
        return []
    heads = (other for other in body.sections if section.head < other.head < section.end)
    below = (other for other in heads if other.level == section.level + 1)
    return [other.title for other in below if other.name not in DECISION and other.name not in CONSEQUENCES]


def _lead(item: str) -> str:
    """The name of an option without the remark behind it."""
    bold = _BOLD.match(item)
    name = (bold[1] or bold[2]) if bold else _DASH.split(plain(item), maxsplit=1)[0]
    return plain(_REFERENCE_LINK.sub(r"\1", name)).strip().rstrip(" .:;,")


def _option_key(option: str) -> str:
    return re.sub(r"^(?:option|alternative) \w{1,2} ", "", name_of(option))


def _files(root: str, path: str, page: Page) -> tuple[str, ...]:
    """The files of the project that the record names, in code or links or in its fields."""
    field = page.field(FILES)
    body = page.body
    texts = (line for line, kind in zip(body.lines, body.kinds, strict=True) if kind == TEXT)
    spans = chain.from_iterable(chain(_CODE.findall(line), _LINK.findall(line)) for line in texts)
    candidates = dict.fromkeys(chain(strings(field.value) if field else (), spans))
    found: dict[str, None] = {}
    for name in candidates:
        if len(found) < _MOST_FILES and ("/" in name or "." in name) and not re.search(r"[\s\0:?#*]", name):
            for base in ("", posixpath.dirname(path)):
                there = posixpath.normpath(posixpath.join(base, unquote(name)))
                if not there.startswith(("..", "/")) and there != path and _is_file(os.path.join(root, there)):
                    found.setdefault(shown(there))
                    break
    return tuple(found)


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path) and not os.path.islink(path)
    except ValueError:
        return False


def _links(page: Page, status_raw: str, status_line: int) -> _Links:
    """What the fields, the status, the lines above the first heading and the list of links say."""
    links = _Links([], [])
    for names, kept in ((("supersedes", "replaces"), links.over), (("superseded by", "replaced by"), links.under)):
        field = page.field(names)
        if field:
            kept += [(targets_in(name) or [name], field.line) for name in strings(field.value)]
    body = page.body
    status = [section for section in body.sections if section.name in STATUS]
    spans = [body.preamble(), *((section.start, section.end) for section in status)]
    lines = [(line, status_line) for line in status_raw.split("\n")] + _lines(body, spans)
    related = [(section.start, section.end) for section in body.sections if section.name in LINKS]
    # There a line that says it of another record, or says that it is not so, is as common as one that means it.
    lines += [(line, number) for line, number in _lines(body, related) if FIRST_WORDS.match(line)]
    said: set[str] = set()
    for line, number in lines:
        by = BY.search(line)
        match = by or OVER.search(line)
        if match and not IN_PART.search(line) and line.strip() not in said:
            said.add(line.strip())
            targets = targets_after(line[match.end() :]) or targets_in(line[: match.start()])
            (links.under if by else links.over).extend([(targets, number)] if targets else [])
    return links


def _lines(body: Body, spans: list[tuple[int, int]]) -> list[tuple[str, int]]:
    return [(body.lines[at].rstrip(), body.line_number(at)) for start, end in spans for at in range(start, end)]


def _linked(
    records: list[DecisionRecord], links: list[_Links], problems: list[Skipped | Warned]
) -> Iterator[DecisionRecord]:
    """The records with their links to each other, each link known at both ends."""
    places = Places(record.path for record in records)
    over: defaultdict[str, set[str]] = defaultdict(set)
    under: defaultdict[str, set[str]] = defaultdict(set)
    for record, said in zip(records, links, strict=True):
        for links_of, there, back in ((said.over, over, under), (said.under, under, over)):
            for targets, line in links_of:
                found = {path for target in targets for path in places.find(target, record.path)} - {record.path}
                there[record.path] |= found
                for path in found:
                    back[path].add(record.path)
                if not found:
                    problems.append(Warned(record.path, line, f"a link to no record: {targets[0][:80]}"))
    accepted = {record.path for record in records if record.status == "accepted"}
    for record in records:
        gone = record.status in ("accepted", None) and not accepted.isdisjoint(under[record.path])
        yield replace(
            record,
            status="superseded" if gone else record.status,
            supersedes=tuple(sorted(over[record.path])),
            superseded_by=tuple(sorted(under[record.path])),
        )
