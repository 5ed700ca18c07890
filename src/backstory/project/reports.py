"""The memory as a table (CSV, Parquet) and as one page of HTML: through the same filter as every export.

A cell that a spreadsheet would take for a formula gets an apostrophe before it. The page loads nothing, runs nothing,
and shows stored text as text.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator
from html import escape

from backstory.errors import BackstoryError, Exit
from backstory.project.exporting import export
from backstory.project.opened import Project
from backstory.recall.view import View
from backstory.records.hostile import one_line
from backstory.records.registry import KINDS

COLUMNS = tuple(
    "id kind standing fresh tags summary why detail files issue at confirmed_at by sources".split()
)  # fmt: skip
_ELSEWHERE = "Name a file in a folder of yours."
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --dim: #666; --line: #ddd; --paper: #fff; --tag: #9a3412; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --dim: #9a9a9a; --line: #333; --paper: #161616;
  --tag: #fdba74; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 50rem; padding: 0 1rem; overflow-wrap: anywhere; }
h2 { border-bottom: 1px solid var(--line); } li { margin: .7rem 0; } ul { padding-left: 1.2rem; }
.more { color: var(--dim); font-size: .9rem; } .tag { color: var(--tag); font-weight: 600; } code { font-size: .9em; }
"""


def table(project: Project, *, everything: bool = False) -> Iterator[str]:
    """The entries as CSV, oldest first; lines without line ends."""
    yield _csv(COLUMNS)
    for view in export(project, everything=everything).entries:
        yield _csv([_safe(cell) for cell in _row(view)])


def parquet(project: Project, path: str, *, everything: bool = False) -> int:
    """Write the same table as Parquet; how many entries. `BackstoryError` where the file cannot be written."""
    from backstory.history.parquet import write as write_parquet

    rows = [_row(view) for view in export(project, everything=everything).entries]
    try:
        write_parquet(path, COLUMNS, rows)
    except OSError as error:
        raise BackstoryError(
            f"{path} cannot be written ({error.strerror or error}).", hint=_ELSEWHERE, code=Exit.REFUSED
        ) from error
    return len(rows)


def page(project: Project, *, everything: bool = False) -> Iterator[str]:
    """One page of HTML for people; lines without line ends."""
    made = export(project, everything=everything)
    title = escape(one_line(made.name, 80))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}: project memory</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>"
    yield "<p>Recorded data, not instructions.</p>"
    for kind, cls in KINDS.items():
        chosen = [view for view in made.entries if view.kind == kind]
        if chosen:
            yield f"<h2>{escape('Trials' if kind == 'trial' else cls.HEADING)} ({len(chosen)})</h2>\n<ul>"
            yield from map(_item, chosen)
            yield "</ul>"
    yield "</body>\n</html>"


def write(path: str, lines: Iterable[str | bytes]) -> None:
    """Write lines to a file, UTF-8. `BackstoryError` where it cannot be written."""
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "wb") as file:
            for line in lines:
                file.write((line if isinstance(line, bytes) else line.encode("utf-8", "replace")) + b"\n")
    except OSError as error:
        raise BackstoryError(
            f"{path} cannot be written ({error.strerror}).", hint=_ELSEWHERE, code=Exit.REFUSED
        ) from error


def _item(view: View) -> str:
    tags = "".join(f' <span class="tag">[{escape(one_line(tag, 200))}]</span>' for tag in view.tags)
    more = [f"{view.at[:10]}, {view.short}, {view.standing}"]
    more += [f"{name}: {value}" for name, value in (("why", _why(view)), ("rests on", _sources(view))) if value]
    shown = " &middot; ".join(escape(one_line(text, 2_000)) for text in more)
    return f'<li>{escape(one_line(view.summary, 300))}{tags}<br><span class="more">{shown}</span></li>'


def _row(view: View) -> list[str]:
    who = " ".join(filter(None, (str(view.by.get("name", "")), f"({view.by['kind']})")))
    detail, tags = one_line(str(view.fields.get("detail", "")), 4_000), " ".join(f"[{tag}]" for tag in view.tags)
    return [
        view.id, view.kind, view.standing, "yes" if view.fresh else "no", tags, view.summary, _why(view), detail,
        "; ".join(view.files), view.issue, view.at, view.confirmed_at, who, "; ".join(view.evidence),
    ]  # fmt: skip


def _why(view: View) -> str:
    value = next((view.fields[name] for name in KINDS[view.kind].PROSE if view.fields.get(name)), "")
    return one_line("; ".join(map(str, value)) if isinstance(value, list) else str(value), 4_000)


def _sources(view: View) -> str:
    return ", ".join([*view.files, *view.evidence])


def _safe(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _csv(cells: Iterable[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([one_line(cell, 5_000) for cell in cells])
    return text.getvalue()
