"""What people type: text, from an argument or from stdin, and times."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from backstory.errors import BackstoryError, Exit

# More than any entry holds. What is longer is refused before it is read whole.
MAX_BYTES = 1 << 20
# Of a diff so much is read: a change of more lines is no second attempt at anything.
MAX_DIFF = 64 << 20


def text_of(words: Sequence[str]) -> tuple[str, str]:
    """(text, rest): the words joined, or with `-` alone the first line of stdin and what follows it."""
    if list(words) != ["-"]:
        return " ".join(words), ""
    text = _stdin().strip()
    if not text:
        raise BackstoryError("There was no text on stdin.", hint='Pipe it in, or write it as an argument: "text".')
    first, _, rest = text.partition("\n")
    return first.strip(), rest.strip()


def _stdin() -> str:
    stream = getattr(sys.stdin, "buffer", None)
    data = stream.read(MAX_BYTES + 1) if stream is not None else b""
    if len(data) > MAX_BYTES:
        raise BackstoryError(
            "Nothing was written: the text on stdin is longer than 1 MiB.",
            hint="Say it in one line, and cite a file that holds the rest with `--file PATH`.",
            code=Exit.REFUSED,
        )
    if b"\0" in data:
        raise BackstoryError(
            "Nothing was written: stdin holds NUL bytes, so it is no UTF-8 text.",
            hint="Pipe plain UTF-8 text, and cite a binary file with `--file PATH`.",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BackstoryError(
            "Nothing was written: the text on stdin is not UTF-8.", hint="Convert it to UTF-8 first."
        ) from error


def start_of(text: str | None, name: str) -> int | None:
    """The instant that `text` names; a day means its first moment, in UTC."""
    if text is None:
        return None
    from backstory.project.validation import instant

    return instant(text, name)


def end_of(text: str | None, name: str) -> int | None:
    """As `start_of`, but a day means its last moment: the day itself counts."""
    if text is None:
        return None
    from backstory.project.validation import last_instant

    return last_instant(text, name)


def file_or_stdin(name: str) -> str:
    """The text of the file that `name` names, or of stdin for `-`; what is no UTF-8 in it is replaced."""
    if name == "-":
        stream = getattr(sys.stdin, "buffer", None)
        return stream.read(MAX_DIFF).decode("utf-8", "replace") if stream is not None else ""
    try:
        with open(name, "rb") as file:
            return file.read(MAX_DIFF).decode("utf-8", "replace")
    except OSError as error:
        raise BackstoryError(
            f"{name} cannot be read ({error.strerror}).", hint="Name a file, or `-` for stdin."
        ) from error
