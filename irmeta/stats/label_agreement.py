"""Agreement of a judge's labels with the reference's: kappa, alpha, AC1, AC2, with intervals.

Every coefficient is a function of the table of labels [grade of the reference, grade of the judge],
so that a resample of queries is a weighted sum of the tables of its queries. The last part has the
alternative annotator test, and rankings of docs by the labels of people or judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import stdtr, stdtrit

from irmeta.equality import TIE
from irmeta.errors import UsageError, check_share
from irmeta.phrases import count
from irmeta.schema.result_tables import ALPHAS, SAME_SCALE, SCALE_FREE
from irmeta.stats.corrections import adjusted
from irmeta.stats.resampling import draw_counts

CELLS_HELD = 1 << 21  # of resampled tables at once
Compute = Callable[[np.ndarray], dict[str, np.ndarray]]
"""Function of tables that returns coefficients by name."""
LEAST_RESAMPLED = 5
"""Resamples of fewer queries are too alike: of 3 queries, 67 to 80 % of the bootstrap-t cover."""
FEW_QUERIES = 20
"""Percentiles of fewer queries are too narrow: of 5 queries, 73 to 86 % of them cover."""
MEANS = ("mean_reference", "mean_judge", "leniency")
"""Coefficients without a greatest value of 1."""
SHARES = ("exact", "precision", "recall")
"""Coefficients of at least 0."""


def coefficients(
    tables: np.ndarray, grades: np.ndarray, rel_reference: float, rel_judge: float
) -> dict[str, np.ndarray]:
    """Compute `SCALE_FREE` and `SAME_SCALE` of tables [table, grade of reference, grade of judge].

    float64 [table]; NaN without docs; of kappa and alpha where both sets are constant and equal,
    and of Spearman's rho where one is constant. AC1 and AC2 count all `grades` of the scale.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        docs = tables.sum(axis=(1, 2))
        shares = tables / docs[:, None, None]
        of_reference, of_judge = shares.sum(axis=2), shares.sum(axis=1)
        gaps = np.abs(grades[:, None] - grades)
        squared = gaps**2
        differ = (gaps > 0).astype(np.float64)
        means = of_reference @ grades, of_judge @ grades
        values = {
            "spearman": _spearman(shares, of_reference, of_judge),
            **_binary(tables, grades >= rel_reference, grades >= rel_judge),
            "exact": np.einsum("tii->t", shares),
            "kappa": _kappa(shares, of_reference, of_judge, differ),
            "kappa_linear": _kappa(shares, of_reference, of_judge, gaps),
            "kappa_quadratic": _kappa(shares, of_reference, of_judge, squared),
            **alphas(tables + tables.transpose(0, 2, 1), grades),
            "ac1": _gwet(shares, of_reference, of_judge, 1.0 - differ),
            "ac2": _gwet(shares, of_reference, of_judge, 1.0 - squared / squared.max(initial=0.0)),
            "mean_reference": means[0],
            "mean_judge": means[1],
            "leniency": means[1] - means[0],
        }
    return {name: values[name] for name in (*SCALE_FREE, *SAME_SCALE)}


def _kappa(
    shares: np.ndarray, of_reference: np.ndarray, of_judge: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Compute Cohen's kappa: 1 - observed / expected disagreement."""
    expected = ((of_reference @ weights) * of_judge).sum(axis=1)
    return 1.0 - _weighted(shares, weights) / expected


def _weighted(shares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return shares.reshape(len(shares), weights.size) @ weights.ravel()


def _gwet(
    shares: np.ndarray, of_reference: np.ndarray, of_judge: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Compute Gwet's AC1 (weights of equal grades alone) or AC2."""
    levels = len(weights)
    mean = (of_reference + of_judge) / 2.0
    chance = weights.sum() / (levels * (levels - 1)) * (mean * (1.0 - mean)).sum(axis=1)
    return (_weighted(shares, weights) - chance) / (1.0 - chance)


def _spearman(shares: np.ndarray, of_reference: np.ndarray, of_judge: np.ndarray) -> np.ndarray:
    """Correlate the average ranks of both sets, as shares of docs, minus the mean rank."""
    x, y = (np.cumsum(of, axis=1) - of / 2.0 - 0.5 for of in (of_reference, of_judge))
    covariance = (np.matmul(x[:, None, :], shares)[:, 0] * y).sum(axis=1)
    variances = (of_reference * x**2).sum(axis=1) * (of_judge * y**2).sum(axis=1)
    return np.where(variances > 0, covariance / np.sqrt(variances), np.nan)


def _binary(
    tables: np.ndarray, in_reference: np.ndarray, in_judge: np.ndarray
) -> dict[str, np.ndarray]:
    """Compute precision and recall of the judge's relevant docs, and Cohen's kappa."""
    docs = tables.sum(axis=(1, 2))
    both = tables[:, in_reference][:, :, in_judge].sum(axis=(1, 2))
    relevant = tables[:, in_reference].sum(axis=(1, 2))
    judged = tables[:, :, in_judge].sum(axis=(1, 2))
    # Of whole numbers, so that sets that are constant and equal give 0 / 0; shares gave kappas of
    # a rounding error over another, such as -10 in a resample.
    beyond_chance = 2.0 * (docs * both - relevant * judged)
    return {
        "precision": both / judged,
        "recall": both / relevant,
        "kappa_binary": beyond_chance / (docs * (relevant + judged) - 2.0 * relevant * judged),
    }


def alphas(coincidences: np.ndarray, grades: np.ndarray) -> dict[str, np.ndarray]:
    """Compute the `ALPHAS` of Krippendorff of each of several tables: float64 [table].

    `coincidences` are symmetric [table, grade, grade]: for every doc its pairs of labels by
    different judges, over its number of labels minus 1. NaN where all labels are equal.
    """
    labels = coincidences.sum(axis=2)
    gaps = grades[:, None] - grades
    middle = np.cumsum(labels, axis=1) - labels / 2.0
    ordinal = (middle[:, :, None] - middle[:, None, :]) ** 2
    metrics = (gaps != 0).astype(np.float64)[None], ordinal, (gaps**2)[None]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = dict[str, np.ndarray]()
        for name, metric in zip(ALPHAS, metrics, strict=True):
            observed = (coincidences * metric).sum(axis=(1, 2))
            expected = (np.matmul(labels[:, None, :], metric)[:, 0] * labels).sum(axis=1)
            values[name] = 1.0 - (labels.sum(axis=1) - 1.0) * observed / expected
    return values


def count_coincidences(
    doc: np.ndarray, level: np.ndarray, query: np.ndarray, levels: int
) -> np.ndarray:
    """Count the coincidences of any number of judges by query: float64 [query, grade, grade].

    `query` is ascending [doc]. A doc with one label counts nothing.
    """
    labels = np.bincount(doc.astype(np.int64) * levels + level, minlength=len(query) * levels)
    by_doc = labels.reshape(len(query), levels).astype(np.float64)
    number = by_doc.sum(axis=1)
    weight = np.where(number > 1, 1.0 / np.maximum(number - 1.0, 1.0), 0.0)
    counts = np.zeros((int(query[-1]) + 1 if len(query) else 0, levels, levels))
    for q in range(len(counts)):
        part, share = by_doc[query == q], weight[query == q]
        counts[q] = (part * share[:, None]).T @ part - np.diag(share @ part)
    return counts


def query_intervals(
    tables: np.ndarray,
    compute: Compute,
    resamples: int,
    seed: np.random.SeedSequence,
) -> dict[str, tuple[float, float]]:
    """Return 95 % intervals, low and high by name, of coefficients over queries.

    Whole queries are drawn with replacement (cluster bootstrap), since labels of one query are not
    independent: percentiles or, of fewer than `FEW_QUERIES`, see `_studentised`.
    """
    if len(tables) < 2:
        return dict.fromkeys(compute(tables), (np.nan, np.nan))
    if len(tables) < FEW_QUERIES:
        return _studentised(tables, compute, resamples, seed)
    queries, cells = len(tables), tables[0].size
    counts = draw_counts(queries, resamples, seed).astype(np.float64)
    parts = [
        compute((part @ tables.reshape(queries, cells)).reshape(-1, *tables.shape[1:]))
        for part in _parts(counts, max(1, CELLS_HELD // cells))
    ]
    return {name: _interval(np.concatenate([part[name] for part in parts])) for name in parts[0]}


def interval_text(queries: int) -> str | None:
    """Return the kind of the intervals of `query_intervals`; None for fewer than two queries."""
    if queries < LEAST_RESAMPLED:
        return "jackknife t" if queries > 1 else None
    return "bootstrap-t" if queries < FEW_QUERIES else "percentile"


def _studentised(
    tables: np.ndarray, compute: Compute, resamples: int, seed: np.random.SeedSequence
) -> dict[str, tuple[float, float]]:
    """Return intervals by standard errors that leave out one query at a time.

    Quantiles of errors are those of resamples (bootstrap-t) or, of few queries, of Student's t, for
    ``-log(1 - coefficient)`` (except for `MEANS`), since a coefficient near 1 is skewed.
    """
    queries = len(tables)
    estimates = dict(_errors(tables, compute, np.ones((1, queries))))
    if queries < LEAST_RESAMPLED:
        quantiles = stdtrit(queries - 1, np.array([0.975, 0.025]))
        return {
            name: _ends(name, estimate[:, 0], quantiles) for name, estimate in estimates.items()
        }
    step = max(1, CELLS_HELD // tables.size)
    counts = draw_counts(queries, resamples, seed).astype(np.float64)
    parts = [dict(_errors(tables, compute, part)) for part in _parts(counts, step)]
    intervals = {}
    for name, estimate in estimates.items():
        value, values = estimate[0, 0], np.concatenate([part[name] for part in parts], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            if name in MEANS:
                ratios = (values[0] - value) / values[1]
            else:
                ratios = np.log((1 - value) / (1 - values[0])) * (1 - values[0]) / values[1]
        defined = ratios[np.isfinite(ratios) & (values[1] > TIE)]
        is_known = len(defined) >= len(ratios) / 2
        quantiles = np.quantile(defined, (0.975, 0.025)) if is_known else np.full(2, np.nan)
        intervals[name] = _ends(name, estimate[:, 0], quantiles)
    return intervals


def _errors(
    tables: np.ndarray, compute: Compute, counts: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each coefficient of samples with its standard error: name, float64 [2, sample].

    `counts` is float64 [sample, query]: how often a sample has each query.
    """
    queries = len(tables)
    samples = (counts @ tables.reshape(queries, -1)).reshape(-1, *tables.shape[1:])
    rows, left_out = np.nonzero(counts)
    times = counts[rows, left_out]
    without = compute(samples[rows] - tables[left_out])
    for name, values in compute(samples).items():
        mean = np.bincount(rows, times * without[name], len(counts)) / queries
        squares = times * np.square(without[name] - mean[rows])
        total = np.bincount(rows, squares, len(counts))
        yield name, np.stack([values, np.sqrt(total * (queries - 1) / queries)])


def _ends(name: str, estimate: np.ndarray, quantiles: np.ndarray) -> tuple[float, float]:
    """Return the ends of an interval, given the quantiles of the error in standard errors."""
    value, error = estimate.tolist()
    if not error > TIE:
        return (value, value) if error <= TIE else (np.nan, np.nan)
    if name in MEANS:
        low, high = value - error * quantiles
        return float(low), float(high)
    logarithms = np.log(1 - value) + error / (1 - value) * quantiles
    low, high = 1 - np.exp(np.minimum(logarithms, 700.0))
    return max(float(low), 0.0 if name in SHARES else -1.0), float(high)


def _interval(values: np.ndarray) -> tuple[float, float]:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return np.nan, np.nan
    low, high = np.quantile(defined, (0.025, 0.975))
    return float(low), float(high)


def _parts(rows: np.ndarray, step: int) -> Iterator[np.ndarray]:
    return (rows[start : start + step] for start in range(0, len(rows), step))


SAME = "same"
"""Scale of a judge with the grades of the reference."""
MOST_GRADES = 6  # of a scale that are listed
MOST_LEVELS = 510  # of two sets, whose tables of labels by query grow with the square
MOST_STRAY = 0.01  # share of a judge's labels outside the scale of the reference


@dataclass(frozen=True)
class AgreementOptions:
    """Options of the agreement of judges; `same_scale` though some sets lack a grade.

    `raw`: compute coefficients of grades where scales differ, too.
    """

    same_scale: bool
    raw: bool
    resamples: int
    seed: np.random.SeedSequence


class LabelPairs:
    """Labels of the docs that the reference and a judge both judged.

    Both have query, doc, grade (Float64), each doc of a query once, and their least relevant
    grades.
    """

    def __init__(
        self,
        reference: pl.DataFrame,
        judge: pl.DataFrame,
        rel_reference: float,
        rel_judge: float,
        options: AgreementOptions,
    ) -> None:
        both = reference.join(judge, on=["query", "doc"], suffix="_judge").sort("query", "doc")
        self.labels: pl.DataFrame = both
        self.reference_alone: int = reference.height - both.height
        self.judge_alone: int = judge.height - both.height
        self.rels: tuple[float, float] = float(rel_reference), float(rel_judge)
        self.scale: str = scale_text(reference["grade"], judge["grade"])
        self.options: AgreementOptions = options
        has_scale = self.scale.startswith(SAME) or options.same_scale
        self.is_comparable: bool = has_scale or options.raw
        # Without a common scale, the grades of the common docs are the levels.
        sides = (reference["grade"], judge["grade"]) if has_scale else (both["grade"], self._judge)
        self.grades: np.ndarray = np.union1d(*(side.to_numpy() for side in sides))
        if len(self.grades) > MOST_LEVELS:
            raise UsageError(
                f"{len(self.grades):,} distinct grades are more than {MOST_LEVELS}, which can be "
                "compared: round them at reading by `grade_digits=`."
            )
        counts_all = options.same_scale or options.raw
        stray = [] if counts_all else stray_grades(reference["grade"], judge["grade"])
        self.on_scale: np.ndarray = ~np.isin(self.grades, stray)

    @property
    def _judge(self) -> pl.Series:
        return self.labels["grade_judge"]

    @cached_property
    def tables(self) -> np.ndarray:
        """Numbers of docs, float64 [query, grade of the reference, grade of the judge]."""
        query = self.labels["query"].rle_id().to_numpy().astype(np.int64)
        reference = np.searchsorted(self.grades, self.labels["grade"].to_numpy())
        judge = np.searchsorted(self.grades, self._judge.to_numpy())
        queries, levels = self.labels["query"].n_unique(), len(self.grades)
        cells = (query * levels + reference) * levels + judge
        counts = np.bincount(cells, minlength=queries * levels * levels)
        return counts.reshape(queries, levels, levels).astype(np.float64)

    def coefficients(self, tables: np.ndarray) -> dict[str, np.ndarray]:
        """Compute all coefficients of some tables; NaN where they need a common scale.

        Docs of stray grades do not count for those of the scale.
        """
        values = coefficients(tables, self.grades, *self.rels)
        if self.is_comparable and not self.on_scale.all():
            inside = tables[:, self.on_scale][:, :, self.on_scale]
            of_scale = coefficients(inside, self.grades[self.on_scale], *self.rels)
            values |= {name: of_scale[name] for name in SAME_SCALE}
        if not self.is_comparable:
            values |= dict.fromkeys(SAME_SCALE, np.full(len(tables), np.nan))
        return values

    def row(self) -> dict[str, object]:
        """Return counts, coefficients and their intervals."""
        total = self.tables.sum(axis=0)
        relevant, judged = (self.grades >= rel for rel in self.rels)
        values = self.coefficients(total[None])
        intervals = query_intervals(
            self.tables, self.coefficients, self.options.resamples, self.options.seed
        )
        return {
            "queries": len(self.tables),
            "docs": self.labels.height,
            "reference_alone": self.reference_alone,
            "judge_alone": self.judge_alone,
            "rel_reference": self.rels[0],
            "rel_judge": self.rels[1],
            "both_relevant": int(total[relevant][:, judged].sum()),
            "reference_relevant": int(total[relevant][:, ~judged].sum()),
            "judge_relevant": int(total[~relevant][:, judged].sum()),
            "none_relevant": int(total[~relevant][:, ~judged].sum()),
            "scale": self.scale,
            **{
                column: value
                for name in (*SCALE_FREE, *SAME_SCALE)
                for column, value in zip(
                    (name, f"{name}_low", f"{name}_high"),
                    (float(values[name][0]), *intervals[name]),
                    strict=True,
                )
            },
        }

    def by_query(self) -> pl.DataFrame:
        """Return the coefficients of each query: query, docs, then the coefficients."""
        return pl.DataFrame(
            {
                "query": self.labels["query"].unique(maintain_order=True),
                "docs": self.tables.sum(axis=(1, 2)).astype(np.int64),
                **self.coefficients(self.tables),
            }
        )

    def confusion(self) -> pl.DataFrame:
        """Count the docs of each pair of grades that occurs."""
        grades = pl.col("grade").alias("reference_grade"), pl.col("grade_judge")
        counts = self.labels.group_by(*grades).agg(docs=pl.len().cast(pl.Int64))
        return counts.rename({"grade_judge": "judge_grade"}).sort("reference_grade", "judge_grade")


def stray_grades(reference: pl.Series, judge: pl.Series) -> list[float]:
    """Return the grades of few of a judge's labels without which both sets have the same grades."""
    scale = reference.unique().to_list()
    others = judge.filter(~judge.is_in(scale))
    is_few = len(others) <= MOST_STRAY * len(judge)
    has_all = judge.n_unique() == len(scale) + others.n_unique()
    return others.unique().sort().to_list() if is_few and has_all else []


def scale_text(reference: pl.Series, judge: pl.Series) -> str:
    """Return `SAME` where two sets have the same grades, or else both grades as text.

    Stray grades of the judge follow `SAME`.
    """
    sides = [side.unique().sort().to_list() for side in (judge, reference)]
    if sides[0] == sides[1]:
        return SAME
    if stray := stray_grades(reference, judge):
        labels = count(int(judge.is_in(stray).sum()), "label")
        grades = ", ".join(f"{grade:g}" for grade in stray[:MOST_GRADES])
        return f"{SAME}, without {labels} of grade {grades}"
    texts = [", ".join(f"{g:g}" for g in side[:MOST_GRADES]) for side in sides]
    more = [f" and {len(side) - MOST_GRADES} more" * (len(side) > MOST_GRADES) for side in sides]
    return f"grades {texts[0]}{more[0]}; reference: {texts[1]}{more[1]}"


def common_alpha(sets: Mapping[str, pl.DataFrame], options: AgreementOptions) -> dict[str, object]:
    """Compute the `ALPHAS` of any number of sets of labels, which may miss docs, with intervals.

    Each set has the columns query, doc, grade, on one scale.
    """
    frame = pl.concat(sets.values()).with_columns(unit=pl.struct("query", "doc").rank("dense") - 1)
    units = frame.unique("unit").sort("unit")
    grades = np.unique(frame["grade"].to_numpy())
    tables = count_coincidences(
        frame["unit"].to_numpy(),
        np.searchsorted(grades, frame["grade"].to_numpy()),
        units["query"].rle_id().to_numpy(),
        len(grades),
    )
    compute = partial(alphas, grades=grades)
    values = compute(tables.sum(axis=0)[None])
    intervals = query_intervals(tables, compute, options.resamples, options.seed)
    row: dict[str, object] = {
        "judges": len(sets),
        "docs": int((frame["unit"].value_counts()["count"] > 1).sum()),
        "interval": interval_text(len(tables)),
    }
    for name in ALPHAS:
        row[name], (row[f"{name}_low"], row[f"{name}_high"]) = values[name][0], intervals[name]
    return row


FEWEST_DOCS = 30
"""Fewest docs of a person, as in the paper; with fewer the test of that person is undefined."""
FEWEST_PEOPLE = 3
"""Fewest people, as in the paper, so that each is compared with two others."""


class AlternativeAnnotator(NamedTuple):
    """Result of the alternative annotator test.

    Attributes
    ----------
    advantage : float
        Mean over people of the share of docs on which the judge agrees with the other people at
        least as well as the person does.
    winning_rate : float
        Share of people whom the judge may replace, docs being independent, as in the paper. NaN
        where no person can be tested.
    winning_rate_queries : float
        The same with standard errors of whole queries, whose docs are not independent.
    docs : int
        Fewest docs of a person on which the judge and another person have a label.
    """

    advantage: float
    winning_rate: float
    winning_rate_queries: float
    docs: int


def alternative_annotator_test(
    judge: np.ndarray,
    people: np.ndarray,
    query: np.ndarray,
    epsilon: float = 0.2,
    *,
    alpha: float = 0.05,
) -> AlternativeAnnotator:
    """Test whether a judge may replace a person: the alternative annotator test [1]_.

    Parameters
    ----------
    judge : ndarray of float64, shape (docs,)
        Labels of the judge; NaN: none.
    people : ndarray of float64, shape (people, docs)
        Labels of three people or more, on the judge's scale; NaN: none.
    query : ndarray of int64, shape (docs,)
        Query of each doc.
    epsilon : float, default 0.2
        What a person costs more than the judge, as a share of docs: 0.2 for experts, 0.15 for
        skilled people, 0.1 for crowd workers.
    alpha : float, default 0.05
        False discovery rate over people.

    Returns
    -------
    AlternativeAnnotator
        The judge passes if a winning rate is at least 0.5.

    Raises
    ------
    UsageError
        If there are fewer than three people, or `epsilon` or `alpha` is not between 0 and 1.

    Notes
    -----
    On each doc, person j and the judge have as scores the share of the other people with the same
    label. W_f is 1 where the judge's score is at least the person's, W_h where the person's is at
    least the judge's. The null hypothesis that mean(W_h - W_f) is at least epsilon is tested by
    Student's t, one-sided, for each person with 30 docs or more, with the correction of Benjamini
    and Yekutieli over people.

    References
    ----------
    .. [1] Calderon, N., Reichart, R. and Dror, R. (2025). The alternative annotator test for
       LLM-as-a-judge: how to statistically justify replacing human annotators with LLMs. ACL.
       arXiv:2501.10970

    Examples
    --------
    >>> labels = np.random.default_rng(0).integers(0, 2, 60).astype(float)
    >>> query = np.arange(60) // 6
    >>> alternative_annotator_test(labels, np.tile(labels, (3, 1)), query)
    AlternativeAnnotator(advantage=1.0, winning_rate=1.0, winning_rate_queries=1.0, docs=60)
    """
    check_share("epsilon", epsilon)
    check_share("alpha", alpha)
    number = len(people)
    if number < FEWEST_PEOPLE:
        raise UsageError(
            f"the alternative annotator test needs {FEWEST_PEOPLE} people, not {number}: name more."
        )
    known = ~np.isnan(people)
    advantages, p, p_queries, docs = [], [], [], []
    for j in range(number):
        others = np.delete(people, j, axis=0)
        rated = known[j] & ~np.isnan(judge) & ~np.isnan(others).all(axis=0)
        count = (~np.isnan(others[:, rated])).sum(axis=0)
        scores = [
            (others[:, rated] == labels[rated]).sum(axis=0) / count for labels in (judge, people[j])
        ]
        of_judge, of_person = scores[0] >= scores[1], scores[1] >= scores[0]
        differences = of_person.astype(float) - of_judge
        docs.append(len(differences))
        advantages.append(float(of_judge.mean()) if len(differences) else np.nan)
        p.append(_p_below(differences, np.arange(len(differences)), epsilon))
        p_queries.append(_p_below(differences, query[rated], epsilon))
    return AlternativeAnnotator(
        float(np.mean(advantages)), _winning_rate(p, alpha), _winning_rate(p_queries, alpha),
        min(docs),
    )  # fmt: skip


def _p_below(values: np.ndarray, cluster: np.ndarray, limit: float) -> float:
    """Return the one-sided p-value of a mean that is not below a limit, by clusters; NaN: few."""
    _, of_cluster = np.unique(cluster, return_inverse=True)
    clusters = int(of_cluster.max(initial=-1)) + 1
    if len(values) < FEWEST_DOCS or clusters < 2:
        return np.nan
    mean = float(values.mean())
    sums = np.bincount(of_cluster, values - mean)
    error = float(np.sqrt((sums**2).sum() * clusters / (clusters - 1))) / len(values)
    if error == 0.0:
        return 0.0 if mean < limit else 1.0
    return float(stdtr(clusters - 1, (mean - limit) / error))


def _winning_rate(p: list[float], alpha: float) -> float:
    """Return the share of p-values that Benjamini and Yekutieli reject; NaN: none is defined."""
    values = np.array(p)
    tested = int((~np.isnan(values)).sum())
    if not tested:
        return np.nan
    harmonic = (1.0 / np.arange(1, tested + 1)).sum()
    rejected = adjusted(values, "benjamini-hochberg") * harmonic <= alpha
    return float(rejected.sum() / len(values))


def expected_ndcg(labels: np.ndarray, gains: np.ndarray, cutoff: int) -> float:
    """Return nDCG of docs ranked by labels; ties in all orders alike, docs without a label last.

    `labels` are float64 [doc], NaN: none; `gains` those of the reference, at least 0. The value is
    the expectation over orders of ties; NaN: no doc has a gain.
    """
    discount = np.zeros(len(gains))
    discount[:cutoff] = 1.0 / np.log2(np.arange(2, min(cutoff, len(gains)) + 2))
    ideal = float(np.sort(gains)[::-1] @ discount)
    if ideal <= 0.0:
        return np.nan
    keys = np.where(np.isnan(labels), -np.inf, labels)
    order = np.argsort(-keys, kind="stable")
    _, tie = np.unique(-keys[order], return_inverse=True)
    # each doc of a tie has the mean discount of its ranks
    mean = np.bincount(tie, discount) / np.bincount(tie)
    return float(gains[order] @ mean[tie]) / ideal
