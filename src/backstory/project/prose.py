"""Texts that people and agents hand in for a file of the tree: without secrets, and as a file can hold them."""

from __future__ import annotations

import re

from backstory.errors import BackstoryError, Exit
from backstory.records import secrets
from backstory.sources.markdown import CODE, read_body, split_lines

WITHHELD = "[withheld: the redaction of secrets failed]"
LINE_LIMIT = 300
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Prose:
    """Cleans one text after the other; `redacted` are the kinds of secrets that were taken out, each once."""

    def __init__(self) -> None:
        self._found: list[str] = []

    @property
    def redacted(self) -> tuple[str, ...]:
        """The kinds of secrets found so far."""
        return tuple(dict.fromkeys(self._found))

    def text(self, text: str) -> str:
        """Several lines. Fails closed: what cannot be checked is withheld."""
        plain = text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        try:
            result = secrets.redact(_CONTROL.sub("", plain).strip())
        except Exception:  # noqa: BLE001 (any fault of a pattern must not let the text through)
            self._found.append("withheld")
            return WITHHELD
        self._found.extend(result.kinds)
        return result.text

    def block(self, text: str) -> str:
        """Several lines of Markdown, a fence of code in it closed: else it would take in what follows."""
        lines = split_lines(self.text(text))
        for fence in ("```", "~~~", "`" * 8, "~" * 8):
            if not lines or read_body([*lines, "\n", "text"]).kinds[-1] != CODE:
                break
            lines = [*lines, "" if lines[-1].endswith("\n") else "\n", fence]
        return "".join(lines)

    def line(self, text: str, name: str) -> str:
        """One line; `BackstoryError` if it is longer than a line may be."""
        line = " ".join(self.text(text).split())
        if len(line) > LINE_LIMIT:
            raise BackstoryError(
                f"Nothing was written: {name} has {len(line):,} characters; {LINE_LIMIT} is the limit.",
                hint="Say it in one line, and the rest where there is room for prose.",
                code=Exit.REFUSED,
            )
        return line
