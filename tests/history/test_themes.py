"""What recurs is found whole, the same for every order, engine and size of the project."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.history import theme_nearest, theme_scipy, themes
from backstory.history.theme_words import STOP_WORDS
from backstory.history.themes import Document, Themes, find

DAY = 86_400_000_000
NOW = 1_772_000_000_000_000
PLANTED = {
    "lock": """A stale lock file was left behind after the {x} process crashed, so the next start refused to run.
After the crash of {x} the lock file stayed on disk and every later run hung waiting for the stale lock.
Stale lockfile: {x} was killed by a crash, nobody removed the lock file, the next start failed.
Had to delete the stale lock by hand because the {x} worker crashed while holding the lock file.
The {x} lock file is never released when the process crashes; the stale lock blocks the next start.
Lock file of {x} was stale after a crash, and the start does not check whether its owner lives.""",
    "rate": """The {x} API answered 429 because of its rate limit, so requests are sent slower now.
Hit the rate limit of the {x} API: 429 after a burst of requests, retries with a pause helped.
Requests to the {x} API failed with 429; the rate limit counts per minute, retry after a pause.
Rate limit again: the {x} API returns 429 when the importer sends too many requests.
Too many requests to {x}: its API has a rate limit, and our retries made the 429 worse.
The {x} API rate limit (429) stopped the sync; requests need a pause between retries.""",
}
PARTS = "parser upload billing cache scheduler gateway router editor".split()
# Everyday work, each sentence from words of its own.
NOUNS = """
    button colour margin header footer invoice customer address avatar banner calendar chart column comment contract
    country coupon currency dashboard delivery diagram discount document draft email event export feature filter folder
    gallery graph group holiday image import label language layout ledger letter license locale logo market member menu
    message metric movie network notice office order owner package page panel partner password patient payment photo
    pixel planet player point poster price printer product profile project prompt quote radio recipe record region
    report review ribbon salary sample screen season section sensor server shelf shipment shop signal sketch slide
    speaker sponsor station sticker stock store student subject summary survey symbol table target tax teacher template
    theme ticket toolbar topic tour track trade train travel tutor unit vendor video village visitor voucher wallet
""".split()
VERBS = (
    "align animate archive attach balance centre colour compare crop draw fold merge mirror paint print rotate".split()
)


def _everyday(count: int, chance: random.Random) -> list[Document]:
    found = []
    for number in range(count):
        words = [*chance.sample(NOUNS, 6), *chance.sample(VERBS, 3)]
        chance.shuffle(words)
        text = f"The {' '.join(words[:4])} should be as the {' '.join(words[4:])} is."
        found.append(Document("run_record", f"w{number}.run.md", f"w{number}", text, NOW - number * DAY))
    return found


def _planted(chance: random.Random) -> list[Document]:
    return [
        Document("run_record", f"{name}{n}.run.md", f"{name}{n}", line.format(x=chance.choice(PARTS)), NOW - n * DAY)
        for name, text in PLANTED.items()
        for n, line in enumerate(text.splitlines())
    ]


def _members(found: Themes) -> list[set[str]]:
    return [{member.document.ref for member in theme.members} for theme in found.themes]


@pytest.mark.parametrize("count", [60, 300, 2_000])
def test_planted_themes_are_found_whole_and_apart_at_any_size(count: int) -> None:
    chance = random.Random(7)
    found = _members(find([*_planted(chance), *_everyday(count, chance)]))
    for name in PLANTED:
        mine = {f"{name}{n}.run.md" for n in range(6)}
        best = max(found, key=lambda group: len(group & mine))
        assert len(best & mine) >= 5, name
        assert len(best - mine) <= 1, name


def test_no_theme_swallows_the_rest_as_the_project_grows() -> None:
    chance = random.Random(5)
    texts = [
        f"{chance.choice(PARTS)} {' '.join(chance.choices(NOUNS[:40], k=8))} {' '.join(chance.choices(VERBS, k=2))}"
        for _ in range(3_000)
    ]
    documents = [Document("trial", f"t{n}", f"s{n}", text, None) for n, text in enumerate(texts)]
    sizes = [len(theme.members) for theme in find(documents).themes]
    assert not sizes or max(sizes) < 100


def test_the_order_of_the_texts_makes_no_difference() -> None:
    chance = random.Random(3)
    documents = [*_planted(chance), *_everyday(200, chance)]
    first = find(documents)
    assert len(first.themes) >= 2
    for _ in range(3):
        chance.shuffle(documents)
        assert find(documents) == first


def test_both_engines_give_the_same() -> None:
    if not theme_scipy.available():
        pytest.skip("scipy, of the extra `themes`, is not installed")
    chance = random.Random(11)
    documents = [*_planted(chance), *_everyday(700, chance)]
    plain, fast = find(documents, engine="plain"), find(documents, engine="scipy")
    assert plain == fast and plain.themes


@settings(max_examples=40)
@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(1, 1 << 23), max_size=8), min_size=1, max_size=40
    )
)
def test_both_engines_find_the_same_neighbours(vectors: list[dict[str, int]]) -> None:
    if not theme_scipy.available():
        pytest.skip("scipy, of the extra `themes`, is not installed")
    for count, threshold in ((10, 0.25), (3, 0.0), (1, 0.9)):
        plain = theme_nearest.nearest(vectors, count, threshold)
        assert theme_scipy.nearest(vectors, count, threshold) == [
            [pair for pair in pairs if pair[1] >= threshold] for pairs in plain
        ]


def test_its_id_comes_from_its_members_alone() -> None:
    chance = random.Random(3)
    planted = _planted(chance)
    one = find(planted)
    other = find([document._replace(text=document.text.replace("the", "that")) for document in planted])
    assert {theme.id for theme in one.themes} == {theme.id for theme in other.themes}
    less = find([document for document in planted if document.ref != "lock0.run.md"])
    assert {theme.id for theme in one.themes} != {theme.id for theme in less.themes}


def test_its_label_has_words_as_people_wrote_them_and_none_that_tells_nothing() -> None:
    found = find(_planted(random.Random(3)))
    labels = " ".join(theme.label for theme in found.themes).lower()
    assert "lock" in labels and ("limit" in labels or "429" in labels or "rate" in labels)
    for theme in found.themes:
        words = theme.label.split(", ")
        assert 1 <= len(words) <= 4 and not {word.lower() for word in words} & STOP_WORDS
        assert not any(a != b and a.lower() in b.lower() for a in words for b in words)
        assert list(theme.terms[: len(words)]) == words


def test_one_ticket_told_often_is_no_theme_and_two_texts_are_none() -> None:
    planted = [document for document in _planted(random.Random(3)) if document.ref.startswith("lock")]
    assert len(find(planted).themes) == 1
    assert find([document._replace(stem="one") for document in planted]).themes == ()
    assert find(planted[:2]).themes == ()
    assert find([]).themes == () and find([Document("trial", "a", "a", "", None)] * 5).themes == ()


def test_drift_is_told_from_the_newest_text_not_from_a_clock() -> None:
    lines = PLANTED["lock"].splitlines()

    def drift(days: list[int], newest: int = 0) -> tuple[str, int]:
        documents = [
            Document("run_record", f"r{n}", f"s{n}", line.format(x="parser"), NOW - day * DAY)
            for n, (line, day) in enumerate(zip(lines, days, strict=True))
        ]
        other = Document("run_record", "other", "other", "Nothing of the kind at all here", NOW - newest * DAY)
        (theme,) = find([*documents, other]).themes
        return theme.drift, theme.recent

    assert drift([1, 2, 3, 4, 5, 6]) == ("new", 6)
    assert drift([400, 410, 420, 430, 440, 450]) == ("quiet", 0)
    assert drift([1, 2, 3, 4, 500, 900]) == ("growing", 4)
    assert drift([1, 100, 200, 300, 400, 500]) == ("steady", 1)
    assert drift([1400, 1410, 1420, 1430, 1440, 1450], newest=1399) == ("new", 6)


def test_rows_fit_the_tables() -> None:
    import duckdb

    from backstory.history import build

    found = find(_planted(random.Random(3)))
    with duckdb.connect() as db:
        build.create(db, ["themes", "run_record_themes"])
        assert build.add(db, "themes", found.theme_rows()) == len(found.themes) > 0
        assert build.add(db, "run_record_themes", found.member_rows()) == sum(map(len, _members(found)))
        assert db.execute("SELECT min(similarity) > 0, max(similarity) <= 1 FROM run_record_themes").fetchone() == (
            True,
            True,
        )


def test_without_the_extra_the_oldest_of_very_many_are_left_out_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = random.Random(3)
    documents = [*_planted(chance), *_everyday(100, chance)]
    monkeypatch.setattr(themes, "MOST_WITHOUT_SCIPY", 40)
    found = find(documents, engine="plain")
    assert "oldest 72 texts" in found.note and "themes" in found.note
    monkeypatch.setattr(themes, "MOST_WITHOUT_SCIPY", 4_000)
    assert find(documents, engine="plain").note == ""


def test_scripts_without_spaces_and_diacritics_have_themes_too() -> None:
    lines = [
        "プロセスがクラッシュした後に古いロックファイルが残っていて再起動に失敗する",
        "クラッシュ後の古いロックファイルのせいでプロセスの再起動が失敗した",
        "古いロックファイルを削除したらクラッシュ後のプロセスの再起動は失敗しない",
        "プロセスがクラッシュすると古いロックファイルが残り再起動が失敗する",
    ]
    documents = [Document("run_record", f"j{n}", f"j{n}", line, None) for n, line in enumerate(lines)]
    assert [len(theme.members) for theme in find(documents).themes] == [4]


def test_importing_it_loads_no_heavy_library() -> None:
    import subprocess
    import sys

    code = "import sys, backstory.history.themes; print([m for m in ('numpy', 'scipy', 'duckdb') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=Path.cwd())
    assert done.stdout.strip() == "[]"
