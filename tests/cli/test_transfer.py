import json
import subprocess
from pathlib import Path

import pytest

from backstory.project.exporting import FORMATS
from backstory.surfaces.cli.commands.export import FORMS

from .conftest import Cli


@pytest.fixture
def other(cli: Cli, tmp_path: Path) -> Cli:
    """Another project with a memory of its own."""
    folder = tmp_path / "other"
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    made = Cli(folder, cli.monkeypatch)
    made("init")
    return made


def exported(cli: Cli, *args: str, name: str = "memory.jsonl") -> str:
    """Write an export beside the project; its path."""
    path = cli.folder.parent / name
    path.write_text(cli("export", *args).stdout, encoding="utf-8")
    return str(path)


def events(cli: Cli) -> list[bytes]:
    return sorted(line for path in cli.folder.rglob("log/*.jsonl") for line in path.read_bytes().splitlines())


def lose_everything(cli: Cli) -> None:
    """Delete log, journal and derived files; the project's id stays."""
    for path in [*cli.folder.rglob("*.jsonl"), *(cli.folder / ".git" / "backstory").glob("index*")]:
        path.unlink()


def test_an_export_holds_only_what_counts_and_with_all_everything_tagged(cli: Cli) -> None:
    cli("decide", "Use WAL mode", "--why", "reads go on")
    gone = cli.record("note", "The parser is slow")
    cli("retire", gone, "--why", "rewritten")
    for form in ("json", "jsonl", "markdown"):
        live, everything = (cli("export", "--format", form, *args).stdout for args in ([], ["--all"]))
        assert ("WAL" in live, "parser" in live) == (True, False)
        assert ("WAL" in everything, "parser" in everything, "retire" in everything) == (True, True, True)
    line = next(text for text in cli("export", "--all").stdout.splitlines() if "parser" in text)
    assert "**[retired]**" in line


@pytest.mark.parametrize("form", ["json", "jsonl", "markdown", "csv", "html"])
def test_a_file_gets_what_the_terminal_would(cli: Cli, tmp_path: Path, form: str) -> None:
    cli.record("note", "Ünïcödé and a \u2028 mark")
    told = cli("export", "--format", form).stdout
    done = cli("export", "--format", form, "--out", str(tmp_path / "sub" / "memory"))
    assert (done.stdout, "Written: " in done.stderr) == ("", True)
    assert (tmp_path / "sub" / "memory").read_bytes().decode("utf-8") == told
    assert " mark" in told
    said = cli("export", "--format", form, "--out", str(cli.folder / ".git" / "config" / "x"), code=4).stderr
    assert "cannot be written" in said


def test_the_command_offers_every_format_that_there_is() -> None:
    assert FORMS == FORMATS


def test_pages_go_to_a_folder_and_the_block_between_its_marks(cli: Cli, tmp_path: Path) -> None:
    cli("decide", "Use WAL mode", "--why", "reads go on")
    out = str(tmp_path / "memory")
    assert "2 new or changed" in cli("export", "--format", "pages", "--out", out).stderr
    assert "0 new or changed, 2 as before, 0 removed" in cli("export", "--format", "pages", "--out", out).stderr
    assert "Use WAL mode" in (tmp_path / "memory" / "kinds" / "decision.md").read_text("utf-8")
    (tmp_path / "memory" / "mine.txt").write_text("mine")
    assert "mine.txt" in cli("export", "--format", "pages", "--out", out, code=4).stderr
    told = cli("export", "--format", "block").stdout
    assert "Written: AGENTS.md" in cli("export", "--into", "AGENTS.md").stderr
    assert (cli.folder / "AGENTS.md").read_text("utf-8") == told
    assert "holds this already" in cli("export", "--into", "AGENTS.md").stderr


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--format", "pages"], "Pages are many files"),
        (["--format", "parquet"], "Parquet is no text"),
        (["--format", "csv", "--into", "AGENTS.md"], "for the block alone"),
        (["--out", "x", "--into", "AGENTS.md"], "for the block alone"),
        (["--format", "block", "--all"], "holds only what counts"),
        (["--into", "AGENTS.md", "--all"], "holds only what counts"),
    ],
)
def test_options_that_do_not_go_together_are_refused_and_nothing_is_written(
    cli: Cli, args: list[str], why: str
) -> None:
    cli("decide", "Use WAL mode")
    assert why in cli("export", *args, code=2).stderr
    assert not (cli.folder / "AGENTS.md").exists() and not (cli.folder / "x").exists()


def test_jsonl_holds_the_lines_of_the_log_byte_for_byte(cli: Cli) -> None:
    id_ = cli.record("note", "Ünïcödé and a \u2028 mark")
    cli("confirm", id_, person=True)
    text = cli("export", "--all", "--format", "jsonl").stdout
    assert sorted(text.encode().splitlines()) == events(cli)


def test_markdown_text_cannot_become_markup(cli: Cli) -> None:
    cli("note", "a <script> and [a link](http://x) and `code` # title")
    text = cli("export").stdout
    assert "\\<script\\>" in text
    assert "\\[a link\\]" in text


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_a_person_gets_lost_events_back_as_they_were(cli: Cli, form: str) -> None:
    first = cli.record("decide", "Use WAL mode", "-f", "src/store.py#save", person=True)
    second = cli.record("note", "The parser is slow")
    cli("retire", second, "--why", "rewritten")
    before = cli.json("timeline")
    path = exported(cli, "--all", "--format", form)
    lose_everything(cli)
    assert cli.json("timeline") == []
    report = cli.json("import", path, person=True)
    assert (report["restored"], report["added"]) == (3, 0)
    after = cli.json("timeline")
    same = lambda items: [(i["id"], i["at"], i["by"], i["standing"], i["files"], i["tags"]) for i in items]  # noqa: E731
    assert same(after) == same(before)
    assert first in {item["id"] for item in after}
    again = cli.json("import", path, person=True)
    assert (again["restored"], again["added"], again["present"]) == (0, 0, 3)


def test_an_agent_cannot_bring_in_a_persons_word(cli: Cli) -> None:
    word = cli.record("decide", "Use WAL mode", person=True)
    own = cli.record("note", "The parser is slow")
    cli("reject", "--value", "Ship on Fridays", "--why", "no", person=True)
    path = exported(cli, "--all", "--format", "jsonl")
    lose_everything(cli)
    report = cli.json("import", path)
    assert (report["restored"], report["added"], report["left"]) == (1, 1, 1)
    standings = {item["summary"]: item["standing"] for item in cli.json("timeline")}
    assert standings == {"Use WAL mode": "proposed", "The parser is slow": "active"}
    assert word not in {item["id"] for item in cli.json("timeline")}
    assert own in {item["id"] for item in cli.json("timeline")}


def test_another_projects_entries_are_proposed_with_where_they_come_from(cli: Cli, other: Cli) -> None:
    origin = cli.record("decide", "Use WAL mode", "--why", "reads go on", "-f", "src/store.py#save", person=True)
    path = exported(cli, "--format", "jsonl")
    dry = other.json("import", path, "--dry-run")
    assert (dry["added"], other.json("timeline")) == (1, [])
    assert other.json("import", path)["added"] == 1
    (entry,) = other.json("timeline")
    assert (entry["standing"], entry["by"]["kind"]) == ("proposed", "import")
    assert entry["fields"]["rationale"] == "reads go on"
    assert {"import memory.jsonl:1", f"event {origin}"} <= set(entry["evidence"])
    assert other.json("import", path)["present"] == 1
    assert len(other.json("timeline")) == 1


def test_an_old_export_brings_nothing_back_that_was_withdrawn_since(cli: Cli, other: Cli) -> None:
    texts = ("Ship on Fridays", "The parser is slow", "The customer is Zanzibar", "Use WAL mode")
    ids = [cli.record("note", text) for text in texts]
    path = exported(cli, "--all", "--format", "jsonl")
    cli("reject", ids[0], "--why", "no", person=True)
    cli("retire", ids[1], "--why", "rewritten")
    cli("redact", ids[2], "--why", "a name", person=True)
    before = cli.json("timeline")
    report = cli.json("import", path, person=True)
    assert (report["present"], report["restored"], report["added"]) == (4, 0, 0)
    assert cli.json("timeline") == before
    # The same in a project that knows the values by other ids.
    other("reject", "--value", texts[0], "--why", "no", person=True)
    other("retire", other.record("note", texts[1]), "--why", "rewritten")
    report = other.json("import", path)
    assert (report["refused"], report["dropped"], report["added"]) == (1, 1, 2)
    live = {item["summary"] for item in other.json("timeline") if item["standing"] == "proposed"}
    assert live == {texts[2], texts[3]}


def test_an_edited_line_is_not_put_back_as_it_was(cli: Cli) -> None:
    cli("note", "The parser is slow")
    path = Path(exported(cli, "--all", "--format", "jsonl"))
    path.write_text(path.read_text("utf-8").replace("slow", "fast"), encoding="utf-8")
    lose_everything(cli)
    report = cli.json("import", str(path), person=True)
    assert (report["restored"], report["added"]) == (0, 1)
    assert [item["standing"] for item in cli.json("timeline")] == ["proposed"]


def test_bad_lines_are_counted_and_hide_nothing(cli: Cli, other: Cli) -> None:
    cli("note", "The parser is slow")
    path = Path(exported(cli, "--format", "jsonl"))
    line = path.read_text("utf-8").strip()
    path.write_text("\n".join([line[:40], line, '{"id":1}', "not json"]) + "\n", encoding="utf-8")
    report = other.json("import", str(path))
    assert (report["added"], report["unreadable"]) == (1, 3)
    assert "line 1" in report["notes"][0]


def test_what_is_no_export_is_refused_with_the_command_that_writes_one(cli: Cli) -> None:
    path = Path(exported(cli, name="memory.md"))
    refused = cli("import", str(path), code=2)
    assert "no export" in refused.stderr
    path.write_text(cli(*refused.stderr.split("`")[1].split(" > ")[0].split()[1:]).stdout, encoding="utf-8")
    cli("import", str(path))


def test_publish_lists_and_brings_what_was_written_on_another_branch(cli: Cli) -> None:
    git = lambda *args: subprocess.run(["git", *args], cwd=cli.folder, check=True, capture_output=True)  # noqa: E731
    git("checkout", "-q", "-b", "feature")
    id_ = cli.record("decide", "Use WAL mode")
    git("add", "-A")
    git("commit", "-q", "-m", "Memory")
    git("checkout", "-q", "main")
    assert "not in this tree, branch feature" in cli("publish").stdout
    assert "not in this tree" in cli("show", id_).stdout
    assert "Brought 1 entries" in cli("publish", id_).stdout
    assert "not in this tree" not in cli("show", id_).stdout
    assert cli("publish").stdout == ""
    assert "in this tree already" in cli("publish", id_, code=4).stderr


def test_gc_gives_space_back_and_touches_neither_log_nor_journal(cli: Cli) -> None:
    cli("note", "Something")
    before, journal = events(cli), [path.read_bytes() for path in cli.folder.rglob("journal/*.jsonl")]
    report = cli.json("gc")
    assert report["derived_after"] <= report["derived_before"]
    assert report["log_bytes"] == sum(len(line) + 1 for line in before)
    assert sum(report["log_growth"].values()) == report["log_bytes"]
    assert (events(cli), [path.read_bytes() for path in cli.folder.rglob("journal/*.jsonl")]) == (before, journal)
    assert "Something" in cli("timeline").stdout


def test_deleting_every_derived_file_changes_no_answer(cli: Cli) -> None:
    cli("decide", "Use WAL mode", "-f", "src/store.py")
    before = [cli(*args).stdout for args in (["timeline", "--json"], ["brief"], ["search", "wal", "--json"])]
    for path in (cli.folder / ".git" / "backstory").glob("index*"):
        path.unlink()
    assert [cli(*args).stdout for args in (["timeline", "--json"], ["brief"], ["search", "wal", "--json"])] == before


def test_the_json_export_is_one_object_with_the_projects_id(cli: Cli) -> None:
    cli("note", "Something")
    body = json.loads(cli("export", "--json").stdout)
    assert body["data"]["name"] == "shop"
    assert len(body["data"]["project"]) == 26
    assert [item["summary"] for item in body["data"]["entries"]] == ["Something"]
