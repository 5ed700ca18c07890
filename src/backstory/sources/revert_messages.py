"""What a commit message says it takes back: ids, numbers, titles and the reason. Text in, no history needed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_LONGEST_MESSAGE = 100_000
_LONGEST_REASON = 2_000
# Of a title that was cut off this much must be left to know the commit by, of one without quotes this much in all.
SHORTEST_CUT_TITLE = 24
_SHORTEST_PHRASE = 8
_LONGEST_SUBJECT = 1_000
_MOST_TAGS = 4
SHORT_ID = 7
CUT = "\u2026"

# `git log -i -E --grep=HINT` lists every commit whose message can claim anything.
HINT = "revert|back(s|ed|ing)?[ -]?out|und(o|id)|roll(s|ed|ing)?[ -]?back|re-?land|re-?apply"

_HINT = re.compile(HINT, re.IGNORECASE)

_VERB = r"(?:revert(?:s|ed|ing|'s)?|back(?:s|ed|ing)?[ -]?out|und(?:o|oes|id|oing)|roll(?:s|ed|ing)?[ -]?back)(?![\w-])"
_QUOTE = "[\"'`\u201c\u2018\u00ab]"
_SUBJECT = re.compile(rf"[\[(]?{_VERB}(?:\([^)]*\))?[\])!:]*|re-?(?:land|apply):?\s+(?={_QUOTE})", re.I)
_LAYER = re.compile(
    rf"\W*(?:(?P<reland>re-?(?:land|apply))|{_VERB})(?:\s+(?:of|the)\b)*:?\s*(?={_QUOTE}|{_VERB})", re.I
)
_SUFFIX = re.compile(r"\((?:revert|rollback|roll back|back ?out|undo)\)(?:\s*\([#!]\d+\))?\s*$", re.I)
# What may stand before the verb: "[BUGFIX beta] ", "ssh.c: ", "feat(x): ", "Partially ".
_TAG = re.compile(
    r"\[[^\]]{0,80}\]:?\s*|[^\s\"'`:\[][^\"'`:]{0,60}:\s+|"
    r"(?:part(?:ial(?:ly)?|ly| of)?|temporar(?:y|ily)|mostly|effectively|functionally|manual(?:ly)?|fully|emergency)"
    r"\s+",
    re.I,
)
_PART = r"(?:part(?:ial(?:ly)?|ly)|parts? (?:of|to)|some of|most(?:ly| of)|portions? of)"
_PARTIAL = re.compile(rf"\b{_PART}\s+{_VERB}|{_VERB}\s+(?:the\s+)?{_PART}\b", re.I)
# Before the verb of a sentence in the body. Any other word makes it a remark about some other revert.
_CLAUSE = re.compile(
    r"(?:\A|\n\s*\n|[.:;,()*>\u2022\u2014-]|\b(?:this|it|and|by|commit|pr|mr|cl|patch|change|we|i|also|is an?))\s*"
    r"(?:(?:part(?:ial(?:ly)?|ly)|mostly|effectively|basically|essentially|functionally|temporarily|fully|completely|"
    r"simply)\s+)?\Z",
    re.I,
)
_BODY = re.compile(rf"(?<![\w-]){_VERB}", re.I)
# Between the verb and what it names.
_FILLER = re.compile(
    r"(?:[\s:*_`<(\[]|\b(?:the|this|that|a|my|our|all|parts?|portions?|some|most|main|rest|of|to|for|commits?|changes?|"
    r"changesets?|changelists?|revisions?|patch(?:es)?|functionality|from|in|made|by|with|back|partially|previous|last|"
    r"earlier|only|pull|merge|requests?|prs?|mrs?)\b)*",
    re.I,
)
_INNERMOST = re.compile(r"\W*revert(?:s|ed|ing)?\b", re.I)
_CITE = re.compile(
    r"https?://[^\s/]+/(?P<slug>[^\s/]+/[^\s#]+?)/(?:-/)?(?P<kind>pull|merge_requests|commit)/(?P<page>[0-9a-f]+)[^\s),]*"
    r"|(?P<name>[\w.-]+/[\w.-]+)?(?P<number>[#!]\d{1,9})\b"
    r"|(?:cl/|(?<=changelist\s)|(?<=cl\s))(?P<list>\d{6,})\b"
    r"|(?P<revision>D\d{3,}|r\d{2,})\b"
    r"|#?(?<![0-9a-z])(?P<id>(?=[a-f]*[0-9])[0-9a-f]{7,64})(?![0-9a-z])"
    r"|(?P<bare>(?<![\w.-])\d{2,6}(?=\s*(?:$|[(,:;]|\band\b)))",
    re.I,
)
_BETWEEN = re.compile(r"(?:[\s,;&*`>)\]-]|\b(?:and|plus|commits?|prs?)\b|\([^()]{0,120}\))*", re.I)
_OWN_NUMBER = re.compile(r"\s*\((?:[\w.-]+/[\w.-]+)?[#!]\d+\)\s*$")
_INNER_NUMBER = re.compile(r"\((?:[\w.-]+/[\w.-]+)?([#!]\d+)\)\W*$")
_QUOTED = re.compile(
    r"[\s:]*(?:of |the |commit )*(?:[\"\u201c\u00ab](?P<whole>.+)[\"\u201d\u00bb]|[\"\u201c\u00ab](?P<cut>.+)$"
    r"|['\u2018](?P<single>.+)['\u2019]|`(?P<code>.+)`$)"
)
# "revert the rename from #12", where words stand between.
_LATER = re.compile(
    r"[^.\n\"]{0,80}?\b(?:changes?|commits?)\s+(?:(?:from|in|of|by|made|introduced)\s+)*(?=[#!]?\w*\d)", re.I
)
_FIXES = re.compile(r"\b(?:fix(?:es|ed)?|closes|see|for|cherry[ -]pick(?:ed)? (?:of|from))\s*$", re.I)
_CAUSE = re.compile(r"\b(?:since|because|due to|so that|now that|until|in favou?r of)\b.*", re.I | re.S)
_NO_TITLE = re.compile(r"(?:to|back|due|because|since|as|until|in|on|from|and|until)\b|[,(]", re.I)
_LEAD = re.compile(r"^(?:[\s:-]|of\b|for\b)*", re.I)
_WORD = re.compile(r"\w+")
# A bot quotes what other projects changed; only ids can be ours there.
_DEPENDENCY = re.compile(r"^(?:\w+(?:\([^)]*\))?!?:\s*)?(?:bump|update|upgrade)s?\b.*\b(?:from|to|v?\d)", re.I)
_BOILERPLATE = re.compile(
    rf"(?:\bThis (?:commit )?|^[ \t*>-]*)(?:partially |mostly )?{_VERB}:?\s+(?:the\s+)?"
    r"(?:commits?|changelist|changeset|PR)?\s*`?(?:[0-9a-f]{7,64}|\d{6,}|(?:[\w.-]+/[\w.-]+)?[#!]\d+|https?://\S+\w)`?"
    r"(?:\s*\((?:[\w.-]+/[\w.-]+)?[#!]\d+\))?(?:,?\s*reversing\s+changes\s+made\s+to\s+[0-9a-f]{7,64})?(?:\s*[.;]|(?=\n|$))",
    re.I | re.M,
)
_NO_REASON = re.compile(
    r"[A-Z][\w-]*-(?:by|id|RevId|to|url|on|with):.*|\(cherry[ -]picked from .*|[*-] Reverts? [\"'].*|-{3,}|\W*|"
    r"(?:PUBLIC: )?Imported from GitHub PR .*|Automatic merge from submit-queue\.?|"
    r"(?:Closes|Differential Revision|git-svn-id|See merge request):?\s+\S+",
    re.I,
)
_BECAUSE = re.compile(
    r"\b(?:because|since|due to|until|so that|as (?:it|they|this|the)|it br(?:eak|oke)s?|breaks|broke|"
    r"caus(?:es|ed|ing)|fail(?:s|ed|ing))\b.*|(?:[,;:]\s|\s--?\s|=>\s).*",
    re.I | re.S,
)
_PAGES = {"pull": "#", "merge_requests": "!", "commit": ""}
_ID = re.compile("[0-9a-f]{7,64}")
# The names under which a commit can be cited.
_NAMES = re.compile(
    r"^(?:Merge pull request|Auto merge of) (?P<merge>#\d+)|\((?P<squash>[#!]\d+)\)$|^Closes (?P<closes>#\d+)$"
    r"|^See merge request \S*?(?P<gitlab>!\d+)|^PiperOrigin-RevId: (?P<list>\d+)"
    r"|^Differential Revision: \S*?(?P<phabricator>D\d+)|^git-svn-id: \S+@(?P<svn>\d+)",
    re.M,
)
_PREFIXES = {"list": "cl/", "svn": "r"}


@dataclass(frozen=True, slots=True)
class Claim:
    """What a message says it takes back, as far as the message alone can tell.

    `ids` are as written, in lower case; `references` look like `#12`, `!12`, `cl/12`, `D12` or `r12`; `titles` are
    quoted, or the words after the verb. `firm` is False for a mention that counts only if it leads to a commit.
    """

    ids: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    reason: str = ""
    reland: bool = False
    partial: bool = False
    firm: bool = True


def may_claim(subject: str, body: str) -> bool:
    """Whether a message may say that its commit takes another back: a cheap look ahead of `read_claim`."""
    low = f"{subject}\n{body[:_LONGEST_MESSAGE]}".lower()
    # What the hint would find, without its expression: that takes ten times as long.
    if (
        "revert" in low or "undo" in low or "undid" in low or "reland" in low or "re-land" in low or "reapply" in low
        or "re-apply" in low
    ):  # fmt: skip
        return True
    return "back" in low and _HINT.search(low) is not None


def read_claim(subject: str, body: str, *, repository: str = "") -> Claim | None:
    """What a commit says it takes back; None if nothing. `body` is the message without its subject.

    With `repository`, as in `owner/name`, numbers that name another repository are left out.
    """
    if not may_claim(subject, body):
        return None
    return read_hinted_claim(subject, body, repository=repository)


def read_hinted_claim(subject: str, body: str, *, repository: str = "") -> Claim | None:
    """`read_claim` for a message of which `may_claim` is known to be true."""
    body = body[:_LONGEST_MESSAGE].replace("\r", "")
    cites, titles = _of_body(body, repository)
    head = _after_verb(subject)
    if head is None:
        if _DEPENDENCY.match(subject):
            cites, titles = [cite for cite in cites if is_id(cite)], []
        if not cites and not titles:
            return None
        rest, layers, firm = "", 1, False
    else:
        rest, layers, firm = *head, True
        title = _title(rest)
        named = _cites(rest, repository, bare=True) or _named(rest, title, repository)
        cites = [*named, *cites]
        titles = [title, *titles] if title else titles
    return Claim(
        ids=_unique(cite for cite in cites if is_id(cite)),
        references=_unique(cite for cite in cites if not is_id(cite)),
        titles=_unique(titles),
        reason=_reason(rest, body),
        reland=layers % 2 == 0,
        partial=bool(_PARTIAL.search(subject) or _PARTIAL.search(body)),
        firm=firm,
    )


def names_of(subject: str, body: str) -> list[str]:
    """The references under which a commit can be cited: its pull request, merge request, change list or revision."""
    found: list[str] = []
    text = f"{subject}\n{body[:_LONGEST_MESSAGE]}"
    if not (
        "(#" in text or " #" in text or "(!" in text or "See merge" in text or "RevId" in text
        or "Differential" in text or "git-svn-id" in text
    ):  # fmt: skip
        return found
    for names in _NAMES.finditer(text):
        kind = str(names.lastgroup)
        found.append(_PREFIXES.get(kind, "") + names[kind])
    return found


def _after_verb(subject: str) -> tuple[str, int] | None:
    """What follows the verb of a subject that reverts, and how many reverts and relands it is about."""
    text = subject[:_LONGEST_SUBJECT]
    suffix = _SUFFIX.search(text)
    if suffix:
        return text[: suffix.start()], 1
    for _ in range(_MOST_TAGS):
        verb = _SUBJECT.match(text)
        if verb:
            return _layers(text, verb.end())
        tag = _TAG.match(text)
        if not tag:
            return None
        text = text[tag.end() :]
    return None


def _layers(text: str, end: int) -> tuple[str, int]:
    """The text after the outermost verb, and the number of layers: a revert of a revert has two, a reland as well."""
    count = at = 0
    while layer := _LAYER.match(text, at):
        count, at = count + (2 if layer["reland"] else 1), layer.end()
        if count == 2 and layer["reland"]:
            return f'"Revert {text[at:]}"', 2
    return text[end:], max(count + bool(_INNERMOST.match(text, at)), 1)


def _title(rest: str) -> str:
    """The title in quotes after the verb, else the words there if they are long enough to be one."""
    rest = _OWN_NUMBER.sub("", rest)
    quoted = _QUOTED.match(rest)
    if quoted:
        return str(quoted[str(quoted.lastgroup)]).strip()
    phrase = _LEAD.sub("", rest).strip()
    return "" if len(phrase) < _SHORTEST_PHRASE or _NO_TITLE.match(phrase) else phrase


def _named(rest: str, title: str, repository: str) -> list[str]:
    """The number that a quoted title ends in, else all that the subject names but its own and what it fixes."""
    if _QUOTED.match(rest):
        return _INNER_NUMBER.findall(title)
    rest = _CAUSE.sub("", _OWN_NUMBER.sub("", rest))
    matches = (match for match in _CITE.finditer(rest) if not _FIXES.search(rest, 0, match.start()))
    return [_cite(match) for match in matches if not match["bare"] and _is_ours(match, repository)]


def _of_body(body: str, repository: str) -> tuple[list[str], list[str]]:
    """The cites and the quoted titles of all sentences in the body that say what this commit takes back."""
    cites: list[str] = []
    titles: list[str] = []
    for verb in _BODY.finditer(body):
        start, end = verb.span()
        capital_line = body[start].isupper() and body[:start].rstrip(" ").endswith("\n")
        if not capital_line and not _CLAUSE.search(body, max(0, start - 40), start):
            continue
        rest = body[end : end + _LONGEST_SUBJECT]
        cites += _cites(rest, repository)
        quoted = _QUOTED.match(rest.split("\n", 1)[0])
        if quoted:
            titles.append(str(quoted[str(quoted.lastgroup)]).strip())
    return cites, titles


def _cites(text: str, repository: str, *, bare: bool = False) -> list[str]:
    """The ids and numbers that directly follow a verb; a bare number only where nothing follows it."""
    found: list[str] = []
    at = _end(_FILLER, text, 0)
    if not _CITE.match(text, at):
        at = _end(_LATER, text, 0)
    while match := _CITE.match(text, at):
        if match["bare"] and not bare:
            break
        if _is_ours(match, repository):
            found.append(_cite(match))
        at = _end(_BETWEEN, text, match.end())
    return found


def _is_ours(match: re.Match[str], repository: str) -> bool:
    """Whether the cite names no other repository; one that moved to a new owner keeps its name."""
    slug = match["slug"] or match["name"]
    return not repository or not slug or slug.rpartition("/")[2].lower() == repository.rpartition("/")[2].lower()


def _cite(match: re.Match[str]) -> str:
    """The cite as the index of names spells it."""
    if match["page"]:
        return f"{_PAGES[match['kind'].lower()]}{match['page']}".lower()
    if match["id"]:
        return match["id"].lower()
    if match["list"]:
        return f"cl/{match['list']}"
    return match["number"] or match["revision"] or f"#{match['bare']}"


def _reason(rest: str, body: str) -> str:
    """The body without what every revert says, else what the subject gives as a cause."""
    lines = [line.strip() for line in _BOILERPLATE.sub("", body).split("\n")]
    reason = "\n".join(line for line in lines if not _NO_REASON.fullmatch(line))
    if not reason:
        rest = _OWN_NUMBER.sub("", rest)
        quoted = _QUOTED.match(rest)
        because = _BECAUSE.search(rest, quoted.end() if quoted else 0)
        reason = because[0].strip(" ,;:=>-") if because else ""
    return reason[:_LONGEST_REASON]


def title_key(title: str) -> str:
    """What two titles share that are the same, "" for one without words; of one that was cut off, its beginning."""
    return keys_of(title)[0]


def keys_of(title: str) -> tuple[str, str]:
    """The key of a title, and that of its beginning, under which a cut off one looks for it."""
    plain = plain_title(title)
    cut = plain[:SHORTEST_CUT_TITLE] + CUT
    return cut if _is_cut(title, plain) else plain, cut


def is_cut(title: str) -> bool:
    """Whether only the beginning of a title is left, and enough of it to know the commit by."""
    return _is_cut(title, plain_title(title))


def _is_cut(title: str, plain: str) -> bool:
    return title.rstrip("\"' ").endswith((CUT, "...")) and len(plain) >= SHORTEST_CUT_TITLE


def plain_title(title: str) -> str:
    """The words of a title in lower case, without its number and punctuation."""
    return " ".join(_WORD.findall(_OWN_NUMBER.sub("", title[:_LONGEST_SUBJECT]).lower()))


def is_id(cite: str) -> bool:
    """Whether a cite is a commit id, whole or abbreviated."""
    return _ID.fullmatch(cite) is not None


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _unique(cites: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cites))
