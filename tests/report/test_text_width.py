"""Widths of texts, lines of titles, and places of labels and ticks."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irmeta.report.charts.panes import apart, log_ticks
from irmeta.report.theme import CONFIG, text_width, wrapped
from irmeta.report.vega import vega_svg
from support.examples import scaled

pytestmark = pytest.mark.exhaustive

PRINTABLE = "".join(map(chr, range(33, 127))) + "\u2212\u2013\u2014\u2018\u2019"


@pytest.mark.parametrize("text", [PRINTABLE[i::4] for i in range(4)])
def test_text_width__equals_the_width_that_is_drawn(text: str):
    spec = {
        "data": {"values": [{"t": text}]},
        "mark": {"type": "text", "align": "left", "fontSize": 100},
        "encoding": {"text": {"field": "t"}, "x": {"value": 0}},
        "width": 1,
        "config": {"font": CONFIG["font"], "padding": 0},
        "autosize": "pad",
        "padding": 0,
    }
    (drawn,) = re.findall(r'<svg[^>]* width="([\d.]+)"', vega_svg(spec))
    assert text_width(text, 100) == pytest.approx(float(drawn), rel=0.01)


@settings(max_examples=scaled(50))
@given(st.lists(st.text("abcM.", min_size=1, max_size=12), min_size=1), st.floats(20, 300))
def test_wrapped__keeps_the_words_and_the_width(words: list[str], room: float):
    lines = wrapped(" ".join(words), 11, room)
    assert "".join(lines).replace(" ", "") == "".join(words)
    if all(text_width(word, 11) <= room for word in words):
        assert " ".join(lines) == " ".join(words)
        joined = [text_width(f"{a} {b.split(' ')[0]}", 11) for a, b in pairwise(lines)]
        assert all(width > room for width in joined), "no line could have been longer"
    assert all(text_width(line, 11) <= room or len(line) == 1 for line in lines)


@settings(max_examples=scaled(100))
@given(st.lists(st.floats(-50, 150), min_size=1, max_size=9).map(sorted))
def test_apart__keeps_order_distance_and_bounds(values: list[float]):
    placed = apart(values, 10, 0, 100)
    assert all(b - a >= 10 - 1e-9 for a, b in pairwise(placed))
    assert min(placed) >= 0
    assert max(placed) <= 100 + 1e-9
    if all(b - a >= 10 for a, b in pairwise(values)) and values[0] >= 0 and values[-1] <= 100:
        assert placed == pytest.approx(values)


@pytest.mark.parametrize(
    ("low", "high", "room", "expected"),
    [
        (1400, 8000, math.inf, [2000, 3000, 4000, 5000, 6000, 7000, 8000]),
        (1400, 8000, 200, [2000, 5000]),
        (1, 1000, 200, [1, 10, 100, 1000]),
        (3, 3, 100, [3]),
    ],
)
def test_log_ticks__have_room_for_their_labels(low, high, room, expected: list[int]):
    assert log_ticks(low, high, room) == expected
