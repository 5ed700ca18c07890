"""A repository with a memory and our hooks in it, and everything about it that uninstalling has to restore."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

from backstory.config import Places, find
from backstory.index import store
from backstory.project import currency
from backstory.project.git_hooks.changes import HooksOutcome, apply
from backstory.project.git_hooks.installing import plan_install
from backstory.project.git_hooks.removing import plan_uninstall
from tests.project.memory import Memory

# A commit with hooks in it has to be through by then, where the interpreter starts in `START_SECONDS`.
SECONDS = 2.0
START_SECONDS = 0.04


def places(root: Path) -> Places:
    found = find(str(root))
    assert found is not None
    return found


def install(root: Path, *, block: bool = False, python: str = "", entry: str = "") -> HooksOutcome:
    return apply(plan_install(places(root), block=block, python=python, entry=entry))


def uninstall(root: Path) -> HooksOutcome:
    return apply(plan_uninstall(places(root)))


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and content of every file and folder, derived files and git's own objects left out."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        derived = (
            name.startswith((".git/backstory/", ".git/objects/", ".git/logs/")) and name != ".git/backstory/git-hook"
        )
        if derived or name in (".git/index", ".git/backstory"):
            continue
        mode = stat.S_IMODE(path.lstat().st_mode)
        content = os.readlink(path).encode() if path.is_symlink() else b"/" if path.is_dir() else path.read_bytes()
        found[name] = (mode, content)
    return found


def script(path: Path, text: str, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    path.chmod(mode)
    return path


def timed(folder: Path, *arguments: str, code: int = 0, seconds: float = SECONDS, **env: str) -> str:
    """Run git as a person does, within the time; what it wrote to both streams."""
    started = time.monotonic()
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env={**os.environ, "GIT_EDITOR": "true", **env}, check=False,
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip
    took = time.monotonic() - started
    said = done.stdout + done.stderr
    assert done.returncode == code, f"git {arguments}: {done.returncode}\n{said}"
    assert took < seconds or took < seconds * slowness(), f"git {arguments} took {took:.2f} s\n{said}"
    return said


def slowness() -> float:
    """How many times slower than usual this machine is just now, since others work on it too; at least 1."""
    started = time.monotonic()
    subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
    waiting = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 1.0
    return max(1.0, (time.monotonic() - started) / START_SECONDS, waiting)


def warm(root: Path, *, tries: int = 10) -> bool:
    """Whether the index is as the next reader needs it. A hook that had no time is asked again, as the next one is."""
    for _ in range(tries):
        found = places(root)
        db = store.open_ready(found.index_path)
        if db is not None:
            try:
                if not currency.state(found, store.file_sizes(db), store.meta(db)):
                    return True
            finally:
                db.close()
        if tries > 1:
            launcher = os.path.join(found.shared_dir, "git-hook")
            subprocess.run([launcher, "post-merge"], cwd=root, capture_output=True, check=False)
    return False


def change(memory: Memory, text: str, path: str = "src/a.py") -> None:
    """Change a file and stage it."""
    memory.put(path, text)
    memory.git("add", path)


def dirty(folder: Path) -> str:
    return timed(folder, "status", "--porcelain")
