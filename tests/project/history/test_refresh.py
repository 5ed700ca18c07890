"""`history refresh`: what the sources hold comes into history and search, once, and again the same."""

import os
import random
import shutil
from pathlib import Path

import pytest

from backstory.history import store
from backstory.project.history import git_pass
from backstory.project.history import refresh as refresh_module
from backstory.project.history.catch_up import catch_up_search
from backstory.project.history.refresh import is_current, refresh
from tests.project.history.sources import RUN, TICKET, Sources
from tests.project.memory import Memory


def test_every_source_has_its_rows(sources: Sources) -> None:
    sources.add("decision", "Use WAL", rationale="readers do not wait", files=["src/upload.py"])
    done = sources.refresh()
    assert done.rebuilt
    assert sources.rows("SELECT stem, title, state, why FROM tickets") == [
        ("retry", "Retry the upload", "open", "Customers lose an hour of work.")
    ]
    assert sources.rows("SELECT ticket_stem, outcome, actual_files, model_exact FROM run_records") == [
        ("retry", "done", 5, "model-1")
    ]
    assert sources.rows("SELECT number, state, paths FROM prs") == [(7, "merged", ["src/parse.py"])]
    assert sources.rows("SELECT state, ticket_stem FROM state_events") == [("running", "retry")]
    assert sources.rows("SELECT count(*) FROM commits") == [(2,)]
    assert ("src/upload.py", "A") in sources.rows("SELECT path, status FROM commit_files")
    assert sources.rows("SELECT summary, standing FROM entries WHERE source = 'log'") == [("Use WAL", "active")]
    assert sources.rows("SELECT agent, entry_count FROM sessions") == [("claude-code", 1)]
    assert sources.rows("SELECT path FROM session_files") == [("src/upload.py",)]


def test_search_knows_every_source(sources: Sources) -> None:
    sources.refresh()
    found = sources.documents()
    assert {("ticket", "retry"), ("run_record", "tickets/retry.run.md"), ("pull_request", "#7")} <= found
    assert sum(source == "commit" for source, _ in found) == 2


def test_a_second_refresh_reads_nothing_and_keeps_the_file(sources: Sources) -> None:
    sources.refresh()
    before = os.listdir(sources.folder)
    again = sources.refresh()
    assert again.groups == () and not again.rebuilt
    assert os.listdir(sources.folder) == before
    sources.put("tickets/other.md", "# Another\n")
    assert sources.refresh().groups == ("tickets", "states")


def test_a_rebuild_has_the_same_content(sources: Sources) -> None:
    sources.revert("Cache the answers", "It went stale.")
    sources.add("trial", "Resume by offset", outcome="failed")
    sources.refresh()
    first, known = sources.hashes(), sources.documents()
    sources.refresh(rebuild=True)
    assert sources.hashes() == first and sources.documents() == known
    shutil.rmtree(sources.folder)
    sources.refresh()
    assert sources.hashes() == first and sources.documents() == known


def test_a_lost_index_gets_its_documents_back_from_the_history(sources: Sources) -> None:
    sources.revert("Cache the answers", "It went stale.")
    sources.refresh()
    known, hashes = sources.documents(), sources.hashes()
    with sources.open() as project:
        path = project.config.places.index_path
        entries = project.db.execute("SELECT id, standing, summary FROM entries ORDER BY id").fetchall()
    for name in (path, f"{path}-wal", f"{path}-shm"):
        Path(name).unlink(missing_ok=True)
    assert sources.documents() == set()
    sources.refresh()
    assert sources.documents() == known and sources.hashes() == hashes
    with sources.open() as project:
        assert project.db.execute("SELECT id, standing, summary FROM entries ORDER BY id").fetchall() == entries


def _commits_in_search(sources: Sources) -> int:
    return sum(source == "commit" for source, _ in sources.documents())


def test_the_words_of_a_long_history_wait_for_the_first_search(sources: Sources, monkeypatch) -> None:
    sources.revert("Cache the answers", "It went stale.")
    assert not sources.refresh().words_owed
    everything, hashes = sources.documents(), sources.hashes()
    monkeypatch.setattr(git_pass, "_MANY", 3)
    done = sources.refresh(rebuild=True)
    assert done.words_owed and sources.hashes() == hashes
    with sources.open() as project:
        assert is_current(project)
        assert project.db.execute("SELECT count(*) FROM entries WHERE source = 'git'").fetchone() == (1,)
    shutil.rmtree(sources.folder)
    with sources.open() as project:
        catch_up_search(project)
    assert sources.documents() == everything
    assert not sources.refresh().words_owed and sources.hashes() == hashes


def test_a_debt_of_words_outlives_new_commits_and_is_paid_once(sources: Sources, monkeypatch) -> None:
    monkeypatch.setattr(git_pass, "_MANY", 2)
    assert sources.refresh().words_owed and _commits_in_search(sources) == 0
    sources.commit("One more", src__more_py="x = 1\n")
    assert sources.refresh().words_owed and sources.refresh().groups == ()
    with sources.open() as project:
        catch_up_search(project)
    assert _commits_in_search(sources) == 3
    monkeypatch.setattr(git_pass, "reread", None)
    sources.commit("Another", src__more_py="x = 2\n")
    assert not sources.refresh().words_owed
    assert _commits_in_search(sources) == 4


@pytest.mark.parametrize("seed", range(6))
def test_going_on_gives_what_reading_all_gives(sources: Sources, seed: int) -> None:
    chance = random.Random(seed)
    sources.refresh()
    for step in range(8):
        _one_step(sources, chance, step)
        if chance.random() < 0.6:
            sources.refresh()
    sources.refresh()
    went_on, known = sources.hashes(), sources.documents()
    shutil.rmtree(sources.folder)
    sources.refresh(rebuild=True)
    assert sources.hashes() == went_on
    assert sources.documents() == known


def _one_step(memory: Sources, chance: random.Random, step: int) -> None:
    """Something that people do to a project."""
    what = chance.choice(["commit", "rename", "revert", "reland", "merge", "amend", "reset", "ticket", "entry", "odd"])
    if what == "commit":
        memory.commit(f"Change {step}", **{f"src__f{chance.randrange(4)}_py": f"x = {step}\n" * 3})
    elif what == "rename":
        files = [path for path in memory.git("ls-files", "src").splitlines() if path]
        memory.git("mv", chance.choice(files), f"src/renamed{step}.py")
        memory.commit(f"Rename {step}")
    elif what == "revert":
        memory.revert(f"Try {step}", f"It broke {step}.", f"src/tried{step}.py")
    elif what == "reland":
        _, back = memory.revert(f"Try again {step}", "Not yet.", f"src/again{step}.py")
        memory.put(f"src/again{step}.py", "def cached_answer_for(key):\n    return table_of_answers[key]\n")
        memory.commit(f'Reland "Try again {step}"\n\nThis reverts commit {back}.')
    elif what == "merge":
        memory.git("checkout", "-q", "-b", f"side{step}")
        memory.commit(f"On the side {step}", **{f"src__side{step}_py": "y = 1\n"})
        memory.git("checkout", "-q", "main")
        memory.commit(f"On main {step}")
        memory.git("merge", "-q", "--no-ff", "-m", f"Merge side {step}", f"side{step}")
    elif what == "amend":
        memory.put("src/amended.py", f"z = {step}\n")
        memory.git("add", "-A")
        memory.git("commit", "-q", "--amend", "-m", f"Amended {step}")
    elif what == "reset":
        memory.git("reset", "-q", "--hard", "HEAD~1", check=False)
    elif what == "ticket":
        memory.put(f"tickets/t{step}.md", f"---\ntitle: T{step}\nbad: : yaml\n---\n## Goal\nText {step}\n")
    elif what == "entry":
        memory.add("trial", f"Attempt {step}", outcome="failed", files=["src/upload.py"])
    else:
        memory.commit(f"Odd | subject\t{step} \u2028 \U0001f600\n\nBody with \x01 and 数据库")


@pytest.mark.parametrize("point", ["create", "add", "write_meta"])
def test_a_crash_leaves_the_old_history(sources: Sources, monkeypatch: pytest.MonkeyPatch, point: str) -> None:
    sources.refresh()
    before, hashes = store.current(sources.folder), sources.hashes()
    sources.put("tickets/other.md", "# Another\n")
    sources.revert("Cache the answers", "It went stale.")

    def fail(*_: object) -> None:
        raise RuntimeError("the machine went down")

    with monkeypatch.context() as patch:
        patch.setattr(refresh_module.build, point, fail)
        with pytest.raises(RuntimeError):
            sources.refresh()
    assert store.current(sources.folder) == before
    assert sources.hashes() == hashes
    assert not [name for name in os.listdir(sources.folder) if name.startswith("building")]
    sources.refresh()
    after, known = sources.hashes(), sources.documents()
    assert after != hashes
    sources.refresh(rebuild=True)
    assert sources.hashes() == after and sources.documents() == known


def test_a_rewritten_history_is_read_anew(sources: Sources) -> None:
    sources.commit("To be forgotten")
    sources.refresh()
    assert ("To be forgotten",) in sources.rows("SELECT subject FROM commits")
    sources.git("reset", "-q", "--hard", "HEAD~1")
    sources.commit("Instead of it")
    sources.refresh()
    subjects = sources.rows("SELECT subject FROM commits")
    assert ("Instead of it",) in subjects and ("To be forgotten",) not in subjects
    with sources.open() as project:
        titles = {row[0] for row in project.db.execute("SELECT title FROM documents WHERE source = 'commit'")}
    assert "Instead of it" in titles and "To be forgotten" not in titles


def test_a_shallow_clone_is_read_as_far_as_it_goes_and_anew_when_it_is_deepened(
    sources: Sources, tmp_path: Path
) -> None:
    sources.commit("Second")
    sources.commit("Third")
    clone = tmp_path / "clone"
    sources.git("clone", "-q", "--depth", "1", f"file://{sources.root}", str(clone))
    memory = Sources.__new__(Sources)
    Memory.__init__(memory, clone, started=True)
    memory.refresh()
    assert memory.rows("SELECT subject, file_count FROM commits") == [("Third", None)]
    memory.git("fetch", "-q", "--unshallow")
    memory.refresh()
    assert len(memory.rows("SELECT 1 FROM commits")) == 4


def test_a_project_without_git_has_a_history_too(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    memory = Sources.__new__(Sources)
    Memory.__init__(memory, folder)
    memory.put("tickets/retry.md", TICKET)
    memory.put("tickets/retry.run.md", RUN)
    memory.refresh()
    assert memory.rows("SELECT stem FROM tickets") == [("retry",)]
    assert memory.rows("SELECT count(*) FROM commits") == [(0,)]


def test_an_unborn_head_has_no_commits(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    memory = Sources.__new__(Sources)
    memory.root, memory.now = folder, 0
    memory.git("init", "-q")
    Memory.__init__(memory, folder)
    assert memory.refresh().rows["commits"] == 0
    memory.commit("First")
    assert memory.refresh().rows["commits"] == 1


def test_what_is_odd_is_a_row_of_skipped_and_stops_nothing(sources: Sources) -> None:
    sources.put("tickets/odd.md", "---\nassignee: @me\ncreated: soon\n---\n# Odd\n")
    sources.put(".backstory/pull_requests.json", '[{"title": "no number"}, {"number": 8, "title": "fine"}]')
    (sources.root / "tickets" / "link.md").symlink_to("retry.md")
    done = sources.refresh()
    kept = sources.rows("SELECT source, severity, file FROM skipped")
    assert ("tickets", "skipped", "tickets/link.md") in kept
    assert ("tickets", "warning", "tickets/odd.md") in kept
    assert ("prs", "skipped", ".backstory/pull_requests.json") in kept
    assert sources.rows("SELECT title FROM tickets ORDER BY 1") == [("Odd",), ("Retry the upload",)]
    assert sources.rows("SELECT number FROM prs") == [(8,)]
    assert (done.skipped, done.warnings) == (2, len(kept) - 2)


def test_a_cached_file_outside_of_the_project_is_not_read(sources: Sources, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('[{"number": 1, "title": "not ours"}]', encoding="utf-8")
    sources.put("inside.json", '[{"number": 2, "title": "ours"}]')
    marker = sources.root / ".backstory" / "project.toml"
    text = marker.read_text(encoding="utf-8")
    marker.write_text(f'{text}\n[history]\npull_requests = ["../secret.json", "inside.json"]\n', encoding="utf-8")
    sources.refresh()
    assert sorted(sources.rows("SELECT number FROM prs")) == [(2,), (7,)]
    assert ("../secret.json", "it is outside of the project") in sources.rows("SELECT file, why FROM skipped")


def test_redacted_text_leaves_the_history_and_comes_with_no_refresh(sources: Sources) -> None:
    id_ = sources.add("decision", "The wifi word is marzipan", rationale="written down by mistake")
    other = sources.add("decision", "The door is blue", rationale="so that it is found")
    sources.refresh()
    assert sources.rows("SELECT count(*) FROM entries WHERE summary LIKE '%marzipan%'") == [(1,)]
    from backstory.project.redaction import redact
    from tests.project.memory import PERSON

    with sources.open(sources.tick()) as project:
        redact(project, PERSON, id_, "a secret")
    assert not [name for name in os.listdir(sources.folder) if name.endswith(".duckdb")]
    sources.refresh()
    data = b"".join(path.read_bytes() for path in Path(sources.folder).iterdir() if path.is_file())
    assert b"marzipan" not in data
    assert sources.rows(f"SELECT summary FROM entries WHERE id = '{id_}'") == [(None,)]
    assert sources.rows(f"SELECT summary FROM entries WHERE id = '{other}'") == [("The door is blue",)]


def test_what_does_not_count_is_tagged_or_without_text(sources: Sources) -> None:
    from tests.project.memory import HOOK, PERSON

    old = sources.add("decision", "Use MySQL", rationale="known")
    new = sources.add("decision", "Use PostgreSQL", rationale="better", supersedes=[old])
    gone = sources.add("note", "The build takes an hour")
    sources.act("retire", gone, PERSON)
    proposed = sources.add("note", "Perhaps cache", HOOK)
    until = sources.add("note", "The old host answers", valid_until="2026-02-01T00:00:00Z")
    sources.refresh()
    found = dict(sources.rows("SELECT id, summary FROM entries WHERE source = 'log'"))
    assert found == {
        old: "[superseded] Use MySQL",
        new: "Use PostgreSQL",
        gone: None,
        proposed: "[proposed] Perhaps cache",
        until: "[until 2026-02-01] The old host answers",
    }


def test_it_is_current_until_something_changes(sources: Sources) -> None:
    with sources.open() as project:
        assert not is_current(project)
        refresh(project)
        assert is_current(project)
    for change in (
        lambda: sources.commit("More"),
        lambda: sources.put("tickets/retry.run.md", RUN + "\nMore.\n"),
        lambda: sources.put(".backstory/pull_requests.json", "[]"),
        lambda: sources.put("docs/adr/0002-two.md", "# Two\n\nStatus: proposed\n\n## Context\nA\n\n## Decision\nB\n"),
        lambda: sources.add("note", "Something"),
    ):
        change()
        with sources.open() as project:
            assert not is_current(project)
            refresh(project)
            assert is_current(project)


def test_line_counts_come_when_the_settings_ask_for_them(sources: Sources) -> None:
    sources.commit("Grow", src__upload_py="def upload():\n    a = 1\n    b = 2\n")
    sources.git("mv", "src/upload.py", "src/sent.py")
    sources.put("image.bin", "")
    (sources.root / "image.bin").write_bytes(b"\0\1\2" * 50)
    sources.commit("Move it, and add a picture")
    sources.refresh()
    query = "SELECT f.path, lines_added, lines_removed FROM commit_files AS f JOIN commits AS c USING (sha) WHERE {}"
    assert sources.rows(query.format("c.subject = 'Grow'")) == [("src/upload.py", None, None)]
    marker = sources.root / ".backstory" / "project.toml"
    marker.write_text(marker.read_text(encoding="utf-8") + "\n[history]\nline_counts = true\n", encoding="utf-8")
    sources.refresh()
    assert sources.rows(query.format("c.subject = 'Grow'")) == [("src/upload.py", 2, 1)]
    moved = sources.rows(query.format("c.subject LIKE 'Move%' ORDER BY 1"))
    assert ("src/sent.py", 0, 0) in moved and ("image.bin", None, None) in moved
    counted = sources.hashes()
    sources.refresh(rebuild=True)
    assert sources.hashes() == counted


def test_a_damaged_history_is_read_again_and_that_is_said(sources: Sources) -> None:
    sources.refresh()
    hashes = sources.hashes()
    (path,) = Path(sources.folder).glob("*.duckdb")
    data = path.read_bytes()
    sources.commit("More")
    for damage in (b"", b"no database" * 1000, data[: len(data) // 3], bytes(len(data))):
        path.write_bytes(damage)
        with sources.open() as project:
            refresh(project)
            assert any("damaged" in notice for notice in project.notices), damage[:20]
        assert sources.rows("SELECT count(*) FROM commits") == [(3,)]
        (path,) = Path(sources.folder).glob("*.duckdb")
        sources.commit("And more")
        sources.git("reset", "-q", "--soft", "HEAD~1")
        sources.put("tickets/one-more.md", f"# {len(damage)}\n")
    assert sources.hashes() != hashes


def test_readers_have_the_old_one_while_it_is_built_from_nothing(
    sources: Sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources.refresh()
    seen = []
    write_meta = refresh_module.build.write_meta

    def look(*arguments: object) -> None:
        seen.append(sources.rows("SELECT count(*) FROM commits"))
        write_meta(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(refresh_module.build, "write_meta", look)
    sources.refresh(rebuild=True)
    assert seen == [[(2,)]]
