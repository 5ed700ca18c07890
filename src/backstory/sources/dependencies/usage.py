"""Whether a file uses a library: an import line of it says so, or the file is a manifest that declares it.

No file is parsed whole: lines are matched, in the first `MAX_BYTES`. A name of a library and what is imported of it may
differ (PyYAML is `yaml`); the well-known ones are listed. What is not recognised is not used, so nothing is said of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator

from backstory.sources.dependencies.contract import ECOSYSTEMS, Told, plain_name
from backstory.sources.dependencies.reading import read, reader, wanted

MAX_BYTES = 256 << 10
_OTHER_NAMES = {
    "pyyaml": "yaml", "beautifulsoup4": "bs4", "scikit-learn": "sklearn", "pillow": "pil", "opencv-python": "cv2",
    "python-dateutil": "dateutil", "python-dotenv": "dotenv", "protobuf": "google.protobuf",
    "setuptools": "pkg_resources", "attrs": "attr", "pyjwt": "jwt", "psycopg2-binary": "psycopg2",
    "mysqlclient": "mysqldb", "pyserial": "serial", "grpcio": "grpc", "djangorestframework": "rest_framework",
    "pycryptodome": "crypto", "gitpython": "git",
}  # fmt: skip
_PYTHON = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\b|import\s+([\w., ]+))", re.MULTILINE)
_SCRIPT = re.compile(r"(?:\bfrom|\bimport|\brequire|\bimport\s*\(|\brequire\s*\()\s*['\"]([^'\"\n]{1,200})['\"]")
_RUST = re.compile(r"\b([A-Za-z_]\w*)::|^\s*(?:pub\s+)?(?:use|extern\s+crate)\s+(\w+)", re.MULTILINE)
_GO = re.compile(r"^\s*(?:import\s+)?(?:[\w.]+\s+)?\"([^\"\s]{1,300})\"\s*(?://.*)?$", re.MULTILINE)
_RUBY = re.compile(r"^\s*require\s*\(?\s*['\"]([^'\"\n]{1,200})['\"]", re.MULTILINE)
_DOTTED = re.compile(r"^\s*import\s+(?:static\s+)?([\w.]+)", re.MULTILINE)
_PHP = re.compile(r"^\s*use\s+\\?([\w\\]+)", re.MULTILINE)
_ELIXIR = re.compile(r"\b(?:alias|import|use|require)\s+([A-Z][\w.]*)")
_NET = re.compile(r"^\s*(?:global\s+)?(?:using|open|Imports)\s+(?:static\s+)?([\w.]+)", re.MULTILINE)


def _squeezed(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _below(path: str, name: str, sign: str) -> bool:
    return path == name or path.startswith(name + sign)


def _python(name: str, path: str) -> bool:
    path, plain = path.lower().replace("_", "-"), plain_name("pypi", name)
    known = _OTHER_NAMES.get(plain, plain).replace("_", "-")
    return any(_below(path.replace(".", "-"), one.replace(".", "-"), "-") and _top(path, one) for one in (plain, known))


def _top(path: str, name: str) -> bool:
    """`google-cloud-storage` is `google.cloud.storage`, but `requests` is not `requests-mock`."""
    return _below(path, name, ".") or _below(path, name.replace("-", "."), ".")


def _ruby(name: str, path: str) -> bool:
    return _below(path, name, "/") or _below(path, name.replace("-", "/"), "/")


def _maven(name: str, path: str) -> bool:
    group, _, artifact = name.partition(":")
    parts = path.lower().split(".")
    words = [word for word in re.split(r"[-_.]", artifact.lower()) if word]
    return _below(path, group, ".") or (bool(words) and all(word in parts for word in words))


# By the end of a file's name: ecosystem, what it imports, and whether an import is of a library.
_Language = tuple[str, re.Pattern[str], Callable[[str, str], bool]]
_LANGUAGES: dict[tuple[str, ...], _Language] = {
    (".py", ".pyi"): ("pypi", _PYTHON, _python),
    (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"): (
        "npm", _SCRIPT, lambda name, path: _below(path.lower(), name.lower(), "/")),
    (".rs",): ("cargo", _RUST, lambda name, path: path == name.replace("-", "_")),
    (".go",): ("go", _GO, lambda name, path: _below(path, name, "/")),
    (".rb", ".rake"): ("gem", _RUBY, _ruby),
    (".java", ".kt", ".kts", ".scala", ".groovy"): ("maven", _DOTTED, _maven),
    (".php",): ("composer", _PHP, lambda name, path: _squeezed(path.split("\\")[0]) in map(_squeezed, name.split("/"))),
    (".ex", ".exs"): ("hex", _ELIXIR, lambda name, path: _squeezed(path).startswith(_squeezed(name))),
    (".cs", ".fs", ".vb"): ("nuget", _NET, lambda name, path: _below(path.lower(), name.lower(), ".")),
}  # fmt: skip


class Usage:
    """What one file uses. `path` is relative to `root`, with /; a link is not followed. Read at the first question."""

    __slots__ = ("_imports", "_path", "_root", "_told")

    def __init__(self, root: str, path: str) -> None:
        self._root, self._path = root, path
        self._imports: list[str] | None = None
        self._told: set[tuple[str, str]] | None = None

    def library(self, text: str) -> bool:
        """Whether it uses the library that `text` names, as a lesson does: `[ecosystem:]name[@range]`."""
        want = wanted(text)
        if reader(self._path) is not None:
            asked = (want.ecosystem,) if want.ecosystem else ECOSYSTEMS
            return any((one, plain_name(one, want.name)) in self._declared() for one in asked)
        language = _language(self._path)
        if language is None or want.ecosystem not in ("", language[0]) or not want.name:
            return False
        return any(language[2](want.name, path) for path in self._imported(language[1]))

    def _declared(self) -> set[tuple[str, str]]:
        if self._told is None:
            found = (item for item in read(self._root, [self._path]) if isinstance(item, Told))
            self._told = {(item.ecosystem, plain_name(item.ecosystem, item.name)) for item in found}
        return self._told

    def _imported(self, pattern: re.Pattern[str]) -> list[str]:
        if self._imports is None:
            self._imports = list(dict.fromkeys(_paths(pattern, _text(self._root, self._path))))
        return self._imports


def _language(path: str) -> _Language | None:
    return next((language for ends, language in _LANGUAGES.items() if path.lower().endswith(ends)), None)


def _paths(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for groups in pattern.findall(text):
        for found in [groups] if isinstance(groups, str) else filter(None, groups):
            yield from _apart(found) if pattern is _PYTHON else [found]


def _apart(names: str) -> Iterable[str]:
    """`a.b as c, d` in its parts."""
    return (part.split()[0] for part in names.split(",") if part.split())


def _text(root: str, path: str) -> str:
    top = os.path.realpath(root)
    full = os.path.join(top, *path.split("/"))
    try:
        if os.path.realpath(full) != full or not os.path.isfile(full):
            return ""
        with open(full, "rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
