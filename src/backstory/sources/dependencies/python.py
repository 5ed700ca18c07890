"""pyproject (PEP 621, groups of PEP 735, Poetry), requirements, Pipfile, and their lock files."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from backstory.sources.dependencies.contract import Told, table


def pyproject(text: str) -> Iterator[Told]:
    """Every requirement of a `pyproject.toml`."""
    data = tomllib.loads(text)
    project = table(data.get("project"))
    lists = [project.get("dependencies"), *table(project.get("optional-dependencies")).values()]
    lists += [*table(data.get("dependency-groups")).values(), table(data.get("build-system")).get("requires")]
    for items in lists:
        for item in items if isinstance(items, list) else ():
            if isinstance(item, str):
                yield from requirement(item)
    poetry = table(table(data.get("tool")).get("poetry"))
    tables = [poetry.get("dependencies"), poetry.get("dev-dependencies")]
    tables += [table(group).get("dependencies") for group in table(poetry.get("group")).values()]
    for named in tables:
        yield from _named(table(named))


def requirement(line: str) -> Iterator[Told]:
    """A requirement of PEP 508; nothing for what is none."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        made = Requirement(line)
    except InvalidRequirement:
        return
    pins = [spec.version for spec in made.specifier if spec.operator in ("==", "===") and "*" not in spec.version]
    yield Told("pypi", made.name, str(made.specifier), pins[0] if pins else "")


def requirements(text: str) -> Iterator[Told]:
    """A requirements file: options, comments and hashes are no requirements."""
    for line in text.replace("\\\n", " ").splitlines():
        plain = re.split(r"(?:^|\s)#|\s--?\w", line, maxsplit=1)[0].strip()
        if plain and not plain.startswith("-"):
            yield from requirement(plain)


def pipfile(text: str) -> Iterator[Told]:
    """The packages of a Pipfile."""
    data = tomllib.loads(text)
    for name in ("packages", "dev-packages"):
        yield from _named(table(data.get(name)))


def pipfile_lock(text: str) -> Iterator[Told]:
    """The versions of a Pipfile.lock."""
    data = json.loads(text)
    for section in ("default", "develop"):
        for name, about in table(data.get(section)).items():
            version = table(about).get("version")
            if isinstance(version, str):
                yield Told("pypi", name, locked=version.lstrip("="), declared=False)


def lock(text: str) -> Iterator[Told]:
    """poetry.lock, uv.lock, pdm.lock, pylock.toml: all list packages with a name and a version."""
    data = tomllib.loads(text)
    for about in data.get("package", data.get("packages", ())):
        if isinstance(about, dict) and isinstance(about.get("version"), str):
            yield Told("pypi", str(about.get("name", "")), locked=about["version"], declared=False)


def _named(asked_for: dict[str, Any]) -> Iterator[Told]:
    for name, about in asked_for.items():
        if name == "python":
            continue
        items = about if isinstance(about, list) else [about]
        for item in items:
            asked = item if isinstance(item, str) else table(item).get("version", "")
            yield Told("pypi", name, asked if isinstance(asked, str) else "")
