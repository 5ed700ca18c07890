"""The terminal: encodings, width and colour. Text that was stored never reaches it raw.

Output that goes to a file or a pipe is UTF-8 and is not wrapped; a console that is not UTF-8 keeps its encoding and
gets plain letters for the few marks that we use ourselves.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from backstory.errors import BackstoryError, Exit

_PLAIN = {"\u2014": "-", "\u2013": "-", "\u2026": "...", "\u2039": "<", "\u203a": ">", "\u2019": "'"}
# Marks that reorder or hide text. Tables, not patterns: compiling those costs each command 2 ms.
_HIDDEN = (
    *range(0x7F, 0xA0), 0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2060, 0x2070),
    0xFEFF, *range(0xE0000, 0xE0080),
)  # fmt: skip
_DROPPED = dict.fromkeys((*range(9), *range(0x0B, 0x20), *_HIDDEN))
_CODES = {
    "bold": "\x1b[1m",
    "dim": "\x1b[2m",
    "red": "\x1b[31m",
    "green": "\x1b[32m",
    "yellow": "\x1b[33m",
}
MIN_WIDTH, MAX_WIDTH = 40, 120
PATIENCE_SECONDS = 1.0


def prepare() -> None:
    """Make both streams able to write anything."""
    codecs.register_error("backstory", _plain)
    # A stream that the caller closed is absent.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        unicode = (stream.encoding or "").lower().replace("-", "").replace("_", "").startswith("utf")
        if unicode or stream.isatty():
            stream.reconfigure(errors="replace" if unicode else "backstory")
        else:
            stream.reconfigure(encoding="utf-8", errors="replace")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_PLAIN.get(letter, "?") for letter in text), error.end


def clean(text: str) -> str:
    """Text as a terminal may show it: line ends and tabs stay, nothing else that acts."""
    return text if text.isascii() and text.isprintable() else text.replace("\r\n", "\n").translate(_DROPPED)


def escaped(text: str) -> str:
    """JSON whose strings hold no hidden character as itself: a program reads the same text, a terminal sees letters."""
    return text if text.isascii() else text.translate({code: _escape(chr(code)) for code in _HIDDEN})


def _escape(letter: str) -> str:
    units = letter.encode("utf-16-be")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2))


def line_of(text: object) -> str:
    """Text in one line, as a terminal may show it."""
    return " ".join(clean(str(text)).split())


def coloured() -> bool:
    """Whether stdout is a terminal that wants colour."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def paint(text: str, colour: str) -> str:
    """`text` in a colour of `_CODES`, where colour is wanted."""
    return f"{_CODES[colour]}{text}\x1b[0m" if text and coloured() else text


def columns() -> int:
    """Columns to wrap at; 0 where output is no terminal and is not wrapped."""
    if not sys.stdout.isatty():
        return 0
    try:
        given = int(os.environ.get("COLUMNS", "0")) or os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        given = 80
    return max(MIN_WIDTH, min(given, MAX_WIDTH))


def wrap(text: str, indent: int, first: int = 0) -> str:
    """`text` (one paragraph, colours allowed) with later lines indented, the first one begun `first` columns in."""
    width = columns()
    if not width:
        return text
    lines, room = [""], width - first
    for word in text.split(" "):
        size = shown_width(word)
        if lines[-1] and size + 1 > room:
            lines.append("")
            room = width - indent
        joint = " " if lines[-1] else ""
        lines[-1] += joint + word
        room -= size + len(joint)
    return f"\n{' ' * indent}".join(lines)


def shown_width(text: str) -> int:
    """The columns that a text takes, our colour codes left out."""
    return sum(map(len, _unpainted(text))) if "\x1b" in text else len(text)


def _unpainted(word: str) -> Iterable[str]:
    """The parts of a word without our colour codes, each of which ends in `m`."""
    first, *rest = word.split("\x1b[")
    return [first, *(part.partition("m")[2] for part in rest)]


def block(text: str, indent: int) -> str:
    """Several paragraphs of stored text, each line indented."""
    pad = " " * indent
    return "\n".join(pad + wrap(line, indent, indent) if line else "" for line in clean(text).strip().split("\n"))


def say(text: str | bytes = "") -> None:
    """A line of the answer, on stdout; bytes go out as they are."""
    import click

    try:
        # Named, since click replaces a console stream that it takes for misconfigured.
        click.echo(text, file=sys.stdout)
    except OSError as error:
        raise unwritten(error) from error


def say_all(lines: Iterable[str]) -> None:
    """Several lines of the answer."""
    for line in lines:
        say(line)


def flush() -> None:
    """What is left in the buffer of stdout goes out; `BackstoryError` when it cannot."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise unwritten(error) from error


def unwritten(error: OSError) -> Exception:
    """What to raise when the answer cannot be written: whoever stopped reading has enough, all else is said."""
    if isinstance(error, BrokenPipeError):
        return error
    let_go()
    return BackstoryError(
        f"The answer could not be written ({error.strerror or error}); what was recorded before is kept.",
        hint="Send the output elsewhere, and see `backstory timeline` for what was recorded.",
        code=Exit.REFUSED,
    )


def let_go() -> None:
    """Give stdout up, so that the end of the process says nothing about it."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):
        pass


@contextmanager
def patience(what: str) -> Iterator[None]:
    """Around work that may take long: after a second a person at a terminal is told what goes on."""
    if not sys.stderr.isatty():
        yield
        return
    from threading import Timer

    timer = Timer(PATIENCE_SECONDS, tell, [f"backstory: {what} ..."])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def tell(text: str) -> None:
    """A line beside the answer, on stderr; one that cannot be written is lost."""
    import click

    try:
        click.echo(text, file=sys.stderr)
    except OSError:
        return
