"""Graphs of names on levels: positions of names and arrows, and their styles."""

from __future__ import annotations

import math
from itertools import combinations

import polars as pl
import pytest

from irmeta.report.charts.graph import LETTER, WIDTH, graph
from irmeta.report.theme import to_spec, to_svg
from support.charting import EDGES, HOSTILE, KINDS, NODES, texts

WORDS = {"title": "T", "subtitle": "S"}
SHORT = {HOSTILE: "w"}


def drawn(nodes: pl.DataFrame = NODES, edges: pl.DataFrame = EDGES) -> dict[str, list[dict]]:
    """Return the rows of the lines, heads and names of a graph."""
    spec = to_spec(graph(nodes, edges, **WORDS, kinds=KINDS))
    rows = [spec["datasets"][layer["data"]["name"]] for layer in spec["layer"]]
    return dict(zip(("lines", "heads", "names"), rows, strict=True))


def chain(levels: int, rows: int) -> pl.DataFrame:
    names = [(f"{'x' * level}{row}", level, float(row)) for level in range(levels)
             for row in range(rows)]  # fmt: skip
    return pl.DataFrame(names, schema=["name", "level", "row"], orient="row")


@pytest.mark.parametrize(("levels", "rows"), [(3, 9), (6, 32), (1, 1)])
def test_graph__names_do_not_overlap(levels: int, rows: int):
    nodes = chain(levels, rows)
    edges = EDGES.clear().vstack(
        pl.DataFrame([("0", f"{rows - 1}", "up", "plain")], schema=EDGES.schema, orient="row")
    )
    names = drawn(nodes, edges)["names"]
    for one, two in combinations(names, 2):
        apart = abs(one["x"] - two["x"]) - LETTER / 2 * (len(one["name"]) + len(two["name"]))
        assert apart >= 0 or abs(one["y"] - two["y"]) >= 14, (one, two)
    assert all(row["x"] - LETTER / 2 * len(row["name"]) >= 0 for row in names)
    assert all(row["x"] + LETTER / 2 * len(row["name"]) <= WIDTH for row in names)


def test_graph__arrows_lead_from_source_to_target():
    edges = EDGES.with_columns(pl.col("source").replace(SHORT))
    rows = drawn(NODES.with_columns(pl.col("name").replace(SHORT)), edges)
    where = {row["name"]: (row["x"], row["y"]) for row in rows["names"]}
    for edge, head in zip(edges.iter_rows(named=True), rows["heads"], strict=True):
        source, target = where[edge["source"]], where[edge["target"]]
        assert head["y"] == pytest.approx(target[1], abs=4)
        if source[0] == target[0]:
            continue  # curved
        assert (head["x"] < target[0]) == (source[0] < target[0])
        direction = math.degrees(math.atan2(target[1] - source[1], target[0] - source[0]))
        assert head["angle"] == pytest.approx(direction, abs=6)


def test_graph__arrow_on_one_level_curves_to_the_right_of_its_names():
    rows = drawn()
    names = {row["name"]: row["x"] for row in rows["names"]}
    curve = [row["x"] for row in rows["lines"] if row["kind"] == "across"]
    assert len(curve) == 9
    assert min(curve) > names["x"] + LETTER / 2
    assert curve[4] == max(curve) < WIDTH


def test_graph__legend_names_the_kinds_that_are_drawn():
    both = graph(NODES, EDGES.filter(pl.col("kind") != "across"), **WORDS, kinds=KINDS)
    shown = texts(to_svg(both)).splitlines()
    assert "up" in shown
    assert shown.count(HOSTILE) == 2  # a name and a kind
    assert "across" not in shown
    one = texts(to_svg(graph(NODES, EDGES.filter(kind="up"), **WORDS, kinds=KINDS)))
    assert "up" not in one.splitlines()


def test_graph__styles_of_a_kind_do_not_depend_on_other_kinds():
    alone = to_svg(graph(NODES, EDGES.filter(kind="across"), **WORDS, kinds=KINDS))
    assert 'stroke-dasharray="1.5,2.5"' in alone


def test_graph__pale_and_bold_arrows_differ_from_plain_ones():
    lines = {row["edge"]: (row["opacity"], row["stroke"]) for row in drawn()["lines"]}
    pale, plain, bold, _ = (lines[edge] for edge in range(4))
    assert pale[0] < plain[0] == bold[0]
    assert pale[1] < plain[1] < bold[1]
