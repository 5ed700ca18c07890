"""Blanks the text of named events in place: the one exception to "a written line is never changed".

`id`, `h` and `prev` stay, so the chain still links; the redact operation, appended before, carries the hash that the
blanked line must have. Each file is replaced whole, so a kill leaves it old or new; the next reader goes on with
files that still hold the text. Other lines, bad ones included, are copied byte for byte.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from backstory.config import Config
from backstory.errors import BackstoryError, Exit
from backstory.log import faults
from backstory.log.lock import held
from backstory.log.names import files
from backstory.records.codec import BadLine, blanked, canonical, read_fields

_NAMED = re.compile(rb'"id"\s*:\s*"([0-9A-Z]{26})')


def blank(config: Config, ids: Iterable[str]) -> list[str]:
    """Blank the events `ids` in every file of log and journal; the files that changed. Takes the lock."""
    wanted = frozenset(id_.encode() for id_ in ids)
    changed = []
    with held(config.places.shared_dir):
        for path in files_of(config):
            if _rewrite(path, wanted):
                changed.append(path)
    return changed


def files_of(config: Config) -> list[str]:
    """Every file that may hold an event: the tree's shards, then the journal."""
    return [*files(config.places.log_dir), *(files(config.places.journal_dir) if config.places.journal_dir else [])]


def still_readable(paths: Iterable[str], ids: Iterable[str]) -> set[str]:
    """Those of the events `ids` of which a line in one of the files still has its text."""
    wanted = frozenset(id_.encode() for id_ in ids)
    found: set[bytes] = set()
    for path in paths:
        try:
            with open(path, "rb") as file:
                for line in file:
                    found |= _concerns(line, wanted)
        except OSError:
            continue
    return {id_.decode() for id_ in found}


def _concerns(line: bytes, wanted: frozenset[bytes]) -> frozenset[bytes]:
    """Those of `wanted` whose text the line still holds. Written loosely: people and tools re-format lines."""
    if b'"redacted":true' in line:
        return frozenset()
    return wanted.intersection(_NAMED.findall(line))


def _rewrite(path: str, wanted: frozenset[bytes]) -> bool:
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    done = [_blank_line(line) if _concerns(line, wanted) else line for line in lines]
    if done == lines:
        return False
    temporary = f"{path}.redact"
    try:
        with open(temporary, "wb") as file:
            file.write(b"\n".join(done))
            file.flush()
            os.fsync(file.fileno())
        faults.trip("redact.written")
        os.replace(temporary, path)
    except OSError as error:
        raise BackstoryError(
            f"{path} still holds the text: it cannot be rewritten ({error.strerror}).",
            hint="Make the folder writable, then run `backstory doctor --fix`: it finishes the redaction.",
            code=Exit.REFUSED,
        ) from error
    faults.trip("redact.replaced")
    return True


def _blank_line(line: bytes) -> bytes:
    end = b"\r" if line.endswith(b"\r") else b""
    try:
        return canonical(blanked(read_fields(line))) + end
    except BadLine:
        # A broken line that names the event may hold the secret too: leave no byte of it.
        return b'{"redacted":true}' + end
