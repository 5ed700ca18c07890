"""Several people on one memory: what a branch changes in it, who may say what, and merges in any order."""

import random
import subprocess
from pathlib import Path

import pytest

from backstory.errors import BackstoryError
from backstory.project import answers
from backstory.project.ci.judging import judge, memory_changes
from backstory.project.gateway import record
from backstory.project.operations import operate
from backstory.project.refresh import open_project
from backstory.project.reviewing import take_back
from backstory.project.team.approving import not_allowed
from backstory.project.team.diffing import diff, main_branch
from backstory.records.event import AGENT, PERSON, By
from tests.project.sessions.conftest import made_project

ME, AGENT_ONE = By(PERSON, "Test Person"), By(AGENT, "claude-code", "s1")


def git(folder: Path, *arguments: str, author: str = "") -> str:
    extra = (
        ["-c", f"user.name={author}", "-c", f"user.email={author.split(maxsplit=1)[0].lower()}@example.org"]
        if author
        else []
    )
    done = subprocess.run(["git", *extra, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, message: str, author: str = "") -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message, author=author)
    return git(folder, "rev-parse", "HEAD")


def say(folder: Path, kind: str, text: str, by: By = ME, **fields: object) -> str:
    with open_project(str(folder)) as project:
        return record(project, by, kind, {"summary": text, **fields}).id


def judge_as(folder: Path, action: str, id_: str, by: By = ME, **extra: object) -> None:
    with open_project(str(folder)) as project:
        operate(project, by, action, id_, **extra)  # type: ignore[arg-type]


def changes(folder: Path, base: str, head: str = "") -> dict[str, str]:
    with open_project(str(folder)) as project:
        return {one.summary: one.what for one in diff(project, base, head).changes}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made_project(tmp_path / "proj")


def test_a_branch_adds_confirms_doubts_and_withdraws(project: Path) -> None:
    kept, gone, doubted = (say(project, "decision", f"Use {name}", AGENT_ONE) for name in ("wool", "silk", "felt"))
    say(project, "decision", "Use jute", AGENT_ONE)
    commit(project, "Say four things")
    git(project, "checkout", "-qb", "feature")
    say(project, "note", "Linen shrinks")
    judge_as(project, "confirm", kept)
    judge_as(project, "retire", gone, reason="it tears")
    judge_as(project, "contest", doubted, reason="does it hold?")
    expected = {"Linen shrinks": "added", "Use wool": "confirmed", "Use silk": "withdrawn", "Use felt": "put in doubt"}
    assert changes(project, "main") == expected
    commit(project, "Judge them")
    assert changes(project, "main", "HEAD") == expected
    assert changes(project, "main", "main") == {}
    with open_project(str(project)) as memory:
        retired = next(one for one in diff(memory, "main", "HEAD").changes if one.what == "withdrawn")
        assert (retired.was, retired.standing, retired.why) == ("active", "retired", "it tears")
        assert retired.by == "Test Person (person)"
        text = memory_changes(memory, "main")
    assert "**Withdraws** (1)" in text
    assert "Use jute" not in text


def test_what_the_main_branch_said_meanwhile_is_not_the_branchs_doing(project: Path) -> None:
    commit(project, "Begin the memory")
    git(project, "checkout", "-qb", "feature")
    say(project, "note", "Said on the branch")
    commit(project, "On the branch")
    git(project, "checkout", "-q", "main")
    say(project, "note", "Said on main")
    commit(project, "On main")
    git(project, "checkout", "-q", "feature")
    assert changes(project, "main", "HEAD") == {"Said on the branch": "added"}


def test_a_base_without_a_memory_and_an_unknown_one(project: Path) -> None:
    say(project, "note", "First")
    assert changes(project, "HEAD") == {"First": "added"}
    with open_project(str(project)) as memory:
        assert main_branch(memory) == "main"
        for name in ("nowhere", "--help", ""):
            with pytest.raises(BackstoryError, match="knows no commit"):
                diff(memory, name, "")


def test_only_approvers_may_judge_and_the_base_says_who_they_are(project: Path) -> None:
    marker = project / ".backstory" / "project.toml"
    rules = '\n[team.approvers]\n"*" = ["Ben Example"]\n"src/*" = ["Ann Example", "ann@example.org"]\n'
    marker.write_text(marker.read_text(encoding="utf-8") + rules, encoding="utf-8")
    about = say(project, "decision", "Use wool", AGENT_ONE, files=["src/store.py"])
    free = say(project, "decision", "Use silk", AGENT_ONE)
    base = commit(project, "Begin")
    git(project, "checkout", "-qb", "feature")
    judge_as(project, "confirm", about)
    commit(project, "Confirm the wool", author="Carl Example")
    judge_as(project, "confirm", free)
    commit(project, "Confirm the silk", author="Ben Example")
    with open_project(str(project)) as memory:
        (found,) = not_allowed(memory, base)
        assert (found.target, found.what) == (about, "confirm")
        assert found.author.startswith("Carl Example")
        assert found.approvers == ("Ann Example", "ann@example.org")
        checked = judge(memory, base)
        assert checked.worst == "block"
        assert any("no approver" in one.text for one in checked.findings)
    text = marker.read_text(encoding="utf-8").replace("Ann Example", "Carl Example")
    marker.write_text(text, encoding="utf-8")
    commit(project, "Let me", author="Carl Example")
    with open_project(str(project)) as memory:
        assert len(not_allowed(memory, base)) == 1
    git(project, "checkout", "-q", "main")
    git(project, "checkout", "-qb", "other")
    judge_as(project, "confirm", about)
    commit(project, "Confirm it", author="Ann Other")
    with open_project(str(project)) as memory:
        assert not_allowed(memory, base) == []  # ann@example.org
    agents = say(project, "note", "An agent may say what it likes", AGENT_ONE)
    commit(project, "By an agent", author="Carl Example")
    with open_project(str(project)) as memory:
        assert agents and not_allowed(memory, base) == []


def test_who_replaces_or_undoes_judges_too(project: Path) -> None:
    marker = project / ".backstory" / "project.toml"
    rules = '\n[team.approvers]\n"src/*" = ["Ann Example"]\n'
    marker.write_text(marker.read_text(encoding="utf-8") + rules, encoding="utf-8")
    about = say(project, "decision", "Use wool", AGENT_ONE, files=["src/store.py"])
    other = say(project, "decision", "Use felt for the roof", AGENT_ONE)
    with open_project(str(project)) as memory:
        approved = operate(memory, ME, "confirm", about)
        (event,) = memory.db.execute("SELECT id FROM events WHERE kind = 'confirm'").fetchone()
    assert approved.standing == "confirmed"
    base = commit(project, "Begin")
    for author, count in (("Carl Example", 1), ("Ann Example", 0)):
        git(project, "checkout", "-qB", "undone", base)
        with open_project(str(project)) as memory:
            take_back(memory, ME, event)
        commit(project, "Take it back", author=author)
        with open_project(str(project)) as memory:
            assert [one.what for one in not_allowed(memory, base)] == ["undo"] * count
        git(project, "checkout", "-qB", "replaced", base)
        say(project, "decision", "Use silk", supersedes=[about])
        commit(project, "Replace it", author=author)
        with open_project(str(project)) as memory:
            found = not_allowed(memory, base)
            assert [one.files for one in found] == [("src/store.py",)] * count
        git(project, "checkout", "-qB", "free", base)
        say(project, "decision", "Use slate for the roof", supersedes=[other])
        commit(project, "Replace the other", author=author)
        with open_project(str(project)) as memory:
            assert not_allowed(memory, base) == []


def test_without_rules_anybody_may(project: Path) -> None:
    about = say(project, "decision", "Use wool", AGENT_ONE)
    base = commit(project, "Begin")
    judge_as(project, "confirm", about)
    commit(project, "Confirm", author="Carl Example")
    with open_project(str(project)) as memory:
        assert not_allowed(memory, base) == []


@pytest.mark.parametrize("seed", [1, 2])
def test_two_people_on_two_clones_and_three_branches_end_with_one_memory(
    project: Path, tmp_path: Path, seed: int
) -> None:
    """200 random operations each, merged through plain git in any order."""
    commit(project, "Begin the memory")
    clones = {}
    for name in ("ann", "ben"):
        clones[name] = tmp_path / name
        git(tmp_path, "clone", "-q", str(project), str(clones[name]))
    chance = random.Random(seed)
    for name, clone in clones.items():
        for branch in ("one", "two", "three"):
            git(clone, "checkout", "-qB", f"{name}-{branch}", "origin/main")
            _operations(clone, name, branch, chance, 67)
            commit(clone, f"{name} on {branch}")
            git(clone, "push", "-q", "origin", f"{name}-{branch}")
    branches = [f"{name}-{branch}" for name in clones for branch in ("one", "two", "three")]
    seen = []
    for clone in clones.values():
        order = branches[:]
        chance.shuffle(order)
        git(clone, "fetch", "-q")
        git(clone, "checkout", "-qB", "all", "origin/main")
        for branch in order:
            git(clone, "merge", "-q", "--no-edit", f"origin/{branch}")
        with open_project(str(clone)) as memory:
            assert memory.problem_count() == 0
            query = "SELECT id, standing, superseded_by, contested_with FROM entries WHERE source = 'log' ORDER BY id"
            rows = memory.db.execute(query).fetchall()
            stones = memory.db.execute("SELECT key FROM tombstones ORDER BY key").fetchall()
            pairs = {frozenset((pair.one.id, pair.other.id)) for pair in answers.conflicts(memory)}
        seen.append((rows, stones, pairs))
    assert seen[0] == seen[1]
    rows, stones, _ = seen[0]
    assert len(rows) > 150
    assert stones
    standings = {id_: standing for id_, standing, _, _ in rows}
    assert {"active", "confirmed", "rejected", "retired"} <= set(standings.values())


def _operations(clone: Path, who: str, branch: str, chance: random.Random, count: int) -> None:
    person, agent = By(PERSON, who), By(AGENT, "agent", f"{who}-{branch}")
    made: list[str] = []
    with open_project(str(clone)) as project:
        for number in range(count):
            what = chance.choice(["say", "say", "say", "confirm", "retire", "reject", "contest", "supersede"])
            try:
                if what == "say" or not made:
                    text = f"Use {chance.choice('abcdefgh')}{chance.randrange(40)} for {chance.choice('vwxyz')}"
                    by = chance.choice([person, agent])
                    made.append(record(project, by, "decision", {"summary": f"{text} ({who} {branch} {number})"}).id)
                elif what == "supersede":
                    fields = {"summary": f"Rather {who} {branch} {number}", "supersedes": [chance.choice(made)]}
                    made.append(record(project, chance.choice([person, agent]), "decision", fields).id)
                else:
                    operate(project, person, what, chance.choice(made), reason="because")
            except BackstoryError:
                continue
