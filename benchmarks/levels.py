"""How often tests over classes of queries, datasets and snapshots reject what is true.

    python benchmarks/levels.py [TABLES]

Each line is a share of made tables, with its standard error, on which a test at level .05 rejects a
true hypothesis, or a 95 % interval covers the truth. The docs of classes, replicates and many
tracks state these numbers.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import numpy as np
from scipy import stats

from irmeta.stats.interactions import (
    class_moments,
    interaction_test,
    max_t_over_classes,
    reversal_p,
)
from irmeta.stats.snapshots import change_of_mean

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
    for lines in (of_classes(tables), of_datasets(tables), of_snapshots(tables)):
        for name, hits in lines:
            error = hits.std() / math.sqrt(len(hits))
            print(f"{name:62} {hits.mean():.3f} +- {error:.3f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
