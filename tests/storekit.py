"""A small hand on a real project for store tests: a clock of its own, writers by name, git as a person would use it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from backstory.config import Config, load
from backstory.errors import BackstoryError
from backstory.log.names import files
from backstory.project import gateway, operations, redaction
from backstory.project.opened import Project
from backstory.project.refresh import open_project
from backstory.project.setup import init
from backstory.project.verifying import Finding, Report, problems, verify
from backstory.records.event import AGENT, HOOK, PERSON, By

START = 1_772_000_000_000_000  # 2026-02-25, microseconds
SECOND = 1_000_000

PERSON_BY = By(PERSON, "Ada")


def agent(session: str = "s1") -> By:
    return By(AGENT, "agent", session)


def hook(session: str = "s1") -> By:
    return By(HOOK, "capture", session)


def git(folder: Path | str, *args: str, check: bool = True) -> str:
    """Run git in a folder and return what it printed."""
    done = subprocess.run(["git", *args], cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    if check and done.returncode != 0:
        raise AssertionError(f"git {args}: {done.stdout.decode()}{done.stderr.decode()}")
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


class Clock:
    """Moves one second on with each look, so that order by time is defined."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        self.now += SECOND
        return self.now


class Store:
    """A project at `root`. `clock` may be shared by several."""

    def __init__(self, root: Path, clock: Clock | None = None) -> None:
        self.root, self.clock = root, clock or Clock()

    def init(self, *, private: bool = False) -> Store:
        init(str(self.root), private=private, now=self.clock())
        return self

    @property
    def config(self) -> Config:
        return load(str(self.root))

    def open(self) -> Project:
        return open_project(str(self.root), now=self.clock())

    def record(self, text: str, by: By = PERSON_BY, kind: str = "note", **fields: Any) -> str:
        """Record an entry; its id."""
        with self.open() as project:
            return gateway.record(project, by, kind, {"summary": text, **fields}).id

    def do(self, action: str, target: str, by: By = PERSON_BY, *, why: str = "because", **extra: Any) -> str:
        """An operation; the target's standing after it."""
        with self.open() as project:
            return operations.operate(project, by, action, target, reason=why, **extra).standing

    def redact(self, target: str) -> None:
        with self.open() as project:
            redaction.redact(project, PERSON_BY, target, "a secret")

    def standing(self, id_: str) -> str:
        """ "" for an entry that this project does not know."""
        with self.open() as project:
            return gateway.standing_of(project, id_)

    def standings(self) -> dict[str, str]:
        with self.open() as project:
            return dict(project.db.execute("SELECT id, standing FROM entries ORDER BY id").fetchall())

    def texts(self) -> dict[str, str]:
        with self.open() as project:
            return dict(project.db.execute("SELECT id, summary FROM entries ORDER BY id").fetchall())

    def in_tree(self) -> set[str]:
        with self.open() as project:
            return {row[0] for row in project.db.execute("SELECT id FROM entries WHERE in_tree = 1")}

    def verify(self) -> Report:
        return verify(self.config, self.clock())

    def problems(self) -> list[Finding]:
        """What a freshly opened project has found wrong."""
        with self.open() as project:
            return problems(project)

    def whys(self) -> tuple[set[str], set[str]]:
        """The slugs that verify reports, and those of the next read."""
        return {item.why for item in self.verify().problems}, {item.why for item in self.problems()}

    def assert_sound(self) -> None:
        """Neither verify nor a read has anything to say."""
        report = self.verify()
        assert report.sound, report.problems
        assert not [item for item in self.problems() if item.why not in ("marker", "version")], self.problems()

    def git(self, *args: str, check: bool = True) -> str:
        return git(self.root, *args, check=check)

    def commit(self, message: str = "change") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def shards(self) -> list[Path]:
        return [Path(path) for path in files(self.config.places.log_dir)]

    def journals(self) -> list[Path]:
        folder = self.config.places.journal_dir
        return [Path(path) for path in files(folder)] if folder else []

    def forget_index(self) -> None:
        """Delete the index, as anybody may."""
        for suffix in ("", "-wal", "-shm"):
            Path(self.config.places.index_path + suffix).unlink(missing_ok=True)

    def bytes_everywhere(self) -> bytes:
        """All bytes under the work tree and the git dir, git's own objects aside."""
        found = bytearray()
        for folder in {str(self.root), self.config.places.shared_dir, self.config.places.derived_dir}:
            for path in Path(folder).rglob("*"):
                if path.is_file() and "objects" not in path.parts:
                    found += path.read_bytes()
        return bytes(found)


def new_repo(folder: Path) -> Path:
    """A git repository on `main` with one commit."""
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("# A project\n", encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Begin")
    return folder


def refused(call: Any, *args: Any, **kwargs: Any) -> BackstoryError:
    """The error with which a call is refused."""
    try:
        call(*args, **kwargs)
    except BackstoryError as error:
        return error
    raise AssertionError("it was not refused")


def copy_tree(source: Path, target: Path) -> Path:
    """`cp -a`: times and links kept."""
    shutil.copytree(source, target, symlinks=True)
    return target


def tables(project: Project) -> dict[str, list[tuple[Any, ...]]]:
    """What the index says, by id and without row numbers: equal for an index kept up and one made anew."""
    db = project.db
    columns = [row[1] for row in db.execute("PRAGMA table_info(entries)") if row[1] != "entry"]
    named = ", ".join(f"e.{name}" for name in columns)
    return {
        "events": db.execute("SELECT id, at, kind, target, in_tree, in_journal FROM events ORDER BY id").fetchall(),
        "entries": db.execute(f"SELECT {named} FROM entries AS e ORDER BY id").fetchall(),
        "tombstones": db.execute("SELECT * FROM tombstones ORDER BY key").fetchall(),
        "conflicts": db.execute("SELECT * FROM conflicts ORDER BY one, other").fetchall(),
        "files": db.execute(
            "SELECT e.id, f.path, f.last_at, f.folder, f.cited, f.place FROM entry_files AS f JOIN entries AS e"
            " USING (entry) ORDER BY e.id, f.path, f.place"
        ).fetchall(),
        "problems": db.execute("SELECT file, line, why, id FROM problems ORDER BY file, line, why, id").fetchall(),
        "figures": db.execute(
            "SELECT key, value FROM index_meta WHERE (key LIKE 'count:%' AND value <> '0')"
            " OR key IN ('contested_count', 'stale_count') ORDER BY key"
        ).fetchall(),
        "documents": db.execute("SELECT source, ref FROM documents ORDER BY source, ref").fetchall(),
    }


def assert_rebuilt_is_equal(store: Store) -> None:
    """The index as it was kept up to date says what one made from nothing says."""
    with store.open() as project:
        kept = tables(project)
    store.forget_index()
    with store.open() as project:
        made = tables(project)
    for name, rows in made.items():
        assert kept[name] == rows, name


def environment() -> dict[str, str]:
    """The environment for a process of ours: the test's, with the package found."""
    return dict(os.environ)
