"""What an entry must be like before it is written: paths, fields, sizes, times, no secrets."""

from __future__ import annotations

import re
from typing import Any

from backstory.errors import BackstoryError, Exit
from backstory.project.opened import Project
from backstory.project.paths import cite, relative
from backstory.project.resolve import candidates, entry_id
from backstory.records import secrets
from backstory.records.codec import Fields, shape_of
from backstory.records.event import DETAIL_LIMIT, SUMMARY_LIMIT
from backstory.records.ids import LENGTH, normalise
from backstory.records.kinds.trial import OUTCOMES
from backstory.records.registry import KINDS, kind_name
from backstory.records.times import DAY, format_instant, parse_instant
from backstory.sources.git.objects import resolve

WITHHELD = "[withheld: the redaction of secrets failed]"
# Set by the gateway alone.
NOT_FROM_OUTSIDE = frozenset(
    ("id", "v", "kind", "at", "by", "h", "prev", "shard", "branch", "origin", "held", "redacted", "detector")
)
_LIST_LIMIT, _ITEM_LIMIT, _FILES_LIMIT = 50, 1_000, 100
_WORD_LIMITS = {"path": 4_096, "issue": 200, "ticket": 300, "commit": 64, "scope": 1_000, "name": 200, "command": 4_000}
_HEX = re.compile(r"^[0-9a-f]{7,64}$")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def prepare(project: Project, kind: str, fields: dict[str, Any], cwd: str = "") -> tuple[Fields, tuple[str, ...]]:
    """`fields` as they may be written, and the kinds of secrets that were taken out. `BackstoryError` to refuse."""
    if kind not in KINDS:
        near = kind_name(kind)
        hint = f"Did you mean `{near}`?" if near else f"Kinds are: {', '.join(KINDS)}."
        raise BackstoryError(f"{kind[:60]!r} is no kind of entry.", hint=hint)
    given = {name: value for name, value in fields.items() if value is not False and value not in (None, "", (), [])}
    unknown = sorted(set(given) - set(shape_of(kind)) | (set(given) & NOT_FROM_OUTSIDE))
    if unknown:
        raise BackstoryError(
            f"A {kind} has no field {unknown[0][:60]!r} that may be set.", hint=f"See `backstory show --fields {kind}`."
        )
    _lists(given)
    _summary(given)
    _sizes(given)
    _links(project, given)
    _times(given)
    files, in_typed = _cited(project, kind, given, cwd)
    if kind == "trial" and given.get("outcome", "failed") not in OUTCOMES:
        raise BackstoryError(f"A trial's outcome is one of {', '.join(OUTCOMES)}.", hint="Use `--outcome failed`.")
    clean, found = _redacted(given)
    if files:
        unique = {(ref.path, ref.lines, ref.symbol): ref for ref in files}
        paths, in_paths = _redacted({ref.path: ref.path for ref in files})
        clean["files"] = [{**_builtins(ref), "path": paths[ref.path]} for ref in unique.values()]
        found = tuple(dict.fromkeys((*found, *in_typed, *in_paths)))
    return clean, found


def _builtins(ref: Any) -> Any:
    import msgspec

    return msgspec.to_builtins(ref)


def _lists(given: Fields) -> None:
    for name in ("aliases", "alternatives_rejected", "examples", "libraries", "supersedes", "evidence", "files"):
        if name not in given:
            continue
        value = given[name]
        items = [value] if isinstance(value, str) else list(value)
        if len(items) > (_FILES_LIMIT if name == "files" else _LIST_LIMIT):
            raise BackstoryError(f"{name} has {len(items)} items; 50 is the limit.", hint="Record several entries.")
        given[name] = [str(item) for item in items if str(item).strip()]


def _summary(given: Fields) -> None:
    text = given.get("summary")
    if not isinstance(text, str) or not text.strip():
        raise BackstoryError("The summary is empty.", hint="Say it in one line: what, and if it fits, why.")
    summary = " ".join(_clean(text).split())
    if not any(letter.isprintable() and not letter.isspace() for letter in summary):
        raise BackstoryError("The summary holds no text.", hint="Say it in one line: what, and if it fits, why.")
    if len(summary) > SUMMARY_LIMIT:
        raise BackstoryError(
            f"The summary has {len(summary):,} characters; {SUMMARY_LIMIT} is the limit.",
            hint="Say it in one line and put the rest into `--detail`.",
            code=Exit.REFUSED,
        )
    given["summary"] = summary


def _sizes(given: Fields) -> None:
    for name, value in list(given.items()):
        limit = _WORD_LIMITS.get(name, DETAIL_LIMIT)
        texts = value if isinstance(value, list) else [value]
        for text in texts:
            top = _ITEM_LIMIT if isinstance(value, list) else limit
            if isinstance(text, str) and len(text) > top:
                raise BackstoryError(
                    f"{name} has {len(text):,} characters; {top:,} is the limit.",
                    hint="Keep what the next reader needs, and cite a file that holds the rest.",
                    code=Exit.REFUSED,
                )
        if name in ("files", "path", "scope"):
            continue  # A path with a control character is refused, not changed into another one.
        if isinstance(value, str) and name != "summary":
            given[name] = _clean(value).strip()
        elif isinstance(value, list):
            given[name] = [_clean(item).strip() for item in value]


def _clean(text: str) -> str:
    """Text as a line can hold it: NUL and other control characters go, line ends stay."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _links(project: Project, given: Fields) -> None:
    if "supersedes" in given:
        given["supersedes"] = [entry_id(project.db, item) for item in given["supersedes"]]
    if given.get("issue"):
        given["issue"] = _case(project, given["issue"])
    if given.get("commit"):
        given["commit"] = _commit(project, given["commit"])
    if given.get("scope"):
        given["scope"] = relative(project.root, given["scope"])


def _case(project: Project, typed: str) -> str:
    """The whole id of the issue that `typed` names or whose case it belongs to; an outside number stays as it is."""
    name = normalise(typed)
    if not name or (len(name) < LENGTH and not candidates(project.db, name)):
        return typed
    id_ = entry_id(project.db, typed)
    kind, case = project.db.execute("SELECT kind, case_of FROM entries WHERE id = ?", (id_,)).fetchone()
    if kind != "issue" and not case:
        raise BackstoryError(
            f"{id_} is a {kind}, no issue.", hint="`backstory timeline --kind issue` lists issues with their ids."
        )
    return str(case or id_)


def _commit(project: Project, typed: str) -> str:
    """The full id of a commit that the repository knows; an id that it does not know stays as it is."""
    known = None
    if project.config.places.git_dir:
        answers, _ = resolve(project.root, [f"{typed}^{{commit}}"])
        known = answers[0][0] if answers and answers[0] else None
    if known is None and not _HEX.match(typed):
        raise BackstoryError(
            f"{typed[:60]!r} is no commit that git knows here.", hint="`git log --oneline` lists commits."
        )
    return known or typed


def _times(given: Fields) -> None:
    for name in ("valid_from", "valid_until"):
        if name in given:
            given[name] = format_instant(instant(str(given[name]), name))
    if given.get("valid_from") and given.get("valid_until") and given["valid_from"] >= given["valid_until"]:
        raise BackstoryError("valid_until is not after valid_from.", hint="Give the times in order.")
    days = given.get("decay_days")
    if days is not None and (not isinstance(days, int) or isinstance(days, bool) or not 1 <= days <= 36_500):
        raise BackstoryError("decay_days is a number of days from 1 to 36500.", hint="Use `--decay-days 90`.")


def instant(text: str, name: str = "the time") -> int:
    """Microseconds of a day (its start, UTC) or an instant with a zone; `BackstoryError` for a naive time."""
    typed = text.strip()
    try:
        return parse_instant(f"{typed}T00:00:00Z" if len(typed) == 10 else typed)
    except ValueError as error:
        raise BackstoryError(
            f"{name} is {typed[:60]!r}, which is no day and no instant with a zone.",
            hint="Write 2026-11-30 or 2026-11-30T14:00:00Z.",
        ) from error


def last_instant(text: str, name: str = "the time") -> int:
    """As `instant`, but a day means its last moment: the day itself counts."""
    return instant(text, name) + (DAY - 1 if len(text.strip()) == 10 else 0)


def _cited(project: Project, kind: str, given: Fields, cwd: str) -> tuple[list[Any], tuple[str, ...]]:
    """The files that are cited, without secrets. Those leave the path as it was typed: once it is relative,
    `scheme://user:password@host` is no URL any more and nobody would know the password."""
    named = {"files": [str(item) for item in given.get("files", ())[:_FILES_LIMIT]], "path": str(given.get("path", ""))}
    typed, found = _redacted({f"typed {name}": value for name, value in named.items()})
    files = [cite(project.root, text, cwd) for text in typed["typed files"]]
    if kind == "hotfile":
        given["path"] = typed["typed path"]
        files = _hot(project, given, files, cwd)
    return files, found


def _hot(project: Project, given: Fields, files: list[Any], cwd: str) -> list[Any]:
    place = given.get("path") or (files[0].path if files else "")
    if not place:
        raise BackstoryError("A hot file needs its path.", hint='Use `backstory hot PATH "why it bites"`.')
    ref = cite(project.root, str(place), cwd)
    given["path"] = ref.path
    return [ref, *(item for item in files if item.path != ref.path)]


def _redacted(given: Fields) -> tuple[Fields, tuple[str, ...]]:
    """Every text without secrets. Fails closed: what cannot be checked is withheld."""
    found: list[str] = []

    def clean(text: str) -> str:
        try:
            result = secrets.redact(text)
        except Exception:  # noqa: BLE001 (any fault of a pattern must not let the text through)
            found.append("withheld")
            return WITHHELD
        found.extend(result.kinds)
        return result.text

    done: Fields = {}
    for name, value in given.items():
        if name in ("supersedes", "files"):
            done[name] = value
        elif isinstance(value, str):
            done[name] = clean(value)
        elif isinstance(value, list):
            done[name] = [clean(item) for item in value]
        else:
            done[name] = value
    return done, tuple(dict.fromkeys(found))
