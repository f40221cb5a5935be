"""The tables over tracks: means of the criteria, shares of grades, and facts on measures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.errors import MeasureError
from irmeta.measures.evaluate import dependence, score_rankings
from irmeta.measures.names import Spec, parse_measure
from irmeta.rankings.enumeration import RankingSpace
from irmeta.stats.reproducibility import interval
from irmeta.studies.framework.study import Tables
from irmeta.studies.original.trust.grades import CRITERIA, SAFE, UNKNOWN, UNSAFE
from irmeta.studies.original.trust.study import TrustOptions
from irmeta.studies.papers.properties.compute import measure_properties

AVERAGED = (
    "separated",
    "detectable",
    "e_rho2",
    *(criterion.column for criterion in CRITERIA),
    "undecided",
)
"""Criteria that have means over tracks: columns of the table `trust`."""
_ROUND = re.compile(r"(?:[-_. ]*(?:round|year|r|y)?[-_. ]*\d+)+$", re.IGNORECASE)
LENGTH = 10
"""Docs of the enumerated rankings."""
USERS = {
    "utility": "stops somewhere",
    "recall": "wants every relevant doc",
    "count": "is not modelled",
}


def collection_of(track: str) -> str:
    """Return the name of a track without the year or round at its end: its collection of docs."""
    return _ROUND.sub("", track) or track


def criterion_means(tables: Tables, options: TrustOptions) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `criterion_means`."""
    rows = tables["trust"]
    collections = {track: collection_of(track) for track in rows["track"].unique()}
    rows = rows.with_columns(collection=pl.col("track").replace(collections))
    for (measure,), of_measure in rows.group_by("measure", maintain_order=True):
        for criterion in AVERAGED:
            known = of_measure.drop_nulls(criterion).filter(pl.col(criterion).is_not_nan())
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


def measure_facts(tables: Tables, options: TrustOptions) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `measure_facts`."""
    measures = tables["trust"]["measure"].unique(maintain_order=True).to_list()
    specs = dict[str, Spec]()
    for name in measures:
        try:
            specs[name] = parse_measure(name)
        except MeasureError:  # a preference
            continue
    alone = {  # for grades 0 and 1, whatever grade is relevant on a track
        name: replace(
            spec, params=tuple((n, 1 if n == "rel" else value) for n, value in spec.params)
        )
        for name, spec in specs.items()
        if dependence(spec) is None
    }
    violated, steps = _violated(alone), unequal_steps(alone)
    for name, spec in specs.items():
        is_rank = spec.measure.cutoff_is == "rank" and not spec.measure.cutoff_prefix
        yield {
            "measure": name,
            "user": USERS[spec.measure.family],
            "stops_at": int(spec.cutoff) if is_rank and spec.cutoff else None,
            "persistence": spec.settings.get("p"),
            "violated": violated.get(name),
            "unequal_steps": steps.get(name),
        }


def _violated(specs: Mapping[str, Spec]) -> dict[str, str]:
    """Return the properties that each measure violates, as one text."""
    if not specs:
        return {}
    measures = [spec.name for spec in specs.values()]
    kinds = ("truncated", "ordered")
    tested = measure_properties(measures, kinds, subtopic_count=1, length=LENGTH)
    lost = tested.filter(~pl.col("holds")).group_by("measure").agg("property")
    texts = {measure: ", ".join(properties) for measure, properties in lost.iter_rows()}
    return {name: texts.get(spec.name, "none") for name, spec in specs.items()}


def unequal_steps(specs: Mapping[str, Spec]) -> dict[str, float | None]:
    """Return by measure its greatest step over its least; 1: an interval scale; None: one value.

    Steps are between neighbouring values on all rankings of `LENGTH` docs with as many relevant.
    """
    space = RankingSpace(1, LENGTH)
    values = score_rankings(space, list(specs.values()))
    full = space.lengths(np.arange(space.count)) == LENGTH
    return {name: _ratio(row[full]) for name, row in zip(specs, values, strict=True)}


def _ratio(values: np.ndarray) -> float | None:
    distinct = np.unique(values)
    steps = np.diff(distinct)
    steps = steps[steps > TIE]
    if not len(steps):
        return None
    ratio = float(steps.max() / steps.min())
    return 1.0 if ratio < 1 + 1e-9 else ratio
