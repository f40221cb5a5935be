"""Means with one standard deviation either side, of the values that are defined."""

from __future__ import annotations

import numpy as np
import polars as pl


def mean_sd(name: str, values: pl.Series) -> dict[str, float]:
    """Return a mean as `name` and its standard deviation as `name`_sd, of a sample (n - 1).

    NaN values are left out. Without a value the mean is NaN, and the deviation without two.
    """
    known = values.drop_nans().to_numpy()
    return {
        name: float(known.mean()) if len(known) else float("nan"),
        f"{name}_sd": float(known.std(ddof=1)) if len(known) > 1 else float("nan"),
    }


def spread(name: str, values: pl.Series, least: float, most: float) -> dict[str, float]:
    """Return `mean_sd`, and the mean less and plus the deviation within what is possible.

    The ends are `name`_low and `name`_high: see `irmeta.schema.columns.spread_columns`.
    """
    found = mean_sd(name, values)
    mean, sd = found.values()
    ends = {"low": float(np.maximum(mean - sd, least)), "high": float(np.minimum(mean + sd, most))}
    return found | {f"{name}_{end}": value for end, value in ends.items()}
