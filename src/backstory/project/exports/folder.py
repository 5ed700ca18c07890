"""Writes pages into a folder of their own.

Promises:

* What is in the folder already was written here and is as it was written; anything else refuses the whole run, and
  nothing is changed. So no file of somebody else is replaced or removed.
* Each page is replaced whole or not at all. A run that was broken off can be run again.
* The same pages leave the same bytes.

`.backstory-pages.json` in the folder says what was written: path and hash of each page. While a run is going on it
holds the old and the new hash. Line ends do not count, since git may change them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from hashlib import sha256

import msgspec

from backstory.errors import BackstoryError, Exit

RECORD = ".backstory-pages.json"
_VERSION, _ASIDE = 1, ".tmp"


class Written(msgspec.Struct, frozen=True):
    """How many pages are new or changed, were as they had to be, and were removed."""

    written: int
    same: int
    removed: int


def write(folder: str, pages: Mapping[str, str]) -> Written:
    """Make `folder` hold the pages (path with /, text) and nothing else. `BackstoryError` (refused) otherwise."""
    # A link to a folder is followed, so that its pages are written where they are read.
    top = os.path.realpath(folder)
    try:
        return _write(top, {path: text.encode("utf-8", "replace") for path, text in pages.items()}, folder)
    except OSError as error:
        why = error.strerror or str(error)
        raise BackstoryError(
            f"{folder} cannot be written ({why}).", hint="Name a folder of yours.", code=Exit.REFUSED
        ) from error


def _write(top: str, pages: dict[str, bytes], shown: str) -> Written:
    present = dict(_files(top)) if os.path.lexists(top) else {}
    known = _known(os.path.join(top, RECORD), shown) if RECORD in present else {}
    present.pop(RECORD, None)
    # What a run that was broken off left behind.
    left = [path for path in present if path.removesuffix(_ASIDE) in {*known, RECORD} and path not in known]
    for path in sorted(present.keys() - left):
        if path not in known:
            raise _refused(f"{shown} holds {path}, which was not written by this command", shown)
        if _hash(_read(present[path])) not in known[path]:
            raise _refused(f"{path} in {shown} was changed since it was written", shown)
    new = {path: _hash(data) for path, data in pages.items()}
    for path in left:
        os.unlink(present.pop(path))
    both = {path: sorted({*known.get(path, ()), *([new[path]] if path in new else ())}) for path in {*known, *new}}
    _put(os.path.join(top, RECORD), _record(both))
    changed = [path for path, data in pages.items() if path not in present or _read(present[path]) != data]
    for path in changed:
        _put(os.path.join(top, *path.split("/")), pages[path])
    gone = sorted(present.keys() - pages.keys())
    for path in gone:
        os.unlink(present[path])
    for inner in {path.rpartition("/")[0] for path in gone} - {path.rpartition("/")[0] for path in pages}:
        _drop(os.path.join(top, inner))
    _put(os.path.join(top, RECORD), _record({path: [mark] for path, mark in new.items()}))
    return Written(len(changed), len(pages) - len(changed), len(gone))


def _files(top: str) -> Iterator[tuple[str, str]]:
    """Every file, link and odd thing below a folder: path with /, and where it is. An empty folder is none."""
    if not os.path.isdir(top):
        raise NotADirectoryError(20, "it is no folder")
    for item in sorted(os.scandir(top), key=lambda found: found.name):
        if item.is_dir(follow_symlinks=False):
            yield from ((f"{item.name}/{path}", full) for path, full in _files(item.path))
        else:
            yield item.name, item.path


def _known(path: str, shown: str) -> dict[str, list[str]]:
    """What the last run wrote. A record that cannot be read tells nothing, so the folder is not ours."""
    try:
        kept = json.loads(_read(path))
        pages = kept["pages"]
        if kept["version"] != _VERSION or not all(isinstance(marks, list) for marks in pages.values()):
            raise ValueError
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _refused(f"{RECORD} in {shown} cannot be read", shown) from None
    return dict(pages)


def _record(pages: Mapping[str, list[str]]) -> bytes:
    about = "Written by `backstory export --format pages`: the hash of each page, without regard to line ends."
    body = {"about": about, "version": _VERSION, "pages": pages}
    return (json.dumps(body, indent=1, sort_keys=True, ensure_ascii=True) + "\n").encode()


def _hash(data: bytes) -> str:
    return sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def _read(path: str) -> bytes:
    # A link would be read in place of what it replaced.
    if os.path.islink(path) or not os.path.isfile(path):
        return b"\0"
    with open(path, "rb") as file:
        return file.read()


def _put(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    aside = f"{path}{_ASIDE}"
    with open(aside, "wb") as file:
        file.write(data)
    os.replace(aside, path)


def _drop(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass


def _refused(what: str, shown: str) -> BackstoryError:
    return BackstoryError(
        f"Nothing was written: {what}.",
        hint=f"Move it away, or name another folder than {shown}.",
        code=Exit.REFUSED,
    )
