"""The last heads seen, kept outside the store: what shows that a whole store was rolled back.

One small JSON file per clone in the user's state folder: for each journal file, and for each shard that this clone did
not write itself, the hash of the last event seen and how many there were. It is a witness, not a source: a missing,
unreadable or unwritable one costs only the warning.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b

from backstory.config import Config, state_dir

Heads = dict[str, tuple[str, int]]


def _path(config: Config) -> str:
    place = config.places.common_dir or config.places.root
    name = blake2b(f"{config.project}\n{place}\n{config.root}".encode("utf-8", "replace"), digest_size=10).hexdigest()
    return os.path.join(state_dir(), "heads", f"{name}.json")


def read(config: Config) -> Heads:
    """What was last seen, by `place/name` of the file; empty when nothing was kept."""
    try:
        with open(_path(config), encoding="utf-8") as file:
            data = json.load(file)
        return {str(name): (bytes.fromhex(h).hex(), int(count)) for name, (h, count) in data.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def write(config: Config, heads: Heads) -> bool:
    """Keep what was seen; False when the state folder cannot be written."""
    path = _path(config)
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            json.dump(dict(sorted(heads.items())), file)
        os.replace(temporary, path)
    except OSError:
        return False
    return True
