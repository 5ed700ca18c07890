"""Files that bite: a map of what is recorded about each, and everything known about one."""

from __future__ import annotations

from urllib.parse import quote

from backstory.project import answers
from backstory.project.heat import FileHeat, heat
from backstory.surfaces.web import charts
from backstory.surfaces.web.asking import PER_PAGE, Ask, Shown

_ON_MAP, _IN_TABLE = 60, 100


def show(ask: Ask) -> Shown:
    """The heat of files: as a treemap, and as a table with the same figures."""
    total, found = heat(ask.project, limit=max(_ON_MAP, _IN_TABLE))
    tiles = [
        charts.Tile(item.path, item.heat, _level(item), f"/file/{quote(item.path)}", _said(item))
        for item in found[:_ON_MAP]
    ]
    data = {"total": total, "files": found[:_IN_TABLE], "chart": charts.treemap(tiles, "Files by what is recorded")}
    return Shown("files.html", "Files", data)


def _level(item: FileHeat) -> int:
    """0 (calm) to 3: from what failed there, what marks it hot, and what lost its ground."""
    bites = (item.failed > 0, item.failed > 2, item.hot > 0, item.backed_out > 2, 2 * item.stale > item.entries)
    return min(3, sum(bites))


def _said(item: FileHeat) -> str:
    parts = [
        f"{item.entries} entries",
        f"{item.failed} failed trials",
        f"{item.stale} stale",
        f"{item.backed_out} backed out",
        f"{item.commits} commits",
    ]
    return f"{item.path}: {', '.join(parts)}"


def one(ask: Ask) -> Shown:
    """Everything known about a file or folder."""
    found = answers.why(ask.project, ask.path["path"])
    return Shown("file.html", found.path, {"why": found, "most": PER_PAGE})
