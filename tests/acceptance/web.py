"""The views of the page as surfaces: asked as a browser asks, and read as a person reads, line by line."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from backstory.records.event import PERSON, By
from tests.web.client import Answer, Client

# What stands in a line of its own, and attributes that are read to somebody or sent back.
_BLOCKS = frozenset("h1 h2 h3 p li tr article section option form pre svg details summary".split())
_WHOLE = frozenset(("article", "tr"))
_ENTRY = frozenset(("entry", "good", "warn", "bad"))
_READ = ("title", "aria-label", "value", "placeholder", "alt")


class _Reader(HTMLParser):
    """Lines of the main part: an entry of a list, a row and an article are one line; tags stand in brackets."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines, self.inside, self.whole, self.tags = [""], False, 0, 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.inside = self.inside or tag == "main"
        if not self.inside:
            return
        if tag in _BLOCKS and not self.whole:
            self.lines.append("")
        if tag in _WHOLE or (tag == "li" and (self.whole or _ENTRY & set(given.get("class", "").split()))):
            self.whole += 1
        if tag == "span" and "tag" in given.get("class", "").split():
            self.lines[-1] += " ["
            self.tags += 1
        self.lines[-1] += "".join(f" {given[name]} " for name in _READ if given.get(name))

    def handle_endtag(self, tag: str) -> None:
        if tag == "main":
            self.inside = False
        if tag == "span" and self.tags:
            self.lines[-1] += "]"
            self.tags -= 1
        if self.whole and tag in (*_WHOLE, "li"):
            self.whole -= 1
            if not self.whole:
                self.lines.append("")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.lines[-1] += re.sub(r"\s+", " ", data)


def visitor(root: str) -> Client:
    """A person who looks at the page."""
    return Client(root, By(kind=PERSON, name="Ada"))


def sent(root: str, address: str) -> Answer:
    """What a person's browser is sent for `address`."""
    return visitor(root).get(address)


def read(root: str, address: str) -> str:
    """What a person reads on the page at `address`, a thing in a line."""
    reader = _Reader()
    reader.feed(sent(root, address).text)
    reader.close()
    lines = (re.sub(r"\[ +", "[", line).replace(" ]", "]").strip() for line in reader.lines)
    return "\n".join(line for line in lines if line)
