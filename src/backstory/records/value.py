"""The normalised value: what tombstones and duplicates are keyed on.

Promise: two texts that a reader takes for the same words have one key. Case, width, mathematical and circled letters,
letters that look like Latin ones, invisible characters, punctuation and white space make no difference. What changes
the meaning does: `C++` and `C#`, `>=` and `<=`, `50%`, `-5`, `1.2`, `!=`, and diacritics (`cafe` is not `café`).
Words of other scripts stay apart: within a text that really is Russian or Greek no word is turned into Latin.
The key of a key is the key. Nothing is read or written.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Code point and the Latin letter that a reader takes the whole glyph for. Hexadecimal, since side by side no one
# could check the letters themselves. First those of the Latin script: small capitals, dotless and script forms.
_LATIN = """1d00a 0299b 1d04c 1d05d 1d07e a730f 0262g 029ch 026ai 1d0aj 1d0bk 029fl 1d0dm 0274n 1d0fo 1d18p a7afq 0280r
a731s 1d1bt 1d1cu 1d20v 1d21w 028fy 1d22z 0131i 0237j 0251a 0261g 0269i 01c0l ab32e 1d11o"""
# Cyrillic, Greek, Armenian, Cherokee, Lisu, Coptic, Tifinagh. Within a script no two small letters share a Latin
# one (shha and en, both taken for h, are in no word of the same language but a few of Kazakh and Bashkir).
_FOREIGN = """0430a 0435e 043eo 0440p 0441c 0443y 0445x 0456i 0458j 0455s 043ak 043cm 0442t 0432b 043dh 0501d 051bq
051dw 04bbh 04cfl 0475v 0451\u00eb 0457\u00ef 0450\u00e8 04d1\u0103 04d3\u00e4 04e7\u00f6 04f1\u00ff 04ab\u00e7
03b1a 03bfo 03bdv 03c1p 03b9i 03bak 03c4t 03b5e 03c7x 03c5u 03f2c 03f3j
0391a 0392b 0395e 0396z 0397h 0399i 039ak 039cm 039dn 039fo 03a1p 03a4t 03a5y 03a7x 03f9c 037fj
0585o 057du 0570h 0575j 0581g 0578n 0566q
13aaa 13f4b 13dfc 13a0d 13ace 13c0g 13bbh 13abj 13e6k 13del 13b7m 13e2p 13a1r 13das 13a2t 13d9v 13b3w 13bdy 13c3z
a4eea a4d0b a4dac a4d3d a4f0e a4ddf a4d6g a4e7h a4f2i a4d9j a4d7k a4e1l a4dfm a4e0n a4f3o a4d1p a4e3r a4e2s a4d4t
a4f4u a4e6v a4eaw a4ebx a4ecy a4dcz
2c9fo 2ca3p 2ca5c 2ca7t 2cadx 2c93i 2c95k 2c99m 2c9bn 2c8fh 2d54o 2d4fl 2d5dx"""
# Weaker likenesses, believed only inside a word that has Latin letters too.
_WITHIN_LATIN = """0433r 043fn 0438u 044cb 0448w 0461w 04afy 04bde 04373 04474 04316 050dg 0454e
03b3y 03b2b 03b7n 03bcu 03c9w 03c3o 03c2c 03b6z 0561w 056cl 057cn 0582i 10ffo 05e1o 05d5i"""


def _pairs(table: str) -> dict[str, str]:
    pairs = {chr(int(item[:4], 16)): item[4:] for item in table.split()}
    for char, latin in list(pairs.items()):
        # Both cases are in the table, so that a key, which has one case, is judged as its text was.
        for other in (char.upper(), char.lower()):
            pairs.setdefault(other, latin)
    return pairs


_FOLDED = _pairs(_FOREIGN)
_FOLDED_WITHIN = _pairs(_WITHIN_LATIN) | _FOLDED
_SCRIPTS = tuple(
    (range(first, last + 1), name)
    for first, last, name in (
        (0x0041, 0x024F, "latin"),
        (0x1E00, 0x1EFF, "latin"),
        (0x0370, 0x03FF, "greek"),
        (0x1F00, 0x1FFF, "greek"),
        (0x0400, 0x052F, "cyrillic"),
        (0x1C80, 0x1C8F, "cyrillic"),
        (0x2DE0, 0x2DFF, "cyrillic"),
        (0xA640, 0xA69F, "cyrillic"),
        (0x0530, 0x058F, "armenian"),
        (0x13A0, 0x13FF, "cherokee"),
        (0xAB70, 0xABBF, "cherokee"),
        (0xA4D0, 0xA4FF, "lisu"),
        (0x2C80, 0x2CFF, "coptic"),
        (0x2D30, 0x2D7F, "tifinagh"),
    )
)

_MEANT = {
    **dict.fromkeys("\u2018\u2019\u201b\u02bc\u02bb\u2032\u02b9\u05f3", "'"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58", "-"),
    "\u2260": "!=",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2192": "->",
    "\u21d2": "=>",
    "\u066a": "%",
    "\u066b": ".",
    "\u0640": "",
}
# Besides the format characters (Cf): joiners, fillers and selectors that have other categories but show nothing.
_UNSEEN = frozenset(
    [
        *(
            0x034F,
            0x115F,
            0x1160,
            0x17B4,
            0x17B5,
            0x180B,
            0x180C,
            0x180D,
            0x180F,
            0x2065,
            0x2800,
            0x3164,
            0xFFA0,
            0xFFFC,
        ),
        *range(0xFE00, 0xFE10),
        *range(0xFFF0, 0xFFF9),
        *range(0xE0000, 0xE1000),
    ]
)


def is_invisible(char: str) -> bool:
    """Whether the character shows nothing and takes no room: format characters, fillers, selectors, tags, controls.

    White space is not invisible.
    """
    return ord(char) in _UNSEEN or (unicodedata.category(char) in ("Cf", "Cc") and not char.isspace())


class _Characters(dict[int, str]):
    """What becomes of a character whatever stands beside it, worked out when it is first seen."""

    def __missing__(self, code: int) -> str:
        folded = self._folded(chr(code))
        if len(self) < 20_000:  # all of Unicode, in hostile text, would cost 100 MB
            self[code] = folded
        return folded

    def _folded(self, char: str) -> str:
        if char.isascii():  # judged where it stands, by _squeezed
            return char
        if char in _MEANT:
            return _MEANT[char]
        if is_invisible(char):
            return ""
        category = unicodedata.category(char)
        if char.isspace() or (category[0] == "P" and char not in "\u2030\u2031"):  # per mille, per ten thousand
            return " "
        if category == "Nd":
            return str(unicodedata.decimal(char))
        if category == "Cs":
            return "\ufffd"
        for first in (0x1F150, 0x1F170, 0x1F1E6):  # letters in black circles, in black squares, and of flags
            if first <= ord(char) < first + 26:
                return chr(ord("a") + ord(char) - first)
        return char


_LOOKS = 8
_CHARACTERS = _Characters({ord(char): latin for char, latin in _pairs(_LATIN).items()})


def value_key(text: str) -> str:
    """The normalised value of `text`; of a text without any word or symbol, the text itself in one case.

    Costs 6 us for 100 ASCII characters, 40 us for 100 Chinese and 190 us for 100 Cyrillic ones.
    """
    key = _squeezed(text.lower()) if text.isascii() else _unmasked(text)
    return key or _caseless(text).strip()


def _unmasked(text: str) -> str:
    # Dropping a character can bring a letter and its accent together, so a second look is needed; a third is rare.
    for _ in range(_LOOKS):
        plain = _caseless(text, fold=True)
        key = _squeezed(plain.replace("i\u0307", "i"))
        if key == text or key.isascii():
            return key
        text = key
    return text


def _caseless(text: str, fold: bool = False) -> str:
    text = unicodedata.normalize("NFKC", text.replace("\u00b4", "'"))  # else a space and an accent
    if fold:
        text = _latinised(text.translate(_CHARACTERS))
    return unicodedata.normalize("NFKC", text.casefold())


# --- marks and spaces ------------------------------------------------------------------------------------------

_SPACE = re.compile(
    r"""[\s"(),/:;?\[\\\]_`{}]
      | -(?!>) (?: (?<=\w-) | (?!\.?\d) )             # kept: a minus sign, an arrow
      | \. (?! (?<=\d\.)\d | (?<![\w.]\.)\d )         # kept: a decimal point
      | ! (?! = | (?<!\w!)[^\W_] )                    # kept: != and a negation""",
    re.VERBOSE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")
_OPERATOR = re.compile(r"[-!]?[<>=]+")


def _squeezed(text: str) -> str:
    if not text.isprintable():
        text = _CONTROL.sub("", text)
    if "'" in text:
        text = re.sub(r"(?<=\d)'(?=\d)", " ", text).replace("'", "")
    text = _SPACE.sub(" ", text)
    if "<" in text or ">" in text or "=" in text:
        text = _OPERATOR.sub(r" \g<0> ", text)
    return " ".join(text.split())


# --- letters that look like Latin ones -------------------------------------------------------------------------

_LETTERS = re.compile(r"[^\W\d_]+")


@lru_cache(4096)
def _script(char: str) -> str:
    code = ord(char)
    return next((name for codes, name in _SCRIPTS if code in codes), "other")


def _latinised(text: str) -> str:
    """Words that mix Latin with look-alikes, and words of look-alikes alone, in Latin letters.

    A word of look-alikes alone is left as it is where its script is really in use: where another word, all of that
    script, has a letter that looks like no Latin one. So no two words of a Russian text fall together.
    """
    if text.isascii():
        return text
    in_use = set()
    for word in _LETTERS.findall(text):
        scripts = set(map(_script, word))
        if len(scripts) == 1 and not all(char in _FOLDED for char in word):
            in_use |= scripts

    def latinised(match: re.Match[str]) -> str:
        word = match[0]
        scripts = set(map(_script, word))
        if "latin" in scripts:
            return word if len(scripts) == 1 else "".join(_FOLDED_WITHIN.get(char, char) for char in word)
        if scripts <= in_use or not all(char in _FOLDED for char in word):
            return word
        return "".join(_FOLDED[char] for char in word)

    return _LETTERS.sub(latinised, text)


# --- resemblance -----------------------------------------------------------------------------------------------

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_TERMS = re.compile(f"[{_UNSPACED}]+|[^\\s{_UNSPACED}]+")


def similarity(a: str, b: str) -> float:
    """How much two texts resemble each other, 0 to 1, the same both ways; 1 only for one and the same value.

    The share of common words (pairs of characters, in scripts without spaces), or how much of the shorter text the
    longer one holds, whichever is more. The shorter the text, the less it counts that it is held: one word 0.67,
    two words 0.8, five words 0.91.
    """
    key_a, key_b = value_key(a), value_key(b)
    if key_a == key_b:
        return 1.0
    terms_a, terms_b = _terms(key_a), _terms(key_b)
    common, fewer = len(terms_a & terms_b), min(len(terms_a), len(terms_b))
    if not common:
        return 0.0
    return min(0.99, max(common / len(terms_a | terms_b), common / (fewer + 0.5)))


def _terms(key: str) -> set[str]:
    terms: set[str] = set()
    for run in _TERMS.findall(key):
        if re.match(f"[{_UNSPACED}]", run) and len(run) > 1:
            terms.update(run[at : at + 2] for at in range(len(run) - 1))
        else:
            terms.add(run)
    return terms
