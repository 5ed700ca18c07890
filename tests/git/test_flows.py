"""What people do with git between two entries: nothing is lost, and nothing is falsely reported as tampering."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.storekit import PERSON_BY, Store, assert_rebuilt_is_equal, git, hook

ATTRIBUTES = ".backstory/.gitattributes"


@pytest.fixture
def store(repo: Path) -> Store:
    """A memory with one committed entry and one that is not, on `main`."""
    made = Store(repo).init()
    made.record("committed one")
    made.commit("memory")
    made.record("not committed one")
    return made


def check(store: Store, *texts: str) -> None:
    """All of the texts are known, live, searchable by the fold; nobody cries wolf; the index is as if made anew."""
    assert set(store.texts().values()) == set(texts)
    assert set(store.standings().values()) == {"confirmed"}
    store.assert_sound()
    assert_rebuilt_is_equal(store)


BEFORE = ("committed one", "not committed one")


def reset_hard(store: Store) -> None:
    store.git("reset", "-q", "--hard")


def reset_hard_back(store: Store) -> None:
    store.commit("more")
    store.git("reset", "-q", "--hard", "HEAD~1")


def reset_soft(store: Store) -> None:
    store.commit("more")
    store.git("reset", "-q", "--soft", "HEAD~1")


def reset_mixed(store: Store) -> None:
    store.commit("more")
    store.git("reset", "-q", "HEAD~1")


def checkout_file(store: Store) -> None:
    store.git("checkout", "-q", "--", ".backstory")


def clean(store: Store) -> None:
    store.git("clean", "-qfdx")


def stash(store: Store) -> None:
    store.git("stash", "-q")


def stash_untracked(store: Store) -> None:
    store.git("stash", "-q", "-u")


def stash_pop(store: Store) -> None:
    store.git("stash", "-q")
    assert set(store.texts().values()) == set(BEFORE)
    store.assert_sound()
    store.git("stash", "pop", "-q")


def stash_write_pop(store: Store) -> None:
    """What is written while the stash lies there merges with it."""
    store.git("stash", "-q")
    store.record("after")
    store.assert_sound()
    store.git("stash", "pop", "-q")


def stash_drop(store: Store) -> None:
    store.git("stash", "-q")
    store.git("stash", "drop", "-q")


def amend(store: Store) -> None:
    store.git("commit", "-q", "-a", "--amend", "-m", "amended")


def amend_after_amend(store: Store) -> None:
    store.git("commit", "-q", "-a", "--amend", "-m", "amended")
    store.record("after")
    store.git("commit", "-q", "-a", "--amend", "-m", "amended again")


def rebase(store: Store) -> None:
    """The branch is moved onto a main that went on; both wrote."""
    store.commit("more")
    store.git("switch", "-q", "-c", "side", "HEAD~1")
    store.record("after")
    store.commit("on the side")
    store.git("rebase", "-q", "main")


def rebase_squash(store: Store) -> None:
    store.commit("more")
    store.record("after")
    store.commit("and more")
    git_editor = "sed -i '2,$s/^pick/squash/'"
    git(store.root, "-c", f"sequence.editor={git_editor}", "-c", "core.editor=true", "rebase", "-q", "-i", "HEAD~2")


def rebase_drop(store: Store) -> None:
    """A commit with memory in it is thrown away."""
    store.commit("more")
    (store.root / "code.py").write_text("pass\n")
    store.commit("code only")
    git(store.root, "-c", "sequence.editor=sed -i '1d'", "rebase", "-q", "-i", "HEAD~2")


def cherry_pick(store: Store) -> None:
    store.git("stash", "-q")
    store.git("switch", "-q", "-c", "side")
    store.record("after")
    picked = store.commit("on the side")
    store.git("switch", "-q", "main")
    (store.root / "code.py").write_text("pass\n")
    store.commit("main goes on")
    store.git("cherry-pick", picked)
    store.git("stash", "pop", "-q")


def revert(store: Store) -> None:
    store.commit("more")
    store.git("revert", "--no-edit", "HEAD")


def squash_merge(store: Store) -> None:
    store.commit("more")
    store.git("switch", "-q", "-c", "side")
    store.record("after")
    store.commit("on the side")
    store.git("switch", "-q", "main")
    store.git("merge", "-q", "--squash", "side")
    store.commit("squashed")
    store.git("branch", "-q", "-D", "side")


def merge(store: Store) -> None:
    store.git("switch", "-q", "-c", "side")
    store.record("after")
    store.commit("on the side")
    store.git("switch", "-q", "main")
    (store.root / "code.py").write_text("pass\n")
    store.commit("main goes on")
    store.git("merge", "-q", "--no-edit", "side")


def fast_forward(store: Store) -> None:
    store.git("switch", "-q", "-c", "side")
    store.commit("on the side")
    store.git("switch", "-q", "main")
    store.git("merge", "-q", "--ff-only", "side")


def deleted_branch(store: Store) -> None:
    store.git("stash", "-q")
    store.git("switch", "-q", "-c", "side")
    store.record("after")
    store.commit("on the side")
    store.git("switch", "-q", "main")
    store.git("branch", "-q", "-D", "side")
    store.git("stash", "pop", "-q")


def branch_made_again(store: Store) -> None:
    """Under the same name, from before what was written on it: the shard's name is the same, its content is not."""
    deleted_branch(store)
    store.git("stash", "-q")
    store.git("switch", "-q", "-c", "side")
    store.record("again on the side")
    store.commit("on the side again")
    store.git("switch", "-q", "main")
    store.git("merge", "-q", "--no-edit", "side")
    store.git("stash", "pop", "-q")


def detached(store: Store) -> None:
    store.commit("more")
    store.git("checkout", "-q", "--detach", "HEAD~1")
    store.record("after")
    store.commit("off any branch")
    store.git("switch", "-q", "main")


def to_before_the_memory(store: Store) -> None:
    """A commit that is older than `init`: the memory is still found, by the twin of its marker."""
    store.commit("more")
    store.git("checkout", "-q", "--detach", "HEAD~2")
    assert not (store.root / ".backstory" / "project.toml").exists()
    store.record("after")
    store.assert_sound()


def orphan(store: Store) -> None:
    store.commit("more")
    store.git("switch", "-q", "--orphan", "pages")
    store.record("after")
    store.assert_sound()


def gc_and_prune(store: Store) -> None:
    store.commit("more")
    store.git("reset", "-q", "--hard", "HEAD~1")
    store.git("reflog", "expire", "--expire=now", "--all")
    store.git("gc", "-q", "--prune=now")
    store.git("pack-refs", "--all")


def remote_changed(store: Store) -> None:
    store.git("remote", "add", "origin", "https://example.org/a.git")
    store.record("after")
    store.git("remote", "set-url", "origin", "https://example.org/b.git")


def branch_renamed(store: Store) -> None:
    store.git("branch", "-m", "main", "trunk")
    store.record("after")


FLOWS: list[Callable[[Store], None]] = [
    reset_hard, reset_hard_back, reset_soft, reset_mixed, checkout_file, stash, stash_untracked, stash_pop,
    stash_write_pop, stash_drop, amend, amend_after_amend, rebase, rebase_squash, rebase_drop, cherry_pick, revert,
    squash_merge, merge, fast_forward, deleted_branch, branch_made_again, detached, to_before_the_memory, orphan,
    gc_and_prune, remote_changed, branch_renamed, clean,
]  # fmt: skip


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.__name__)
@pytest.mark.parametrize("read", [True, False], ids=["read-before", "not-read-before"])
def test_nothing_is_lost_and_nobody_cries_wolf(store: Store, flow: Callable[[Store], None], read: bool) -> None:
    if read:
        store.assert_sound()
    flow(store)
    texts = set(BEFORE) | {text for text in store.texts().values() if text in ("after", "again on the side")}
    check(store, *texts)
    wrote = {
        stash_write_pop, amend_after_amend, rebase, rebase_squash, cherry_pick, squash_merge, merge, deleted_branch,
        detached, to_before_the_memory, orphan, remote_changed, branch_made_again, branch_renamed,
    }  # fmt: skip
    assert ("after" in texts) == (flow in wrote)
    store.record("in the end")
    check(store, *texts, "in the end")
    store.commit("in the end")
    check(store, *texts, "in the end")


def test_a_log_line_that_git_left_out_is_tagged_and_can_be_published(store: Store) -> None:
    """Not in this tree, though not forgotten: what was tried on an abandoned branch."""
    from backstory.project.publishing import publish

    store.git("stash", "-q")
    store.git("switch", "-q", "-c", "side")
    tried = store.record("batching by ten", kind="trial", outcome="failed")
    store.do("confirm", tried, why="once more")
    store.commit("tried")
    store.git("switch", "-q", "main")
    store.git("branch", "-q", "-D", "side")
    assert tried not in store.in_tree()
    assert store.verify().not_in_tree == 3
    with store.open() as project:
        published = publish(project, [tried])
    assert published.events == 2
    assert tried in store.in_tree()
    store.commit("published")
    store.assert_sound()
    assert_rebuilt_is_equal(store)


def test_on_another_branch_an_entry_is_there_only_by_the_journal(store: Store) -> None:
    store.git("switch", "-q", "-c", "side")
    on_side = store.record("only on the side")
    store.commit("side")
    store.git("switch", "-q", "main")
    assert on_side not in store.in_tree()
    assert store.standing(on_side) == "confirmed"
    store.git("switch", "-q", "side")
    assert on_side in store.in_tree()


def test_what_a_branch_says_of_an_entry_waits_for_the_merge_but_a_rejection_does_not(store: Store) -> None:
    base, wrong, gone = store.record("stays here"), store.record("was wrong"), store.record("is over")
    store.commit("base")
    store.git("switch", "-q", "-c", "side")
    store.do("retire", gone)
    store.do("reject", wrong)
    successor = store.record("replaces it", supersedes=[base])
    assert store.standings()[base] == "superseded"
    store.commit("side")
    store.git("switch", "-q", "main")
    now = store.standings()
    assert (now[base], now[wrong], now[gone]) == ("confirmed", "rejected", "confirmed")
    assert_rebuilt_is_equal(store)
    store.git("merge", "-q", "side")
    now = store.standings()
    assert (now[base], now[wrong], now[gone], now[successor]) == ("superseded", "rejected", "retired", "confirmed")
    store.git("reset", "-q", "--hard", "HEAD~1")
    assert store.standings()[base] == "confirmed"
    assert_rebuilt_is_equal(store)


# -- clones


def clone(store: Store, name: str) -> Store:
    target = store.root.parent / name
    git(store.root.parent, "clone", "-q", str(store.root), str(target))
    return Store(target, store.clock)


def without_attributes(store: Store) -> None:
    (store.root / ATTRIBUTES).unlink()


def test_a_fresh_clone_has_the_committed_memory(store: Store) -> None:
    copy = clone(store, "clone")
    check(copy, "committed one")
    copy.record("from the clone")
    check(copy, "committed one", "from the clone")


@pytest.mark.parametrize("attributes", [True, False])
@pytest.mark.parametrize("first", ["here", "there"])
def test_two_clones_that_diverge_merge_without_conflict_in_either_order(
    store: Store, attributes: bool, first: str
) -> None:
    """Both wrote on `main`, and both acted on the same entry. Also on a host that has no merge drivers."""
    if not attributes:
        without_attributes(store)
    shared = store.record("shared entry")
    store.commit("base")
    there = clone(store, "there")
    store.record("here")
    store.do("confirm", shared)
    store.commit("here")
    there.record("there")
    there.do("retire", shared)
    there.commit("there")
    one, other = (store, there) if first == "here" else (there, store)
    one.git("pull", "-q", "--no-rebase", "--no-edit", str(other.root), "main")
    other.git("pull", "-q", "--no-rebase", "--no-edit", str(one.root), "main")
    for each in (one, other):
        assert set(each.texts().values()) == {*BEFORE, "shared entry", "here", "there"}
        assert each.standings()[shared] == "retired"
        each.assert_sound()
        assert_rebuilt_is_equal(each)
    assert one.git("status", "--porcelain") == ""
    one.record("goes on")
    one.assert_sound()


def test_a_pull_that_was_undone_gives_back_what_it_replaced(store: Store) -> None:
    """The successor came from another clone and is gone again: no journal here has it."""
    store.commit("base")
    old = store.record("the old way")
    store.commit("old")
    there = clone(store, "there")
    there.record("the new way", supersedes=[old])
    there.do("reject", there.record("a wrong value"))
    there.commit("new")
    store.git("pull", "-q", str(there.root), "main")
    assert store.standings()[old] == "superseded"
    store.git("reset", "-q", "--hard", "HEAD~1")
    assert store.standings()[old] == "confirmed"
    assert set(store.texts().values()) == {*BEFORE, "the old way"}
    store.assert_sound()
    assert_rebuilt_is_equal(store)


def test_supersession_in_both_clones_of_each_others_entry_is_a_conflict_that_shows(store: Store) -> None:
    one, two = store.record("way one"), store.record("way two")
    store.commit("base")
    there = clone(store, "there")
    store.do("retire", one, successor=two)
    store.commit("here")
    there.do("retire", two, successor=one)
    there.commit("there")
    store.git("pull", "-q", "--no-rebase", "--no-edit", str(there.root), "main")
    assert {store.standings()[one], store.standings()[two]} == {"contested"}
    assert_rebuilt_is_equal(store)


def test_a_shard_that_two_sides_wrote_to_after_all_is_read_with_its_merge_markers(store: Store) -> None:
    """By hand, without union driver: markers are skipped and noted, every event is read."""
    without_attributes(store)
    store.commit("base")
    (shard,) = store.shards()
    base = shard.read_bytes()
    there = clone(store, "there")
    store.record("here")
    store.commit("here")
    own = shard.read_bytes()
    theirs = own.splitlines(keepends=True)
    there.record("there")
    there.commit("there")
    assert [path.name for path in there.shards()] != [shard.name]
    shard.write_bytes(base + b"<<<<<<< HEAD\n" + theirs[-1] + b"=======\n>>>>>>> side\n")
    assert "here" in store.texts().values()
    report = store.verify()
    assert report.sound, report.problems
    assert {item.why for item in report.notes} == {"marker"}
    store.record("and on")
    assert {"here", "and on"} <= set(store.texts().values())


def test_a_copy_of_a_clone_goes_on_in_both_places_and_merges(store: Store) -> None:
    import shutil

    store.commit("base")
    copy = Store(Path(shutil.copytree(store.root, store.root.parent / "copy", symlinks=True)), store.clock)
    for one, text in ((store, "here"), (copy, "there"), (store, "here again"), (copy, "there again")):
        one.record(text)
        one.commit(text)
    store.git("pull", "-q", "--no-rebase", "--no-edit", str(copy.root), "main")
    copy.git("pull", "-q", "--no-rebase", "--no-edit", str(store.root), "main")
    for each in (store, copy):
        check(each, *BEFORE, "here", "there", "here again", "there again")


def test_a_redaction_travels_and_clears_the_other_clone(store: Store) -> None:
    """Journal, log and full-text index of the other clone; what git holds is another matter."""
    secret = "hunter2swordfish"
    id_ = store.record(f"the key is {secret}")
    store.commit("oops")
    there = clone(store, "there")
    there.record("there")
    there.commit("there")
    assert there.texts()[id_] == f"the key is {secret}"
    store.redact(id_)
    store.commit("redacted")
    there.git("pull", "-q", "--no-rebase", "--no-edit", str(store.root), "main")
    assert there.texts()[id_] == "[redacted]"
    assert there.standing(id_) == "retired"
    assert secret.encode() not in there.bytes_everywhere()
    there.assert_sound()
    assert_rebuilt_is_equal(there)


def test_an_entry_that_was_published_is_redacted_in_both_shards(store: Store) -> None:
    from backstory.project.publishing import publish

    store.commit("base")
    store.git("switch", "-q", "-c", "side")
    id_ = store.record("the key is hunter2swordfish")
    store.commit("side")
    store.git("switch", "-q", "main")
    with store.open() as project:
        publish(project, [id_])
    store.commit("published")
    store.git("merge", "-q", "--no-edit", "side")
    assert len(store.shards()) == 2
    store.redact(id_)
    assert b"hunter2swordfish" not in store.bytes_everywhere()
    store.assert_sound()
    assert_rebuilt_is_equal(store)
    store.commit("redacted")
    store.git("checkout", "-q", "--detach", "HEAD~1")
    assert store.texts()[id_] == "[redacted]"
    assert b"hunter2swordfish" not in store.bytes_everywhere()


def test_the_blanked_line_may_arrive_before_the_word_that_vouches_for_it(store: Store) -> None:
    """Files of the log come one by one (a checkout of single paths): the order of arrival does not matter."""
    store.commit("base")
    there = clone(store, "there")
    there.git("switch", "-q", "-c", "side")
    other = store.root.parent
    store.git("switch", "-q", "-c", "one")
    id_ = store.record("the key is hunter2swordfish")
    store.commit("one")
    store.git("switch", "-q", "-c", "two")
    store.redact(id_)
    store.commit("two")
    blanked, vouching = [path.name for path in store.shards() if path.name not in {p.name for p in there.shards()}]
    if b'"kind":"redact"' in (store.root / ".backstory/log" / blanked).read_bytes():
        blanked, vouching = vouching, blanked
    assert other.exists()
    there.git("fetch", "-q", str(store.root), "two")
    there.git("checkout", "-q", "FETCH_HEAD", "--", f".backstory/log/{blanked}")
    assert "hash" in there.whys()[0]
    there.git("checkout", "-q", "FETCH_HEAD", "--", f".backstory/log/{vouching}")
    assert there.texts()[id_] == "[redacted]"
    there.assert_sound()
    assert_rebuilt_is_equal(there)


def test_two_people_who_both_ran_init_and_merged_lose_nothing(repo: Path) -> None:
    """project.toml conflicts, which is said with a next step; once it names both ids, all is read."""
    mine = Store(repo)
    theirs = clone(mine, "theirs")
    mine.init().record("mine")
    mine.commit("mine")
    theirs.init().record("theirs")
    theirs.commit("theirs")
    mine_id, their_id = mine.config.project, theirs.config.project
    assert mine_id != their_id
    mine.git("pull", "-q", "--no-rebase", "--no-edit", str(theirs.root), "main", check=False)
    marker = mine.root / ".backstory" / "project.toml"
    assert "<<<<<<<" in marker.read_text()
    from tests.storekit import refused

    error = refused(mine.texts)
    assert (error.code, "doctor --fix" in error.hint) == (5, True)
    marker.write_text(f'id = "{mine_id}"\nname = "repo"\nalso = ["{their_id}"]\n')
    mine.commit("joined")
    assert set(mine.texts().values()) == {"mine", "theirs"}
    mine.assert_sound()
    theirs.git("pull", "-q", str(mine.root), "main")
    assert set(theirs.texts().values()) == {"mine", "theirs"}
    theirs.assert_sound()
    theirs.record("and on")
    theirs.assert_sound()
    assert_rebuilt_is_equal(theirs)


def test_two_sessions_on_two_branches_turn_a_proposal_active_once_merged(store: Store) -> None:
    proposal = store.record("seen by capture", hook("s1"))
    store.commit("proposed")
    store.git("switch", "-q", "-c", "side")
    store.record("seen by capture", hook("s2"))
    assert store.standing(proposal) == "active"
    store.commit("again")
    store.git("switch", "-q", "main")
    assert store.standing(proposal) == "proposed"
    store.git("merge", "-q", "--no-edit", "side")
    assert store.standing(proposal) == "active"
    assert PERSON_BY.kind == "person"


def test_a_reset_behind_a_redaction_is_no_loss(store: Store) -> None:
    """The blanked file is not what git has, byte for byte; its lines are."""
    store.commit("base")
    first = store.record("the key is hunter2swordfish")
    store.commit("kept")
    store.record("undone")
    store.commit("undone")
    store.git("reset", "-q", "--hard", "HEAD~1")
    store.assert_sound()
    store.redact(first)
    store.assert_sound()
    store.commit("redacted")
    store.assert_sound()
    assert_rebuilt_is_equal(store)


def test_a_loss_that_git_explains_later_is_withdrawn(store: Store) -> None:
    """Lines taken out by hand are reported; once that state is committed, it is history that a review has seen."""
    store.commit("base")
    (shard,) = store.shards()
    shard.write_bytes(shard.read_bytes().splitlines(keepends=True)[0])
    assert "committed" in store.whys()[1]
    store.commit("taken out")
    store.assert_sound()
    assert_rebuilt_is_equal(store)
