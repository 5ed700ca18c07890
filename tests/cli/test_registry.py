import importlib
import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

import backstory.surfaces.cli.commands as package
from backstory.records.registry import KINDS
from backstory.surfaces.cli import reference
from backstory.surfaces.cli.main import group
from backstory.surfaces.cli.registry import ALIASES, COMMANDS, GROUPS, SECTIONS, below, find, full_name, nearest
from tests.project.sessions.transcripts import Claude

from .conftest import Cli

# Arguments with which each reading command answers in a project that holds one decision; ID stands for it.
READING = {
    "status": [], "stats": [], "doctor": [], "brief": [], "search": ["WAL"], "why": ["src/store.py"], "show": ["ID"],
    "check": ["src/store.py"],
    "timeline": [], "case": ["#717"], "stale": [], "conflicts": [], "diff": ["HEAD"], "review": [], "export": [],
    "verify": [],
    "git-hooks status": [],
    "ticket list": [], "ticket show": ["kept"], "history query": ["SELECT 1 AS one"], "history search": ["store"],
    "sessions list": [], "sessions show": ["session-of-mine"], "sessions search": ["store"], "sessions resume": [],
    "global list": [], "global show": ["ID"], "global search": ["WAL"], "global verify": [], "projects list": [],
    "map": [], "history themes": [], "history semantic": ["store"], "history grade": [],
}  # fmt: skip
# They answer for the whole machine, from anywhere, and take no project.
MACHINE_WIDE = [name for name in READING if name.startswith(("global ", "projects "))]


def prepared(cli: Cli) -> str:
    """An entry, a case and a ticket for the reading commands; the entry's id."""
    id_ = cli.record("decide", "Use WAL mode", "-f", "src/store.py")
    cli("observe", "#717", "it is slow")
    cli("ticket", "new", "Kept")
    cli("share", id_, "--library", "sqlite", person=True)
    Claude(cli.folder, "session-of-mine").user("look at the store")
    return id_


def loaded(name: str) -> click.Command:
    module, _, attribute = COMMANDS[name].path.partition(":")
    made = getattr(importlib.import_module(module), attribute)
    assert isinstance(made, click.Command)
    return made


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_bears_its_name_and_the_help_of_the_registry(name: str) -> None:
    made = loaded(name)
    assert made.name == name.rsplit(maxsplit=1)[-1]
    assert made.get_short_help_str(200) == COMMANDS[name].help
    assert not COMMANDS[name].help.endswith(".")
    assert COMMANDS[name].section in SECTIONS


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_shows_an_example(name: str, cli: Cli) -> None:
    text = cli(*name.split(), "--help").stdout
    assert f"backstory {name}" in text.split("Examples:")[1]
    assert all(len(line) <= 80 for line in text.split("Examples:")[0].splitlines())


def test_every_module_of_the_commands_is_in_the_registry() -> None:
    files = {path.stem for path in Path(package.__path__[0]).glob("*.py")} - {"__init__"}
    assert files == {item.path.partition(":")[0].rpartition(".")[2] for item in COMMANDS.values()}


def test_every_kind_has_a_recording_command() -> None:
    names = {"decision": "decide", "trial": "tried", "hotfile": "hot", "issuenote": "observe", "fix": "fixed"}
    assert {names.get(kind, kind) for kind in KINDS} <= set(COMMANDS)


def test_other_names_lead_to_commands_that_exist_and_are_not_listed() -> None:
    for name, target in ALIASES.items():
        assert name not in COMMANDS and name not in GROUPS
        assert full_name(name) == target
        assert find(name) is COMMANDS.get(target)
    assert nearest("serch") == "search"
    assert nearest("xyzzy") == ""


def test_a_group_is_the_first_word_of_its_commands_and_no_command_itself() -> None:
    assert set(GROUPS) == {name.split()[0] for name in COMMANDS if " " in name}
    assert not GROUPS.keys() & COMMANDS.keys()
    assert below("ticket") == ["new", "list", "show"]
    assert not [name for name in below() if " " in name]


@pytest.mark.parametrize("name", GROUPS)
def test_the_help_of_a_group_lists_its_commands_with_an_example_of_each(name: str, cli: Cli) -> None:
    text = cli(name, "--help").stdout
    assert text == cli(name).stdout == cli(name, "--project", ".").stdout
    for one in below(name):
        assert f"  {one} " in text and COMMANDS[f"{name} {one}"].help in text
        assert f"  backstory {name} {one}" in text.split("Examples:")[1]
    assert all(len(line) <= 80 for line in text.split("Examples:")[0].splitlines())


def test_an_unknown_command_of_a_group_is_one_clear_sentence_with_the_nearest_name(cli: Cli) -> None:
    for words, near in (
        (["ticket", "shwo"], "ticket show"), (["tiket"], "ticket"), (["finish"], "run finish"),
        (["ticket", "creat"], "ticket new"), (["tickets", "lst"], "ticket list"),
    ):  # fmt: skip
        said = cli(*words, code=2).stderr.splitlines()
        named = " ".join(words).replace("tickets", "ticket")
        assert said == [f"backstory: There is no command '{named}'.", f"  Did you mean `backstory {near}`?"]
    far = cli("ticket", "xyzzy", "--json", code=2).stderr
    assert json.loads(far)["error"]["hint"] == "`backstory ticket --help` lists the commands."
    assert cli("tickets", "ls").exit_code == 0


def test_the_options_of_a_group_count_for_what_follows(cli: Cli, tmp_path: Path) -> None:
    elsewhere = Cli(tmp_path, cli.monkeypatch)
    here = ["--project", str(cli.folder)]
    one = elsewhere("ticket", "list", *here, "--json").stdout
    assert json.loads(one)["command"] == "ticket list"
    assert (
        one
        == elsewhere("ticket", *here, "--json", "list").stdout
        == elsewhere(*here, "ticket", "--json", "list").stdout
    )
    assert one == elsewhere("--project", "/nowhere", "ticket", *here, "list", "--json").stdout
    elsewhere("ticket", "list", code=3)


def test_help_lists_all_commands_without_importing_one() -> None:
    code = (
        "import sys; from backstory.surfaces.cli.main import run; run(['--help']);"
        "bad = [m for m in sys.modules if m.startswith('backstory.surfaces.cli.commands.') or m == 'msgspec'];"
        "sys.exit(str(bad) if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in below():
        assert f"  {name} " in done.stdout
        assert (COMMANDS[name].help if name in COMMANDS else GROUPS[name]) in done.stdout


def test_no_arguments_show_the_help(cli: Cli) -> None:
    assert cli().stdout == cli("--help").stdout


def test_the_reading_commands_here_are_those_of_the_registry() -> None:
    assert set(READING) == {name for name, item in COMMANDS.items() if item.reads}


@pytest.mark.parametrize("name", READING)
def test_each_reading_command_answers_in_json_of_one_shape(name: str, cli: Cli) -> None:
    id_ = prepared(cli)
    args = [id_ if arg == "ID" else arg for arg in READING[name]]
    behind = cli(*name.split(), *args, "--json").stdout
    before = cli("--json", *name.split(), *args).stdout
    body = json.loads(behind)
    assert list(body) == ["backstory", "command", "data"]
    assert (body["backstory"], body["command"]) == (1, name)
    if name not in ("doctor", "status"):
        assert before == behind
    assert behind.count("\n") == 1


@pytest.mark.parametrize("name", READING)
def test_a_reading_command_names_its_project_by_an_option_before_or_behind(name: str, cli: Cli, tmp_path: Path) -> None:
    id_ = prepared(cli)
    args = [id_ if arg == "ID" else arg for arg in READING[name]]
    elsewhere = Cli(tmp_path, cli.monkeypatch)
    if name in MACHINE_WIDE:
        assert elsewhere(*name.split(), *args).stdout == cli(*name.split(), *args).stdout
        return
    elsewhere(*name.split(), *args, code=3)
    behind = elsewhere(*name.split(), *args, "--project", str(cli.folder)).stdout
    before = elsewhere("--project", str(cli.folder), *name.split(), *args).stdout
    if name != "doctor":
        assert before == behind


def test_completion_is_printed_for_each_shell_and_needs_no_project(cli: Cli, tmp_path: Path) -> None:
    elsewhere = Cli(tmp_path, cli.monkeypatch)
    for shell in ("bash", "zsh", "fish"):
        assert "_BACKSTORY_COMPLETE" in elsewhere("completion", shell).stdout


def test_completion_offers_commands_and_options(process, cli: Cli) -> None:  # type: ignore[no-untyped-def]
    def offered(words: str, place: int) -> str:
        env = {"_BACKSTORY_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(place)}
        return str(process(cli.folder, env=env).stdout)

    assert "plain,decide" in offered("backstory dec", 1)
    assert "plain,--why" in offered("backstory decide --w", 2)
    assert "plain,ticket" in offered("backstory tic", 1)
    assert "plain,show" in offered("backstory ticket sh", 2)
    assert "plain,--state" in offered("backstory ticket list --st", 3)


def test_version_and_name_are_those_of_the_package() -> None:
    import backstory

    done = subprocess.run([sys.executable, "-m", "backstory", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"backstory {backstory.__version__}\n"
    assert group.name == "backstory"


def test_the_reference_holds_every_command_and_every_shape() -> None:
    text = "\n".join(reference.commands())
    for name in (*COMMANDS, *GROUPS):
        assert f"### {name}\n\n```text\nUsage: backstory {name} " in text
    shapes = "\n".join(reference.shapes())
    assert "| `timeline` | a list of `View` |" in shapes
    assert "- `stale_reasons`: list of text" in shapes
    assert "| `mcp` |" not in shapes


@pytest.mark.parametrize("name", READING)
def test_the_json_of_each_reading_command_has_the_fields_of_its_documented_shape(name: str, cli: Cli) -> None:
    id_ = prepared(cli)
    data = cli.json(*name.split(), *(id_ if arg == "ID" else arg for arg in READING[name]))
    answer = reference.answer_of(name)
    assert answer is not None
    cls, many = answer
    for item in data if many else [data]:
        assert set(item) == set(cls.__struct_encode_fields__)
