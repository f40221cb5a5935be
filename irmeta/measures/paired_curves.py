"""Means of two measures at all pairs of cutoffs, over the queries where both are defined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from irmeta.measures.curve import check_ascending, spec_without_cutoff
from irmeta.measures.evaluate import SeenViews, included, warn_above_highest_grade
from irmeta.measures.names import Spec
from irmeta.policies import EvalPolicy
from irmeta.rankings.completeness import complete_depths_of, warn_without_depth
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import over_blocks
from irmeta.rankings.track_facts import track_facts
from irmeta.rankings.view import needs_of
from irmeta.results.averages import sum_over_queries
from irmeta.store.scan import StoreReader, undisturbed

CELLS = 1 << 22  # values [cutoff, query, system] of a measure at a time


@dataclass(frozen=True)
class PairedCurves:
    """Means of two measures for the queries that a pair of cutoffs shares.

    Attributes
    ----------
    measures
        Names without a cutoff.
    a, b
        float64 [cutoff of a, cutoff of b, system]: means, greater is better, NaN without a query.
        If both measures are defined everywhere, [cutoff, system].
    queries
        int64 [cutoff of a, cutoff of b]: least number of queries in the means of a system.
    """

    measures: tuple[str, str]
    a: np.ndarray
    b: np.ndarray
    queries: np.ndarray


def stored_paired_curves(
    store: StoreReader,
    track: str,
    measures: Sequence[str],
    ks: Sequence[int],
    policy: EvalPolicy,
    everyone: bool = False,
    workers: int | None = 1,
) -> PairedCurves:
    """Compute `paired_curves` of a track, of one measure with itself or of two.

    With `everyone` all systems have a mean, otherwise the contributors to the pool.
    """
    specs = [spec_without_cutoff(name) for name in measures]
    check_ascending("ks", ks)
    facts, complete = track_facts(store, track, policy.qrels), list[np.ndarray]()
    systems = range(len(facts.systems)) if everyone else facts.contributors
    needs = needs_of(specs)

    def read(blocks: Iterable[JudgedRanks]) -> Iterator[JudgedRanks]:
        for view in blocks:
            if "pool" in needs:
                complete.append(complete_depths_of(view))
            yield view

    with undisturbed(store, track):
        blocks = over_blocks(lambda view: view, store, track, policy, needs, workers=workers)
        curves = paired_curves(read(blocks), (specs[0], specs[-1]), ks, policy, systems)
    warn_without_depth(track, complete)
    uncut = [replace(spec, cutoff=None) for spec in specs]
    warn_above_highest_grade(store, track, uncut, policy)
    return curves


def paired_curves(
    views: Iterable[JudgedRanks],
    specs: tuple[Spec, Spec],
    ks: Sequence[int],
    policy: EvalPolicy,
    systems: Sequence[int],
) -> PairedCurves:
    """Compute the means of two measures at all pairs of cutoffs, for systems by their indices."""
    size = len(ks)
    plain = np.zeros((2, size, len(systems)))
    always, pairs = 0, _Pairs(size, len(systems))
    for view in views:
        for part in _parts(view, size):
            sides = [_values(part, spec, ks, policy, systems) for spec in specs]
            everywhere = np.all([known.all(axis=(0, 2)) for _, known in sides], axis=0)
            always += int(everywhere.sum())
            for total, (values, known) in zip(plain, sides, strict=True):
                sum_over_queries(values[:, everywhere], known[:, everywhere], total)
            if not everywhere.all():
                pairs.add(*(array[:, ~everywhere] for side in sides for array in side))
    means = [np.where(always > 0, total / max(always, 1), np.nan) for total in plain]
    queries = np.full((size, size), always)
    if pairs.added:
        counts = always + pairs.counts
        sums = (plain[0][:, None] + pairs.a, plain[1][None] + pairs.b)
        nothing = np.full(counts.shape, np.nan)
        means = [np.divide(one, counts, out=nothing.copy(), where=counts > 0) for one in sums]
        queries = counts.min(axis=2, initial=np.iinfo(np.int64).max) if len(systems) else queries
    first, second = (one * spec.measure.direction for one, spec in zip(means, specs, strict=True))
    names = specs[0].name.rpartition("@")[0], specs[1].name.rpartition("@")[0]
    return PairedCurves(names, first, second, queries)


class _Pairs:
    """Sums over the queries where a measure is undefined at a cutoff or for a system."""

    def __init__(self, size: int, systems: int) -> None:
        self.added = False
        self._shape = (size, size, systems)
        self.a = self.b = self.counts = np.empty((0, 0, 0))

    def add(self, a: np.ndarray, known_a: np.ndarray, b: np.ndarray, known_b: np.ndarray) -> None:
        """Add values [cutoff, query, system] where both measures are defined."""
        if not self.added:
            self.added = True
            self.a, self.b = np.zeros(self._shape), np.zeros(self._shape)
            self.counts = np.zeros(self._shape, np.int64)
        for i, own in enumerate(known_a):
            both = own & known_b
            self.a[i] += sum_over_queries(np.broadcast_to(a[i], both.shape), both)
            self.b[i] += sum_over_queries(b, both)
            self.counts[i] += both.sum(axis=1)


def _parts(view: JudgedRanks, cutoffs: int) -> Iterator[JudgedRanks]:
    """Yield queries of a view, so many that `CELLS` values have room."""
    step = max(1, CELLS // max(cutoffs * len(view.systems), 1))
    if step >= len(view.queries):
        yield view
        return
    for start in range(0, len(view.queries), step):
        yield view.only_queries(view.queries[start : start + step])


def _values(
    view: JudgedRanks, spec: Spec, ks: Sequence[int], policy: EvalPolicy, systems: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return values and whether they are averaged: [cutoff, query, system]."""
    views = SeenViews(view)
    deepest = replace(spec, cutoff=ks[-1])
    seen = views.of(deepest, [deepest.cutoff])
    values = spec.compute(seen, list(ks))[..., systems]
    averaged = included(views.judged_for(spec), spec, policy)[:, systems]
    return values, averaged & ~np.isnan(values)
