"""Boxes of the texts of an SVG, to find labels that overlap or leave the image."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import NamedTuple
from xml.etree import ElementTree

from irmeta.report.theme import text_width

Point = tuple[float, float]
_NUMBER = r"(-?[\d.]+)"
_STEP = re.compile(rf"translate\({_NUMBER},{_NUMBER}\)|rotate\({_NUMBER}\)")
BESIDE = 1.0  # pixels of clear space at both ends of a text
RISE, DROP = 0.7, 0.15
"""Share of the font size that capitals rise above the line, and that texts drop below."""


class Box(NamedTuple):
    """A text and its corners, in order."""

    text: str
    corners: tuple[Point, ...]


def text_boxes(svg: str) -> list[Box]:
    """Return the boxes of all texts that are seen."""
    return list(_boxes(ElementTree.fromstring(svg), []))


def collisions(svg: str) -> list[tuple[str, str]]:
    """Return the pairs of texts that overlap or touch; a halo lies behind its own text."""
    return [
        (a.text, b.text)
        for a, b in combinations(text_boxes(svg), 2)
        if (a.text, a.corners) != (b.text, b.corners) and _overlap(a.corners, b.corners)
    ]


def outside(svg: str) -> list[str]:
    """Return the texts that are not entirely inside the image."""
    root = ElementTree.fromstring(svg)
    width, height = (float(root.attrib[name]) for name in ("width", "height"))
    return [
        box.text
        for box in text_boxes(svg)
        if any(not (-2 <= x <= width + 2 and -1 <= y <= height + 1) for x, y in box.corners)
    ]


def _boxes(node: ElementTree.Element, steps: list[str]) -> Iterator[Box]:
    steps = [*steps, node.get("transform", "")]
    if node.tag.endswith("}text") and node.get("opacity") != "0":
        lines = [child for child in node if child.tag.endswith("}tspan")] or [node]
        top = 0.0
        for line in lines:
            top += float(line.get("dy", 0))
            text = line.text or ""
            if text.strip():
                yield Box(text, _corners(node, text, steps, top))
    for child in node:
        yield from _boxes(child, steps)


def _corners(
    node: ElementTree.Element, text: str, steps: list[str], top: float
) -> tuple[Point, ...]:
    size = float(node.attrib["font-size"].removesuffix("px"))
    width = text_width(text, size, node.get("font-weight") == "bold")
    left = {"start": 0.0, "middle": -width / 2, "end": -width}[node.get("text-anchor", "start")]
    left, right = left - BESIDE, left + width + BESIDE
    above, below = top - RISE * size, top + DROP * size
    corners = ((left, above), (right, above), (right, below), (left, below))
    return tuple(_moved(corner, steps) for corner in corners)


def _moved(point: Point, steps: list[str]) -> Point:
    x, y = point
    for step in reversed([match for text in steps for match in _STEP.finditer(text)]):
        dx, dy, angle = step.groups()
        if angle is None:
            x, y = x + float(dx), y + float(dy)
        else:
            turn = math.radians(float(angle))
            x, y = (
                x * math.cos(turn) - y * math.sin(turn),
                x * math.sin(turn) + y * math.cos(turn),
            )
    return x, y


def _overlap(a: tuple[Point, ...], b: tuple[Point, ...]) -> bool:
    """Check whether two rectangles have a common area: no line of a side separates them."""
    for corners in (a, b):
        for (x0, y0), (x1, y1) in pairwise(corners):
            normal = (y0 - y1, x1 - x0)
            sides = [[normal[0] * x + normal[1] * y for x, y in one] for one in (a, b)]
            length = math.hypot(*normal) or 1.0
            if max(sides[0]) <= min(sides[1]) + 0.5 * length:
                return False
            if max(sides[1]) <= min(sides[0]) + 0.5 * length:
                return False
    return True
