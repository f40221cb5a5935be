"""Numbers printed in the paper on pooling and evaluation depth: arithmetic that they must obey."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

from irmeta.results.matrix import Matrix
from irmeta.stats import coverage
from irmeta.studies.papers.depth import page, study
from irmeta.studies.papers.depth.study import PRINTED_CUTOFFS, TABLES
from support.making import Track, down

NUMBERS = pl.DataFrame(study.NUMBERS)
RELEVANT = [f"r{i}" for i in range(1000)]
NONRELEVANT = [f"n{i}" for i in range(1000)]


def printed(item: str, column: str, collection: str = "") -> dict[str, float]:
    """Map the rows of a printed column to its numbers."""
    rows = NUMBERS.filter(
        pl.col("collection").str.starts_with(collection), item=item, column=column
    )
    return {row: float(value) for row, value in rows.select("row", "value").iter_rows()}


def unfit(values: Iterable[float], pairs: int) -> list[float]:
    """Return the percentages that no number of pairs rounds to."""
    shares = {f"{100 * number / pairs:.1f}" for number in range(pairs + 1)}
    return [value for value in values if f"{value:.1f}" not in shares]


def curve(runs: dict[str, list[str]], judged: dict[str, int], names: list[str]) -> dict[str, float]:
    """Score one query, and return the values by system and measure, joined by a space."""
    lists = {system: {"q": down(*docs)} for system, docs in runs.items()}
    store = Track(lists, {"q": judged}).read()
    rows = store.evaluate(names, per_query=True).select("system", "measure", "value").iter_rows()
    return {f"{system} {measure}": value for system, measure, value in rows}


def test_numbers__unique_keys_and_all_tables():
    (table,) = (table for table in TABLES if table.name == "paper_numbers")
    assert table.frame(study.NUMBERS).select(table.key).is_unique().all()
    counts = dict(NUMBERS.group_by("item").len().iter_rows())
    assert counts == {
        "Table 3": 12,
        "Table 4": 18,
        "Table 5": 48,
        "Table 6": 36,
        "Table 7": 2 * 7 * 18,
        "Table 8": 6 * 12,
        "Table 9": 2 * 7 * 6,
        "Section 3": 3,
        "Section 4 (condensed lists)": 2,
        "Section 4 (weights)": 3,
    }


def test_numbers__cutoffs_of_tables_7_and_9():
    cutoffs = [f"k = {k}" for k in PRINTED_CUTOFFS]
    for item in ("Table 7", "Table 9"):
        rows = NUMBERS.filter(item=item)["row"].unique(maintain_order=True).to_list()
        assert rows == cutoffs
    assert (
        NUMBERS.filter(item="Table 8")["row"].unique(maintain_order=True).to_list()
        == (cutoffs[:-1])
    )


@pytest.mark.parametrize(("collection", "runs"), [("TREC 8", 42), ("ClueWeb10", 21)])
def test_table_7__discrimination_is_a_share_of_the_unordered_pairs(collection: str, runs: int):
    pairs = runs * (runs - 1) // 2
    assert pairs == {"TREC 8": 861, "ClueWeb10": 210}[collection]
    columns = [c for c in NUMBERS.filter(item="Table 7")["column"].unique() if c.endswith("Disc.")]
    values = [v for c in columns for v in printed("Table 7", c, collection).values()]
    assert len(values) == 42
    assert unfit(values, pairs) == []
    assert unfit(values, pairs - 1)


@pytest.mark.parametrize(
    ("collection", "measure", "reference", "pairs", "size"),
    [
        ("TREC 8", "AP(norm=min)", 100, 861, 576),
        ("ClueWeb10", "AP(norm=min)", 10, 210, 111),
        ("ClueWeb10", "Q(gain=linear)", 10, 210, 105),
        ("ClueWeb10", "RBP(p=0.95)", 10, 210, 103),
        ("ClueWeb10", "RBP(p=0.8)", 10, 210, 93),
    ],
)
def test_table_7__coverage_and_inversion_are_shares_of_the_reference(
    collection: str, measure: str, reference: int, pairs: int, size: int
):
    separated = printed("Table 7", f"{measure} Disc.", collection)[f"k = {reference}"]
    assert round(separated * pairs / 100) == size
    for ratio in ("Covr.", "Invr."):
        assert unfit(printed("Table 7", f"{measure} {ratio}", collection).values(), size) == []


@pytest.mark.parametrize(
    ("measure", "size", "not_size", "off"),
    [
        ("AP(norm=min)", 114, 111, [82.4]),  # 94 / 114 = 82.46
        ("Q(gain=linear)", 121, 105, []),
        ("RBP(p=0.95)", 106, 103, []),
        ("RBP(p=0.8)", 96, 93, [61.4]),  # 59 / 96 = 61.46
    ],
)
def test_table_8__reference_is_not_that_of_table_7(
    measure: str, size: int, not_size: int, off: list[float]
):
    columns = (f"{measure} {ratio}" for ratio in ("Covr.", "Invr."))
    values = [value for column in columns for value in printed("Table 8", column).values()]
    assert unfit(values, size) == off
    assert len(unfit(values, not_size)) > 1
    assert printed("Table 8", f"{measure} Covr.")["k = 10"] < 100


def test_table_8__discrimination_is_a_share_of_210_pairs():
    columns = [c for c in NUMBERS.filter(item="Table 8")["column"].unique() if c.endswith("Disc.")]
    assert len(columns) == 4
    for column in columns:
        assert unfit(printed("Table 8", column).values(), 210) == []


@pytest.mark.parametrize(("persistence", "depth"), [(0.95, 100), (0.8, 100), (0.95, 20), (0.8, 20)])
def test_table_9__residual_of_rbp_is_a_power_down_to_the_pool(persistence: float, depth: int):
    name = f"RBPResidual(p={persistence})"
    cutoffs = [k for k in PRINTED_CUTOFFS if k <= depth]
    docs = [*RELEVANT[:depth], *(f"u{i}" for i in range(1000))]
    judged = dict.fromkeys(RELEVANT[:depth], 1)
    found = curve({"s": docs}, judged, [f"{name}@{k}" for k in cutoffs])
    collection = "TREC 8" if depth == 100 else "ClueWeb10"
    expected = printed("Table 9", f"RBP(p={persistence}) residual", collection)
    assert len(found) == len(cutoffs)
    for k in cutoffs:
        assert found[f"s {name}@{k}"] == pytest.approx(persistence**k, abs=1e-12)
        assert f"{persistence**k:.3f}" == f"{expected[f'k = {k}']:.3f}"


def tails(scores: dict[int, float], k: int) -> list[float]:
    """Return the least and the largest E[reading on after k] / (k + 1) with these printed ERRs.

    ERR@k is the sum of stopping probabilities over ranks, which the rounded scores bound.
    """
    ranks = np.arange(1, max(scores) + 1)
    within = np.stack([ranks <= cut for cut in scores]) / ranks
    values = np.array([*scores.values()])
    limits = np.concatenate([values + 0.0005, 0.0005 - values, [1.0]])
    rows = np.vstack([within, -within, np.ones(len(ranks))])
    stops = [sign * (ranks <= k) for sign in (-1.0, 1.0)]
    least, most = (linprog(one, A_ub=rows, b_ub=limits, bounds=(0, 1)).fun for one in stops)
    return [(1 + least) / (k + 1), (1 - most) / (k + 1)]


@pytest.mark.parametrize(
    ("collection", "below", "above"),
    [("TREC 8", {1: 0.355, 4: 0.061}, {400, 1000}),
     ("ClueWeb10", {1: 0.456, 4: 0.135}, {40, 100, 400, 1000})],
)  # fmt: skip
def test_table_9__residual_of_err_is_below_its_bound_up_to_4_and_counts_unjudged_docs(
    collection: str, below: dict[int, float], above: set[int]
):
    columns = [printed("Table 9", f"ERR {name}", collection) for name in ("score", "residual")]
    scores, residuals = ({int(row[4:]): v for row, v in one.items()} for one in columns)
    bounds = {k: tails(scores, k) for k in scores}
    too_small = {k for k, (least, _) in bounds.items() if residuals[k] + 0.0005 < least}
    assert {k: int(1000 * bounds[k][0] + 0.5) / 1000 for k in too_small} == pytest.approx(
        below, abs=0.0011
    )
    assert {k for k, (_, most) in bounds.items() if residuals[k] - 0.0005 > most} == above


def test_table_9__score_of_rbp_falls_by_a_rounding_error():
    scores = printed("Table 9", "RBP(p=0.8) score", "TREC 8")
    assert scores["k = 100"] == 0.469
    assert scores["k = 40"] == scores["k = 400"] == 0.470


def test_weights__first_doc_of_ndcg():
    expected = printed("Section 4 (weights)", "weight of the first doc")
    names = [f"nDCG@{k}" for k in (5, 10, 20)]
    judged = dict.fromkeys(RELEVANT[:20], 1) | dict.fromkeys(NONRELEVANT[:19], 0)
    found = curve({"s": [RELEVANT[0], *NONRELEVANT[:19]]}, judged, names)
    rounded = {f"k = {k}": round(found[f"s nDCG@{k}"], 2) for k in (5, 10, 20)}
    assert rounded == expected == {"k = 5": 0.34, "k = 10": 0.22, "k = 20": 0.14}


def test_reciprocal_rank__equals_precision_at_the_first_rank():
    """RR@1 is P@1, so Table 7, where RR at k = 1 is RR at k = 1000, has RR without a cutoff."""
    ratios = printed("Table 7", "RR Disc.", "ClueWeb10")
    assert set(ratios.values()) == {41.4}
    assert printed("Table 7", "AP(norm=min) Disc.", "ClueWeb10")["k = 1"] == 30.0
    runs = {"first": ["r0", "n0"], "second": ["n0", "r0"]}
    found = curve(runs, {"r0": 1, "n0": 0}, ["RR@1", "P@1", "AP(norm=min)@1", "RR"])
    assert [found[f"second {name}"] for name in ("RR@1", "P@1", "AP(norm=min)@1", "RR")] == [
        *(0, 0, 0, 0.5),
    ]
    assert found["first RR@1"] == found["first P@1"] == found["first AP(norm=min)@1"] == 1


def test_coverage__example_of_45_pairs():
    """35 pairs are separated by the reference; the new measure covers 28 and inverts 6."""
    reference = np.array([5.0, 4.0, 3.0, 2.0, 1.0, *[0.0] * 5])
    # a and b change places, d equals c, and e falls below the five equal systems.
    new = np.array([4.0, 5.0, 3.0, 3.0, -1.0, *[0.0] * 5])
    queries = tuple(map(str, range(50)))
    noise = np.random.default_rng(0).normal(0, 0.05, (50, 10))
    noise[:, 5:] = noise[:, 5:6]
    noise[:, 3] = noise[:, 2]
    spread = np.zeros((50, 10))  # a pair without any could not be tested
    spread[::2, 3] = 0.001
    old, other = (
        Matrix(means + noise + more, queries, tuple("abcdefghij"), name, "t")
        for means, more, name in ((reference, spread, "reference"), (new, 0.0, "new"))
    )
    # In the reference, c and d differ by about 1 on every query.
    row = coverage(old, other).row(0, named=True)
    counts = [row[name] for name in ("pairs", "separated_reference", "covered", "inverted")]
    assert counts == [45, 35, 28, 6]
    example = NUMBERS.filter(item="Section 3")
    found = [row["separated_reference"] / row["pairs"], row["coverage"], row["inversion"]]
    assert [f"{value:.2f}" for value in found] == example["value"].to_list()


def test_table_4__parts_add_up_to_the_relevant_docs_of_a_query():
    rows = NUMBERS.filter(pl.col("value") != "n/a", item="Table 4")
    means = rows.with_columns(mean=pl.col("value").str.split("±").list.first().cast(pl.Float64))
    parts = means.filter(pl.col("column") != "RankUnj")
    totals = parts.group_by("collection", "row", maintain_order=True).agg(pl.col("mean").sum())
    assert [round(mean, 1) for mean in totals["mean"]] == [16.0, 18.5, 20.5, 35.4]


def test_gain__exponential_gain_of_a_nonrelevant_doc_is_zero():
    """The gain of Table 1, 2^(g-1) / max 2^g, would be 1/8."""
    found = curve({"s": ["n0", "r0"]}, {"n0": 0, "r0": 2}, ["RBP(p=0.5,gain=exp)@1"])
    assert set(found.values()) == {0.0}


def test_q_measure__monotone_with_all_relevant_docs():
    """Table 2's option (a,i) never falls as k grows; option (b,i) does."""
    docs = ["r0", *NONRELEVANT[:8], "r1"]
    judged = {"r0": 2, "r1": 1, "r2": 1} | dict.fromkeys(NONRELEVANT[:8], 0)
    names = {
        norm: [f"Q(gain=linear{norm})@{k}" for k in range(1, 11)] for norm in ("", ",norm=min")
    }
    found = curve({"s": docs}, judged, [*names[""], *names[",norm=min"]])
    monotone, other = ([found[f"s {name}"] for name in of] for of in names.values())
    assert (np.diff(monotone) >= 0).all()
    assert (np.diff(other) < 0).any()


def test_slips__stated_for_tables_of_the_page():
    assert set(page.SLIPS) == {"Section 2", "Table 4", "Table 7", "Table 8", "Table 9"}
