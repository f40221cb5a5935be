"""Claims on real tracks: the numbers that a reader of the papers would look up."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import irmeta
from support.undrawn import draw_nothing

pytestmark = pytest.mark.real
TRACKS = ("robust-2003", "web-2012", "legaldiv")


@pytest.fixture(scope="module", autouse=True)
def _no_figures():
    with pytest.MonkeyPatch.context() as patched:
        draw_nothing(patched)
        yield


def rows_of(results, claim: str) -> dict[str | None, tuple[str, str | None]]:
    """Return verdict and why by track."""
    rows = results.tables["claims"].filter(claim=claim)
    return {track: (v, why) for track, v, why in rows.select("track", "verdict", "why").iter_rows()}


def test_search_length__saturated_track_cannot_be_said_and_map_averages_half(
    real_store: irmeta.Store, tmp_path: Path
):
    made = irmeta.studies.search_length(real_store, tmp_path / "asl", track=TRACKS, resamples=5)
    beyond = rows_of(made, "relevant-beyond-100")
    assert beyond["robust-2003"][0] == "does not hold"
    assert beyond["web-2012"][0] == "holds"
    assert beyond["legaldiv"][0] == "cannot be said"
    assert "4,624 of 4,624 lists hold no doc that is not relevant" in (beyond["legaldiv"][1] or "")
    averaged = made.tables["claims"].filter(claim="map-averages").row(0, named=True)
    summary = made.tables["effective_summary"].row(0, named=True)
    assert averaged["number"] == pytest.approx(summary["fraction"], abs=1e-12)
    assert (averaged["verdict"], averaged["printed"]) == ("holds", "57% \u00b1 16")
    steps = made.tables["table_2"].filter(pl.col("step") > 0, chain="AP").sort("step")["delta_sort"]
    largest = made.tables["claims"].filter(claim="largest-step").row(0, named=True)
    assert largest["number"] == pytest.approx(steps[1] - max(steps[0], steps[2]))


def test_preference__rpp_separates_more_on_robust_and_no_more_than_ndcg_on_web(
    real_store: irmeta.Store, tmp_path: Path
):
    made = irmeta.studies.preference(
        real_store, tmp_path / "rpp", track=TRACKS, resamples=5, replicates=2,
        label_replicates=1, points=5, sizes=[20], shares=[0.6],
    )  # fmt: skip
    by_t = rows_of(made, "separates-4-ndcg")
    assert by_t["robust-2003"] == ("holds", "67.65 against 62.50")
    assert by_t["web-2012"] == ("does not hold", "14.29 against 14.29")
    assert by_t["legaldiv"][0] == "cannot be said"
    assert rows_of(made, "separates-4-ap")["robust-2003"] == ("holds", "67.65 against 61.03")
    subtopics = rows_of(made, "separates-4-ap-ia")
    assert subtopics["robust-2003"][0] == "cannot be said"
    assert subtopics["web-2012"] == ("does not hold", "14.29 against 28.57")


def test_properties__counts_of_the_paper(tmp_path: Path):
    made = irmeta.studies.properties(tmp_path / "properties")
    claims = made.tables["claims"]
    why = dict(claims.select("claim", "why").iter_rows())
    assert why["act-irrelevance"] == "29,496 of 29,523 pairs"
    assert why["ap-ia-redundancy"] == "2,026 of 2,026 pairs"
    assert why["act-example"] == "0.0833 against 0.0750"
    assert claims.filter(kind="paper")["verdict"].unique().to_list() == ["holds"]
    by_docs = claims.filter(pl.col("claim").str.starts_with("ct-relevance"))
    assert by_docs["why"].to_list() == ["48,714 of 59,046 pairs", "474 of 59,046 pairs"]
