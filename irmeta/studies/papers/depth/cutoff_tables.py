"""Discrimination, coverage, residuals and guidance by the cutoff: Tables 7 to 9, Figure 4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from irmeta.results.matrix import Matrix
from irmeta.stats.correlation import correlate, in_common
from irmeta.stats.new_measure import covered_pairs
from irmeta.stats.orders import round_means
from irmeta.stats.pairs import Pairs, pairwise
from irmeta.studies.papers.depth.options import cut
from irmeta.studies.papers.depth.studied_pool import StudiedPool, judged_only

RESIDUALS = {
    "RBP(p=0.95)": "RBPResidual(p=0.95)",
    "RBP(p=0.8)": "RBPResidual(p=0.8)",
    "ERR": "ERRResidual(form=unjudged)",
}
KINDS = {"full": False, "condensed": True}

Row = dict[str, Any]


def table_7(pool: StudiedPool) -> Iterator[Row]:
    """Yield the rows of the table `table_7`, for every measure, depth, kind of lists and cutoff."""
    for measure in dict.fromkeys([*pool.options.compared, pool.options.drawn]):
        for depth in pool.depths:
            yield from _by_cutoff(pool, measure, depth)


def _by_cutoff(pool: StudiedPool, measure: str, depth: int) -> Iterator[Row]:
    reference_k = pool.reference_k(depth)
    ks: list[int | None] = [*pool.ks(depth)]
    if measure == "RR":  # the paper's RR has no cutoff
        ks.append(None)
    names = {(kind, k): cut(measure, k, KINDS[kind]) for kind in KINDS for k in ks}
    scores = pool.scores([*names.values()], depth).only(pool.names)
    reference = _Tested(scores.matrix(names["full", reference_k]))
    for (lists, k), name in names.items():
        compared = _Tested(scores.matrix(name))
        yield {
            "measure": measure,
            "depth": depth,
            "lists": lists,
            "k": k,
            "reference_k": reference_k,
            **compared.against(reference, pool.options.alpha),
        }


class _Tested:
    """A measure's test of all pairs of systems, and its order of systems."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix: Matrix = matrix

    @cached_property
    def pairs(self) -> Pairs:
        """The tests of all pairs."""
        return pairwise(self.matrix)

    def over(self, matrix: Matrix) -> _Tested:
        """Return the measure over the values of `matrix`, or itself if these are all of its own."""
        if np.array_equal(np.isnan(matrix.values), np.isnan(self.matrix.values)):
            return self
        return _Tested(matrix)

    def against(self, reference: _Tested, alpha: float) -> Row:
        """Return the columns of `table_7` that compare the measure with the reference.

        Both use the queries where both are defined.
        """
        both = in_common(self.matrix, reference.matrix)
        own, other = self.over(both[0]), reference.over(both[1])
        defined = (~np.isnan(both[0].values)).sum(axis=0)
        upper = own.pairs.upper
        p = own.pairs.p[upper]
        p = p[~np.isnan(p)]
        size, separated, covered, inverted = covered_pairs(other.pairs, own.pairs, alpha)
        means = np.stack([matrix.means * matrix.direction for matrix in both])
        orders = np.stack([round_means(row) for row in means])
        pairs = int(upper.sum())
        return {
            "pairs": pairs,
            "queries": int(defined.min(initial=len(both[0].queries))),
            "separated": separated,
            "separated_reference": size,
            "covered": covered,
            "inverted": inverted,
            "discrimination": separated / pairs if pairs else np.nan,
            "coverage": covered / size if size else np.nan,
            "inversion": inverted / size if size else np.nan,
            "median_p": float(np.median(p)) if len(p) else np.nan,
            "tau_b": float(correlate(orders, "tau-b").values[0, 1]),
            "pearson": float(correlate(means, "pearson").values[0, 1]),
        }


def guidance(
    rows: Sequence[Row], pool: StudiedPool, least_depths: Mapping[str, int | None]
) -> Iterator[Row]:
    """Yield the rows of the table `guidance`.

    Parameters
    ----------
    rows
        The rows of `table_7`.
    least_depths
        For each measure the least depth of a pool that orders the contributors as all judgments do.
    """
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for row in rows:
        if row["k"] is not None and row["measure"] in pool.options.compared:
            key = row["measure"], row["depth"], row["lists"]
            groups.setdefault(key, []).append(row)
    for (measure, depth, lists), group in groups.items():
        low, high = _around(group, pool)
        yield {
            "measure": measure,
            "depth": depth,
            "lists": lists,
            "k_low": low,
            "k_high": high,
            "least_depth": least_depths.get(measure),
        }


def _around(rows: Sequence[Row], pool: StudiedPool) -> tuple[int | None, int | None]:
    """Return the ends of the largest run of agreeing cutoffs around the reference's."""
    agrees = [_agrees(row, pool) for row in rows]
    at = next(i for i, row in enumerate(rows) if row["k"] == row["reference_k"])
    if not agrees[at]:
        return None, None
    low = high = at
    while low > 0 and agrees[low - 1]:
        low -= 1
    while high + 1 < len(rows) and agrees[high + 1]:
        high += 1
    return rows[low]["k"], rows[high]["k"]


def _agrees(row: Row, pool: StudiedPool) -> bool:
    options = pool.options
    # Without a significantly different pair in the reference, there is none to cover.
    covers = np.isnan(row["coverage"]) or row["coverage"] >= options.least_coverage
    return bool(row["tau_b"] >= options.least_tau and row["inverted"] == 0 and covers)


def condensed_lengths(pool: StudiedPool) -> Iterator[Row]:
    """Yield the rows of the table `condensed_lengths`."""
    for depth in pool.depths:
        views = (view.condense() for view in pool.pooled(depth))
        lengths = np.concatenate([judged_only(v, v.lengths[:, pool.systems]) for v in views])
        mean, longest = (lengths.mean(), lengths.max()) if lengths.size else (np.nan, 0)
        yield {"depth": depth, "mean": float(mean), "longest": int(longest)}


def table_9(pool: StudiedPool) -> Iterator[Row]:
    """Yield the rows of the table `table_9`: means over systems and queries."""
    if not pool.has_nonrelevant:
        return
    for depth in pool.depths:
        for measure, residual in RESIDUALS.items():
            ks = pool.ks(depth)
            names = [cut(one, k) for k in ks for one in (measure, residual)]
            scores = pool.scores(names, depth).only(pool.names)
            for k, pair in zip(ks, np.array(names).reshape(-1, 2), strict=True):
                score, rest = (float(np.nanmean(scores.matrix(name).values)) for name in pair)
                named = cut(measure, None)
                yield {"measure": named, "depth": depth, "k": k, "score": score, "residual": rest}
