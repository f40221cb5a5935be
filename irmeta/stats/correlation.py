"""How alike two measures order the systems."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from irmeta.results.scores import Scores


def kendall_tau_b(scores: Scores) -> pl.DataFrame:
    """Kendall's tau-b between the orders of systems by every two measures.

    Systems are ordered by their means, best first under each measure's own direction, so that two
    measures that agree have a positive tau though one of them is a search length.

    Returns
    -------
    DataFrame
        measure_a, measure_b, tau, systems: a row for each pair, in the order of the measures. tau
        is NaN where a measure gives all systems the same mean, or fewer than two have one.
    """
    from scipy.stats import kendalltau  # slow to import, and few callers come here

    means = scores.mean_values()
    signed = means * np.array([scores.directions[m] for m in scores.measures])[:, None]
    rows = []
    for a, b in combinations(range(len(scores.measures)), 2):
        both = ~(np.isnan(signed[a]) | np.isnan(signed[b]))
        tau = np.nan
        if both.sum() >= 2:
            found = kendalltau(signed[a][both], signed[b][both], variant="b")
            tau = found.statistic  # pyright: ignore[reportAttributeAccessIssue] - made at run time
        rows.append((scores.measures[a], scores.measures[b], float(tau), int(both.sum())))
    schema = {"measure_a": pl.String, "measure_b": pl.String, "tau": pl.Float64}
    return pl.DataFrame(rows, schema=schema | {"systems": pl.Int32}, orient="row")
