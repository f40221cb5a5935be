"""Mixtures: some queries labelled by the reference, all others by a judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_whole
from irmeta.results.matrix import Matrix
from irmeta.stats.orders import tau_of_means
from irmeta.stats.prediction_powered import common_values

TAUS = (0.9, 0.95)
"""Correlations with the reference that count as high."""
REACHED = 0.95
"""Share of the orders of queries whose tau must be as high."""


def mixtures(
    reference: Matrix,
    judges: Mapping[str, Matrix],
    *,
    sizes: Iterable[int] | None = None,
    repeats: int = 100,
    rng: int | np.random.Generator = 0,
) -> pl.DataFrame:
    """Correlate orders by mixtures of labels with the order by the reference's labels.

    In a mixture, n random queries have the labels of the reference, and the others those of a
    judge. The mixture contains labels of the reference: as n grows it becomes the reference,
    whatever the quality of the judge. Therefore the order by the n queries alone stands beside it,
    and both are also correlated with the order by the reference's labels of the other queries,
    which neither has.

    Parameters
    ----------
    reference : Matrix
        Values of one measure by the labels of the reference.
    judges : mapping of str to Matrix
        Values of the same measure by the labels of each judge; a judge has every query and system
        of the reference. A query on which any value is undefined is excluded for all judges.
    sizes : iterable of int, optional
        Numbers n of queries labelled by the reference; default: 0 to all.
    repeats : int, default 100
        Random orders of the queries; in each of them the first n queries are labelled, for all n
        and all judges alike.
    rng : int or Generator, default 0
        Random seed.

    Returns
    -------
    DataFrame
        One row per judge and size: judge, labelled (n), queries (number of all), repeats; and as
        means over the repeats tau (mixture with the full reference), alone (n queries of the
        reference with the full reference), tau_unlabelled and alone_unlabelled (both with the
        reference on the queries not labelled); tau_sd and alone_sd, the standard deviations
        (n - 1); tau_low and alone_low, the tau that 95 % of the repeats reach. tau is tau-b; NaN
        where it is undefined in a repeat.

    Raises
    ------
    UsageError
        If a size is not between 0 and the number of queries, a judge lacks a query or system, or
        `repeats` is not at least 1.

    Notes
    -----
    Means that are equal to 12 significant digits tie. The judge's values are not rescaled, since
    labels are mixed before a measure is computed: a judge with a narrow scale counts for less.

    Examples
    --------
    >>> found = irmeta.stats.mixtures(ap, {"judge": rr}, sizes=[0, 2, 4], repeats=10)
    >>> found.select("labelled", pl.col("tau", "alone").round(3)).rows()
    [(0, 1.0, nan), (2, 0.867, 0.945), (4, 1.0, 1.0)]
    """
    check_whole("repeats", repeats)
    values = common_values(reference, judges)
    number = len(values.queries)
    chosen = (
        list(range(number + 1)) if sizes is None else [check_whole("size", n, 0) for n in sizes]
    )
    if not chosen or max(chosen) > number:
        raise UsageError(f"sizes = {chosen} must be from 0 to {number}, the number of queries.")
    generator = np.random.default_rng(rng)
    order = generator.permuted(np.tile(np.arange(number), (repeats, 1)), axis=1)
    human = _Prefixes(values.reference, order)
    prefixes = {name: _Prefixes(judged, order) for name, judged in values.judges.items()}
    rows = []
    for size in chosen:
        alone = human.first(size)
        targets = human.all(), human.rest(size)
        taus_alone = [_tau(alone, target) for target in targets]
        for name, judged in prefixes.items():
            mixed = human.sums(size) + judged.sums(number) - judged.sums(size)
            taus = [_tau(mixed / max(number, 1), target) for target in targets]
            rows.append((name, size, number, repeats, *_summarised(taus, taus_alone)))
    schema = {"judge": pl.String, "labelled": pl.Int32, "queries": pl.Int32, "repeats": pl.Int32}
    frame = pl.DataFrame(rows, schema | dict.fromkeys(_COLUMNS, pl.Float64), orient="row")
    place = {name: i for i, name in enumerate(judges)}
    return frame.sort(pl.col("judge").replace_strict(place), "labelled", maintain_order=True)


_COLUMNS = tuple(
    name + end for name in ("tau", "alone") for end in ("", "_sd", "_low", "_unlabelled")
)


def least_labelled(found: pl.DataFrame, taus: Sequence[float] = TAUS) -> pl.DataFrame:
    """Find how many queries people must label so that the order of systems is right.

    Parameters
    ----------
    found : DataFrame
        Returned by `mixtures`.
    taus : sequence of float, default (0.9, 0.95)
        Wanted tau-b with the order of the full reference.

    Returns
    -------
    DataFrame
        One row per judge and wanted tau: judge, wanted, mixture (least size from which on tau is
        at least as great for 95 % of the random mixtures), alone (the same for queries of the
        reference alone), queries (number of all). Null: not even at the greatest size.

    Examples
    --------
    >>> found = irmeta.stats.mixtures(ap, {"judge": rr}, repeats=10)
    >>> irmeta.stats.least_labelled(found, [0.9]).select("mixture", "alone").row(0)
    (4, 3)
    """
    rows = []
    for (judge,), frame in found.group_by("judge", maintain_order=True):
        ordered = frame.sort("labelled")
        sizes = ordered["labelled"].to_numpy()
        for wanted in taus:
            lows = ordered["tau_low"].to_numpy(), ordered["alone_low"].to_numpy()
            least = [_least(sizes, reached, wanted) for reached in lows]
            rows.append((judge, wanted, *least, ordered["queries"][0]))
    schema = {"judge": pl.String, "wanted": pl.Float64, "mixture": pl.Int32, "alone": pl.Int32}
    return pl.DataFrame(rows, schema | {"queries": pl.Int32}, orient="row")


def _least(sizes: np.ndarray, taus: np.ndarray, wanted: float) -> int | None:
    """Return the least size from which on tau is at least `wanted`."""
    low = np.flatnonzero(~(taus >= wanted))
    first = low[-1] + 1 if len(low) else 0
    return int(sizes[first]) if first < len(sizes) else None


class _Prefixes:
    """Sums of float64 `values` [query, system] over the first queries of each random `order`."""

    def __init__(self, values: np.ndarray, order: np.ndarray) -> None:
        self.values, self.order = values, order
        self._size, self._sums = 0, np.zeros((len(order), values.shape[1]))
        self._all = self._added(0, self._sums, order.shape[1])

    def sums(self, size: int) -> np.ndarray:
        """Return the sums over the first `size` queries: float64 [repeat, system]."""
        if size == self.order.shape[1]:
            return self._all
        if size < self._size:
            self._size, self._sums = 0, np.zeros_like(self._sums)
        self._sums, self._size = self._added(self._size, self._sums, size), size
        return self._sums

    def _added(self, start: int, sums: np.ndarray, size: int) -> np.ndarray:
        sums = sums.copy()
        for queries in self.order[:, start:size].T:
            sums += self.values[queries]
        return sums

    def all(self) -> np.ndarray:
        """Return the means over all queries."""
        return self._all / max(self.order.shape[1], 1)

    def first(self, size: int) -> np.ndarray | None:
        """Return the means over the first `size` queries; None without a query."""
        return self.sums(size) / size if size else None

    def rest(self, size: int) -> np.ndarray | None:
        """Return the means over the other queries; None without a query."""
        others = self.order.shape[1] - size
        return (self._all - self.sums(size)) / others if others else None


def _tau(x: np.ndarray | None, y: np.ndarray | None) -> np.ndarray | None:
    if x is None or y is None:
        return None
    return tau_of_means(x, y)


def _summarised(*pairs: list[np.ndarray | None]) -> list[float]:
    """Return mean, deviation and low end of tau with all queries, and its mean with the others."""
    out = []
    for full, without in pairs:
        known = full is not None
        out.append(float(full.mean()) if known else np.nan)
        out.append(float(full.std(ddof=1)) if known and len(full) > 1 else np.nan)
        missed = int(round((1 - REACHED) * len(full), 9)) if known else 0
        out.append(float(np.sort(full)[missed]) if known and not np.isnan(full).any() else np.nan)
        out.append(np.nan if without is None else float(without.mean()))
    return out
