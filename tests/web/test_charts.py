"""Charts: areas in proportion, nothing beside or over another, hostile labels as text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.surfaces.web import charts
from backstory.surfaces.web.charts import HEIGHT, WIDTH, Tile

_RECT = re.compile(r'x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"')


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=60))
def test_tiles_fill_the_map_in_proportion_without_overlap(sizes: list[int]) -> None:
    boxes = list(charts._squarified(sorted(sizes, reverse=True), charts._Box(0, 0, WIDTH, HEIGHT)))
    areas = [box.width * box.height for box in boxes]
    assert sum(areas) == pytest.approx(WIDTH * HEIGHT)
    for size, area in zip(sorted(sizes, reverse=True), areas, strict=True):
        assert area == pytest.approx(size / sum(sizes) * WIDTH * HEIGHT)
    for place, one in enumerate(boxes):
        assert one.x >= -1e-6 and one.y >= -1e-6
        assert one.x + one.width <= WIDTH + 1e-6 and one.y + one.height <= HEIGHT + 1e-6
        for other in boxes[:place]:
            across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
            down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
            assert across <= 1e-6 or down <= 1e-6


def test_nothing_to_draw_draws_nothing() -> None:
    assert charts.bars([], "Nothing") == charts.bars([("a", 0)], "Nothing") == charts.treemap([], "Nothing") == ""
    assert "<rect" in charts.bars([("a", 1)], "Something")


def test_hostile_labels_are_text() -> None:
    hostile = '"><script>alert(1)</script>\u202e'
    tile = Tile(hostile, 3, 2, "/file/%22%3E", hostile)
    for drawn in (str(charts.treemap([tile], hostile)), str(charts.bars([(hostile, 2)], hostile))):
        assert "<script" not in drawn and "\u202e" not in drawn and "&lt;script&gt;" in drawn


def test_a_bar_is_as_high_as_its_count() -> None:
    heights = [float(found[3]) for found in _RECT.findall(charts.bars([("a", 1), ("b", 2), ("c", 4)], "x"))]
    assert heights[1] == pytest.approx(2 * heights[0], rel=0.02) and heights[2] == pytest.approx(
        4 * heights[0], rel=0.02
    )
