"""Who may confirm and reject: the settings name approvers for paths, and CI holds each line of a branch to them.

    [team.approvers]
    "src/billing/*" = ["Ann Example", "ann@example.org"]
    "*" = ["Ben Example"]

The last pattern that matches a file of the entry decides, as in CODEOWNERS; an entry without files goes by `*`. The log
says who wrote a line, and anybody can write that; so the author of the commit that brought the line in is asked.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase

import msgspec

from backstory.config import FOLDER, MARKER
from backstory.errors import BackstoryError, Exit
from backstory.project.opened import Project
from backstory.records.codec import BadLine, Fields, read_fields
from backstory.records.event import PERSON
from backstory.sources.git.blobs import show
from backstory.sources.git.run import git

# Operations that say what counts; an entry of a person counts as confirmed, so it is one of them.
JUDGING = ("confirm", "approve", "reject", "lift", "resolve", "redact", "retire", "undo")
_PLAIN = ("--unified=0", "--no-color", "--no-ext-diff", "--no-textconv")
_FORMAT = "%x01%H%x00%an%x00%ae"


class NotAllowed(msgspec.Struct, frozen=True):
    """A judgement that somebody brought in who may not: the operation, its target, the commit and its author."""

    id: str
    what: str
    target: str
    files: tuple[str, ...]
    commit: str
    author: str
    approvers: tuple[str, ...]


def approvers(project: Project, base: str) -> dict[str, tuple[str, ...]]:
    """The settings at a commit, pattern to names and addresses; {} where anybody may.

    Those of the base: a branch that names its own author does not count. `BackstoryError` for another shape.
    """
    text = (show(project.root, f"{base}:{FOLDER}/{MARKER}") or b"").decode("utf-8", "replace")
    try:
        given = tomllib.loads(text).get("team", {}).get("approvers", {})
    except tomllib.TOMLDecodeError:
        given = None
    if not isinstance(given, dict) or not all(
        isinstance(names, list) and all(isinstance(name, str) for name in names) for names in given.values()
    ):
        raise BackstoryError(
            f"{FOLDER}/{MARKER} at {base[:40]}: team.approvers is no table of lists of names.",
            hint='Write it as `[team.approvers]`, then `"src/*" = ["Ann Example"]`.',
            code=Exit.USAGE,
        )
    return {str(pattern): tuple(names) for pattern, names in given.items()}


def not_allowed(project: Project, base: str, head: str = "HEAD") -> list[NotAllowed]:
    """The judgements between two commits that their commits' authors may not make."""
    rules = approvers(project, base)
    if not rules:
        return []
    found = []
    for commit, name, email, fields in _new_lines(project.root, base, head):
        if not _judges(fields):
            continue
        target = str(fields.get("target") or fields.get("id", ""))
        files = _files(project, [target, *_withdrawn(fields)], fields)
        allowed = _allowed(rules, files)
        if allowed is not None and not {name.casefold(), email.casefold()} & {one.casefold() for one in allowed}:
            found.append(NotAllowed(
                str(fields.get("id", "")), str(fields.get("kind", "")), target, files, commit, f"{name} <{email}>",
                allowed,
            ))  # fmt: skip
    return found


def _judges(fields: Fields) -> bool:
    by = fields.get("by") or {}
    return by.get("kind") == PERSON and (fields.get("kind") in JUDGING or "summary" in fields)


def _allowed(rules: dict[str, tuple[str, ...]], files: tuple[str, ...]) -> tuple[str, ...] | None:
    """Who may judge an entry about these files: who is named for each of them. None: anybody may."""
    found: list[tuple[str, ...]] = []
    for path in files or ("",):
        matching = [names for pattern, names in rules.items() if _matches(pattern, path)]
        if matching:
            found.append(matching[-1])
    if not found:
        return None
    return tuple(name for name in found[0] if all(name in names for names in found))


def _matches(pattern: str, path: str) -> bool:
    return pattern == "*" or fnmatchcase(path, pattern) or path.startswith(pattern.rstrip("/") + "/")


def _withdrawn(fields: Fields) -> list[str]:
    """The other entries that give way by an event: those that it replaces, the other side of a conflict."""
    return [str(id_) for id_ in (*fields.get("supersedes", ()), fields.get("over", "")) if id_]


def _files(project: Project, targets: list[str], fields: Fields) -> tuple[str, ...]:
    """The files of the entries that an event is about, and those that it cites itself."""
    marks = ", ".join("?" * len(targets))
    rows = project.db.execute(
        f"SELECT DISTINCT f.path FROM entry_files AS f JOIN entries AS e USING (entry) WHERE e.id IN ({marks})"
        " ORDER BY 1",
        targets,
    ).fetchall()
    cited = [str(ref.get("path", "")) for ref in fields.get("files", ()) if isinstance(ref, dict)]
    return tuple(dict.fromkeys([*(path for (path,) in rows), *filter(None, cited)]))


def _new_lines(root: str, base: str, head: str) -> Iterator[tuple[str, str, str, Fields]]:
    """(commit, author, address, event) of every line of the log that commits of the range add."""
    arguments = ["log", "--reverse", "-p", *_PLAIN, f"--format={_FORMAT}", f"{base}..{head}", "--", ".backstory/log"]
    result = git(arguments, root)
    if result.code != 0:
        raise BackstoryError(
            f"git cannot read what came since {base[:80]!r}.", hint="Name a commit that is here; `git fetch` it first."
        )
    commit = name = email = ""
    for line in result.out.decode("utf-8", "replace").split("\n"):
        if line.startswith("\x01"):
            commit, name, email = [*line[1:].split("\0"), "", ""][:3]
        elif line.startswith("+{"):
            try:
                yield commit, name, email, read_fields(line[1:].encode("utf-8", "surrogatepass"))
            except (BadLine, ValueError):
                continue
