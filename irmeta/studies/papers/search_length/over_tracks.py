"""Tables over tracks: distributions, classes, Table 2, the effective fraction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from irmeta.stats.search_lengths import ROUNDING, value_buckets
from irmeta.stats.spread import mean_sd, spread
from irmeta.studies.framework.study import TableRows, Tables
from irmeta.studies.papers.search_length import paper
from irmeta.studies.papers.search_length.chains import CHAINS, STEPS
from irmeta.studies.papers.search_length.options import SearchLengthOptions as Options

SHARES = tuple(step / 10 for step in range(11))
LENGTHS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4)
ORDER = (*(("AP", step) for step in (1, 2, 3, 0)), ("P@20", 0), ("RR", 0))
"""The rows of Table 2, then those of Section 4.4."""
BEYOND = tuple((chain.name, step) for chain in CHAINS[1:] for step in (1, 2, 3, 0))

Row = dict[str, Any]


def over_tracks(tables: Tables, options: Options) -> TableRows:
    """Yield the tables over all included tracks."""
    headroom = tables["headroom"]
    yield "distributions", distributions(headroom, options)
    yield "classes", classes(headroom, options)
    yield "table_2", table_2(tables["reordering"], tables["moves"])
    yield "effective_summary", [effective_summary(tables["effective_by_track"])]
    names = ("collection", "measure", "baseline", "contender", "rrie")
    yield "paper_table_1", [dict(zip(names, row, strict=True)) for row in paper.TABLE_1]


def distributions(headroom: pl.DataFrame, options: Options) -> Iterator[Row]:
    """Yield Figures 1 to 4: numbers of tracks by the bucket of their best system's mean.

    P@20 and AP have ten equal buckets, the last including 1; search lengths have `LENGTHS`, a last
    bucket without end, and one below the first where Eq. 3 gives such a mean. The text of the paper
    does not state its buckets.
    """
    figures = {f"Figure {n}": measure for n, measure in enumerate(options.printed, 1)}
    for figure, measure in [*figures.items()]:
        if (deep := options.deep.get(measure, measure)) != measure:
            figures[f"{figure}, unretrieved=depth"] = deep
    for figure, measure in figures.items():
        best = headroom.filter(measure=measure)
        values, short = best["value"].to_numpy(), best["short"].to_numpy()
        is_share = measure in (options.p20, options.ap)
        for low, high, inside in value_buckets(values, SHARES if is_share else LENGTHS, is_share):
            counts = {"tracks": int(inside.sum()), "short": int((inside & short).sum())}
            share = counts["tracks"] / max(len(values), 1)
            key = {"figure": figure, "measure": measure, "low": low, "high": high}
            yield {**key, **counts, "share": share}


def classes(headroom: pl.DataFrame, options: Options) -> Iterator[Row]:
    """Yield Section 4.2: tracks by best P@20, and by a best ASL@g10 beyond the reach of P@20."""
    low, claim = paper.UNDERSAMPLED
    asl = options.asl(10)
    beyond = dict.fromkeys([asl, options.deep[asl]])
    rows = [(options.p20, *row) for row in paper.P20_CLASSES]
    rows += [(name, low, None, claim if name == asl else "") for name in beyond]
    for measure, low, high, claim in rows:
        best = headroom.filter(measure=measure)["value"].to_numpy()
        if high is None:
            name, inside = f"over {low:g}", best > low + ROUNDING
        else:
            name = f"[{low:g}, {high:g}{']' if high == 1.0 else ')'}"
            inside = (best + ROUNDING >= low) & ((best + ROUNDING < high) | (high == 1.0))
        tracks = int(inside.sum())
        share = tracks / max(len(best), 1)
        key = {"measure": measure, "best_system": name, "low": low, "high": high}
        yield {**key, "tracks": tracks, "share": share, "paper": claim}


def table_2(reordering: pl.DataFrame, moves: pl.DataFrame) -> Iterator[Row]:
    """Yield Table 2 and the other chains: means over tracks; Delta-value over all systems.

    Standard deviations are those of a sample (n - 1), NaN for one track.
    """
    names = [chain.name for chain in CHAINS]
    for chain, step in (*ORDER, *BEYOND):
        tracks, systems = (f.filter(chain=chain, step=step) for f in (reordering, moves))
        if tracks.is_empty():
            continue
        old, new = tracks.select("old", "new").row(0)
        values = systems["value"].drop_nans()
        yield {
            "change": f"{chain}: {STEPS[step]}" if chain in names else f"{old} to {new}",
            "chain": chain,
            "step": step,
            "old": old,
            "new": new,
            **spread("delta_sort", tracks["delta_sort"], 0.0, 100.0),
            **spread("tau", tracks["tau"], -1.0, 1.0),
            **spread("delta_value", values, 0.0, np.inf),
            "delta_value_median": float(np.median(values)) if len(values) else float("nan"),
            "tracks": tracks.height,
            "systems": systems.height,
            "left_out": systems.height - len(values),
        }


def effective_summary(by_track: pl.DataFrame) -> Row:
    """Return the means of Appendix A.1 over tracks, of means over systems.

    Tracks where no query has two relevant docs are excluded: their value is always 1.
    """
    counted = by_track.filter(~pl.col("trivial"))
    return {
        "tracks": counted["fraction"].drop_nans().len(),
        **mean_sd("fraction", counted["fraction"]),
        **mean_sd("pooled", counted["pooled"]),
    }
