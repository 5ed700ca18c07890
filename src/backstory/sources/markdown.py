"""Markdown as people write it: lines, where the frontmatter ends, headings outside of code, and what stands below them.

Nothing here raises, whatever the text. Line ends may be LF, CRLF or CR. Headings are ATX or setext; one inside a fence
of backticks or tildes or inside an HTML comment is none. An HTML comment that is never closed hides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

TEXT, CODE, COMMENT = 0, 1, 2

# No other separator ends a line in Markdown or YAML, whatever `str.splitlines` thinks.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t\r\n]|$)")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
# After a line of these kinds a row of dashes is a rule, not the underline of a heading.
_NO_PARAGRAPH = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|[>|<]|$)|\t| {4}")
_FENCE_OPEN = re.compile(r"(?: {0,3}|\s*(?:[-*+]|\d{1,9}[.)])\s+)(`{3,}(?!.*`)|~{3,})")
_FENCE_CLOSE = re.compile(r"\s*(`{3,}|~{3,})\s*$")
_COMMENT_ONLY = re.compile(r"\s*(?:<!--(?:(?!-->).)*-->\s*)+$")
_MARK = re.compile(r"\s*<!--\s*([\w:]{1,80}):(BEGIN|END)\s*-->")
_MARKS = re.compile(r"[\[`*_<]")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_NUMBERING = re.compile(r"\d+(?:\.\d+)*(?:[.)]|(?<=\.\d))\s+")
_FIELD = re.compile(
    r"""\s{0,3}(?:[-*+]\s+|>\s?)?[*_]{0,2}
        ([^\W_][\w /.-]{0,40}?)
        [*_]{0,2}\s*:\s*[*_]{0,2}\s+?(\S.*)?$""",
    re.VERBOSE,
)
_ROW = re.compile(r"\s*\|([^|]+)\|([^|]+)\|\s*$")


def split_lines(text: str) -> list[str]:
    """The lines with their ends; joined they are `text` again."""
    return _LINE.findall(text)


def line_end(lines: Sequence[str]) -> str:
    r"""How most of the lines end; `\n` where none does."""
    ends = [line[len(line.rstrip("\r\n")) :] for line in lines]
    return max(("\n", "\r\n", "\r"), key=ends.count)


def plain(text: str) -> str:
    """The text of a heading or a value without marks of emphasis, code, links and comments."""
    if not _MARKS.search(text):
        return " ".join(text.split())
    text = _LINK.sub(r"\1", _without_comments(text))
    return " ".join(text.replace("**", "").replace("__", "").replace("`", "").split()).strip("*")


def _without_comments(text: str) -> str:
    kept, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept.append(text[at:start])
        at = end + 3
    return "".join([*kept, text[at:]])


def name_of(text: str) -> str:
    """What a heading or a key is looked up by: no case, numbering or punctuation, single spaces."""
    bare = _NUMBERING.sub("", plain(text), count=1) if text[:1].isdigit() else plain(text)
    return " ".join(re.sub(r"[\W_]+", " ", bare.casefold()).split())


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what it governs, up to the next one of its level or above. Indices are of body lines.

    Of `## Status: Done` the name is `status` and `inline` is `Done`.
    """

    level: int
    name: str
    title: str
    inline: str
    head: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Body:
    """The lines after the frontmatter, the first of which is line `first_line` of its file."""

    lines: list[str]
    first_line: int
    kinds: bytearray
    sections: list[Section]
    by_name: dict[str, list[Section]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The first heading of level 1, or ""."""
        return next((section.title for section in self.sections if section.level == 1), "")

    def text(self, start: int, end: int) -> str:
        """Lines joined by LF without lines that only hold comments, and without empty ones at both ends."""
        kept = [line.rstrip("\r\n") for line, kind in self._lines(start, end) if kind != COMMENT]
        return "\n".join(kept).strip("\n").rstrip()

    def find(self, names: Sequence[str]) -> Section | None:
        """The section of the first name, else the first in the text that has one of the others; one with text first."""
        others = sorted(chain.from_iterable(self.by_name.get(name, ()) for name in names[1:]), key=lambda s: s.head)
        ordered = [*self.by_name.get(names[0], ()), *others]
        full = (section for section in ordered if section.inline or self.text(section.start, section.end))
        return next(full, ordered[0] if ordered else None)

    def prose(self, names: Sequence[str]) -> str | None:
        """The text of `find`, or None if there is none."""
        section = self.find(names)
        if section is None:
            return None
        text = self.text(section.start, section.end)
        return "\n\n".join(part for part in (section.inline, text) if part) or None

    def preamble(self) -> tuple[int, int]:
        """The lines above the first heading that is not the title."""
        heads = self.sections[:2]
        if heads and heads[0].level == 1 and not self.text(0, heads[0].head):
            return heads[0].start, heads[1].head if len(heads) > 1 else len(self.lines)
        return 0, heads[0].head if heads else len(self.lines)

    def values(self, start: int, end: int) -> Iterator[tuple[str, str, int]]:
        """Name, value and index of lines such as `- **Status:** Done`, `Status: Done` and `| Status | Done |`."""
        for at, (line, kind) in enumerate(self._lines(start, end), start):
            match = (_FIELD.match(line) or _ROW.match(line)) if kind == TEXT else None
            if match and match[2] and plain(match[2]):
                yield name_of(match[1]), plain(match[2]), at

    def line_number(self, at: int) -> int:
        """The line of the file that body line `at` is."""
        return self.first_line + at

    def _lines(self, start: int, end: int) -> Iterator[tuple[str, int]]:
        return zip(self.lines[start:end], self.kinds[start:end], strict=True)


def read_body(lines: list[str], first_line: int = 1) -> Body:
    """The sections of `lines`."""
    kinds = _kinds(lines)
    heads = list(_headings(lines, kinds))
    ends = [len(lines)] * len(heads)
    open_heads: list[int] = []
    for at, (_, head, _, level) in enumerate(heads):
        while open_heads and heads[open_heads[-1]][3] >= level:
            ends[open_heads.pop()] = head
        open_heads.append(at)
    body = Body(lines, first_line, kinds, [])
    marked = _marked(lines, kinds)
    for (title, head, start, level), last in zip(heads, ends, strict=True):
        first = next((at for at in range(start, last) if lines[at].strip()), start)
        end = max(last, marked.get(first, 0))
        before, colon, after = title.partition(":")
        inline = after.strip() if colon and before.strip() else ""
        section = Section(level, name_of(before if inline else title), title, inline, head, start, end)
        body.sections.append(section)
        if level > 1 or not inline:  # `# Summary: of a ticket` is a title, and governs the whole text
            body.by_name.setdefault(section.name, []).append(section)
    return body


def _marked(lines: Sequence[str], kinds: bytearray) -> dict[int, int]:
    """Where text ends that begins with a comment `NAME:BEGIN`, by the line of that comment.

    Between such comments of Backlog.md a section may hold headings of its own level.
    """
    begun: dict[str, int] = {}
    ends: dict[int, int] = {}
    for at, line in enumerate(lines):
        match = _MARK.match(line) if kinds[at] == COMMENT else None
        if match and match[2] == "BEGIN":
            begun[match[1]] = at
        elif match and match[1] in begun:
            ends[begun.pop(match[1])] = at
    return ends


def _kinds(lines: Sequence[str]) -> bytearray:
    """Of each line whether it is text, code or a comment."""
    kinds = bytearray(len(lines))
    last_close = max((at for at, line in enumerate(lines) if "-->" in line), default=-1)
    fence, in_comment = "", False
    for at, line in enumerate(lines):
        if in_comment:
            kinds[at] = COMMENT
            in_comment = "-->" not in line
        elif fence:
            kinds[at] = CODE
            closing = _FENCE_CLOSE.match(line)
            fence = "" if closing and closing[1].startswith(fence) else fence
        elif opening := _FENCE_OPEN.match(line):
            kinds[at], fence = CODE, opening[1]
        elif line.lstrip().startswith("<!--"):
            if _COMMENT_ONLY.match(line):
                kinds[at] = COMMENT
            elif "-->" not in line and at < last_close:
                kinds[at], in_comment = COMMENT, True
    return kinds


def _headings(lines: Sequence[str], kinds: bytearray) -> Iterator[tuple[str, int, int, int]]:
    """Title, first line, first line below, and level of each heading."""
    conflict = paragraph = False
    for at, line in enumerate(lines):
        if kinds[at] != TEXT:
            paragraph = kinds[at] == CODE
            continue
        if line.startswith(("<<<<<<< ", ">>>>>>> ")):  # between them a row of `=` is no underline
            conflict = line[0] == "<"
        elif atx := _ATX.match(line):
            yield plain(re.sub(r"(?:^|[ \t])#+\s*$", "", line[atx.end() :].rstrip())), at, at + 1, len(atx[1])
            paragraph = False
            continue
        elif not paragraph and _underlined(lines, kinds, at) and not (conflict and lines[at + 1][0] == "="):
            yield plain(line), at, at + 2, 1 if lines[at + 1].lstrip()[0] == "=" else 2
            continue
        paragraph = bool(line.strip()) and not _is_rule(line)


def _underlined(lines: Sequence[str], kinds: bytearray, at: int) -> bool:
    """Whether the line is a setext heading. Of several lines none is taken for one, as a rule below prose is common."""
    below = at + 1
    if below == len(lines) or kinds[below] != TEXT or _NO_PARAGRAPH.match(lines[at]) or _is_rule(lines[at]):
        return False
    return _is_rule(lines[below])


def _is_rule(line: str) -> bool:
    return bool(_SETEXT.match(line.rstrip("\r\n")))
