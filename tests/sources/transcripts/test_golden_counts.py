"""Real transcripts beside this checkout: each is read, and what comes out of each is counted.

`golden_counts.json` holds numbers only. To write it anew, run this file with `.venv/bin/python`; look at each number
that changed.
"""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from backstory.sources.transcripts.contract import Found
from backstory.sources.transcripts.known import open_reader
from backstory.sources.transcripts.lines import raw_lines
from backstory.sources.transcripts.opencode import _listed
from backstory.sources.transcripts.stream import Item, Result

GOLDEN = Path(__file__).with_name("golden_counts.json")
# The first that matches says which client wrote a file; "" is for what is no transcript, or of a client not read.
RULES = (
    (r"LICENSE$|README\.md$|small\.md$|meta\.json$|/migration$|settings\.json$|workspace\.json$|models\.json$", ""),
    (r"/(amp-threads|droid|kimi|qwen|hermes|grok|openclaw|pi|antigravity)/", ""),
    (r"/(continue-cli|droid|pi|windsurf)-session", ""),
    (r"opencode", "opencode"),
    (r"copilot", "copilot"),
    (r"cursor", "cursor"),
    (r"gemini", "gemini"),
    (r"codex|Fixtures/session_", "codex"),
    (r"claude", "claude-code"),
)
# A session of OpenCode's older storage is its file of `session`, or, without one, the folder of its messages.
OPENCODE_PART = re.compile(r"/(?:part|message)/")


def client_of(path: str) -> str:
    """The client that wrote the file with this path below the folder of transcripts; "" for none that is read."""
    return next(client for rule, client in RULES if re.search(rule, path))


def found(path: Path, client: str) -> list[Found]:
    """What a file holds: a session, or several in a database; nothing where it is a piece of a session."""
    if client != "opencode":
        return [Found(client, str(path))]
    if path.suffix == ".db":
        return list(_listed(str(path)))
    if OPENCODE_PART.search(str(path)):
        session = path.parent
        alone = session.parent.name == "message" and not list(
            session.parent.parent.glob(f"session/*/{session.name}.json")
        )
        return [Found(client, str(session), session.name)] if alone and path == min(session.iterdir()) else []
    return [Found(client, str(path), path.stem)]


def counted(path: Path, client: str) -> dict[str, int]:
    """The items of a file by kind, results by outcome; `records` are its lines, where it has lines."""
    counts: Counter[str] = Counter()
    offsets = set()
    for each in found(path, client):
        for item in open_reader(each):
            counts[_kind(item)] += 1
            offsets.add((each.part, item.offset))
    if path.suffix == ".jsonl":
        counts["records"] = sum(1 for _, line, _ in raw_lines(str(path), 0) if line)
    else:
        counts["records"] = len(offsets)
    return dict(sorted(counts.items()))


def _kind(item: Item) -> str:
    name = type(item).__name__
    return f"{name}.{item.outcome}" if isinstance(item, Result) else name


def all_counts(folder: Path, client: str) -> dict[str, dict[str, int]]:
    """The counts of every file of a client, by path below the folder."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    names = {str(path.relative_to(folder)): path for path in paths}
    return {name: counted(path, client) for name, path in names.items() if client_of(name) == client}


def test_every_file_has_its_place_and_most_are_read(shared_data: Path) -> None:
    folder = shared_data / "transcripts"
    names = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    assert len(names) == 214
    clients = Counter(client_of(name) for name in names)
    assert clients["claude-code"] > 60
    assert clients["codex"] > 15


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini", "opencode", "copilot", "cursor"])
def test_a_file_gives_the_items_that_were_counted_before(shared_data: Path, client: str) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))[client]
    now = all_counts(shared_data / "transcripts", client)
    assert golden
    assert {name: counts for name, counts in now.items() if golden.get(name) != counts} == {}
    assert set(now) == set(golden)


def _write() -> None:
    folder = Path(__file__).parents[4] / "shared" / "data" / "transcripts"
    clients = sorted({client for _, client in RULES if client})
    found = {client: all_counts(folder, client) for client in clients}
    body = ",\n".join(
        f" {json.dumps(client)}: {{\n"
        + ",\n".join(f"  {json.dumps(name)}: {json.dumps(counts)}" for name, counts in files.items())
        + "\n }"
        for client, files in found.items()
    )
    GOLDEN.write_text(f"{{\n{body}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    _write()
