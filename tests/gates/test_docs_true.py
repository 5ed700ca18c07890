"""The instructions are true: the commands that README.md and AGENTS.md name exist, and links lead somewhere.

Commands are read from fenced `sh` and `console` blocks. In a block with `$ ` prompts only the prompted lines
are commands, the rest is output. Nothing is run: `make` targets are looked up in the Makefile, `backstory`
commands and their options in the command line itself.
"""

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import click
import pytest

ROOT = Path(__file__).resolve().parents[2]
INSTRUCTIONS = ("README.md", "AGENTS.md")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([\w-]*)")
_LINK = re.compile(
    r"\]\(\s*<?([^)<>\s]+)>?(?:\s+[\"'(][^)]*)?\)"  # the end of an inline link or picture
    r"|^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?\s*$"  # a reference
)
_SHELL = {"sh", "console", "bash", "shell"}


class Line(NamedTuple):
    """A line of a Markdown file; `language` is None outside fenced blocks."""

    number: int
    text: str
    language: str | None
    block: int


def read(path: Path) -> str:
    assert path.is_file(), f"{path.name} is missing, so nobody is told how to use or change the project."
    return path.read_text(encoding="utf-8")


def lines(markdown: str) -> Iterator[Line]:
    """Every line with the language of the fenced block it is in; the fences themselves are left out."""
    fence, language, block = "", None, 0
    for number, text in enumerate(markdown.splitlines(), 1):
        match = _FENCE.match(text)
        if match and not fence:
            fence, language, block = match[1], match[2].lower(), block + 1
        elif match and match[1].startswith(fence) and text.strip() == match[1]:
            fence, language = "", None
        else:
            yield Line(number, text, language, block)


def commands(markdown: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and words of each simple command in the shell blocks."""
    blocks: dict[int, list[Line]] = {}
    for line in lines(markdown):
        if line.language in _SHELL:
            blocks.setdefault(line.block, []).append(line)
    for block in blocks.values():
        prompted = any(line.text.lstrip().startswith("$ ") for line in block)
        pending = ""
        for line in block:
            text = line.text.strip()
            if prompted and not pending and not text.startswith("$ "):
                continue
            text = pending + (text.removeprefix("$ ") if not pending else text)
            pending = text[:-1] + " " if text.endswith("\\") else ""
            if not pending:
                for words in _simple_commands(text):
                    yield line.number, words


def _simple_commands(text: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if set(word) <= set("|&;"):
            yield words
            words = []
        elif words or not re.fullmatch(r"[A-Za-z_]\w*=.*", word):
            words.append(word)
    yield words


def make_targets(makefile: str) -> set[str]:
    return {
        target for match in re.finditer(r"^([\w./ -]+):(?!=)", makefile, re.MULTILINE) for target in match[1].split()
    }


def unknown_targets(markdown: str, makefile: str) -> list[str]:
    """`make` commands that name a target which does not exist."""
    known = make_targets(makefile)
    return [
        f"line {number}: make has no target {word!r}."
        for number, words in commands(markdown)
        if words[:1] == ["make"]
        for word in words[1:]
        if not word.startswith("-") and "=" not in word and word not in known
    ]


def unknown_commands(markdown: str, load: Callable[[], tuple[click.Group, set[str]]]) -> list[str]:
    """`backstory` commands that the command line, which `load` gives with its names, would not parse."""
    findings = []
    for number, words in commands(markdown):
        if words[:1] == ["backstory"]:
            group, registered = load()
            problem = _problem(group, words[1:], registered)
            if problem:
                findings.append(f"line {number}: {' '.join(words)}: {problem}")
    return findings


def _problem(command: click.Command, words: list[str], registered: set[str] | None) -> str | None:
    """Why `command` does not take `words`, or None. Values are not judged, only names and their number."""
    context = click.Context(command, info_name=command.name)
    try:
        _, rest, _ = command.make_parser(context).parse_args(list(words))
    except click.UsageError as error:
        return error.format_message()
    if not isinstance(command, click.Group):
        return f"unexpected argument {rest[0]!r}" if rest else None
    if not rest:
        return None
    child = command.get_command(context, rest[0])
    if child is None or (registered is not None and rest[0] not in registered):
        return f"no such command {rest[0]!r}"
    return _problem(child, rest[1:], None)


def broken_links(path: Path) -> list[str]:
    """Relative links of a Markdown file that lead to nothing."""
    findings = []
    for line in lines(read(path)):
        if line.language is not None:
            continue
        for match in _LINK.finditer(re.sub(r"`[^`]*`", "", line.text)):
            target = unquote((match[1] or match[2]).split("#")[0])
            if not target or re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//", target):
                continue
            if target.startswith("/") or not (path.parent / target).exists():
                findings.append(f"{path.name} line {line.number}: {target} does not exist.")
    return findings


def load_cli() -> tuple[click.Group, set[str]]:
    from backstory.surfaces.cli.main import group
    from backstory.surfaces.cli.registry import below

    return group, set(below())


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_every_make_command_names_a_target(name: str) -> None:
    assert unknown_targets(read(ROOT / name), read(ROOT / "Makefile")) == []


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_every_backstory_command_parses(name: str) -> None:
    assert unknown_commands(read(ROOT / name), load_cli) == []


def test_the_readme_shows_how_to_use_the_command() -> None:
    assert [words for _, words in commands(read(ROOT / "README.md")) if words[:1] == ["backstory"]]


def test_every_relative_link_leads_somewhere() -> None:
    documents = [ROOT / "README.md", ROOT / "AGENTS.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    assert [finding for path in documents for finding in broken_links(path)] == []


def planted_cli() -> tuple[click.Group, set[str]]:
    cli = click.Group("backstory", params=[click.Option(["--project"])])
    history = click.Group("history", commands=[click.Command("query", params=[click.Argument(["sql"])])])
    options = [click.Option(["--json"], is_flag=True), click.Option(["-n", "--limit"], type=int)]
    cli.add_command(click.Command("search", params=[click.Argument(["words"], nargs=-1), *options]))
    cli.add_command(click.Command("brief", params=options))
    cli.add_command(history)
    cli.add_command(click.Command("stray"))
    return cli, {"search", "brief", "history"}


def test_a_wrong_make_target_is_found_and_output_is_not_taken_for_a_command() -> None:
    makefile = ".PHONY: test\nX := 1\ntest: $(STAMP) ## run\n\tmake hidden\ncheck format: x\n"
    text = (
        "```sh\nmake test && make nope  # a comment\nmake -j2 check format X=1\n```\nmake prose\n"
        "```console\n$ cd x; CI=1 make gone\nmake: nothing to be done\n```\n```python\nmake other\n```\n"
    )
    assert unknown_targets(text, makefile) == [
        "line 2: make has no target 'nope'.",
        "line 7: make has no target 'gone'.",
    ]


def test_proper_backstory_commands_pass() -> None:
    text = (
        "```sh\nbackstory search 'two words' more --json -n5\nbackstory --project . brief --limit=3 | head\n"
        "backstory history query \\\n    'select 1; select 2'\nbackstory --help\nbackstory-hook x\n```\n"
    )
    assert [words[:2] for _, words in commands(text)] == [
        ["backstory", "search"],
        ["backstory", "--project"],
        ["head"],
        ["backstory", "history"],
        ["backstory", "--help"],
        ["backstory-hook", "x"],
    ]
    assert unknown_commands(text, planted_cli) == []


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("backstory nope", "no such command 'nope'"),
        ("backstory stray", "no such command 'stray'"),
        ("backstory search x --nope", "No such option"),
        ("backstory --nope search", "No such option"),
        ("backstory search --limit", "requires an argument"),
        ("backstory brief extra", "unexpected argument 'extra'"),
        ("backstory history nope", "no such command 'nope'"),
        ("backstory history query x --nope", "No such option"),
        ("cd x && backstory search --nope", "No such option"),
        ("backstory search x \\\n  --nope", "No such option"),
    ],
)
def test_a_wrong_backstory_command_is_found_with_or_without_a_prompt(command: str, problem: str) -> None:
    for prompt in ("", "$ "):
        [finding] = unknown_commands(f"```console\n{prompt}{command}\n```\n", planted_cli)
        assert problem in finding


def test_a_broken_link_is_found_and_a_good_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a b.md").write_text("# A\n", encoding="utf-8")
    document = tmp_path / "README.md"
    document.write_text(
        "[a](docs/a%20b.md#part) [web](https://example.org/x) [here](#part) [mail](mailto:a@example.org)\n"
        "[gone](docs/gone.md) ![picture](picture.png 'title') [![badge](badge.svg)](docs)\n"
        "[root](/docs) `[code](code.md)`\n\n[ref]: docs/ref.md\n```sh\n[fenced](fenced.md)\n```\n",
        encoding="utf-8",
    )
    assert [finding.split(": ")[1].split(" ")[0] for finding in broken_links(document)] == [
        "docs/gone.md",
        "picture.png",
        "badge.svg",
        "/docs",
        "docs/ref.md",
    ]


def test_a_missing_document_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"README\.md is missing"):
        read(tmp_path / "README.md")
