"""The study of trust: means and shares over tracks, and advice on what to report."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from irmeta.studies.papers.trust.advice import advice, advice_over_tracks
from irmeta.studies.papers.trust.conclusions import TOGETHER
from irmeta.studies.papers.trust.figures import FIGURES
from irmeta.studies.papers.trust.grades import CARE, FAMILIES, SAFE, UNKNOWN, UNSAFE
from irmeta.studies.papers.trust.options import TrustOptions
from irmeta.studies.papers.trust.over_tracks import (
    AVERAGED,
    collection_of,
    criterion_means,
    safe_measures,
)


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


def of_track(grades: dict[str, list[str]], kept: int = 9, k: int | None = 7) -> dict[str, Any]:
    """Return tables of a track: the grade of each family by measure, in the order of `FAMILIES`."""
    rows = [
        {"track": "t", "measure": m, "family": f.replace("_", " "), "grade": g, "number": "0.5",
         "why": "4 systems are too few"}
        for m, of in grades.items() for f, g in zip(FAMILIES, of, strict=True)
    ]  # fmt: skip
    depths = [{"track": "t", "measure": m, "least_k": k if m != "P@10" else None} for m in grades]
    counts = {"measure": "AP", "condition": TOGETHER, "conclusions": 1200, "kept": 1191 + kept}
    return {
        "grades": pl.DataFrame(rows),
        "trust": pl.DataFrame(depths, schema_overrides={"least_k": pl.Int64}),
        "conditions": pl.DataFrame([counts]),
    }


def test_advice__says_what_to_report_to_which_depth_and_what_not_to_claim():
    tables = of_track({"AP": [SAFE, UNSAFE, CARE, SAFE], "P@10": [SAFE, UNKNOWN, SAFE, SAFE],
                       "RR": [CARE, SAFE, UNSAFE, UNSAFE]}, kept=0)  # fmt: skip
    assert list(advice(tables, TrustOptions())) == [
        "Report P@10, which is safe in every graded family.",
        "Evaluate AP to rank 7 and RR to rank 7 or deeper, where the order of systems has tau-b "
        "0.9 or more with that of full lists.",
        "Do not claim 9 of the 1,200 significant differences by AP, which other conditions undo, "
        "nor that orders of systems are independent of the depth by AP (0.5), of the judgments by "
        "RR (0.5) and of ties and ends of lists by RR (0.5).",
    ]
    del tables["grades"]
    tables |= of_track({"AP": [CARE, SAFE, SAFE, SAFE], "Q": [CARE, CARE, SAFE, SAFE]}, k=None)
    assert list(advice(tables, TrustOptions())) == [
        "Report AP and Q with care: no measure is safe in every family, but they have no unsafe "
        "one.",
        "No measure has a depth to choose: each has a cutoff, or compares single queries.",
        "No family is unsafe, and no condition undoes a significant difference.",
    ]
    bad = of_track({"AP": [UNSAFE, UNSAFE, SAFE, SAFE], "Q": [UNSAFE, CARE, SAFE, SAFE]})
    assert next(advice(bad, TrustOptions())).endswith("so report several: Q has the fewest.")
    few = of_track({"AP": [UNKNOWN] * 4})
    assert list(advice(few, TrustOptions())) == ["No measure can be graded: 4 systems are too few."]


def test_advice_over_tracks__counts_tracks():
    first = of_track({"AP": [SAFE, SAFE, CARE, SAFE], "Q": [SAFE, SAFE, UNSAFE, SAFE]}, k=3)
    other = of_track({"AP": [SAFE, SAFE, UNSAFE, SAFE], "Q": [CARE, SAFE, UNSAFE, SAFE]}, k=20)
    tables = {
        name: pl.concat([first[name], other[name].with_columns(track=pl.lit("u"))])
        for name in ("grades", "trust")
    }
    assert list(advice_over_tracks(tables, TrustOptions())) == [
        "On most tracks without an unsafe family (1 of 2): AP.",
        "To order systems as full lists do on every track, evaluate AP to rank 20 (3 suffices on "
        "one) and Q to rank 20 (3 suffices on one).",
        "Do not claim from one track that orders are independent of the judgments: 75% of the "
        "grades of that family are unsafe, more than of any other.",
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
