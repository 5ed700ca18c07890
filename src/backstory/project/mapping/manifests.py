"""What manifests say: packages, entry points and commands. Each reader takes one kind of file and yields what it finds.

A manifest comes with the repository: it is read as data, never run, at most 256 KiB of it, and never through a link.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from backstory.project.mapping.answer import Command, EntryPoint, Package

Fact = Package | EntryPoint | Command
MAX_BYTES = 1 << 18


class Place(NamedTuple):
    """A manifest: its path, its folder ("" is the root), its text, and the paths of all files of the project."""

    path: str
    folder: str
    text: str
    files: Collection[str]

    def beside(self, name: str) -> bool:
        """Whether a file of that name lies in the same folder."""
        return (f"{self.folder}/{name}" if self.folder else name) in self.files

    def at(self, name: str) -> str:
        """The path from the root of a file that the manifest names from its own folder, "" for none."""
        return posixpath.normpath(posixpath.join(self.folder, name)) if name else ""

    def command(self, purpose: str, command: str) -> Command:
        """A command that this manifest stands for."""
        return Command(purpose, command, self.path, self.folder)


def read(root: str, path: str) -> str | None:
    """The text of a manifest in the work tree; None where it cannot be read there as what it is."""
    full = os.path.join(root, *path.split("/"))
    if os.path.realpath(full) != os.path.join(os.path.realpath(root), *path.split("/")):
        return None
    try:
        with open(full, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return None
    return data.decode("utf-8-sig", "replace") if len(data) <= MAX_BYTES else None


def reader(path: str) -> Callable[[Place], Iterator[Fact]] | None:
    """The reader for a file of this name; None for what is no manifest."""
    name = path.rpartition("/")[2]
    return _READERS.get(name) or (_dotnet if name.endswith((".csproj", ".fsproj", ".sln")) else None)


def purpose_of(name: str) -> str:
    """What a script or target of this name is for."""
    parts = re.split(r"[-_:.]", name.lower())
    if any(part in _TIDYING for part in parts):
        return "other"
    for purpose, words in _PURPOSES.items():
        if any(part in words for part in parts):
            return purpose
    return "other"


_PURPOSES = {
    "test": ("test", "tests", "spec", "e2e", "unit"),
    "check": ("check", "lint", "typecheck", "types", "format", "fmt", "verify"),
    "build": ("build", "compile", "dist", "package", "bundle", "docs", "install"),
    "run": ("start", "dev", "serve", "run", "watch"),
}
# What such a target names beside it is what it takes away.
_TIDYING = ("clean", "clear", "clobber", "delete", "prune", "purge", "remove", "reset", "rm")


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _pyproject(place: Place) -> Iterator[Fact]:
    import tomllib

    data = tomllib.loads(place.text)
    project, tool = _table(data.get("project")), _table(data.get("tool"))
    about = {**_table(tool.get("poetry")), **project}
    if _word(about.get("name")):
        yield Package(about["name"], "python", place.path, _word(about.get("version")))
    for table in ("scripts", "gui-scripts"):
        for name, target in _table(about.get(table)).items():
            yield EntryPoint(name, _word(target) or str(target), place.path)
    if "pytest" in tool or place.beside("pytest.ini"):
        yield place.command("test", "python -m pytest")
    if "build-system" in data:
        yield place.command("build", "python -m build")


def _setup(place: Place) -> Iterator[Fact]:
    if re.search(r"^\s*(?:from|import)\s+(?:setuptools|distutils)\b", place.text, re.MULTILINE):
        yield place.command("build", "python -m build")


def _npm(place: Place) -> Iterator[Fact]:
    data = _table(json.loads(place.text))
    name = _word(data.get("name"))
    if name:
        yield Package(name, "npm", place.path, _word(data.get("version")))
    bins = data.get("bin")
    for key, target in (_table(bins) or ({name: bins} if isinstance(bins, str) else {})).items():
        yield EntryPoint(str(key), place.at(_word(target)), place.path)
    if _word(data.get("main")):
        yield EntryPoint(name or "main", place.at(data["main"]), place.path)
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
    runner = next((tool for lock, tool in locks.items() if place.beside(lock)), "npm")
    for key in _table(data.get("scripts")):
        yield place.command(purpose_of(key), f"{runner} run {key}")


def _cargo(place: Place) -> Iterator[Fact]:
    import tomllib

    data = tomllib.loads(place.text)
    package = _table(data.get("package"))
    name = _word(package.get("name"))
    if name:
        yield Package(name, "cargo", place.path, _word(package.get("version")))
        if place.beside("src/main.rs"):
            yield EntryPoint(name, place.at("src/main.rs"), place.path)
    for made in data.get("bin", ()) if isinstance(data.get("bin"), list) else ():
        about = _table(made)
        yield EntryPoint(_word(about.get("name")), place.at(_word(about.get("path")) or "src/bin"), place.path)
    if name or "workspace" in data:
        yield place.command("test", "cargo test")
        yield place.command("build", "cargo build")


def _go(place: Place) -> Iterator[Fact]:
    found = re.search(r"^module\s+(\S+)", place.text, re.MULTILINE)
    if found:
        yield Package(found[1], "go", place.path)
    start = f"{place.folder}/" if place.folder else ""
    for path in place.files:
        inside = path[len(start) :] if path.startswith(start) else ""
        if inside == "main.go" or re.fullmatch(r"cmd/[^/]+/main\.go", inside):
            yield EntryPoint(inside.rpartition("/")[0] or "main", path, place.path)
    yield place.command("test", "go test ./...")
    yield place.command("build", "go build ./...")


def _targets(place: Place) -> Iterator[Fact]:
    """Makefile and justfile: targets that a person may call, by their names."""
    tool = "just" if place.path.lower().endswith("justfile") else "make"
    for name in dict.fromkeys(re.findall(r"^([A-Za-z][\w-]*)[^:=\n]*:(?![=:])", place.text, re.MULTILINE)):
        if purpose_of(name) != "other":
            yield place.command(purpose_of(name), f"{tool} {name}")


def _maven(place: Place) -> Iterator[Fact]:
    own = re.sub(r"<(parent|dependencies|build|profiles)>.*?</\1>", "", place.text, flags=re.DOTALL)
    name, version = (re.search(rf"<{tag}>\s*([^<\s]+)\s*</{tag}>", own) for tag in ("artifactId", "version"))
    if name:
        yield Package(name[1], "maven", place.path, version[1] if version else "")
    yield place.command("test", "mvn test")
    yield place.command("build", "mvn package")


def _gradle(place: Place) -> Iterator[Fact]:
    runner = "./gradlew" if place.beside("gradlew") else "gradle"
    yield place.command("test", f"{runner} test")
    yield place.command("build", f"{runner} build")


def _composer(place: Place) -> Iterator[Fact]:
    data = _table(json.loads(place.text))
    if _word(data.get("name")):
        yield Package(data["name"], "composer", place.path, _word(data.get("version")))
    for key in _table(data.get("scripts")):
        if purpose_of(key) != "other":
            yield place.command(purpose_of(key), f"composer run {key}")


def _cmake(place: Place) -> Iterator[Fact]:
    found = re.search(r"^\s*project\s*\(\s*([\w.+-]+)", place.text, re.MULTILINE | re.IGNORECASE)
    if found:
        yield Package(found[1], "cmake", place.path)
        yield place.command("build", "cmake -B build && cmake --build build")
        if re.search(r"enable_testing|include\s*\(\s*CTest", place.text, re.IGNORECASE):
            yield place.command("test", "ctest --test-dir build")


def _mix(place: Place) -> Iterator[Fact]:
    found = re.search(r"\bapp:\s*:(\w+)", place.text)
    if found:
        yield Package(found[1], "mix", place.path)
    yield place.command("test", "mix test")


def _dotnet(place: Place) -> Iterator[Fact]:
    if not place.path.endswith(".sln"):
        yield Package(place.path.rpartition("/")[2].rpartition(".")[0], "dotnet", place.path)
    if "/" not in place.path:
        yield place.command("test", "dotnet test")
        yield place.command("build", "dotnet build")


def _runs(purpose: str, command: str) -> Callable[[Place], Iterator[Fact]]:
    """A file whose being there is all that it says."""

    def known(place: Place) -> Iterator[Fact]:
        yield place.command(purpose, command)

    return known


_READERS: dict[str, Callable[[Place], Iterator[Fact]]] = {
    "pyproject.toml": _pyproject, "package.json": _npm, "Cargo.toml": _cargo, "go.mod": _go, "Makefile": _targets,
    "makefile": _targets, "GNUmakefile": _targets, "justfile": _targets, "Justfile": _targets, "pom.xml": _maven,
    "build.gradle": _gradle, "build.gradle.kts": _gradle, "composer.json": _composer, "CMakeLists.txt": _cmake,
    "mix.exs": _mix, "tox.ini": _runs("test", "tox"), "noxfile.py": _runs("test", "nox"),
    ".rspec": _runs("test", "bundle exec rspec"), "Rakefile": _runs("build", "rake"),
    "setup.py": _setup, "pytest.ini": _runs("test", "python -m pytest"),
}  # fmt: skip
NAMES = frozenset(_READERS)
