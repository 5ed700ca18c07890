"""What `doctor --fix` does to the log: puts back lost lines, takes out merge markers, heals the marker file.

Nothing that can be read is ever removed: a shard is written anew from its own lines and the journal's, whole, under
the lock, and replaced in one step.
"""

from __future__ import annotations

import os
import re
import tomllib

from backstory.config import FOLDER, MARKER, Config, Places
from backstory.log.lock import held
from backstory.log.names import SUFFIX, files, stem
from backstory.log.reader import Line, lines

_MERGE = re.compile(rb"^(<<<<<<<|=======|>>>>>>>|\|\|\|\|\|\|\|)")
_ID = re.compile(r'^\s*id\s*=\s*"([0-9A-Z]{20,30})"', re.MULTILINE)
_ALSO = re.compile(r"^\s*also\s*=.*$", re.MULTILINE)


def restore_lost_lines(config: Config) -> list[str]:
    """Put back what the journal has of shards that exist in this tree or in git's index; the files that changed."""
    if config.private or not config.places.journal_dir:
        return []
    changed = []
    with held(config.places.shared_dir):
        known = _journal_lines(config)
        for path in files(config.places.log_dir):
            written = known.get(stem(path), [])
            if written and _put_back(path, written):
                changed.append(path)
    return changed


def restore_shard(config: Config, name: str) -> bool:
    """Write a shard anew that is gone from the tree altogether; False when the journal has none of it."""
    with held(config.places.shared_dir):
        written = _journal_lines(config).get(name, [])
        if not written:
            return False
        os.makedirs(config.places.log_dir, exist_ok=True)
        _replace(os.path.join(config.places.log_dir, name + SUFFIX), b"\n".join(line.raw for line in written) + b"\n")
    return True


def _journal_lines(config: Config) -> dict[str, list[Line]]:
    """Every sound line of the journal, by shard, in the order of writing."""
    found: dict[str, list[Line]] = {}
    for path in files(config.places.journal_dir):
        for item in lines(path):
            if isinstance(item, Line):
                found.setdefault(item.head.shard, []).append(item)
    return found


def _put_back(path: str, written: list[Line]) -> bool:
    with open(path, "rb") as file:
        data = file.read()
    present = [line for line in data.split(b"\n") if line]
    have = {line.rstrip(b"\r") for line in present}
    ours = [line.raw for line in written]
    if all(line in have for line in ours):
        return False
    own = set(ours)
    ids = {line.head.id.encode() for line in written}
    # Lines that are not ours stay, bad ones included; an edited copy of an event of ours gives way to the original.
    rest = [line for line in present if line not in own and not any(b'"id":"' + id_ + b'"' in line for id_ in ids)]
    _replace(path, b"\n".join([*ours, *rest]) + b"\n")
    return True


def remove_markers(config: Config) -> list[str]:
    """Take merge markers out of shards; every other line stays. The files that changed."""
    changed = []
    with held(config.places.shared_dir):
        for path in files(config.places.log_dir):
            with open(path, "rb") as file:
                found = file.read().split(b"\n")
            kept = [line for line in found if not _MERGE.match(line)]
            if kept != found:
                _replace(path, b"\n".join(kept))
                changed.append(path)
    return changed


def heal_marker(places: Places) -> str:
    """Join a marker that a merge left in conflict: the oldest id leads, `also` keeps the others. What was done."""
    path = os.path.join(places.root, FOLDER, MARKER)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return ""
    if "<<<<<<<" not in text:
        return _from_twin(places, path)
    ids = sorted(set(_ID.findall(text)))
    if not ids:
        return ""
    also = sorted(
        set(ids[1:]) | {id_ for line in _ALSO.findall(text) for id_ in re.findall(r'"([0-9A-Z]{20,30})"', line)}
    )
    kept, seen = [], set()
    for line in text.splitlines():
        name = line.split("=")[0].strip()
        if (
            line.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||"))
            or name in ("id", "also")
            or (name and name in seen)
        ):
            continue
        seen.add(name if "=" in line and not line.startswith("#") else "")
        kept.append(line)
    head = [
        f'id = "{ids[0]}"',
        *([f"also = [{', '.join(repr(i).replace(chr(39), chr(34)) for i in also)}]"] if also else []),
    ]
    at = next((place for place, line in enumerate(kept) if line.strip() and not line.startswith("#")), len(kept))
    _replace(path, ("\n".join([*kept[:at], *head, *kept[at:]]) + "\n").encode())
    return f"joined the two memories of {path}: {ids[0]} leads"


def _from_twin(places: Places, path: str) -> str:
    """A marker that is no settings file any more is written anew from its twin beside the journal."""
    try:
        with open(path, "rb") as file:
            readable = "id" in tomllib.load(file)
    except ValueError:
        readable = False
    if readable or not places.twin or not os.path.isfile(places.twin):
        return ""
    with open(places.twin, "rb") as file:
        text = file.read()
    _replace(path, text)
    return f"wrote {path} anew from its twin; settings that it had beyond the defaults have to be set again"


def _replace(path: str, data: bytes) -> None:
    temporary = f"{path}.{os.getpid()}.new"
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
