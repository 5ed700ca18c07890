"""The configurations of hook managers: a marked block is put into their YAML, comments and order untouched.

The lines are placed by their indentation, and the result is read by a YAML parser: where it says anything but the old
content with ours added, nothing is written and the lines to add by hand are shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from backstory.errors import BackstoryError, Exit
from backstory.project.git_hooks import blocks
from backstory.project.git_hooks.scripts import one_command, quoted

_KEY = "backstory"


def in_pre_commit(data: bytes, names: list[str], path: str) -> bytes:
    """`.pre-commit-config.yaml` with a local hook for each of `names`; `BackstoryError` where it has another shape."""
    lines = _pre_commit_lines(names)
    text = _lines_of(data, path)
    span = _section(text, 0, len(text), "repos", 0)
    if span is None:
        raise _by_hand(path, ["repos:", *(f"  {line}" for line in lines)])
    _, end, indent = span
    made = blocks.put(data, lines, line=end, indent=" " * indent)
    return _checked(path, data, made, _without_repo, ["repos:", *(f"  {line}" for line in lines)])


def in_lefthook(data: bytes, names: list[str], path: str) -> bytes:
    """`lefthook.yml` with a command for each of `names`; `BackstoryError` where it has another shape."""
    if not path.endswith((".yml", ".yaml")):
        raise _by_hand(path, _lefthook_by_hand(names))
    made = data
    for name in names:
        made = _in_hook(made, name, path)
    return _checked(path, data, made, _without_command, _lefthook_by_hand(names))


def _in_hook(data: bytes, name: str, path: str) -> bytes:
    text = _lines_of(data, path)
    hook = _section(text, 0, len(text), name, 0)
    if hook is None:
        return blocks.put(data, [f"{name}:", "  commands:", *_lefthook_lines(name, "    ")])
    start, end, indent = hook
    commands = _section(text, start + 1, end, "commands", indent)
    if commands is None:
        step = " " * indent
        return blocks.put(data, [f"{step}commands:", *_lefthook_lines(name, step * 2)], line=end)
    _, end, inner = commands
    return blocks.put(data, _lefthook_lines(name, " " * inner), line=end)


def _pre_commit_lines(names: list[str]) -> list[str]:
    lines = ["- repo: local", "  hooks:"]
    for name in names:
        lines += [
            f"    - id: backstory-{name}",
            f"      name: backstory {name}",
            "      entry: >-",
            f"        sh -c {quoted(one_command(name))}",
            "      language: system",
            "      always_run: true",
            "      pass_filenames: false",
            "      require_serial: true",
            "      verbose: true",
            f"      stages: [{name}]",
        ]
    return lines


def _lefthook_lines(name: str, indent: str) -> list[str]:
    stdin = [f"{indent}  use_stdin: true"] if name == "post-rewrite" else []
    return [f"{indent}{_KEY}:", f"{indent}  run: |", f"{indent}    {one_command(name)} {{0}}", *stdin]


def _lefthook_by_hand(names: list[str]) -> list[str]:
    return [line for name in names for line in (f"{name}:", "  commands:", *_lefthook_lines(name, "    "))]


def _lines_of(data: bytes, path: str) -> list[str]:
    try:
        return data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise _by_hand(path, []) from error


def _section(lines: list[str], start: int, end: int, key: str, indent: int) -> tuple[int, int, int] | None:
    """(line of `key` at `indent`, line behind its last content, indentation of its content), or None.

    Comments behind the last content are left to what follows.
    """
    head = re.compile(rf"^ {{{indent}}}(['\"]?){re.escape(key)}\1:\s*(#.*)?$")
    first = next((number for number in range(start, end) if head.match(lines[number].rstrip("\r"))), None)
    if first is None:
        return None
    last, inner = first, -1
    for number in range(first + 1, end):
        text = lines[number].rstrip()
        depth = len(text) - len(text.lstrip(" "))
        if not text or (text.lstrip().startswith("#") and depth <= max(inner, indent)):
            continue
        if depth < indent or (depth == indent and not text.lstrip().startswith("- ")) or text in ("---", "..."):
            break
        inner = depth if inner < 0 else inner
        last = number
    return None if inner < 0 else (first, last + 1, inner)


def _checked(path: str, before: bytes, after: bytes, without: Callable[[Any], Any], by_hand: list[str]) -> bytes:
    """`after`, if it says what `before` says and ours besides."""
    import yaml

    try:
        old, new = yaml.safe_load(before) or {}, yaml.safe_load(after)
    except yaml.YAMLError as error:
        raise _by_hand(path, by_hand) from error
    if not isinstance(old, dict) or old == new or _pruned(without(new)) != _pruned(old):
        raise _by_hand(path, by_hand)
    return after


def _without_repo(data: Any) -> Any:
    return {**data, "repos": [repo for repo in data["repos"] if not _ours(repo)]}


def _ours(repo: Any) -> bool:
    hooks = repo.get("hooks") if isinstance(repo, dict) else None
    ids = [str(hook.get("id", "")) for hook in hooks or () if isinstance(hook, dict)]
    return bool(ids) and all(id_.startswith("backstory-") for id_ in ids)


def _without_command(data: Any) -> Any:
    return {name: _without_ours(hook) if isinstance(hook, dict) else hook for name, hook in data.items()}


def _without_ours(hook: dict[str, Any]) -> dict[str, Any]:
    commands = hook.get("commands")
    if not isinstance(commands, dict):
        return hook
    return {**hook, "commands": {name: value for name, value in commands.items() if name != _KEY}}


def _pruned(data: Any) -> Any:
    """Without the hooks and lists of commands that hold nothing: they come and go with ours."""
    if not isinstance(data, dict):
        return data
    kept = {name: _pruned(value) for name, value in data.items()}
    return {name: value for name, value in kept.items() if value not in ({}, None)}


def _by_hand(path: str, lines: list[str]) -> BackstoryError:
    shown = "\n".join(f"  {line}" for line in lines)
    return BackstoryError(
        f"{path} has a shape that is not changed without a person.",
        hint=f"Add this by hand:\n{shown}" if lines else "Save it as UTF-8, then run the command again.",
        code=Exit.REFUSED,
    )
