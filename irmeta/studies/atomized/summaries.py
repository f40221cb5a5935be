"""What is said over tracks: distributions, classes, Table 2, the effective fraction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from irmeta.studies.atomized.chain import CHAINS
from irmeta.studies.atomized.paper import (
    EFFECTIVE_FRACTION,
    P20_CLASSES,
    TABLE_2,
    UNDERSAMPLED,
)
from irmeta.studies.atomized.settings import Settings
from irmeta.studies.publish import empty

SHARES = tuple(step / 10 for step in range(11))
LENGTHS = (1, 2, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
ORDER = (*(("AP", step) for step in (1, 2, 3, 0)), ("P@20", 0), ("RR", 0))
"""The rows of Table 2, then those of Section 4.4."""
BEYOND = tuple((chain.name, step) for chain in CHAINS[1:] for step in (1, 2, 3, 0))


def summarise(tables: Mapping[str, pl.DataFrame], settings: Settings) -> dict[str, pl.DataFrame]:
    """The tables that come from all tracks that are used."""
    used = tables["studied_tracks"].filter("used").select("track")
    of_used = {name: frame.join(used, on="track", how="semi") for name, frame in tables.items()}
    return {
        "distributions": distributions(of_used["headroom"], settings),
        "classes": classes(of_used["headroom"], settings),
        "table_2": table_2(of_used["reordering"], of_used["moves"]),
        "effective_summary": effective_summary(of_used["effective_fraction"]),
    }


def distributions(headroom: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Figures 1 to 4: how many tracks have their best system's mean in which bucket.

    P@20 and AP in ten equal buckets, the last with 1 in it; search lengths in `LENGTHS` and beyond,
    and a bucket below the first where Eq. 3 puts a mean there. The buckets of the paper are lost
    with its figures; these are ours.
    """
    rows = []
    for number, measure in enumerate(settings.headroom, 1):
        values = headroom.filter(pl.col("measure") == measure)["value"].to_numpy()
        is_length = measure in (settings.asl(), settings.asl(10))
        for low, high, tracks in _buckets(values, is_length):
            share = tracks / len(values) if len(values) else 0.0
            rows.append((f"Figure {number}", measure, low, high, tracks, share))
    return pl.DataFrame(rows, schema=dict(empty("distributions").schema), orient="row")


def _buckets(
    values: np.ndarray, is_length: bool
) -> Iterator[tuple[float | None, float | None, int]]:
    edges = [float(edge) for edge in (LENGTHS if is_length else SHARES)]
    # a mean of 0.3 may be a bit less or more, as its sum came out
    place = np.searchsorted(edges, values + 1e-12, side="right") - 1
    if not is_length:
        place = np.minimum(place, len(edges) - 2)
    if below := int((place < 0).sum()):
        yield None, edges[0], below
    for index, low in enumerate(edges if is_length else edges[:-1]):
        high = edges[index + 1] if index + 1 < len(edges) else None
        yield low, high, int((place == index).sum())


def classes(headroom: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """Section 4.2: tracks by best P@20, and those whose best ASL@g10 P@20 cannot see."""
    rows = []
    p20, asl = (
        headroom.filter(pl.col("measure") == measure)["value"].to_numpy()
        for measure in settings.headroom[:2]
    )
    for low, high, said in P20_CLASSES:
        below = np.ones(len(p20), bool) if high == 1.0 else p20 + 1e-12 < high
        found = int(((p20 + 1e-12 >= low) & below).sum())
        rows.append((settings.p20, low, high, found, found / max(len(p20), 1), said))
    low, said = UNDERSAMPLED
    found = int((asl > low + 1e-12).sum())
    rows.append((settings.asl(10), low, None, found, found / max(len(asl), 1), said))
    return pl.DataFrame(rows, schema=dict(empty("classes").schema), orient="row")


def table_2(reordering: pl.DataFrame, moves: pl.DataFrame) -> pl.DataFrame:
    """Table 2 and the other chains: means over tracks, Delta-value over all systems of all tracks.

    Standard deviations are those of a sample (n - 1), NaN for one track.
    """
    rows = []
    for chain, step in (*ORDER, *BEYOND):
        own = reordering.filter((pl.col("chain") == chain) & (pl.col("step") == step))
        each = moves.filter((pl.col("chain") == chain) & (pl.col("step") == step))
        if own.is_empty():
            continue
        printed = TABLE_2.get((chain, step))
        values = each["value"]
        rows.append(
            {
                "chain": chain,
                "step": step,
                "old": own["old"][0],
                "new": own["new"][0],
                "tracks": own.height,
                **_mean_sd("delta_sort", own["delta_sort"]),
                **_mean_sd("tau", own["tau"]),
                **_mean_sd("delta_value", values),
                "delta_value_median": _median(values),
                "systems": each.height,
                "left_out": int(values.is_nan().sum()),
                "paper_delta_sort": printed and printed.delta_sort,
                "paper_tau": printed and printed.tau,
                "paper_delta_value": printed and printed.delta_value,
            }
        )
    return pl.DataFrame(rows, schema=dict(empty("table_2").schema))


def effective_summary(fractions: pl.DataFrame) -> pl.DataFrame:
    """Appendix A.1: the mean over tracks of the mean over their systems."""
    by_track = fractions.group_by("track", maintain_order=True).agg(
        pl.col("fraction", "pooled").fill_nan(None).mean().fill_null(float("nan"))
    )
    row = {
        "tracks": by_track["fraction"].drop_nans().len(),
        **_mean_sd("fraction", by_track["fraction"]),
        **_mean_sd("pooled", by_track["pooled"]),
        "paper": f"{EFFECTIVE_FRACTION[0]:.0%} +- {100 * EFFECTIVE_FRACTION[1]:.0f}",
    }
    return pl.DataFrame([row], schema=dict(empty("effective_summary").schema))


def _mean_sd(name: str, values: pl.Series) -> dict[str, float]:
    """Mean and standard deviation of the values that are defined."""
    known = values.to_numpy()
    known = known[~np.isnan(known)]
    return {
        name: float(known.mean()) if len(known) else float("nan"),
        f"{name}_sd": float(known.std(ddof=1)) if len(known) > 1 else float("nan"),
    }


def _median(values: pl.Series) -> float:
    known = values.drop_nans().to_numpy()
    return float(np.median(known)) if len(known) else float("nan")
