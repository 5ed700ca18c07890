"""Lessons and projects on the command line."""

import shutil
from pathlib import Path

from backstory.config import machine_dir
from backstory.project.setup import init
from tests.cli.conftest import Cli
from tests.storekit import new_repo

TEXT = "Validators of a union run once for each member"


def beside(cli: Cli, name: str, manifest: str = "pydantic==2.7\n") -> Cli:
    folder = cli.folder.parent / name
    new_repo(folder)
    (folder / "requirements.txt").write_text(manifest)
    init(str(folder), now=1_767_614_400_000_000)
    return Cli(folder, cli.monkeypatch)


def shared(cli: Cli) -> str:
    id_ = cli.record("lesson", TEXT, "--library", "pydantic@>=2", person=True)
    assert "shared with projects that use pydantic@>=2" in cli("share", id_, person=True).stdout
    return id_


def test_a_shared_lesson_is_briefed_elsewhere_with_its_origin_and_shown_there(cli: Cli) -> None:
    id_ = shared(cli)
    other = beside(cli, "other")
    brief = other("brief").stdout
    assert "Lessons from other projects (1):" in brief
    assert f"- pydantic@>=2: {TEXT} (from shop, 2" in brief and id_[-6:] in brief
    assert TEXT in other("global", "show", id_[-6:]).stdout
    assert (
        other("show", id_[-6:], code=2).stderr.splitlines()[1].strip()
        == f"`backstory global show {id_[-6:]}` shows it."
    )
    assert other("search", "validators", "union").stdout.startswith(f"lesson {id_}")
    assert other("search", "validators", "--source", "lesson").stdout.startswith("lesson ")
    assert TEXT not in beside(cli, "older", "pydantic<2\n")("brief").stdout


def test_init_says_how_many_lessons_apply(cli: Cli) -> None:
    shared(cli)
    for name, manifest, said in (("two", "pydantic\n", True), ("none", "flask\n", False)):
        folder = cli.folder.parent / name
        new_repo(folder)
        (folder / "requirements.txt").write_text(manifest)
        out = Cli(folder, cli.monkeypatch)("init", "--no-sessions").stdout
        assert ("1 lesson of your other projects applies here" in out) is said


def test_only_a_person_shares_and_takes_back(cli: Cli) -> None:
    id_ = cli.record("lesson", TEXT, "--library", "pydantic")
    assert "only a person may share" in cli("share", id_, code=4).stderr
    assert "Nothing is shared on this machine." in cli("global", "list").stderr
    cli("share", id_, person=True)
    assert "only a person may unshare" in cli("unshare", id_, code=4).stderr
    other = beside(cli, "other")
    assert TEXT in other("brief").stdout
    shutil.rmtree(cli.folder)
    assert "no other project sees it" in other("unshare", id_[-6:], person=True).stdout
    assert TEXT not in other("brief").stdout
    assert cli.json("global", "list") == [] if cli.folder.exists() else other.json("global", "list") == []
    (item,) = other.json("global", "list", "--all")
    assert (item["id"], item["counts"], item["shared"]) == (id_, False, False)
    assert "[unshared]" in other("global", "list", "--all").stdout


def test_the_machine_wide_log_is_searched_and_verified(cli: Cli) -> None:
    shared(cli)
    assert TEXT in cli("global", "search", "validators").stdout
    assert "Nothing that is shared" in cli("global", "search", "xylophone").stderr
    assert "The log is sound" in cli("global", "verify").stdout


def test_projects_are_listed_forgotten_and_looked_for_with_a_question(cli: Cli) -> None:
    other = beside(cli, "other")
    assert {Path(item["root"]).name for item in other.json("projects", "list")} == {"repo", "other"}
    other("projects", "forget", str(cli.folder))
    assert "repo" not in other("projects", "list").stdout
    top = str(cli.folder.parent)
    assert "nobody is here to ask" in other("projects", "scan", top, code=4).stderr
    assert "Put these 1 on the list?" in other("projects", "scan", top, person=True, stdin="n\n").stderr
    assert "repo" not in other("projects", "list").stdout
    assert "Listed" in other("projects", "scan", top, person=True, stdin="y\n").stdout
    assert "repo" in other("projects", "list").stdout
    assert "No project was found" in other("projects", "scan", top, "--yes").stderr


def test_damage_of_the_machine_wide_log_is_said_to_every_reader(cli: Cli) -> None:
    id_ = shared(cli)
    other = beside(cli, "other")
    (path,) = (Path(machine_dir()) / "log").glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b"once for each", b"never for any"))
    for args in (["list"], ["search", "validators"]):
        assert "run `backstory global verify`" in other("global", *args).stderr
    assert "No entry has the id" in other("global", "show", id_, code=2).stderr
    brief = other("brief")
    assert "run `backstory global verify`" in brief.stderr and "never for any" not in brief.stdout
    assert "not sound" in other("global", "verify", code=5).stdout


def test_the_review_offers_failed_trials_that_name_a_library_and_shares_none(cli: Cli) -> None:
    (cli.folder / "pyproject.toml").write_text(
        '[project]\nname = "x"\ndependencies = ["pydantic>=2"]\n', encoding="utf-8"
    )
    cli("tried", "Validate a union with pydantic", "--failed", "each member ran")
    cli("tried", "Cache the parser", "--failed", "went stale")
    said = cli("review", "--list").stderr
    assert "Validate a union with pydantic" in said
    assert "backstory share" in said and "pydantic" in said.rpartition("--library")[2]
    assert "Cache the parser" not in said
    assert cli.json("global", "list") == []
