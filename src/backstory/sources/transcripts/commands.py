"""What a shell line is, beyond its letters: which folder it runs in, which program it is about, whether its exit says
anything, and when two lines are the same command.

Agents write one command in many ways (`cd x && timeout 60 pytest -q 2>&1 | tail -20`). Nothing here runs or expands
anything; a line that cannot be understood is taken as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

# Programs that use exit code 1 for an answer: nothing found, files differ, the condition is false.
ANSWERS_WITH_ONE = frozenset(
    "grep egrep fgrep rg ag ack zgrep ls find fd test [ [[ diff cmp comm which whereis type pgrep pidof pkill killall"
    " expr let stat command hash locate jq yq diff3 sdiff".split()
)
_GIT_ANSWERS = frozenset({"diff", "grep", "check-ignore", "merge-base", "show-ref", "ls-remote", "diff-index"})
_WRAPPERS = frozenset("sudo time timeout env nice nohup command exec xvfb-run stdbuf caffeinate unbuffer".split())
# Programs that only cut or show what another one printed.
_FILTERS = frozenset("head tail grep egrep rg sed awk cat tee less more sort uniq wc cut tr column fold jq".split())
_CD = re.compile(r"""^\s*\(?\s*(?:cd|pushd)\s+(?:--\s+)?("(?:[^"\\]|\\.)*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;|\n)\s*""")
_SET = re.compile(r"^\s*(?:set\s+[-+][\w-]+(?:\s+pipefail)?|source\s+\S+|\.\s+\S+|export\s+\w+=\S*)\s*(?:&&|;|\n)\s*")
_ASSIGNED = re.compile(r"^\s*\w+=(?:\"[^\"]*\"|'[^']*'|[^\s;&|]*)\s+")
_HIDES = re.compile(r"(?:\|\||;)\s*(?:true|:|echo\b[^|&;]*|exit\s+0|/bin/true)\s*(?:\)|$)")
_REDIRECT = re.compile(r"\s*(?:\d?>&\d|&>>?\s*\S+|\d?>>?\s*(?:/dev/null|&\d))")
_DURATION = re.compile(r"^-?-?\w*[=\d.]+[smhd]?$")
_QUOTED = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*\"""")
_SPACE = re.compile(r"\s+")
_STOPS = re.compile(r"\\.|['\"`;\n]|&&|\|\|?", re.DOTALL)
_COMMITTED = re.compile(r"^\[[^\]\n]*?\b([0-9a-f]{7,40})\] ", re.MULTILINE)
# Of an output; git says what it committed near its begin.
_TOLD = 20_000
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n.*?^\s*\1\s*$", re.DOTALL | re.MULTILINE)


class Line(msgspec.Struct, frozen=True):
    """A shell line, understood as far as it goes.

    `folder` is where it goes first ("" for nowhere), `same` is equal for two lines that run the same command, `program`
    the one it is about (`pytest`, `npm test`, `git commit`), `exit_tells` whether its exit code is that of the command.
    """

    folder: str
    same: str
    program: str
    exit_tells: bool


@lru_cache(maxsize=4_096)
def understood(command: str) -> Line:
    """What the line runs."""
    text, folder = command[:8_000], ""
    if "<<" in text:
        text = _HEREDOC.sub("<<", text)
    while True:
        went = _CD.match(text)
        if went:
            folder = _unquoted(went[1]) if not folder or _unquoted(went[1]).startswith("/") else folder
            text = text[went.end() :]
            continue
        skipped = _SET.match(text)
        if not skipped:
            break
        text = text[skipped.end() :]
    hidden = ("||" in text or ";" in text) and bool(_HIDES.search(_QUOTED.sub("''", text.strip())))
    steps = _split(text)
    last = _pipeline(steps[-1]) if steps else []
    main = next((step for step in reversed(last) if _words(step)[:1] and _words(step)[0] not in _FILTERS), "")
    main = main or (last[0] if last else "")
    same = _SPACE.sub(" ", " && ".join(_plain(step) for step in steps)).strip()
    filtered = len(last) > 1 and "pipefail" not in command
    return Line(folder, same, _program(_words(main)), not hidden and not filtered)


def is_failure(command: str, outcome: str, code: int | None) -> bool:
    """Whether a shell call that ended so failed: exit 1 of a program that answers with it is an answer."""
    if outcome != "error":
        return False
    line = understood(command)
    first = line.program.split(" ")[0] if line.program else ""
    if code in (1, None) and first in ANSWERS_WITH_ONE:
        return False
    if code == 1 and first == "git" and line.program.removeprefix("git ") in _GIT_ANSWERS:
        return False
    # 130 and 143: somebody or something stopped it; that says nothing of the command.
    return code not in (130, 137, 143)


def commits_told(command: str, output: str) -> list[str]:
    """The short ids of the commits that git says it made."""
    return _COMMITTED.findall(output[:_TOLD]) if "commit" in command else []


def _split(text: str) -> list[str]:
    """The commands of a line, at `&&`, `;` and line ends outside of quotes."""
    return [part for part in _cut(text, ("&&", ";", "\n", "||")) if part.strip() and not part.strip().startswith("#")]


def _pipeline(step: str) -> list[str]:
    return [part for part in _cut(step, ("|",)) if part.strip()]


def _cut(text: str, marks: tuple[str, ...]) -> list[str]:
    parts, start, quote = [], 0, ""
    for found in _STOPS.finditer(text):
        stop = found[0]
        if stop[0] == "\\" and quote != "'":
            continue
        if quote:
            # In single quotes a backslash is a letter: the quote behind it closes.
            quote = "" if stop[-1] == quote else quote
        elif stop in "'\"`":
            quote = stop
        elif stop in marks:
            parts.append(text[start : found.start()])
            start = found.end()
    return [*parts, text[start:]]


def _plain(step: str) -> str:
    """A step without what changes only how its output is shown."""
    pipeline = _pipeline(step)
    while len(pipeline) > 1 and _words(pipeline[-1])[:1] and _words(pipeline[-1])[0] in _FILTERS:
        pipeline.pop()
    return " | ".join(" ".join(_unwrapped(_REDIRECT.sub("", part).split())) for part in pipeline)


def _words(step: str) -> list[str]:
    text = step.strip().lstrip("({").strip()
    while True:
        assigned = _ASSIGNED.match(text)
        if not assigned:
            break
        text = text[assigned.end() :]
    return _unwrapped(_REDIRECT.sub("", text).split())


def _unwrapped(words: list[str]) -> list[str]:
    while words and words[0] in _WRAPPERS:
        words = words[1:]
        while words and (_DURATION.match(words[0]) or words[0].startswith("-") or re.match(r"^\w+=", words[0])):
            words = words[1:]
    return words


def _program(words: list[str]) -> str:
    """The program by name, with the word that says what it does: `npm test`, `git commit`, `python -m pytest`."""
    if not words:
        return ""
    name = _unquoted(words[0]).rsplit("/", 1)[-1]
    rest = words[1:]
    if re.match(r"^python[\d.]*$|^py$", name) and rest[:1] == ["-m"] and len(rest) > 1:
        return rest[1].rsplit(".", 1)[-1] if rest[1] != "pip" else "pip"
    if name in ("uv", "poetry", "pdm", "hatch", "pipenv", "rye") and rest[:1] == ["run"]:
        return _program([word for word in rest[1:] if not word.startswith("-")])
    if name in ("npx", "bunx", "pnpx", "uvx"):
        return _program([word for word in rest if not word.startswith("-")])
    if name in _TWO_WORDS:
        second = [word for word in rest if not word.startswith("-")]
        if name == "git" and "-C" in rest:
            second = [word for word in second if word != rest[rest.index("-C") + 1 : rest.index("-C") + 2][0]]
        if name in ("npm", "pnpm", "yarn", "bun") and second[:1] in (["run"], ["exec"]):
            second = second[1:]
        return f"{name} {second[0]}" if second else name
    return name


_TWO_WORDS = frozenset(
    "git npm pnpm yarn bun cargo go make just docker kubectl dotnet gradle ./gradlew gradlew mvn mix bundle rake rails"
    " composer terraform gh pip pip3 brew apt apt-get systemctl deno swift flutter task tox nox uv poetry".split()
)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
