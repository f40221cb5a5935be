"""The study of trust: means and shares over tracks, and advice on what to report."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from irmeta.studies.original.trust.conclusions import TOGETHER
from irmeta.studies.original.trust.grades import (
    AVERAGED,
    CARE,
    FAMILIES,
    SAFE,
    UNKNOWN,
    UNSAFE,
    collection_of,
    criterion_means,
    safe_measures,
)
from irmeta.studies.original.trust.page import FIGURES, advice, advice_over_tracks
from irmeta.studies.original.trust.study import TrustOptions


@pytest.mark.parametrize(
    ("track", "collection"),
    [
        ("trec-covid-r1", "trec-covid"),
        ("robust-2003", "robust"),
        ("dl_2021", "dl"),
        ("legaldiv", "legaldiv"),
        ("2012", "2012"),
        ("covid round 5", "covid"),
        ("hard", "hard"),
    ],
)
def test_collection_of__removes_year_or_round(track: str, collection: str):
    assert collection_of(track) == collection


def test_criterion_means__draw_collections():
    """The interval is the quantiles of means over drawn collections, by brute force."""
    values = {"a-1": 0.2, "a-2": 0.4, "b": 0.9, "c": None}
    rows = [
        dict.fromkeys(AVERAGED) | {"track": t, "measure": "AP", "half_tau": v}
        for t, v in values.items()
    ]
    tables = {"trust": pl.DataFrame(rows, infer_schema_length=None)}
    (found,) = criterion_means(tables, TrustOptions(resamples=2000))
    assert (found["tracks"], found["collections"]) == (3, 2)
    assert found["mean"] == pytest.approx(0.5)
    # draws of two collections: a a (0.3), a b (0.5), b a, b b (0.9), each of at least 2.5 %
    assert (found["mean_low"], found["mean_high"]) == pytest.approx((0.3, 0.9))


def of_track(
    grades: dict[str, list[str]], kept: int = 9, k: int | None = 7, **separated: float
) -> dict[str, Any]:
    """Return tables of a track: the grade of each family by measure, in the order of `FAMILIES`."""
    rows = [
        {"track": "t", "measure": m, "family": f.replace("_", " "), "grade": g, "number": "0.5",
         "why": "4 systems are too few"}
        for m, of in grades.items() for f, g in zip(FAMILIES, of, strict=True)
    ]  # fmt: skip
    facts = [
        {"track": "t", "measure": m, "least_k": k if m != "P@10" else None,
         "reads_grades": m != "Judged@10", "separated": separated.get(m, 0.4)}
        for m in grades
    ]  # fmt: skip
    counts = {"measure": "AP", "condition": TOGETHER, "conclusions": 1200, "kept": 1191 + kept}
    return {
        "grades": pl.DataFrame(rows),
        "trust": pl.DataFrame(facts, schema_overrides={"least_k": pl.Int64}),
        "conditions": pl.DataFrame([counts]),
    }


KEPT = (
    "Pairs of systems that differ significantly, and do so in the same direction under every "
    "condition of the table of conclusions: {} of 1,200 by AP."
)
CONSIDERED = (
    "Considered: {} that read grades and separate at least 50% as many pairs as AP, which "
    "separates 40.0%."
)


def test_advice__follows_from_grades_separation_depths_and_conditions():
    tables = of_track({"AP": [SAFE, UNSAFE, CARE, SAFE], "P@10": [SAFE, UNKNOWN, SAFE, SAFE],
                       "RR": [CARE, SAFE, UNSAFE, UNSAFE]}, kept=0)  # fmt: skip
    assert list(advice(tables, TrustOptions())) == [
        "Most reliable here is P@10: unsafe in none and safe in 3 of the 4 families. "
        + CONSIDERED.format("3 measures"),
        "The order of systems has tau-b 0.9 or more with that of full lists from rank 7 on by AP "
        "and from rank 7 on by RR.",
        KEPT.format("1,191"),
        "Unsafe, with the number that decides: depth by AP (0.5); judgments by RR (0.5); ties and "
        "ends by RR (0.5).",
    ]
    tables = of_track({"AP": [CARE, SAFE, SAFE, SAFE], "Q": [CARE, CARE, SAFE, SAFE]}, k=None)
    assert list(advice(tables, TrustOptions())) == [
        "Most reliable here is AP: unsafe in none and safe in 3 of the 4 families. "
        + CONSIDERED.format("2 measures"),
        "No measure has a depth to choose: each has a cutoff, or compares single queries.",
        KEPT.format("1,200"),
        "No family of any measure is unsafe.",
    ]
    few = of_track({"AP": [UNKNOWN] * 4})
    assert list(advice(few, TrustOptions())) == ["No measure can be graded: 4 systems are too few."]


def test_advice__never_names_measures_that_read_no_grades_or_hardly_separate():
    grades = {"Judged@10": [SAFE] * 4, "RR": [SAFE] * 4, "AP": [UNSAFE, CARE, SAFE, SAFE]}
    first = next(advice(of_track(grades, RR=0.1), TrustOptions()))
    assert first.startswith("Most reliable here is AP: unsafe in 1 and safe in 2 of the 4 families")
    assert CONSIDERED.format("1 measure") in first
    none = of_track({"Judged@10": [SAFE] * 4})
    assert next(advice(none, TrustOptions())) == (
        "No measure that reads grades separates a pair of systems significantly."
    )


def test_advice_over_tracks__counts_tracks():
    first = of_track({"AP": [SAFE, SAFE, CARE, SAFE], "Q": [SAFE, SAFE, UNSAFE, SAFE]}, k=3)
    other = of_track({"AP": [SAFE, SAFE, UNSAFE, SAFE], "Q": [CARE, SAFE, UNSAFE, SAFE]}, k=20)
    tables = {
        name: pl.concat([first[name], other[name].with_columns(track=pl.lit("u"))])
        for name in ("grades", "trust")
    }
    assert list(advice_over_tracks(tables, TrustOptions())) == [
        "Without an unsafe family, and separating at least half as many pairs as the most "
        "separating measure, on most tracks (1 of 2): AP.",
        "On every track, the order of systems has tau-b 0.9 or more with that of full lists from "
        "rank 20 on by AP (3 on one of them) and from rank 20 on by Q (3 on one of them).",
        "The family with most unsafe grades is judgments: 75% of its grades.",
    ]


def test_safe_measures__is_the_share_of_the_tracks_with_a_grade():
    grades = {"measure": "AP", "family": "depth", "grade": [SAFE, UNSAFE, UNKNOWN, SAFE, CARE]}
    found = safe_measures({"grades": pl.DataFrame(grades)}, TrustOptions())
    assert found.rows() == [("AP", "depth", 4, 0.5, 0.25)]


def test_safe_figure__counts_the_tracks_on_which_each_measure_is_safe():
    (figure,) = (one for one in FIGURES if one.name == "safe")
    safe = {"family": "depth", "measure": ["AP", "RR"], "safe": [0.5, math.nan], "tracks": [2, 0]}
    tables = {"trust": pl.DataFrame({"track": ["a", "b"]}), "safe_measures": pl.DataFrame(safe)}
    assert callable(figure.rows)
    rows = figure.rows(tables, TrustOptions())
    assert rows["text"].to_list() == ["1 of 2", None]
    assert "1 of 2" in figure.draw(rows, TrustOptions()).to_json()
