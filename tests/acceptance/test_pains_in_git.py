"""The faults of `test_pains.py` that are about files, git and places: damage, merges, clones, work trees, identity."""

import json
import os
import shutil
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from backstory.config import load
from tests.acceptance.surfaces import SURFACES, About
from tests.acceptance.world import Shared, World, serving, start, words
from tests.storekit import git, new_repo


def texts(world: World) -> list[str]:
    """What the memory holds, by every list that a user has; they must agree."""
    listed = sorted(view["summary"] for view in world.entries().values())
    served = sorted(item["summary"] for item in world.mcp("get_project_memory").data["entries"])
    assert listed == served
    return listed


@pytest.fixture
def committed(world: World) -> World:
    """A memory with one entry, committed on `main`."""
    world.say("note", "known to all")
    world.commit("memory")
    return world


def clone(world: World, folder: Path) -> World:
    git(folder.parent, "clone", "-q", str(world.root), str(folder))
    return World(folder)


def test_14_a_torn_last_line_swallows_nothing(world: World) -> None:
    """Cut in the middle of a line, in log and journal alike: the next entry is there, the rest too, and it is said."""
    world.say("note", "whole before")
    last = world.say("note", "to be cut")
    for path in world.truth():
        path.write_bytes(path.read_bytes()[:-40])
    said = world.cli("note", "written after")
    assert said.code == 0
    world.forget()
    assert texts(world) == ["whole before", "written after"]
    for name in ("timeline", "search whole", "export", "brief"):
        assert world.cli(*name.split()).code == 0
    report = world.cli("verify").out
    assert "jsonl:" in report and last not in world.cli("export", "--format", "jsonl").out
    shard = next(path for path in world.truth() if ".backstory" in path.parts)
    whole = [line for line in shard.read_text().splitlines() if line.startswith("{") and line.endswith("}")]
    assert json.loads(whole[-1])["summary"] == "written after"


@pytest.mark.parametrize("attributes", [True, False], ids=["with attributes", "without"])
def test_15_a_merge_conflict_leaves_every_event_readable(committed: World, attributes: bool) -> None:
    """Both branches wrote; and where somebody leaves markers in a shard, they hide nothing and can be mended."""
    world = committed
    if not attributes:
        (world.root / ".backstory" / ".gitattributes").unlink()
        world.commit("no attributes")
    git(world.root, "switch", "-q", "-c", "side")
    world.say("note", "from the side")
    world.commit("side")
    git(world.root, "switch", "-q", "main")
    world.say("note", "from main")
    world.commit("main")
    git(world.root, "merge", "-q", "--no-edit", "side")
    everything = ["from main", "from the side", "known to all"]
    assert texts(world) == everything and world.ask("verify")["sound"]
    for path in (path for path in world.truth() if ".backstory" in path.parts):
        lines = path.read_text()
        path.write_text(f"<<<<<<< HEAD\n{lines}=======\n{lines}>>>>>>> side\n")
    world.forget()
    assert texts(world) == everything
    assert "merge conflict marker" in world.cli("verify").out
    assert world.cli("doctor", "--fix").code == 0
    assert b"<<<<<<<" not in b"".join(path.read_bytes() for path in world.truth())
    assert texts(world) == everything and world.ask("verify")["sound"]


def test_16_a_linked_work_tree_has_the_memory_and_gives_back_what_it_wrote(committed: World, tmp_path: Path) -> None:
    """Before and after a commit, and after the work tree is deleted without one."""
    side = World(tmp_path / "side")
    git(committed.root, "worktree", "add", "-q", "-b", "side", str(side.root))
    assert texts(side) == ["known to all"]
    id_ = side.say("tried", "Cache it on the side", "--failed", "it went stale")
    assert "Cache it on the side" in committed.cli("timeline").out
    assert "[not in this tree, branch side]" in committed.hook().out
    side.commit("side")
    git(committed.root, "worktree", "remove", "--force", str(side.root))
    git(committed.root, "branch", "-q", "-D", "side")
    assert "it went stale" in committed.cli("show", id_).out and committed.ask("status")["not_in_tree"] == 1
    assert committed.cli("publish", id_).code == 0
    assert texts(committed) == ["Cache it on the side", "known to all"]


def test_19_two_clones_never_make_one_id_and_merge_in_either_order(committed: World, tmp_path: Path) -> None:
    """Both open a case and add to the same one, offline."""
    case = committed.say("issue", "Login fails after midnight")
    committed.commit("case")
    clones = [clone(committed, tmp_path / name) for name in ("one", "two", "three")]
    for number, made in enumerate(clones):
        made.say("observe", case, f"seen by clone {number}")
        made.say("note", f"from clone {number}")
        made.commit(f"clone {number}")
    expected = sorted(["known to all", "Login fails after midnight",
                       *(f"{what} clone {number}" for number in range(3) for what in ("seen by", "from"))])  # fmt: skip
    orders = list(permutations(range(3)))
    for order in (orders[0], orders[-1], orders[2]):
        target = clone(committed, tmp_path / f"merged-{order}")
        for number in order:
            git(target.root, "pull", "-q", "--no-rebase", "--no-edit", str(clones[number].root), "main")
        assert sorted(view["summary"] for view in target.entries().values()) == expected
        assert target.cli("case", case).out.count("seen by clone") == 3 and target.ask("verify")["sound"]


def test_21_two_branches_on_one_record_merge_into_one_record(committed: World) -> None:
    """Confirmed here, superseded there, and the lines doubled by a careless union: one entry, one history."""
    id_ = next(iter(committed.entries()))
    git(committed.root, "switch", "-q", "-c", "side")
    committed.ask("confirm", id_, env={"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "side"})
    committed.commit("side")
    git(committed.root, "switch", "-q", "main")
    committed.ask("supersede", id_, "known better", "--why", "it was measured")
    committed.commit("main")
    git(committed.root, "merge", "-q", "--no-edit", "side")
    shards = [path for path in committed.truth() if ".backstory" in path.parts]
    for path in shards:
        path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[0])
    committed.forget()
    views = committed.entries()
    assert len(views) == 2 and committed.standing(id_) == "superseded"
    kinds = [event["kind"] for event in committed.ask("show", id_)["history"]]
    assert sorted(kinds) == ["confirm", "note"]
    report = committed.ask("verify")
    assert report["sound"] and report["folded"] == len(shards)


def linked(committed: World, tmp_path: Path) -> list[Path]:
    git(committed.root, "worktree", "add", "-q", "-b", "beside", str(tmp_path / "beside"))
    return [committed.root, tmp_path / "beside"]


def inside(committed: World, tmp_path: Path) -> list[Path]:
    git(committed.root, "worktree", "add", "-q", "-b", "inside", str(committed.root / "trees" / "inside"))
    return [committed.root, committed.root / "trees" / "inside"]


def bare(committed: World, tmp_path: Path) -> list[Path]:
    git(tmp_path, "clone", "-q", "--bare", str(committed.root), str(tmp_path / "store.git"))
    for name in ("one", "two"):
        git(tmp_path / "store.git", "worktree", "add", "-q", "-b", name, str(tmp_path / name), "main")
    return [tmp_path / "one", tmp_path / "two"]


def detached(committed: World, tmp_path: Path) -> list[Path]:
    git(committed.root, "worktree", "add", "-q", "--detach", str(tmp_path / "detached"))
    return [committed.root, tmp_path / "detached"]


@pytest.mark.parametrize("layout", [linked, inside, bare, detached])
def test_32_every_work_tree_of_a_clone_reads_what_each_wrote(
    committed: World, tmp_path: Path, layout: Callable[[World, Path], list[Path]]
) -> None:
    """Written from the top, from a folder below and over MCP; read from everywhere by every door that lists."""
    trees = [World(path) for path in layout(committed, tmp_path)]
    ids = []
    for number, tree in enumerate(trees):
        (tree.root / "deep" / "er").mkdir(parents=True)
        said = tree.process("note", f"from tree {number}", "--json", cwd=tree.root / "deep" / "er")
        ids.append(json.loads(said.out)["data"]["id"])
        reply = tree.mcp(
            "record_project_memory", kind="note", summary=f"served in tree {number}", project_path=str(tree.root)
        )
        ids.append(reply.data["id"])
    for tree in trees:
        assert set(ids) <= tree.entries().keys()
        for id_ in ids:
            assert id_[-6:] in tree.cli("show", id_).out
        assert "known to all" in tree.hook(cwd=str(tree.root / "deep" / "er")).out
        assert tree.ask("verify")["sound"]
    assert len({tree.ask("status")["project"] for tree in trees}) == 1


def test_33_what_an_unmerged_branch_said_is_not_followed_on_main(committed: World) -> None:
    """On main it is absent from all that is unasked and counts, and marked where it is found; merged, it counts."""
    decision, trial = words(2, "branches")
    git(committed.root, "switch", "-q", "-c", "feature")
    id_ = committed.say("decide", f"Only on the feature {decision}")
    committed.say("tried", f"Tried on the feature {trial}", "--failed", "too slow")
    committed.commit("feature")
    git(committed.root, "switch", "-q", "main")
    about = About("feature", id_, "README.md", "none")
    for surface in SURFACES:
        shown = surface.ask(committed, about)
        for mark in (decision, trial):
            if mark in shown:
                assert "not in this tree" in shown or '"in_tree":false' in shown or "export --all" in surface.name, (
                    surface
                )
        if surface.name.startswith(("hook", "cli brief", "cli export --format")):
            assert decision not in shown, surface
    assert f"{trial} (failed: too slow) [not in this tree, branch feature]" in committed.cli("timeline").out
    assert trial in committed.hook().out
    git(committed.root, "merge", "-q", "--no-edit", "feature")
    assert decision in committed.hook().out and "not in this tree" not in committed.cli("timeline").out


@pytest.mark.parametrize("plain", [False, True], ids=["git", "plain folder"])
def test_34_a_moved_or_linked_project_is_the_same_one(tmp_path: Path, plain: bool) -> None:
    """Renamed, reached through a link, written through both: one memory, nothing twice."""
    world = start(tmp_path / "old name", plain=plain)
    world.say("note", "before the move", "-f", world.put("src/x.py"))
    identity = world.ask("status")["project"]
    moved = World(Path(shutil.move(world.root, tmp_path / "new")))
    link = tmp_path / "link"
    link.symlink_to(moved.root)
    through = World(link)
    through.say("note", "through the link", "-f", str(link / "src" / "x.py"))
    moved.say("note", "at its own name", "-f", "src/x.py")
    for asked in (moved, through):
        assert texts(asked) == ["at its own name", "before the move", "through the link"]
        assert asked.ask("status")["project"] == identity and asked.ask("verify")["sound"]
        assert asked.cli("why", "src/x.py").out.count("rests on src/x.py") == 3
        assert asked.hook().out.count("through the link") == 1
    assert {path.name for path in moved.truth()} == {path.name for path in through.truth()}


def test_36_identity_is_the_file_and_nothing_else(committed: World, tmp_path: Path) -> None:
    """Another remote changes nothing; above several projects, at home and at the root nothing is guessed or made."""
    identity = committed.ask("status")["project"]
    for url in ("git@example.org:one/a.git", "https://example.org/other/b.git"):
        git(committed.root, "config", "remote.origin.url", url)
        assert committed.ask("status")["project"] == identity and texts(committed) == ["known to all"]
    package = committed.root / "packages" / "api"
    package.mkdir(parents=True)
    assert committed.process("timeline", cwd=package).out.count("known to all") == 1
    assert json.loads(committed.process("init", "--json", cwd=package).out)["data"]["project"] == identity

    above = tmp_path / "repos"
    for name in ("a", "b", "c", "d", "e"):
        start(above / name)
    said = committed.process("note", "for whom?", cwd=above)
    assert said.code == 3 and all(str(above / name) in said.err for name in "abcde")
    assert committed.process("init", cwd=above).code == 4 and not (above / ".backstory").exists()
    reply = Shared.get().call("record_project_memory", kind="note", summary="for whom?", project_path=str(above))
    assert reply.failed and all(str(above / name) in reply.text for name in "abcde")
    assert committed.process("note", "for b", "--project", "b", cwd=above).code == 0
    assert texts(World(above / "b")) == ["for b"]

    home = Path(os.environ["HOME"])
    (home / ".backstory").mkdir()
    shutil.copy(load(str(committed.root)).places.marker, home / ".backstory" / "project.toml")
    (home / "loose").mkdir()
    with serving(cwd=Path("/"), log=tmp_path / "log") as server:
        for folder in (home, home / "loose", Path("/")):
            assert committed.process("note", "at home", cwd=folder).code == 3, folder
            assert committed.hook(cwd=str(folder)).out == ""
            assert server.call("get_project_memory", project_path=str(folder)).failed
    assert committed.process("init", cwd=home).code == 4
    new_repo(home / "code")
    assert committed.process("init", cwd=home / "code").code == 0
