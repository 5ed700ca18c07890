"""Cargo, Go modules, Maven, Gradle and NuGet, with their lock files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from backstory.sources.dependencies.contract import Told, table

_GO = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/\S+)\s+(v\d\S*)", re.MULTILINE)
_POM = re.compile(r"<dependency>(.*?)</dependency>", re.DOTALL)
_TAG = r"<{0}>\s*([^<]*?)\s*</{0}>"
_GRADLE = re.compile(
    r"^\s*\w*(?:mplementation|api|ompileOnly|untimeOnly|rocessor|kapt|ksp|classpath)\s*\(?\s*(?:platform\s*\(\s*)?"
    r"['\"]([\w.-]+):([\w.-]+)(?::([^'\":@]+))?",
    re.MULTILINE,
)
_GRADLE_LOCKED = re.compile(r"^([\w.-]+:[\w.-]+):([^=\s]+)=", re.MULTILINE)
_NUGET = re.compile(r"<PackageReference\b([^>]*?)(?:/>|>(.*?)</PackageReference>)", re.DOTALL)
_NUGET_CONFIG = re.compile(r"<package\b([^>]*)/?>")


def cargo(text: str) -> Iterator[Told]:
    """The dependencies of a Cargo.toml, of its workspace and its targets too."""
    data = tomllib.loads(text)
    holders = [data, table(data.get("workspace")), *map(table, table(data.get("target")).values())]
    for holder in holders:
        for section in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, about in table(holder.get(section)).items():
                asked = about if isinstance(about, str) else table(about).get("version", "")
                yield Told("cargo", str(table(about).get("package", name)), asked if isinstance(asked, str) else "")


def cargo_lock(text: str) -> Iterator[Told]:
    """The versions of a Cargo.lock."""
    for about in tomllib.loads(text).get("package", ()):
        yield Told("cargo", str(about.get("name", "")), locked=str(about.get("version", "")), declared=False)


def go_mod(text: str) -> Iterator[Told]:
    """The modules that a go.mod requires: it names the version that is used."""
    plain = re.sub(r"^\s*(?:replace|exclude|retract)\s*(?:\(.*?^\s*\)|.*?$)", "", text, flags=re.DOTALL | re.MULTILINE)
    for name, version in _GO.findall(plain):
        yield Told("go", name, version, version)


def pom(text: str) -> Iterator[Told]:
    """The dependencies of a pom.xml; properties are looked up in the same file."""
    properties = dict(re.findall(r"<([\w.-]+)>\s*([^<>\s]+)\s*</\1>", text))
    for body in _POM.findall(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)):
        group, artifact, version = (_tag(body, name) for name in ("groupId", "artifactId", "version"))
        version = re.sub(r"\$\{([^}]+)\}", lambda found: properties.get(found[1], ""), version)
        if group and artifact:
            yield Told("maven", f"{group}:{artifact}", version)


def gradle(text: str) -> Iterator[Told]:
    """The dependencies that a build.gradle(.kts) names as texts."""
    for group, name, version in _GRADLE.findall(text):
        yield Told("maven", f"{group}:{name}", "" if "$" in version else version)


def version_catalog(text: str) -> Iterator[Told]:
    """The libraries of a libs.versions.toml."""
    data = tomllib.loads(text)
    versions = table(data.get("versions"))
    for about in table(data.get("libraries")).values():
        if isinstance(about, str):
            group, name, version = [*about.split(":"), "", ""][:3]
            yield Told("maven", f"{group}:{name}", version)
            continue
        item = table(about)
        module = item.get("module") or f"{item.get('group', '')}:{item.get('name', '')}"
        yield Told("maven", str(module), _catalogued(item.get("version"), versions))


def gradle_lock(text: str) -> Iterator[Told]:
    """The versions of a gradle.lockfile."""
    for name, version in _GRADLE_LOCKED.findall(text):
        yield Told("maven", name, locked=version, declared=False)


def nuget_project(text: str) -> Iterator[Told]:
    """The package references of a project file, and the versions of a Directory.Packages.props."""
    for attributes, body in _NUGET.findall(text.replace("<PackageVersion", "<PackageReference")):
        name = _attribute(attributes, "Include") or _attribute(attributes, "Update")
        if name:
            yield Told("nuget", name, _attribute(attributes, "Version") or _tag(body, "Version"))


def nuget_config(text: str) -> Iterator[Told]:
    """The packages of a packages.config: one version each."""
    for attributes in _NUGET_CONFIG.findall(text):
        name, version = _attribute(attributes, "id"), _attribute(attributes, "version")
        if name:
            yield Told("nuget", name, version, version)


def _catalogued(version: Any, versions: dict[str, Any]) -> str:
    if isinstance(version, dict) and "ref" in version:
        version = versions.get(str(version["ref"]), "")
    if isinstance(version, dict):
        version = version.get("strictly") or version.get("require") or version.get("prefer") or ""
    return version if isinstance(version, str) else ""


def _tag(text: str, name: str) -> str:
    found = re.search(_TAG.format(name), text)
    return found[1] if found else ""


def _attribute(text: str, name: str) -> str:
    found = re.search(rf"\b{name}\s*=\s*['\"]([^'\"]*)['\"]", text, re.IGNORECASE)
    return found[1] if found else ""
