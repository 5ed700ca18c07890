"""npm, Composer, Ruby gems and Hex packages, with their lock files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from backstory.sources.dependencies.contract import Told, table

_NPM = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_YARN_HEAD = re.compile(r'^"?((?:@[^/"\s]+/)?[^@"\s/]+)@')
_YARN_VERSION = re.compile(r'^\s+version:?\s+"?([^"\s]+)')
_PNPM = re.compile(r"^  ['\"]?/?((?:@[^/'\"\s]+/)?[^@/'\"\s]+)[@/](\d[^:('\"\s_]*)", re.MULTILINE)
_GEM = re.compile(r"^\s*gem\s*\(?\s*['\"]([^'\"]+)['\"](.*)$", re.MULTILINE)
_GEM_RANGE = re.compile(r",\s*['\"]([~<>=!\s\d][^'\"]*)['\"]")
_GEM_LOCKED = re.compile(r"^    ([\w.-]+) \(([^)\s]+)\)$", re.MULTILINE)
_MIX = re.compile(r"\{\s*:(\w+)\s*,(?:\s*\"([^\"]*)\")?")
_MIX_LOCKED = re.compile(r'"(\w+)":\s*\{:hex,\s*:\w+,\s*"([^"]+)"')


def package_json(text: str) -> Iterator[Told]:
    """The dependencies of a package.json; `npm:` aliases go by their real name."""
    data = table(json.loads(text))
    for section in _NPM:
        for name, asked in table(data.get(section)).items():
            if not isinstance(asked, str):
                continue
            alias = re.fullmatch(r"npm:((?:@[^/]+/)?[^@]+)@?(.*)", asked)
            found = (alias[1], alias[2]) if alias else (name, asked.removeprefix("workspace:"))
            yield Told("npm", *found)


def package_lock(text: str) -> Iterator[Told]:
    """The versions at the top of a package-lock.json or npm-shrinkwrap.json."""
    data = table(json.loads(text))
    for path, about in table(data.get("packages")).items():
        name = path.removeprefix("node_modules/")
        if name and path != name and "node_modules/" not in name:
            yield from _locked("npm", name, about)
    for name, about in table(data.get("dependencies")).items():
        yield from _locked("npm", name, about)


def yarn_lock(text: str) -> Iterator[Told]:
    """The versions of a yarn.lock of either format."""
    name = ""
    for line in text.splitlines():
        head = _YARN_HEAD.match(line)
        version = _YARN_VERSION.match(line)
        if head:
            name = head[1]
        elif version and name:
            yield Told("npm", name, locked=version[1], declared=False)
            name = ""


def pnpm_lock(text: str) -> Iterator[Told]:
    """The versions of a pnpm-lock.yaml."""
    for name, version in _PNPM.findall(text):
        yield Told("npm", name, locked=version, declared=False)


def composer(text: str) -> Iterator[Told]:
    """The requirements of a composer.json."""
    data = table(json.loads(text))
    for section in ("require", "require-dev"):
        for name, asked in table(data.get(section)).items():
            if "/" in name and isinstance(asked, str):
                yield Told("composer", name, asked.partition("@")[0])


def composer_lock(text: str) -> Iterator[Told]:
    """The versions of a composer.lock."""
    data = table(json.loads(text))
    for section in ("packages", "packages-dev"):
        items = data.get(section)
        for about in items if isinstance(items, list) else ():
            yield from _locked("composer", str(table(about).get("name", "")), about)


def gemfile(text: str) -> Iterator[Told]:
    """The gems of a Gemfile."""
    for name, rest in _GEM.findall(text):
        yield Told("gem", name, ", ".join(_GEM_RANGE.findall(rest)))


def gemfile_lock(text: str) -> Iterator[Told]:
    """The versions of a Gemfile.lock."""
    for name, version in _GEM_LOCKED.findall(text):
        yield Told("gem", name, locked=version, declared=False)


def mix(text: str) -> Iterator[Told]:
    """The dependencies of a mix.exs: tuples of a name and a requirement in `deps`."""
    body = re.search(r"defp?\s+deps\b.*?\n\s*end\b", text, re.DOTALL)
    for name, asked in _MIX.findall(body[0] if body else ""):
        yield Told("hex", name, asked)


def mix_lock(text: str) -> Iterator[Told]:
    """The versions of a mix.lock."""
    for name, version in _MIX_LOCKED.findall(text):
        yield Told("hex", name, locked=version, declared=False)


def _locked(ecosystem: str, name: str, about: Any) -> Iterator[Told]:
    version = table(about).get("version")
    if name and isinstance(version, str):
        yield Told(ecosystem, name, locked=version, declared=False)
