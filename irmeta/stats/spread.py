"""Means of the defined values, with one standard deviation either side."""

from __future__ import annotations

import numpy as np
import polars as pl


def mean_sd(name: str, values: pl.Series) -> dict[str, float]:
    """Return the mean as `name` and the sample standard deviation (n - 1) as `name`_sd.

    NaN values are excluded. The mean is NaN without a value, the deviation for fewer than two.
    """
    known = values.drop_nans().to_numpy()
    return {
        name: float(known.mean()) if len(known) else float("nan"),
        f"{name}_sd": float(known.std(ddof=1)) if len(known) > 1 else float("nan"),
    }


def spread(name: str, values: pl.Series, least: float, most: float) -> dict[str, float]:
    """Return `mean_sd`, and the mean minus and plus the deviation, clipped to [least, most].

    The ends are `name`_low and `name`_high: see `irmeta.schema.columns.spread_columns`.
    """
    moments = mean_sd(name, values)
    mean, sd = moments.values()
    ends = {"low": float(np.maximum(mean - sd, least)), "high": float(np.minimum(mean + sd, most))}
    return moments | {f"{name}_{end}": value for end, value in ends.items()}
