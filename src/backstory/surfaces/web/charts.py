"""Charts as SVG, made on the server. Colours are classes, so that light and dark pages each have their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from backstory.records.hostile import one_line

WIDTH, HEIGHT, BARS_HEIGHT = 960, 420, 120
# Below so much room a tile has no label.
_LABEL_WIDTH, _LABEL_HEIGHT, _LETTER = 60, 22, 7.2


class Tile(NamedTuple):
    """A rectangle of a treemap: its area by `size`, its colour by `level` (0 to 3), and where a click goes."""

    label: str
    size: int
    level: int
    href: str
    title: str


class _Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float


def bars(rows: Sequence[tuple[str, int]], title: str) -> Markup:
    """A column for each (label, count); "" when there is nothing to draw. The figures stand in titles too."""
    most = max((count for _, count in rows), default=0)
    if not most:
        return Markup("")
    step = WIDTH / len(rows)
    parts = [_open(title, BARS_HEIGHT)]
    for place, (label, count) in enumerate(rows):
        height = (BARS_HEIGHT - 20) * count / most
        x, y = place * step + step * 0.1, BARS_HEIGHT - height
        tip = escape(f"{one_line(label, 80)}: {count:,}")
        parts.append(
            Markup('<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>')
            .format(x, y, step * 0.8, height, tip)
        )  # fmt: skip
    parts.append(Markup('<text class="axis" x="0" y="11">{:,}</text></svg>').format(most))
    return Markup("").join(parts)


def treemap(tiles: Sequence[Tile], title: str) -> Markup:
    """Rectangles whose areas are in proportion to their sizes, the largest first; "" for none."""
    kept = sorted((tile for tile in tiles if tile.size > 0), key=lambda tile: (-tile.size, tile.label))
    if not kept:
        return Markup("")
    parts = [_open(title, HEIGHT)]
    for tile, box in zip(kept, _squarified([tile.size for tile in kept], _Box(0, 0, WIDTH, HEIGHT)), strict=True):
        parts.append(_tile(tile, box))
    return Markup("").join([*parts, Markup("</svg>")])


def _open(title: str, height: int) -> Markup:
    return Markup('<svg class="chart" viewBox="0 0 {} {}" role="group" aria-label="{}">').format(
        WIDTH, height, one_line(title, 200)
    )


def _tile(tile: Tile, box: _Box) -> Markup:
    name = tile.label.rpartition("/")[2]
    room = int((box.width - 10) / _LETTER)
    fits = box.width >= _LABEL_WIDTH and box.height >= _LABEL_HEIGHT
    label = Markup('<text class="tile-label" x="{:.1f}" y="{:.1f}">{}</text>').format(
        box.x + 6, box.y + 16, one_line(name, max(3, room))
    )
    return Markup(
        '<a href="{}" aria-label="{}"><rect class="tile level-{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">'
        "<title>{}</title></rect>{}</a>"
    ).format(
        tile.href, one_line(tile.title, 300), tile.level, box.x + 1, box.y + 1, max(1.0, box.width - 2),
        max(1.0, box.height - 2), one_line(tile.title, 300), label if fits else Markup(""),
    )  # fmt: skip


def _squarified(sizes: Sequence[int], box: _Box) -> Iterator[_Box]:
    """A box for each size (largest first), as near to squares as rows allow (Bruls, Huizing, van Wijk, 2000)."""
    total = sum(sizes)
    areas = [size * box.width * box.height / total for size in sizes]
    start = 0
    while start < len(areas):
        side = min(box.width, box.height)
        end = start + 1
        while end < len(areas) and _worst(areas[start : end + 1], side) <= _worst(areas[start:end], side):
            end += 1
        row = areas[start:end]
        thick = sum(row) / side if side else 0.0
        along = box.y if box.width >= box.height else box.x
        for area in row:
            length = area / thick if thick else 0.0
            if box.width >= box.height:
                yield _Box(box.x, along, thick, length)
            else:
                yield _Box(along, box.y, length, thick)
            along += length
        if box.width >= box.height:
            box = _Box(box.x + thick, box.y, max(0.0, box.width - thick), box.height)
        else:
            box = _Box(box.x, box.y + thick, box.width, max(0.0, box.height - thick))
        start = end


def _worst(row: Sequence[float], side: float) -> float:
    """The worst ratio of sides in a row along `side`."""
    whole = sum(row)
    return max(side * side * max(row) / whole**2, whole**2 / (side * side * min(row))) if side and whole else 0.0
