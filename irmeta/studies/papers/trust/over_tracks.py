"""The tables over tracks: means of the criteria, and shares of tracks by grade."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from irmeta.stats.reproducibility import interval
from irmeta.studies.framework.study import Tables
from irmeta.studies.papers.trust.grades import CRITERIA, SAFE, UNKNOWN, UNSAFE
from irmeta.studies.papers.trust.options import TrustOptions

AVERAGED = ("separated", "detectable", "e_rho2", *(one.column for one in CRITERIA), "undecided")
"""Criteria that have means over tracks: columns of the table `trust`."""
_ROUND = re.compile(r"(?:[-_. ]*(?:round|year|r|y)?[-_. ]*\d+)+$", re.IGNORECASE)


def collection_of(track: str) -> str:
    """Return the name of a track without the year or round at its end: its collection of docs."""
    return _ROUND.sub("", track) or track


def criterion_means(tables: Tables, options: TrustOptions) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `criterion_means`."""
    rows = tables["trust"]
    names = {track: collection_of(track) for track in rows["track"].unique()}
    rows = rows.with_columns(collection=pl.col("track").replace(names))
    for (measure,), own in rows.group_by("measure", maintain_order=True):
        for criterion in AVERAGED:
            known = own.drop_nulls(criterion).filter(pl.col(criterion).is_not_nan())
            if known.height:
                yield {
                    "measure": measure,
                    "criterion": criterion,
                    "tracks": known.height,
                    **_mean(known, criterion, options),
                }


def _mean(known: pl.DataFrame, criterion: str, options: TrustOptions) -> dict[str, Any]:
    """Return the mean over tracks, with an interval from draws of whole collections."""
    parts = known.group_by("collection", maintain_order=True).agg(pl.sum(criterion), n=pl.len())
    sums = parts.select(criterion, "n").to_numpy()
    low, high = np.nan, np.nan
    if parts.height > 1:
        drawn = options.resamples
        low, high = interval(_pooled_mean, sums, resamples=drawn, rng=options.seed, at_once=True)
    return {
        "collections": parts.height,
        "mean": float(_pooled_mean(sums)),
        "mean_low": low,
        "mean_high": high,
    }


def _pooled_mean(parts: np.ndarray) -> np.ndarray:
    """Return means over all tracks from the sums by collection [..., collection, (sum, tracks)]."""
    total, tracks = np.moveaxis(parts.sum(axis=-2), -1, 0)
    return total / tracks


def safe_measures(tables: Tables, options: TrustOptions) -> pl.DataFrame:
    """Return the table `safe_measures`."""
    known = pl.col("grade") != UNKNOWN
    shares = {
        name: (pl.col("grade") == grade).filter(known).mean().fill_null(float("nan"))
        for name, grade in (("safe", SAFE), ("unsafe", UNSAFE))
    }
    return (
        tables["grades"]
        .group_by("measure", "family", maintain_order=True)
        .agg(tracks=known.sum(), **shares)
    )
