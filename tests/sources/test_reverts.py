"""Reverts: what messages claim, which commits they mean, and patches undone without a word."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.records.likeness import line_hashes
from backstory.sources.git.log import Change, Commit
from backstory.sources.revert_messages import Claim, names_of, read_claim
from backstory.sources.reverts import (
    Patch,
    Revert,
    drop_common,
    failed_lines,
    find,
)

A, B, C, D = (letter * 40 for letter in "abcd")
ID = "1a2b3c4d" * 5


def history(*messages: str | tuple[str, str]) -> tuple[list[Commit], dict[str, str]]:
    """Commits, newest first, and their bodies, of messages oldest first, each with the files that it changes.

    Ids are 40 times the digit of the position from 1; a commit without files is a merge.
    """
    commits: list[Commit] = []
    bodies: dict[str, str] = {}
    for number, told in enumerate(messages, 1):
        message, files = told if isinstance(told, tuple) else (told, "a.py")
        subject, _, body = message.partition("\n")
        sha = f"{number:x}" * 40
        parents = ("0" * 40,) if files else ("0" * 40, "f" * 40)
        changes = tuple(Change("M", name) for name in files.split())
        commits.append(Commit(sha, parents, 1_000 + number, 1_000, subject, changes))
        bodies[sha] = body.strip("\n")
    return commits[::-1], bodies


def reverts(*messages: str | tuple[str, str], repository: str = "") -> list[Revert]:
    """What is found in the history."""
    commits, bodies = history(*messages)
    return list(find(commits, bodies.__getitem__, repository=repository))


def sha(number: int) -> str:
    """The id of the commit at a position from 1."""
    return f"{number:x}" * 40


def test_a_revert_as_git_writes_it() -> None:
    """Original, time, subject, reason and the files that both touched."""
    body = f"\n\nThis reverts commit {sha(1)}.\n\nIt broke the build.\n\nSigned-off-by: A <a@example.org>"
    assert reverts(("Add x (#3)", "a.py b.py"), "Other", (f'Revert "Add x (#3)"{body}', "b.py c.py")) == [
        Revert(
            revert_sha=sha(3),
            original_sha=sha(1),
            time=1_003,
            subject_of_original="Add x (#3)",
            reason="It broke the build.",
            files=("b.py",),
            found_by="id",
            repeats=1,
        )
    ]


def test_a_title_that_comes_back_is_counted() -> None:
    told = [
        ("Sync the stubs", "a.py"),
        ("Sync the stubs (#7)", "a.py"),
        "Other",
        ('Revert "Sync the stubs (#7)"', "a.py"),
    ]
    (found,) = reverts(*told)
    assert found.repeats == 2


@pytest.mark.parametrize(
    "message",
    [
        f"Revert it\n\nThis reverts commit {ID}.",
        f"Revert it\n\nThis reverts commit\n{ID}, reversing\nchanges made to {B}.",
        f"Fix the build\n\nThis reverts commit {ID[:9]} and does it better.",
        f"Fix the build\n\nThis partially reverts commit {ID[:7]}.",
        f"Fix the build\n\nReverts {ID[:10]}\n\nPiperOrigin-RevId: 5",
        f"Fix the build\n\nText.\n\nRevert the change from {ID[:12]} but keep the test.",
        f"Fix the build\n\nThis change is a partial\nrevert of commit {ID[:12]}.",
        f"Fix the build\n\nFixed by reverting commit {ID[:12]}.",
        f'Fix the build\n\n* Revert "Odd"\n\nThis reverts commit {ID}.\n\n* more',
        f"Reverts {ID}",
        f"revert: {ID[:7]}",
        f"ssh.c: revert needless commit {ID[:10]}",
        f"Backed out changeset {ID[:12]} (bug 5) for failures",
        f"Back out commit `{ID[:8]}`",
        f"[Rollback] of {ID[:8]}",
        f"Rolling back https://github.com/o/r/commit/{ID}",
        f"[BUGFIX beta] Partially revert {ID[:8].upper()}",
        f"Undo {ID[:8]}",
    ],
)
def test_ids_are_read_wherever_they_are_meant(message: str) -> None:
    """In subject and body, whole and abbreviated, after the words that people use."""
    subject, _, body = message.partition("\n")
    claim = read_claim(subject, body.strip())
    assert claim
    (found,) = claim.ids
    assert ID.startswith(found)
    assert len(found) >= 7


@pytest.mark.parametrize(
    "message",
    [
        f"Fix it\n\nThis was reverted in {ID}.",
        f"Fix it\n\nThe series was temporarily reverted in {ID[:7]} so that it would not ship.",
        f"Fix it\n\nCommit {ID[:7]} partially reverted the change from {ID[:9]}.",
        f"Fix it\n\nA regression since {ID}, which had been reverted before.",
        "Add a revert button\n\nIt can undo what was done.",
        "Fix revert of deleted files",
        "Document undocumented options",
        "Don't print it if fixes are reverted",
        "Update the undo stack",
        'Bump actions/checkout from 3 to 4\n\n* Revert "Use node 20" by @x in #12\n* Reverts #13',
        "",
    ],
)
def test_remarks_about_reverts_are_no_reverts(message: str) -> None:
    """Another commit's revert, a feature of that name, the news of a dependency."""
    subject, _, body = message.partition("\n")
    assert read_claim(subject, body.strip()) is None
    assert read_claim(f"Revert {ID}", "")


@pytest.mark.parametrize(
    "message",
    [
        ("Revert #123", ("#123",)),
        ("revert #123 (#456)", ("#123",)),
        ("Revert PR 123: it breaks", ("#123",)),
        ("Revert PR #123 and #124", ("#123", "#124")),
        ("Back out 5919", ("#5919",)),
        ('Revert "x y (#123)" (#456)', ("#123",)),
        ("Revert Drop permissions (#123) (#456)", ("#123",)),
        ("Revert https://github.com/o/r/pull/123 (#4)", ("#123",)),
        ("Revert the rename\n\nReverts o/r#123", ("#123",)),
        ("Revert the rename\n\nReverts other/thing#123", ()),
        ("Revert the rename\n\nReverts https://github.com/other/thing/pull/123", ()),
        ("Revert the rename\n\nThis reverts merge request !7", ("!7",)),
        ("Reverts changelist 554885148", ("cl/554885148",)),
        ("Roll back cl/678765762 again", ("cl/678765762",)),
        ("Revert D12345", ("D12345",)),
        ("Revert r77", ("r77",)),
        ("Revert 2 tests", ()),
        ("Revert a change to fix #12", ()),
        ("Revert the 512 change", ()),
        ("Revert the change of #12 since #13 is done", ("#12",)),
        ("Revert the change. A cherry-pick of #14", ()),
    ],
)
def test_references_are_read_without_the_number_of_the_revert_itself(message: tuple[str, tuple[str, ...]]) -> None:
    """Numbers of requests in every form; another repository's number and that of an issue are none."""
    subject, _, body = message[0].partition("\n")
    claim = read_claim(subject, body.strip(), repository="me/r")
    assert claim
    assert claim.references == message[1]


@pytest.mark.parametrize(
    "subject",
    [
        ('Revert "Add x"', 1),
        ("Revert Add a longer thing", 1),
        ('Revert "Revert "Add x""', 2),
        ("Revert 'Revert \"Add x\"'", 2),
        ('Reverts Revert of "Add x"', 2),
        ('Revert "Revert upgrade to x"', 2),
        ('Reapply "Add x"', 2),
        ('Revert "Reapply "Add x""', 1),
        ('Revert "Revert "Revert "Add x"""', 1),
        ('[BUGFIX] Revert: "Revert "Add x""', 2),
        ("Build better, faster (revert)", 1),
        ("revert(ui): drop the button", 1),
    ],
)
def test_every_second_layer_is_a_reland(subject: tuple[str, int]) -> None:
    """A revert of a revert brings the change back, a revert of that takes it away again."""
    claim = read_claim(subject[0], "")
    assert claim
    assert claim.reland == (subject[1] == 2)


def test_a_chain_of_reverts_by_id_alternates() -> None:
    """Where the subjects say nothing, the originals tell."""
    found = reverts("Add x", f"Reverts {sha(1)}", f"Reverts {sha(2)}", f"Reverts {sha(3)}", f"Reverts {sha(4)}")
    assert [(revert.original_sha, revert.reland) for revert in found] == [
        (sha(1), False),
        (sha(2), True),
        (sha(3), False),
        (sha(4), True),
    ]


@pytest.mark.parametrize(
    "messages",
    [
        (["Add x to y (#12)", 'Revert "Add x to y (#12)" (#13)'], "reference"),
        (["Add x to y (#12)", 'Revert "Add x to y"'], "title"),
        (["Add x to y", "Revert add X to y."], "title"),
        (["Add x to y", "Rollback of: Add x to y"], "title"),
        (["[UI] Add `x` to y", "[UI] revert \"[UI] Add 'x' to y\""], "title"),
        (["Add x to y\n\nCloses #12", "Take it out\n\nReverts #12"], "reference"),
        (["Add x to y\n\nSee merge request g/p!12", "Revert it\n\nReverts merge request !12"], "reference"),
        (["Add x\n\nPiperOrigin-RevId: 554885148", "Reverts changelist 554885148"], "reference"),
        (["Add x\n\nDifferential Revision: https://p.example/D1234", "Back out D1234"], "reference"),
        (["Add x\n\ngit-svn-id: https://x/trunk@77 uuid", "Revert r77"], "reference"),
        (["Auto merge of #12 - x:y, r=z", "Revert #12"], "reference"),
        (
            [
                "Let the cache of names grow without any bound at all",
                'Revert "Let the cache of names grow without an\u2026" (#9)',
            ],
            "title",
        ),
    ],
)
def test_the_original_is_found(messages: tuple[list[str], str]) -> None:
    """By reference, by title without regard to case and marks, by the beginning of one that was cut off."""
    (found,) = reverts("Something else", *messages[0])
    assert (found.original_sha, found.found_by) == (sha(2), messages[1])
    assert reverts("Something else", messages[0][1])[:1] == [
        revert for revert in reverts("Something else", messages[0][1]) if revert.original_sha is None
    ]


def test_the_newest_commit_of_a_title_before_the_revert_is_meant() -> None:
    """Not one after it, and none that touches other files."""
    title = "Update the list"
    found = reverts(title, title, (title, "far.py"), f'Revert "{title}"', title)
    assert [(revert.revert_sha, revert.original_sha) for revert in found] == [(sha(4), sha(2))]


def test_a_title_that_says_too_little_finds_nothing() -> None:
    """Neither one without words nor a short beginning; a long beginning with dots does."""
    long = "Let the cache of names grow"
    assert [revert.original_sha for revert in reverts("!!!!!!!!!!", 'Revert "**********"')] == [None]
    assert [revert.original_sha for revert in reverts("Let the cache", 'Revert "Let the..."')] == [None]
    assert [revert.original_sha for revert in reverts(f"{long} much", f'Revert "{long}..."')] == [sha(1)]


def test_several_originals() -> None:
    """All ids of a list are originals, the first of the list first; what stands in brackets is none."""
    body = f"This reverts commits {sha(2)[:9]}, {sha(1)[:9]} (see {sha(3)}) and\n{sha(4)}."
    (found,) = reverts("One", "Two", "Three", "Four", f"Revert the lot\n\n{body}")
    assert (found.original_sha, found.more_originals) == (sha(2), (sha(1), sha(4)))


def test_a_commit_goes_before_the_merge_that_brought_it() -> None:
    """The title finds the commit where the number finds only a merge."""
    merge = ("Merge pull request #12 from x/y\n\nAdd x to y", "")
    (found,) = reverts("Add x to y", merge, 'Revert "Add x to y"\n\nReverts o/r#12')
    assert (found.original_sha, found.files) == (sha(1), ("a.py",))
    (found,) = reverts("Other", merge, 'Revert "Add x to y"\n\nReverts o/r#12')
    assert (found.original_sha, found.files) == (sha(2), ("a.py",))


def test_merges_are_originals_only() -> None:
    """A merge of a revert is told by the revert itself."""
    merge = (f"Revert x (#5)\n\nThis reverts commit {sha(1)}.", "")
    assert reverts("Add x", merge) == []
    assert len(reverts("Add x", (merge[0], "a.py"))) == 1


def test_an_original_on_another_branch_is_known_by_its_whole_id() -> None:
    """It may come before the revert in the order of the history; its twin of the same title is not taken instead."""
    body = f'Revert "Add x"\n\nThis reverts commit {sha(3)}.'
    found = [revert for revert in reverts("Add x", body, "Add x") if revert.revert_sha == sha(2)]
    assert [(revert.original_sha, revert.found_by, revert.subject_of_original) for revert in found] == [
        (sha(3), "id", "Add x")
    ]


def test_a_mention_that_leads_nowhere_is_dropped() -> None:
    """Work undone inside of one squashed change is no revert; where the subject says so it is one all the same."""
    body = f'\n\n* Try\n\n* Revert "Try"\n\nThis reverts commit {ID}.'
    assert reverts("Other", f"Add y{body}") == []
    (found,) = reverts("Other", f"Revert y for good{body}")
    assert (found.original_sha, found.found_by, found.files) == (None, "words", ("a.py",))


@pytest.mark.parametrize(
    "message",
    [
        (f"Revert x\n\nThis reverts commit {ID}.\n\nIt leaks.\nMuch.\n\nCloses #3", "It leaks.\nMuch."),
        (f"Revert x\n\nThis reverts commit {ID}, reversing\nchanges made to {B}.", ""),
        (f"Revert x\n\nThis reverts commit {ID} since it leaks.", f"This reverts commit {ID} since it leaks."),
        ("Revert #12 - breaks upgrades (#13)", "breaks upgrades"),
        ('Revert "a - b" because it leaks', "because it leaks"),
        ("Rollback due to a data race\n\nReverts #4\n\nPiperOrigin-RevId: 1", "due to a data race"),
        ('Revert "a - b, since c"', ""),
        ("Revert x\n\nReviewed-by: A\nChange-Id: I1\n(cherry picked from commit 123)", ""),
    ],
)
def test_the_reason_is_what_is_left(message: tuple[str, str]) -> None:
    """The body without boilerplate and trailers, else the cause in the subject, never what the title says."""
    subject, _, body = message[0].partition("\n")
    claim = read_claim(subject, body.strip())
    assert claim
    assert claim.reason == message[1]


def test_a_part_is_said_to_be_one() -> None:
    """Partial reverts are marked; whole ones are not."""
    for words in ("Partially revert", "[x] Partial rollback of", "Revert parts of", "Mostly reverts"):
        claim = read_claim(f"{words} {ID}", "")
        assert claim
        assert claim.partial
    claim = read_claim(f"Revert {ID}", "Keep most of the tests.")
    assert claim
    assert not claim.partial


def test_line_hashes_squeeze_and_leave_out_short_lines() -> None:
    """White space does not count, seven characters are too few, and the numbers fit a signed column."""
    assert line_hashes(["  a  b\tc d e f", "a b c d e f\r"]) == line_hashes(["a b c d e f"])
    assert line_hashes(["1234567", "1 3 5 7", "}", ""]) == frozenset()
    assert len(line_hashes(["12345678", "1 3 5 78", "123 5678"])) == 3
    hashes = line_hashes(f"line number {number}" for number in range(5_000))
    assert len(hashes) == 5_000
    assert -(1 << 63) <= min(hashes) < 0 < max(hashes) < 1 << 63
    assert line_hashes(["\udce9tranger \ud800"])


def test_line_hashes_never_change() -> None:
    """They are kept between versions and machines."""
    assert line_hashes(["return value"]) == {8997625224306183878}


def test_common_lines_are_dropped() -> None:
    """Eight commits may share a line, nine make it common; an unknown line stays."""
    assert drop_common([1, 2, 3], {1: 8, 2: 9}) == {1, 3}


def test_failed_lines_are_those_that_went_away_again() -> None:
    """Of the original what the revert removed; without it all that was removed."""
    revert, original = Patch(frozenset(), frozenset({1, 2, 3})), Patch(frozenset({2, 3, 4}), frozenset({9}))
    assert failed_lines(revert, original) == {2, 3}
    assert failed_lines(revert, None) == {1, 2, 3}


PATCH = Patch(frozenset(range(3)), frozenset(range(5, 8)))
UNDONE = Patch(PATCH.removed, PATCH.added)


def by_patch(patches: dict[int, Patch], *messages: str | tuple[str, str]) -> list[Revert]:
    """What is found where the commits at these positions have these patches."""
    commits, bodies = history(*messages)
    known = {sha(number): patch for number, patch in patches.items()}
    return list(find(commits, bodies.__getitem__, patch_of=known.get))


def test_a_patch_undone_without_a_word_is_found() -> None:
    """And so is one that comes back after it; the words of the messages do not matter."""
    found = by_patch({1: PATCH, 3: UNDONE, 4: PATCH}, "Add x", "Other", "Clean up", "Polish")
    assert [(revert.revert_sha, revert.original_sha, revert.found_by, revert.reland) for revert in found] == [
        (sha(3), sha(1), "patch", False),
        (sha(4), sha(3), "patch", True),
    ]
    assert by_patch({1: PATCH, 3: PATCH}, "Add x", "Other", "Clean up") == []


def test_a_patch_finds_the_original_that_a_message_only_hints_at() -> None:
    """What the message names goes before what the patch shows."""
    (found,) = by_patch({1: PATCH, 2: UNDONE}, "Add x", "Revert last change")
    assert (found.original_sha, found.found_by) == (sha(1), "patch")
    (found,) = by_patch({2: PATCH, 3: UNDONE}, "Add y", "Add x", f"Reverts {sha(1)}")
    assert (found.original_sha, found.found_by) == (sha(1), "id")


def test_small_and_distant_patches_prove_nothing() -> None:
    """A line or two come and go, in other files they have nothing to do with each other, and so long after."""
    small, back = Patch(frozenset({1}), frozenset({2, 3})), Patch(frozenset({2, 3}), frozenset({1}))
    assert by_patch({1: small, 2: back}, "Add x", "Clean up") == []
    assert by_patch({1: PATCH, 2: UNDONE}, ("Add x", "a.py"), ("Clean up", "b.py")) == []
    assert len(by_patch({1: PATCH, 2: UNDONE}, ("Add x", "a.py"), ("Clean up", "a.py"))) == 1


def many(distance: int) -> tuple[list[Commit], dict[str, Patch]]:
    """A patch and its undoing with so many others between them."""
    commits = [
        Commit(f"{number:040x}", ("0" * 40,), number, number, "Edit", (Change("M", "a"),))
        for number in range(distance + 2, 0, -1)
    ]
    patches = {commit.sha: Patch(frozenset({commit.time, -1, -2, -3}), frozenset({-4})) for commit in commits}
    return commits, {**patches, commits[0].sha: UNDONE, commits[-1].sha: PATCH}


def test_patches_are_compared_over_a_bounded_distance() -> None:
    """At 1,999 between them one is found, at 2,001 no more."""
    for distance, expected in ((1_900, 1), (2_100, 0)):
        commits, patches = many(distance)
        assert len(list(find(commits, lambda _: "", patch_of=patches.get))) == expected


def test_names_under_which_a_commit_can_be_cited() -> None:
    """Only its own number, not those that it speaks of."""
    body = "Fixes #1, see #2\n\nCloses #3\nSee merge request g/p!4\n"
    assert names_of('Revert "x (#5)" (#6)', body) == ["#6", "#3", "!4"]


@given(subject=st.text(max_size=60), body=st.text(max_size=200))
def test_nothing_raises(subject: str, body: str) -> None:
    """Any message is a claim or none, and a history of it is read."""
    claim = read_claim(subject, body)
    assert claim is None or isinstance(claim, Claim)
    commits = [Commit(letter * 40, (), 0, 0, subject, ()) for letter in "abc"]
    assert (
        list(find(commits, lambda _: body, patch_of=lambda _: Patch(line_hashes([body]), line_hashes([subject]))))
        is not None
    )


WORDS = [
    "Revert",
    "revert",
    "Reapply",
    "back out",
    "commit",
    "(",
    ")",
    '"',
    "[",
    "]",
    ":",
    "#12",
    "!3",
    "o/r#4",
    A,
    B[:8],
]
WORDS += [
    "\n",
    "\n\n",
    " ",
    "This reverts commit",
    ", reversing\nchanges made to",
    "https://github.com/o/r/pull/5",
    "because",
]


@given(st.lists(st.sampled_from(WORDS), max_size=25), st.integers(0, 3))
def test_what_messages_are_made_of_raises_nothing(parts: list[str], glue: int) -> None:
    """Claims hold only what a history can be asked for."""
    subject, _, body = (" " * (glue % 2)).join(parts).partition("\n")
    claim = read_claim(subject, body)
    for cite in claim.ids if claim else ():
        assert 7 <= len(cite) <= 64
        assert set(cite) <= set("0123456789abcdef")
    for name in claim.references if claim else ():
        assert not name.isspace()


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece",
    ["revert ", "(", "\n", " ", "- ", "revert the ", "revert (#1 ", "[", '"', 'Revert "', "a:", f"{ID} ", "#1,"],
)
def test_long_messages_cost_no_more_than_their_length(piece: str) -> None:
    """No pattern takes a time that grows with the square of the text."""
    text = piece * (200_000 // len(piece))
    read_claim(text, text)
    read_claim("Revert " + text, f"This reverts commit {ID}" + text)


# A folder of clones by name, for whoever has them.
CLONES = os.environ.get("TEST_CLONES", "")


def streamed(folder: Path) -> Iterator[tuple[Commit, str]]:
    """All commits of a clone without their files, with their bodies, newest first."""
    call = ["git", "log", "--topo-order", "--encoding=UTF-8", "-z", "--format=%H%x01%P%x01%ct%x01%s%x01%b", "HEAD"]
    out = subprocess.run(call, cwd=folder, capture_output=True, check=True).stdout
    for record in out.decode("utf-8", "replace").split("\0"):
        if record:
            sha_, parents, time, subject, body = record.split("\x01", 4)
            yield Commit(sha_, tuple(parents.split()), int(time), int(time), subject, ()), body


@pytest.mark.slow
@pytest.mark.parametrize("name", ["curl", "mypy", "ember.js", "cargo", "istio", "jax"])
def test_reverts_of_real_histories_are_found(shared_data: Path, name: str) -> None:
    """99 of 100 known reverts, and 95 of 100 of the originals that are known."""
    folder = Path(CLONES) / name
    if not CLONES or not folder.is_dir():
        pytest.skip(f"TEST_CLONES names no folder that holds a clone of {name}")
    lines = (shared_data / "foresight" / f"foresight_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    known = [line for line in map(json.loads, lines) if line["type"] == "failed_attempt"]
    pairs = list(streamed(folder))
    bodies = {commit.sha: body for commit, body in pairs}
    found = {revert.revert_sha: revert for revert in find((commit for commit, _ in pairs), bodies.__getitem__)}
    hits = [line for line in known if line["revert"] in found]
    assert len(hits) >= 0.99 * len(known)
    named = [line for line in hits if line["original"]]
    same = [line for line in named if found[line["revert"]].original_sha == line["original"]]
    assert len(same) >= 0.95 * len(named)
