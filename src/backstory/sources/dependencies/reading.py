"""Which file tells dependencies, and what all of them tell together.

A manifest is read as data, never run, and never through a link. One that cannot be read is skipped and named: it tells
nothing, and a lesson about its libraries does not arrive.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from backstory.sources.dependencies import compiled, python, running, scripting, versions
from backstory.sources.dependencies.contract import ECOSYSTEMS, Told, plain_name
from backstory.sources.skipped import Skipped

MAX_BYTES = 16 << 20
Reader = Callable[[str], Iterator[Told]]

_BY_NAME: dict[str, Reader] = {
    "pyproject.toml": python.pyproject, "Pipfile": python.pipfile, "Pipfile.lock": python.pipfile_lock,
    "poetry.lock": python.lock, "uv.lock": python.lock, "pdm.lock": python.lock, "pylock.toml": python.lock,
    "package.json": scripting.package_json, "package-lock.json": scripting.package_lock,
    "npm-shrinkwrap.json": scripting.package_lock, "yarn.lock": scripting.yarn_lock,
    "pnpm-lock.yaml": scripting.pnpm_lock, "composer.json": scripting.composer,
    "composer.lock": scripting.composer_lock, "Gemfile": scripting.gemfile, "Gemfile.lock": scripting.gemfile_lock,
    "mix.exs": scripting.mix, "mix.lock": scripting.mix_lock, "Cargo.toml": compiled.cargo,
    "Cargo.lock": compiled.cargo_lock, "go.mod": compiled.go_mod, "pom.xml": compiled.pom,
    "build.gradle": compiled.gradle, "build.gradle.kts": compiled.gradle, "gradle.lockfile": compiled.gradle_lock,
    "packages.config": compiled.nuget_config, "Directory.Packages.props": compiled.nuget_project,
}  # fmt: skip
_BY_PATTERN: tuple[tuple[re.Pattern[str], Reader], ...] = (
    (re.compile(r"(?:^|/)requirements[^/]*\.txt$|(?:^|/)requirements/[^/]+\.txt$"), python.requirements),
    (re.compile(r"(?:^|/)[^/]*\.versions\.toml$"), compiled.version_catalog),
    (re.compile(r"\.(?:cs|fs|vb)proj$"), compiled.nuget_project),
    (re.compile(r"(?:^|/)(?:Dockerfile|Containerfile)(?:\.[^/]+)?$|\.[Dd]ockerfile$"), running.dockerfile),
    (re.compile(r"^\.github/workflows/[^/]+\.ya?ml$|(?:^|/)action\.ya?ml$"), running.workflow),
)


class Dependency(NamedTuple):
    """One library that a project declares: every range it asks for, every version that is fixed."""

    ecosystem: str
    name: str
    ranges: tuple[str, ...]
    locked: tuple[str, ...]


class Wanted(NamedTuple):
    """A library as a lesson names it: `[ecosystem:]name[@range]`."""

    ecosystem: str
    name: str
    range: str


def reader(path: str) -> Reader | None:
    """The reader for the file at `path` (from the root, with /), or None."""
    name = path.rpartition("/")[2]
    return _BY_NAME.get(name) or next((read for pattern, read in _BY_PATTERN if pattern.search(path)), None)


def read(root: str, paths: Iterable[str]) -> Iterator[Told | Skipped]:
    """What the files tell, in their order."""
    top = os.path.realpath(root)
    for path in paths:
        full = os.path.join(top, *path.split("/"))
        told = reader(path)
        if told is None or os.path.realpath(full) != full:
            continue
        try:
            with open(full, "rb") as file:
                data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise ValueError("it is too long")
            yield from list(told(data.decode("utf-8-sig", "replace")))
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            yield Skipped(path, 0, str(error)[:200])


def joined(told: Iterable[Told]) -> dict[tuple[str, str], Dependency]:
    """By ecosystem and plain name: what is declared, with the versions that lock files fix."""
    ranges: dict[tuple[str, str], list[str]] = {}
    locked: dict[tuple[str, str], list[str]] = {}
    for item in told:
        key = (item.ecosystem, plain_name(item.ecosystem, item.name))
        if item.declared:
            ranges.setdefault(key, []).append(item.range)
        if item.locked:
            locked.setdefault(key, []).append(item.locked)
    return {
        key: Dependency(*key, tuple(dict.fromkeys(asked)), tuple(dict.fromkeys(locked.get(key, ()))))
        for key, asked in ranges.items()
    }


def wanted(text: str) -> Wanted:
    """A library of a lesson in its parts. Without an ecosystem any of that name is meant."""
    text = text.strip()
    head, colon, rest = text.partition(":")
    ecosystem = head.lower() if colon and head.lower() in ECOSYSTEMS else ""
    text = rest if ecosystem else text
    cut = text.find("@", 1)
    if cut < 0:
        # `pydantic>=2` is how a requirement is written.
        found = re.match(r"([^\s<>=~!^]+)\s*([<>=~!^].*)?$", text)
        return Wanted(ecosystem, found[1] if found else text, (found[2] or "").strip() if found else "")
    return Wanted(ecosystem, text[:cut].strip(), text[cut + 1 :].strip())


def applies(text: str, found: dict[tuple[str, str], Dependency]) -> bool:
    """Whether the library that `text` names, in the versions it names, is among the dependencies."""
    want = wanted(text)
    for ecosystem in (want.ecosystem,) if want.ecosystem else ECOSYSTEMS:
        dependency = found.get((ecosystem, plain_name(ecosystem, want.name)))
        if dependency is not None and (
            not want.range
            or versions.matches(ecosystem, want.range, locked=dependency.locked, declared=dependency.ranges)
        ):
            return True
    return False
