"""Names of files made from titles: readable, in any script, and proper on every system."""

from __future__ import annotations

import re
import unicodedata

from backstory.errors import BackstoryError
from backstory.sources.ticket_names import bare

# A name of 255 bytes is what file systems take; `.run.md` and a number come behind it, and eCryptfs takes 143.
MOST_LETTERS, MOST_BYTES = 60, 120
_DEVICES = frozenset(("con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(10))))
# What the readers of a place take for something else, as a file or as the folder of a ticket's attempts.
_OTHERWISE = frozenset(
    """readme agents claude template _template ticket run attempts assets attachments images node_modules templates
    decisions docs milestones""".split()
)
_APOSTROPHES = "'\u2019\u2018\u02bc\u00b4`"
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')


def slug(title: str) -> str:
    """`Don't retry, ever!` as `dont-retry-ever`; "" for a title without a letter or digit."""
    text = unicodedata.normalize("NFC", title.lower().translate(dict.fromkeys(map(ord, _APOSTROPHES))))
    kept = "".join(letter if unicodedata.category(letter)[0] in "LMN" else " " for letter in text)
    name = shortened("-".join(kept.split()))
    return f"{name}-ticket" if name in _OTHERWISE or _is_device(name) else name


def _is_device(name: str) -> bool:
    """Whether Windows takes the name for a device, whatever its ending; it reads `COM¹` as well."""
    return unicodedata.normalize("NFKC", name.split(".", maxsplit=1)[0]).lower() in _DEVICES


def shortened(name: str) -> str:
    """The name cut to what every file system takes, between words where that leaves half of it."""
    cut = name[:MOST_LETTERS]
    while len(cut.encode("utf-8")) > MOST_BYTES:
        cut = cut[:-1]
    if len(cut) < len(name) and name[len(cut)] != "-" and cut.rfind("-") >= len(cut) // 2:
        cut = cut[: cut.rfind("-")]
    return cut.strip("-. ")


def checked(stem: str) -> str:
    """A stem that a person chose, composed; `BackstoryError` if it is no proper name of a file everywhere."""
    name = unicodedata.normalize("NFC", stem.strip())
    low = name.lower()
    why = ""
    if not name or not name.isprintable() or _FORBIDDEN.search(name):
        why = 'a name is not empty and holds none of < > : " / \\ | ? * and no control character'
    elif name[0] in ".-" or name[-1] == "." or low.endswith(".run") or bare(name) != name:
        why = "a name does not begin with a dot, a dash or a mark, and does not end in a dot, `.run` or `.md`"
    elif low in _OTHERWISE or _is_device(name):
        why = "that name means something else to a system or to a reader of tickets"
    elif len(name.encode("utf-8", "replace")) > 200:
        why = "a name has at most 200 bytes"
    if why:
        raise BackstoryError(f"{stem[:60]!r} cannot be the stem of a ticket: {why}.", hint="Use `--stem short-words`.")
    return name
