"""The shell text of hooks: POSIX sh and its built-ins only, so that an empty PATH does no harm.

Two parts. The launcher lies in the clone's git folder, is never committed, and knows the interpreter by its full
path. The hook files and blocks know only where the launcher is; they may be committed, and where a clone has no
launcher they do nothing. A hook fails its host in one case: `--block` and something found at block level.
"""

from __future__ import annotations

HOOKS = ("pre-commit", "post-commit", "post-merge", "post-checkout", "post-rewrite")
LAUNCHER = "git-hook"
# Kept beside our hook and run first.
BEFORE = ".before-backstory"
# Python itself ends with 1 for an uncaught exception and 2 for a command line that it cannot read.
BLOCKED = 4
SHEBANG = "#!/bin/sh"
_ADDED = "# folder added: "


def launcher(python: str, entry: str, *, block: bool, folder: str = "") -> str:
    """What every hook of the clone calls with its name and arguments. `folder` is one that installing has made."""
    option = " --block" if block else ""
    lines = [
        SHEBANG,
        "# Written by `backstory git-hooks install`, which writes it anew; every hook of this clone calls it.",
        *([f"{_ADDED}{folder}"] if folder else []),
        f"python={quoted(python)}",
        f"entry={quoted(entry)}",
        '[ -x "$python" ] && [ -f "$entry" ] || exit 0',
        f'"$python" -I -S "$entry"{option} "$@"',
        f"[ $? -ne {BLOCKED} ]",
    ]
    return "\n".join(lines) + "\n"


def added_folder(text: str) -> str:
    """The folder that the launcher `text` says was made by installing, or ""."""
    found = [line for line in text.splitlines() if line.startswith(_ADDED)]
    return found[0][len(_ADDED) :] if found else ""


def started(text: str) -> list[str]:
    """The interpreter and the file that the launcher `text` starts."""
    found = [line.partition("=")[2] for line in text.splitlines() if line.startswith(("python='", "entry='"))]
    return [word[1:-1].replace("'\\''", "'") for word in found]


def blocks(text: str) -> bool:
    """Whether the launcher `text` lets a hook block."""
    return '"$entry" --block ' in text


def quoted(text: str) -> str:
    """`text` as one word of the shell, whatever it holds."""
    return "'" + text.replace("'", "'\\''") + "'"


def own(name: str) -> list[str]:
    """The body of a hook file in the clone's own hooks folder: what was there before runs first."""
    first, ours = '"$here/' + name + BEFORE + '"', f'"$here/../backstory/{LAUNCHER}"'
    start = ["here=${0%/*}", "status=0"]
    if name == "pre-commit":
        return [*start[:1], *_when(first, f'{first} "$@" || exit $?'), *_when(ours, f'{ours} {name} "$@" || exit 1')]
    call = f'{ours} {name} "$@" || :'
    if name != "post-rewrite":
        return [*start, *_when(first, f'{first} "$@" || status=$?'), *_when(ours, call), *_ended()]
    # Both want to read what git says: `read` and `printf` are the shell's own.
    return [
        *start,
        f"if [ -x {first} ]; then",
        "    pairs=$(while IFS= read -r line; do printf '%s\\n' \"$line\"; done)",
        f'    printf \'%s\\n\' "$pairs" | {first} "$@" || status=$?',
        f"    [ ! -x {ours} ] || printf '%s\\n' \"$pairs\" | {call}",
        f"elif [ -x {ours} ]; then",
        f"    {call}",
        "fi",
        *_ended(),
    ]


def shared(name: str, *, first: bool = False) -> list[str]:
    """The lines for a file that the project shares. `first`: others come behind and may want to read stdin too."""
    call = f'"$backstory_git/backstory/{LAUNCHER}" {name} "$@"'
    call += " </dev/null" if first and name == "post-rewrite" else ""
    return [
        "backstory_git=$(git rev-parse --git-common-dir 2>/dev/null) || backstory_git=",
        f'if [ -n "$backstory_git" ] && [ -x "$backstory_git/backstory/{LAUNCHER}" ]; then',
        f"    {call} || {'exit 1' if name == 'pre-commit' else ':'}",
        "fi",
    ]


def one_command(name: str) -> str:
    """The same as one line, for the configuration of a manager."""
    there = f'[ -x "$d/backstory/{LAUNCHER}" ]'
    return f'd=$(git rev-parse --git-common-dir) && {there} || exit 0; "$d/backstory/{LAUNCHER}" {name}'


def _when(program: str, call: str) -> list[str]:
    return [f"if [ -x {program} ]; then", f"    {call}", "fi"]


def _ended() -> list[str]:
    return ['[ "$status" -eq 0 ] || exit "$status"']
