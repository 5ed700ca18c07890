"""Languages by the endings of file names, and the biggest folders."""

from __future__ import annotations

from backstory.project.mapping.answer import Folder, Language
from backstory.project.mapping.tree import foreign

MOST_LANGUAGES, MOST_FOLDERS, DEPTH = 8, 12, 2
_ENDINGS = {
    "Python": "py pyi pyx", "JavaScript": "js jsx mjs cjs", "TypeScript": "ts tsx mts cts", "Go": "go", "Rust": "rs",
    "Java": "java", "Kotlin": "kt kts", "Scala": "scala sc", "C": "c h", "C++": "cc cpp cxx hpp hh hxx", "C#": "cs",
    "F#": "fs fsx", "Swift": "swift", "Objective-C": "m mm", "Ruby": "rb", "PHP": "php", "Perl": "pl pm", "Lua": "lua",
    "R": "r", "Julia": "jl", "Haskell": "hs", "OCaml": "ml mli", "Elixir": "ex exs", "Erlang": "erl hrl",
    "Dart": "dart",
    "Zig": "zig", "Nim": "nim", "Clojure": "clj cljs cljc", "Shell": "sh bash zsh fish", "PowerShell": "ps1 psm1",
    "SQL": "sql", "HTML": "html htm", "CSS": "css scss sass less", "Vue": "vue", "Svelte": "svelte",
    "Terraform": "tf", "Protocol Buffers": "proto", "Markdown": "md rst", "Nix": "nix", "Solidity": "sol",
}  # fmt: skip
LANGUAGE = {ending: name for name, endings in _ENDINGS.items() for ending in endings.split()}


def languages(files: dict[str, int]) -> tuple[Language, ...]:
    """The languages of `files` by bytes, the most first; what others wrote is left out."""
    counts: dict[str, list[int]] = {}
    for path, size in files.items():
        name = LANGUAGE.get(path.rpartition(".")[2].lower()) if "." in path.rpartition("/")[2] else None
        if name and not foreign(path):
            count = counts.setdefault(name, [0, 0])
            count[0] += 1
            count[1] += size
    total = sum(size for _, size in counts.values()) or 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1][1], item[0]))
    return tuple(Language(name, count, size, round(size / total, 4)) for name, (count, size) in ranked[:MOST_LANGUAGES])


def folders(files: dict[str, int]) -> tuple[Folder, ...]:
    """The folders of the first two levels with the most files."""
    counts: dict[str, list[int]] = {}
    for path, size in files.items():
        parts = path.split("/")[:-1]
        for depth in range(1, min(DEPTH, len(parts)) + 1):
            count = counts.setdefault("/".join(parts[:depth]), [0, 0])
            count[0] += 1
            count[1] += size
    ranked = sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))[:MOST_FOLDERS]
    return tuple(Folder(path, count, size) for path, (count, size) in sorted(ranked))
