"""How many of the relevant docs MAP averages: paper 1, Appendix A.1."""

from __future__ import annotations

import numpy as np
import polars as pl

from irmeta.results.averages import mean_over_queries
from irmeta.stats.precision_means import effective_counts, effective_weight
from irmeta.studies.papers.search_length.gather import Gathered


def effective_fractions(found: Gathered) -> pl.DataFrame:
    """Table `effective_fraction`: a row for each system.

    `fraction` is the mean over queries of n / n_q, n the number of docs whose lengths average
    nearest to 1/AP. `pooled` takes all queries of a run at once, docs weighted by 1/n_q, and
    compares with 1/MAP: the share of the weight that is averaged, docs of the same P in the order
    of their queries. `queries` says how many queries
    have a fraction and `undefined` how many have none, because their AP is 0.
    """
    systems = len(found.scores.systems)
    relevant = found.relevant
    known = np.flatnonzero(relevant)
    lengths = found.precision_lengths
    shares = np.full((len(relevant), systems), np.nan)
    mean_precision = np.zeros((len(relevant), systems))
    for query in known:
        own = lengths[found.offsets[query] : found.offsets[query + 1]]
        mean_precision[query] = mean_over_queries(1.0 / own)  # here over docs
        shares[query] = effective_counts(own, mean_precision[query]) / relevant[query]
    weights = np.repeat(1.0 / np.maximum(relevant, 1), relevant)
    of_all = mean_over_queries(mean_precision[known]) if len(known) else np.zeros(systems)
    pooled = effective_weight(lengths, weights, of_all) / max(len(known), 1)
    defined = (~np.isnan(shares)).sum(axis=0)
    return pl.DataFrame(
        {
            "track": pl.repeat(found.scores.track, systems, eager=True, dtype=pl.String),
            "system": pl.Series(found.scores.systems, dtype=pl.String),
            "fraction": mean_over_queries(shares),
            "pooled": pooled,
            "queries": defined.astype(np.int32),
            "undefined": (len(known) - defined).astype(np.int32),
        }
    )


def effective_by_track(found: Gathered, fractions: pl.DataFrame) -> pl.DataFrame:
    """Table `effective_by_track`: the means over systems.

    A track without a query that has two relevant docs is trivial: its fraction is 1 for every
    system that has one.
    """
    means = {
        name: float(known.mean())
        if len(known := fractions[name].drop_nans().to_numpy())
        else np.nan
        for name in ("fraction", "pooled")
    }
    return pl.DataFrame(
        {
            "track": found.scores.track,
            "systems": fractions.height,
            **means,
            "undefined": fractions["undefined"].sum(),
            "trivial": bool(found.relevant.max() <= 1),
        }
    )
