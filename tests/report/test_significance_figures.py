"""Figures of significant differences: names, pairs, curves and corrections."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.report.figures import (
    achieved_significance,
    baseline_differences,
    pairwise_significance,
)
from irmeta.report.theme import PRINT_WIDTH, fit_width, svg_of, to_spec
from support.charting import drawn_rows, p_values, systems, texts
from support.text_boxes import collisions, outside


def printed(chart: Any) -> list[str]:
    """Return the texts of a chart as wide as a column, after a check of their places."""
    svg = svg_of(fit_width(to_spec(chart), PRINT_WIDTH))
    assert collisions(svg) + outside(svg) == []
    return texts(svg).split("\n")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("size", "named"), [(22, 21), (23, 23), (40, 40), (41, 20), (143, 20)])
def test_pairwise_significance__names_of_all_or_of_the_best(size: int, named: int):
    chart = pairwise_significance(p_values(size), systems(size), "T", 0.05, "corrected by holm")
    shown = printed(chart)
    rows = systems(size)[1:] if size == 22 else [f"{i + 1}. s{i}" for i in range(size)]
    assert [name for name in rows if name in shown] == rows[:named]
    assert any("(p <= 0.05, corrected by holm)" in text for text in shown)


def test_pairwise_significance__draws_each_pair_once():
    frame = p_values(50)
    strips = drawn_rows(pairwise_significance(frame, systems(50), "T", 0.05))
    drawn = [
        (row["row"], column, row["is"] == "significantly different")
        for row in strips
        for column in range(int(row["start"] - 0.5), int(row["stop"] - 0.5))
    ]
    expected = [(int(b[1:]), int(a[1:]), p <= 0.05) for a, b, p in frame.iter_rows()]  # a is worse
    assert sorted(drawn) == sorted(expected)


def against(size: int) -> pl.DataFrame:
    """Return the differences of systems from the one in the middle, best first."""
    names, middle = systems(size), size // 2
    differences = [(middle - i) / size for i in range(size)]
    kinds = ["baseline" if i == middle else "better" if i < 5 else "not different"
             for i in range(size)]  # fmt: skip
    frame = pl.DataFrame({"system": names, "difference": differences, "verdict": kinds})
    ends = {"low": pl.col("difference") - 0.1, "high": pl.col("difference") + 0.1}
    return frame.with_columns(**ends, interval=pl.lit("uncorrected"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [41, 143])
def test_baseline_differences__names_the_best_and_the_neighbours(size: int):
    shown = printed(baseline_differences(against(size), f"s{size // 2}", "T", 0.05, "uncorrected"))
    middle, names = size // 2, systems(size)
    near = [*range(middle - 5, middle), *range(middle + 1, middle + 6)]
    expected = range(size) if size == 41 else [*range(10), *near, size - 1]
    assert [i for i, name in enumerate(names) if name in shown] == [
        i for i in expected if i != middle
    ]
    assert any("5 of" in text and "(p <= 0.05, uncorrected)" in text for text in shown)


def curves_of(number: int, pairs: int = 190) -> pl.DataFrame:
    """Return falling p-values of some measures; those of a later measure are greater."""
    rank = np.arange(1, pairs + 1)
    frames = [
        pl.DataFrame({"measure": f"measure{i}", "rank": rank, "p": np.exp(-rank / (10 + 3 * i))})
        for i in range(number)
    ]
    return pl.concat(frames)


@pytest.mark.exhaustive
def test_achieved_significance__labels_in_the_order_of_the_curves():
    chart = achieved_significance(curves_of(12), [0.05, 0.01], "T", "uncorrected")
    shown = printed(chart)
    assert [text for text in shown if text.startswith("measure")] == [
        f"measure{i}" for i in range(12)
    ]
    assert any("p-values of 190 pairs, uncorrected, up to 0.15; dashed: 0.05" in t for t in shown)
    curves = to_spec(chart)["datasets"]["curves"]
    styles = {(row["name"], row["colour"], row["dash"]) for row in curves}
    assert len(styles) == 12
    assert len({style[1:] for style in styles}) == 12, "in black and white by the dashes"
    assert len({style[2] for style in styles}) == 7
    assert max(row["y"] for row in curves) == 0.15


@pytest.mark.exhaustive
def test_achieved_significance__of_many_curves_some_have_labels():
    shown = printed(achieved_significance(curves_of(60), [0.05], "T"))
    labels = [int(text[7:]) for text in shown if text.startswith("measure")]
    assert len(labels) >= 15
    assert labels == sorted(labels)
    assert len(set(np.diff(labels))) == 1


def test_achieved_significance__without_small_p_values_shows_all():
    frame = curves_of(2).filter(pl.col("p") > 0.3)
    chart = achieved_significance(frame, [0.05], "T")
    assert not any("up to" in text for text in printed(chart))
    assert len(to_spec(chart)["datasets"]["curves"]) == frame.height


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("test", "correction", "words"),
    [
        ("t", "holm", "lines: uncorrected 90% confidence intervals"),
        ("t", "bonferroni", "lines: simultaneous 90% confidence intervals"),
        ("max-t", "none", "lines: simultaneous 90% confidence intervals"),
        ("sign", "holm", ""),
    ],
)
def test_compare__figure_and_table_name_the_kind_of_interval(
    made_store: irmeta.Store, test: str, correction: str, words: str
):
    (comparison,) = irmeta.compare(
        made_store, "AP", track="news", baseline="aldBM25", test=test, correction=correction,
        alpha=0.1, resamples=99,
    )  # fmt: skip
    subtitle = str(to_spec(comparison.show())["title"]["subtitle"]).replace("', '", " ")
    assert words in subtitle
    assert ("lines" in subtitle) is bool(words)
    kinds = comparison.systems.filter(pl.col("verdict") != "baseline")["interval"].unique()
    assert kinds.to_list() == [words.split()[1] if words else None]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("test", "words"),
    [("t", "corrected by holm"), ("hsd", "(p <= 0.05);")],
)
def test_compare__figure_states_the_correction(made_store: irmeta.Store, test: str, words: str):
    (comparison,) = irmeta.compare(made_store, "AP", track="passage", test=test)
    assert words in str(to_spec(comparison.show())["title"]["subtitle"])
    curve = irmeta.power(made_store, "AP", track="passage", tests=test).show()["passage"]
    assert ("uncorrected" in str(to_spec(curve)["title"]["subtitle"])) is (test == "t")
