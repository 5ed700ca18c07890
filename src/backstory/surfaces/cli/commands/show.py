"""`backstory show`: one entry in full."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from backstory.errors import BackstoryError
from backstory.surfaces.cli.console import line_of, say_all
from backstory.surfaces.cli.entries import day, entry_lines, full
from backstory.surfaces.cli.running import Run, make
from backstory.surfaces.cli.sessions import place_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backstory.project.answers import Detail


_LIVE = ("active", "confirmed", "contested")
# What such an entry says it replaces, stands.
_WITHOUT_EFFECT = ("proposed", "rejected")


@make("show", "backstory show 7K3QZP", "backstory show --fields decision")
@click.argument("id", required=False, metavar="ID")
@click.option("--fields", "kind", metavar="KIND", help="List the fields of a kind instead.")
def command(run: Run, id: str | None, kind: str | None) -> None:
    """ID is an entry's id, or its last six letters and digits or more."""
    if kind is not None:
        _fields(run, kind)
        return
    if id is None:
        raise BackstoryError("Which entry?", hint="`backstory timeline` lists entries with their ids.")
    from backstory.project.answers import show

    detail = show(run.open(), id)
    run.answer(detail, lambda: _lines(detail))


def _lines(detail: Detail) -> Iterable[str]:
    yield from full(detail.entry)
    if detail.case:
        yield from ["", "case", *entry_lines(detail.case, "  ")]
    turn = ("", 0)
    for place in detail.comes_from:
        yield from ["", *place_lines(place, again=(place.session, place.turn) == turn)]
        turn = (place.session, place.turn)
    if detail.history:
        yield from ["", "history", *map(_operation, detail.history)]


def _operation(fields: dict[str, Any]) -> str:
    by = fields.get("by") or {}
    who = by.get("name") or by.get("kind", "unknown")
    reason = f": {fields['reason']}" if fields.get("reason") else ""
    what = {"confirm": "confirmed", "retire": "retired", "reject": "rejected", "lift": "rejection taken back",
            "approve": "approved", "contest": "contested", "resolve": "resolved", "redact": "redacted",
            "undo": "taken back", "snooze": "snoozed", "share": "shared"}.get(fields["kind"])  # fmt: skip
    if what is None:
        standing = fields["standing"]
        verb = "to be superseded by" if standing in _WITHOUT_EFFECT else "superseded by"
        what = f"{verb} {fields['kind']} {fields['id'][-6:]}"
        reason = f": {fields.get('summary', '')}{'' if standing in _LIVE else f' [{standing}]'}"
    for name, words in (("successor", "replaced by"), ("over", "over"), ("against", "against")):
        what += f" {words} {fields[name][-6:]}" if fields.get(name) else ""
    return f"  {day(fields['at'])}  {line_of(f'{what} by {who}{reason}')}"


def _fields(run: Run, kind: str) -> None:
    from backstory.records.codec import shape_of
    from backstory.records.registry import KINDS, kind_name

    name = kind_name(kind)
    if name is None:
        raise BackstoryError(f"{kind[:60]!r} is no kind of entry.", hint=f"Kinds are: {', '.join(KINDS)}.")
    names = sorted(
        set(shape_of(name))
        - {"id", "v", "kind", "at", "by", "shard", "prev", "h", "held", "redacted", "origin", "branch", "detector"}
    )
    if run.as_json:
        run.json({"kind": name, "fields": names})
    else:
        say_all([f"A {name} may have:", *(f"  {field}" for field in names)])
