"""Subscripts of notations in figures: lowered, smaller, and the rest on its line."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from irmeta.report.notation import Notations
from irmeta.report.theme import print_of, svg_of

NAMES = ("AP(norm=min)@10", "RareP@100", "nDCG@5")
DECLARED = {"RareP": "P{@}_{Rareness}", "nDCG": "nDCG_{a}^{2}"}
SIZE = 10.0


def spec_of(*lines: str) -> dict[str, Any]:
    """Return a figure with a text of some lines, in notation."""
    text = {"mark": {"type": "text", "fontSize": SIZE, "text": [*lines]}, "data": {"values": [{}]}}
    config = {"title": {"fontSize": 9, "limit": 1}}
    return Notations.of(NAMES, DECLARED).in_spec(text | {"width": 400, "config": config})


def words_of(svg: str) -> list[tuple[str, float, float]]:
    """Return the texts of an image with their sizes and distances below the first line."""
    words, below = [], 0.0

    def visit(node: ElementTree.Element, size: float) -> None:
        nonlocal below
        below += float(node.get("dy", 0))
        size = float(node.get("font-size", f"{size}px").removesuffix("px"))
        words.extend([(node.text, size, round(below, 6))] if node.text else [])
        for child in node:
            visit(child, size)
            words.extend([(child.tail, size, round(below, 6))] if child.tail else [])

    for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        visit(node, SIZE)
    return words


def test_svg__subscripts_are_smaller_and_below_their_line():
    low, small = 0.22 * SIZE, 0.75 * SIZE
    found = words_of(svg_of(spec_of("MAP, AP(norm=min)@10 & RareP@100", "by tau-b")))
    line = found[-2][2]
    assert line > SIZE
    assert found == [
        ("MAP, AP", SIZE, 0), ("b", small, low), ("@10 & ", SIZE, 0), ("P@100", SIZE, 0),
        ("Rareness", small, low), ("by \u03c4", SIZE, line), ("b", small, line + low),
    ]  # fmt: skip


def test_svg__superscripts_are_above_their_line():
    found = {word: below for word, _, below in words_of(svg_of(spec_of("nDCG@5 here")))}
    assert found["2"] < 0 < found["a"]
    assert found["@5 here"] == 0


def test_svg__words_that_only_look_alike_stay():
    spec = spec_of("AP(norm=min)@10", "XAP_b, AP_bX and {AP}_{b}")
    assert "XAP_b, AP_bX and {AP}_{b}" in [word for word, *_ in words_of(svg_of(spec))]


def test_in_spec__scripts_are_told_only_where_there_are_some():
    assert spec_of("AP(norm=min)@10")["usermeta"] == {"scripts": {"AP_b": "AP_{b}"}}
    assert "usermeta" not in spec_of("AP")


def test_print__files_have_the_subscripts_too():
    one = spec_of("AP(norm=min)@10")
    drawn = [print_of(spec, ["png"], ppi=72)["png"] for spec in (one, one | {"usermeta": {}})]
    assert drawn[0] != drawn[1]
