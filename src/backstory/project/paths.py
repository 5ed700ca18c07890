"""Paths as they are cited: relative to the project, with `/`, inside it.

Accepts `./x`, absolute, relative to the caller's folder, back-slashes and symlinks, and behind a path `:10`, `:10-20`
or `#symbol`. A path outside the project is refused.
"""

from __future__ import annotations

import os
import re
import unicodedata

from backstory.errors import BackstoryError, Exit
from backstory.recall.stamps import read_lines
from backstory.records.event import FileRef

_LINES = re.compile(r"^(.+?):(\d+)(?:-(\d+))?$", re.DOTALL)
_SYMBOL = re.compile(r"^(.+?)#([\w.:$<>~-]{1,200})$", re.DOTALL)


def relative(root: str, path: str, cwd: str = "") -> str:
    """`path` relative to `root`; relative input is taken from `cwd` (default: `root`). `BackstoryError` outside."""
    text = path.strip()
    if not text or any(ord(letter) < 32 for letter in text):
        raise BackstoryError("A path is empty or holds a control character.", hint="Name a file of this project.")
    if os.sep == "/" and "\\" in text and not os.path.lexists(os.path.join(cwd or root, text)):
        text = text.replace("\\", "/")
    if re.match(r"^[A-Za-z]:/", text) and os.sep == "/":
        raise _outside(path, root)
    base = os.path.normpath(os.path.join(cwd or root, text))
    inside = _inside(root, base)
    if inside is None or not _stays(root, base):
        # The folder may be reached through a link: judge where it really is.
        real = os.path.join(os.path.realpath(os.path.dirname(base)), os.path.basename(base))
        inside = _inside(root, real)
        if inside is None or not _stays(root, real):
            inside = _inside(root, os.path.realpath(base))
    if inside is None:
        raise _outside(path, root)
    return _spelled(root, inside)


def _spelled(root: str, path: str) -> str:
    """The path as the disk spells it where accents can be composed or not; composed when it is not there."""
    if path.isascii() or os.path.lexists(os.path.join(root, path)):
        return path
    forms = [unicodedata.normalize(form, path) for form in ("NFC", "NFD")]
    return next((form for form in forms if os.path.lexists(os.path.join(root, form))), forms[0])


def _inside(root: str, path: str) -> str | None:
    try:
        found = os.path.relpath(path, root)
    except ValueError:
        return None
    if found == os.pardir or found.startswith(os.pardir + os.sep):
        return None
    return "" if found == os.curdir else found.replace(os.sep, "/")


def _stays(root: str, path: str) -> bool:
    """Whether the folder of `path` really lies inside the project, links followed."""
    return _inside(root, os.path.realpath(os.path.dirname(path))) is not None


def _outside(path: str, root: str) -> BackstoryError:
    shown = path if len(path) < 200 else path[:200] + "…"
    return BackstoryError(
        f"{shown!r} is outside the project {root}.",
        hint="Cite a file of this project, or run the command in the project that has it.",
        code=Exit.REFUSED,
    )


def cite(root: str, text: str, cwd: str = "") -> FileRef:
    """The reference that `text` makes, with its fingerprint when it names lines or a symbol.

    `BackstoryError` for a place that does not exist: an anchor must be there when it is dropped.
    """
    from backstory.records.anchors import fingerprint
    from backstory.records.symbols import symbol_lines

    literal = os.path.lexists(os.path.join(cwd or root, text))
    found = None if literal else _LINES.match(text)
    if found and found[2]:
        path, first = relative(root, found[1], cwd), int(found[2])
        last = int(found[3] or first)
        lines = read_lines(root, path)
        if lines is None or not 1 <= first <= last <= len(lines):
            count = "no readable text" if lines is None else f"{len(lines)} lines"
            _must_exist(root, path)
            raise BackstoryError(f"{path} has {count}; {text!r} is not a place in it.", hint="Cite lines that exist.")
        return FileRef(path, (first, last), "", fingerprint(lines[first - 1 : last]))
    found = None if literal else _SYMBOL.match(text)
    if found:
        path, symbol = relative(root, found[1], cwd), found[2]
        lines = read_lines(root, path) or []
        span = symbol_lines(lines, symbol)
        if span is None:
            _must_exist(root, path)
            raise BackstoryError(f"{path} defines no {symbol!r}.", hint="Cite lines instead: `path:10-20`.")
        return FileRef(path, span, symbol, fingerprint(lines[span[0] - 1 : span[1]]))
    path = relative(root, text, cwd)
    if not path:
        raise BackstoryError("The project's own folder is no file to cite.", hint="Name a file or folder in it.")
    return FileRef(path)


def _must_exist(root: str, path: str) -> None:
    if not os.path.lexists(os.path.join(root, path)):
        raise BackstoryError(f"There is no file {path} in {root}.", hint="Cite a place in a file that exists.")
