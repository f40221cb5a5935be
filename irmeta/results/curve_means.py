"""`Curve`: means of one measure at many cutoffs, as an array and as a tidy frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.phrases import count
from irmeta.summaries import Summarized, Summary


@dataclass(frozen=True, repr=False)
class Curve(Summarized):
    """Means over queries of one track.

    Attributes
    ----------
    measure
        The name of the measure, without a cutoff.
    ks
        Cutoffs.
    ds
        Pool depths; None: all judgments.
    values, queries
        float64 and int64 [pool depth, cutoff, system]: means, and their numbers of queries.
    pool
        Description of the systems that made the pool, if a value depends on the pool.
    direction
        1: greater is better; -1: less is better.
    """

    track: str
    measure: str
    ks: tuple[int, ...]
    ds: tuple[int | None, ...]
    systems: tuple[str, ...]
    values: np.ndarray
    queries: np.ndarray
    pool: str | None = None
    direction: int = 1

    def _summary(self) -> Summary:
        sizes = {"system": self.systems, "cutoff": self.ks, "pool depth": self.ds}
        facts = [count(len(values), noun) for noun, values in sizes.items()]
        return Summary(f"{self.measure} on {self.track}", facts, self.frame)

    def frame(self) -> pl.DataFrame:
        """Return one row per system, pool depth and cutoff, sorted in this order.

        Returns
        -------
        DataFrame
            track, system, measure, d (null: all judgments), k, value, queries.
        """
        shape = len(self.systems), len(self.ds), len(self.ks)
        system, d, k = (axis.ravel() for axis in np.indices(shape))
        by_system = (2, 0, 1)
        return pl.DataFrame(
            {
                "track": pl.repeat(self.track, len(system), eager=True),
                "system": pl.Series(self.systems, dtype=pl.String).gather(system),
                "measure": pl.repeat(self.measure, len(system), eager=True),
                "d": pl.Series(self.ds, dtype=pl.Int32).gather(d),
                "k": pl.Series(self.ks, dtype=pl.Int32).gather(k),
                "value": self.values.transpose(by_system).ravel(),
                "queries": self.queries.transpose(by_system).ravel().astype(np.int32),
            }
        )
