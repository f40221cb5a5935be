"""The figures of the study of recall-paired preference, from small made tables."""

from __future__ import annotations

import math
from functools import partial
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from irmeta.report.theme import to_spec, to_svg
from irmeta.schema.columns import by_name
from irmeta.studies.framework.study import Study, Tables
from irmeta.studies.papers.preference.page import FIGURES
from irmeta.studies.papers.preference.study import TABLES, PreferenceOptions
from support.charting import drawn_rows
from support.study_tables import drawn_figures, headings, rows_as, shown

DECLARED = by_name(TABLES)
STUDY = Study("preference", "", "", "", 1, PreferenceOptions, TABLES, None, None, figures=FIGURES)
OPTIONS = PreferenceOptions()
PANELS = ("AP", "nDCG", OPTIONS.search_length, "RR", "OI", "OI(p=dcg)")
SYSTEMS = {"query": "q", "system_a": "best", "system_b": "median"}
DELTAS = ("AP", "AvgSL", "DCG", "ISL", "RBP", "RPP", "RR", "TSL")
MINUS = "\u2212"


made = partial(rows_as, DECLARED)


def levels(count: int) -> dict[str, pl.DataFrame]:
    """Return the tables of Figure 4 for a query of some relevant docs."""
    t = {"track": "t"}
    every = range(1, count + 1)
    lists = [
        t | SYSTEMS | {"level": i, "recall": i / count, "precision_a": 1 / i, "precision_b": 0.25}
        for i in every
    ]
    deltas = [
        t | {"measure": m, "level": i, "scaled": n / 100 + i / 1000 if i != 2 else -0.75}
        for n, m in enumerate(DELTAS) for i in every
    ]  # fmt: skip
    return {"figure_4": made("figure_4", lists), "figure_4_deltas": made("figure_4_deltas", deltas)}


def replicated(name: str, keys: list[dict[str, Any]]) -> pl.DataFrame:
    spread = {"replicates": 20, "undefined": 0, "mean": 0.5, "low": 0.25, "high": 0.75}
    return made(name, [
        {"track": "t", "measure": m} | spread | {"mean": 0.5 + n / 100} | key
        for n, m in enumerate(OPTIONS.compared) for key in keys
    ]).sort("measure", maintain_order=True)  # fmt: skip


def made_tables(**more: pl.DataFrame) -> Tables:
    t = {"track": "t"}
    tables = levels(6) | {
        "figure_2": made("figure_2", [
            t | {"discount": d, "delta": x, "share": share}
            for d in ("DCG", "RBP", "sign") for x, share in ((-1, 0.25), (0, 0.75), (1, 1))
        ]),
        "unequal_levels": made("unequal_levels", [
            t | {"levels": 100, "unequal": 58, "neither": 40, "share": 0.58, "share_reached": 0.96}
        ]),
        "figure_5": made("figure_5", [
            t | {"measure_a": a, "measure_b": b, "points": 900, "r": n / 10, "sa": 0.9, "drawn": 2}
            for a in ("AP", "RPP") for n, b in enumerate(PANELS)
        ]),
        "figure_5_points": made("figure_5_points", [
            t | SYSTEMS | {"measure": m, "point": i + 1, "preference": x, "difference": 1.0,
                           "same_sign": x > 0}
            for m in sorted(PANELS) for i, x in enumerate((0.5, -0.5))
        ]),
        "figure_6": replicated("figure_6", [{"queries": k} for k in (5, 10, 50)]),
        "figure_7": replicated("figure_7", [
            {"labels": labels, "removed": x} for labels in ("pool", "random") for x in (0.1, 0.9)
        ]),
        "ties": made("ties", [
            {"track": track, "measure": m, "tied": tied, "deciding_levels": share}
            for track, tied in (("t", 0.25), ("u", 0.75))
            for m, share in (("AP", 0.5), ("OI", math.nan), ("RPP", 0.5), ("RR", 0.01))
        ]),
    }  # fmt: skip
    return tables | more


drawn = partial(drawn_figures, STUDY)


def test_figures__all_are_drawn_with_caption_and_reading():
    found = drawn(made_tables(), None) | drawn(made_tables())
    assert list(found) == [
        "ties", "figure_2", "figure_4", "figure_4_deltas", "figure_5", "figure_6", "figure_7",
    ]  # fmt: skip
    for name, one in found.items():
        one.draw().to_dict()  # validates the schema
        assert ElementTree.fromstring(to_svg(one.draw())).get("width") == "520", name
        assert one.caption.endswith(".")
        assert one.reading.endswith(".")
        if name.startswith("figure"):
            assert one.caption.startswith(f"Figure {name.split('_')[1]}")


def test_figure_2__surfaces_by_formula_beside_the_shares_of_the_table():
    one = drawn(made_tables())["figure_2"]
    assert headings(one) == [
        "(a) RBP, g = 0.5", "(b) DCG", "(c) sign, as in RPP",
        "(d) share with at most that difference",
    ]  # fmt: skip
    assert "ranks differ at 58.0% of recall levels, 96.0% of those that a list reaches" in shown(
        one
    )
    rows = drawn_rows(one.draw())
    shares = {(r["name"], r["x"], r["y"]) for r in rows if "name" in r}
    assert shares == {
        (name, x, y)
        for name in ("RBP, g = 0.5", "DCG", "sign, as in RPP")
        for x, y in ((-1, 0.25), (0, 0.75), (1, 1))
    }


HIGH, MIDDLE, LOW, ZERO = "0.3 or more", "0.1 to 0.3", "0.02 to 0.1", f"{MINUS}0.02 to 0.02"


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        # 1 / 2^(f - 1): 1, .5, .25, .125, .0625, .0313, .0156
        (0, [(HIGH, 2), (MIDDLE, 2), (LOW, 2), (ZERO, 19)]),
        # 1 / log2(f + 1) - .213: .418 at 2, .287 at 3, .102 at 8, .088 at 9, .021 at 18, .019 at 19
        (1, [(HIGH, 2), (MIDDLE, 6), (LOW, 10), (ZERO, 7)]),
        (2, [(HIGH, 24), (ZERO, 1)]),
    ],
)
def test_figure_2__differences_from_rank_25(number: int, expected: list[tuple[str, int]]):
    spec = to_spec(drawn(made_tables())["figure_2"].draw())
    rows = spec["datasets"][spec["concat"][number]["data"]["name"]]
    strips = [(r["band"], r["stop"] - r["start"]) for r in rows if r["y"] == 25]
    assert strips == expected


def test_figure_2__unknown_shares_are_undefined():
    unknown = made_tables()["unequal_levels"].with_columns(share_reached=math.nan)
    for rows in (unknown, unknown.clear()):
        one = drawn(made_tables(unequal_levels=rows))["figure_2"]
        assert any("undefined of those that a list reaches" in text for text in shown(one))


def test_figure_4__precision_of_both_lists_by_recall():
    one = drawn(made_tables())["figure_4"]
    points = {(r["name"], r["x"], r["y"]) for r in drawn_rows(one.draw()) if "style" in r}
    assert points == {("best", i / 6, 1 / i) for i in range(1, 7)} | {
        ("median", i / 6, 0.25) for i in range(1, 7)
    }
    assert "best and median" in one.caption
    assert "query q" in one.caption
    assert any(text.startswith("at the ranks of 6 relevant docs") for text in shown(one))


def test_figure_4__one_relevant_doc():
    for one in drawn(made_tables(**levels(1))).values():
        to_svg(one.draw())
    one = drawn(made_tables(**levels(1)))["figure_4"]
    assert "at the ranks of 1 relevant doc; 0 where not retrieved" in shown(one)


def test_figure_4_deltas__measures_in_the_order_of_the_paper():
    seen = shown(drawn(made_tables())["figure_4_deltas"])
    assert [text for text in seen if text in DELTAS] == [
        "RBP", "AP", "DCG", "RR", "ISL", "TSL", "AvgSL", "RPP"
    ]  # fmt: skip
    assert [text for text in seen if text.startswith("i = ")] == [f"i = {i}" for i in range(1, 7)]
    assert seen.count(f"{MINUS}0.75") == len(DELTAS)
    assert "positive: best is better than median" in seen


def test_figure_4_deltas__of_many_levels_those_with_the_largest_magnitude():
    one = drawn(made_tables(**levels(30)))["figure_4_deltas"]
    seen = [text for text in shown(one) if text.startswith("i = ")]
    assert seen == ["i = 2", *(f"i = {i}" for i in range(18, 31))]
    assert "positive: best is better than median; 14 of 30 levels" in shown(one)


def test_figure_5__panels_with_agreement_and_different_signs_in_the_second_colour():
    one = drawn(made_tables())["figure_5"]
    assert headings(one) == ["(a) AP", "(b) nDCG", f"(c) {MINUS}{OPTIONS.search_length}, docs",
                             "(d) RR", "(e) OI", "(f) OI(p=dcg)"]  # fmt: skip
    seen = shown(one)
    assert [text for text in seen if text.startswith("r = ")] == [
        f"r = {n / 10:.2f}, sa = 0.90" for n in range(6)
    ]
    assert "2 of 900 pairs of systems on one query; sa: share with equal signs" in seen
    paths = [row for row in drawn_rows(one.draw()) if "kind" in row]
    assert [(r["kind"], r["y"][0]) for r in paths] == 6 * [
        ("equal signs", pytest.approx(0.5, abs=0.01)),
        ("different signs", pytest.approx(-0.5, abs=0.01)),
    ]


def test_figure_5__undefined_correlation_and_all_points_drawn():
    agreement = made_tables()["figure_5"].with_columns(r=math.nan, points=2)
    agreement = agreement.with_columns(pl.col("points").cast(pl.Int64))
    seen = shown(drawn(made_tables(figure_5=agreement))["figure_5"])
    assert seen.count("r = undefined, sa = 0.90") == 6
    assert "2 pairs of systems on one query; sa: share with equal signs" in seen


def test_figure_6__all_means_in_one_pane_and_quantiles_of_rpp_and_ndcg():
    one = drawn(made_tables())["figure_6"]
    assert headings(one) == ["tau-b with the order by all queries"]
    rows = [row for row in drawn_rows(one.draw()) if "style" in row]
    assert [*dict.fromkeys(r["name"] for r in rows)] == [*OPTIONS.compared]
    assert {r["x"] for r in rows} == {5, 10, 50}
    bands = {r["name"]: (r["low"], r["high"]) for r in rows if r["low"] is not None}
    assert bands == dict.fromkeys(("RPP", "nDCG"), (0.25, 0.75))
    for n, name in enumerate(OPTIONS.compared):
        assert {r["y"] for r in rows if r["name"] == name} == {0.5 + n / 100}
    assert any("mean of up to 20 random samples" in text for text in shown(one))


def test_figure_6__a_measure_without_values_has_no_curve():
    rows = made_tables()["figure_6"]
    gone = pl.when(pl.col("measure") == "RR").then(math.nan)
    rows = rows.with_columns(gone.otherwise(name).alias(name) for name in ("mean", "low", "high"))
    found = drawn_rows(drawn(made_tables(figure_6=rows))["figure_6"].draw())
    assert {row["name"] for row in found if row.get("y") is not None} == (
        {*OPTIONS.compared} - {"RR"}
    )


def test_figure_7__panes_by_docs_removed_first():
    one = drawn(made_tables())["figure_7"]
    assert headings(one) == [
        "(a) docs at random: tau-b", "(b) least retrieved docs first: tau-b",
    ]  # fmt: skip
    assert {row["x"] for row in drawn_rows(one.draw()) if "style" in row} == {0.1, 0.9}
    rows = made_tables()["figure_7"].filter(labels="random")
    assert len(headings(drawn(made_tables(figure_7=rows))["figure_7"])) == 1


def test_ties__a_row_per_measure_in_the_order_of_the_study():
    found = drawn(made_tables(), None)
    seen = shown(found["ties"])
    assert [text for text in seen if text in ("AP", "OI", "RPP", "RR")] == [
        "RPP",
        "AP",
        "RR",
        "OI",
    ]
    assert seen.count("50.00%") == 4, "the mean of both tracks"


def test_figures__names_of_the_chosen_options():
    chosen = PreferenceOptions(rel=2)
    names = dict(zip(OPTIONS.compared, chosen.compared, strict=True))
    names |= dict(zip(OPTIONS.interleavings, chosen.interleavings, strict=True))
    names[OPTIONS.search_length] = chosen.search_length
    assert names["RPP"] == "RPP(rel=2)"
    assert chosen.measures == ("AP(rel=2)", "nDCG(rel=2)", "RR(rel=2)")
    tables = made_tables()
    agreement = tables["figure_5"].with_columns(pl.col("measure_a", "measure_b").replace(names))
    points = tables["figure_5_points"].with_columns(pl.col("measure").replace(names))
    queries = tables["figure_6"].with_columns(pl.col("measure").replace(names))
    tables = made_tables(figure_5=agreement, figure_5_points=points, figure_6=queries)
    found = drawn(tables, rel=2)
    assert "RPP(rel=2)" in found["figure_5"].caption
    assert headings(found["figure_5"])[::3] == ["(a) AP(rel=2)", "(d) RR(rel=2)"]
    lines = {row["name"] for row in drawn_rows(found["figure_6"].draw()) if "style" in row}
    assert lines == {*chosen.compared}
