"""The check as a use case: levels, what binds the files, snoozes, and a memory that cannot be read."""

from pathlib import Path

import pytest

from backstory.errors import BackstoryError
from backstory.project import snooze_writing, snoozing
from backstory.project.checking import Checked, check
from backstory.project.snooze_writing import snooze
from tests.project.memory import AGENT, DAY, PERSON, Memory


def ask(memory: Memory, *paths: str, days: float = 0.0, **options: str) -> Checked:
    with memory.open(memory.now + int(days * DAY)) as project:
        return check(project, paths, **options)


def test_what_binds_a_file_is_information_and_what_was_tried_is_a_warning(memory: Memory) -> None:
    memory.add("decision", "Use one writer", rationale="locks", files=["README.md"])
    trial = memory.add("trial", "Two writers with retry", outcome="failed", failure_mode="Deadlock under load",
                       files=["README.md"])  # fmt: skip
    quiet = ask(memory, "README.md")
    assert quiet.worst == "info" and {one.kind for one in quiet.findings} == {"decision", "trial"}
    loud = ask(memory, "README.md", intent="two writers, with a retry")
    first = loud.findings[0]
    assert (loud.worst, first.level, first.id) == ("warn", "warn", trial)
    assert first.text.startswith("This was tried and failed because deadlock under load (2026-01-05)")
    assert "will" not in first.text
    assert loud.reaches("info") and loud.reaches("warn") and not loud.reaches("block")


def test_a_folder_and_a_scope_bind_the_files_below_them(memory: Memory) -> None:
    memory.put("src/db/store.py", "x = 1\n")
    memory.put("src/ui/page.py", "x = 1\n")
    memory.commit("Add")
    memory.add("decision", "All stores are append-only", files=["src/db"])
    memory.add("pattern", "Pages hold no state", name="stateless", scope="src/ui")
    assert [one.kind for one in ask(memory, "src/db/store.py").findings] == ["decision"]
    assert [one.kind for one in ask(memory, "src/ui/page.py").findings] == ["pattern"]


def test_an_unknown_path_is_named_and_never_called_safe(memory: Memory) -> None:
    memory.add("note", "About it", files=["README.md"])
    assert ask(memory, "src/nowhere.py").unknown == ("src/nowhere.py",)
    assert ask(memory, "README.md").unknown == ()
    assert ask(memory, "README.md", "src/nowhere.py").unknown == ("src/nowhere.py",)


def test_a_decision_that_was_replaced_or_ruled_it_out_warns_who_says_it_again(memory: Memory) -> None:
    old = memory.add("decision", "Keep sessions in memcached", files=["README.md"])
    memory.add("decision", "Keep sessions in postgres", files=["README.md"], supersedes=[old],
               alternatives_rejected=["Store sessions in signed cookies"])  # fmt: skip
    again = ask(memory, "README.md", intent="keep sessions in memcached again")
    assert again.worst == "warn" and "is superseded by" in again.findings[0].text
    ruled_out = ask(memory, "README.md", intent="store sessions in signed cookies")
    assert ruled_out.worst == "warn" and "ruled out" in ruled_out.findings[0].text
    assert ask(memory, "README.md", intent="rename the sessions table").worst == "info"


def test_only_what_a_person_pinned_and_confirmed_blocks(memory: Memory) -> None:
    memory.add("hotfile", "Generated, edit the template", path="README.md", files=["README.md"], by=AGENT)
    assert ask(memory, "README.md").worst == "info"
    memory.record("hotfile", "Never by hand: the release job reads it", PERSON, path="README.md", pinned=True,
                  files=["README.md"])  # fmt: skip
    assert ask(memory, "README.md").worst == "block"


def test_a_snooze_is_for_one_person_counted_and_ends(memory: Memory) -> None:
    trial = memory.add("trial", "Two writers with retry", outcome="failed", files=["README.md"])
    memory.git("config", "user.name", "Ada")
    with memory.open() as project:
        done = snooze(project, PERSON, trial[-6:], "2h", "moving it today")
        assert (done.target, done.by, done.why) == (trial, "Ada", "moving it today")
    found = ask(memory, "README.md", intent="two writers with retry")
    assert found.findings == () and len(found.snoozed) == 1
    assert "Two writers" in found.snoozed[0] and "moving it today" in found.snoozed[0]
    assert ask(memory, "README.md", intent="two writers with retry", days=0.1).worst == "warn"
    memory.git("config", "user.name", "Grace")
    assert ask(memory, "README.md", intent="two writers with retry").worst == "warn"


def test_a_path_can_be_snoozed_and_taken_back(memory: Memory) -> None:
    memory.put("src/db.py", "x = 1\n")
    memory.add("decision", "Use one writer", files=["src/db.py"])
    with memory.open() as project:
        snooze(project, PERSON, "src", "3d")
        assert snooze_writing.listed(project)[0].target == "src/"
    assert ask(memory, "src/db.py").findings == ()
    with memory.open() as project:
        snooze(project, PERSON, "src/", off=True)
        assert snooze_writing.listed(project) == []
    assert ask(memory, "src/db.py").worst == "info"


def test_a_path_that_is_not_there_is_snoozed_only_if_the_memory_knows_it(memory: Memory) -> None:
    memory.put("src/db.py", "x = 1\n")
    memory.commit("Add")
    memory.add("decision", "Use one writer", files=["src/db.py"])
    memory.git("rm", "-rq", "src")
    memory.commit("Remove")
    with memory.open() as project:
        for unknown in ("src/gone.py", "sr", "src/d"):
            with pytest.raises(BackstoryError, match=f"there is no {unknown} in this project") as refused:
                snooze(project, PERSON, unknown)
            assert refused.value.code == 2 and refused.value.hint
        assert snooze_writing.listed(project) == []
        for known in ("src/db.py", "src", "README.md"):
            snooze(project, PERSON, known)
        assert len(snooze_writing.listed(project)) == 3


def test_only_what_is_snoozed_can_be_let_warn_again(memory: Memory) -> None:
    trial = memory.add("trial", "Two writers", outcome="failed", files=["README.md"])
    memory.put("src/db.py", "x = 1\n")
    with memory.open() as project:
        for target in (trial, "README.md", "nowhere/at/all.py"):
            with pytest.raises(BackstoryError, match="is not snoozed"):
                snooze(project, PERSON, target, off=True)
        snooze(project, PERSON, "src")
        (memory.root / "src/db.py").unlink()
        (memory.root / "src").rmdir()
        assert snooze(project, PERSON, "src", off=True).target == "src/"
        assert snooze_writing.listed(project) == []


def test_an_agent_may_not_snooze_and_odd_times_are_refused(memory: Memory) -> None:
    trial = memory.add("trial", "Two writers", outcome="failed", files=["README.md"])
    with memory.open() as project:
        with pytest.raises(BackstoryError, match="only a person may silence"):
            snooze(project, AGENT, trial)
        for span in ("soon", "0m", "-1h", "99w", "2h2h"):
            with pytest.raises(BackstoryError, match="is no time"):
                snooze(project, PERSON, trial, span)
        assert snooze_writing.listed(project) == []
        snooze(project, PERSON, trial, "90m")
        assert len(snooze_writing.listed(project)) == 1


def test_a_snooze_file_with_rubbish_in_it_is_read_as_far_as_it_goes(memory: Memory) -> None:
    trial = memory.add("trial", "Two writers", outcome="failed", files=["README.md"])
    with memory.open() as project:
        place = Path(snoozing.place(project.config.project))
        place.parent.mkdir(parents=True)
        place.write_bytes(b"\xff\xfe\t\n1\t2\n9999999999999999\tx\ty\tz\tw\ncut sho")
        snooze(project, PERSON, trial, "1h")
        assert [one.target for one in snooze_writing.listed(project)] == [trial]


def test_a_damaged_log_is_said(memory: Memory) -> None:
    memory.add("decision", "Use one writer", files=["README.md"])
    assert ask(memory, "README.md").problems == ()
    shard = next((memory.root / ".backstory" / "log").glob("*.jsonl"))
    shard.write_bytes(shard.read_bytes().replace(b"one writer", b"two writers"))
    found = ask(memory, "README.md")
    assert "backstory verify" in found.problems[0]


def test_a_diff_brings_its_own_paths(memory: Memory) -> None:
    memory.add("decision", "Use one writer", files=["README.md"])
    found = ask(memory, diff="--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-# A project\n+# Another\n")
    assert found.paths == ("README.md",) and found.worst == "info"


def test_a_change_of_very_many_files_is_looked_at_or_said_not_to_be(memory: Memory, monkeypatch) -> None:
    memory.add("decision", "Use one writer", files=["README.md"])
    many = [f"src/f{number}.py" for number in range(400)]
    whole = ask(memory, *many, "README.md", intent="rename all of them")
    assert whole.worst == "info" and whole.problems == ()
    monkeypatch.setattr("backstory.recall.check.MAX_PATHS", 100)
    (said,) = ask(memory, *many, "README.md").problems
    assert said.startswith("only 100 of 401 files")
