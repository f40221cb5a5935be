"""What is said over tracks: distributions, classes, Table 2, the effective fraction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from irmeta.studies.framework.study import Pieces, Tables
from irmeta.studies.papers.search_length import paper
from irmeta.studies.papers.search_length.chains import CHAINS, STEPS
from irmeta.studies.papers.search_length.options import SearchLengthOptions

SHARES = tuple(step / 10 for step in range(11))
LENGTHS = (1, 2, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
ORDER = (*(("AP", step) for step in (1, 2, 3, 0)), ("P@20", 0), ("RR", 0))
"""The rows of Table 2, then those of Section 4.4."""
BEYOND = tuple((chain.name, step) for chain in CHAINS[1:] for step in (1, 2, 3, 0))
POSSIBLE = {"delta_sort": (0.0, 100.0), "tau": (-1.0, 1.0), "delta_value": (0.0, np.inf)}

Row = dict[str, Any]


def over_tracks(tables: Tables, options: SearchLengthOptions) -> Pieces:
    """Yield the tables that come from all tracks that are used."""
    headroom = tables["headroom"]
    yield "distributions", distributions(headroom, options)
    yield "classes", classes(headroom, options)
    yield "table_2", table_2(tables["reordering"], tables["moves"])
    yield "effective_summary", [effective_summary(tables["effective_by_track"])]
    names = ("collection", "measure", "baseline", "contender", "rrie")
    yield "paper_table_1", [dict(zip(names, row, strict=True)) for row in paper.TABLE_1]


def figures_of(options: SearchLengthOptions) -> dict[str, str]:
    """Return the measure of each of Figures 1 to 4, and of the same under unretrieved=depth."""
    plain = {f"Figure {n}": measure for n, measure in enumerate(options.printed, 1)}
    deep = {
        f"{figure}, unretrieved=depth": options.deep[measure]
        for figure, measure in plain.items()
        if options.deep.get(measure, measure) != measure
    }
    return plain | deep


def distributions(headroom: pl.DataFrame, options: SearchLengthOptions) -> Iterator[Row]:
    """Figures 1 to 4: how many tracks have their best system's mean in which bucket.

    P@20 and AP in ten equal buckets, the last with 1 in it; search lengths in `LENGTHS` and beyond,
    and a bucket below the first where Eq. 3 puts a mean there. The buckets of the paper are lost
    with its figures; these are ours.
    """
    for figure, measure in figures_of(options).items():
        best = headroom.filter(pl.col("measure") == measure)
        values, short = best["value"].to_numpy(), best["short"].to_numpy()
        for low, high, inside in _buckets(values, measure not in (options.p20, options.ap)):
            yield {
                "figure": figure,
                "measure": measure,
                "low": low,
                "high": high,
                "tracks": int(inside.sum()),
                "short": int((inside & short).sum()),
                "share": inside.sum() / len(values) if len(values) else 0.0,
            }


def _buckets(
    values: np.ndarray, is_length: bool
) -> Iterator[tuple[float | None, float | None, np.ndarray]]:
    edges = [float(edge) for edge in (LENGTHS if is_length else SHARES)]
    # a mean of 0.3 may be a bit less or more, as its sum came out
    place = np.searchsorted(edges, values + 1e-12, side="right") - 1
    if not is_length:
        place = np.minimum(place, len(edges) - 2)
    if (place < 0).any():
        yield None, edges[0], place < 0
    for index, low in enumerate(edges if is_length else edges[:-1]):
        high = edges[index + 1] if index + 1 < len(edges) else None
        yield low, high, place == index


def classes(headroom: pl.DataFrame, options: SearchLengthOptions) -> Iterator[Row]:
    """Section 4.2: tracks by best P@20, and those whose best ASL@g10 P@20 cannot see."""

    def row(measure: str, values: str, low: float, high: float | None, said: str) -> Row:
        best = headroom.filter(pl.col("measure") == measure)["value"].to_numpy()
        if high is None:
            inside = best > low + 1e-12
        else:
            inside = (best + 1e-12 >= low) & ((best + 1e-12 < high) | (high == 1.0))
        tracks = int(inside.sum())
        share = tracks / max(len(best), 1)
        return {
            "measure": measure,
            "best_system": values,
            "low": low,
            "high": high,
            "tracks": tracks,
            "share": share,
            "paper": said,
        }

    for low, high, said in paper.P20_CLASSES:
        end = "]" if high == 1.0 else ")"
        yield row(options.p20, f"[{low:g}, {high:g}{end}", low, high, said)
    low, said = paper.UNDERSAMPLED
    asl = options.asl(10)
    yield row(asl, f"over {low:g}", low, None, said)
    if options.deep[asl] != asl:
        yield row(options.deep[asl], f"over {low:g}", low, None, "")


def table_2(reordering: pl.DataFrame, moves: pl.DataFrame) -> Iterator[Row]:
    """Table 2 and the other chains: means over tracks, Delta-value over all systems of all tracks.

    Standard deviations are those of a sample (n - 1), NaN for one track.
    """
    for chain, step in (*ORDER, *BEYOND):
        tracks = reordering.filter((pl.col("chain") == chain) & (pl.col("step") == step))
        systems = moves.filter((pl.col("chain") == chain) & (pl.col("step") == step))
        if tracks.is_empty():
            continue
        values, old, new = systems["value"], tracks["old"][0], tracks["new"][0]
        is_chain = any(chain == one.name for one in CHAINS)
        yield {
            "change": f"{chain}: {STEPS[step]}" if is_chain else f"{old} to {new}",
            "chain": chain,
            "step": step,
            "old": old,
            "new": new,
            **_spread("delta_sort", tracks["delta_sort"]),
            **_spread("tau", tracks["tau"]),
            **_spread("delta_value", values),
            "delta_value_median": _median(values),
            "tracks": tracks.height,
            "systems": systems.height,
            "left_out": int(values.is_nan().sum()),
        }


def effective_summary(by_track: pl.DataFrame) -> Row:
    """Appendix A.1: the mean over tracks of the mean over their systems.

    Tracks without a query that has two relevant docs are left out: they are at 1 trivially.
    """
    counted = by_track.filter(~pl.col("trivial"))
    return {
        "tracks": counted["fraction"].drop_nans().len(),
        **_mean_sd("fraction", counted["fraction"]),
        **_mean_sd("pooled", counted["pooled"]),
    }


def _spread(name: str, values: pl.Series) -> dict[str, float]:
    """Mean, standard deviation, and both ends of the mean and one sd, within what is possible."""
    spread = _mean_sd(name, values)
    mean, sd, (least, most) = spread[name], spread[f"{name}_sd"], POSSIBLE[name]
    ends = {"low": float(np.maximum(mean - sd, least)), "high": float(np.minimum(mean + sd, most))}
    return spread | {f"{name}_{end}": value for end, value in ends.items()}


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
