"""Tables of queries that people must still label: mixtures of labels, and corrected means."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from irmeta.stats.interval_coverage import correction_gain
from irmeta.stats.mixed_judgments import least_labelled, mixtures
from irmeta.stats.prediction_powered import LEAST_LABELLED
from irmeta.studies.papers.judges.judged_track import JudgedTrack

MOST_SIZES = 60
"""Largest number of sizes of mixtures; of more queries, these are evenly spaced."""
PAIR_DRAWS = 5
"""Draws of systems for each draw of pairs, which are many."""


def mixture_tables(judged: JudgedTrack) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the tables `mixtures` and `least_labelled`."""
    options = judged.options
    for scores in judged.scores.measures:
        measure = pl.lit(scores.measure).alias("measure")
        for reference, judges in scores.by_queries:
            found = mixtures(
                reference,
                judges,
                sizes=mixture_sizes(len(reference.queries)),
                repeats=options.repeats,
                rng=options.seed,
            )
            yield "mixtures", found.select("judge", measure, pl.exclude("judge"))
            least = least_labelled(found)
            yield "least_labelled", least.select("judge", measure, pl.exclude("judge"))


def mixture_sizes(queries: int) -> list[int]:
    """Return the numbers of labelled queries: 0 to all."""
    return sorted(
        {*np.linspace(0, queries, min(queries, MOST_SIZES) + 1).round().astype(int).tolist()}
    )


def corrected_tables(judged: JudgedTrack) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the rows of the table `corrected`, by measure."""
    options = judged.options
    for scores in judged.scores.measures:
        measure = pl.lit(scores.measure).alias("measure")
        for reference, judges in scores.by_queries:
            sizes = labelled_sizes(len(reference.queries), options.labelled)
            if not sizes:
                continue
            found = correction_gain(
                reference,
                judges,
                sizes,
                draws=options.resamples,
                pair_draws=max(1, options.resamples // PAIR_DRAWS),
                rng=options.seed,
            )
            yield "corrected", found.select("judge", measure, pl.exclude("judge"))


def labelled_sizes(queries: int, asked: tuple[int, ...]) -> list[int]:
    """Return the numbers of labelled queries that there is room for, or half of all."""
    fitting = [size for size in sorted({*asked}) if LEAST_LABELLED <= size < queries]
    half = queries // 2
    return fitting or [half] * (LEAST_LABELLED <= half < queries)
