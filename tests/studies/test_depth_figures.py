"""The figures of the study of pooling and evaluation depth, from small made tables."""

from __future__ import annotations

import csv
import math
import re
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from irmeta.report.theme import to_spec, to_svg
from irmeta.schema.columns import by_name
from irmeta.studies.framework.study import Study, Tables
from irmeta.studies.framework.study_figures import Drawn
from irmeta.studies.papers.depth.figures import FIGURES
from irmeta.studies.papers.depth.study import CUTOFFS, TABLES, VOLATILITY_TRACKS, DepthOptions
from support.study_tables import drawn_figures, rows_as, shown

DECLARED = by_name((*TABLES, VOLATILITY_TRACKS))
STUDY = Study("depth", "", "", "", 1, DepthOptions, TABLES, None, None, figures=FIGURES)
RUNS = [f"run{n:02}" for n in range(45)]
AP, NDCG = "AP(norm=min)", "nDCG"


made = partial(rows_as, DECLARED)


def score(system: int, k: int) -> float:
    return (system + 1) / 50 / math.log2(1 + k)


def made_tables(**more: pl.DataFrame) -> Tables:
    t = {"track": "t"}
    pooled = t | {"depth": 7}
    every: dict[str, list[dict[str, Any]]] = {
        "collections": [t | {"depth": "7", "depth_source": "given"}],
        "pool_growth": [
            t | {"depth": d, "relevant_per_query": 2.5 * d, "new_relevant_rate": 1 / d,
                 "comprehensive": d <= 7}
            for d in (1, 2, 7, 10)
        ],
        "judged_by_rank": [t | {"rank": r, "share": 1 / r} for r in range(1, 120)],
        "score_curves": [
            t | {"measure": m, "lists": lists, "depth": d, "system": run, "k": k,
                 "value": score(n, k)}
            for m in (AP, NDCG) for lists in ("condensed", "full") for d in (7, 20)
            for n, run in enumerate(RUNS) for k in (1, 10, 100)
        ],
        "table_7": [
            pooled | {"measure": m, "lists": lists, "k": k, "reference_k": 7, "pairs": 990,
                      "discrimination": 0.5, "coverage": 0.8, "inversion": 0.0, "median_p": 0.05,
                      "tau_b": 0.9, "pearson": math.nan}
            for m in (AP, NDCG, "RR") for lists in ("full", "condensed") for k in (*CUTOFFS, None)
        ],
        "volatility": [
            pooled | {"depth": d, "measure_a": a, "measure_b": b, "k_a": i, "k_b": j,
                      "method": "tau-b", "value": math.nan if i == j == 1 else 1 - abs(i - j) / 9}
            for d in (7, 20) for a, b in DepthOptions().matrices
            for i in range(1, 10) for j in range(1, 10)
        ],
        "volatility_tracks": [
            {"group": group, "measure_a": m, "measure_b": m, "k_a": i, "k_b": j, "tracks": n,
             "value": 1 - abs(i - j) / 9}
            for m in (AP, "ERR", NDCG) for n, group in ((3, "all tracks"), (2, "web"), (1, "news"))
            for i in range(1, 10) for j in range(1, 10)
        ],
        "leave_out": [
            pooled | {"level": level, "left_out": run, "system": run, "measure": f"{m}@{k}",
                      "judgments": judgments, "k": k, "rank": n + 1,
                      "rank_left_out": n + 1 + n * (-1) ** n if n else None}
            for level in ("run", "group") for judgments in ("pool", "all") for k in (7, 20)
            for m in (AP, NDCG) for n, run in enumerate(RUNS)
        ],
        "pool_budget": [
            t | {"measure": m, "depth": d, "judged": 100 * d, "tau_b": 0.8 + d / 100}
            for m in (AP, NDCG) for d in (0, 1, 2, 7)
        ],
    }  # fmt: skip
    studied = {"studied_tracks": pl.DataFrame({"track": ["t", "u"], "used": True})}
    return {name: made(name, rows) for name, rows in every.items()} | studied | more


drawn = partial(drawn_figures, STUDY)


def data(one: Drawn) -> list[dict[str, Any]]:
    """Return the rows of all data of a figure, except lines and labels at values of an axis."""
    datasets = to_spec(one.draw())["datasets"].items()
    return [row for name, rows in datasets if name.startswith("rows") for row in rows]


def test_figures__all_are_drawn_with_caption_reading_and_source_of_the_depth():
    found = drawn(made_tables(), None) | drawn(made_tables())
    assert list(found) == [
        "figure_1", "judged_ranks", "figure_4_tracks", "figure_5_tracks", "figure_6_tracks",
        "score_curves_ap_norm_min", "score_curves_ndcg", "figure_4", "figure_5", "figure_6",
        "figure_7", "figure_beyond", "leave_out_ranks", "budget",
    ]  # fmt: skip
    for name, one in found.items():
        one.draw().to_dict()  # validates the schema
        svg = to_svg(one.draw())
        width = ElementTree.fromstring(svg).get("width")
        assert width == "520" or name == "figure_beyond", "a single map is narrower"
        assert one.caption.endswith(".")
        assert one.reading
        if name not in ("figure_1", "judged_ranks", "budget") and not name.endswith("_tracks"):
            assert "pool of depth 7 (given)" in one.caption, name


def test_figure_5_tracks__groups_side_by_side_or_all_tracks():
    figure = drawn(made_tables(), None)["figure_5_tracks"]
    axes = [text for text in shown(figure) if text.startswith("cutoff of") and "," in text]
    assert axes == [
        f"cutoff of {measure}, {group}"
        for group in ("news (1)", "web (2)")
        for measure in (AP, NDCG)
    ]
    every = made_tables()["volatility_tracks"].filter(group="all tracks")
    alone = drawn(made_tables(volatility_tracks=every), None)["figure_5_tracks"]
    assert f"cutoff of {AP}, all tracks (3)" in shown(alone)


def test_judged_ranks__every_rank_to_50_and_the_source_of_the_depth():
    one = drawn(made_tables(), None)["judged_ranks"]
    rows = [row for row in data(one) if "style" in row]
    assert {row["x"] for row in rows} == {*range(1, 51), 70, 100}
    assert one.caption.endswith("by rank; t: d = 7 (given).")


def test_figure_1__dashed_from_the_last_comprehensive_depth_on():
    rows = [row for row in data(drawn(made_tables(), None)["figure_1"]) if "style" in row]
    growth = {
        dashed: sorted({(r["x"], r["y"]) for r in rows if r["dashed"] == dashed and r["y"] > 1})
        for dashed in (False, True)
    }
    assert growth == {
        False: [(1, 2.5), (2, 5.0), (7, 17.5)],
        True: [(7, 17.5), (10, 25.0)],
    }


def test_figure_1__a_pool_that_is_complete_at_no_depth_is_dashed():
    rows = made_tables()["pool_growth"].with_columns(comprehensive=False)
    seen = data(drawn(made_tables(pool_growth=rows), None)["figure_1"])
    assert {row["dashed"] for row in seen} == {True}


@pytest.mark.parametrize(("depths", "expected"), [((), 7), ((20, 7), 20), ((7, 20), 7)])
def test_score_curves__only_the_first_depth(depths: tuple[int, ...], expected: int):
    scores = made_tables()["score_curves"]
    scores = scores.with_columns(value=pl.col("value") * pl.col("depth"))
    one = drawn(made_tables(score_curves=scores), pool_depths=depths)["score_curves_ndcg"]
    assert f"pool of depth {expected} (given)" in one.caption
    lines = {row["name"]: row for row in data(one) if isinstance(row["x"], list)}
    assert lines["run44"]["x"] == [1, 10, 100]
    tolerance = 0.01 * expected  # rounded to a quarter of a pixel
    for k, value in zip((1, 10, 100), lines["run44"]["y"], strict=True):
        assert value == pytest.approx(expected * score(44, k), abs=tolerance)
    seen = shown(one)
    assert seen.count(f"d = {expected}") == 2
    assert {text for text in seen if text in RUNS} == {"run00", "run44"}, "the furthest ones"
    middle = [row for row in data(one) if row.get("x") == 100 and "median" in row]
    assert [row["median"] for row in middle] == pytest.approx([expected * score(22, 100)] * 2)


def test_figure_4__cutoffs_of_the_drawn_measure_with_condensed_lists_dashed():
    rows = made_tables()["table_7"]
    other = rows.filter(measure="RR").with_columns(discrimination=pl.lit(0.25))
    tables = made_tables(table_7=pl.concat([rows.filter(pl.col("measure") != "RR"), other]))
    for measure, expected in ((None, 0.5), ("RR", 0.25)):
        one = drawn(tables, figure_measure=measure)["figure_4"]
        lines = [row for row in data(one) if row["pane"] == "discrimination" and "style" in row]
        assert {row["y"] for row in lines} == {expected}
        assert {row["x"] for row in lines} == set(CUTOFFS)
        assert {row["style"] for row in lines} == {"full lists", "condensed lists"}
        assert all(row["dashed"] == (row["style"] == "condensed lists") for row in lines)
    seen = shown(one)
    assert "Pearson's r with the reference" not in seen, "undefined at every cutoff"
    assert seen.count("k = 7") == 5
    assert "990 pairs of systems; reference: RR at k = 7" in seen


def test_figure_4_tracks__a_line_for_each_track_marked_at_its_reference():
    pooled = made_tables()["table_7"]
    table = pl.concat([pooled, pooled.with_columns(depth=20, reference_k=20)])
    table = table.cast(pooled.schema)
    both = pl.concat([table, table.with_columns(track=pl.lit("u"), reference_k=10)])
    one = drawn(made_tables(table_7=both.cast(table.schema)), None)["figure_4_tracks"]
    marked = {(row["name"], row["x"]) for row in data(one) if row.get("marked")}
    assert marked == {("t", 7), ("u", 10)}
    many = pl.concat([table.with_columns(track=pl.lit(f"t{n}")) for n in range(5)])
    one = drawn(made_tables(table_7=many.cast(table.schema)), None)["figure_4_tracks"]
    assert not any(row["dashed"] for row in data(one)), "full lists alone"


@pytest.mark.parametrize(("least", "band"), [(0.81, "0.98 or more"), (0.79, "0.9 or more")])
def test_figure_5__has_narrow_bands_where_all_orders_are_similar(least: float, band: str):
    high = pl.when(pl.col("k_a") == 1).then(least).otherwise(0.99)
    rows = made_tables()["volatility"].with_columns(value=high)
    bands = {row["band"] for row in data(drawn(made_tables(volatility=rows))["figure_5"])}
    assert band in bands


def test_figure_7__maps_of_the_first_depth_in_the_order_of_the_paper():
    one = drawn(made_tables())["figure_7"]
    panes = to_spec(one.draw())["concat"]
    axes = [tuple(pane["layer"][0]["encoding"][axis]["title"] for axis in "xy") for pane in panes]
    pairs = [pair for pair, figure in DepthOptions().matrices.items() if figure == "7"]
    assert axes == [(f"cutoff of {a}", f"cutoff of {b}") for a, b in pairs]
    rows = data(one)
    assert sum(row["band"] == "undefined" for row in rows) == len(pairs) == 6
    cells = sum(row["stop"] - row["start"] for row in rows)
    assert cells == 9 * 9 * len(pairs), "one depth only"
    wide = sum(r["stop"] - r["start"] for r in rows if r["band"] == "0.9 or more")
    assert wide == 8 * len(pairs), "the diagonal without the undefined cell"
    assert any("lines: d = 7" in text for text in shown(one))


def test_figure_7__k_of_the_first_measure_is_across():
    rows = made_tables()["volatility"].with_columns(value=pl.col("k_a") / 10)
    one = drawn(made_tables(volatility=rows))["figure_beyond"]
    assert {(r["start"], r["band"]) for r in data(one) if r["y"] == 9} >= {
        (0.5, "below 0.5"), (8.5, "0.9 or more")
    }  # fmt: skip


def test_leave_out_ranks__the_runs_that_move_most_before_and_after():
    one = drawn(made_tables())["leave_out_ranks"]
    seen = shown(one)
    assert any(text.startswith("40 of 45 left-out runs that move most") for text in seen)
    runs = [text for text in seen if text.startswith("run")]
    assert runs == RUNS[5:], "move n has run n; the first run has no rank afterwards"
    assert [text for text in seen if re.fullmatch(r"[+-]\d+", text)] == [
        f"{n * (-1) ** n:+d}" for n in range(5, 45)
    ]
    assert AP in one.caption
    assert "Table 5" in one.caption


def test_leave_out_ranks__cutoff_as_asked():
    caption = drawn(made_tables(), leave_out_ks=(20, 7))["leave_out_ranks"].caption
    assert f"{AP}@20" in caption
    assert f"{AP}@7" in drawn(made_tables())["leave_out_ranks"].caption


def test_budget__correlation_by_judged_docs_with_depths_above():
    one = drawn(made_tables())["budget"]
    points = sorted({(row["x"], row["y"]) for row in data(one)})
    assert points == [(100, 0.81), (200, pytest.approx(0.82)), (700, pytest.approx(0.87))]
    seen = shown(one)
    assert [text for text in seen if text in ("0", "1", "2", "7")] == ["1", "2", "7"]
    assert any("tau-b of 0.9" in text for text in seen)


def test_score_curves__emphasised_systems_of_a_real_track(shared: Path):
    path = shared / "oracles" / "depth_study" / "means_by_k.csv"
    with path.open(newline="") as file:
        means = [row for row in csv.DictReader(file) if row["measure"] == AP]
    rows = [
        {"track": "t", "measure": AP, "lists": row["lists"], "depth": 7, "system": row["system"],
         "k": k, "value": float(row[f"k{k}"])}
        for row in means for k in CUTOFFS
    ]  # fmt: skip
    one = drawn(made_tables(score_curves=made("score_curves", rows)))["score_curves_ap_norm_min"]
    seen = shown(one)
    for lists in ("full", "condensed"):
        inside = {r["system"]: [float(r[f"k{k}"]) for k in CUTOFFS] for r in means
                  if r["lists"] == lists}  # fmt: skip
        assert len(inside) == 56
        medians = [median(values) for values in zip(*inside.values(), strict=True)]
        apart = {system: fmean(v - m for v, m in zip(values, medians, strict=True))
                 for system, values in inside.items()}  # fmt: skip
        assert min(apart, key=apart.__getitem__) in seen
        assert max(apart, key=apart.__getitem__) in seen
