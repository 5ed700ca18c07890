"""Names in the log: shards, journal files, the writer's id.

A shard is `<yyyymm>-<writer>-<branch>.jsonl`, a journal file `<yyyymm>-<writer>.jsonl`. The writer is a random id of
one work tree; its file names the folder that it was made for, so that a copied work tree gets an id of its own.
"""

from __future__ import annotations

import os
import re
from hashlib import blake2b

from backstory.config import Places
from backstory.records.ids import ALPHABET

SUFFIX = ".jsonl"
DETACHED = "(detached)"
_SHARD = re.compile(r"^\d{6}-[0-9a-z]{8}(-[0-9a-f]{8})?$")


def is_shard(name: str) -> bool:
    """Whether `name` (without suffix) is a shard's or a journal file's."""
    return _SHARD.match(name) is not None


def branch_key(branch: str, generation: int = 0) -> str:
    """A short hash of the branch's name. A later generation gives another file for the same branch."""
    text = f"{branch}\n{generation}" if generation else branch
    return blake2b(os.fsencode(text), digest_size=4).hexdigest()


def journal_name(month: str, writer: str) -> str:
    """The journal file of a writer's month, without suffix."""
    return f"{month}-{writer}"


def shard_name(month: str, writer: str, branch: str, generation: int = 0) -> str:
    """The shard of a writer on a branch, without suffix."""
    return f"{month}-{writer}-{branch_key(branch, generation)}"


def writer_id(places: Places) -> str:
    """The work tree's writer id, made when missing, and made anew in a copy. Call it under the lock."""
    path = os.path.join(places.derived_dir, "writer")
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            known, owner = file.read().split("\n", 1)
        if owner.rstrip("\n") == places.root and is_shard(f"202601-{known}"):
            return known
    except (OSError, ValueError):
        pass
    fresh = "".join(ALPHABET[byte & 31] for byte in os.urandom(8)).lower()
    os.makedirs(places.derived_dir, exist_ok=True)
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        file.write(f"{fresh}\n{places.root}\n")
    os.replace(temporary, path)
    return fresh


def files(folder: str) -> list[str]:
    """The `.jsonl` files of a log or journal folder, full paths, sorted. Symlinks are not followed."""
    try:
        with os.scandir(folder) as entries:
            return sorted(e.path for e in entries if e.name.endswith(SUFFIX) and e.is_file(follow_symlinks=False))
    except OSError:
        return []


def stem(path: str) -> str:
    """A file's shard name."""
    return os.path.basename(path).removesuffix(SUFFIX)
