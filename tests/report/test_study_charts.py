"""Charts of a study: they say their numbers, at any size and with any names."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from irmeta.report import headroom, lengths, spreads
from irmeta.report.look import PRINT_WIDTH, to_print, to_svg

HOSTILE = "<script>alert('x')</script> & \"ü\"|\\"
LONG = "a-track-with-a-name-of-forty-characters-x"


def distribution(*tracks: int) -> pl.DataFrame:
    lows = [None, 1.0, 2.0, 5.0, 10.0, 20.0, 1000.0][: len(tracks)]
    return pl.DataFrame({"low": lows, "high": [*lows[1:], None], "tracks": tracks})


def tenths(*tracks: int) -> pl.DataFrame:
    edges = [math.nextafter(i / 10, 0.0) for i in range(11)]  # as sums of steps can come out
    return pl.DataFrame({"low": edges[:-1], "high": edges[1:], "tracks": tracks})


def best(names: list[str], measure: str = "ASL") -> pl.DataFrame:
    n = len(names)
    return pl.DataFrame(
        {
            "track": names,
            "measure": measure,
            "system": HOSTILE,
            "value": [1.25 + i for i in range(n)],
            "median": [31.5 * (i + 1) for i in range(n)],
        }
    )


def cut(names: list[str]) -> pl.DataFrame:
    n = len(names)
    return best(names).select(
        "track",
        "measure",
        pl.lit(100).alias("depth"),
        pl.col("system").alias("best"),
        "value",
        pl.Series("best_cut", ["another", *[HOSTILE] * n][:n], dtype=pl.String),
        pl.col("median").alias("value_cut"),
        pl.Series("tau", [0.75, math.nan, *[0.5] * n][:n], dtype=pl.Float64),
    )


def differences(*docs: int) -> pl.DataFrame:
    ends = [(-4, -2), (-1, -1), (0, 0), (1, 1), (2, 4)]
    if len(docs) == 1:
        ends = ends[2:3]
    low, high = zip(*ends, strict=True)
    return pl.DataFrame({"low": low, "high": high, "docs": docs})


def steps(tracks: int) -> pl.DataFrame:
    lines = [
        ("AP", 0, "AP, aggregate queries"),
        ("AP", 1, "AP, atomize P"),
        ("ERR", 0, "ERR, aggregate queries"),
        ("RR", 0, "ASL@g1"),
    ]
    return pl.DataFrame(
        [
            (f"{HOSTILE}{i}", *line, 30.0 + 20 * i, 0.9 - i / tracks / 2)
            for i in range(tracks)
            for line in lines
        ],
        schema={"track": pl.String, "chain": pl.String, "step": pl.Int32, "new": pl.String,
                "delta_sort": pl.Float64, "tau": pl.Float64},
        orient="row",
    )  # fmt: skip


def fractions(tracks: int, systems: int) -> pl.DataFrame:
    return pl.DataFrame(
        [
            (HOSTILE if t == 0 else f"track {t}", f"{HOSTILE}{s}", (s + 1) / (systems + 1))
            for t in range(tracks)
            for s in range(systems)
        ],
        schema={"track": pl.String, "system": pl.String, "fraction": pl.Float64},
        orient="row",
    )


def names(n: int) -> list[str]:
    return [HOSTILE, *(f"{i:02d}{LONG}"[:40] for i in range(n))][:n]


SOLVED = ((0.0, "far from solved"), (0.3, "between"), (0.5, "near-solved"))
BEYOND = ((20.0, "beyond user-visible rank 20"),)

CHARTS: dict[str, Callable[[], Any]] = {
    "lengths of best": lambda: headroom.best_distribution(
        distribution(0, 1, 2, 3, 4, 5, 6), "ASL@g10", BEYOND
    ),
    "scores of best": lambda: headroom.best_distribution(
        tenths(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), "P@20", SOLVED
    ),
    "one track's best": lambda: headroom.best_distribution(distribution(1), "AP"),
    "headroom": lambda: headroom.track_headroom(best(names(3)), "ASL"),
    "headroom of one": lambda: headroom.track_headroom(best(names(1), "AP"), "AP"),
    "headroom of 80": lambda: headroom.track_headroom(best(names(80)), "ASL"),
    "depth": lambda: headroom.depth_sensitivity(cut(names(3))),
    "depth of one": lambda: headroom.depth_sensitivity(cut(names(1))),
    "differences": lambda: lengths.length_differences(
        differences(30, 20, 10, 5, 35), HOSTILE, LONG, HOSTILE * 4
    ),
    "one bucket of differences": lambda: lengths.length_differences(
        differences(7), "a", "b", "t"
    ),
    "moves": lambda: spreads.chain_moves(steps(3)),
    "moves of one": lambda: spreads.chain_moves(steps(1)),
    "taus": lambda: spreads.chain_taus(steps(3)),
    "taus of 76": lambda: spreads.chain_taus(steps(76)),
    "fractions": lambda: spreads.effective_fractions(fractions(3, 10)),
    "fractions of one": lambda: spreads.effective_fractions(fractions(1, 1)),
    "fractions of 76": lambda: spreads.effective_fractions(fractions(76, 70)),
}  # fmt: skip


def texts(svg: str) -> str:
    """All that the image shows and all that its marks say, a line each."""
    return "\n".join(node.text or "" for node in ElementTree.fromstring(svg).iter())


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_one_well_formed_image_of_one_width(name: str) -> None:
    svg = to_svg(CHARTS[name]())
    root = ElementTree.fromstring(svg)
    assert "<script" not in svg
    assert root.get("width") == "520"
    assert to_svg(CHARTS[name]()) == svg
    CHARTS[name]().to_dict()  # which looks at it against the schema; drawing does not
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)]
    assert sizes
    assert min(sizes) >= 9


@pytest.mark.parametrize("name", ["lengths of best", "headroom", "differences", "moves"])
def test_images_are_made_twice_alike_and_at_the_size_asked(name: str) -> None:
    chart = CHARTS[name]()
    pdf, png = to_print(chart)
    assert png == to_print(CHARTS[name]())[1]
    assert png.startswith(b"\x89PNG\r\n")
    width = struct.unpack(">I", png[16:20])[0]
    assert abs(width - PRINT_WIDTH * 300 / 72) <= 1
    assert len(to_print(chart, ppi=72)[1]) < len(png)
    assert pdf.startswith(b"%PDF")


@pytest.mark.parametrize(
    "draw",
    [
        lambda: headroom.best_distribution(distribution(0, 0), "P@20"),
        lambda: headroom.best_distribution(distribution(0).clear(), "P@20"),
        lambda: headroom.track_headroom(best(names(2), "AP"), "ASL"),
        lambda: headroom.track_headroom(best(names(2)).with_columns(value=math.nan), "ASL"),
        lambda: headroom.depth_sensitivity(cut([])),
        lambda: lengths.length_differences(differences(0).clear(), "a", "b", "t"),
        lambda: spreads.chain_moves(steps(3).clear()),
        lambda: spreads.chain_taus(steps(2).with_columns(tau=pl.lit(None, pl.Float64))),
        lambda: spreads.effective_fractions(fractions(0, 0)),
    ],
)
def test_nothing_to_draw_says_so(draw: Callable[[], Any]) -> None:
    said = texts(to_svg(draw()))
    assert re.search(r"\bno\b", said.lower())


def test_buckets_of_lengths_say_their_ends_and_how_many_are_beyond_what_users_see() -> None:
    said = texts(to_svg(CHARTS["lengths of best"]()))
    for bucket in ("below 1: 0", "1–2: 1", "10–20: 4", "20–1,000: 5", "from 1,000: 6"):
        assert f"\n{bucket}\n" in said
    assert "beyond user-visible rank 20" in said
    assert "11 of 21 (52%)" in said


def test_buckets_of_scores_are_counted_in_the_paper_s_classes() -> None:
    said = texts(to_svg(CHARTS["scores of best"]()))
    assert "\n0.3–0.4: 3\n" in said
    for share in ("3 of 45 (7%)", "7 of 45 (16%)", "35 of 45 (78%)"):
        assert share in said


def test_a_class_that_cuts_through_a_bucket_is_not_drawn() -> None:
    halves = pl.DataFrame({"low": [0.0, 0.5], "high": [0.5, 1.0], "tracks": [2, 3]})
    said = texts(to_svg(headroom.best_distribution(halves, "P@20", SOLVED)))
    assert "\n0.0–0.5: 2\n" in said
    assert "solved" not in said


def test_only_whole_tracks_are_on_the_axis() -> None:
    said = texts(to_svg(headroom.best_distribution(distribution(0, 2), "ASL")))
    assert "\n0\n1\n2\n" in said


def drawn_order(svg: str, tracks: list[str]) -> list[str]:
    shown = texts(svg).split("\n")
    return sorted(tracks, key=shown.index)


@pytest.mark.parametrize(("measure", "first"), [("ASL", "b"), ("AP", "a")])
def test_the_best_track_comes_first(measure: str, first: str) -> None:
    frame = pl.DataFrame({"track": ["a", "b"], "measure": measure, "system": "s",
                          "value": [0.75, 0.25], "median": [0.5, 0.5]})  # fmt: skip
    svg = to_svg(headroom.track_headroom(frame, measure))
    assert drawn_order(svg, ["a", "b"])[0] == first


def test_headroom_says_both_values_and_counts_what_it_leaves_out() -> None:
    frame = best(["a", "b", "c"]).with_columns(
        value=pl.Series([0.0, 12.5, None]), median=pl.Series([None, 1250.0, 3.0])
    )
    said = texts(to_svg(headroom.track_headroom(frame, "ASL")))
    assert "12.5 / 1,250.0" in said
    assert "0.0 / —" in said
    assert "1 without a value left out" in said
    assert "b: median system: 1,250.0" in said


def test_depth_says_the_orders_and_how_often_another_system_wins() -> None:
    said = texts(to_svg(CHARTS["depth"]()))
    assert "another system becomes the best in 1 of 3 tracks" in said
    assert "\n0.75\n—\n0.50\n" in said


def test_differences_say_who_wins_how_often() -> None:
    said = texts(to_svg(CHARTS["differences"]()))
    assert "best wins: 50 (50%)" in said
    assert "median wins: 40 (40%)" in said
    assert "100 relevant docs; ties: 10 (10%)" in said
    assert "\n\u22124 to \u22122: 30\n" in said
    assert HOSTILE in said


def test_a_title_too_long_for_the_figure_is_cut() -> None:
    title = "T" * 120
    said = texts(to_svg(lengths.length_differences(differences(7), "a", "b", title)))
    assert re.search(r"^T+…$", said, re.MULTILINE)


def test_moves_say_mean_and_sd_chains_in_the_order_in_which_they_come() -> None:
    svg = to_svg(CHARTS["moves"]())
    said = texts(svg)
    assert said.count("50 ± 20") == 4  # 30, 50 and 70 in each line
    assert said.count("3 tracks") == 4
    lines = ["AP, step 1", "AP, cumulative", "ERR, cumulative", "RR, cumulative"]
    assert drawn_order(svg, lines) == lines
    assert "to ASL@g1" in said
    assert "atomize P" in said
    assert "AP, atomize P" not in said
    assert "\n30\n" in texts(to_svg(CHARTS["moves of one"]()))  # no sd of one track


def test_an_undefined_tau_is_left_out_of_its_line_alone() -> None:
    first = pl.col("track") == HOSTILE + "0"
    gap = pl.when(first & (pl.col("chain") == "RR")).then(math.nan).otherwise("tau").alias("tau")
    said = texts(to_svg(spreads.chain_taus(steps(3).with_columns(gap))))
    assert said.count("3 tracks") == 3
    assert said.count("2 tracks") == 1


def test_fractions_say_their_means_and_the_paper_s() -> None:
    frame = pl.concat([fractions(2, 3), pl.DataFrame(
        {"track": ["track 1"], "system": ["undefined"], "fraction": [math.nan]})])  # fmt: skip
    said = texts(to_svg(spreads.effective_fractions(frame, 0.57)))
    assert "mean of 2 tracks: 50% ± 0%" in said
    assert "left out: 1" in said
    assert "paper 57%" in said
    assert "track 1: mean: 50.0%" in said


@pytest.mark.parametrize("module", [headroom, lengths, spreads])
def test_each_chart_has_a_line_on_how_to_read_it(module: Any) -> None:
    charts = [
        name
        for name, value in vars(module).items()
        if getattr(value, "__annotations__", {}).get("return") == "alt.LayerChart"
        and value.__module__ == module.__name__
        and not name.startswith("_")
    ]
    assert charts
    assert sorted(module.READING) == sorted(charts)
