"""Means of systems from few queries labelled by people and many labelled by a judge.

`correction_gain` simulates how much such intervals gain, and how many of them cover the truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import polars as pl
from scipy.special import stdtr, stdtrit

from irmeta.equality import TIE
from irmeta.errors import UsageError, check_choice, check_share, check_whole, first_few
from irmeta.kernels.prediction_powered import estimates, tally_intervals
from irmeta.parallel import ordered_map
from irmeta.results.matrix import Matrix
from irmeta.schema.result_tables import CORRECTION_GAIN
from irmeta.stats.paired import ROUNDING

Method = Literal["ppi++", "ppi", "difference"]
METHODS: tuple[Method, ...] = get_args(Method)
"""The methods, in the order of their numbers in the kernels."""
LEAST_LABELLED = 3
"""Fewer labelled queries leave no degree of freedom beside a mean and a weight."""


@dataclass(frozen=True)
class LabelledMoments:
    """Moments of values by reference (y) and judge (f) of many targets: float64 [target].

    n `labelled` queries have both, m (`rest`) the judge alone. `y`, `f`, `f_rest` are means; `yy`,
    `ff`, `yf` (co)variances of the labelled (divisor n - 1), `ff_rest` that of the rest (m - 1),
    `ff_all` that of all (n + m - 1), which is both for m < 2.
    """

    labelled: int
    rest: int
    y: np.ndarray
    f: np.ndarray
    f_rest: np.ndarray
    yy: np.ndarray
    ff: np.ndarray
    yf: np.ndarray
    ff_rest: np.ndarray
    ff_all: np.ndarray

    def estimate(self, method: Method) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the estimates, their squared standard errors, and the weights of the judge.

        The weight is tuned for PPI++, otherwise 1; it is 0 without a rest.
        """
        out = np.empty((3, len(self.y)))
        moments = (self.y, self.f, self.f_rest, self.yy, self.ff, self.yf, self.ff_rest)
        estimates(
            METHODS.index(method), self.labelled, self.rest, *moments, self.ff_all, ROUNDING, out
        )
        return out[0], out[1], out[2]

    def reference_alone(self, fixed: bool) -> np.ndarray:
        """Return the squared standard errors of the means of the reference's labels alone."""
        n = self.labelled
        return self.yy / n * (1 - n / (n + self.rest) if fixed else 1.0)


def corrected_means(
    reference: Matrix,
    judge: Matrix,
    *,
    method: Method = "ppi++",
    confidence: float = 0.95,
) -> pl.DataFrame:
    """Estimate the means of systems from few labelled queries and a judge's labels of all.

    The judge's mean over its other queries is corrected by the difference between reference and
    judge on the queries that both labelled, so that the bias of a judge cancels out.

    Parameters
    ----------
    reference : Matrix
        Values of one measure by the labels of the reference, on n queries.
    judge : Matrix
        Values of the same measure by the labels of the judge, on these queries and m others.
    method : {'ppi++', 'ppi', 'difference'}, default 'ppi++'
        ``ppi++`` and ``ppi``: the queries are a sample of all queries that users may ask;
        ``difference``: the mean over just these n + m queries is wanted. See Notes.
    confidence : float, default 0.95
        Confidence level of the intervals.

    Returns
    -------
    DataFrame
        One row per system, in the order of the reference: system, labelled (n), unlabelled (m),
        mean_reference (over n queries), mean_judge (over all n + m), estimate, low, high, weight
        (of the judge), width, width_reference (interval of the reference's n queries alone),
        equivalent (number of queries that people would have to label for the same width, whose
        interval takes the quantile of t for that number).

    Raises
    ------
    UsageError
        If fewer than three queries are labelled, the judge lacks a query or system of the
        reference, the method is unknown, or `confidence` is not between 0 and 1.

    Notes
    -----
    With y under the reference, f under the judge, variances s2 and means over the n labelled or the
    m other queries, the estimate is ``mean_n(y) + w (mean_m(f) - mean_n(f))``, and its variance
    ``s2_n(y - w f) / n + w^2 s2_m(f) / m``. w is 1 in ``ppi`` [1]_, applied to retrieval in [3]_,
    and ``cov_n(y, f) / ((1 + n / m) s2(f))``, limited to 0 to 1, in ``ppi++`` [2]_: with a judge
    that tells nothing, the estimate is the mean of the reference. ``difference`` is
    ``mean_N(f) + mean_n(y - f)`` for the N = n + m queries, with variance
    ``(1 - n / N) s2_n(y - f) / n``: the difference estimator of survey sampling. Intervals are
    Student's with n - 1 degrees of freedom, where [2]_ takes normal ones, since n is small. A query
    on which a value is undefined is excluded. The labelled queries must be a random sample of all:
    those that people found worth labelling are none.

    References
    ----------
    .. [1] Angelopoulos et al. (2023). Prediction-powered inference. doi:10.1126/science.adi6000
    .. [2] Angelopoulos, Duchi and Zrnic (2023). PPI++: Efficient prediction-powered inference.
       arXiv:2311.01453
    .. [3] Oosterhuis et al. (2024). Reliable confidence intervals for information retrieval
       evaluation using generative A.I. arXiv:2407.02464

    Examples
    --------
    >>> labelled = ap.only_queries(np.arange(3))
    >>> found = irmeta.stats.corrected_means(labelled, rr)
    >>> found.select("system", "labelled", "unlabelled").row(0)
    ('a', 3, 1)
    """
    moments, means, systems = _given(reference, judge, method, confidence, None)
    frame = pl.DataFrame(
        {
            "system": pl.Series(systems, dtype=pl.String),
            "labelled": np.full(len(systems), moments.labelled, np.int32),
            "unlabelled": np.full(len(systems), moments.rest, np.int32),
            "mean_reference": moments.y * reference.direction,
            "mean_judge": means * reference.direction,
        }
    )
    return frame.hstack(_intervals(moments, method, confidence, reference.direction))


def corrected_differences(
    reference: Matrix,
    judge: Matrix,
    *,
    method: Method = "ppi++",
    confidence: float = 0.95,
) -> pl.DataFrame:
    """Estimate the differences of all pairs of systems, as `corrected_means` their means.

    Parameters
    ----------
    reference, judge, method, confidence
        See `corrected_means`, which also describes errors.

    Returns
    -------
    DataFrame
        One row per pair: system_a, system_b, labelled, unlabelled, difference_reference (a - b over
        the n labelled queries), difference_judge (over all), estimate, low, high, weight, width,
        width_reference, equivalent, p (two-sided, without correction; 1 or NaN without error, as
        for Student's t without spread).

    Examples
    --------
    >>> labelled = ap.only_queries(np.arange(3))
    >>> found = irmeta.stats.corrected_differences(labelled, rr)
    >>> found.select("system_a", "system_b").rows()
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    pairs = np.triu_indices(len(reference.systems), 1)
    moments, means, systems = _given(reference, judge, method, confidence, pairs)
    names = pl.Series(systems, dtype=pl.String)
    frame = pl.DataFrame(
        {
            "system_a": names.gather(pairs[0]),
            "system_b": names.gather(pairs[1]),
            "labelled": np.full(len(pairs[0]), moments.labelled, np.int32),
            "unlabelled": np.full(len(pairs[0]), moments.rest, np.int32),
            "difference_reference": moments.y * reference.direction,
            "difference_judge": means * reference.direction,
        }
    )
    corrected = frame.hstack(_intervals(moments, method, confidence, reference.direction))
    estimate, squared_error, _ = moments.estimate(method)
    error = np.sqrt(squared_error)
    ratio = np.divide(np.abs(estimate), error, out=np.zeros(len(error)), where=error > 0)
    p = 2 * stdtr(moments.labelled - 1, -ratio)
    is_flat = error <= TIE
    p[is_flat] = np.where(np.abs(estimate[is_flat]) <= TIE, 1.0, np.nan)
    return corrected.with_columns(p=p)


def _given(
    reference: Matrix,
    judge: Matrix,
    method: Method,
    confidence: float,
    pairs: tuple[np.ndarray, np.ndarray] | None,
) -> tuple[LabelledMoments, np.ndarray, tuple[str, ...]]:
    """Return the moments of systems or pairs, the judge's means, and the systems."""
    check_choice("method", method, METHODS)
    check_share("confidence", confidence)
    labelled = ordered_as(reference, judge, judge.measure)
    columns = [judge.systems.index(system) for system in reference.systems]
    known = set(reference.queries)
    f_rest = judge.oriented[[i for i, q in enumerate(judge.queries) if q not in known]][:, columns]
    human = reference.oriented
    both = np.isfinite(human).all(axis=1) & np.isfinite(labelled).all(axis=1)
    f_rest = f_rest[np.isfinite(f_rest).all(axis=1)]
    if both.sum() < LEAST_LABELLED:
        raise UsageError(
            f"{both.sum()} queries have values by both people and the judge; at least "
            f"{LEAST_LABELLED} are needed: label more queries."
        )
    y, f = human[both], labelled[both]
    if pairs is not None:
        y, f, f_rest = (values[:, pairs[0]] - values[:, pairs[1]] for values in (y, f, f_rest))
    return moments_of(y, f, f_rest), np.concatenate((f, f_rest)).mean(axis=0), reference.systems


def moments_of(y: np.ndarray, f: np.ndarray, rest: np.ndarray) -> LabelledMoments:
    """Compute the moments of each column of values by reference and judge [query, target].

    `y` and `f` are of the labelled queries, `rest` of the judge's other queries.
    """
    ff_all = np.concatenate((f, rest)).var(axis=0, ddof=1)
    return LabelledMoments(
        labelled=len(y),
        rest=len(rest),
        y=y.mean(axis=0),
        f=f.mean(axis=0),
        f_rest=rest.mean(axis=0) if len(rest) else np.zeros(y.shape[1]),
        yy=y.var(axis=0, ddof=1),
        ff=f.var(axis=0, ddof=1),
        yf=((y - y.mean(axis=0)) * (f - f.mean(axis=0))).sum(axis=0) / (len(y) - 1),
        ff_rest=rest.var(axis=0, ddof=1) if len(rest) > 1 else ff_all,
        ff_all=ff_all,
    )


def _intervals(
    moments: LabelledMoments, method: Method, confidence: float, direction: int
) -> pl.DataFrame:
    estimate, squared_error, weight = moments.estimate(method)
    factor = t_factor(moments.labelled, confidence)
    margin = factor * np.sqrt(squared_error)
    alone = 2 * factor * np.sqrt(moments.reference_alone(method == "difference"))
    fixed = moments.labelled + moments.rest if method == "difference" else None
    estimate = estimate * direction
    return pl.DataFrame(
        {
            "estimate": estimate,
            "low": estimate - margin,
            "high": estimate + margin,
            "weight": weight,
            "width": 2 * margin,
            "width_reference": alone,
            "equivalent": equivalent_queries(
                moments.labelled, alone, 2 * margin, confidence, fixed
            ),
        }
    )


def t_factor(labelled: int, confidence: float) -> float:
    """Return the quantile of Student's t with n - 1 degrees of freedom."""
    return float(stdtrit(labelled - 1, (1 + confidence) / 2))


def equivalent_queries(
    labelled: int,
    alone: np.ndarray,
    width: np.ndarray,
    confidence: float,
    fixed: int | None = None,
) -> np.ndarray:
    """Return the number of labelled queries at which the reference alone gives the same width.

    The width of n queries is in proportion to ``t(n - 1) sqrt(1 / n)`` or, for the mean over a
    `fixed` number N of queries, ``t(n - 1) sqrt(1 / n - 1 / N)``. NaN where `alone` is 0.
    """
    share_of_all = 0.0 if fixed is None else 1.0 / fixed
    shares, widths = _widths(confidence, share_of_all)
    with np.errstate(divide="ignore", invalid="ignore"):
        target = np.log(t_factor(labelled, confidence)) + np.log(1 / labelled - share_of_all) / 2
        share = np.exp(np.interp(target + np.log(width / alone), widths, shares, left=-np.inf))
        return np.where(alone > 0, 1 / (share + share_of_all), np.nan)


@lru_cache(maxsize=16)
def _widths(confidence: float, share_of_all: float) -> tuple[np.ndarray, np.ndarray]:
    """Return logarithms of ``1 / n - 1 / N``, ascending, and of the widths for these n."""
    shares = np.geomspace(1e-9, 1.0 - share_of_all, 1 << 13)[:-1]
    factors = stdtrit(1 / (shares + share_of_all) - 1, (1 + confidence) / 2)
    return np.log(shares), np.log(factors) + np.log(shares) / 2


@dataclass(frozen=True)
class CommonValues:
    """Values under a reference and, by name, judges: float64 [query, system], greater is better.

    `queries` and `systems` are names: the queries on which all values are defined.
    """

    queries: tuple[str, ...]
    systems: tuple[str, ...]
    reference: np.ndarray
    judges: dict[str, np.ndarray]


def common_values(reference: Matrix, judges: Mapping[str, Matrix]) -> CommonValues:
    """Align the values of judges with the queries and systems of the reference.

    Queries with an undefined or infinite value are excluded. A judge that lacks a system or a
    query, or whose measure has another direction, is a `UsageError`.
    """
    values = {name: ordered_as(reference, judge, name) for name, judge in judges.items()}
    known = np.isfinite(reference.values).all(axis=1)
    for side in values.values():
        known &= np.isfinite(side).all(axis=1)
    queries = tuple(reference.queries[i] for i in np.flatnonzero(known))
    cut = {name: side[known] for name, side in values.items()}
    return CommonValues(queries, reference.systems, reference.oriented[known], cut)


def ordered_as(reference: Matrix, judge: Matrix, name: str) -> np.ndarray:
    """Return the oriented values of a judge for the queries and systems of the reference."""
    if judge.direction != reference.direction:
        raise UsageError(f"{name} and the reference differ in which values are better.")
    rows = _places(reference.queries, judge.queries, "query", name)
    columns = _places(reference.systems, judge.systems, "system", name)
    return judge.oriented[np.ix_(rows, columns)]


def _places(wanted: tuple[str, ...], names: tuple[str, ...], what: str, judge: str) -> list[int]:
    place = {name: i for i, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        listed = first_few(missing, "all of the reference")
        raise UsageError(f"{judge} has no value of {what} {listed}: give it one, such as 0.")
    return [place[name] for name in wanted]


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
            values_of[:, first] if second is None else values_of[:, first] - values_of[:, second]
            for values_of in (values.reference, *values.judges.values())
        ]
        sides = [side - side.mean(axis=0) for side in sides]
        setting = _Setting(sides[0], dict(zip(judges, sides[1:], strict=True)), confidence)
        generator = np.random.default_rng(rng)
        tallies = _simulate(setting, chosen, kinds, drawn[target], generator, workers)
        labels = values.systems, first, second
        width_all = setting.width_all()
        rows += [tally.row(target, *labels, width_all, confidence) for tally in tallies]
    order = {name: i for i, name in enumerate(judges)}
    places = {name: i for i, name in enumerate(kinds)}
    return CORRECTION_GAIN.frame(rows).sort(
        pl.col("judge").replace_strict(order),
        pl.col("target") != "systems",
        "labelled",
        pl.col("method").replace_strict(places),
    )


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

    `totals`: of the widths, of those of the reference alone, and of its intervals that cover the
    truth; `covered`: of intervals that do, int64 [target].
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
        width, alone, covered_alone = (sums / total for sums in self.totals)
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
        kinds = [method for method in methods if (method == "difference") == is_fixed]
        totals = np.zeros((len(sizes), len(kinds), 3))
        covered = np.zeros((len(sizes), len(kinds), targets), np.int64)
        codes = np.array([METHODS.index(method) for method in kinds], np.int64)
        tally_intervals(moments, orders, np.array(sizes), factors, codes, ROUNDING, totals, covered)
        for k, i in np.ndindex(len(sizes), len(kinds)):
            sums = totals[k, i].tolist()
            yield _Tally(name, sizes[k], number, kinds[i], len(orders), sums, covered[k, i])
