"""Stored text is data that somebody wrote: make it safe to show, and notice when it talks to the agent.

Promise: what `one_line` and `fenced` return is one line without control, bidirectional, invisible or ANSI characters,
and doing either twice changes nothing more. What `fenced` returns cannot open or close a tag, a fence or a chat turn,
nor begin a list, a heading or a code block. Both stay readable, and neither judges the words: that is `is_directive`,
which is a sign for the reader, not a wall. All functions are pure and linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from backstory.records.value import is_invisible, value_key

# Colours and movements, titles and links, other strings, two-character commands.
_ANSI = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[ -/]*[0-~]"
)
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
_STACK = re.compile(f"([{_MARKS}]{{4}})[{_MARKS}]+")


def one_line(text: str, limit: int) -> str:
    """`text` for display in one line of at most `limit` characters, cut between words and ended with `…`."""
    return _cut(_clean(text), limit)


def _clean(text: str) -> str:
    flat = " ".join(text.split())
    if flat.isascii() and flat.isprintable():
        return flat
    if not text.isprintable() or not text.isascii():
        text = "".join(map(_shown, _ANSI.sub("", text)))
        # Marks piled on one letter would paint over the lines around it.
        text = _STACK.sub(r"\1", text)
    return " ".join(text.split())


def _shown(char: str) -> str:
    if char.isascii() and char.isprintable():
        return char
    if char.isspace():
        return " "
    if is_invisible(char):
        return ""
    lost = unicodedata.category(char) == "Cs" or ord(char) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(char) <= 0xFDEF
    return "\ufffd" if lost else char


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = text[: max(0, limit - 1)]
    space = head.rfind(" ")
    if text[len(head)].isalnum() and space >= limit // 2:
        head = head[:space]
    return (head.rstrip(" ,;:-") + "\u2026")[: max(0, limit)]


# --- the fence -------------------------------------------------------------------------------------------------

# All that is drawn like < and >, and what stands for them in HTML and JSON.
_OPENING = "<\uff1c\ufe64\u2039\u2329\u3008\u27e8\u276c\u276e\u2770\u02c2\u1438\u29fc\u227a\U0001d236"
_CLOSING = ">\uff1e\ufe65\u203a\u232a\u3009\u27e9\u276d\u276f\u2771\u02c3\u1433\u29fd\u227b\U0001d237"
_BRACKET = re.compile(
    rf"""(?P<operator>(?<!\S)(?:[<>]=|[-=]>)(?=\s|\d|$))
       | (?P<open>[{_OPENING}] | &(?:amp;)*(?:lt|\#0{{0,6}}60|\#x0{{0,6}}3c)(?:;|(?![\w;])) | \\+u003c | \\+x3c)
       | [{_CLOSING}] | &(?:amp;)*(?:gt|\#0{{0,6}}62|\#x0{{0,6}}3e)(?:;|(?![\w;])) | \\+u003e | \\+x3e""",
    re.VERBOSE | re.IGNORECASE,
)
_TOKEN = re.compile(
    r"\[(\s*/?\s*(?:inst|sys|system|assistant|user|human|tool_calls?|tool_results?|available_tools)\s*)\]",
    re.IGNORECASE,
)
_ANTML = re.compile(r"(antml)\s*[:\uff1a\ufe55\u2236\ua789\u02d0]", re.IGNORECASE)
# Possessive: a mark that was taken is never given back, so a text of marks keeps no way back for each.
_LEADING = re.compile(
    r"(?:(?:[-*+\u2022\u2023\u00b7\u2013\u2014]|\#{1,6}|-{3,}|={3,}|_{3,}|\*{3,})(?:\s+|$)|(?:`{3,}|~{3,})\w{0,20}\s*)++"
)
_COLON = re.compile("[:\uff1a\ufe55\ufe30\u2236\ua789\u02d0]")
_ROLES = frozenset("system human assistant user developer tool function ai agent model".split())


def fenced(text: str, limit: int = 10_000) -> str:
    """`text` as one line that stays inside the fence around it and does not begin with a mark or a speaker.

    `<` and `>` become single angle quotation marks, but for the operators `<=`, `>=`, `->` and `=>` standing alone;
    `[INST]` becomes `(INST)`; after a speaker (`System: x`) the colon becomes a dash.
    """
    text = _clean(text)
    if not text.isascii() or any(char in text for char in "<>&\\"):
        text = _BRACKET.sub(_bracket, text)
    text = _ANTML.sub("\\1\u00b7", _TOKEN.sub(r"(\1)", text))
    leading = _LEADING.match(text)
    text = text[leading.end() :] if leading else text
    colon = _COLON.search(text, 0, 40)
    if colon and value_key(text[: colon.start()]).strip("*#@& ") in _ROLES:
        text = f"{text[: colon.start()].rstrip()} \u2013{text[colon.end() :]}"
    return _cut(text.strip(), limit)


def _bracket(match: re.Match[str]) -> str:
    if match["operator"]:
        return match["operator"]
    return "\u2039" if match["open"] else "\u203a"


# --- words to the agent ----------------------------------------------------------------------------------------

_NAMES = {
    "UNDO": r"(?:FORGET|override|overwrite|bypass|dismiss|(?:do not|dont|stop|never) (?:follow|obey)(?:ing)?)",
    "FORGET": r"(?:ignore|disregard|forget)",
    "ORDERS": r"(?:instructions?|prompts?|directives?|guidelines?|guardrails?|programming)",
    "PERSON": r"(?:the |your |any )?(?:user|human|developer|operator|owner|maintainer|reviewer|team|anyone|anybody)s?",
    "MODEL": r"(?:ai|llms?|assistants?|agents?|claude|chatgpt|gpt|copilot|codex|gemini)",
    "SECRETS": r"(?:env|environment(?: variables?)?|secrets|credentials|api keys?|ssh keys?|private keys?"
    r"|access tokens?|passwords|conversation|chat history|id rsa|system prompt)",
    "GUARDS": r"(?:safety|security|restrictions|filters|approvals?|confirmations?|permissions?|policies|checks)",
    "TAGS": r"(?:system(?:-reminder)?|assistant|human|instructions?|tool_(?:calls?|use|result)|function_calls?|invoke)",
    "AWAY": r"(?:https?|ftp|me|my|evil|an? (?:\w+ )?(?:external|remote)|(?:an? |the )?attacker|this (?:url|address))",
    "SHELL": r"(?:(?:ba|z|da|k)?sh|python3?|iex|perl|node)",
}
# Reason, word beginnings of which one must be present (compiling a pattern costs 3 ms), and patterns over the words of
# the key, joined by single spaces, `|` between sentences.
_WORDED = (
    (
        "asks to ignore instructions",
        (
            "ignor",
            "disregard",
            "forget",
            "overrid",
            "overwrit",
            "bypass",
            "dismiss",
            "follow",
            "obey",
            "break",
            "violate",
        ),
        r"UNDO (?:\w+ ){0,4}?(?:previous|prior|earlier|above|preceding|your|system|developer) (?:\w+ ){0,3}?ORDERS",
        r"UNDO (?:all|any|every|your)(?: of)?(?: the| your| these| those)? ORDERS",
        r"FORGET (?:everything|all|anything|what) (?:above|before this|you (?:were|have been|know|ve been))",
        r"FORGET (?:the |all )?(?:above|previous|foregoing) (?:and|instead|text|context|conversation)",
        r"(?:FORGET|break|violate) (?:all |any )?(?:of )?(?:your|the previous|previous|prior) (?:\w+ )?"
        r"(?:rules|policies|constraints|restrictions|limitations)",
    ),
    (
        "gives the agent orders",
        ("you ", "pretend", "act as", "as an ai", "reading this", "attention", "dear ", "hey ", "hello "),
        r"you (?:must|should|will|shall|need to|have to|are to) now",
        r"from now on (?:you|(?:act|respond|answer|reply|behave) as)",
        r"you are (?:now (?:an?|dan|in \w+ mode)|no longer (?:an?|bound|restricted|limited))",
        r"pretend (?:to be|that you|you are)|act as (?:if you|(?:an? )?(?:unrestricted|uncensored|unfiltered|evil))",
        r"as an ai|if you are an? (?:ai|llm|language model|assistant|bot)|MODEL (?:\w+ )?reading this",
        r"(?:attention|dear|hey|hello) (?:all )?MODEL",
        r"you (?:now )?have (?:full |root |admin |my )?(?:permission|authorization|clearance) to",
    ),
    (
        "gives new instructions",
        ("instruction", "your ", "overrid", "system prompt", "supersede", "precedence"),
        r"(?:new|updated|revised|real|actual|true|secret) instructions? (?:are|is|follows?|for you|supersede|override)",
        r"your (?:new|real|actual|true|only) (?:task|goal|objective|mission|purpose|role|directive|instructions?) is",
        r"system (?:prompt )?override|(?:end|start|beginning) of (?:the )?system prompt",
        r"(?:supersedes?|overrides?|takes? precedence over) (?:all |any )?(?:your|previous|other) (?:\w+ )?ORDERS",
    ),
    (
        "asks for the system prompt",
        ("prompt", "instruction", "system message", "rules"),
        r"(?:reveal|print|show|output|repeat|leak|dump|display|tell me|give me|recite|share) (?:\w+ ){0,3}?your "
        r"(?:\w+ )?(?:system prompt|prompt|instructions|system message|rules)",
        r"(?:reveal|repeat|recite|tell me|give me|disclose) (?:\w+ ){0,3}?(?:system prompt|hidden instructions)",
    ),
    (
        "asks for secrecy",
        ("tell ", "inform ", "alert ", "know", "mention ", "reveal ", "disclose ", " from "),
        r"(?:do not|dont|never) (?:tell|inform|alert) PERSON(?: (?:about|this|(?:that|what) you|or|and|of)| \||$)",
        r"(?:do not|dont|never) (?:let PERSON know|(?:mention|reveal|disclose) (?:this|it|that|these|any of this))",
        r"(?:keep|hide|conceal) (?:this|it|that|these)(?: \w+){0,3} from PERSON",
    ),
    (
        "asks to send secrets away",
        ("exfiltrate", "send", "post", "upload", "forward", "mail", "transmit", "leak", "copy", "submit"),
        r"(?:send|post|upload|forward|e?mail|exfiltrate|transmit|leak|copy|submit) (?:\w+ ){0,6}?SECRETS "
        r"(?:\w+ ){0,6}?to AWAY",
        r"(?:^|(?<=\| )|(?:and|then|please|must|now|secretly|silently) )exfiltrate",
    ),
    (
        "asks to drop safeguards",
        ("mode", "do anything now", "your "),
        r"(?:god|dan|jailbreak|jailbroken|unrestricted) mode|do anything now",
        r"(?:override|bypass|disable|turn off|ignore|remove|skip) (?:all |any |of )*your (?:\w+ ){0,2}?GUARDS",
    ),
    # German, French, Spanish, Portuguese, Italian, Russian.
    (
        "asks to ignore instructions",
        (
            "ignor",
            "verg",
            "missachte",
            "oubli",
            "suis",
            "suivez",
            "olvid",
            "desech",
            "esquec",
            "desconsider",
            "dimentic",
            "игнорируи",
            "забуд",
            "следуи",
        ),
        r"(?:ignorier\w*|vergiss|vergesst|missachte\w*) (?:\w+ ){0,3}?(?:\w*anweisung\w*|instruktionen|vorgaben)",
        r"(?:ignor\w+|oubli\w+|ne (?:suis|suivez) pas) (?:\w+ ){0,4}?(?:instructions|consignes|directives) (?:\w+ )?"
        r"(?:precedentes|anterieures|ci dessus)",
        r"(?:ignor\w+|olvid\w+|desech\w+) (?:\w+ ){0,4}?(?:instrucciones|ordenes|indicaciones)",
        r"(?:ignor\w+|esquec\w+|desconsider\w+) (?:\w+ ){0,4}?(?:instrucoes|ordens)",
        r"(?:ignor\w+|dimentic\w+) (?:\w+ ){0,4}?istruzioni",
        r"(?:игнорируи|проигнорируи|забуд|не следуи)\w* (?:\w+ ){0,4}?(?:инструкци|указани|команд)\w+",
    ),
)
# The same in Chinese, Japanese and Korean, whose words no space bounds.
_UNSPACED = re.compile(
    r"(?:忽略|无视|無視|忘记|忘記|不要遵守)\w{0,8}?(?:之前|以上|先前|前面|上面|所有|系统|系統)\w{0,8}?"
    r"(?:指令|指示|提示|说明|說明|命令|规则)"
    r"|(?:以前|これまで|上記|前|すべて|全て)の\w{0,8}?(?:指示|命令|プロンプト)を?\w{0,6}?(?:無視|忘れ)"
    r"|(?:이전|위|앞|모든)\w{0,2} ?(?:\w{1,4} )?(?:지시|명령|지침|프롬프트)\w{0,3} (?:\w{1,4} )?(?:무시|잊)"
)
# A sentence that forbids it is a decision: "a plugin must not send credentials to https ...".
_NEGATED = re.compile(r"\b(?:not|never|dont|cannot|cant|without|no)(?: \w+){0,2} $")

# Reason, literal that must be present, and a pattern over the text in small letters, its brackets made plain.
_WRITTEN = (
    ("holds a fake turn", "<", r"(?<![\w.])<\s*/?\s*TAGS\b[^<>]{0,80}>|<\s*/?\s*project-memory|<\|\w{2,20}\|>|<<sys>>"),
    ("holds a fake turn", "[", r"\[\s*/?\s*(?:inst|sys)\s*\]|(?:^|\n)\s*\[system\]"),
    ("holds a fake turn", "antml", r"antml\s*:"),
    ("holds a fake turn", ":", r"(?:\n|\\n)\s*\**(?:human|assistant|system)\**\s*:\**\s"),
    (
        "holds a fake turn",
        ":",
        r"^\s*\**(?:system|human|assistant)\**\s*:\**\s*(?:you|ignore|new|override|sure|i will|please)\b",
    ),
    ("holds a fake turn", "#", r"(?:^|\n)\s*#{1,4} ?(?:system|instruction|assistant|human)s?\s*(?::|\n)"),
    ("gives new instructions", ":", r"\b(?:new|updated|revised) (?:system )?(?:instructions?|prompt)\s*:"),
    ("gives new instructions", ":", r"\b(?:system|admin) (?:notice|instruction|override|command)\s*:"),
    (
        "holds a tool call",
        '"',
        r'"(?:tool_use|tool_calls?|function_call)"|"role"\s*:\s*"(?:system|assistant|user|tool)"',
    ),
    (
        "holds a tool call",
        '"',
        r'"(?:name|tool)"\s*:\s*"[\w.:-]{1,60}"\s*,\s*"(?:arguments|input|parameters|args)"\s*:\s*[{"]',
    ),
    ("asks to run a command", "|", r"\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?SHELL\b"),
    ("asks to run a command", "base64", r"\bbase64\s+(?:-d|--decode)\b[^\n|]{0,80}\|\s*(?:sudo\s+)?SHELL\b"),
    ("asks to run a command", "sh", r"\b(?:ba|z)?sh\s+(?:-c\s+)?[\"']?(?:<\(|\$\()\s*(?:curl|wget)|/dev/tcp/"),
    ("asks to run a command", "rm ", r"\brm\s+-(?:rf|fr)\s+(?:--no-preserve-root\s+)?(?:/|~/?|\$home/?)(?:\s|$|\*)"),
    (
        "asks to run a command",
        " th",
        r"(?:^|[.!?;\n]\s{0,4})(?:(?:now|please|first|then|agent|assistant|immediately),? ){0,3}(?:run|execute|eval) "
        r"(?:this|the following|these) (?:\w+ )?(?:commands?|scripts?|code|payload)\b",
    ),
)
_SENTENCE_END = re.compile(r"[.!?;\u3002\uff01\uff1f]+(?=\s|$)|[\u3002\uff01\uff1f]|\n\s*\n")
_BLOB = re.compile(r"[A-Za-z0-9+/_=-]{201}")
_HIDDEN = re.compile(
    "[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
    "|(?<=[A-Za-z])[\u200b-\u200d\u2060\u2061-\u2064\ufeff](?=[A-Za-z])"
)


def is_directive(text: str) -> str | None:
    """Why `text` reads like an instruction to the agent that will see it, or None.

    A sign, not a wall: ordinary decisions ("Never call X from Y", "You must rebuild the fixtures") pass, and a
    paraphrase that avoids the usual words passes too. Of 10,000 real commit messages three raise it, two of
    which do tell the reader to run a command.
    """
    if not text.isascii() and _HIDDEN.search(text):
        return "holds hidden characters"
    text = _ANSI.sub("", text)
    blob = _BLOB.search(text)
    if blob and re.search(r"\d", blob[0]) and re.search(r"[A-Z]", blob[0]) and re.search(r"[a-z]", blob[0]):
        return "holds a long encoded block"
    plain = _BRACKET.sub(_plain_bracket, unicodedata.normalize("NFKC", text)).lower()
    for reason, literal, pattern in _WRITTEN:
        if literal in plain and _compiled(pattern).search(plain):
            return reason
    sentences = _SENTENCE_END.sub(" | ", text)
    words = " ".join(re.findall(r"[^\W_]+|\|", _without_accents(value_key(sentences))))
    for reason, stems, *patterns in _WORDED:
        if not any(stem in words for stem in stems):
            continue
        for match in _compiled(rf"\b(?:{'|'.join(patterns)})(?!\w)").finditer(words):
            if not _NEGATED.search(words, max(0, match.start() - 40), match.start()):
                return reason
    return "asks to ignore instructions" if not words.isascii() and _UNSPACED.search(words) else None


def _plain_bracket(match: re.Match[str]) -> str:
    return match["operator"] or ("<" if match["open"] else ">")


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", text)))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    for name, meaning in _NAMES.items():
        pattern = pattern.replace(name, meaning)
    return re.compile(pattern)
