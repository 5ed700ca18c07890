"""A file's bytes as text and back, with nothing lost: byte order mark, line ends, a missing last line end.

Promise: `packed(unpacked(data), text)` is `data` where the text is unchanged. A file that is no UTF-8 raises
`BackstoryError` with its name and line, and is never rewritten.
"""

from __future__ import annotations

import codecs
from typing import NamedTuple

from backstory.errors import BackstoryError, Exit

MEND_HINT = "Nothing was written there. Mend the file and run the command again."


class FileText(NamedTuple):
    """Text without its byte order mark, the line end that prevails in it, and the name to speak of it by."""

    text: str
    name: str
    newline: str = "\n"
    bom: bool = False


def unpacked(data: bytes, name: str) -> FileText:
    """The text of a file; `BackstoryError` (refused) when its bytes are no UTF-8."""
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise BackstoryError(f"{name}: line {line} is no UTF-8.", hint=MEND_HINT, code=Exit.REFUSED) from error
    crlf = text.count("\r\n")
    return FileText(text, name, "\r\n" if crlf * 2 > text.count("\n") else "\n", bom)


def packed(file: FileText, text: str) -> bytes:
    """The bytes of `text` in the form that `file` had."""
    return (codecs.BOM_UTF8 if file.bom else b"") + text.encode("utf-8")


def unfit(file: FileText, place: int, what: str) -> BackstoryError:
    """Why a file cannot be edited: `what` is said of the line that holds the character at `place`."""
    line = file.text.count("\n", 0, place) + 1
    return BackstoryError(f"{file.name}: line {line} {what}.", hint=MEND_HINT, code=Exit.REFUSED)
