"""Chart of rank sets."""

from __future__ import annotations

import polars as pl
import pytest

from irmeta.report.charts.row_charts import rank_places
from irmeta.report.theme import to_spec, to_svg
from support.charting import texts


def ranks(number: int) -> pl.DataFrame:
    place = list(range(1, number + 1))
    return pl.DataFrame(
        {
            "name": [f"s{i}" for i in place],
            "rank": place,
            "rank_low": [max(1, i - 3) if i < 6 else 6 for i in place],
            "rank_high": [min(5, i + 2) if i < 6 else number for i in place],
            "tier": [1 if i < 6 else 2 for i in place],
        }
    )


@pytest.mark.parametrize(("number", "named"), [(8, 8), (60, 20)])
def test_rank_places__names_sets_and_tiers(number, named):
    chart = rank_places(ranks(number), "AP: ranks", "95% simultaneous rank sets")
    spec, shown = to_spec(chart), texts(to_svg(chart))
    tiers, sets, _ = spec["layer"]
    assert len(spec["datasets"][tiers["data"]["name"]]) == 1  # between the tiers
    assert sets["encoding"]["x2"]["field"] == "rank_high"
    assert [row["is"] for row in spec["datasets"]["ranks"]] == [
        "could be first" if i <= 4 else "could not be first" for i in range(1, number + 1)
    ]
    prefix = "" if named == number else f"{named}. "
    assert f"\n{prefix}s{named}\n" in shown
    assert (f"s{named + 1}\n" in shown) is False
    assert "\n1\n" in shown


def test_rank_places__without_ranks():
    none = ranks(2).with_columns(rank=pl.lit(None, pl.Int64))
    assert "No system has a rank" in texts(to_svg(rank_places(none, "t", "")))
