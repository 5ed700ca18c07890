"""Golden configurations of each client: trees of files as people have them, and as they are after an installation.

In `data/`, a leading dot of a name is written `dot-`, and Markdown ends in `.txt`: no agent shall take them
for its own. `{{RULE}}` stands for the text of the instruction block.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

import pytest

from backstory.project.agent_rule import TEXT
from backstory.project.clients.commands import Commands
from backstory.project.clients.contract import Client, Level
from backstory.project.clients.known import CLIENTS
from backstory.project.installing.targets import ROLES, Selection
from tests.project.memory import Memory

DATA = Path(__file__).parent / "data"
PYTHON = "/opt/tools/backstory/bin/python"
ENTRY = "/opt/tools/backstory/lib/python3.11/site-packages/backstory/surfaces/hooks/entry.py"
Tree = dict[str, bytes]


def commands(committed: bool) -> Commands:
    """What an installed tool writes, the same on every machine that runs these tests."""
    return Commands(PYTHON, ENTRY, "/opt/tools/bin/backstory", committed)


def golden(client: str, scope: str, which: str) -> Tree:
    """The files of a golden tree by their real relative paths."""
    top, found = DATA / client / scope / which, {}
    for path in sorted(top.rglob("*")) if top.is_dir() else ():
        if path.is_file():
            parts = [part.replace("dot-", ".", 1) if part.startswith("dot-") else part for part in path.parts]
            name = "/".join(parts[len(top.parts) :])
            data = path.read_bytes()
            line = b"\r\n" if b"\r\n" in data else b"\n"
            rule = TEXT.strip().encode().replace(b"\n", line)
            found[name.removesuffix(".txt") if name.endswith(".md.txt") else name] = data.replace(b"{{RULE}}", rule)
    return found


def lay(folder: Path, files: Tree) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def tree(folder: Path) -> Tree:
    """Every file below a folder, links by where they lead, folders that are empty, modes that are not the usual one."""
    found: Tree = {}
    for top, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", "state", ".gitconfig")]
        for name in files:
            path = Path(top) / name
            mode = stat.S_IMODE(path.lstat().st_mode)
            key = path.relative_to(folder).as_posix()
            found[key] = b"-> " + os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
            if mode & 0o111 and not path.is_symlink():
                found[f"{key} (mode)"] = oct(mode).encode()
        if not folders and not files and Path(top) != folder:
            found[Path(top).relative_to(folder).as_posix() + "/"] = b""
    found.pop(".gitconfig", None)
    return found


def selection(names: str | Iterable[str], scope: Level, root: Path, **options: object) -> Selection:
    """The clients of these names, with the commands of the golden files."""
    clients: list[Client] = [CLIENTS[name] for name in ([names] if isinstance(names, str) else names)]
    roles = options.pop("roles", ROLES)
    assert not options
    return Selection(clients, scope, str(root), roles, commands)  # type: ignore[arg-type]


@pytest.fixture
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's state folder, apart from the home folder whose files are compared."""
    folder = tmp_path_factory.mktemp("elsewhere") / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder / "backstory"


@pytest.fixture
def memory(repo: Path) -> Memory:
    """A memory in a repository with one commit."""
    return Memory(repo)
