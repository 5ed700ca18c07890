"""Appends events: first the clone's journal, fsynced, then the log of the work tree.

Promise: when `append` returns, every event is in both places and on disk; when it raises, it is in neither. A process
killed in between leaves a note of what it was about (`pending`), and the next writer or reader finishes the work.
The caller holds no lock; `append` takes the clone's.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence

from backstory.config import Config
from backstory.errors import BackstoryError, Exit
from backstory.log import faults
from backstory.log.lock import held
from backstory.log.names import SUFFIX, files, journal_name, shard_name, writer_id
from backstory.log.reader import last_line, tail_of
from backstory.records.codec import Fields, canonical, first_prev, seal
from backstory.records.event import LINE_LIMIT
from backstory.records.times import month_of

_GENERATIONS = 1_000


def append(config: Config, branch: str, events: Sequence[Fields], now: int) -> list[Fields]:
    """Write `events` (unsealed, in order) at `now`; returns them sealed. `BackstoryError`: nothing was written."""
    if not events:
        return []
    places = config.places
    with held(places.shared_dir):
        faults.trip("append.locked")
        finish_pending(config)
        month = month_of(now)
        try:
            writer = writer_id(places)
            shard, prev = _place(config, month, writer, branch)
        except OSError as error:
            raise _cannot_write(error) from error
        sealed, block = [], bytearray()
        for fields in events:
            event = seal(fields, config.project, shard, prev)
            line = canonical(event)
            if len(line) > LINE_LIMIT:
                raise BackstoryError(
                    f"Nothing was written: the event has {len(line):,} bytes and a line holds {LINE_LIMIT:,}.",
                    hint="Shorten the detail, or cite a file that holds the long text.",
                    code=Exit.REFUSED,
                )
            block += line + b"\n"
            prev = str(event["h"])
            sealed.append(event)
        _write_both(config, journal_name(month, writer), shard, bytes(block))
    return sealed


def _place(config: Config, month: str, writer: str, branch: str) -> tuple[str, str]:
    """The shard to write to and the hash of its last event.

    A shard whose end in the tree is not what this clone last wrote there (a reset, a stash, a new branch of an old
    name) is left alone: writing goes on in the next generation, so that both files merge whatever happens to either.
    """
    places, project = config.places, config.project
    if config.private:
        shard = journal_name(month, writer)
        tip = last_line(_journal(config, shard), shard, project)
        return shard, tip.h if tip else first_prev(project, shard)
    for generation in range(_GENERATIONS):
        shard = shard_name(month, writer, branch, generation)
        tip = last_line(os.path.join(places.log_dir, shard + SUFFIX), shard, project)
        if places.journal_dir:
            known = last_line(_journal(config, journal_name(month, writer)), shard, project)
            if (known.h if known else "") != (tip.h if tip else ""):
                continue
        return shard, tip.h if tip else first_prev(project, shard)
    raise BackstoryError("Nothing was written: this branch has too many shards.", hint="Run `backstory verify`.")


def _journal(config: Config, name: str) -> str:
    return os.path.join(config.places.journal_dir, name + SUFFIX)


def _write_both(config: Config, journal: str, shard: str, block: bytes) -> None:
    places = config.places
    targets = []
    if places.journal_dir:
        targets.append(_journal(config, journal))
    if not config.private:
        targets.append(os.path.join(places.log_dir, shard + SUFFIX))
    if len(targets) == 2:
        _note_pending(config, shard, block)
    faults.trip("append.pending")
    undo: list[tuple[str, int]] = []
    try:
        for path in targets:
            undo.append((path, _size(path)))
            append_block(path, block)
            faults.trip("append.journal" if path is targets[0] else "append.log")
    except OSError as error:
        for path, size in undo:
            _cut(path, size)
        _drop_pending(config)
        raise _cannot_write(error) from error
    faults.trip("append.synced")
    _drop_pending(config)
    faults.trip("append.done")


def append_block(path: str, block: bytes) -> None:
    """One durable write at the end of `path`; a torn line before it is ended first. `OSError` when it is not whole."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if _size(path) and tail_of(path)[1]:
        block = b"\n" + block
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
    try:
        written = os.write(handle, block)
        while written < len(block):
            written += os.write(handle, block[written:])
        os.fsync(handle)
    finally:
        os.close(handle)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _cut(path: str, size: int) -> None:
    """Take back what this call wrote, and only that: the lock is held, and no reader has been told of it."""
    try:
        if _size(path) > size:
            os.truncate(path, size)
        if size == 0 and os.path.exists(path):
            os.unlink(path)
    except OSError:
        pass


def _cannot_write(error: OSError) -> BackstoryError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    why = "the disk is full" if full else f"{error.filename or 'a file'} cannot be written ({error.strerror})"
    hint = "Free some space" if full else "Make the folder writable"
    return BackstoryError(
        f"Nothing was written: {why}.", hint=f"{hint}, then run the command again.", code=Exit.REFUSED
    )


def _pending(config: Config) -> str:
    return os.path.join(config.places.derived_dir, "pending")


def _note_pending(config: Config, shard: str, block: bytes) -> None:
    path = _pending(config)
    try:
        with open(path, "wb") as file:
            file.write(shard.encode() + b"\n" + block)
    except OSError as error:
        raise _cannot_write(error) from error


def _drop_pending(config: Config) -> None:
    try:
        os.unlink(_pending(config))
    except OSError:
        pass


def has_pending(config: Config) -> bool:
    """Whether a writer was killed between journal and log. Cheap; readers ask before they refresh."""
    return os.path.exists(_pending(config))


def pending_block(config: Config) -> bytes:
    """The lines that a writer has in hand, in the journal or not yet: none of them is lost before it is done."""
    try:
        with open(_pending(config), "rb") as file:
            return file.read().partition(b"\n")[2]
    except OSError:
        return b""


def finish_pending(config: Config) -> None:
    """Bring the log to what the journal already has. Call it under the lock; `OSError` is kept for the next try."""
    if not has_pending(config):
        return
    try:
        with open(_pending(config), "rb") as file:
            shard, block = file.read().split(b"\n", 1)
    except (OSError, ValueError):
        _drop_pending(config)
        return
    # Of a note or a journal that was cut short itself, only the lines that are whole in both count as written.
    journal = files(config.places.journal_dir)
    lines = [line for line in block.split(b"\n")[:-1] if line and _holds(journal, line)]
    target = os.path.join(config.places.log_dir, shard.decode("utf-8", "replace") + SUFFIX)
    if lines and not config.private:
        try:
            missing = [line for line in lines if not _holds([target], line)]
            if missing:
                append_block(target, b"\n".join(missing) + b"\n")
        except OSError:
            return
    _drop_pending(config)


def _holds(paths: list[str], line: bytes) -> bool:
    """Whether one of the files has the line whole."""
    for path in paths:
        try:
            with open(path, "rb") as file:
                data = b"\n" + file.read()
        except OSError:
            continue
        if b"\n" + line + b"\n" in data:
            return True
    return False
