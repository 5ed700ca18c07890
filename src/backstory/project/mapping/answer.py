"""The map as an answer, and as lines for people and agents."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


class Language(msgspec.Struct, frozen=True):
    """A language by the endings of its files; `share` of the bytes of all that have a language, from 0 to 1."""

    name: str
    files: int
    bytes: int
    share: float


class Package(msgspec.Struct, frozen=True):
    """A package that a manifest declares: `ecosystem` such as python or npm, `manifest` its path."""

    name: str
    ecosystem: str
    manifest: str
    version: str = ""


class EntryPoint(msgspec.Struct, frozen=True):
    """Where a program begins: the `name` it is started by, the file from the root or the object that it leads to, and
    the file that says so."""

    name: str
    target: str
    source: str


class Command(msgspec.Struct, frozen=True):
    """A command of the project: `purpose` is test, build, check, run or other; run it in `folder` ("" is the root)."""

    purpose: str
    command: str
    source: str
    folder: str = ""


class Folder(msgspec.Struct, frozen=True):
    """A folder with what is below it."""

    path: str
    files: int
    bytes: int


class ProjectMap(msgspec.Struct, frozen=True):
    """The project at the commit `head` ("" without one). `notes` say what could not be read or was left out."""

    head: str
    files: int
    bytes: int
    languages: tuple[Language, ...]
    packages: tuple[Package, ...]
    entry_points: tuple[EntryPoint, ...]
    commands: tuple[Command, ...]
    folders: tuple[Folder, ...]
    notes: tuple[str, ...] = ()


def lines(found: ProjectMap) -> Iterator[str]:
    """The map in lines of `topic: item`; texts are as the project has them, for the caller to make harmless."""
    at = f" at commit {found.head[:12]}" if found.head else ""
    yield f"{_files(found.files)}, {size(found.bytes)}{at}"
    for item in found.languages:
        yield f"language: {item.name}, {_files(item.files)}, {item.share:.0%}"
    for package in found.packages:
        version = f" {package.version}" if package.version else ""
        yield f"package: {package.name}{version} ({package.ecosystem}, {package.manifest})"
    for entry in found.entry_points:
        yield f"entry point: {entry.name} leads to {entry.target} ({entry.source})"
    for command in found.commands:
        where = f" in {command.folder}" if command.folder else ""
        yield f"{command.purpose}: {command.command}{where} ({command.source})"
    for folder in found.folders:
        yield f"folder: {folder.path}/, {_files(folder.files)}, {size(folder.bytes)}"
    yield from (f"note: {note}" for note in found.notes)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def size(count: int) -> str:
    """Bytes as people read them."""
    if count < 1024:
        return f"{count} bytes"
    return f"{count / 1024:.0f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"
