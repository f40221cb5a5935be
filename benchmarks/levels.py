"""How often tests over classes and clusters of queries, datasets and snapshots reject what is true.

    python benchmarks/levels.py [TABLES]

Each line is a share of made tables, with its standard error, on which a test at level .05 rejects a
true hypothesis, or a 95 % interval covers the truth. The docs of classes, clusters, replicates and
many tracks state these numbers.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import stats

from irmeta.results.matrix import Matrix
from irmeta.stats.datasets import change_of_mean
from irmeta.stats.interactions import (
    class_moments,
    interaction_test,
    max_t_over_classes,
    reversal_p,
)
from irmeta.stats.paired import CLUSTERED_TESTS
from irmeta.stats.pairs import BASELINE_TESTS, pairwise
from irmeta.stats.replicates import over_clusters

SEED, RESAMPLES = 1, 500
Line = tuple[str, np.ndarray]


def null_differences(sizes: list[int], deviations: list[float], tables: int) -> np.ndarray:
    """Draw differences without an effect: float64 [query, table], classes one after another."""
    spread = np.repeat(deviations, sizes)[:, None]
    return np.random.default_rng(SEED).normal(size=(sum(sizes), tables)) * spread


def plain_rejects(differences: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Check whether a permutation test of the difference of means rejects, of each table."""
    rng = np.random.default_rng(SEED)
    number = (classes == 1).sum()

    def distance(of_second: np.ndarray) -> np.ndarray:
        rest = (differences.sum(axis=0) - of_second) / (len(classes) - number)
        return np.abs(of_second / number - rest)

    observed = distance(differences[classes == 1].sum(axis=0))
    count = np.ones(differences.shape[1])
    for _ in range(RESAMPLES):
        drawn = rng.permutation(len(classes))[:number]
        count += distance(differences[drawn].sum(axis=0)) >= observed
    return count / (RESAMPLES + 1) <= 0.05


def of_classes(tables: int) -> Iterator[Line]:
    """Yield the levels of the tests over classes of queries."""
    for sizes, deviations in (([80, 20], [0.1, 0.3]), ([5, 45], [0.3, 0.1])):
        differences = null_differences(sizes, deviations, tables)
        classes = np.repeat(range(len(sizes)), sizes)
        members = np.arange(len(sizes))[:, None] == classes
        about = " and ".join(f"{n} (sd {sd:g})" for n, sd in zip(sizes, deviations, strict=True))
        rejects = interaction_test(differences, classes, RESAMPLES, SEED).p <= 0.05
        yield f"interaction, studentised: {about}", rejects
        yield f"interaction, difference of means: {about}", plain_rejects(differences, classes)
        one_sided = differences + np.where(classes == 0, 5.0, 0.0)[:, None]
        p = reversal_p(class_moments(one_sided, members))
        yield f"reversal, an effect in the first class alone: {about}", p <= 0.05
        few = range(max(1, tables // 10))
        least = [
            max_t_over_classes(differences[:, [i]], members, RESAMPLES, rng=i).min() for i in few
        ]
        yield f"max-t over classes: {about}", np.array(least) <= 0.05


def of_clusters(tables: int, clusters: int = 40) -> Iterator[Line]:
    """Yield the levels of tests of clusters of queries, and of the same tests of queries.

    Values have an intra-cluster correlation of .8; clusters have 4 queries, or 1 to 7.
    """
    for sizes in (np.full(clusters, 4), np.resize(np.arange(1, 8), clusters)):
        about = f"{clusters} clusters of {sizes.min()} to {sizes.max()} queries"
        of_query = {str(q): str(c) for q, c in enumerate(np.repeat(range(clusters), sizes))}
        for test in CLUSTERED_TESTS:
            rng, rejects = np.random.default_rng(SEED), list[tuple[bool, bool]]()
            how: Any = {"baseline": "a" if test in BASELINE_TESTS else None, "resamples": RESAMPLES}
            for table in range(tables):
                of_cluster = np.repeat(rng.normal(size=(clusters, 2)), sizes, axis=0)
                values = of_cluster + rng.normal(size=(sizes.sum(), 2)) / 2
                matrix = Matrix(values, tuple(of_query), ("a", "b"))
                whole = over_clusters(matrix, of_query, once=False)
                both = (
                    pairwise(of, test, rng=table, clusters=text, **how).p_adjusted[0, 1] <= 0.05
                    for of, text in ((whole, "clusters"), (matrix, ""))
                )
                rejects.append(tuple(both))
            by_cluster, by_query = np.array(rejects).T
            yield f"{test} of {about}", by_cluster
            yield f"{test} of their queries", by_query


def of_datasets(tables: int, datasets: int = 6) -> Iterator[Line]:
    """Yield the coverage of intervals of a mean over datasets."""
    rng = np.random.default_rng(SEED)
    means = rng.normal(size=(tables, datasets))
    margin = stats.t.ppf(0.975, datasets - 1) * means.std(axis=1, ddof=1) / math.sqrt(datasets)
    yield f"Student's t over {datasets} datasets covers", np.abs(means.mean(axis=1)) <= margin
    covers = []
    for row in means:
        drawn = row[rng.integers(0, datasets, (RESAMPLES, datasets))].mean(axis=1)
        low, high = np.quantile(drawn, [0.025, 0.975])
        covers.append(low <= 0 <= high)
    yield f"percentile bootstrap over {datasets} datasets covers", np.array(covers)


def of_snapshots(tables: int, queries: int = 30) -> Iterator[Line]:
    """Yield the level of the test of a change, by the number of shared queries."""
    for shared in (0, 12, queries):
        rng, rejects = np.random.default_rng(SEED), []
        for _ in range(tables):
            of_query = rng.normal(size=2 * queries - shared)
            parts = (range(queries), range(queries - shared, 2 * queries - shared))
            before, after = (
                {str(q): float(of_query[q] + rng.normal() * 0.5) for q in part} for part in parts
            )
            rejects.append(change_of_mean(before, after).p <= 0.05)
        yield f"change between snapshots, {shared} of {queries} queries shared", np.array(rejects)


def main(tables: int) -> None:
    """Print one line per test and kind of table."""
    parts = (of_classes, of_clusters, of_datasets, of_snapshots)
    for lines in (part(tables) for part in parts):
        for name, hits in lines:
            error = hits.std() / math.sqrt(len(hits))
            print(f"{name:62} {hits.mean():.3f} +- {error:.3f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
