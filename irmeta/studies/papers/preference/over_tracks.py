"""The tables over tracks: Table 2, and the paper's numbers."""

from __future__ import annotations

import numpy as np
import polars as pl

from irmeta.studies.framework.study import TableRows, Tables
from irmeta.studies.papers.preference.options import PreferenceOptions as Options

KEY = ("part", "order", "measure_a", "measure_b")


def over_tracks(tables: Tables, options: Options) -> TableRows:
    """Yield the means of Table 2 over tracks."""
    tau = pl.col("tau_b").fill_nan(None)
    yield (
        "table_2_mean",
        tables["table_2"]
        .group_by(KEY, maintain_order=True)
        .agg(tau.mean().fill_null(np.nan), tracks=tau.count()),
    )
