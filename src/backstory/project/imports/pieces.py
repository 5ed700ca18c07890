"""Cuts what is too long for one entry: the entry keeps the first part, notes that follow it hold the rest.

Nothing is lost to search. Secrets are taken out before the cut, since one that is cut in two is not known any more.
The same text gives the same parts.
"""

from __future__ import annotations

from typing import Any

from backstory.project.validation import WITHHELD
from backstory.records import secrets
from backstory.records.event import DETAIL_LIMIT, SUMMARY_LIMIT
from backstory.records.hostile import one_line

# Below the limit there is room for the line that says where the text goes on.
_PART = DETAIL_LIMIT - 100
# Fields of one text that may be longer than an entry takes; the rest of each goes on in notes too.
_LONG = ("rationale", "failure_mode", "observation", "why_hot", "description", "command")


def fitted(fields: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]], tuple[str, ...]]:
    """`fields` as one entry takes them, the fields of a note for each further part, and the secrets taken out."""
    done, found = dict(fields), dict[str, None]()
    summary, detail = str(done.get("summary", "")), str(done.get("detail", ""))
    if len(" ".join(summary.split())) > SUMMARY_LIMIT:
        # Cut, half a secret might be left that no pattern knows.
        whole = _redacted(summary, found)
        done["summary"], detail = one_line(whole, SUMMARY_LIMIT), f"{whole}\n\n{detail}".strip()
    rest: list[str] = []
    for name in ("detail", *_LONG):
        text = detail if name == "detail" else str(done.get(name, ""))
        if len(text) > DETAIL_LIMIT:
            text, *more = _parts(_redacted(text, found))
            rest += more if name == "detail" else [f"{name}: {part}" for part in more]
        if text:
            done[name] = text
    title, total = one_line(str(done.get("summary", "")), SUMMARY_LIMIT - 20), len(rest) + 1
    if rest:
        said = f"(goes on in {len(rest)} {'note' if len(rest) == 1 else 'notes'}: 2 to {total} of {total})"
        done["detail"] = f"{done.get('detail', '')}\n\n{said}".strip()
    notes = [{"summary": f"{title} ({number} of {total})", "detail": part} for number, part in enumerate(rest, 2)]
    return done, notes, tuple(found)


def _redacted(text: str, found: dict[str, None]) -> str:
    try:
        result = secrets.redact(text)
    except Exception:  # noqa: BLE001 (any fault of a pattern must not let the text through)
        found["withheld"] = None
        return WITHHELD
    found.update(dict.fromkeys(result.kinds))
    return result.text


def _parts(text: str) -> list[str]:
    """The text in parts that fit: cut between paragraphs, else lines, else words, else where it has to be."""
    parts = []
    while len(text) > _PART:
        cut = next((at for sign in ("\n\n", "\n", " ") if (at := text.rfind(sign, _PART // 3, _PART)) > 0), _PART)
        parts.append(text[:cut].rstrip())
        text = text[cut:].lstrip("\n ") if text[cut : cut + 1].isspace() else text[cut:]
    return [part for part in (*parts, text) if part.strip()]
