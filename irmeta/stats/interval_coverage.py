"""Width and coverage of prediction-powered intervals, by simulation on labelled queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_choice, check_share, check_whole
from irmeta.kernels.prediction_powered import tally_intervals
from irmeta.parallel import ordered_map
from irmeta.results.matrix import Matrix
from irmeta.stats.common_values import common_values
from irmeta.stats.paired import ROUNDING
from irmeta.stats.prediction_powered import (
    LEAST_LABELLED,
    METHODS,
    Method,
    equivalent_queries,
    t_factor,
)

Target = Literal["systems", "pairs"]


def correction_gain(
    reference: Matrix,
    judges: Mapping[str, Matrix],
    sizes: Iterable[int],
    *,
    targets: Iterable[Target] = ("systems", "pairs"),
    methods: Iterable[Method] = METHODS,
    draws: int = 1000,
    pair_draws: int = 200,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
    workers: int | None = None,
) -> pl.DataFrame:
    """Simulate how much a judge narrows intervals, and how often they cover the truth.

    The N queries that reference and judge both labelled serve as the truth. In each draw, n of
    them keep the labels of the reference, and all others only those of the judge.

    Parameters
    ----------
    reference : Matrix
        Values of one measure by the labels of the reference.
    judges : mapping of str to Matrix
        Values of the same measure by the labels of each judge; a judge has every query and system
        of the reference. A query on which any value is undefined is excluded for all judges.
    sizes : iterable of int
        Numbers n of labelled queries, from 3 to N - 1.
    targets : iterable of {'systems', 'pairs'}, default both
        Means of systems and differences of pairs.
    methods : iterable of {'ppi++', 'ppi', 'difference'}, default all
        See `corrected_means`. For ``ppi++`` and ``ppi``, N queries are drawn with replacement, and
        the truth is the mean over the original N. For ``difference``, the queries are fixed and
        only those labelled are drawn.
    draws, pair_draws : int, default 1000 and 200
        Numbers of draws for systems and for pairs; the same for all sizes and judges.
    confidence : float, default 0.95
        Confidence level of the intervals.
    rng : int or Generator, default 0
        Random seed.
    workers : int, optional
        Threads, which share the judges; default all cores. The values are the same for any number.

    Returns
    -------
    DataFrame
        One row per judge, target, size and method: judge, target, labelled (n), queries (N),
        method, width_reference (n queries of the reference alone), width, width_all (all N queries
        labelled by the reference; 0 for ``difference``, which then has no error), equivalent
        (labelled queries that give people alone the same width), coverage_reference, coverage
        (mean share of draws in which the interval covers the truth), least_coverage (least share
        of one system or pair), least_a, least_b (that system, or both of that pair), draws. Widths
        are means over targets and draws.

    Raises
    ------
    UsageError
        If there is no size, a size is not between 3 and N - 1, a target or method is unknown, a
        judge lacks a query or system, or a number of draws is not at least 1.

    References
    ----------
    .. [1] Angelopoulos, Duchi and Zrnic (2023). PPI++: Efficient prediction-powered inference.
       arXiv:2311.01453

    Examples
    --------
    >>> queries = tuple(f"q{i}" for i in range(8))
    >>> values = np.random.default_rng(1).random((8, 2))
    >>> people = irmeta.Matrix(values, queries, ("a", "b"), "AP")
    >>> judge = irmeta.Matrix(values + 0.1, queries, ("a", "b"), "AP")
    >>> found = irmeta.stats.correction_gain(people, {"lenient": judge}, [4])
    >>> found.filter(target="systems").select("method", "equivalent").row(2)
    ('difference', 8.0)
    """
    check_share("confidence", confidence)
    values = common_values(reference, judges)
    number = len(values.queries)
    chosen = sorted({check_whole("size", size) for size in sizes})
    if not chosen or chosen[0] < LEAST_LABELLED or chosen[-1] >= number:
        raise UsageError(
            f"sizes {chosen}: give some from {LEAST_LABELLED} to {number - 1}, since {number} "
            f"queries have all values."
        )
    kinds, wanted = list(methods), list(targets)
    for kind in kinds:
        check_choice("method", kind, METHODS)
    for target in wanted:
        check_choice("target", target, get_args(Target))
    drawn = {"systems": check_whole("draws", draws), "pairs": check_whole("pair_draws", pair_draws)}
    rows = []
    for target in wanted:
        first, second = np.arange(len(values.systems)), None
        if target == "pairs":
            first, second = np.triu_indices(len(values.systems), 1)
        sides = [
            _centred(one, first, second) for one in (values.reference, *values.judges.values())
        ]
        setting = _Setting(sides[0], dict(zip(judges, sides[1:], strict=True)), confidence)
        generator = np.random.default_rng(rng)
        tallies = _simulate(setting, chosen, kinds, drawn[target], generator, workers)
        names = values.systems, first, second
        width_all = setting.width_all()
        rows += [tally.row(target, *names, width_all, confidence) for tally in tallies]
    order = {name: i for i, name in enumerate(judges)}
    places = {name: i for i, name in enumerate(kinds)}
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row").sort(
        pl.col("judge").replace_strict(order),
        pl.col("target") != "systems",
        "labelled",
        pl.col("method").replace_strict(places),
    )


_SCHEMA = {
    "judge": pl.String, "target": pl.String, "labelled": pl.Int32, "queries": pl.Int32,
    "method": pl.String, "width_reference": pl.Float64, "width": pl.Float64,
    "width_all": pl.Float64, "equivalent": pl.Float64, "coverage_reference": pl.Float64,
    "coverage": pl.Float64, "least_coverage": pl.Float64, "least_a": pl.String,
    "least_b": pl.String, "draws": pl.Int32,
}  # fmt: skip


def _centred(values: np.ndarray, first: np.ndarray, second: np.ndarray | None) -> np.ndarray:
    """Return the values of targets minus their means: float64 [query, target]."""
    chosen = values[:, first] if second is None else values[:, first] - values[:, second]
    return chosen - chosen.mean(axis=0)


@dataclass(frozen=True)
class _Setting:
    """Centred values of targets, so that the truth is 0: float64 [query, target]."""

    reference: np.ndarray
    judges: dict[str, np.ndarray]
    confidence: float

    def width_all(self) -> float:
        """Return the mean width of the interval of the reference with all queries labelled."""
        number = len(self.reference)
        error = self.reference.std(axis=0, ddof=1) / np.sqrt(number)
        return float(2 * t_factor(number, self.confidence) * error.mean())


@dataclass(frozen=True)
class _Tally:
    """Sums over all draws of one judge, size and method.

    Attributes
    ----------
    totals
        Sums of the widths, of the widths of the reference alone, and the number of intervals of the
        reference alone that cover the truth.
    covered
        Number of intervals that cover the truth: int64 [target].
    """

    judge: str
    labelled: int
    queries: int
    method: Method
    draws: int
    totals: list[float]
    covered: np.ndarray

    def row(
        self,
        target: Target,
        systems: tuple[str, ...],
        first: np.ndarray,
        second: np.ndarray | None,
        width_all: float,
        confidence: float,
    ) -> tuple[object, ...]:
        total = max(self.draws * len(self.covered), 1)
        width, alone, covered_alone = (one / total for one in self.totals)
        least_a = least_b = None
        shares = self.covered / max(self.draws, 1)
        if len(shares):
            place = int(shares.argmin())
            least_a = systems[first[place]]
            least_b = None if second is None else systems[second[place]]
        fixed = self.queries if self.method == "difference" else None
        widths = np.array(alone), np.array(width)
        equivalent = equivalent_queries(self.labelled, *widths, confidence, fixed)
        return (
            self.judge, target, self.labelled, self.queries, self.method, alone, width,
            0.0 if self.method == "difference" else width_all, float(equivalent),
            covered_alone, float(self.covered.sum()) / total,
            float(shares.min(initial=1.0)), least_a, least_b, self.draws,
        )  # fmt: skip


def _simulate(
    setting: _Setting,
    sizes: list[int],
    methods: list[Method],
    draws: int,
    rng: np.random.Generator,
    workers: int | None,
) -> Iterator[_Tally]:
    """Yield the sums over all draws for each judge, size and method."""
    number = setting.reference.shape[0]
    draws_of = {
        False: rng.integers(0, number, (draws, number)),
        True: rng.permuted(np.tile(np.arange(number), (draws, 1)), axis=1),
    }

    def of_judge(name: str) -> list[_Tally]:
        return [*_simulate_judge(setting, name, sizes, methods, draws_of)]

    for tallies in ordered_map(of_judge, setting.judges, workers=workers):
        yield from tallies


def _simulate_judge(
    setting: _Setting,
    name: str,
    sizes: list[int],
    methods: list[Method],
    draws_of: Mapping[bool, np.ndarray],
) -> Iterator[_Tally]:
    """Yield the sums of one judge; `draws_of` has the queries drawn, whether fixed or not."""
    y, f = setting.reference, setting.judges[name]
    number, targets = y.shape
    factors = np.array([t_factor(size, setting.confidence) for size in sizes])
    moments = np.stack((y, y * y, f, f * f, y * f))
    for is_fixed, orders in draws_of.items():
        kinds = [one for one in methods if (one == "difference") == is_fixed]
        totals = np.zeros((len(sizes), len(kinds), 3))
        covered = np.zeros((len(sizes), len(kinds), targets), np.int64)
        codes = np.array([METHODS.index(one) for one in kinds], np.int64)
        tally_intervals(moments, orders, np.array(sizes), factors, codes, ROUNDING, totals, covered)
        for k, i in np.ndindex(len(sizes), len(kinds)):
            sums = totals[k, i].tolist()
            yield _Tally(name, sizes[k], number, kinds[i], len(orders), sums, covered[k, i])
