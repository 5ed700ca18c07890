"""Judge a name and its value together: is `password = ...` a secret, or code, a type, a placeholder, prose?

Promise: a value is taken for a secret only beside a name that speaks of one, and only if its form says that it is
the thing itself. All functions are pure, and linear in the length of what they are given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_MARK = re.compile(r"\[redacted:[a-z-]+\]")
_PLACEHOLDER = re.compile(
    r"""\$[({A-Za-z_][\w.:}-]*\)?$ | \$\{ | \$\( | \{ | %[(\w] | < | \[.*\]$ | \#\{ | @\w*$ | \\?$
      | [*.\u2026\u2022_xX-]+$ | 0+$ | (?i:your|insert|replace|enter|put|any|some)[-_ ][A-Za-z_ -]*$
      | !(?:vault|secret|env)\b | (?:op|vault|secret|file|env|ref|keychain|arn|gs|s3)\+?: | ENC\[ | -----BEGIN""",
    re.VERBOSE,
)
_CODE = re.compile(
    r"""[A-Za-z_][\w.]*[(\[] | [A-Za-z_]\w{0,40}(?:(?:\.|->|::|\?\.)[A-Za-z_]\w{0,40})+[;)]*$ | [&*!][A-Za-z_]\w*$
      | (?:await|new|self|this|os|process|env|settings|config|args|req|request)\b""",
    re.VERBOSE,
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ORDINARY = frozenset(
    """none null nil undefined true false yes no on off str string int integer bool boolean bytes number float object
    any optional required text char varchar void type types value values default empty missing invalid valid unset
    hidden redacted masked removed unknown new old changed expired same different self the a an is are was were be to
    of in on for and or not with when if as by from this that it we you can will should must may see use used uses
    using only also but has have had does do then than which while who what how where authentication authorization
    auth header headers scheme token tokens password passwords passwd pwd passphrase secret secrets key keys
    credential credentials flag option argument arg param parameter support input output prompt field file name user
    username realm method login bearer basic apikey api access client""".split()
)


def is_placeholder(value: str) -> bool:
    """Whether the value stands for a secret that is elsewhere: a variable, `<your-token>`, `****`, our own mark."""
    return bool(_PLACEHOLDER.match(value) or _MARK.fullmatch(value))


def is_given(value: str) -> bool:
    """Whether the value could be a secret at all: no placeholder, no common word."""
    return not is_placeholder(value) and value.lower() not in _ORDINARY


def is_wordy(value: str) -> bool:
    """Whether letters alone make the value read as words: `refreshAccess`, `db-creds`, not `dXNlcjpw`."""
    words = _WORD.findall(value)
    return not words or sum(map(len, words)) / len(words) >= 3.5


def looks_random(value: str) -> bool:
    """Whether no one would write this as a name: digits among letters, or letters of mixed case without words."""
    if len(set(value)) < 5 or re.search(r"(?i)x{6}|your[-_]", value):
        return False
    if any(char.isdigit() for char in value):
        return any(char.isalpha() for char in value)
    return value.lower() != value != value.upper() and not is_wordy(value)


def is_slug(value: str) -> bool:
    """Whether the value is words, versions and numbers joined by marks: `tls-secret-2`, `docs/auth.md`, `v1.2`."""
    return all(re.fullmatch(r"[A-Za-z]+\d{0,2}|v?\d{1,4}|", piece) for piece in re.split(r"[-_./:@]", value))


def is_strong(value: str) -> bool:
    """Whether the value can only be a secret beside a secret's name, be the sentence prose or code."""
    if " " in value:
        return any(is_strong(word) for word in value.split())
    if len(value) < 8 or is_slug(value):
        return False
    marks = sum(char in "!@#$%^&*+=~?" for char in value.rstrip("!?="))
    return looks_random(value) or (marks > 0 and any(char.isalnum() for char in value))


_CORES = ("passw", "passphrase", "passcode", "pwd", "secret", "token", "credential", "key", "auth", "pass", "salt")
_PASSWORD_NAME = re.compile(r"(?:password|passwd|passphrase|passcode|(?:^|_)(?:pwd|pass)|(?:db|root|user|admin)pass)$")
_SECRET_NAME = re.compile(
    r"(?:token|secret|(?:api|access|secret|private|auth|encryption|signing|master|account|shared|deploy)_?key"
    r"|secret_key_base|credentials?|_auth)$"
)
_KEY_NAME = re.compile(r"(?:_key|^auth|_salt|authorization)$")
_OPEN_KEYS = frozenset(
    "primary public foreign sort cache partition lookup hot index map dict row group hash host".split()
)
_ABOUT = frozenset(
    """file path dir folder url uri endpoint name names id ids count length len size type field fields ttl expiry
    expires expired expiration expire timeout limit index policy reset prompt label hint regex pattern format env var
    variable manager provider process helper backend class service error required enabled at kind ref version list
    store hash hashers validators usage budget method header prefix suffix issuer audience scope scopes alg
    algorithm""".split()
)

_TAIL = re.compile(
    r"""(?P<rest>[\w-]{1,48}) (?:\[\d{0,4}\])? \\{0,3}["'`]? \]?
    (?P<sep> [ \t]{0,8} (?: :[ ]?(?:[\w.]{1,12}\[)?&?(?:'static[ ])?(?:str|[Ss]tring|text|bytes|SecretStr)\]?
                           (?:[ ]?\|[ ]?(?:None|null|undefined))?[ ]?= | :?={1,3}>? | :(?!:)\*{0,2} | , ) [ \t]{0,8}
           | \( | [ \t]{1,4} | > )
    (?P<quote>\\{0,3}["'`])?""",
    re.VERBOSE,
)
# Ends before the next pair of `a=1,b=2`. The cut is part of the pattern: made afterwards it cost square time.
_BARE = re.compile(r"""(?:[^\s"'`<>,;&]++|[,;&](?![\w.-]{1,40}["']?[ ]?[=:]))++""")
_ALGORITHM = re.compile(r"(?:sha|md|bcrypt|argon|pbkdf|scrypt|utf|base|oauth|hs|rs|es|v)-?\d+\w{0,6}$", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_]+$")


_OPENING = {")": "(", "]": "[", "}": "{"}


class _Pair(NamedTuple):
    """A name that speaks of a secret (`group`), what joins it to its value, and the value."""

    group: str
    name: str
    sep: str
    value: str
    quoted: bool
    alone: bool  # nothing else on the line: a line of YAML or of a settings file
    closed: bool  # a flag or a closing backtick follows: the argument of a command


def assignments(text: str, lowered: str) -> Iterator[tuple[int, int, str]]:
    """Values of names that speak of secrets.

    Another name may stand inside a rejected value, so the search goes on inside it; in a long one it goes on behind
    it, which keeps the time linear.
    """
    resume = 0
    for position in _positions(lowered):
        tail = _TAIL.match(text, position) if position >= resume else None
        value = _value_span(text, tail) if tail else None
        if tail and value:
            start, end = value
            pair = _pair(text, position, tail, start, end)
            if pair and _is_assigned(pair):
                yield start, end, "assignment"
                resume = end
            elif end - start > 256:
                resume = end


def _positions(lowered: str) -> list[int]:
    found = []
    for core in _CORES:
        position = lowered.find(core)
        while position >= 0:
            found.append(position)
            position = lowered.find(core, position + len(core))
    found.sort()
    return found


def _value_span(text: str, tail: re.Match[str]) -> tuple[int, int] | None:
    start, quote = tail.end(), tail["quote"]
    if quote:
        end = text.find(quote, start, start + 4096)
        while end > 0 and len(quote) == 1 and text[end - 1] == "\\":
            end = text.find(quote, end + 1, start + 4096)
        if end >= 0 and "\n" not in text[start:end]:
            return (start, end) if end > start else None
    bare = _BARE.match(text, start)
    if not bare:
        return None
    value = _MARK.match(bare[0]) or bare
    word = value[0].rstrip(".,;:!?&")
    for _ in range(8):
        if not word.endswith((")", "]", "}")) or word.count(word[-1]) <= word.count(_OPENING[word[-1]]):
            break
        word = word[:-1].rstrip(".,;:!?")
    return (start, start + len(word)) if word else None


def _pair(text: str, position: int, tail: re.Match[str], start: int, end: int) -> _Pair | None:
    before = text[max(0, position - 64) : position]
    lead = re.match(r"[\w-]*", before[::-1])
    begin = position - len(lead[0] if lead else "")
    name, sep = text[begin : tail.end("rest")], tail["sep"].strip() or " "
    group = _group([word.lower() for word in _WORD.findall(name)])
    quoted = bool(tail["quote"]) and start == tail.end() and text.startswith(tail["quote"], end)
    if not group or (sep == " " and not name.startswith("--")) or (sep in ("(", ",") and not quoted):
        return None
    line = text[max(0, begin - 12) : begin].rpartition("\n")
    first = (bool(line[1]) or begin <= 12) and line[2].strip(" \t-") in ("", "export")
    after = text[end : end + 40]
    alone = first and sep != " " and not after.partition("\n")[0].strip()
    return _Pair(group, name, tail["sep"], text[start:end], quoted, alone, after[:2] == " -" or after[:1] == "`")


def _group(words: list[str]) -> str | None:
    """What the name speaks of: `password`, `secret`, `key`, or None, as for `token_count` and `sort_key`."""
    for size in range(len(words), 0, -1):
        snake = "_".join(words[:size])
        if _PASSWORD_NAME.search(snake) or _SECRET_NAME.search(snake) or _KEY_NAME.search(snake):
            if _ABOUT.intersection(words[size:]) or _OPEN_KEYS.intersection(words[:size]):
                return None
            if _PASSWORD_NAME.search(snake):
                return "password"
            return "secret" if _SECRET_NAME.search(snake) else "key"
    return None


def _is_assigned(pair: _Pair) -> bool:
    value = pair.value
    in_environment = pair.sep == "=" and pair.name == pair.name.upper()
    if not is_given(value) or _ALGORITHM.match(value) or "://" in value:
        return False
    if _is_other_sense(pair):
        return False
    if value.isdigit():
        return len(value) >= 4 if pair.group == "password" else len(value) >= 10 and "=" in pair.sep
    if not (pair.quoted or in_environment) and _is_code(value):
        return False
    if pair.group == "key":
        return len(value) >= 8 if in_environment and "_" in pair.name else len(value) >= 20 and is_strong(value)
    if is_strong(value):
        return True
    if pair.group == "secret":
        return " " not in value and len(value) >= (6 if in_environment else 12) and _is_plain(pair, in_environment)
    mixed = len(value) >= 6 and bool(re.search(r"\d", value)) and bool(re.search(r"[A-Za-z]", value))
    one_word = " " not in value or (pair.quoted and (in_environment or pair.name.lower().endswith("passphrase")))
    return one_word and len(value) >= 4 and (mixed or _is_plain(pair, in_environment))


def _is_other_sense(pair: _Pair) -> bool:
    """Whether `pwd` is the folder one is in, or `pass` a run through something."""
    name, value = pair.name.lower(), pair.value
    folder = name == "pwd" and value.startswith(("/", "~", "."))
    return folder or (name == "pass" and (pair.sep != "=" or value.isdigit()))


def _is_code(value: str) -> bool:
    """Whether an unquoted value is an expression or a variable: `os.environ[`, `get_token(`, `user_password`."""
    words = {word.lower() for word in _WORD.findall(value)}
    return bool(_CODE.match(value)) or bool(_NAME.match(value) and len(words) > 1 and words & _ORDINARY)


def _is_plain(pair: _Pair, in_environment: bool) -> bool:
    """Whether the form alone says that a value without digits is meant: quotes, `X=value`, a line of its own."""
    sep = pair.sep.strip()
    if in_environment or (pair.quoted and sep not in ("(", ",")):
        return True
    if pair.sep == "=" or pair.alone:
        return pair.group == "password" or bool(re.fullmatch(r"[a-z]+", pair.value))
    return pair.closed and not sep and pair.value != pair.value.upper()
