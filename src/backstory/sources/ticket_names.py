"""What tickets are called: by their stem, by an id, by a link."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from backstory.sources.ticket_places import Found, read_head, shown

_ID = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*-\d+(?:\.\d+)*|\d+(?:\.\d+)*)(?![\w.])")
_RUN_FILE = re.compile(r"(?:(?P<beside>[^/]+)\.run\.md|(?P<folder>[^/]+)/(?:attempts/\d+/)?run\.md)$", re.IGNORECASE)
_ID_LINE = re.compile(rb"(?:\xef\xbb\xbf)?---\s(?:.*\n)*?id:[ \t]*[\"']?([^\s\"'#]+)")


def id_before_title(stem: str) -> str | None:
    """`back-12` of `back-12 - Add-a-thing`, as Backlog.md names its files."""
    before, dash, _ = stem.partition(" - ")
    return before if dash and _ID.fullmatch(before) else None


def bare(name: str) -> str:
    """A name without the link around it, the folder before it and the ending behind it."""
    name = name.strip().strip("`").removeprefix("[[").removesuffix("]]")
    link = re.fullmatch(r"\[[^\[\]]*\]\(([^()]*)\)", name)
    path = (link[1] if link else name).strip()
    return re.sub(r"(?:/ticket)?\.md$", "", path, flags=re.IGNORECASE).rsplit("/", 1)[-1].lstrip("#")


def stem_of_path(path: str) -> str:
    """The stem of the ticket that a file is, or is a run record of; of a bare stem itself."""
    run = _RUN_FILE.search(path)
    if run:
        return run["beside"] or run["folder"]
    return path.removesuffix("/ticket.md").rpartition("/")[2].removesuffix(".md")


def name_key(name: str) -> str:
    """Equal for names that differ in case or in how their accents are stored."""
    return unicodedata.normalize("NFC", name).casefold()


class Names:
    """Every name by which a ticket may be called: its stem, its id, or the id that its file name begins with.

    `task-12` and `12` mean the ticket of that number under the prefix that most tickets have, if no ticket has the
    prefix `task`: it is what Backlog.md calls tickets until a project chooses a prefix, and old references stay. Of
    two tickets with one id the one outside of an archive is meant.
    """

    def __init__(self, root: str, tickets: Sequence[Found]) -> None:
        self.root = root
        self.tickets = sorted(tickets, key=lambda item: "archive" in item.path.split("/"))
        self.stems: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        prefixes: Counter[str] = Counter()
        for item in self.tickets:
            stem = shown(item.stem)
            self.stems.setdefault(name_key(stem), stem)
            match = _ID.match(stem)
            if match:
                self.ids.setdefault(_id_key(match[1]), stem)
                prefixes[_id_key(match[1]).rpartition("-")[0]] += 1
        usual, count = max(prefixes.items(), key=lambda item: item[1], default=("", 0))
        self.usual = usual if 2 * count > len(tickets) and "task" not in prefixes else ""
        self.heads_read = False

    def resolve(self, name: str) -> str | None:
        """The stem of the ticket that is called so; None if none is known."""
        stem = self.stems.get(name_key(name)) or self.ids.get(_id_key(name))
        if stem is None and not self.heads_read:
            self.heads_read = True
            self._read_heads()
            return self.resolve(name)
        match = _ID.fullmatch(name) if stem is None and self.usual else None
        if match is None:
            return stem
        prefix, _, digits = _id_key(name).rpartition("-")
        return self.ids.get(f"{self.usual}-{digits}") if prefix in ("", "task") else None

    def _read_heads(self) -> None:
        """Learn the ids that only the frontmatter tells."""
        for item in self.tickets:
            if id_before_title(item.stem) is None and (match := _ID_LINE.match(read_head(self.root, item.path))):
                self.ids.setdefault(_id_key(match[1].decode("utf-8", "replace")), shown(item.stem))


def _id_key(name: str) -> str:
    """`BACK-217.02` and `back-217.2` are one id."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", name_key(name))
