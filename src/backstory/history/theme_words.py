"""Prose into terms, for themes: what is left of a text when everything that tells nothing of its subject is gone.

Dropped are code blocks, stack traces, addresses, trailers, hashes, numbers, names of tickets and English stop words.
Identifiers are split (`lock_file`, `lockFile`, `lock-file`), English words lose their endings, Latin, Greek and
Cyrillic ones their diacritics. A script without spaces is read in pairs of characters, Katakana in whole words. The
same text gives the same terms wherever it is read: no setting of the machine has a part in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

# Endless words are no words (base64, minified code), and so is what one letter stands for.
_LONGEST, _SHORTEST = 30, 2
# A text is read so far: a log that was pasted into a record must not cost a minute.
MAX_CHARS = 40_000

_STOP_WORDS = """
a about above across actual actually after again against all almost along already also although always am among an and
another any anyway anything are aren around as at away back be became because become been before behind being below
beside besides better between beyond both but by came can cannot come could couldn did didn do does doesn doing don
done down due during each either else enough etc even ever every everything exactly except far few first for forth
from further get gets getting give given go goes going gone got had hadn has hasn have haven having he hence her here
hers him his how however i ie if in indeed inside instead into is isn it its itself just keep kept kind know last
later least less let lets like likely little ll long look looked looks lot made mainly make makes making many may
maybe me mean means might mine more most mostly much must my namely near need needed needs neither never new next no
nor not nothing now of off often ok old on once one ones only onto or other others otherwise our ours out outside over
own per perhaps please pretty probably put quite rather re really said same say says second see seem seemed seems seen
several shall she should shouldn simply since so some somehow something sometimes somewhere soon still such sure take
taken takes than that the their them then there therefore these they thing things think third this those though
through thus to together too took toward towards turned turns two under unless unlike until up upon us use used using
usual usually ve very via want wanted wants was wasn way ways we well went were weren what whatever when where whereas
whether which while who whole whose why will with within without won work worked would wouldn yes yet you your yours
py tsx jsx md txt rs rb
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Words whose forms share no ending.
_IRREGULAR = {
    "ran": "run", "built": "build", "broke": "break", "broken": "break", "hung": "hang", "froze": "freeze",
    "frozen": "freeze", "lost": "lose", "wrote": "write", "written": "write", "threw": "throw", "thrown": "throw",
    "caught": "catch", "sent": "send", "stuck": "stick", "left": "leave", "forgot": "forget", "forgotten": "forget",
    "failure": "fail", "failures": "fail", "flaky": "flake", "flakiness": "flake", "dying": "die", "died": "die",
    "found": "find", "held": "hold", "slept": "sleep", "hid": "hide", "hidden": "hide", "overrode": "override",
    "overridden": "override", "understood": "understand", "bytes": "byte",
}  # fmt: skip
# `timed out`, `time-out` and `timeout` are one term, and so on for what people write in all three ways.
_COMPOUND_WORDS = """
timeout rollback backoff backup fallback cleanup shutdown login logout setup workaround startup hangup warmup teardown
followup lockout lockup slowdown wakeup lookup checkout breakdown takeover failover callback handover writeback playback
signup popup rollout dropout
"""
_PARTICLES = frozenset(("around", "back", "down", "off", "out", "over", "up", "in"))
# Names that have a hump and no parts.
_WHOLE = frozenset(
    """github gitlab javascript typescript sqlite postgresql mysql nosql graphql duckdb mongodb dynamodb leveldb
    macos ios
    openssl boringssl libressl openssh openapi fastapi numpy scipy pypi pytest latex websocket webassembly webhook oauth
    devops powershell nodejs bitbucket youtube iphone ipad readme todo llvm gnupg libcurl""".split()
)
# `re-run` is written as one word as often as not.
_PREFIXES = frozenset(("re", "un", "non", "pre", "de", "co", "sub", "multi", "auto"))

_FENCE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^[ ]{0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
# Lines of stack traces (Python, JavaScript, Java, Go, Rust, gdb), of logs with a time, and trailers of commits.
_NOISE = re.compile(
    r"""^[ \t]*(?:
        Traceback\ \(most\ recent\ call\ last\).*
      | File\ "[^"\n]*",\ line\ \d.*
      | at\ (?:async\ |new\ )?\S+(?:\ \[as\ [^]\n]*\])?(?:\ ?\([^)\n]*\)|:\d+:\d+)
      | (?:\#?\d+:?\ +)?0x[0-9a-f]{6,}.*
      | \.\.\.\ \d+\ more
      | goroutine\ \d+\ \[.*
      | [$%]\ .*
      | \[?\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d.*
      | [A-Z][\w-]*-[Bb]y:.*
      | (?:Change-Id|PiperOrigin-RevId|Cc):\ .*
    )$""",
    re.MULTILINE | re.VERBOSE,
)
_ADDRESS = re.compile(
    r"\b[a-zA-Z][a-zA-Z0-9+.\-]{1,15}://[^\s<>\"]+|\bwww\.[^\s<>\"]+|[\w.+\-]{1,64}@[\w\-]+\.[\w.\-]+"
)
_MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|</?[a-zA-Z][^<>\n]{0,200}>", re.DOTALL)
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]")

# Combining marks are no `\w` to `re`, but belong to words: Latin ones, Hebrew, Arabic, the scripts of India.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u06d6-\u06ed\u0711\u0730-\u074a\u0900-\u0963\u0966-\u0dff"
)
_TOKEN = re.compile(rf"[\w{_MARKS}]+(?:['\u2019\-][\w{_MARKS}]+)*")
_LATIN_MARKS = re.compile("[\u0300-\u036f]")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff\ufe00-\ufe0f]")
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
# Hiragana is grammar more than subject, so it only parts words.
_HIRAGANA = "\u3041-\u309f"
_PAIRED = (
    "\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U000323af"
)
_SEGMENT = re.compile(
    rf"(?P<kana>[{_KATAKANA}]+)|(?P<pairs>[{_PAIRED}]+)|(?P<word>[^_{_KATAKANA}{_HIRAGANA}{_PAIRED}]+)"
)
_HUMP = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+(?:\d+[a-z]{0,2}(?![a-z]))?|[A-Z]+\d*")
_TICKET = re.compile(r"[A-Z][A-Z0-9]{0,9}-\d+\Z")
# A hash, a version, a number with its unit.
_NUMBER = re.compile(r"(?=.*\d)[0-9a-f]{6,}\Z|v\d+\Z|\d+[a-z]{0,3}\Z")


class Words:
    """Reads texts into terms, and knows how people wrote each term."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[str, str], ...]] = {}
        self._written: Counter[str] = Counter()

    def terms(self, text: str) -> tuple[str, ...]:
        """The terms of `text`, each once, sorted."""
        listed = _TOKEN.findall(prose(text))
        tokens = set(listed)
        if not _PARTICLES.isdisjoint(tokens):
            tokens = set(self._joined(listed))
        self._written.update(tokens)
        return tuple(sorted({term for token in tokens for term, _ in self._pieces(token)}))

    def forms(self) -> dict[str, str]:
        """Every term in the form that most texts have.

        A capital that may be due to the begin of a sentence does not count where the word is written without one too.
        """
        counted: dict[str, Counter[str]] = {}
        for token, count in self._written.items():
            for term, form in self._known[token]:
                counted.setdefault(term, Counter())[form] += count
        return {term: _commonest(forms) for term, forms in counted.items()}

    def _pieces(self, token: str) -> tuple[tuple[str, str], ...]:
        pieces = self._known.get(token)
        if pieces is None:
            pieces = self._known[token] = tuple(_pieces(token))
        return pieces

    def _joined(self, tokens: list[str]) -> list[str]:
        """The tokens, with `timed`, `out` as `timeout`."""
        for at in range(1, len(tokens)):
            if tokens[at] in _PARTICLES:
                before = self._pieces(tokens[at - 1])
                compound = _COMPOUNDS.get((before[-1][0], tokens[at])) if before else None
                if compound:
                    tokens[at - 1], tokens[at] = "", compound
        return [token for token in tokens if token]


def prose(text: str) -> str:
    """The text without what is not prose, and with letters in their plain form."""
    text = text[:MAX_CHARS]
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("\n", text)
    if "\n    " in text or "\n\t" in text:
        text = "\n".join(_without_indented(text.splitlines()))
    text = _NOISE.sub("", text)
    if "<" in text:
        text = _MARKUP.sub(" ", text)
    if "://" in text or "@" in text or "www." in text:
        text = _ADDRESS.sub(" ", text)
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", _LATIN_MARKS.sub("", text))


def _commonest(forms: Counter[str]) -> str:
    for form in list(forms):
        small = form.lower()
        if form != small and small in forms and form == form.capitalize():
            forms[small] += forms.pop(form)
    return min(forms, key=lambda form: (-forms[form], form))


def _without_indented(lines: list[str]) -> Iterator[str]:
    """Markdown's indented code: after an empty line, by four columns, and not inside a list."""
    blank, in_list, in_code = True, False, False
    for line in lines:
        if not line.strip():
            blank = True
            yield line
            continue
        indented = line.startswith(("    ", "\t"))
        item = _LIST_ITEM.match(line) is not None
        in_code = indented and not in_list and (blank or in_code) and not item
        if item or not indented:
            in_list = item or (in_list and line[0] in " \t")
        blank = False
        if not in_code:
            yield line


def _pieces(token: str) -> Iterator[tuple[str, str]]:
    """Terms of one token, each with the form in which it is written there."""
    if _TICKET.match(token):
        return
    for part in _parts(token):
        for match in _SEGMENT.finditer(part):
            piece = match.group()
            if match.lastgroup == "pairs":
                yield from ((piece[at : at + 2],) * 2 for at in range(len(piece) - 1))
            elif match.lastgroup == "kana":
                if len(piece) >= _SHORTEST:
                    yield piece, piece
            elif not _NUMBER.match(piece):
                whole = not piece.isascii() or piece.lower() in _WHOLE
                for form in [piece] if whole else _HUMP.findall(piece):
                    term = _term(form)
                    if term:
                        yield term, form


def _parts(token: str) -> list[str]:
    """The token without its English ending (`'s`, `n't`), in parts at hyphens."""
    base, apostrophe, ending = token.replace("\u2019", "'").partition("'")
    if apostrophe:
        if ending.lower() == "t":
            return []
        token = base if ending.lower() in ("s", "re", "ve", "ll", "d", "m") else f"{base}-{ending}"
    parts = token.replace("'", "-").split("-")
    if len(parts) == 2:
        first, second = parts[0].lower(), parts[1].lower()
        if first in _PREFIXES:
            return ["".join(parts)]
        compound = _COMPOUNDS.get((stem(first), second))
        return [compound] if compound else parts
    return parts


def _term(form: str) -> str:
    """The term that a written form stands for; '' for one that tells nothing."""
    word = form.casefold()
    if not _SHORTEST <= len(word) <= _LONGEST or word in STOP_WORDS or _NUMBER.match(word):
        return ""
    return stem(word) if word.isascii() else word


def stem(word: str) -> str:
    """An English word in small letters without its ending; not a word, but the same for all forms of one.

    Weaker than Porter's: only plural, past, `-ing` and `-ly` go. `-er` and `-ion` change the subject of a technical
    text (`compiler`, `connection`) more often than they do not.
    """
    word = _singular(_IRREGULAR.get(word, word))
    if word.endswith("ied") and len(word) > 4:
        word = word[:-3] + "y"
    for ending in ("ing", "ed", "ly"):
        if word.endswith(ending) and _is_ending(word[: -len(ending)], ending):
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) > 4 and word.endswith("ll"):
        return word[:-1]
    if len(word) > 3 and word.endswith("e"):
        return word[:-1]
    if len(word) > 3 and word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word


def _is_ending(rest: str, ending: str) -> bool:
    """Whether what is left is a word: not of `string`, `speed`, `embed`, `apply`, `assembly` or `anomaly`."""
    if len(rest) < 3 or not any(char in "aeiouy" for char in rest):
        return False
    return not rest.endswith({"ing": (), "ed": ("e", "emb"), "ly": ("b", "p", "a", "i", "ear")}[ending])


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "ches", "shes", "zzes")) else word[:-1]


def _compounds() -> dict[tuple[str, str], str]:
    """The stem of the verb and the particle, to the compound."""
    found = {}
    for word in _COMPOUND_WORDS.split():
        for particle in _PARTICLES:
            if word.endswith(particle):
                found[stem(word.removesuffix(particle)), particle] = word
    return found


_COMPOUNDS = _compounds()
